/* Which checkpoint a run goes on from, and whether it may. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "train/resume.h"
#include "train/rundir.h"

int
resume_file(const char *path, struct resume *r)
{
	int bad;

	*r = (struct resume){ 0 };
	bad = checkpoint_read(path, &r->file, &r->state);
	if (bad)
		return bad;
	r->path = xstrdup(path);
	return 1;
}

void
resume_free(struct resume *r)
{
	if (r->path != NULL)
		safetensors_free(&r->file);
	free(r->path);
	r->path = NULL;
}

int
resume_newest(const char *dir, struct resume *r)
{
	struct rundir run = { .path = dir };
	uint64_t *steps;
	int n = rundir_checkpoints(dir, "", &steps), got = n < 0 ? -1 : 0;

	for (int i = 0; i < n && got != 1 && got != -1; i++) {
		char *path = rundir_checkpoint(&run, steps[i]);
		int bad = resume_file(path, r);

		r->passed = i;
		r->newest = steps[0];
		/* A run at work removes old ones. */
		if (bad != -1 || access(path, F_OK) == 0)
			got = bad == -3 && got == -2 ? -2 : bad;
		free(path);
	}
	free(steps);
	/* An earlier start has renamed them, and began nothing either. */
	if (n == 0) {
		got = rundir_checkpoints(dir, ".bad", &steps) > 0 ? -2 : 0;
		free(steps);
	}
	if (got == -2)
		fail("%s: every checkpoint is damaged; a new run needs another "
		    "directory", text_quote(dir));
	if (got == -3)
		fail("%s: every checkpoint holds NaN or infinity; a new run needs "
		    "another directory", text_quote(dir));
	return got;
}

int
resume_set_aside(const char *dir, const struct resume *r)
{
	struct rundir run = { .path = dir };
	uint64_t *steps;
	int n = rundir_checkpoints(dir, "", &steps), newer = 0;
	int bad = n < 0 ? -1 : 0;

	while (newer < n && steps[newer] > r->state.step)
		newer++;
	if (!bad && (newer != r->passed || (n > 0 ? steps[0] : 0) != r->newest))
		bad = fail("%s: another process has saved a checkpoint there just "
		    "now", text_quote(dir));
	for (int i = 0; i < newer && !bad; i++) {
		char *path = rundir_checkpoint(&run, steps[i]);
		char *aside = xprintf("%s.bad", path);

		if (rename(path, aside) != 0)
			bad = fail_errno("%s: cannot rename to %s",
			    text_quote(path), text_quote(path_base(aside)));
		else
			warning("%s: of no use; renamed to %s, going on from an "
			    "older one", text_quote(path),
			    text_quote(path_base(aside)));
		free(aside);
		free(path);
	}
	free(steps);
	return bad;
}

/* The value of setting ${name} in a configuration; its length, 0 if unset. */
static const char *
setting(const char *config, const char *name, size_t *n)
{
	size_t length = strlen(name);

	for (const char *line = config; line != NULL && *line != '\0';
	    line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) == 0 &&
		    strncmp(line + length, " = ", 3) == 0) {
			line += length + 3;
			*n = strcspn(line, "\n");
			return line;
		}
	}
	*n = 0;
	return "";
}

static int
allowed(const char *name, const char *may_change,
    const struct option_list *override)
{
	char key[128];

	snprintf(key, sizeof(key), " %s ", name);
	if (strstr(may_change, key) != NULL)
		return 1;
	for (size_t i = 0; i < override->n; i++)
		if (strcmp(override->item[i], name) == 0)
			return 1;
	return 0;
}

static int
differs(const struct resume *r, const char *what, const char *was,
    const char *is, const struct option_list *override)
{
	if (strcmp(was, is) == 0 || allowed(what, "", override))
		return 0;
	fail("%s: %s was %s and is %s now (--override=%s allows it)",
	    text_quote(r->path), what, text_quote(was), text_quote(is), what);
	return 1;
}

/* Compare each setting of either configuration. */
static int
config_differs(const struct resume *r, const char *config,
    const char *may_change, const struct option_list *override)
{
	int bad = 0;

	for (int side = 0; side < 2; side++) {
		const char *mine = side == 0 ? config : r->state.config;
		const char *other = side == 0 ? r->state.config : config;

		for (const char *line = mine; *line != '\0';
		    line += strcspn(line, "\n"), line += *line == '\n') {
			size_t n = strcspn(line, " "), a, b;
			char name[96], *was, *is;
			const char *va, *vb;

			if (*line == '#' || n == 0 || n >= sizeof(name))
				continue;
			memcpy(name, line, n);
			name[n] = '\0';
			if (allowed(name, may_change, override))
				continue;
			va = setting(mine, name, &a);
			vb = setting(other, name, &b);
			if (a == b && memcmp(va, vb, a) == 0)
				continue;
			if (side == 1 && b > 0)
				continue;	/* reported from the other side */
			was = xstrndup(side == 0 ? vb : va, side == 0 ? b : a);
			is = xstrndup(side == 0 ? va : vb, side == 0 ? a : b);
			bad |= differs(r, name, *was ? was : "unset",
			    *is ? is : "unset", override);
			free(was);
			free(is);
		}
	}
	return bad;
}

int
resume_check(const struct resume *r, const struct state *now,
    const char *may_change, const struct option_list *override)
{
	const struct state *was = &r->state;
	char a[32], b[32];
	int bad = 0;

	bad |= differs(r, "data", was->dataset, now->dataset, override);
	snprintf(a, sizeof(a), "%" PRId64, was->generation);
	snprintf(b, sizeof(b), "%" PRId64, now->generation);
	bad |= differs(r, "data-generation", a, b, override);
	bad |= differs(r, "classes", was->class_hash, now->class_hash, override);
	bad |= differs(r, "order", was->order, now->order, override);
	if (strcmp(was->network, now->network) != 0 &&
	    !allowed("network", "", override)) {
		fail("%s: the network %s is not the one it was saved with",
		    text_quote(r->path), now->model);
		bad = 1;
	}
	if (strcmp(was->history, now->history) != 0 &&
	    !allowed("schedule", "", override)) {
		fail("%s: the schedule says something else for the first %" PRIu64
		    " steps than it did then (later steps may change; "
		    "--override=schedule allows it)", text_quote(r->path),
		    was->step);
		bad = 1;
	}
	bad |= config_differs(r, now->config, may_change, override);
	return bad ? -1 : 0;
}
