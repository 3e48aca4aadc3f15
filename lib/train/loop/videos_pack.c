/* Pack the videos of a run on rank 0, while the other ranks wait. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/stop.h"
#include "base/text.h"
#include "ingest/video_set.h"
#include "shard/manifest.h"
#include "train/loop/inputs.h"
#include "train/loop/videos.h"
#include "train/run/rundir.h"

#define Q text_quote
#define TICK 0.25			/* seconds between exchanges of ranks */

/* ---- rank 0 ---- */

/* The thread that packs, and what it needs. */
struct videos_job {
	struct videos *p;
	double checkpoints;		/* bytes of them */
	pthread_mutex_t lock;
	pthread_cond_t ended;
	int done, status;
};

static const char *
videos_estimate_text(const struct extract_estimate *e, char text[160])
{
	char bytes[2][32], time[32];

	snprintf(text, 160, "about %s, up to %s, and %s on %d core%s",
	    text_bytes(bytes[0], e->bytes.value),
	    text_bytes(bytes[1], e->bytes.high),
	    clock_text(time, e->wall.value), e->cores, e->cores == 1 ? "" :
	    "s");
	return text;
}

int
videos_print(const struct videos *p, FILE *f)
{
	for (int which = 0; which < 2; which++) {
		const struct videos_set *s = &p->of[which];
		struct extract_estimate e;
		char text[160];

		if (s->videos == NULL)
			continue;
		if (video_set_estimate(s->videos, s->path, cpus(), &e) != 0)
			return -1;
		fprintf(f, "%-22s %zu videos of --%s: %s\n", "# packing",
		    video_set_list(s->videos)->n, videos_name[which],
		    videos_estimate_text(&e, text));
	}
	return 0;
}

/* Refuse a disk that cannot hold the sets and the checkpoints. */
static int
videos_check_space(const struct videos_job *j)
{
	const struct videos *p = j->p;
	double need = p->o->videos.cache == NULL ? fmax(0, j->checkpoints) : 0;
	const char *dir = p->o->videos.cache != NULL ? p->o->videos.cache :
	    p->run;
	char a[32], b[32], text[160];
	struct statvfs st;
	double left;

	for (int which = 0; which < 2; which++) {
		const struct videos_set *s = &p->of[which];
		struct extract_estimate e;

		if (s->videos == NULL)
			continue;
		if (video_set_estimate(s->videos, s->path, cpus(), &e) != 0)
			return stop_signal() != 0 ? EXIT_AGAIN : EXIT_FAILED;
		note("%s: packing %zu videos: %s", Q(s->path),
		    video_set_list(s->videos)->n, videos_estimate_text(&e,
		    text));
		need += e.bytes.high;
	}
	left = statvfs(dir, &st) == 0 ? (double)st.f_bavail *
	    (double)st.f_frsize : need;
	if (need <= left)
		return 0;
	fail("%s: the packed videos%s may take %s, and the disk has %s free "
	    "(wanted more, --short-side, or --cache on another disk)", Q(dir),
	    p->o->videos.cache == NULL ? " and the checkpoints" : "",
	    text_bytes(a, need), text_bytes(b, left));
	return EXIT_USAGE;
}

/* Pack set ${which}, and say what it takes.  Return an exit status. */
static int
videos_pack(struct videos *p, int which)
{
	struct videos_set *s = &p->of[which];
	double start = clock_seconds();
	char time[32], size[32];
	struct error why = { "" };
	struct manifest *m;
	int status;

	/* Another run may have packed it while this one waited, of other
	 * videos with the same names. */
	if (p->o->videos.cache != NULL && manifest_exists(s->path)) {
		if (video_set_compare(s->videos, s->path, &why) ==
		    VIDEO_SET_WHOLE)
			return 0;
		fail("%s: %s", Q(s->path), why.text);
		return EXIT_USAGE;
	}
	status = video_set_pack(s->videos, s->path, cpus());
	if (status == EXIT_AGAIN)
		note("%s: stopped; the same command packs the rest",
		    Q(s->path));
	if (status != 0)
		return status;
	if ((m = manifest_read(s->path, NULL)) == NULL)
		return EXIT_FAILED;
	note("%s: %llu videos packed in %s, %s", Q(s->path),
	    (unsigned long long)m->samples, clock_text(time, clock_seconds() -
	    start), text_bytes(size, (double)m->bytes));
	manifest_free(m);
	return 0;
}

/* Pack set ${which} of the cache under its lock, for which this waits. */
static int
videos_pack_locked(struct videos *p, int which)
{
	const struct timespec moment = { .tv_nsec = 200000000 };
	struct videos_set *s = &p->of[which];
	char *name, who[256];
	int lock, said = 0, status;

	if (p->o->videos.cache == NULL)
		return videos_pack(p, which);
	name = xprintf("%s.lock", path_base(s->path));
	while (dir_locked(p->o->videos.cache, name, who, sizeof(who)) &&
	    stop_signal() == 0) {
		if (!said)
			note("%s: another run packs it (host and pid: %s): "
			    "waiting", Q(s->path), who);
		said = 1;
		nanosleep(&moment, NULL);
	}
	lock = stop_signal() != 0 ? -1 : dir_lock(p->o->videos.cache, name);
	free(name);
	if (lock < 0)
		return stop_signal() != 0 ? EXIT_AGAIN : EXIT_FAILED;
	status = videos_pack(p, which);
	dir_unlock(lock);
	return status;
}

