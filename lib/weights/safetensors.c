/*
 * Write and read safetensors files.  Ours are laid out deterministically and
 * end with a hash, so equal states give equal files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "weights/safetensors.h"

#define FOOTER "~vt.footer"
#define FOOTER_BYTES 64
#define MAGIC "VTCKPT1"		/* 8 bytes with its '\0' */
#define HEADER_MAX 100000000	/* limit set by the format */
#define ALIGN 64

/*
 * Sort by element size, largest first, then by name: then every tensor is
 * aligned to its element size without padding.
 */
static int
safetensors_by_order(const void *va, const void *vb)
{
	const struct tensor *a = *(const struct tensor *const *)va;
	const struct tensor *b = *(const struct tensor *const *)vb;

	if (dtype_bytes(a->type) != dtype_bytes(b->type))
		return dtype_bytes(a->type) < dtype_bytes(b->type) ? 1 : -1;
	return strcmp(a->name, b->name);
}

static void
safetensors_put_tensor(struct json_writer *w, const struct tensor *t, size_t at)
{
	json_open(w, t->name, '{');
	json_put_pair(w, "data_offsets", (int64_t)at, (int64_t)(at + t->bytes));
	json_put_text(w, "dtype", dtype_name(t->type));
	json_open(w, "shape", '[');
	for (int i = 0; i < t->ndim; i++)
		json_put_int(w, NULL, t->dim[i]);
	json_close(w);
	json_close(w);
}

/* A tensor and the offset of its data. */
struct safetensors_placed { const struct tensor *t; size_t at; };

static int
safetensors_by_name(const void *va, const void *vb)
{
	const struct safetensors_placed *a = va, *b = vb;

	return strcmp(a->t->name, b->t->name);
}

/*
 * Make the header, padded with spaces so that the data begin at a multiple of
 * ALIGN.
 */
static void
safetensors_make_header(struct buffer *out, const struct tensor **sorted,
    size_t n, const struct meta *meta, size_t m, int ours)
{
	static const struct tensor footer = { .name = FOOTER,
		.type = DTYPE_U8, .ndim = 1, .dim = { FOOTER_BYTES },
		.bytes = FOOTER_BYTES };
	struct json_writer w = { 0 };
	struct safetensors_placed *named = xcalloc(n, sizeof(*named));
	size_t end = 0;

	for (size_t i = 0; i < n; i++) {
		named[i] = (struct safetensors_placed){ sorted[i], end };
		end += sorted[i]->bytes;
	}
	json_open(&w, NULL, '{');
	json_open(&w, "__metadata__", '{');
	for (size_t i = 0; i < m; i++)
		json_put_text(&w, meta[i].key, meta[i].value);
	json_close(&w);
	/* Entries are sorted by name, unlike the data. */
	qsort(named, n, sizeof(*named), safetensors_by_name);
	for (size_t i = 0; i < n; i++)
		safetensors_put_tensor(&w, named[i].t, named[i].at);
	if (ours)
		safetensors_put_tensor(&w, &footer, end);
	json_close(&w);
	while ((8 + w.out.n) % ALIGN != 0)
		buffer_text(&w.out, " ");
	*out = w.out;
	free(named);
}

static int
safetensors_add(struct commit *c, struct hasher *h, const void *data, size_t n)
{
	hasher_add(h, data, n);
	return commit_write(c, data, n);
}

int
safetensors_write(struct commit *c, const struct tensor *tensor, size_t n,
    const struct meta *meta, size_t m, struct hash128 *whole)
{
	const struct tensor **sorted = xcalloc(n, sizeof(*sorted));
	struct hasher *h = hasher_new();
	struct buffer header = { 0 };
	unsigned char length[8], footer[FOOTER_BYTES] = MAGIC;
	uint64_t count;
	int bad = c == NULL;

	for (size_t i = 0; i < n; i++)
		sorted[i] = &tensor[i];
	qsort(sorted, n, sizeof(*sorted), safetensors_by_order);
	safetensors_make_header(&header, sorted, n, meta, m, whole != NULL);
	put64(length, header.n);
	count = 8 + header.n;
	bad = bad || safetensors_add(c, h, length, 8) ||
	    safetensors_add(c, h, header.data, header.n);
	for (size_t i = 0; i < n && !bad; i++) {
		bad = safetensors_add(c, h, sorted[i]->data, sorted[i]->bytes);
		count += sorted[i]->bytes;
	}
	/*
	 * The footer: magic number, length and hash of all bytes before it, and
	 * zeros.
	 */
	if (!bad && whole != NULL) {
		struct hash128 hash = hasher_128(h);

		put64(footer + 8, count);
		memcpy(footer + 16, hash.byte, sizeof(hash.byte));
		bad = safetensors_add(c, h, footer, sizeof(footer));
		*whole = hasher_128(h);
	}
	if (bad)
		commit_drop(c);
	else
		bad = commit_done(c);
	hasher_free(h);
	buffer_free(&header);
	free(sorted);
	return bad ? -1 : 0;
}

