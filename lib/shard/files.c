/*
 * Open shards, within the limit of open files.
 *
 * A set of 240,000 clips of 300 frames has about 2000 shards of 512 MiB.  The
 * usual limit is 1024 files, and clips are drawn from the whole set.  So no
 * shard is closed while the limit permits, and then the least recently used
 * one.  Its index stays in memory; only the file is closed and reopened.
 *
 * Measured processor time of a files_take:
 *	0.05 us	an open file
 *	2.3 us	100 shards, 1 of 3 open
 *	6 us	1000 shards, hardly any open
 *	100 us	10,000 shards, hardly any open
 * The last two grow because files_close_oldest examines every shard.  A clip of
 * 8 frames takes 5 ms to decode, so an LRU list would gain nothing measurable.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/fail.h"
#include "base/text.h"
#include "shard/files.h"

/* users: between files_take and files_release; used: clock of the last take */
struct files_slot { struct shard *shard; int users; uint64_t used; };

struct files {
	pthread_mutex_t lock;
	pthread_cond_t idle;		/* a shard lost its last user */
	struct files_slot *slot;	/* [shards] */
	size_t shards;
	uint64_t clock;
	int open, max, users;
};

struct files *
files_new(size_t shards)
{
	struct files *f = xcalloc(1, sizeof(*f));
	struct rlimit limit = { 256, 256 };

	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->idle, NULL);
	f->slot = xcalloc(shards, sizeof(*f->slot));
	f->shards = shards;
	/* Half of the limit, because checkpoints, logs and MPI open files as
	 * well. */
	getrlimit(RLIMIT_NOFILE, &limit);
	f->max = limit.rlim_cur > 200000 ? 100000 : (int)limit.rlim_cur / 2;
	return f;
}

void
files_free(struct files *f)
{
	if (f == NULL)
		return;
	for (size_t k = 0; k < f->shards; k++)
		shard_close(f->slot[k].shard);
	pthread_mutex_destroy(&f->lock);
	pthread_cond_destroy(&f->idle);
	free(f->slot);
	free(f);
}

/*
 * Close the least recently used shard that is open and has no user.  Return 0
 * if there is none.  A shard with users must stay open: threads read from its
 * descriptor without the lock.
 */
static int
files_close_oldest(struct files *f)
{
	struct files_slot *best = NULL;

	for (struct files_slot *s = f->slot; s < f->slot + f->shards; s++)
		if (s->shard != NULL && s->shard->fd >= 0 && s->users == 0 &&
		    (best == NULL || s->used < best->used))
			best = s;
	if (best == NULL)
		return 0;
	shard_close_file(best->shard);
	f->open--;
	return 1;
}

const struct shard *
files_open(struct files *f, size_t k, const char *path, struct damage *d)
{
	struct files_slot *s = &f->slot[k];

	if (f->open >= f->max)
		files_close_oldest(f);
	while ((s->shard = shard_open(path, d)) == NULL &&
	    strcmp(d->kind, "files") == 0 && files_close_oldest(f))
		;
	f->open += s->shard != NULL;
	return s->shard;
}

const struct shard *
files_shard(const struct files *f, size_t k)
{
	return f->slot[k].shard;
}

/*
 * Reopen a shard, closing others if necessary.
 *
 * Half of the limit is only an estimate: the rest of this process may open more
 * files (EMFILE), or other processes may (ENFILE).  Then each failure closes
 * one more of our shards.  If all that are open have users, one of them will
 * call files_release, so the wait ends.  If there are no users, nothing of ours
 * can be closed.
 */
static int
files_open_again(struct files *f, struct shard *s, struct error *e)
{
	if (f->open >= f->max)
		files_close_oldest(f);
	while (s->fd < 0) {
		if (shard_reopen(s, e) == 0) {
			f->open++;
			return 0;
		}
		if (errno != EMFILE && errno != ENFILE)
			return -1;
		if (files_close_oldest(f))
			continue;
		if (f->users == 0)
			return error_errno(e, "%s: cannot open again",
			    text_quote(s->path));
		/* Another thread may reopen this shard during the wait. */
		pthread_cond_wait(&f->idle, &f->lock);
	}
	return 0;
}

const struct shard *
files_take(struct files *f, size_t k, struct error *e)
{
	struct files_slot *s = &f->slot[k];
	int result = 0;

	pthread_mutex_lock(&f->lock);
	if (s->shard->fd < 0)
		result = files_open_again(f, s->shard, e);
	if (result == 0) {
		f->users++;
		s->users++;
		s->used = ++f->clock;
	}
	pthread_mutex_unlock(&f->lock);
	return result == 0 ? s->shard : NULL;
}

void
files_release(struct files *f, size_t k)
{
	pthread_mutex_lock(&f->lock);
	f->users--;
	if (--f->slot[k].users == 0)
		pthread_cond_broadcast(&f->idle);
	pthread_mutex_unlock(&f->lock);
}
