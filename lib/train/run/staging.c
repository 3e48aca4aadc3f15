/* Staging of datasets on the hosts of a run. */
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/text.h"
#include "comm/cores.h"
#include "shard/manifest.h"
#include "shard/stage.h"
#include "train/run/staging.h"

#define LOOK 0.05		/* seconds between exchanges of the ranks */

/* The thread that copies, and what it copies. */
struct staging_work {
	struct stage_folder stage;
	const char *const *set;
	int n;
	pthread_t thread;
	int running;
	int status;			/* exit status, valid if done */
	atomic_int done;
};

/* State of a rank.  The largest of all ranks decides. */
enum { STAGING_DONE, STAGING_BUSY, STAGING_END };

static int
staging_status(int bad)
{
	return bad == -2 ? EXIT_DAMAGE : bad ? EXIT_FAILED : 0;
}

static void *
staging_thread(void *arg)
{
	struct staging_work *w = arg;
	int bad = 0;

	for (int i = 0; i < w->n && !bad; i++)
		if (w->set[i] != NULL)
			bad = stage_set(&w->stage, w->set[i]);
	/* A signal also stops a verification before ${stage.stop} is set. */
	w->status = w->stage.stop || stop_signal() != 0 ? 0 :
	    staging_status(bad);
	w->done = 1;
	return NULL;
}

static int64_t
staging_state(const struct staging_work *w)
{
	if (stop_signal() != 0 || (w->done && w->status != 0))
		return STAGING_END;
	return w->done ? STAGING_DONE : STAGING_BUSY;
}

static void
staging_say(const struct staging_work *w)
{
	char size[2][32];

	if (progress_due() && w->stage.of > 0)
		progress_line("staging: %s of %s", text_bytes(size[0],
		    (double)w->stage.bytes), text_bytes(size[1],
		    (double)w->stage.of));
}

/*
 * Wait until every host has its copies.  The ranks exchange their states all
 * the time, so that none waits for longer than the watchdog allows, and all end
 * soon after one fails or is signalled.
 */
static int
staging_wait(struct staging_work *w, struct comm *c)
{
	int64_t state = STAGING_BUSY, stopped;
	int bad = 0;

	while (state == STAGING_BUSY && !bad) {
		for (int i = 0; i < 10 && staging_state(w) == STAGING_BUSY; i++)
			clock_sleep(LOOK / 10);
		staging_say(w);
		state = staging_state(w);
		bad = comm_max(c, &state);
	}
	w->stage.stop = state == STAGING_END || bad;
	if (w->running)
		pthread_join(w->thread, NULL);
	if (bad)
		return EXIT_RANKS;
	stopped = stop_signal() != 0;
	if (comm_max(c, &stopped) != 0)
		return EXIT_RANKS;
	bad = comm_agree(c, w->status);
	return bad == 0 && stopped ? EXIT_AGAIN : bad;
}

/* Start the thread on the first rank of each host. */
static int
staging_start(struct staging_work *w, struct comm *c)
{
	int *host = xcalloc((size_t)c->size, sizeof(*host)), status = 0;

	if (cores_hosts(c, host) != 0)
		status = EXIT_RANKS;
	w->done = status != 0 || host[c->rank] != c->rank;
	free(host);
	if (w->done)
		return status;
	if (pthread_create(&w->thread, NULL, staging_thread, w) != 0) {
		fail("cannot start a thread");
		w->status = EXIT_FAILED;
		w->done = 1;
	}
	w->running = !w->done;
	return 0;
}

int
staging_run(const struct staging *o, struct comm *c, const char *const *set,
    int n, char **copy)
{
	struct staging_work w = { .set = set, .n = n };
	int status = 0, bad;

	for (int i = 0; i < n; i++)
		copy[i] = NULL;
	if (o->dir == NULL)
		return 0;
	w.stage.dir = o->dir;
	w.stage.command = o->command;
	for (int i = 0; i < n && status == 0; i++)
		if (set[i] != NULL && (copy[i] = stage_path(o->dir, set[i],
		    &bad)) == NULL)
			status = staging_status(bad);
	if ((status = comm_agree(c, status)) != 0)
		return status;
	if (!o->only_look)
		return (status = staging_start(&w, c)) != 0 ? status :
		    staging_wait(&w, c);
	for (int i = 0; i < n; i++)
		if (copy[i] != NULL && !manifest_exists(copy[i])) {
			free(copy[i]);
			copy[i] = NULL;
		}
	return 0;
}