/* ---- reading ---- */

#define DAMAGED(...) (fail(__VA_ARGS__), -2)

/*
 * Read one entry of the header into ${t}, whose name is set.  Offsets count
 * from ${data}, which holds ${bytes}.
 */
static int
safetensors_read_tensor(const char *path, const struct json *v, int ours,
    const char *data, size_t bytes, struct tensor *t)
{
	const char *type = json_to_text(json_get(v, "dtype"));
	const struct json *shape = json_get(v, "shape");
	const struct json *offsets = json_get(v, "data_offsets");
	int64_t from, to, count = 1;

	if (dtype_of(type, &t->type) != 0) {
		t->type = DTYPE_OTHER;
		t->other = type;
	}
	if (type == NULL || (ours && t->type > DTYPE_F64))
		return DAMAGED("%s: tensor %s: dtype %s (wanted %s)", path,
		    text_quote(t->name),
		    type != NULL ? text_quote(type) : "missing",
		    ours ? "U8, F32 or F64" : dtype_names());
	if (!json_is(shape, '[') || json_size(shape) > 8)
		return DAMAGED("%s: tensor %s: shape is not an array of "
		    "at most 8 numbers", path, text_quote(t->name));
	t->ndim = (int)json_size(shape);
	for (int i = 0; i < t->ndim; i++) {
		/*
		 * 16 is above the largest element size, so the bytes cannot
		 * overflow.
		 */
		if (json_to_int(json_at(shape, (size_t)i), 0, INT32_MAX,
		    &t->dim[i]) != 0 || (t->dim[i] > 0 &&
		    count > INT64_MAX / 16 / t->dim[i]))
			return DAMAGED("%s: tensor %s: bad shape", path,
			    text_quote(t->name));
		count *= t->dim[i];
	}
	if (json_size(offsets) != 2 ||
	    json_to_int(json_at(offsets, 0), 0, (int64_t)bytes, &from) != 0 ||
	    json_to_int(json_at(offsets, 1), from, (int64_t)bytes, &to) != 0)
		return DAMAGED("%s: tensor %s: data_offsets beyond the file's "
		    "%zu bytes of data", path, text_quote(t->name), bytes);
	t->bytes = (size_t)(to - from);
	if (t->type != DTYPE_OTHER &&
	    t->bytes != (size_t)count * dtype_bytes(t->type))
		return DAMAGED("%s: tensor %s: %zu bytes (wanted %zu by its "
		    "shape)", path, text_quote(t->name), t->bytes,
		    (size_t)count * dtype_bytes(t->type));
	t->data = data + from;
	return 0;
}

