/*
 * Replay: steps of a run are computed again and compared with its checkpoints.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/text.h"
#include "train/guard/replay.h"
#include "train/loop/choices.h"
#include "train/run/identity.h"
#include "train/run/rundir.h"

/* ---- the range ---- */

static int
replay_by_step(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Parse "A:B", of which either may be empty.  Return 0 or -1. */
static int
replay_parse(const char *text, uint64_t *from, uint64_t *to)
{
	char *end;

	errno = 0;
	*from = strtoull(text, &end, 10);
	/* strtoull accepts blanks and signs before the digits. */
	if (!(text[0] == ':' || isdigit((unsigned char)text[0])) ||
	    *end != ':' || (end[1] != '\0' && !isdigit((unsigned char)end[1])))
		return -1;
	*to = end[1] == '\0' ? UINT64_MAX : strtoull(end + 1, &end, 10);
	return errno != 0 || (*to != UINT64_MAX && *end != '\0') ? -1 : 0;
}

static int
replay_has(const struct replay *r, uint64_t step)
{
	for (int i = 0; i < r->n; i++)
		if (r->step[i] == step)
			return 1;
	return 0;
}

static int
replay_no_checkpoint(const struct replay *r, uint64_t step)
{
	struct buffer b = { 0 };

	for (int i = 0; i < r->n; i++)
		buffer_printf(&b, "%s%" PRIu64, i > 0 ? ", " : "", r->step[i]);
	fail("%s: no checkpoint of step %" PRIu64 " (it has %s)",
	    text_quote(r->run), step, b.data);
	buffer_free(&b);
	return EXIT_USAGE;
}

/* Choose the checkpoints, on rank 0.  Return an exit status. */
static int
replay_choose(struct replay *r, const char *text)
{
	int n, first = 0;

	if ((r->n = rundir_checkpoints(r->run, "", &r->step)) < 0) {
		r->n = 0;
		return EXIT_FAILED;
	}
	if (r->n == 0) {
		fail("%s: no checkpoint to compare with", text_quote(r->run));
		return EXIT_USAGE;
	}
	qsort(r->step, (size_t)r->n, sizeof(*r->step), replay_by_step);
	r->to = UINT64_MAX;
	if (text != NULL && replay_parse(text, &r->from, &r->to) != 0) {
		fail("--replay-steps=%s (wanted A:B, steps of checkpoints)",
		    text_quote(text));
		return EXIT_USAGE;
	}
	if (r->to == UINT64_MAX)
		r->to = r->step[r->n - 1];
	if (r->from > 0 && !replay_has(r, r->from))
		return replay_no_checkpoint(r, r->from);
	if (!replay_has(r, r->to))
		return replay_no_checkpoint(r, r->to);
	if (r->from >= r->to) {
		fail("--replay-steps=%" PRIu64 ":%" PRIu64 ": nothing lies "
		    "between", r->from, r->to);
		return EXIT_USAGE;
	}
	for (n = r->n; n > 0 && r->step[n - 1] > r->to;)
		n--;
	while (r->step[first] <= r->from)
		first++;
	memmove(r->step, r->step + first, (size_t)(n - first) *
	    sizeof(*r->step));
	r->n = n - first;
	return 0;
}

int
replay_open(struct replay *r, struct comm *c, const char *run,
    const char *text)
{
	struct { int64_t status, n; uint64_t from, to; } w = { 0 };

	*r = (struct replay){ .run = run };
	if (c->rank == 0) {
		w.status = replay_choose(r, text);
		w.n = r->n;
		w.from = r->from;
		w.to = r->to;
	}
	if (comm_broadcast(c, &w, sizeof(w), 0) != 0)
		return EXIT_RANKS;
	if (w.status != 0)
		return (int)w.status;
	r->n = (int)w.n;
	r->from = w.from;
	r->to = w.to;
	if (c->rank != 0)
		r->step = xcalloc((size_t)r->n, sizeof(*r->step));
	return comm_broadcast(c, r->step, (size_t)r->n * sizeof(*r->step), 0) ==
	    0 ? 0 : EXIT_RANKS;
}

void
replay_close(struct replay *r)
{
	free(r->step);
	r->step = NULL;
	resume_free(&r->then);
}

int
replay_find(const struct replay *r, struct resume *found)
{
	char *path;
	int got;

	if (r->from == 0)
		return 0;
	path = rundir_checkpoint(r->run, r->from);
	got = resume_file(path, found);
	free(path);
	return got;
}

/* ---- comparison ---- */

/* Read the checkpoint of this step unless it has been read.  Return the result
 * of resume_file. */
static int
replay_load(struct replay *r, const struct trainer *t)
{
	char *path = rundir_checkpoint(r->run, t->state.step);

	if (r->got == 0)
		r->got = resume_file(path, &r->then);
	free(path);
	return r->got;
}

/*
 * Compare ${now} with the checkpoint of the same step, on rank 0.  Return an
 * exit status.
 */
static int
replay_compare(struct replay *r, const struct trainer *t,
    const struct snapshot *now)
{
	const struct resume *then = &r->then;
	struct state mine = t->state;
	char history[33], *choices;
	const char *first = NULL;
	int differ, bad, status = 0;

	if (replay_load(r, t) < 0)
		return checkpoint_status(r->got);
	hash128_text(schedule_prefix_hash(t->schedule,
	    dataset_samples(t->train), mine.step), history);
	mine.history = history;
	choices = choices_stamp(t->net->device, then->state.choices);
	if (mine.choices != NULL)
		mine.choices = choices;
	/*
	 * A run may have been trained with another recipe than the one given:
	 * compare it with that of the first checkpoint.
	 */
	bad = !r->checked && identity_check_resume(then, &mine, t->schedule,
	    dataset_samples(t->train), r->override) != 0;
	free(choices);
	if (bad)
		return EXIT_USAGE;
	r->checked = 1;
	differ = snapshot_compare(now, &then->file, &first);
	if (differ == 0)
		first = state_difference(&t->state, &then->state);
	if (first != NULL) {
		fail("%s: %s is not what its steps give when they are computed "
		    "again (%d tensors differ)", text_quote(then->path), first,
		    differ);
		status = EXIT_DAMAGE;
	}
	fprintf(r->out, "%" PRIu64 "\t%s\t%d\t%s\n", t->state.step,
	    first == NULL ? "same" : "differs", differ,
	    first == NULL ? "" : first);
	resume_free(&r->then);
	r->got = 0;
	return status;
}

int
replay_due(struct replay *r, const struct trainer *t)
{
	int due = DUE_VALIDATION;

	if (r->next == r->n || r->step[r->next] != t->state.step)
		return due;
	if (t->comm->rank == 0 && replay_load(r, t) == 1 && r->then.state.due)
		due = r->then.state.due;
	if (comm_broadcast(t->comm, &due, sizeof(due), 0) != 0)
		comm_abort(t->comm, EXIT_RANKS);
	return due;
}

int
replay_step_boundary(struct replay *r, struct trainer *t)
{
	struct snapshot *now = NULL;
	int status = 0;

	if (r->next == r->n || r->step[r->next] != t->state.step)
		return 0;
	r->next++;
	/* Collective: rank 0 gathers the optimizer state. */
	if (snapshot_take(&now, t->net, &t->optim.slots, &t->state) != 0)
		comm_abort(t->comm, EXIT_RANKS);
	if (t->comm->rank == 0) {
		status = replay_compare(r, t, now);
		snapshot_free(now);
	}
	return comm_agree(t->comm, status);
}
