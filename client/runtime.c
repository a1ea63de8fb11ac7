/* What is put into the cells beside an environment and an answer. */
#include "runtime.h"

#include "note.h"

/* As they are built: client/answer_blob.S, client/py_blob.S. */
extern const char bl_answer_blob[], bl_answer_blob_end[];
extern const char bl_py_bailiff[], bl_py_bailiff_end[];
extern const char bl_py_plain[], bl_py_plain_end[];
extern const char bl_py_runner[], bl_py_runner_end[];
extern const char bl_py_serve[], bl_py_serve_end[];
extern const char bl_py_site[], bl_py_site_end[];

struct file {
	const char *path;
	unsigned mode;
	const char *from, *to;
};

static int
put(struct specw *w, const struct file *f, size_t n, struct bl_err *e)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		/* two objects to the compiler, and one to the assembler */
		r = f[i].from == NULL ?
		    specw_dir(w, f[i].path, f[i].mode, e) :
		    specw_put(w, f[i].path, f[i].mode, f[i].from,
		    (size_t)((uintptr_t)f[i].to - (uintptr_t)f[i].from), e);
	return r;
}

int
runtime_judge(struct specw *w, struct bl_err *e)
{
	static const struct file files[] = {
		{ NOTE_DIR, 0700, NULL, NULL },
		{ NOTE_PROGRAM, 0755, bl_answer_blob, bl_answer_blob_end },
		{ NOTE_DIR "/py", 0755, NULL, NULL },
		{ NOTE_DIR "/py/bailiff.py", 0644, bl_py_bailiff,
		    bl_py_bailiff_end },
		{ NOTE_DIR "/py/bailiff_plain.py", 0644, bl_py_plain,
		    bl_py_plain_end },
		{ RUNTIME_RUNNER, 0644, bl_py_runner, bl_py_runner_end },
		{ NOTE_DIR "/py/sitecustomize.py", 0644, bl_py_site,
		    bl_py_site_end },
	};

	return put(w, files, sizeof files / sizeof files[0], e);
}

int
runtime_answer(struct specw *w, struct bl_err *e)
{
	static const struct file files[] = {
		{ RUNTIME_SERVE, 0755, NULL, NULL },
		{ RUNTIME_SERVE "/serve.py", 0644, bl_py_serve,
		    bl_py_serve_end },
		{ RUNTIME_SERVE "/bailiff_plain.py", 0644, bl_py_plain,
		    bl_py_plain_end },
	};

	return put(w, files, sizeof files / sizeof files[0], e);
}
