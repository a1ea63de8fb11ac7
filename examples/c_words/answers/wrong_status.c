/* Prints what is right, but ends with a status that is no success. */
#include <stdio.h>
#include <string.h>

static char word[200001];

int main(void)
{
	size_t words = 0, longest = 0;

	for (; scanf("%200000s", word) == 1; words++)
		if (strlen(word) > longest)
			longest = strlen(word);
	return printf("%zu %zu\n", words, longest);
}
