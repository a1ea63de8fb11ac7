/* BAILIFF_ANSWER, whole, in the program that puts it into a judge's cell. */
	.section .rodata.answer, "a", %progbits
	.balign	16
	.globl	bl_answer_blob
	.hidden	bl_answer_blob
	.globl	bl_answer_blob_end
	.hidden	bl_answer_blob_end
bl_answer_blob:
	.incbin	"answer.bin"
bl_answer_blob_end:
	.section .note.GNU-stack, "", %progbits
