/* List videos that are not packed, and verify them. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/ordered.h"
#include "base/stop.h"
#include "base/text.h"
#include "ingest/extract_all.h"
#include "ingest/extract_settings.h"
#include "ingest/folder.h"
#include "ingest/unpacked_run.h"
#include "shard/class_infer.h"
#include "shard/manifest.h"

#define Q text_quote
#define MEMORY ((size_t)256 << 20)	/* of encoded frames; more go to a
					 * file */
#define CHUNK ((size_t)1 << 20)		/* bytes of a read */

/* ---- the list ---- */

/* Append the names in ${dir} to ${list} in byte order: as videos, or, with
 * ${inner}, as folders of videos.  Count what is skipped in ${l}. */
static int
unpacked_add_folder(struct list *list, const char *dir, int inner,
    struct litter *l)
{
	struct dirent **entry;
	int n = scandir(dir, &entry, NULL, alphasort), bad = 0;

	if (n < 0)
		return fail_errno("%s: cannot read", Q(dir));
	for (int i = 0; i < n; i++) {
		char *path = path_join(dir, entry[i]->d_name);

		if (file_is_litter(entry[i]->d_name, l) || bad)
			;
		else if (!inner)
			list_add(list, path);
		else if (file_is_dir(path))
			bad = unpacked_add_folder(list, path, 0, l);
		else
			warning("%s: skipped, since no folder names its class",
			    Q(path));
		free(path);
		free(entry[i]);
	}
	free(entry);
	return bad;
}

int
unpacked_is(const char *path)
{
	DIR *d = file_is_dir(path) && !manifest_exists(path) ? opendir(path) :
	    NULL;
	struct litter l = { 0 };
	struct dirent *e;
	int is = d == NULL && file_size(path) >= 0;

	while (d != NULL && !is && (e = readdir(d)) != NULL) {
		char *inner = path_join(path, e->d_name);

		is = !file_is_litter(e->d_name, &l) && file_is_dir(inner);
		free(inner);
	}
	free(l.first);
	if (d != NULL)
		closedir(d);
	return is;
}

/* Name the classes of numeric labels, as vt-pack does. */
static void
unpacked_name_numbers(struct unpacked *u)
{
	struct class_infer *infer = class_infer_new();

	for (size_t i = 0; i < u->list.n; i++)
		class_infer_add(infer, &u->list.row[i].sample);
	class_infer_classes(infer, &u->classes);
	class_infer_free(infer);
}

/* Return 0, or an exit status after a message. */
static int
unpacked_gather(struct unpacked *u)
{
	const char *root = u->o.root;
	const struct list_how how = { .root = root };
	int status;

	if (file_is_dir(u->path)) {
		struct litter l = { 0 };
		int bad = unpacked_add_folder(&u->list, u->path, 1, &l);

		root = u->path;
		file_note_litter(u->path, &l);
		if (bad != 0)
			return EXIT_FAILED;
		if ((status = list_label_folders(&u->list, root)) != 0)
			return status;
	} else if (list_read(&u->list, u->path, &how) != 0 ||
	    list_one_column(&u->list) != 0) {
		return EXIT_FAILED;
	}
	if (u->list.n == 0) {
		fail("%s: no video (wanted %s)", Q(u->path),
		    file_is_dir(u->path) ? "CLASS/VIDEO in it" : "one on each "
		    "line");
		return EXIT_FAILED;
	}
	if (u->list.n > INT_MAX) {
		fail("%s: %zu videos (wanted at most %d)", Q(u->path),
		    u->list.n, INT_MAX);
		return EXIT_FAILED;
	}
	for (size_t k = 0; u->o.classes != NULL && k < u->o.classes->n; k++)
		class_add(&u->classes, u->o.classes->name[k]);
	if (list_number(&u->list, &u->classes, u->o.classes != NULL ?
	    u->o.whose : NULL) != 0 || list_keys(&u->list, root, 0) != 0)
		return EXIT_FAILED;
	if (u->classes.n == 0)
		unpacked_name_numbers(u);
	return 0;
}

