#include <stdio.h>

int main(void)
{
	long words = 0, longest = 0, length = 0;
	int c;

	do {
		c = getchar();
		if (c != EOF && c != ' ' && c != '\t' && c != '\n') {
			length++;
			continue;
		}
		if (length > 0)
			words++;
		if (length > longest)
			longest = length;
		length = 0;
	} while (c != EOF);
	printf("%ld %ld\n", words, longest);
	return 0;
}
