/* Providers by name. */
#ifndef BL_PROVIDERS_REGISTRY_H
#define BL_PROVIDERS_REGISTRY_H

#include <stdbool.h>

struct provider;

/* The provider of this build with that name, or NULL. */
const struct provider *provider_find(const char *name);

/* 1: name is a mode that some build has, or "auto". */
bool provider_known(const char *name);

#endif
