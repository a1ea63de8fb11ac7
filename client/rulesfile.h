/* The administrator's rules, as this user can read them: for hints and sizes. */
#ifndef BL_CLIENT_RULESFILE_H
#define BL_CLIENT_RULESFILE_H

#include "../policy/rules.h"

#define BL_RULES_PATH "/etc/bailiff/rules"

/* 0: r holds usable rules; 1: they can't be read by this user; -1: are none. */
int rules_read(struct bl_rules *r);

#endif
