#include <stdio.h>

int main(void)
{
	for (;;)
		if (feof(stdin))
			clearerr(stdin);
}
