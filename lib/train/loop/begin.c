/*
 * Begin a run in its directory, or resume it from a checkpoint.  Rank 0 alone
 * reads and writes the directory; the other ranks receive state and tensors.
 *
 * A run that is refused, or stopped while it sets up, leaves its directory
 * untouched: rank 0 finds, checks and loads the checkpoint without the lock,
 * and session_record takes the directory before the first step.
 * resume_rename_bad checks under the lock that nothing has changed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/isa.h"
#include "base/lock.h"
#include "base/options.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/version.h"
#include "train/guard/replay.h"
#include "train/loop/choices.h"
#include "train/loop/estimate.h"
#include "train/loop/memory.h"
#include "train/loop/session.h"
#include "train/loop/work.h"
#include "train/run/identity.h"
#include "train/run/resume.h"
#include "train/run/snapshot.h"
#include "train/weights/init.h"

/* Keep the best metric of checkpoint ${was} if it is of the metric of this run.
 * Otherwise reset it, so that the next validation is the best. */
static void
begin_check_best(struct session *s, struct state *was)
{
	if (strcmp(was->best_metric, s->t.best_metric) == 0)
		return;
	if (was->best_step > 0 && s->t.best != BEST_NONE)
		note("the best %s so far is not known: the next validation is "
		    "taken as the best", s->t.best_metric);
	was->best = BEST_WORST;
	was->best_step = 0;
	was->best_metric = "";
}

/* Check that the run to resume began from the weights of --init, if that is
 * given.  Return 0, or -1 after a message. */
static int
begin_check_init(struct session *s, const struct resume *r)
{
	if (s->t.o.init == NULL)
		return 0;
	if (!init_same(s->t.o.init, r->state.init))
		return -1;
	note("%s: not loaded again: the run began from it and resumes from its "
	    "checkpoint", text_quote(s->t.o.init));
	return 0;
}

/* Open the weights of --init on rank 0, if a new run has them.  Return 0, or
 * the negated exit status after a message. */
static int
begin_open_init(struct session *s, struct init *in)
{
	int status;

	if (s->t.o.init == NULL)
		return 0;
	status = init_open(in, s->graph, s->t.o.init, s->text.classes,
	    s->t.o.init_partial ? INIT_PARTIAL : INIT_MOST);
	if (status != 0)
		return -status;
	s->text.init = xstrdup(in->text);
	s->t.state.init = s->text.init;
	return 0;
}

/* Check that the run is the one that saved the checkpoint.  Return 0, or -1
 * after a message. */
static int
begin_check_resume(struct session *s, const struct resume *r)
{
	session_history(s, r->state.step);
	choices_state(s, r->state.choices);
	return identity_check_resume(r, &s->t.state, s->t.schedule,
	    dataset_samples(s->t.train), &s->t.o.override);
}

/* Return 1 if the run of checkpoint ${r} is finished. */
static int
begin_is_done(const struct session *s, const struct resume *r)
{
	return strcmp(s->t.o.resume, "auto") == 0 &&
	    r->state.step >= schedule_steps(s->t.schedule,
	    dataset_samples(s->t.train)) && !r->state.due &&
	    run_finished(s->t.o.output) >= 0;
}

/* Return 1 if the directory of the run is also read-only, such as an archived
 * run.  Then there is nothing to do, and no lock can be taken. */
static int
begin_is_archived(const struct session *s, const struct resume *r)
{
	return begin_is_done(s, r) && access(s->t.o.output, W_OK) != 0 &&
	    (errno == EROFS || errno == EACCES);
}

/*
 * Find and check the checkpoint to resume from, on rank 0, without loading it.
 * Return 1 if there is one, 0 if there is none, or -status after a message.
 * Without one, open the weights of --init in ${in}.
 */
