/* Write checkpoints in the background, by one thread for each save. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "train/run/saver.h"

struct saver {
	struct rundir *run;
	pthread_t thread;
	int running, skipped;		/* the thread exists; the last requested
					 * save was skipped */
	struct snapshot *copy;		/* being written, or failed; NULL:
					 * none */
	uint64_t step, safe;		/* of ${copy}; last durable step */
	int how;			/* SAVE_* bits of ${copy} */
	atomic_int failed;		/* saves in a row that failed */
	struct error why;		/* reason of the last failure */
};

static void
saver_drop(struct saver *s)
{
	snapshot_free(s->copy);
	s->copy = NULL;
}

/*
 * Write the copy, and free it after success.  On a full disk, remove older
 * checkpoints one by one and try again.  Errors go to ${s}->why, because a
 * failed save is only a warning.
 */
static void *
saver_save(void *saver)
{
	struct saver *s = saver;
	char *path = rundir_checkpoint(s->run->path, s->step);
	struct hash128 hash;
	int bad, full;

	do {
		s->why.text[0] = '\0';
		errno = 0;		/* a refusal does not set it */
		bad = snapshot_write(s->copy, path, &hash, &s->why) != 0 ||
		    rundir_saved(s->run, s->step, hash, s->how & SAVE_BEST,
		    s->how & SAVE_KEEP_ALL, &s->why) != 0;
		full = bad && (errno == ENOSPC || errno == EDQUOT);
	} while (full && rundir_free_space(s->run, s->safe));
	s->failed = bad ? s->failed + 1 : 0;
	if (bad) {
		warning("%s: step %llu is not saved; the last safe one is "
		    "%llu: %s (%d of %d failures in a row that end the run)",
		    text_quote(s->run->path), (unsigned long long)s->step,
		    (unsigned long long)s->safe, s->why.text, s->failed,
		    SAVER_FAILURES);
	} else {
		s->safe = s->step;
		detail("%s is saved", text_quote(path));
		saver_drop(s);
	}
	free(path);
	return NULL;
}

struct saver *
saver_new(struct rundir *r, uint64_t safe)
{
	struct saver *s = xcalloc(1, sizeof(*s));

	s->run = r;
	s->safe = safe;
	return s;
}

static void
saver_join(struct saver *s)
{
	if (s->running)
		pthread_join(s->thread, NULL);
	s->running = 0;
}

int
saver_ready(struct saver *s, uint64_t step, int how)
{
	saver_join(s);
	if (s->copy != NULL && (s->how & SAVE_BEST) && !(how & SAVE_BEST))
		saver_save(s);
	else
		saver_drop(s);
	s->skipped = s->copy != NULL;
	if (s->skipped)
		warning("%s: step %llu is not saved: step %llu, the best so "
		    "far, must be first, and failed again; make space or "
		    "repair the disk, or resume with --keep-best=none",
		    text_quote(s->run->path), (unsigned long long)step,
		    (unsigned long long)s->step);
	return s->skipped ? -1 : 0;
}

void
saver_start(struct saver *s, struct snapshot *copy, uint64_t step, int how)
{
	s->copy = copy;
	s->step = step;
	s->how = how;
	if (pthread_create(&s->thread, NULL, saver_save, s) == 0)
		s->running = 1;
	else
		saver_save(s);		/* no thread: training waits */
}

int
saver_gave_up(const struct saver *s)
{
	return s->failed >= SAVER_FAILURES;
}

int
saver_wait(struct saver *s)
{
	saver_join(s);
	if (s->copy != NULL)
		saver_save(s);
	if (s->copy == NULL && !s->skipped)
		return 0;
	return fail("%s: the last step is not saved; the last safe step is "
	    "%llu, from which the same command resumes: %s",
	    text_quote(s->run->path), (unsigned long long)s->safe, s->why.text);
}

void
saver_free(struct saver *s)
{
	if (s == NULL)
		return;
	saver_join(s);
	saver_drop(s);
	free(s);
}
