#include <stdio.h>

int main(void)
{
	printf("%d %d\n", words, longest)
	return 0;
}