static int
unpacked_stopped(void)
{
	return stop_signal() != 0;
}

struct unpacked *
unpacked_new(const struct unpacked_options *o, int *status)
{
	struct unpacked *u = xcalloc(1, sizeof(*u));

	u->o = *o;
	u->path = xstrdup(o->path);
	pthread_mutex_init(&u->lock, NULL);
	spool_budget_open(&u->budget, MEMORY);
	u->how = extract_defaults;
	u->how.short_side = o->short_side;
	u->how.fps = o->fps;
	u->how.command = "vt-extract ";
	u->how.memory = &u->budget;
	u->how.no_phash = 1;		/* training does not compare videos */
	extract_streams(&u->how, &u->streams);
	u->how.stopped = unpacked_stopped;
	*status = video_ready() != 0 ? EXIT_FAILED : unpacked_gather(u);
	u->o.classes = NULL;
	if (*status != 0) {
		unpacked_free(u);
		return NULL;
	}
	u->fact = xcalloc(u->list.n, sizeof(*u->fact));
	u->known = xcalloc(u->list.n, sizeof(*u->known));
	return u;
}

void
unpacked_free(struct unpacked *u)
{
	if (u == NULL)
		return;
	for (size_t i = 0; i < u->idles; i++)
		extractor_free(u->idle[i]);
	for (uint32_t i = 0; i < u->samples; i++)
		if (u->sample[i].labels != u->list.row[u->row[i]].sample.labels)
			free((void *)(uintptr_t)u->sample[i].labels);
	free(u->idle);
	free(u->sample);
	free(u->row);
	free(u->fact);
	free(u->known);
	list_free(&u->list);
	class_list_free(&u->classes);
	spool_budget_close(&u->budget);
	pthread_mutex_destroy(&u->lock);
	free(u->path);
	free(u);
}

size_t
unpacked_videos(const struct unpacked *u)
{
	return u->list.n;
}

struct unpacked_fact *
unpacked_facts(struct unpacked *u)
{
	return u->fact;
}

/* ---- verification ---- */

/* The videos of one call of unpacked_verify. */
struct unpacked_verifying {
	struct unpacked *u;
	size_t from;
	struct extractor **extractor;	/* [threads] */
	char **why;			/* [videos] message, or NULL */
	int *status;			/* [videos] exit status */
};

/* Add the bytes of the file ${path} to ${h}.  Return 0, or -1 with errno. */
static int
unpacked_hash_file(const char *path, struct hasher *h, uint64_t *bytes)
{
	int fd = file_open(path, O_RDONLY);
	char *chunk = xmalloc(CHUNK);
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0 && (n = TEMP_FAILURE_RETRY(read(fd, chunk, CHUNK))) > 0) {
		hasher_add(h, chunk, (size_t)n);
		*bytes += (uint64_t)n;
	}
	if (fd >= 0)
		close(fd);
	free(chunk);
	return n < 0 ? -1 : 0;
}

/* Hash the video of ${row} as extraction does: a file, or the frames of its
 * part of a folder. */
static int
unpacked_hash(const struct list_row *row, uint64_t *hash, uint64_t *bytes)
{
	const struct list_part *p = &row->part;
	struct hasher *h = hasher_new();
	struct folder f = { 0 };
	int bad = 0;

	*bytes = 0;
	if (!file_is_dir(row->path)) {
		bad = unpacked_hash_file(row->path, h, bytes);
	} else if ((bad = folder_open(row->path, &f)) == 0) {
		size_t end = p->end > 0 ? (size_t)p->end : f.n;

		for (size_t i = (size_t)p->begin; i < end && i < f.n && !bad;
		    i++) {
			char *path = path_join(row->path, f.frame[i].name);

			bad = unpacked_hash_file(path, h, bytes);
			free(path);
		}
		folder_close(&f);
	}
	*hash = hasher_64(h);
	hasher_free(h);
	return bad;
}

