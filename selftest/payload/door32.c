/* A 32-bit program without a library: says hello, and ends with 3. */
static int
call(int nr, int a, const void *b, int c)
{
	int r;

	__asm__ volatile ("int $0x80" : "=a" (r) : "a" (nr), "b" (a), "c" (b),
	    "d" (c) : "memory");
	return r;
}

void _start(void);
void
_start(void)
{
	(void)call(4, 1, "hello\n", 6);
	(void)call(1, 3, (void *)0, 0);
	for (;;)
		__asm__ volatile ("ud2");
}
