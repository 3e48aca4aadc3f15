/*
 * Pack videos.  One thread extracts them to a pipe, as vt-extract does, and
 * another packs the stream, as vt-pack does.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/stop.h"
#include "base/text.h"
#include "ingest/extract_all.h"
#include "ingest/extract_output.h"
#include "ingest/video_set_run.h"
#include "shard/manifest.h"
#include "shard/pack.h"
#include "shard/shard_query.h"

#define Q text_quote
#define CHUNK (64 << 10)		/* bytes of a read from the pipe */
#define SAMPLE 16			/* videos of an estimate */

/* ---- the rest of an unfinished set ---- */

static int
video_set_by_key(const void *a, const void *b)
{
	const struct list_row *const *x = a, *const *y = b;

	return strcmp((*x)->sample.key, (*y)->sample.key);
}

/* The rows of a list by key. */
struct video_set_index {
	struct video_set *v;
	const struct list_row **row;	/* [v->list.n] */
};

/* Record that the sample ${s} of the row with its key is packed. */
static int
video_set_note_sample(const struct sample *s, void *arg)
{
	struct video_set_index *x = arg;
	const struct list_row wanted = { .sample.key = s->key },
	    *key = &wanted, **found = bsearch(&key, x->row, x->v->list.n,
	    sizeof(*x->row), video_set_by_key);

	if (found != NULL) {
		struct video_fact *f = &x->v->fact[*found - x->v->list.row];

		f->done = f->hashed = 1;
		f->hash = s->source_hash;
	}
	return 0;
}

/* Find the rows whose samples are in ${dir}.  Return 0, or -1 after a
 * message. */
static int
video_set_find_done(struct video_set *v, const char *dir)
{
	struct video_set_index x = { v, xcalloc(v->list.n, sizeof(*x.row)) };
	int bad;

	for (size_t i = 0; i < v->list.n; i++) {
		x.row[i] = &v->list.row[i];
		v->fact[i].done = 0;
	}
	qsort(x.row, v->list.n, sizeof(*x.row), video_set_by_key);
	bad = shard_query_samples(dir, video_set_note_sample, &x);
	free(x.row);
	return bad ? -1 : 0;
}

/* Set ${rest} to the rows that are not done, which belong to ${v}. */
static void
video_set_rest(const struct video_set *v, struct list *rest)
{
	*rest = (struct list){ .row = xcalloc(v->list.n, sizeof(*rest->row)) };
	for (size_t i = 0; i < v->list.n; i++)
		if (!v->fact[i].done)
			rest->row[rest->n++] = v->list.row[i];
}

/*
 * Find out whether ${part} is the unfinished set, and set ${rest} to the rows
 * that it lacks.  Return VIDEO_SET_PART or VIDEO_SET_WHOLE, VIDEO_SET_NONE to
 * begin again, or VIDEO_SET_BAD after a message.
 */
static enum video_set_state
video_set_open_part(struct video_set *v, const char *part, struct list *rest)
{
	struct error ignored = { "" };
	enum video_set_state is = video_set_compare(v, part, &ignored);

	if (is == VIDEO_SET_OTHER)
		is = VIDEO_SET_NONE;
	if ((is == VIDEO_SET_PART || is == VIDEO_SET_WHOLE) &&
	    video_set_find_done(v, part) != 0)
		is = VIDEO_SET_BAD;
	video_set_rest(v, rest);
	return is;
}

int
video_set_estimate(struct video_set *v, const char *dir, int threads,
    struct extract_estimate *e)
{
	char *part = xprintf("%s.part", dir);
	struct list rest;
	struct extract_run run = { .how = &v->how, .list = &rest,
	    .threads = threads, .workers = 1, .verbose = -1 };
	int bad = video_set_open_part(v, part, &rest) == VIDEO_SET_BAD;

	*e = (struct extract_estimate){ .cores = threads };
	if (!bad && rest.n > 0)
		bad = extract_estimate(&run, SAMPLE, e);
	free(rest.row);
	free(part);
	return bad ? -1 : 0;
}

/* ---- the two threads ---- */

struct video_set_packing {
	struct pack_options o;
	int fd;				/* of the pipe, to read */
	int status;			/* of pack() */
	struct error why;		/* its errors */
	atomic_int ended;		/* 1: pack() has failed */
};

/* Pack the stream.  After a failure, read the rest of it, so that the writer
 * does not wait. */
static void *
video_set_packer(void *arg)
{
	struct video_set_packing *p = arg;
	char *path = xprintf("/dev/fd/%d", p->fd), chunk[CHUNK];
	const char *const input[1] = { path };
	struct pack_report r;

	fail_into(&p->why);
	p->status = pack(&p->o, input, 1, &r);
	fail_into(NULL);
	p->ended = p->status != EXIT_DONE;
	while (TEMP_FAILURE_RETRY(read(p->fd, chunk, sizeof(chunk))) > 0)
		;
	free(r.classes);
	free(path);
	return NULL;
}

