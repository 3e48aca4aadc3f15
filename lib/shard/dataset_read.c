/* Reads of frames from a dataset.  Frames of a clip lie close to each other,
 * so they are read by few system calls, and every byte is checked. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/fail.h"
#include "base/text.h"
#include "shard/dataset_shards.h"

#define Q text_quote
#define NEAR (64 << 10)		/* a smaller gap is read and discarded */
#define PIECES_MAX 512		/* pieces of one preadv; IOV_MAX is 1024 */

/* A requested frame: its number in the sample, its index in the request, and
 * its offset in the output. */
struct dataset_want {
	int frame, number;
	size_t at;
	struct shard_record record;
};

static int
dataset_by_frame(const void *a, const void *b)
{
	const struct dataset_want *x = a, *y = b;

	if (x->frame != y->frame)
		return x->frame < y->frame ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Fill all pieces of ${v}, ${total} bytes in all, from offset ${at}.  preadv
 * may stop early, so advance ${v} past the pieces that are full. */
static int
dataset_read_pieces(const struct shard *s, struct iovec *v, int n, size_t total,
    uint64_t at, struct error *why)
{
	while (total > 0) {
		ssize_t got = preadv(s->fd, v, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_errno(why, "%s: offset %llu: cannot read",
			    Q(s->path), (unsigned long long)at);
		if (got == 0)
			return error_set(why, "%s: offset %llu: file ends, %zu "
			    "bytes are missing", Q(s->path),
			    (unsigned long long)at, total);
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
 * Read the frames w[n], in ascending order, into ${to}.  One read covers frames
 * whose gaps are below NEAR; the gaps go to ${waste}.
 */
static int
dataset_read_wanted(const struct shard *s, const struct dataset_want *w, int n,
    char *to, char *waste, struct error *why)
{
	struct iovec v[PIECES_MAX];

	for (int i = 0; i < n;) {
		uint64_t start = (uint64_t)w[i].record.blk * USTAR_BLOCK;
		uint64_t end = start;
		int pieces = 0;

		for (; i < n && pieces + 2 <= PIECES_MAX; i++) {
			const struct shard_record *r = &w[i].record;
			uint64_t at = (uint64_t)r->blk * USTAR_BLOCK;

			if (i > 0 && w[i].frame == w[i - 1].frame)
				continue;	/* repeated, is copied later */
			if (at - end >= NEAR)
				break;
			if (at > end)
				v[pieces++] = (struct iovec){ waste, at - end };
			v[pieces++] = (struct iovec){ to + w[i].at, r->length };
			end = at + r->length;
		}
		if (dataset_read_pieces(s, v, pieces, end - start, start,
		    why) != 0)
			return -1;
	}
	return 0;
}

/*
 * Find the records of the frames w[n], in ascending order, of one stream.
 * Behind ${w} is room for all records between the first and the last, which one
 * read covers.
 */
static int
dataset_find_records(const struct shard *s, const struct shard_entry *e,
    int stream, struct dataset_want *w, int n, struct error *why)
{
	struct shard_record *r = (struct shard_record *)(void *)(w + n);
	uint32_t first = (uint32_t)w[0].frame * e->streams + (uint32_t)stream;
	uint32_t last = (uint32_t)w[n - 1].frame * e->streams +
	    (uint32_t)stream;
	int result = shard_records(s, e, first, last - first + 1, r, why);

	for (int i = 0; i < n && result == 0; i++)
		w[i].record =
		    r[(uint32_t)(w[i].frame - w[0].frame) * e->streams];
	return result;
}

/* Check the CRC of each frame, and copy repeated frames from the one before. */
static int
dataset_check_frames(const char *key, const struct shard *s,
    const struct dataset_want *w, int n, char *to, struct error *why)
{
	for (int k = 0; k < n; k++) {
		const struct shard_record *r = &w[k].record;

		if (k > 0 && w[k].frame == w[k - 1].frame)
			memcpy(to + w[k].at, to + w[k - 1].at, r->length);
		else if (crc32c(0, to + w[k].at, r->length) != r->crc)
			return error_set(why, "%s: key %s, offset %llu: frame "
			    "%d: the checksum of the data is wrong", Q(s->path),
			    key, (unsigned long long)r->blk * USTAR_BLOCK,
			    w[k].frame), -2;
	}
	return 0;
}

size_t
dataset_frames_workspace(const struct dataset *d, int n, int frames)
{
	return (size_t)n * sizeof(struct dataset_want) + (size_t)frames *
	    (size_t)dataset_streams(d)->n * sizeof(struct shard_record);
}

int
dataset_frames_read(const struct dataset *d, uint32_t i, int stream,
    const struct frame_read *r, struct error *why)
{
	size_t k = dataset_shard_of(d, i = dataset_number(d, i)), total = 0;
	size_t *at = r->at;
	struct buffer *to = r->bytes;
	int n = r->n;
	const struct shard *s = files_take(d->files, k, why);
	struct dataset_want *w;
	struct shard_entry e;
	int result = -1;

	to->n = 0;
	at[0] = 0;
	if (s == NULL)
		goto out;
	e = shard_entry(s, i - (uint32_t)d->m->shard[k].first);
	assert(n > 0 && stream >= 0 && stream < e.streams);
	buffer_reserve(r->workspace, dataset_frames_workspace(d, n,
	    (int)e.frames));
	w = (struct dataset_want *)(void *)r->workspace->data;
	for (int f = 0; f < n; f++) {
		assert(r->frame[f] >= 0 && r->frame[f] < (int)e.frames);
		w[f] = (struct dataset_want){ .frame = r->frame[f],
			.number = f };
	}
	qsort(w, (size_t)n, sizeof(*w), dataset_by_frame);
	if ((result = dataset_find_records(s, &e, stream, w, n, why)) != 0)
		goto out_taken;
	/* The output is in the order of the request, not of the file. */
	for (int f = 0; f < n; f++)
		at[w[f].number + 1] = w[f].record.length;
	for (int f = 0; f < n; f++) {
		total += at[f + 1];
		at[f + 1] = total;
	}
	for (int f = 0; f < n; f++)
		w[f].at = at[w[f].number];
	/* The gaps are read into the NEAR bytes after the frames. */
	buffer_reserve(to, total + NEAR);
	result = dataset_read_wanted(s, w, n, to->data, to->data + total, why);
	if (result == 0)
		result = dataset_check_frames(d->key[i], s, w, n, to->data,
		    why);
	if (result == 0) {
		to->n = total;
		to->data[total] = '\0';
	}
out_taken:
	files_release(d->files, k);
out:
	return result;
}

int
dataset_json_read(const struct dataset *d, uint32_t i, struct buffer *to)
{
	size_t k = dataset_shard_of(d, i = dataset_number(d, i));
	const struct shard *s = files_take(d->files, k, NULL);
	struct shard_entry e;
	int result;

	if (s == NULL)
		return -1;
	e = shard_entry(s, i - (uint32_t)d->m->shard[k].first);
	result = shard_member(s, &e, (uint32_t)shard_record_count(&e) - 1, to);
	files_release(d->files, k);
	return result;
}

int
dataset_source(const struct dataset *d, uint32_t i, char **to)
{
	struct sample m = dataset_sample(d, i);
	struct buffer b = { 0 };
	int result;

	*to = NULL;
	result = dataset_json_read(d, i, &b);
	if (result == 0 && (*to = sample_source_read(m.key, b.data, b.n)) ==
	    NULL)
		result = -2;
	buffer_free(&b);
	return result;
}
