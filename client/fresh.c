/* A fresh answer cell, made for one run while a judge waits for it. */
#include "fresh.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cellspec.h"

static void
blank(struct fresh *f)
{
	memset(f, 0, sizeof *f);
	f->cell.owner = f->guest = f->report = -1;
	f->files = (struct bl_spawn){ .reply = -1, .in = -1, .out = -1,
	    .err = -1, .result = -1, .listener = -1 };
}

void
fresh_ask(struct fresh *f, const struct fresh_conf *c)
{
	blank(f);
	cell_ask(c->helper, &c->spec, &f->cell);
}

int
fresh_fd(const struct fresh *f, const struct fresh_conf *c)
{
	if (c->helper->way.way >= BL_WAY_BWRAP)
		return f->cell.owner;	/* its own init answers */
	return f->cell.asked == 0 ? c->helper->sock : -1;
}

/*
 * The guest is attached behind the files: cell init reads no guest while they
 * are written, so that nothing of an answer runs before they are there.
 */
int
fresh_made(struct fresh *f, const struct fresh_conf *c, struct bl_err *e)
{
	if (cell_take(c->helper, &c->spec, &f->cell, e) != 0 ||
	    cell_spawn(&f->cell, c->files, 0, 0, &f->files, e) != 0)
		return -1;
	return cell_attach(&f->cell, &f->guest, &f->report, e);
}

/* What is required must be seen in each cell, not in the first one alone. */
static int
look(struct fresh *f, const struct fresh_conf *c, struct bl_err *e)
{
	struct bl_protections p;

	protections_of(c->helper, &f->cell, &f->files.start.u.seen,
	    (c->spec.need & BL_NEED_NET) != 0, &p);
	for (unsigned i = 0; i < 2; i++)
		p.uid = p.uid && f->cell.info.uid != c->apart[i];
	protections_join(c->seen, &p);
	return cellspec_seen(&c->spec, &p, e);
}

int
fresh_step(struct fresh *f, const struct fresh_conf *c, struct bl_err *e)
{
	const struct bl_rep *end = &f->files.end;
	int r = spawn_event(&f->files, 0, e);

	if (r < 0)
		return -1;
	/* STARTED comes when the files are there; what follows is no news */
	if (f->files.started) {
		spawn_close(&f->files);
		return look(f, c, e) == 0 ? 1 : -1;
	}
	if (!f->files.ended)
		return 0;
	if (end->kind == BL_EV_FAIL)
		return err_at(e, end->step, end->object, end->status);
	if (end->u.exit.limit == BL_LIMIT_TIME)
		return -ETIME;
	return err_set(e, BL_KIND_INFRA, "files_not_written", "judge/fresh", 0,
	    "the files of a fresh cell could not be written");
}

bool
fresh_full(const struct bl_err *e)
{
	return strcmp(e->code, "slots_busy") == 0;
}

static void
shut(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void
fresh_close(struct fresh *f)
{
	spawn_close(&f->files);
	shut(&f->guest);
	shut(&f->report);
	cell_close(&f->cell);
}
