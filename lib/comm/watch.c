/* The watchdog: a time limit for each wait of a rank. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/stop.h"
#include "comm/watch.h"

#define HOST 64
#define WHERE 256
#define WAITS 8			/* threads that may wait at once */
#define LINES 8			/* most ranks that a message names */
#define HUNG 20			/* seconds until the exit itself counts as
				 * hung */
#define TURN 2.5		/* seconds for another late rank to report
				 * first */

struct watch_host { char name[HOST]; };

/* A message between watchdogs: a query, or the status of a rank. */
struct watch_message {
	int32_t question;
	int32_t peers;			/* 1: it waits for other ranks */
	uint64_t step;
	double seconds;			/* duration of the wait */
	char what[96];
	char where[WHERE];		/* more about it, or "" */
};

/* A wait of a thread; ${what} is NULL if the entry is free. */
struct watch_wait { const char *what; int peers; double seconds; };

struct watch {
	/* The limits before watch_connect, before the first watch_phase, and
	 * after it; seconds between two checks. */
	double start, setup, limit, period;
	struct watch_message question, *reply;	/* to be sent; reply is
						 * [size] */
	/*
	 * Both [size], only used by the thread: the ranks' status, and which
	 * ranks have sent it.
	 */
	struct watch_message *answer;		/* [size] */
	int *answered;

	pthread_t thread;
	pthread_mutex_t lock;		/* of all fields below */
	pthread_cond_t moved;
	int stop;
	struct comm *comm;		/* NULL: MPI has not started */
	struct comm *ask;		/* for queries; NULL: not possible */
	struct watch_host *host;		/* [size]; "": not received
						 * yet */
	int met, stepping;		/* watch_connect and watch_phase have
					 * been called */
	int stop_ends;			/* see watch_stop_ends */
	struct watch_wait wait[WAITS];
	const char *phase;
	double phase_seconds;
	uint64_t step;
	void (*tell)(void *, int, uint64_t, char *, size_t);
	struct watch_cleanup *cleanups;
	void *arg;
};

/* ---- the status of this rank ---- */

/* Return the longest wait, NULL if there is none.  The lock is held. */
static const struct watch_wait *
watch_longest(const struct watch *w)
{
	const struct watch_wait *largest = NULL;

	for (int i = 0; i < WAITS; i++)
		if (w->wait[i].what != NULL && (largest == NULL ||
		    w->wait[i].seconds > largest->seconds))
			largest = &w->wait[i];
	return largest;
}

/* Fill in this rank's status.  The lock is held. */
static void
watch_describe(const struct watch *w, struct watch_message *s)
{
	const struct watch_wait *wait = watch_longest(w);
	const char *what = wait != NULL ? wait->what : "computing";

	*s = (struct watch_message){ .peers = wait != NULL && wait->peers,
		.step = w->step, .seconds = wait != NULL ? wait->seconds :
		w->phase_seconds };
	if (w->phase == NULL)
		snprintf(s->what, sizeof(s->what), "%s", what);
	else if (wait == NULL)
		snprintf(s->what, sizeof(s->what), "%s", w->phase);
	else
		snprintf(s->what, sizeof(s->what), "%s (%s)", w->phase, what);
	if (w->phase == NULL && w->tell != NULL)
		w->tell(w->arg, w->comm->rank, w->step, s->where,
		    sizeof(s->where));
}

void
watch_set_describe(struct watch *w, void (*tell)(void *, int, uint64_t, char *,
    size_t), void *arg)
{
	if (w == NULL)
		return;
	pthread_mutex_lock(&w->lock);
	w->tell = tell;
	w->arg = arg;
	pthread_mutex_unlock(&w->lock);
}

void
watch_add_cleanup(struct watch *w, struct watch_cleanup *c)
{
	if (w == NULL)
		return;
	pthread_mutex_lock(&w->lock);
	c->next = w->cleanups;
	w->cleanups = c;
	pthread_mutex_unlock(&w->lock);
}

void
watch_remove_cleanup(struct watch *w, struct watch_cleanup *c)
{
	struct watch_cleanup **at;

	if (w == NULL)
		return;
	pthread_mutex_lock(&w->lock);
	for (at = &w->cleanups; *at != NULL && *at != c; at = &(*at)->next)
		;
	if (*at != NULL)
		*at = c->next;
	pthread_mutex_unlock(&w->lock);
}

