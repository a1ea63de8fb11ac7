/* The client's side of proto.h. */
#ifndef BL_POLICY_REPLY_H
#define BL_POLICY_REPLY_H

#include "proto.h"

/* 0, or -EPROTO: magic, version, kind, and zero where nothing is due. */
int bl_rep_check(const struct bl_rep *p);

#endif