/* The argument of extract_all's callback.  The rows of ${rest} are in the order
 * of the list, of which row ${at} is the next to compare. */
struct video_set_record {
	struct video_set *v;
	const struct list *rest;
	size_t at;
};

static void
video_set_record_row(void *arg, size_t i, const struct extraction *x)
{
	struct video_set_record *r = arg;
	struct video_fact *f;

	while (r->v->list.row[r->at].sample.key != r->rest->row[i].sample.key)
		r->at++;
	f = &r->v->fact[r->at];
	f->hashed = x->hashed;
	f->hash = x->sample.source_hash;
	free(f->refusal);
	f->refusal = x->kept ? NULL : xstrdup(x->message.text);
}

/* Extract the rows ${rest} to ${fd}.  Return 0, -1 after a message or a signal,
 * or 1 if the packer has ended. */
static int
video_set_extract(struct video_set *v, const struct list *rest, int threads,
    int fd, atomic_int *ended)
{
	struct extract_output to = { .fd = fd };
	struct video_set_record record = { v, rest, 0 };
	struct extract_run run = { .how = &v->how, .list = rest,
		.threads = threads, .skip = v->o.skip, .workers = 1,
		.ended = ended, .finished = video_set_record_row,
		.finished_of = &record };
	int bad = extract_output_open(&to, &v->list, &v->classes, &v->how);

	run.stream = to.stream;
	if (!bad && extract_all(&run) != 0)
		bad = *ended ? 1 : -1;
	if (bad == 0)
		bad = extract_output_end(&to, "ok");
	extract_output_drop(&to);
	tally_free(&run.tally);
	return bad;
}

/* Pack the rows ${rest} to ${part}, after those in it if it ${continued}. */
static int
video_set_run(struct video_set *v, const struct list *rest, const char *part,
    int threads, int continued)
{
	struct video_set_packing p = { .o = { .dir = part, .prefix = "shard",
		.shard_size = v->o.shard_size, .max_member = 64 << 20,
		.continued = continued, .foreign = STREAM_OWN } };
	pthread_t packer;
	int fd[2], bad;

	if (pipe2(fd, O_CLOEXEC) != 0) {
		fail_errno("cannot make a pipe");
		return EXIT_FAILED;
	}
	p.fd = fd[0];
	if (pthread_create(&packer, NULL, video_set_packer, &p) != 0)
		die(EXIT_FAILED, "cannot start a thread");
	bad = video_set_extract(v, rest, threads, fd[1], &p.ended);
	close(fd[1]);
	pthread_join(packer, NULL);
	close(fd[0]);
	if (stop_signal() != 0)
		return EXIT_AGAIN;
	if (bad < 0)		/* the packer reports only a short stream */
		return EXIT_FAILED;
	if (p.status != EXIT_DONE)
		fail("%s", p.why.text);
	return p.status;
}

/* ---- the directory ---- */

/* Remove the directory ${dir} with the files of a set.  It may be absent. */
static void
video_set_remove(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL)
		unlinkat(dirfd(d), e->d_name, 0);
	if (d != NULL)
		closedir(d);
	rmdir(dir);
}

/*
 * Give the set in ${part} the name ${dir}, and remove the set that had it.  If
 * the process ends in between, the next call finds the whole set in ${part}.
 */
static int
video_set_rename(const char *part, const char *dir)
{
	char *old = xprintf("%s.old", dir), *parent = path_dir(dir);
	int bad = 0;

	video_set_remove(old);
	if (rename(dir, old) != 0 && errno != ENOENT)
		bad = fail_errno("%s: cannot rename to %s", Q(dir), Q(old));
	if (!bad && rename(part, dir) != 0)
		bad = fail_errno("%s: cannot rename to %s", Q(part), Q(dir));
	if (!bad && file_sync_dir(parent, NULL) == 0)
		video_set_remove(old);
	free(parent);
	free(old);
	return bad;
}

int
video_set_pack(struct video_set *v, const char *dir, int threads)
{
	char *part = xprintf("%s.part", dir);
	struct list rest;
	enum video_set_state is = video_set_open_part(v, part, &rest);
	int status = is == VIDEO_SET_BAD ? EXIT_FAILED : 0;

	/* Shards of another list must not pass for those of this table. */
	if (is == VIDEO_SET_NONE) {
		video_set_remove(part);
		if (file_make_dir(part, NULL) != 0 ||
		    video_set_write(v, part) != 0)
			status = EXIT_FAILED;
	}
	if (status == 0 && is != VIDEO_SET_WHOLE)
		status = video_set_run(v, &rest, part, threads,
		    is == VIDEO_SET_PART);
	/* The messages of an earlier call that packed all are lost. */
	for (size_t i = 0; is == VIDEO_SET_WHOLE && i < v->list.n; i++)
		if (!v->fact[i].done)
			v->fact[i].refusal = xstrdup("left out");
	if (status == 0 && (video_set_write(v, part) != 0 ||
	    video_set_rename(part, dir) != 0))
		status = EXIT_FAILED;
	free(rest.row);
	free(part);
	return status;
}