void
watch_phase(struct watch *w, const char *what, uint64_t step)
{
	if (w == NULL)
		return;
	pthread_mutex_lock(&w->lock);
	w->phase = what;
	w->phase_seconds = 0;
	w->step = step;
	w->stepping = 1;
	pthread_mutex_unlock(&w->lock);
}

void
watch_stop_ends(struct watch *w, int ends)
{
	if (w == NULL)
		return;
	pthread_mutex_lock(&w->lock);
	w->stop_ends = ends;
	pthread_mutex_unlock(&w->lock);
}

int
watch_enter(struct watch *w, const char *what, int peers)
{
	int i = 0;

	if (w == NULL)
		return -1;
	pthread_mutex_lock(&w->lock);
	while (i < WAITS && w->wait[i].what != NULL)
		i++;
	/* More waits at once than entries are not measured. */
	if (i < WAITS)
		w->wait[i] = (struct watch_wait){ what, peers, 0 };
	pthread_mutex_unlock(&w->lock);
	return i < WAITS ? i : -1;
}

void
watch_leave(struct watch *w, int wait)
{
	if (wait < 0)
		return;
	pthread_mutex_lock(&w->lock);
	w->wait[wait].what = NULL;
	w->phase_seconds = 0;		/* from here on it computes */
	pthread_mutex_unlock(&w->lock);
}

/* ---- querying the other ranks ---- */

/*
 * Receive all messages that have arrived, and reply to queries.  Return 1 if a
 * rank before this one queries, too.
 */
static int
watch_receive(struct watch *w, struct comm *c)
{
	struct watch_message s;
	int rank, earlier = 0;

	while (c != NULL && c->t->receive_status(c, &rank, &s, sizeof(s))) {
		if (!s.question) {
			w->answer[rank] = s;
			w->answered[rank] = 1;
			continue;
		}
		earlier |= rank < c->rank;
		pthread_mutex_lock(&w->lock);
		watch_describe(w, &w->reply[rank]);
		pthread_mutex_unlock(&w->lock);
		c->t->send_status(c, rank, &w->reply[rank],
		    sizeof(w->reply[rank]));
	}
	return earlier;
}

/*
 * Query every rank and wait for the replies.  Return 1 if a rank before this
 * one queries, too: then that one reports.
 */
static int
watch_query(struct watch *w, struct comm *c)
{
	/* A rank's thread replies within one period. */
	double patience = 3 * w->period + 0.5, start = clock_seconds();
	int left = c->size - 1, earlier = 0;

	w->question.question = 1;
	for (int r = 0; r < c->size; r++)
		if (r != c->rank)
			c->t->send_status(c, r, &w->question,
			    sizeof(w->question));
	while (left > 0 && clock_seconds() - start < patience) {
		earlier |= watch_receive(w, c);
		left = c->size - 1;
		for (int r = 0; r < c->size; r++)
			left -= w->answered[r];
		clock_sleep(0.02);
	}
	return earlier;
}

/* ---- reporting, and ending the run ---- */

/* "rank 3 on node7 is loading clips in step 12, for 10:00" */
static void
watch_say(const struct watch_host *host, int rank,
    const struct watch_message *s, const char *more)
{
	char step[40] = "", text[32];

	if (s->step > 0)
		snprintf(step, sizeof(step), " in step %llu",
		    (unsigned long long)s->step);
	fail("rank %d on %s is %s%s, for %s%s%s", rank, host[rank].name,
	    s->what, step, clock_text(text, s->seconds), s->where, more);
}

static void
watch_say_silent(struct watch *w, const struct watch_host *host, int rank)
{
	char where[WHERE] = "";

	pthread_mutex_lock(&w->lock);
	if (w->phase == NULL && w->tell != NULL)
		w->tell(w->arg, rank, w->step, where, sizeof(where));
	pthread_mutex_unlock(&w->lock);
	fail("rank %d on %s does not answer: it is stopped, or lost%s", rank,
	    host[rank].name, where);
}

/*
 * Report the other ranks that are late: those that do not reply, and those
 * whose status differs from this rank's.
 */
