#ifndef TESTS_WEIGHTS_MAKE_H
#define TESTS_WEIGHTS_MAKE_H

/*
 * Make files byte by byte as torch.save writes them: pickles of state dicts, in
 * a zip archive or in the legacy format.  Also make files as caffe2's programs
 * write them.
 */

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "weights/zip.h"

/*
 * A tensor and the storage that it is a view of.  In the legacy format the
 * storage id says whether the storage is a view itself.
 */
struct made {
	const char *name, *class;	/* "weight", "FloatStorage" */
	const char *key;
	int count;			/* elements of the storage */
	int offset, ndim, dim[4], stride[4];
};

/* The elements of a storage. */
struct made_storage { const char *key; const void *data; size_t bytes; int count; };

static inline void
make_text(struct buffer *b, const char *s)
{
	unsigned char n[4];

	put32(n, (uint32_t)strlen(s));
	buffer_text(b, "X");
	buffer_add(b, n, 4);
	buffer_text(b, s);
}

static inline void
make_int(struct buffer *b, int64_t i)
{
	unsigned char n[10] = { 0x8a, 8 };

	if (i == (int32_t)i) {
		n[1] = 'J';
		put32(n + 2, (uint32_t)i);
		buffer_add(b, n + 1, 5);
	} else {
		put64(n + 2, (uint64_t)i);
		buffer_add(b, n, 10);
	}
}

static inline void
make_ints(struct buffer *b, const int *i, int n)
{
	buffer_text(b, "(");
	for (int k = 0; k < n; k++)
		make_int(b, i[k]);
	buffer_text(b, "t");
}

static inline void
make_tensor(struct buffer *b, const struct made *t, int legacy)
{
	buffer_text(b, "ctorch._utils\n_rebuild_tensor_v2\n((");
	make_text(b, "storage");
	buffer_printf(b, "ctorch\n%s\n", t->class);
	make_text(b, t->key);
	make_text(b, "cpu");
	make_int(b, t->count);
	buffer_text(b, legacy ? "NtQ" : "tQ");
	make_int(b, t->offset);
	make_ints(b, t->dim, t->ndim);
	make_ints(b, t->stride, t->ndim);
	buffer_text(b, "\x89""ccollections\nOrderedDict\n)RtR");
}

/* Append an OrderedDict of ${n} tensors, without the opcodes PROTO and STOP. */
static inline void
make_dict(struct buffer *b, const struct made *t, int n, int legacy)
{
	buffer_text(b, "ccollections\nOrderedDict\n)R(");
	for (int i = 0; i < n; i++) {
		make_text(b, t[i].name);
		make_tensor(b, &t[i], legacy);
	}
	buffer_text(b, "u");
}

/* Append a whole pickle with ${inner} between PROTO and STOP. */
static inline void
make_pickle(struct buffer *b, const struct buffer *inner)
{
	buffer_text(b, "\x80\x02");
	buffer_add(b, inner->data, inner->n);
	buffer_text(b, ".");
}

/*
 * Append a member to a zip archive, and its central directory entry to ${dir}.
 */
static inline void
make_member(struct buffer *b, struct buffer *dir, const char *name,
    const void *data, size_t n)
{
	unsigned char local[30] = "PK\003\004", entry[46] = "PK\001\002";
	uint16_t pad = (uint16_t)((64 - (b->n + 30 + strlen(name)) % 64) % 64);
	static const char zeros[64];

	put32(local + 14, hash_crc32(0, data, n));
	put32(local + 18, (uint32_t)n);
	put32(local + 22, (uint32_t)n);
	put16(local + 26, (uint16_t)strlen(name));
	put16(local + 28, pad);
	memcpy(entry + 16, local + 14, 12);
	put16(entry + 28, (uint16_t)strlen(name));
	put32(entry + 42, (uint32_t)b->n);
	buffer_add(b, local, sizeof(local));
	buffer_text(b, name);
	buffer_add(b, zeros, pad);
	buffer_add(b, data, n);
	buffer_add(dir, entry, sizeof(entry));
	buffer_text(dir, name);
}

static inline void
make_zip_end(struct buffer *b, const struct buffer *dir, int members)
{
	unsigned char end[22] = "PK\005\006";

	put16(end + 8, (uint16_t)members);
	put16(end + 10, (uint16_t)members);
	put32(end + 12, (uint32_t)dir->n);
	put32(end + 16, (uint32_t)b->n);
	buffer_add(b, dir->data, dir->n);
	buffer_add(b, end, sizeof(end));
}

