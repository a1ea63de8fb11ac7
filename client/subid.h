/* Ranges of user and group numbers that are lent to a user: subuid(5). */
#ifndef BL_CLIENT_SUBID_H
#define BL_CLIENT_SUBID_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct subid { uint32_t first, count; };

enum { SUBID_FROM = 100000, SUBID_USUAL = 65536 };	/* as useradd(8) does */

/*
 * 0: *s is the first range in f of at least least numbers that is lent to
 * user, by that name or by the number id, and holds neither 0 nor id; -ENOENT:
 * none is lent; -ERANGE: only smaller ones, *s the largest of them.  *next is
 * behind all that is lent to anybody, SUBID_FROM at least, or 0 where fewer than
 * SUBID_USUAL follow.  What is no line of the right form is passed over, as
 * newuidmap(1) does.
 */
int subid_read(FILE *f, const char *user, uid_t id, uint32_t least,
    struct subid *s, uint32_t *next);

/*
 * What root has to run so that /etc/subuid and /etc/subgid lend user so many
 * numbers each: one command for both, or for the one that doesn't.  Where there
 * is no room, a sentence about that.
 */
void subid_fix(const char *user, uid_t id, uint32_t least, char *text,
    size_t size);

#endif
