/* Counts blanks, and takes the line for the word. */
#include <stdio.h>

int main(void)
{
	int c, blanks = 0, length = 0, longest = 0;

	while ((c = getchar()) != EOF) {
		blanks += c == ' ' || c == '\n';
		length = c == '\n' ? 0 : length + 1;
		if (length > longest)
			longest = length;
	}
	printf("%d %d\n", blanks, longest);
	return 0;
}
