#include <stdio.h>

int main(void)
{
	volatile int *words = NULL;

	printf("%d 0\n", *words);
	return 0;
}
