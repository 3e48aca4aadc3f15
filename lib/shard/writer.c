/* Writer of a shard.  The index is collected in memory and written after the
 * last sample, because its sections have no fixed size. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "shard/writer.h"

struct shard_writer {
	char *path;			/* NULL: compute only */
	struct commit *commit;
	struct hasher *hash;
	uint64_t at;			/* bytes put */
	uint64_t start;			/* offset of the sample being put */
	struct shard_footer footer;
	struct buffer samples, records, strings, meta;
};

struct shard_writer *
shard_create(const char *path, uint32_t number, uint64_t first,
    struct hash128 settings, const struct stream_list *streams)
{
	struct shard_writer *w = xcalloc(1, sizeof(*w));
	struct json_writer j = { 0 };

	if (path != NULL) {
		if ((w->commit = commit_open(path, NULL)) == NULL) {
			free(w);
			return NULL;
		}
		w->path = xstrdup(path);
	}
	w->hash = hasher_new();
	w->footer.major = 1;
	w->footer.number = number;
	w->footer.first = first;
	w->footer.settings = settings;
	json_open(&j, NULL, '{');
	json_put_text(&j, "format", "vtshard");
	stream_list_write(&j, "streams", streams);
	json_put_int(&j, "version", 1);
	json_close(&j);
	w->meta = j.out;
	return w;
}

/* NULL members are valid: shard_finish calls this after commit_done. */
void
shard_drop(struct shard_writer *w)
{
	if (w == NULL)
		return;
	commit_drop(w->commit);
	hasher_free(w->hash);
	buffer_free(&w->samples);
	buffer_free(&w->records);
	buffer_free(&w->strings);
	buffer_free(&w->meta);
	free(w->path);
	free(w);
}

/* Hash all bytes here, so that the hash of the file needs no second read. */
int
shard_put(struct shard_writer *w, const void *data, size_t n)
{
	hasher_add(w->hash, data, n);
	w->at += n;
	return w->commit == NULL ? 0 : commit_write(w->commit, data, n);
}

int
shard_add(struct shard_writer *w, const struct sample *s,
    const struct shard_record *record, size_t records)
{
	struct shard_footer *f = &w->footer;
	size_t key = strlen(s->key), streams = (size_t)s->streams->n;
	const struct shard_entry e = {
		.key_hash = hash64(s->key, key),
		.key_at = (uint32_t)w->strings.n,
		.key_length = (uint16_t)key,
		.flags = (uint16_t)s->flags,
		.blk = (uint32_t)(w->start / USTAR_BLOCK),
		.blocks = (uint32_t)((w->at - w->start) / USTAR_BLOCK),
		.first = f->records,
		.frames = (uint32_t)s->frames,
		.streams = (uint8_t)streams,
		.aux = (uint8_t)(records - (size_t)s->frames * streams),
		.label = s->label,
		.width = (uint16_t)s->width,
		.height = (uint16_t)s->height,
		.fps_num = (uint32_t)s->fps.num,
		.fps_den = (uint32_t)s->fps.den,
		.source = s->source_hash,
	};

	/* blk has 32 bits, and so has the number of a record. */
	assert(w->at % USTAR_BLOCK == 0);
	if (w->at / USTAR_BLOCK > UINT32_MAX ||
	    f->records + records > UINT32_MAX)
		return fail("%s: sample %s: the shard grows beyond 2 TiB or "
		    "2^32 members", w->path ? text_quote(w->path) : "shard",
		    s->key);
	buffer_add(&w->samples, &e, sizeof(e));
	for (size_t i = 0; i < records; i++) {
		struct shard_record r = record[i];

		/* from the sample to the file */
		r.blk += e.blk;
		buffer_add(&w->records, &r, sizeof(r));
	}
	buffer_text(&w->strings, s->key);
	f->samples++;
	f->records += (uint32_t)records;
	f->frames += (uint64_t)s->frames;
	w->start = w->at;
	return 0;
}

uint32_t
shard_samples(const struct shard_writer *w)
{
	return w->footer.samples;
}

/* Compute the places of the sections.  Return the length of the index with
 * its footer. */