static void *
videos_work(void *arg)
{
	struct videos_job *j = arg;
	int status = videos_check_space(j);

	for (int which = 0; which < 2 && status == 0; which++)
		if (j->p->of[which].videos != NULL)
			status = videos_pack_locked(j->p, which);
	pthread_mutex_lock(&j->lock);
	j->status = status;
	j->done = 1;
	pthread_cond_signal(&j->ended);
	pthread_mutex_unlock(&j->lock);
	return NULL;
}

/* ---- all ranks ---- */

/* Wait until the job has ended, at most for TICK.  Return 1 if it has. */
static int
videos_await(struct videos_job *j)
{
	struct timespec until;
	int done;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)(TICK * 1e9);
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&j->lock);
	while (!j->done && pthread_cond_timedwait(&j->ended, &j->lock,
	    &until) == 0)
		;
	done = j->done;
	pthread_mutex_unlock(&j->lock);
	return done;
}

/*
 * Meet the other ranks until rank 0 has packed, so that no watchdog ends them.
 * They sleep, because MPI waits busily.  A rank that is told to stop stops
 * rank 0.  Return 0, or EXIT_RANKS.
 */
static int
videos_meet(struct videos_job *j)
{
	const struct timespec moment = { .tv_nsec = (long)(TICK * 0.8e9) };
	struct comm *c = j->p->comm;
	int done = 0;

	while (!done) {
		int64_t stopped = stop_signal() != 0;

		if (c->rank == 0)
			done = videos_await(j);
		else
			nanosleep(&moment, NULL);
		if (comm_max(c, &stopped) != 0 ||
		    comm_broadcast(c, &done, sizeof(done), 0) != 0)
			return EXIT_RANKS;
		if (stopped && c->rank == 0 && stop_signal() == 0)
			raise(SIGTERM);
	}
	return 0;
}

/*
 * Check that every host sees the directory ${dir} of rank 0, by a file in it.
 * Return an exit status that is the same on all ranks.
 */
static int
videos_check_hosts(struct videos *p, const char *dir)
{
	struct comm *c = p->comm;
	char host[128] = "?", *name = NULL, *path;
	int status = 0;

	if (c->size == 1)
		return 0;
	gethostname(host, sizeof(host) - 1);
	if (c->rank == 0)
		name = xprintf(".vt-train.%s.%ld", host, (long)getpid());
	if ((name = inputs_share(c, name)) == NULL)
		return EXIT_RANKS;
	path = path_join(dir, name);
	if (c->rank == 0 && commit_text(path, host) != 0)
		status = EXIT_FAILED;
	if ((status = comm_agree(c, status)) == 0 && file_size(path) < 0) {
		fail("%s: host %s does not see what rank 0 writes to it "
		    "(wanted --cache=DIR or --output=DIR on a file system of "
		    "all hosts, or a packed set: vt-extract VIDEO... | vt-pack "
		    "-o SET)", Q(dir), host);
		status = EXIT_USAGE;
	}
	status = comm_agree(c, status);
	if (c->rank == 0)
		unlink(path);
	free(path);
	free(name);
	return status;
}

/* Let rank 0 work in a thread of its own, which makes no call of MPI. */
static int
videos_start(struct videos *p, double checkpoints)
{
	struct videos_job j = { .p = p, .checkpoints = checkpoints,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.ended = PTHREAD_COND_INITIALIZER };
	pthread_t thread;
	int bad;

	if (p->comm->rank == 0 &&
	    pthread_create(&thread, NULL, videos_work, &j) != 0)
		die(EXIT_FAILED, "cannot start a thread");
	bad = videos_meet(&j);
	if (p->comm->rank == 0)
		pthread_join(thread, NULL);
	return bad ? EXIT_RANKS : comm_agree(p->comm, j.status);
}

int
videos_run(struct videos *p, double checkpoints)
{
	const char *cache = p->o->videos.cache;
	struct rundir r = { .lock = -1 };
	int status = 0;

	if (p->comm->rank == 0 && (rundir_open(&r, p->run) != 0 ||
	    (cache != NULL && file_make_dir(cache, NULL) != 0)))
		status = EXIT_FAILED;
	if ((status = comm_agree(p->comm, status)) == 0)
		status = videos_check_hosts(p, cache != NULL ? cache : p->run);
	if (status == 0)
		status = videos_start(p, checkpoints);
	if (p->comm->rank == 0)
		rundir_close(&r);
	for (int which = 0; status == 0 && which < 2; which++) {
		free(p->of[which].plan);
		p->of[which].plan = NULL;
	}
	return status;
}