static int
begin_find_checkpoint(struct session *s, struct resume *r, struct init *in)
{
	char holder[256];
	int got = 0;

	if (dir_locked(s->t.o.output, RUNDIR_LOCK, holder, sizeof(holder))) {
		fail("%s: in use by another process (host and pid: %s)",
		    text_quote(s->t.o.output), holder);
		return -EXIT_FAILED;
	}
	if (strcmp(s->t.o.resume, "never") == 0) {
		uint64_t *steps;

		got = rundir_checkpoints(s->t.o.output, "", &steps);
		free(steps);
		if (got > 0)
			fail("%s: holds a run already (--resume=auto resumes "
			    "it)", text_quote(s->t.o.output));
		return got == 0 ? begin_open_init(s, in) : got > 0 ?
		    -EXIT_USAGE : -EXIT_FAILED;
	}
	got = strcmp(s->t.o.resume, "auto") == 0 ?
	    resume_newest(s->t.o.output, r) : resume_file(s->t.o.resume, r);
	if (got < 0)
		return -checkpoint_status(got);
	if (got == 0)
		return begin_open_init(s, in);
	if (begin_check_resume(s, r) != 0 || begin_check_init(s, r) != 0)
		return -EXIT_USAGE;
	/* begin_check_resume compared as many rows as the checkpoint has; later
	 * checkpoints store all. */
	choices_state(s, NULL);
	begin_check_best(s, &r->state);
	if (begin_is_done(s, r))
		note("%s is done; vt-eval -k %s%s scores it",
		    text_quote(s->t.o.output), text_quote(s->t.o.output),
		    s->t.o.validates ? "" : " -i DATA");
	else
		note("%s: resuming after step %" PRIu64, text_quote(r->path),
		    r->state.step);
	return 1;
}

/* Do the same for a replay: find the checkpoint at which it starts. */
static int
begin_find_replayed(struct session *s, struct resume *r, struct init *in)
{
	int got = replay_find(s->use.replay, r);

	if (got < 0)
		return -checkpoint_status(got);
	if (got == 0)
		return begin_open_init(s, in);
	if (begin_check_resume(s, r) != 0)
		return -EXIT_USAGE;
	r->state.due = 0;		/* a replay does not validate */
	return 1;
}

#define FINISHED 2

/* The result of begin_find, which rank 0 sends to the others. */
struct begin_where {
	int64_t found;			/* 1, 0, FINISHED, or a negated exit
					 * status */
	int64_t status;			/* exit status, if FINISHED */
	uint64_t safe_step, bytes;	/* if 1; length of s->text.resumed */
};

/* Broadcast a flat buffer from the device of rank 0 to all devices. */
static int
begin_broadcast_flat(struct session *s, void *flat)
{
	size_t bytes = s->graph->elements * s->device->elem;
	void *host;
	int bad;

	if (s->comm->size == 1)
		return 0;
	host = xmalloc(bytes);
	device_download(s->device, host, flat, bytes);
	bad = comm_broadcast(s->comm, host, bytes, 0);
	device_upload(s->device, flat, host, bytes);
	free(host);
	return bad;
}

/* Initialize the weights of a new run.  Rank 0 loads those of --init over them
 * and broadcasts the result. */
static int
begin_new(struct session *s, const struct init *in)
{
	net_init(s->t.net, (uint64_t)s->t.o.seed);
	session_history(s, 0);
	if (s->t.o.init == NULL)
		return 0;
	if (in->match != NULL)
		match_load(in->match, s->t.net);
	return begin_broadcast_flat(s, s->t.net->w) != 0 ? EXIT_RANKS : 0;
}

/* Find on rank 0 the checkpoint, or the weights of --init, from which the run
 * begins.  With ${dry}, or for a replay, do not check for a finished run. */
static struct begin_where
begin_find(struct session *s, struct resume *r, struct init *in, int dry)
{
	struct begin_where w = { 0 };

	w.found = s->use.replay != NULL ? begin_find_replayed(s, r, in) :
	    s->t.o.output == NULL ? begin_open_init(s, in) :
	    begin_find_checkpoint(s, r, in);
	if (w.found >= 0 && trainer_check_ranks(&s->t, w.found == 1 ?
	    r->state.step : 0) != 0)
		w.found = -EXIT_USAGE;
	if (!dry && s->use.replay == NULL && w.found == 1 &&
	    begin_is_archived(s, r))
		return (struct begin_where){ .found = FINISHED,
			.status = run_finished(s->t.o.output) };
	if (w.found == 1) {
		state_pack(&r->state, &s->text.resumed);
		w.bytes = s->text.resumed.n;
		w.safe_step = s->use.replay == NULL && strcmp(s->t.o.resume,
		    "auto") == 0 ? r->state.step : 0;
	}
	return w;
}