static void
watch_say_late(struct watch *w, const struct watch_host *host,
    const struct watch_message *mine)
{
	int late = 0;

	for (int r = 0; r < w->comm->size; r++) {
		const struct watch_message *s = &w->answer[r];

		if (r == w->comm->rank || (w->answered[r] && s->peers &&
		    s->step == mine->step && strcmp(s->what, mine->what) == 0))
			continue;
		if (++late > LINES)
			continue;
		if (w->answered[r])
			watch_say(host, r, s, "");
		else
			watch_say_silent(w, host, r);
	}
	if (late > LINES)
		fail("and %d more ranks", late - LINES);
	if (late == 0)
		fail("the other ranks also wait");
}

static void
watch_on_alarm(int number)
{
	(void)number;
	_exit(EXIT_RANKS);
}

/*
 * End a run whose ranks are not connected, so that none can be queried.  While
 * MPI itself starts, nobody knows which rank is missing; so each rank reports
 * itself.  After that, report the ranks whose host name has not arrived.  The
 * names are read while MPI may still write them: the process ends in any case.
 */
static _Noreturn void
watch_end_start(const struct watch *w, struct comm *c, double seconds)
{
	char name[HOST] = "", late[64] = "the others", text[32], limit[32];
	int size, rank = launch_rank(&size), before = 0, first = -1, more = -1;

	signal(SIGALRM, watch_on_alarm);
	alarm(HUNG);
	gethostname(name, sizeof(name) - 1);
	clock_text(text, seconds);
	clock_text(limit, w->start);
	if (c == NULL) {
		fail("rank %d on %s waits for MPI to start, for %s "
		    "(--step-timeout allows it %s): a rank that does not "
		    "say so is late, stopped or lost", rank, name, text, limit);
		clock_sleep(TURN);
		_exit(EXIT_RANKS);
	}
	/* Name the rank that this one waits for: the next one, in a circle, of
	 * which it has not heard (collective_gather).  Others may wait, too. */
	for (int i = c->size - 1; i > 0; i--) {
		int r = (c->rank + i) % c->size;
		int known = w->host[r].name[0] != '\0';

		before += known && r < c->rank;
		if (!known)
			more++, first = r;
	}
	if (before > 0)
		clock_sleep(TURN);	/* a rank before this one reports */
	if (first >= 0)
		snprintf(late, sizeof(late), more > 0 ? "rank %d and %d more" :
		    "rank %d", first, more);
	fail("rank %d on %s waits for %s to start, for %s (--step-timeout "
	    "allows it %s): stopped, lost, or its messages do not arrive",
	    c->rank, name, late, text, limit);
	comm_abort(c, EXIT_RANKS);
}

static void
watch_clean(struct watch *w)
{
	pthread_mutex_lock(&w->lock);
	for (struct watch_cleanup *e = w->cleanups; e != NULL; e = e->next)
		e->end(e->arg);
	pthread_mutex_unlock(&w->lock);
}

static _Noreturn void
watch_end(struct watch *w, struct comm *c, const struct watch_host *host,
    const struct watch_message *mine, double late)
{
	char more[80], limit[32];

	/* If something hangs from here on, the alarm ends this process. */
	signal(SIGALRM, watch_on_alarm);
	alarm((unsigned)(2 * HUNG + 3 * w->period));
	if (mine->peers && c != NULL && watch_query(w, c))
		clock_sleep(HUNG);	/* the rank before this one reports */
	snprintf(more, sizeof(more), " (%s allows %s)", late == w->limit ?
	    "--step-timeout" : "setting up", clock_text(limit, late));
	watch_say(host, w->comm->rank, mine, more);
	if (mine->peers && c != NULL)
		watch_say_late(w, host, mine);
	else if (mine->peers)
		fail("cannot ask which rank is late: %s does not let two "
		    "threads communicate", comm_library());
	watch_clean(w);
	comm_abort(w->comm, EXIT_RANKS);
}

/*
 * End all ranks for a signal.  If it reached this rank, it probably reached
 * rank 0, which then ends them first.
 */
static _Noreturn void
watch_end_stopped(struct watch *w, struct comm *c)
{
	if (c->rank > 0)
		clock_sleep(1);
	note(WATCH_STOPPED);
	watch_clean(w);
	if (c->size > 1)
		comm_abort(c, EXIT_AGAIN);
	/* The main thread still computes, so run no destructors. */
	_exit(EXIT_AGAIN);
}

