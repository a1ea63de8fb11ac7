/* The probe of bailiff selftest, whole, in the program that runs it. */
	.section .rodata.probe, "a", %progbits
	.balign	16
	.globl	bl_probe_blob
	.hidden	bl_probe_blob
	.globl	bl_probe_blob_end
	.hidden	bl_probe_blob_end
bl_probe_blob:
	.incbin	"probe.bin"
bl_probe_blob_end:
	.section .note.GNU-stack, "", %progbits
