/* Checkpoints written in the background. */
#include <pthread.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "train/saver.h"

struct saver {
	struct rundir *run;
	pthread_t thread;
	int running, failed;
	struct snapshot *copy;
	uint64_t step, safe;		/* safe: the last step that is durable */
	int best;
};

static void *
work(void *arg)
{
	struct saver *s = arg;
	char *path = rundir_checkpoint(s->run, s->step);
	struct hash128 hash;

	s->failed = snapshot_write(s->copy, path, &hash) != 0 ||
	    rundir_saved(s->run, s->step, hash, s->best) != 0;
	if (s->failed)
		warning("%s: step %llu is not saved; the last safe one is %llu",
		    text_quote(s->run->path), (unsigned long long)s->step,
		    (unsigned long long)s->safe);
	else
		s->safe = s->step;
	free(path);
	return NULL;
}

struct saver *
saver_new(struct rundir *r)
{
	struct saver *s = xcalloc(1, sizeof(*s));

	s->run = r;
	return s;
}

int
saver_wait(struct saver *s)
{
	if (s->running) {
		pthread_join(s->thread, NULL);
		snapshot_free(s->copy);
		s->copy = NULL;
		s->running = 0;
	}
	return s->failed ? -1 : 0;
}

void
saver_free(struct saver *s)
{
	if (s == NULL)
		return;
	saver_wait(s);
	free(s);
}

void
saver_start(struct saver *s, struct snapshot *copy, uint64_t step, int best)
{
	saver_wait(s);
	s->copy = copy;
	s->step = step;
	s->best = best;
	if (pthread_create(&s->thread, NULL, work, s) != 0)
		die(EXIT_FAILED, "cannot start the thread that saves");
	s->running = 1;
}
