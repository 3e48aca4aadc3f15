/* The output of vt-eval: standard output or a committed file. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/progress.h"
#include "eval/output.h"

int
output_open(struct output *o, const char *path)
{
	o->commit = NULL;
	if (path != NULL && strcmp(path, "-") != 0)
		return (o->commit = commit_open(path, NULL)) != NULL ? 0 : -1;
	return 0;
}

int
output_write(struct output *o, struct buffer *lines)
{
	size_t n = lines->n;

	lines->n = 0;
	if (o->commit != NULL)
		return commit_write(o->commit, lines->data, n);
	progress_clear();
	if ((n > 0 && fwrite(lines->data, 1, n, stdout) != n) ||
	    fflush(stdout) != 0)
		return stdout_failed();
	return 0;
}

int
output_done(struct output *o)
{
	struct commit *c = o->commit;

	o->commit = NULL;
	return c != NULL ? commit_done(c) : 0;
}

void
output_drop(struct output *o)
{
	commit_drop(o->commit);
	o->commit = NULL;
}