static int
safetensors_by_data(const void *va, const void *vb)
{
	const struct tensor *a = va, *b = vb;

	if (a->data != b->data)
		return (const char *)a->data < (const char *)b->data ? -1 : 1;
	/* An empty tensor sorts before the one that begins at its offset. */
	return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* Check that the tensors cover the data exactly, without gaps or overlaps. */
static int
safetensors_check_cover(const char *path, const struct safetensors *s,
    const char *data)
{
	const char *at = data;

	for (size_t i = 0; i < s->tensors; i++) {
		if (s->tensor[i].data != at)
			return DAMAGED("%s: offset %td: tensor %s does not "
			    "begin where the one before it ends", path,
			    (const char *)s->tensor[i].data - s->file.data,
			    text_quote(s->tensor[i].name));
		at += s->tensor[i].bytes;
	}
	if (at != s->file.data + s->file.n)
		return DAMAGED("%s: %td bytes after the last tensor", path,
		    s->file.data + s->file.n - at);
	return 0;
}

/*
 * The format allows data at any offset.  Copy the tensors that are not aligned
 * to their element size into one buffer.
 */
static void
safetensors_align_tensors(struct safetensors *s)
{
	size_t bytes = 0, at = 0;

	/* The first pass measures the buffer, the second copies. */
	for (int copy = 0; copy < 2; copy++) {
		for (size_t i = 0; i < s->tensors; i++) {
			struct tensor *t = &s->tensor[i];
			size_t odd = (uintptr_t)t->data % dtype_bytes(t->type);

			if (odd != 0 && !copy) {
				bytes += (t->bytes + 7) / 8 * 8;
			} else if (odd != 0) {
				t->data = memcpy(s->moved + at, t->data,
				    t->bytes);
				at += (t->bytes + 7) / 8 * 8;
			}
		}
		if (!copy)
			s->moved = xmalloc(bytes);
	}
}

static int
safetensors_check_footer(const char *path, struct safetensors *s)
{
	static const unsigned char zeros[FOOTER_BYTES - 32];
	size_t before = s->file.n > FOOTER_BYTES ? s->file.n - FOOTER_BYTES : 0;
	const unsigned char *f =
	    (const unsigned char *)s->file.data + before;
	struct hash128 want, got;

	if (before == 0 || memcmp(f, MAGIC, 8) != 0 ||
	    get64(f + 8) != before ||
	    memcmp(f + 32, zeros, sizeof(zeros)) != 0)
		return DAMAGED("%s: no footer of vt at the end (a truncated "
		    "checkpoint, or weights of another program, which need "
		    "--model)", path);
	memcpy(want.byte, f + 16, sizeof(want.byte));
	got = hash128(s->file.data, before);
	if (!hash128_equal(want, got))
		return DAMAGED("%s: the content does not have the hash in its "
		    "footer", path);
	return 0;
}

static int
safetensors_read_header(const char *path, int ours, struct safetensors *s)
{
	uint64_t n;
	size_t cap = 0;
	const char *key, *data;
	const struct json *v, *text;
	int bad = 0;

	if (s->file.n < 8)
		return DAMAGED("%s: %zu bytes (wanted a header)", path,
		    s->file.n);
	n = get64((const unsigned char *)s->file.data);
	if (n > HEADER_MAX || n > s->file.n - 8)
		return DAMAGED("%s: a header of %llu bytes in a file of %zu",
		    path, (unsigned long long)n, s->file.n);
	s->document = json_parse(path, s->file.data + 8, (size_t)n);
	if (s->document == NULL)
		return -2;
	if (!json_is(s->document, '{'))
		return DAMAGED("%s: the header is not a JSON object", path);
	data = s->file.data + 8 + n;
	for (void *at = NULL; !bad &&
	    (v = json_next(s->document, &at, &key)) != NULL;) {
		struct tensor *t;

		if (strcmp(key, "__metadata__") == 0)
			continue;
		s->tensor = array_reserve(s->tensor, s->tensors, &cap,
		    sizeof(*s->tensor));
		t = &s->tensor[s->tensors];
		*t = (struct tensor){ .name = key };
		bad = safetensors_read_tensor(path, v, ours, data,
		    s->file.n - 8 - n, t);
		s->tensors++;
	}
	if (bad)
		return bad;
	/* By position of the data, to check for gaps. */
	if (s->tensors > 0)
		qsort(s->tensor, s->tensors, sizeof(*s->tensor),
		    safetensors_by_data);
	v = json_get(s->document, "__metadata__");
	if (v != NULL && !json_is(v, '{'))
		return DAMAGED("%s: __metadata__ is not a JSON object", path);
	s->meta = xcalloc(json_size(v), sizeof(*s->meta));
	for (void *at = NULL; (text = json_next(v, &at, &key)) != NULL;) {
		if (json_to_text(text) == NULL)
			return DAMAGED("%s: metadata %s is not text", path,
			    key);
		s->meta[s->metas++] = (struct meta){ key, json_to_text(text) };
	}
	if ((bad = safetensors_check_cover(path, s, data)) != 0)
		return bad;
	/* After sorting: a name's index is its tensor's position. */
	s->names = names_new();
	for (size_t i = 0; i < s->tensors; i++)
		names_add(s->names, s->tensor[i].name);
	safetensors_align_tensors(s);
	return 0;
}

int
safetensors_take(const char *name, struct buffer *file, int ours,
    struct safetensors *s)
{
	int bad;

	*s = (struct safetensors){ .file = *file };
	*file = (struct buffer){ 0 };
	bad = ours ? safetensors_check_footer(name, s) : 0;
	if (bad == 0)
		bad = safetensors_read_header(name, ours, s);
	/* A file with vt's footer is verified even if none is required. */
	if (bad == 0 && !ours && safetensors_tensor(s, FOOTER) != NULL)
		bad = safetensors_check_footer(name, s);
	if (bad)
		safetensors_free(s);
	return bad;
}

int
safetensors_read(const char *path, int ours, struct safetensors *s)
{
	struct buffer file = { 0 };

	*s = (struct safetensors){ 0 };
	if (file_read(path, &file) != 0) {
		buffer_free(&file);
		return -1;
	}
	return safetensors_take(text_quote(path), &file, ours, s);
}

void
safetensors_free(struct safetensors *s)
{
	buffer_free(&s->file);
	json_free(s->document);
	free(s->tensor);
	free(s->meta);
	free(s->moved);
	names_free(s->names);
	*s = (struct safetensors){ 0 };
}

const struct tensor *
safetensors_tensor(const struct safetensors *s, const char *name)
{
	long i = names_find(s->names, name);

	return i >= 0 ? &s->tensor[i] : NULL;
}

const char *
safetensors_meta(const struct safetensors *s, const char *key)
{
	for (size_t i = 0; i < s->metas; i++)
		if (strcmp(s->meta[i].key, key) == 0)
			return s->meta[i].value;
	return NULL;
}