/* ---- the thread ---- */

/*
 * Wait for w->period or until watch_close; return the seconds that have passed.
 * The lock is held.
 */
static double
watch_sleep(struct watch *w)
{
	double start = clock_seconds(), passed;
	long whole = (long)w->period;
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += whole;
	until.tv_nsec += (long)(1e9 * (w->period - (double)whole));
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	if (!w->stop)
		pthread_cond_timedwait(&w->moved, &w->lock, &until);
	passed = clock_seconds() - start;
	/* Much longer than requested: the whole process was stopped. */
	return passed > w->period + 1 ? w->period : passed;
}

static void *
watch_thread(void *arg)
{
	struct watch *w = arg;

	pthread_mutex_lock(&w->lock);
	while (!w->stop) {
		double passed = watch_sleep(w);
		const struct watch_wait *largest;
		struct comm *c = w->ask;
		const struct watch_host *host = w->host;
		struct comm *all = w->comm;
		struct watch_message mine;
		double limit = !w->met ? w->start : w->stepping ? w->limit :
		    w->setup;
		int late, met = w->met, stops = w->stop_ends &&
		    stop_signal() != 0;

		w->phase_seconds += passed;
		for (int i = 0; i < WAITS; i++)
			w->wait[i].seconds += passed;
		largest = watch_longest(w);
		late = largest != NULL && !w->stop &&
		    largest->seconds >= limit;
		watch_describe(w, &mine);
		pthread_mutex_unlock(&w->lock);
		/*
		 * Without the lock: these functions send messages or do not
		 * return.
		 */
		if (late && !met)
			watch_end_start(w, all, mine.seconds);
		if (stops)
			watch_end_stopped(w, all);
		if (late)
			watch_end(w, c, host, &mine, limit);
		watch_receive(w, c);
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

struct watch *
watch_open(double seconds)
{
	struct watch *w = xcalloc(1, sizeof(*w));
	pthread_condattr_t clock;

	w->limit = seconds > 0 ? seconds : HUGE_VAL;
	w->start = w->limit > WATCH_START ? w->limit : WATCH_START;
	w->setup = w->limit > WATCH_SETUP ? w->limit : WATCH_SETUP;
	/*
	 * The run must end within 5 s of the limit: one period until the thread
	 * notices, four more for the replies, and 2 s for MPI to end the ranks.
	 */
	w->period = seconds <= 0 || seconds > 4 ? 0.5 : seconds / 8;
	w->phase = "setting up";
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&w->moved, &clock);
	pthread_condattr_destroy(&clock);
	if (pthread_create(&w->thread, NULL, watch_thread, w) != 0)
		die(EXIT_FAILED, "cannot start the watchdog thread");
	return w;
}

/* Exchange the host names, and make a communicator for the thread. */
void
watch_connect(struct watch *w, struct comm *c)
{
	struct watch_host mine = { "" };
	struct comm *ask = NULL;
	size_t size = (size_t)c->size;
	int wait = watch_enter(w, "starting", 1);

	w->reply = xcalloc(size, sizeof(*w->reply));
	w->answer = xcalloc(size, sizeof(*w->answer));
	w->answered = xcalloc(size, sizeof(*w->answered));
	pthread_mutex_lock(&w->lock);
	w->host = xcalloc(size, sizeof(*w->host));
	w->comm = c;
	pthread_mutex_unlock(&w->lock);
	gethostname(mine.name, sizeof(mine.name) - 1);
	if (comm_allgather(c, &mine, sizeof(mine), w->host) != 0 ||
	    (c->t->send_status != NULL && (ask = comm_dup(c, c->what)) == NULL))
		comm_abort(c, EXIT_RANKS);
	watch_leave(w, wait);		/* before the smaller limit applies */
	pthread_mutex_lock(&w->lock);
	w->ask = ask;
	w->met = 1;
	pthread_mutex_unlock(&w->lock);
}

void
watch_close(struct watch *w)
{
	if (w == NULL)
		return;
	pthread_mutex_lock(&w->lock);
	w->stop = 1;
	pthread_cond_broadcast(&w->moved);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->moved);
	comm_free(w->ask);
	free(w->host);
	free(w->reply);
	free(w->answer);
	free(w->answered);
	free(w);
}
