/* What the compiler knows of rules, and the helper need not. */
#ifndef BL_POLICY_RULES_CHECK_H
#define BL_POLICY_RULES_CHECK_H

#include "rules.h"

/*
 * 0, or -EINVAL: magic, version, size, counts, zero tails, a uid range within
 * BL_UID_FIRST..BL_UID_LAST, callers in rising order that meet in neither
 * uids nor slots, and sound paths.
 */
int bl_rules_check(const struct bl_rules *r);

/* 1: a lies at, above or below b, both absolute and made of sound components. */
int bl_path_meets(const char *a, const char *b);

#endif
