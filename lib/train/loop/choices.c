/*
 * The algorithms that the back end chose: read from the run to resume, shared
 * with all ranks, and stored for other runs.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/algorithm_cache.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "train/guard/replay.h"
#include "train/loop/choices.h"
#include "train/loop/inputs.h"
#include "train/run/identity.h"

static int
choices_autotunes(const struct session *s)
{
	return s->t.o.autotune == CHOOSE_FASTEST ||
	    (s->t.o.autotune == CHOOSE_AUTO && modes_has(&s->t.o.modes,
	    MODE_FAST));
}

static int
choices_count(const struct session *s)
{
	char *text = device_algorithms_text(s->device, ALGORITHMS_SELECTED);
	int lines = -1;			/* do not count the header */

	for (const char *at = text; *at != '\0'; at++)
		lines += *at == '\n';
	free(text);
	return lines;
}

/* ---- of the run to resume or replay ---- */

/* Return its directory, which the caller frees, or NULL if there is none. */
static char *
choices_directory(const struct session *s)
{
	uint64_t *steps;
	int n;

	if (s->use.replay != NULL)
		return xstrdup(s->use.replay->run);
	if (s->t.o.output == NULL || strcmp(s->t.o.resume, "never") == 0)
		return NULL;
	if (strcmp(s->t.o.resume, "auto") != 0)
		return path_dir(s->t.o.resume);
	n = rundir_checkpoints(s->t.o.output, "", &steps);
	free(steps);
	return n > 0 ? xstrdup(s->t.o.output) : NULL;
}

int
choices_take_saved(struct device *d, const char *dir)
{
	char *any = device_algorithms_text(d, ALGORITHMS_SELECTED), *path;
	struct buffer text = { 0 };
	int status = 0;

	path = path_join(dir, CHOICES_FILE);
	if (any != NULL && file_size(path) >= 0) {
		if (file_read_text(path, &text) != 0)
			status = EXIT_FAILED;
		else if (device_algorithms_read(d, ALGORITHMS_SELECTED,
		    text_quote(path), text.data, NULL) != 0)
			status = EXIT_DAMAGE;
	}
	buffer_free(&text);
	free(path);
	free(any);
	return status;
}

static int
choices_read_saved(struct session *s)
{
	char *dir = choices_directory(s);
	int status = dir != NULL ? choices_take_saved(s->device, dir) : 0;

	free(dir);
	return status;
}

/* ---- on all ranks ---- */

static int
choices_plan_here(struct session *s)
{
	int status;

	device_tune(s->device, choices_autotunes(s));
	status = trainer_plan(&s->t);
	/* Shapes planned later must not autotune during a step. */
	device_tune(s->device, 0);
	return status;
}

/* On rank 0: plan with the saved choices, and choose what they lack. */
static int
choices_plan_first(struct session *s)
{
	int status = choices_read_saved(s), before;

	if (status != 0)
		return status;
	if (choices_autotunes(s))
		algorithm_cache_load(s->device);
	before = choices_count(s);
	status = choices_plan_here(s);
	if (status == 0)
		detail("%s: %d choices, %d of them made now, by %s",
		    s->backend->name, choices_count(s),
		    choices_count(s) - before, choices_autotunes(s) ? "trying" :
		    "rule");
	return status;
}

/* On the other ranks: plan with the choices of rank 0. */
static int
choices_plan_likewise(struct session *s, const char *table)
{
	if (device_algorithms_read(s->device, ALGORITHMS_SELECTED,
	    "the choices of rank 0", table, NULL) != 0)
		return EXIT_FAILED;
	return choices_plan_here(s);
}

/* Plan on all ranks with the choices of rank 0.  identity_check then detects a
 * rank that could not take them, such as one with another device. */
static int
choices_plan_alike(struct session *s)
{
	int status = comm_agree(s->comm,
	    s->comm->rank == 0 ? choices_plan_first(s) : 0);
	struct buffer b = { 0 };
	char *table;

	if (status != 0)
		return status;
	if ((table = inputs_share(s->comm, s->comm->rank == 0 ?
	    device_algorithms_text(s->device, ALGORITHMS_SELECTED) : NULL)) ==
	    NULL)
		return EXIT_RANKS;
	if (s->comm->rank != 0)
		status = choices_plan_likewise(s, table);
	free(table);
	if ((status = comm_agree(s->comm, status)) != 0)
		return status;
	choices_state(s, NULL);
	identity_add(&b, "choices", s->text.choices);
	return identity_check(s->comm, &b);
}

int
choices_plan(struct session *s)
{
	char *any = device_algorithms_text(s->device, ALGORITHMS_SELECTED);

	if (any == NULL && s->t.o.autotune == CHOOSE_FASTEST)
		note("--autotune: back end %s has no algorithms to choose",
		    s->backend->name);
	free(any);
	return any != NULL ? choices_plan_alike(s) : comm_agree(s->comm,
	    trainer_plan(&s->t));
}

/* ---- the stamp in checkpoints ---- */

char *
choices_stamp(struct device *d, const char *was)
{
	char *text = device_algorithms_text(d, ALGORITHMS_SELECTED), *end,
	    *stamp, hash[33];
	long largest = was != NULL ? strtol(was, NULL, 10) : -1, rows = 0;

	if (text == NULL)
		return NULL;
	end = text + strcspn(text, "\n") + 1;	/* after the header */
	for (; *end != '\0' && rows != largest; rows++)
		end += strcspn(end, "\n") + 1;
	stamp = xprintf("%ld:%s", rows, hash128_text(hash128(text,
	    (size_t)(end - text)), hash));
	free(text);
	return stamp;
}

void
choices_state(struct session *s, const char *was)
{
	free(s->text.choices);
	s->text.choices = modes_has(&s->t.o.modes, MODE_FAST) ? NULL :
	    choices_stamp(s->device, was);
	s->t.state.choices = s->text.choices;
}