/* Set the state of this rank to that of the checkpoint that rank 0 found.
 * Return 0, or -1 if communication fails. */
static int
begin_adopt_state(struct session *s, const struct begin_where *w)
{
	struct buffer *b = &s->text.resumed;

	if (s->comm->rank != 0) {
		buffer_free(b);
		b->data = xcalloc(w->bytes, 1);
		b->n = w->bytes;
	}
	if (comm_broadcast(s->comm, b->data, b->n, 0) != 0)
		return -1;
	state_unpack(&s->t.state, b);
	s->t.safe_step = w->safe_step;
	return 0;
}

/* On rank 0: load the checkpoint ${r}, if ${found}.  Put the optimizer state of
 * all ranks into ${whole}, and what begin_take_directory needs into
 * ${s}->begun.  Return 0, or an exit status. */
static int
begin_here(struct session *s, const struct resume *r, int found,
    struct slots_whole *whole, const struct init *in)
{
	struct begun *b = &s->begun;

	if (found && (checkpoint_load(&r->file, r->path, s->t.net, 0) != 0 ||
	    checkpoint_slots(&r->file, r->path, &s->t.optim.slots, whole) != 0))
		return EXIT_DAMAGE;
	*b = (struct begun){ .found = found, .from.skipped = r->skipped,
		.from.newest = r->newest, .from.state.step = r->state.step };
	if (found)
		b->hash = hash128(r->file.file.data, r->file.file.n);
	if (in->match != NULL)
		match_table(in->match, &b->init_table);
	return 0;
}

/*
 * Print how long the run will take, if the measurement is short compared with
 * the run.
 *
 * All ranks measure at the same time, because in the run they share the host.
 */
static int
begin_say_time(struct session *s)
{
	struct estimate e = { 0 };
	char text[256];

	if (!s->use.estimates || !estimate_is_cheap(&s->t))
		return 0;
	if (estimate_measure(&s->t, s->use.cores, &e) != 0)
		return stop_signal() != 0 ? 0 : EXIT_FAILED;
	if (s->comm->rank == 0)
		note("%s", estimate_text(&e, text));
	return 0;
}

/*
 * Begin the run.  With ${dry}, only find and check its checkpoint.  memory_fits
 * depends on the state of the checkpoint.
 */
static int
begin(struct session *s, struct resume *r, struct init *in, int dry)
{
	struct slots_whole whole = { { NULL } };
	struct begin_where w = { 0 };
	int status;

	/* The others wait in this broadcast; a refusal reaches them as a
	 * negative ${found}. */
	if (s->comm->rank == 0)
		w = begin_find(s, r, in, dry);
	if (comm_broadcast(s->comm, &w, sizeof(w), 0) != 0)
		return EXIT_RANKS;
	if (w.found < 0)
		return (int)-w.found;
	if (w.found == FINISHED) {
		s->finished = 1;
		return (int)w.status;
	}
	if (w.found == 1 && begin_adopt_state(s, &w) != 0)
		return EXIT_RANKS;
	if (dry)
		return 0;
	if ((status = memory_fits(&s->t)) != 0 ||
	    (s->use.replay == NULL && (status = comm_agree(s->comm,
	    begin_say_time(s))) != 0))
		return status;
	if (s->comm->rank == 0)
		status = begin_here(s, r, (int)w.found, &whole, in);
	status = comm_agree(s->comm, status);
	if (status == 0 && w.found == 0)
		status = begin_new(s, in);
	else if (status == 0 &&
	    (begin_broadcast_flat(s, s->t.net->w) != 0 ||
	    slots_scatter(&s->t.optim.slots, &whole) != 0))
		status = EXIT_RANKS;
	slots_forget(&whole);
	return status;
}

int
session_begin(struct session *s, int dry, FILE *f)
{
	struct buffer table = { 0 };
	struct resume r = { 0 };
	struct init in = { 0 };
	int status = begin(s, &r, &in, dry);

	if (f != NULL && in.match != NULL) {
		match_table(in.match, &table);
		fwrite(table.data, 1, table.n, f);
	}
	buffer_free(&table);
	init_close(&in);
	resume_free(&r);
	return status;
}