static uint64_t
writer_place(const struct shard_writer *w, uint64_t samples, uint64_t records,
    uint64_t strings, struct shard_section section[SECTIONS])
{
	const uint64_t length[SECTIONS] = { SHARD_SAMPLE * samples,
		SHARD_RECORD * records, 4 * samples, strings, w->meta.n };
	uint64_t at = 0;

	for (int i = 0; i < SECTIONS; i++) {
		at = round_up(at, 8);
		section[i] = (struct shard_section){ at, length[i] };
		at += length[i];
	}
	return round_up(at, USTAR_BLOCK) + SHARD_FOOTER;
}

/* The packer calls this before it adds a sample, to decide whether the shard
 * is full. */
uint64_t
shard_size_with(const struct shard_writer *w, uint64_t bytes, uint64_t records,
    size_t key)
{
	struct shard_section unused[SECTIONS];

	return w->start + bytes + USTAR_BLOCK + writer_place(w,
	    w->footer.samples + 1, w->footer.records + records,
	    w->strings.n + key, unused) + SHARD_END;
}

struct writer_hashed { uint64_t hash; uint32_t number; };

/* The number decides between equal hashes, so that the order is unique. */
static int
writer_by_hash(const void *a, const void *b)
{
	const struct writer_hashed *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Fill the order section: sample numbers, sorted by the hashes of their
 * keys.  shard_find searches it. */
static void
writer_put_order(const struct shard_writer *w, unsigned char *to)
{
	uint32_t n = w->footer.samples;
	const struct shard_entry *e = (const void *)w->samples.data;
	struct writer_hashed *h = xcalloc(n, sizeof(*h));

	for (uint32_t i = 0; i < n; i++)
		h[i] = (struct writer_hashed){ e[i].key_hash, i };
	qsort(h, n, sizeof(*h), writer_by_hash);
	for (uint32_t i = 0; i < n; i++)
		put32(to + 4 * (size_t)i, h[i].number);
	free(h);
}

static void
writer_copy(unsigned char *index, struct shard_section s,
    const struct buffer *b)
{
	if (b->n > 0)
		memcpy(index + s.at, b->data, b->n);
}

/* Return the bytes of the index.  The footer has their length.  The caller
 * frees them. */
static unsigned char *
writer_make_index(struct shard_writer *w)
{
	struct shard_footer *f = &w->footer;
	unsigned char *index;

	f->data_length = w->at;
	f->data_hash = hasher_128(w->hash);
	f->index_at = w->at + USTAR_BLOCK;
	f->index_length = writer_place(w, f->samples, f->records, w->strings.n,
	    f->section);
	index = xcalloc(f->index_length, 1);
	writer_copy(index, f->section[SECTION_SAMPLES], &w->samples);
	writer_copy(index, f->section[SECTION_RECORDS], &w->records);
	writer_put_order(w, index + f->section[SECTION_ORDER].at);
	writer_copy(index, f->section[SECTION_STRINGS], &w->strings);
	writer_copy(index, f->section[SECTION_META], &w->meta);
	f->index_hash = hash128(index, f->index_length - SHARD_FOOTER);
	shard_footer_put(index + f->index_length - SHARD_FOOTER, f);
	return index;
}

int
shard_finish(struct shard_writer *w, struct shard_sum *sum)
{
	static const unsigned char zeros[SHARD_END];
	unsigned char header[USTAR_BLOCK], *index = writer_make_index(w);
	struct commit *c = w->commit;
	int result = -1;

	/* Every byte put must belong to a sample in the index. */
	assert(w->at == w->start);
	ustar_header(header, SHARD_INDEX, w->footer.index_length);
	if (shard_put(w, header, sizeof(header)) != 0 ||
	    shard_put(w, index, w->footer.index_length) != 0 ||
	    shard_put(w, zeros, sizeof(zeros)) != 0)
		goto out;
	*sum = (struct shard_sum){ w->at, w->footer.samples, w->footer.frames,
		hasher_128(w->hash), w->footer.data_hash,
		w->footer.index_hash };
	w->commit = NULL;		/* commit_done frees it */
	result = c == NULL ? 0 : commit_done(c);
out:
	free(index);
	shard_drop(w);
	return result;
}
