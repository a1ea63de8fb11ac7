/* Cuts words after 99 characters. */
#include <stdio.h>
#include <string.h>

int main(void)
{
	char word[100];
	size_t words = 0, longest = 0;

	for (; scanf("%99s", word) == 1; words++)
		if (strlen(word) > longest)
			longest = strlen(word);
	printf("%zu %zu\n", words, longest);
	return 0;
}
