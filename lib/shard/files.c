/*
 * Open shards, within the limit of open files.
 *
 * A set of 240,000 clips of 300 frames has some 2000 shards of 512 MiB, the
 * usual limit is 1024 files, and clips are drawn from all of it, so none is
 * closed as long as the limit allows, and the one used longest ago otherwise.
 * Its index stays in memory; only the file is closed and opened again.
 *
 * Measured, processor time of a files_take: 0.05 us of a file that is open;
 * 2.3 us where 1 file of 3 is, of 100; 6 and 100 us with 1000 and 10,000
 * shards of which hardly any is, since files_close_oldest looks at each.  A clip of
 * 8 frames takes 5 ms to decode: a list in order of use would not show.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/fail.h"
#include "base/text.h"
#include "shard/files.h"

struct files_slot { struct shard *shard; int users; uint64_t used; };

struct files {
	pthread_mutex_t lock;
	pthread_cond_t idle;		/* a shard was let go */
	struct files_slot *slot;		/* [shards] */
	size_t shards;
	uint64_t clock;
	int open, most, users;
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
	/* Half of what is allowed: checkpoints, logs and MPI open files too. */
	getrlimit(RLIMIT_NOFILE, &limit);
	f->most = limit.rlim_cur > 200000 ? 100000 : (int)limit.rlim_cur / 2;
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
 * Close the open shard that has no user and was used longest ago; 0: none.
 * A shard with users stays: threads read from its descriptor without the lock.
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
	shard_rest(best->shard);
	f->open--;
	return 1;
}

const struct shard *
files_open(struct files *f, size_t k, const char *path, struct damage *d)
{
	struct files_slot *s = &f->slot[k];

	if (f->open >= f->most)
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
 * Open a shard again, when others must be closed for it too.
 *
 * Half of the limit is only a guess of what the rest of the process leaves
 * us: others may take more (EMFILE), or other processes (ENFILE).  Then each
 * failure closes one more of ours; when all that are open have users, one of
 * these will let its shard go, so waiting ends.  Without any, nobody of ours
 * can help.
 */
static int
files_open_again(struct files *f, struct shard *s, struct error *e)
{
	if (f->open >= f->most)
		files_close_oldest(f);
	while (s->fd < 0) {
		if (shard_wake(s, e) == 0) {
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
		/* Another thread may open this very shard meanwhile. */
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
files_let_go(struct files *f, size_t k)
{
	pthread_mutex_lock(&f->lock);
	f->users--;
	if (--f->slot[k].users == 0)
		pthread_cond_broadcast(&f->idle);
	pthread_mutex_unlock(&f->lock);
}
