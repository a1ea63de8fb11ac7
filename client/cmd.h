/* Commands: each gets its own name as argv[0] and returns an exit status. */
#ifndef BL_CLIENT_CMD_H
#define BL_CLIENT_CMD_H

int cmd_doctor(int argc, char **argv);
int cmd_exec(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_selftest(int argc, char **argv);

/*
 * What bailiff run would ask for with the user's defaults and no options.  0,
 * or -1 with w->e: it would be refused.
 */
struct doctor_wish;
int run_defaults(struct doctor_wish *w);

/* --version: name, version, protocol version, commit; an exit status. */
int cmd_version(void);

#endif