/* Append a zip archive with the pickle of ${object} and ${n} storages. */
static inline void
make_zip(struct buffer *b, const struct buffer *object,
    const struct made_storage *s, int n)
{
	struct buffer pickle = { 0 }, dir = { 0 };

	make_pickle(&pickle, object);
	make_member(b, &dir, "archive/data.pkl", pickle.data, pickle.n);
	for (int i = 0; i < n; i++) {
		char *name = xprintf("archive/data/%s", s[i].key);

		make_member(b, &dir, name, s[i].data, s[i].bytes);
		free(name);
	}
	make_member(b, &dir, "archive/version", "3\n", 2);
	make_zip_end(b, &dir, n + 2);
	buffer_free(&pickle);
	buffer_free(&dir);
}

/* Append the same in the legacy format of torch.save. */
static inline void
make_legacy(struct buffer *b, const struct buffer *object,
    const struct made_storage *s, int n)
{
	static const char begin[] = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20"
	    "\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.\x80\x02}";
	unsigned char count[8];

	buffer_add(b, begin, sizeof(begin) - 1);
	make_text(b, "little_endian");
	buffer_text(b, "\x88s.");
	make_pickle(b, object);
	buffer_text(b, "\x80\x02](");
	for (int i = 0; i < n; i++)
		make_text(b, s[i].key);
	buffer_text(b, "e.");
	for (int i = 0; i < n; i++) {
		put64(count, (uint64_t)s[i].count);
		buffer_add(b, count, 8);
		buffer_add(b, s[i].data, s[i].bytes);
	}
}

/* ---- numpy arrays ---- */

/* Append a byte string as Python 2's pickle writes it. */
static inline void
make_bytes(struct buffer *b, const void *data, size_t n)
{
	unsigned char head[5] = { 'T' };

	put32(head + 1, (uint32_t)n);
	if (n < 256) {
		head[0] = 'U';
		head[1] = (unsigned char)n;
	}
	buffer_add(b, head, n < 256 ? 2 : 5);
	buffer_add(b, data, n);
}

/*
 * An array of type "f4" and so on, byte order '<', '>' or '|', with ${n} bytes.
 */
struct made_array {
	const char *name, *type, *order;
	int fortran, ndim, dim[4];
	const void *data;
	size_t n;
	const char *bytes;		/* if data is NULL: ${n} bytes of
					 * opcodes */
};

static inline void
make_array(struct buffer *b, const struct made_array *a)
{
	buffer_text(b, "cnumpy.core.multiarray\n_reconstruct\n"
	    "cnumpy\nndarray\nK");
	buffer_add(b, "\0\x85U\001b\x87R(K\001", 10);
	make_ints(b, a->dim, a->ndim);
	buffer_text(b, "cnumpy\ndtype\n");
	make_bytes(b, a->type, strlen(a->type));
	buffer_text(b, "\x89\x88\x87R(K\003");
	make_bytes(b, a->order, strlen(a->order));
	buffer_text(b, "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK");
	buffer_add(b, "\0tb", 3);
	buffer_text(b, a->fortran ? "\x88" : "\x89");
	if (a->bytes != NULL)
		buffer_add(b, a->bytes, a->n);
	else
		make_bytes(b, a->data, a->n);
	buffer_text(b, "tb");
}

/* Append {"blobs": {name: array ...}}. */
static inline void
make_blobs(struct buffer *b, const struct made_array *a, int n)
{
	struct buffer object = { 0 };

	buffer_text(&object, "}U\005blobs}(");
	for (int i = 0; i < n; i++) {
		make_bytes(&object, a[i].name, strlen(a[i].name));
		make_array(&object, &a[i]);
	}
	buffer_text(&object, "us");
	make_pickle(b, &object);
	buffer_free(&object);
}

/* ---- a file with a case of everything ---- */

static const float make_floats[24] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
	12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23 };
static const unsigned short make_halves[4] = { 0x3c00, 0xc000, 0x0001, 0x7bff };
static const long long make_long[1] = { 123456 };

static const struct made make_tensors[] = {
	{ "conv.weight", "FloatStorage", "0", 24, 0, 3, { 2, 3, 4 },
		{ 12, 4, 1 } },
	{ "turned", "FloatStorage", "0", 24, 0, 3, { 4, 3, 2 }, { 1, 4, 12 } },
	{ "part", "FloatStorage", "0", 24, 13, 2, { 2, 3 }, { 4, 1 } },
	{ "half", "HalfStorage", "1", 4, 0, 1, { 4 }, { 1 } },
	{ "bn.num_batches_tracked", "LongStorage", "2", 1, 0, 0, { 0 }, { 0 } },
	{ "spread", "FloatStorage", "0", 24, 5, 2, { 3, 2 }, { 0, 1 } },
	{ "none", "FloatStorage", "0", 24, 0, 2, { 0, 3 }, { 3, 1 } },
};
static const struct made_storage make_storages[] = {
	{ "0", make_floats, sizeof(make_floats), 24 },
	{ "1", make_halves, sizeof(make_halves), 4 },
	{ "2", make_long, sizeof(make_long), 1 },
};
enum { MAKE_TENSORS = 7, MAKE_STORAGES = 3 };

