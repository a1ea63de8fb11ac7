/* The init of cells that no helper makes, whole. */
	.section .rodata.cellinit, "a", %progbits
	.balign	16
	.globl	bl_cellinit_blob
	.hidden	bl_cellinit_blob
	.globl	bl_cellinit_blob_end
	.hidden	bl_cellinit_blob_end
bl_cellinit_blob:
	.incbin	"cellinit.bin"
bl_cellinit_blob_end:
	.section .note.GNU-stack, "", %progbits
