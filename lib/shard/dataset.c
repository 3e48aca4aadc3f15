/* A packed set, read by any number of threads. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "shard/dataset.h"
#include "shard/files.h"
#include "shard/manifest.h"
#include "shard/reader.h"
#include "shard/sets.h"

#define Q text_quote
#define NEAR (64 << 10)		/* a smaller gap is read and thrown away */
#define MOST_PIECES 512		/* of one read; systems allow 1024 */

struct dataset {
	char *dir;
	struct manifest *m;
	struct files *files;
	char **key;			/* [samples] */
	char *keys;			/* where they lie */
	uint64_t class_hash;
	struct sets *sets;		/* NULL: none */
};

static int
open_shard(struct dataset *d, size_t k)
{
	char *path = path_join(d->dir, d->m->shard[k].name);
	struct damage damage = { 0 };
	const struct shard *s = files_open(d->files, k, path, &damage);
	int result = 0;

	if (s == NULL || manifest_check_shard(d->m, k, s, &damage) != 0)
		result = damage_say(path, &damage);
	free(path);
	return result;
}

/* Keys with a zero byte at the end, which they do not have in a shard. */
static void
collect_keys(struct dataset *d)
{
	size_t i = 0, n = 0;
	char *to;

	/*
	 * Not the size of the strings: nothing forbids keys to overlap there.
	 */
	for (size_t k = 0; k < d->m->shards; k++) {
		const struct shard *s = files_shard(d->files, k);

		for (uint32_t j = 0; j < s->footer.samples; j++)
			n += shard_entry(s, j).key_length + 1u;
	}
	d->keys = to = xmalloc(n);
	d->key = xcalloc(d->m->samples, sizeof(*d->key));
	for (size_t k = 0; k < d->m->shards; k++) {
		const struct shard *s = files_shard(d->files, k);

		for (uint32_t j = 0; j < s->footer.samples; j++) {
			struct shard_sample e = shard_entry(s, j);
			char key[KEY_MAX + 1];

			d->key[i++] = to;
			to = stpcpy(to, shard_key(s, &e, key)) + 1;
		}
	}
}

/* 0, or -1 or -2 as damage_say has it. */
static int
open_parts(struct dataset *d)
{
	char *path = path_join(d->dir, MANIFEST_NAME);
	struct damage damage = { 0 };
	struct buffer classes = { 0 };
	int bad = 0;

	d->m = manifest_read(d->dir, &damage);
	if (d->m != NULL)
		d->files = files_new(d->m->shards);
	for (size_t k = 0; d->m != NULL && k < d->m->shards && bad == 0; k++)
		bad = open_shard(d, k);
	if (d->m == NULL ||
	    (bad == 0 && manifest_identify(d->m, &damage) != 0))
		bad = damage_say(path, &damage);
	free(path);
	if (bad)
		return bad;
	collect_keys(d);
	class_text(&d->m->classes, &classes);
	d->class_hash = hash64(classes.data, classes.n);
	buffer_free(&classes);
	d->sets = sets_read(d, &bad);
	return bad;
}

struct dataset *
dataset_open(const char *dir, int *bad)
{
	struct dataset *d = xcalloc(1, sizeof(*d));
	int result;

	d->dir = xstrdup(dir);
	result = open_parts(d);
	if (bad != NULL)
		*bad = result;
	if (result == 0)
		return d;
	dataset_free(d);
	return NULL;
}

void
dataset_free(struct dataset *d)
{
	if (d == NULL)
		return;
	sets_free(d->sets);
	files_free(d->files);
	manifest_free(d->m);
	free(d->key);
	free(d->keys);
	free(d->dir);
	free(d);
}

/* ---- what is known without reading frames ---- */

const char *
dataset_path(const struct dataset *d)
{
	return d->dir;
}

uint32_t
dataset_samples(const struct dataset *d)
{
	return (uint32_t)d->m->samples;
}

int
dataset_classes(const struct dataset *d)
{
	return (int)d->m->classes.n;
}

const struct class_list *
dataset_class_list(const struct dataset *d)
{
	return &d->m->classes;
}

const char *
dataset_class(const struct dataset *d, int label)
{
	assert(label >= 0 && (size_t)label < d->m->classes.n);
	return d->m->classes.name[label];
}

struct hash128
dataset_id(const struct dataset *d)
{
	return d->m->id;
}

struct hash128
dataset_settings_id(const struct dataset *d)
{
	return d->m->settings;
}