/*
 * Append a checkpoint: {"epoch": 3, "meta": a numpy scalar, "state_dict": ...}.
 */
static inline void
make_object(struct buffer *b, int legacy)
{
	buffer_text(b, "}(");
	make_text(b, "epoch");
	buffer_text(b, "K\003");
	make_text(b, "meta");
	buffer_text(b, "cnumpy.core.multiarray\nscalar\nq\001cnumpy\ndtype\n");
	make_text(b, "f8");
	buffer_text(b, "\x89\x88\x87R(K\003");
	make_text(b, "<");
	buffer_text(b, "NNNJ\xff\xff\xff\xff" "J\xff\xff\xff\xffK");
	buffer_add(b, "\0tbc_codecs\nencode\n", 19);
	make_text(b, "12345678");
	make_text(b, "latin1");
	buffer_text(b, "\x86Rq\002\x86R");
	make_text(b, "state_dict");
	make_dict(b, make_tensors, MAKE_TENSORS, legacy);
	buffer_text(b, "}");
	make_text(b, "_metadata");
	buffer_text(b, "ccollections\nOrderedDict\n)Rsbu");
}

/* Append a safetensors file with the tensors above, except views. */
static inline void
make_safetensors(struct buffer *b)
{
	static const char header[] = "{\"__metadata__\":{\"format\":\"pt\"},"
	    "\"conv.weight\":{\"dtype\":\"F32\",\"shape\":[2,3,4],"
	    "\"data_offsets\":[8,104]},\"half\":{\"dtype\":\"F16\","
	    "\"shape\":[4],\"data_offsets\":[0,8]},"
	    "\"bn.num_batches_tracked\":{\"dtype\":\"I64\",\"shape\":[],"
	    "\"data_offsets\":[104,112]}}";
	unsigned char n[8];

	put64(n, sizeof(header) - 1);
	buffer_add(b, n, 8);
	buffer_text(b, header);
	buffer_add(b, make_halves, sizeof(make_halves));
	buffer_add(b, make_floats, sizeof(make_floats));
	buffer_add(b, make_long, sizeof(make_long));
}

/*
 * Arrays in both orders, one of bytes written by Python 3, and types that are
 * refused.
 */
static const char make_encoded[] = "c_codecs\nencode\nX\005\0\0\0a\xc3\xbf\xc2\x80"
    "X\006\0\0\0latin1\x86R";
static const struct made_array make_arrays[] = {
	{ "conv1_w", "f4", "<", 0, 3, { 2, 3, 4 }, make_floats,
		sizeof(make_floats), NULL },
	{ "turned", "f4", "<", 1, 3, { 4, 3, 2 }, make_floats,
		sizeof(make_floats), NULL },
	{ "half", "f2", "<", 0, 1, { 4 }, make_halves, sizeof(make_halves),
		NULL },
	{ "model_iter", "i8", "<", 0, 0, { 0 }, make_long, sizeof(make_long),
		NULL },
	{ "encoded", "u1", "|", 0, 1, { 3 }, NULL, sizeof(make_encoded) - 1,
		make_encoded },
	{ "none", "f4", "<", 0, 2, { 0, 3 }, "", 0, NULL },
	{ "text", "S4", "|", 0, 1, { 1 }, "abcd", 4, NULL },
	{ "big", "f4", ">", 0, 1, { 1 }, "abcd", 4, NULL },
};
enum { MAKE_ARRAYS = 8 };

/*
 * make_file(b, kind):
 * Append a whole file.  ${kind} is "zip", "legacy", "safetensors", "arrays", or
 * "pickle", which is the pickle of the zip alone.
 */
static inline void
make_file(struct buffer *b, const char *kind)
{
	struct buffer object = { 0 };

	make_object(&object, strcmp(kind, "legacy") == 0);
	if (strcmp(kind, "zip") == 0)
		make_zip(b, &object, make_storages, MAKE_STORAGES);
	else if (strcmp(kind, "legacy") == 0)
		make_legacy(b, &object, make_storages, MAKE_STORAGES);
	else if (strcmp(kind, "arrays") == 0)
		make_blobs(b, make_arrays, MAKE_ARRAYS);
	else if (strcmp(kind, "pickle") == 0)
		make_pickle(b, &object);
	else
		make_safetensors(b);
	buffer_free(&object);
}

#endif
