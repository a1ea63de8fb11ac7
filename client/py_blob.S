/* The runtime of Python judges, whole, in the program that puts it there. */
	.macro	file name, path
	.balign	16
	.globl	bl_py_\name
	.hidden	bl_py_\name
	.globl	bl_py_\name\()_end
	.hidden	bl_py_\name\()_end
bl_py_\name:
	.incbin	"client/py/\path"
bl_py_\name\()_end:
	.endm

	.section .rodata.py, "a", %progbits
	file	bailiff, bailiff.py
	file	plain, bailiff_plain.py
	file	runner, runner.py
	file	serve, serve.py
	file	site, sitecustomize.py
	.section .note.GNU-stack, "", %progbits