static void
unpacked_decode(struct unpacked *u, size_t i, struct extractor *e,
    struct unpacked_verifying *v)
{
	struct unpacked_fact *f = &u->fact[i];
	struct extraction x;
	const struct sample *m = &x.sample;

	extract_video(&u->list.row[i], &u->how, e, &x);
	*f = (struct unpacked_fact){ .hash = m->source_hash,
		.bytes = m->source_bytes, .seconds = x.spent,
		.frames = m->frames, .width = m->width, .height = m->height,
		.num = m->fps.num, .den = m->fps.den, .flags = m->flags,
		.state = x.kept ? UNPACKED_KEPT : UNPACKED_SKIPPED };
	if (!x.kept) {
		v->why[i - v->from] = extract_refusal(&u->list.row[i], &x,
		    !u->o.skip);
		v->status[i - v->from] = EXIT_FAILED;
	} else if (x.message.text[0] != '\0') {
		v->why[i - v->from] = xstrdup(x.message.text);
	}
	extraction_free(&x);
}

/* The work function of struct ordered. */
static void
unpacked_verify_one(size_t k, int thread, void *arg)
{
	struct unpacked_verifying *v = arg;
	struct unpacked *u = v->u;
	size_t i = v->from + k;
	const struct unpacked_fact *known = &u->known[i];
	uint64_t hash, bytes;

	if (stop_signal() != 0)
		return;
	if (known->state != UNPACKED_UNKNOWN &&
	    unpacked_hash(&u->list.row[i], &hash, &bytes) == 0) {
		if (hash == known->hash && bytes == known->bytes) {
			u->fact[i] = *known;
			return;
		}
		/* A refused video may have no hash.  If it is accepted now, the
		 * identity of the dataset differs. */
		if (!u->accept && known->state == UNPACKED_KEPT) {
			v->why[k] = xprintf("%s: changed since the run began: "
			    "XXH3-64 %016" PRIx64 " (was %016" PRIx64 "): "
			    "--override=data verifies it again",
			    Q(u->list.row[i].path), hash, known->hash);
			v->status[k] = EXIT_USAGE;
			return;
		}
	}
	unpacked_decode(u, i, v->extractor[thread], v);
}

/* Print the message about a video.  Return the exit status that it requires. */
static int
unpacked_say(const struct unpacked *u, const char *why, int status)
{
	if (status == EXIT_FAILED && u->o.skip)
		warning("skipped: %s", why);
	else if (status != 0)
		fail("%s", why);
	else if (why != NULL)
		warning("%s", why);
	return status == EXIT_FAILED && u->o.skip ? 0 : status;
}

/* The need callback of a verification: no frame is stored. */
static void
unpacked_need_none(const void *of, const struct extraction *x, int frames,
    struct fraction fps, char *wanted)
{
	(void)of;
	(void)x;
	(void)frames;
	(void)fps;
	(void)wanted;
}

int
unpacked_verify(struct unpacked *u, size_t from, size_t to, int threads)
{
	struct unpacked_verifying v = { .u = u, .from = from };
	size_t n = to - from, k;
	struct ordered *videos;
	int status = 0;

	u->how.need = unpacked_need_none;
	v.why = xcalloc(n, sizeof(*v.why));
	v.status = xcalloc(n, sizeof(*v.status));
	v.extractor = xcalloc((size_t)threads, sizeof(*v.extractor));
	for (int t = 0; t < threads; t++)
		v.extractor[t] = extractor_new(u->how.quality);
	videos = ordered_new(n, threads, 1, n, unpacked_verify_one, &v);
	while (status == 0 && stop_signal() == 0 && ordered_next(videos, &k))
		status = unpacked_say(u, v.why[k], v.status[k]);
	ordered_free(videos);
	for (int t = 0; t < threads; t++)
		extractor_free(v.extractor[t]);
	for (k = 0; k < n; k++)
		free(v.why[k]);
	free(v.why);
	free(v.status);
	free(v.extractor);
	return stop_signal() != 0 ? EXIT_AGAIN : status;
}
