#include <stdio.h>
#include <string.h>

static char word[200001];

int main(void)
{
	size_t words = 0, longest = 0;

	for (; scanf("%200000s", word) == 1; words++)
		if (strlen(word) > longest)
			longest = strlen(word);
	printf("%zu\n%zu\n", words, longest);
	return 0;
}
