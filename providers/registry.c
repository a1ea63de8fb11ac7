/* Name to provider: one line for each folder of this room. */
#include "registry.h"

#include <string.h>

#include "../client/provider.h"

static const struct provider *const all[] = { &provider_local };

const struct provider *
provider_find(const char *name)
{
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (strcmp(all[i]->name, name) == 0)
			return all[i];
	return NULL;
}

bool
provider_known(const char *name)
{
	static const char *const names[] = { "auto", "local", "docker",
	    "apple", "daytona", "modal", "e2b" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}