int64_t
dataset_generation(const struct dataset *d)
{
	return d->m->generation;
}

uint64_t
dataset_class_hash(const struct dataset *d)
{
	return d->class_hash;
}

uint64_t
dataset_frames(const struct dataset *d)
{
	return d->m->frames;
}

char *
dataset_extract(const struct dataset *d)
{
	const char *text = d->m->options;
	struct json *options = text != NULL ? json_parse(d->dir, text,
	    strlen(text)) : NULL;
	const struct json *extract = json_get(options, "extract");
	char *found = extract != NULL ? json_print(extract) : NULL;

	json_free(options);
	return found;
}

int
dataset_streams(const struct dataset *d)
{
	return d->m->streams.n;
}

const char *
dataset_ext(const struct dataset *d, int stream)
{
	return d->m->streams.kind[stream].ext;
}

/* The shard that holds sample ${i}. */
static size_t
shard_of(const struct dataset *d, uint32_t i)
{
	size_t low = 0, high = d->m->shards - 1;

	assert(i < d->m->samples);
	while (low < high) {		/* the last that begins at or before i */
		size_t middle = high - (high - low) / 2;

		if (d->m->shard[middle].first <= i)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

struct sample
dataset_sample(const struct dataset *d, uint32_t i)
{
	size_t k = shard_of(d, i);
	struct shard_sample e = shard_entry(files_shard(d->files, k),
	    i - (uint32_t)d->m->shard[k].first);

	return (struct sample){
		.key = d->key[i],
		.key_length = e.key_length,
		.label = e.label,
		.frames = (int)e.frames,
		.width = e.width,
		.height = e.height,
		.fps_num = (int)e.fps_num,
		.fps_den = (int)e.fps_den,
		.flags = e.flags,
		.source = e.source,
		.shard = files_shard(d->files, k)->path,
		.offset = (uint64_t)e.blk * USTAR_BLOCK,
	};
}

int
dataset_sets(const struct dataset *d)
{
	return d->sets != NULL;
}

const struct class_span *
dataset_set(const struct dataset *d, uint32_t i, int *n)
{
	return sets_of(d->sets, i, n);
}

void
dataset_most(const struct dataset *d, int *frames, int *w, int *h)
{
	*frames = *w = *h = 0;
	for (uint32_t i = 0; i < dataset_samples(d); i++) {
		struct sample m = dataset_sample(d, i);

		*frames = m.frames > *frames ? m.frames : *frames;
		*w = m.width > *w ? m.width : *w;
		*h = m.height > *h ? m.height : *h;
	}
}

int64_t
dataset_find(const struct dataset *d, const char *key)
{
	for (size_t k = 0; k < d->m->shards; k++) {
		int64_t i = shard_find(files_shard(d->files, k), key);

		if (i >= 0)
			return (int64_t)d->m->shard[k].first + i;
	}
	return -1;
}

/* ---- reading frames ---- */

/* One frame that is wanted: which, and where its bytes go. */
struct want { int frame, number; size_t at; struct shard_record record; };

static int
by_frame(const void *a, const void *b)
{
	const struct want *x = a, *y = b;

	if (x->frame != y->frame)
		return x->frame < y->frame ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* All pieces of ${v}, ${total} bytes, from ${at} on. */
static int
read_pieces(const struct shard *s, struct iovec *v, int n, size_t total,
    uint64_t at)
{
	while (total > 0) {
		ssize_t got = preadv(s->fd, v, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_errno("%s: offset %llu: cannot read",
			    Q(s->path), (unsigned long long)at);
		if (got == 0)
			return fail("%s: offset %llu: file ends, %zu bytes are "
			    "missing", Q(s->path), (unsigned long long)at, total);
		total -= (size_t)got;
		at += (uint64_t)got;
		for (; n > 0 && (size_t)got >= v->iov_len; v++, n--)
			got -= (ssize_t)v->iov_len;
		if (n > 0) {
			v->iov_base = (char *)v->iov_base + got;
			v->iov_len -= (size_t)got;
		}
	}
	return 0;
}

/*
 * Read the frames of w[n], ascending, into ${to}: neighbours in one read, the
 * gaps between them into ${waste}.
 */
static int
read_wanted(const struct shard *s, const struct want *w, int n, char *to,
    char *waste)
{
	struct iovec v[MOST_PIECES];

	for (int i = 0; i < n;) {
		uint64_t start = (uint64_t)w[i].record.blk * USTAR_BLOCK;
		uint64_t end = start;
		int pieces = 0;

		for (; i < n && pieces + 2 <= MOST_PIECES; i++) {
			const struct shard_record *r = &w[i].record;
			uint64_t at = (uint64_t)r->blk * USTAR_BLOCK;

			if (i > 0 && w[i].frame == w[i - 1].frame)
				continue;	/* copied later */
			if (at - end >= NEAR)
				break;
			if (at > end)
				v[pieces++] = (struct iovec){ waste, at - end };
			v[pieces++] = (struct iovec){ to + w[i].at, r->length };
			end = at + r->length;
		}
		if (read_pieces(s, v, pieces, end - start, start) != 0)
			return -1;
	}
	return 0;
}

/* The records of the frames of w[n], ascending, of one stream; ${r} has room
 * for all between the first and the last. */
static int
find_records(const struct shard *s, const struct shard_sample *e, int stream,
    struct want *w, int n, struct shard_record *r)
{
	uint32_t first = (uint32_t)w[0].frame * e->streams + (uint32_t)stream;
	uint32_t last = (uint32_t)w[n - 1].frame * e->streams + (uint32_t)stream;
	int result = shard_records(s, e, first, last - first + 1, r);

	for (int i = 0; i < n && result == 0; i++)
		w[i].record = r[(uint32_t)(w[i].frame - w[0].frame) * e->streams];
	return result;
}

static int
check_frames(const struct dataset *d, uint32_t i, const struct shard *s,
    const struct want *w, int n, char *to)
{
	for (int k = 0; k < n; k++) {
		const struct shard_record *r = &w[k].record;

		if (k > 0 && w[k].frame == w[k - 1].frame)
			memcpy(to + w[k].at, to + w[k - 1].at, r->length);
		else if (crc32c(0, to + w[k].at, r->length) != r->crc)
			return fail("%s: key %s, offset %llu: frame %d: the "
			    "checksum of the data is wrong", Q(s->path),
			    d->key[i], (unsigned long long)r->blk * USTAR_BLOCK,
			    w[k].frame), -2;
	}
	return 0;
}

size_t
dataset_frames_room(const struct dataset *d, int n, int frames)
{
	return (size_t)n * sizeof(struct want) + (size_t)frames *
	    (size_t)dataset_streams(d) * sizeof(struct shard_record);
}

int
dataset_frames_read(const struct dataset *d, uint32_t i, int stream,
    const int *frame, int n, struct buffer *to, size_t *at,
    struct buffer *room)
{
	size_t k = shard_of(d, i), total = 0;
	const struct shard *s = files_take(d->files, k);
	struct want *w;
	struct shard_sample e;
	int result = -1;

	to->n = 0;
	at[0] = 0;
	if (s == NULL)
		goto out;
	e = shard_entry(s, i - (uint32_t)d->m->shard[k].first);
	assert(n > 0 && stream >= 0 && stream < e.streams);
	buffer_room(room, dataset_frames_room(d, n, (int)e.frames));
	w = (struct want *)(void *)room->data;
	for (int f = 0; f < n; f++) {
		assert(frame[f] >= 0 && frame[f] < (int)e.frames);
		w[f] = (struct want){ .frame = frame[f], .number = f };
	}
	qsort(w, (size_t)n, sizeof(*w), by_frame);
	if ((result = find_records(s, &e, stream, w, n,
	    (struct shard_record *)(void *)(w + n))) != 0)
		goto out_taken;
	for (int f = 0; f < n; f++)
		at[w[f].number + 1] = w[f].record.length;
	for (int f = 0; f < n; f++) {
		total += at[f + 1];
		at[f + 1] = total;
	}
	for (int f = 0; f < n; f++)
		w[f].at = at[w[f].number];
	buffer_room(to, total + NEAR);
	result = read_wanted(s, w, n, to->data, to->data + total);
	if (result == 0)
		result = check_frames(d, i, s, w, n, to->data);
	if (result == 0) {
		to->n = total;
		to->data[total] = '\0';
	}
out_taken:
	files_let_go(d->files, k);
out:
	return result;
}

int
dataset_json_read(const struct dataset *d, uint32_t i, struct buffer *to)
{
	size_t k = shard_of(d, i);
	const struct shard *s = files_take(d->files, k);
	struct shard_sample e;
	int result;

	if (s == NULL)
		return -1;
	e = shard_entry(s, i - (uint32_t)d->m->shard[k].first);
	result = shard_member(s, &e, (uint32_t)shard_record_count(&e) - 1, to);
	files_let_go(d->files, k);
	return result;
}
