/*
 * Files of torch.save.  Since version 1.6 they are zip archives: one member is
 * a pickle of the object, and the data of each storage is a member of its own.
 * The legacy format is a sequence of pickles: magic number, protocol, system,
 * object, and the keys of its storages.  The data of each storage follow, each
 * after its element count.
 * A file of caffe2 is a single pickle of numpy arrays, which hold their data.
 * Source: PyTorch's torch/serialization.py, _save and _legacy_save.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/text.h"
#include "weights/torch.h"
#include "weights/torch_dict.h"
#include "weights/zip.h"

#define DAMAGED(...) (fail(__VA_ARGS__), -2)
#define UNKNOWN(...) (fail(__VA_ARGS__), -3)	/* intact */
enum { LEGACY_PROTOCOL = 1001, PROTO = 0x80, FRAME = 0x95 };

/*
 * The opcode LONG1 0x1950a86a20f9469cfc6c, which follows PROTO and its operand,
 * and in protocols 4 and 5 FRAME and its 8 bytes.
 */
static const unsigned char magic[] = {
	0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19,
	'.'
};

int
torch_is_zip(const struct buffer *file)
{
	return file->n >= 4 && memcmp(file->data, "PK\003\004", 4) == 0;
}

/* Return the offset after the magic number, or 0 if there is none. */
static size_t
torch_after_magic(const struct buffer *file)
{
	const unsigned char *p = (const unsigned char *)file->data;
	size_t at = file->n > 2 && p[2] == FRAME ? 11 : 2;

	return file->n >= at + sizeof(magic) && p[0] == PROTO &&
	    memcmp(p + at, magic, sizeof(magic)) == 0 ? at + sizeof(magic) : 0;
}

int
torch_is_legacy(const struct buffer *file)
{
	return torch_after_magic(file) > 0;
}

int
torch_is_pickle(const struct buffer *file)
{
	return file->n >= 2 && (unsigned char)file->data[0] == PROTO &&
	    (unsigned char)file->data[1] <= 5;
}

/* Print one note that names the classes of skipped objects. */
static void
torch_say_unknown(const char *path, const struct names *unknown)
{
	struct buffer b = { 0 };
	size_t n = names_count(unknown);

	for (size_t i = 0; i < n && i < 8; i++)
		buffer_printf(&b, "%s%s", i > 0 ? ", " : "",
		    text_quote(names_text(unknown, i)));
	if (n > 8)
		buffer_printf(&b, " and %zu more", n - 8);
	if (n > 0)
		note("%s: skipped objects of %s, which are not weights",
		    path, b.data);
	buffer_free(&b);
}

/*
 * Return a pickle that begins at offset ${from} of the file and has at most
 * ${n} bytes.
 */
static struct pickle
torch_pickle_at(const char *path, const struct weights_file *w, size_t from,
    size_t n)
{
	return (struct pickle){ .path = path, .base = from,
		.data = (const unsigned char *)w->file.data + from, .n = n,
		.arena = w->arena };
}

static void
torch_pickle_begin(struct pickle *p, struct storages *all)
{
	*all = (struct storages){ .keys = names_new() };
	p->unknown = names_new();
	p->storages = all;
}

static void
torch_pickle_end(struct pickle *p)
{
	names_free(p->storages->keys);
	names_free(p->unknown);
}

/* ---- zip ---- */

struct torch_archive {
	struct zip zip;
	const unsigned char *data;
	const char *top;		/* folder, with its '/' */
};

/* Return a member of the archive's folder, or NULL. */
static const struct zip_member *
torch_member(const struct torch_archive *a, const char *dir, const char *name)
{
	char *path = xprintf("%s%s%s", a->top, dir, name);
	const struct zip_member *m = zip_find(&a->zip, path);

	free(path);
	return m;
}

static struct numbers
torch_find_member(const void *archive, const struct storage *s)
{
	const struct torch_archive *a = archive;
	const struct zip_member *m = torch_member(a, "data/", s->key);

	if (m == NULL)
		return (struct numbers){ 0 };
	return (struct numbers){ a->data + m->at,
		m->bytes / dtype_bytes(s->type) };
}

/*
 * Return the folder of data.pkl, with its '/'.  The caller frees it.  NULL if
 * absent.
 */
static char *
torch_find_top(const struct zip *z)
{
	for (size_t i = 0; i < z->members; i++) {
		const char *name = names_text(z->names, i);

		if (text_ends(name, "/data.pkl"))
			return xstrndup(name, strlen(name) -
			    strlen("data.pkl"));
	}
	return NULL;
}

/* Warn of wrong checksums, and return how many there are.  PyTorch has an
 * option to leave them out. */
static size_t
torch_check_sums(const char *path, const struct torch_archive *a)
{
	size_t bad = 0;
	const char *first = NULL;

	for (size_t i = 0; i < a->zip.members; i++) {
		const struct zip_member *m = &a->zip.member[i];

		if (hash_crc32(0, a->data + m->at, m->bytes) == m->crc)
			continue;
		if (bad++ == 0)
			first = names_text(a->zip.names, i);
	}
	if (bad > 0)
		warning("%s: %zu of %zu members do not match their "
		    "checksums, %s the first: damaged, or written without them",
		    path, bad, a->zip.members, text_quote(first));
	return bad;
}

/*
 * List the tensors of pickle ${p}.  ${find} and ${from} are as for torch_dict.
 */
static int
torch_read_pickle(struct pickle p,
    struct numbers (*find)(const void *from, const struct storage *s),
    const void *from, struct weights_file *w)
{
	struct storages storages;
	struct value *root;
	size_t used;
	int bad;

	torch_pickle_begin(&p, &storages);
	bad = pickle_load(&p, &used, &root);
	if (!bad)
		bad = torch_dict(&p, root, find, from, w);
	if (!bad)
		torch_say_unknown(p.path, p.unknown);
	torch_pickle_end(&p);
	return bad;
}

static int
torch_read_zip(const char *path, const struct torch_archive *a,
    struct weights_file *w)
{
	const struct zip_member *m = torch_member(a, "", "data.pkl");
	const struct zip_member *order = torch_member(a, "", "byteorder");

	if (order != NULL && (order->bytes != strlen("little") ||
	    memcmp(a->data + order->at, "little", order->bytes) != 0))
		return UNKNOWN("%s: written on a big-endian machine", path);
	return torch_read_pickle(torch_pickle_at(path, w, m->at, m->bytes),
	    torch_find_member, a, w);
}

int
torch_zip(const char *path, struct weights_file *w)
{
	struct torch_archive a =
	    { .data = (const unsigned char *)w->file.data };
	size_t wrong;
	char *top;
	int bad = zip_open(path, w->file.data, w->file.n, &a.zip);

	if (bad)
		return bad;
	a.top = top = torch_find_top(&a.zip);
	if (top == NULL) {
		bad = UNKNOWN("%s: a zip archive without data.pkl: not of "
		    "torch.save", path);
	} else {
		wrong = torch_check_sums(path, &a);
		bad = torch_read_zip(path, &a, w);
		/* A damaged byte may look like a kind that vt does not read. */
		if (bad == -3 && wrong > 0)
			bad = -2;
	}
	free(top);
	zip_close(&a.zip);
	return bad;
}

/* ---- legacy ---- */

struct torch_legacy_file {
	struct names *keys;		/* keys of the storages, in file
					 * order */
	struct numbers *numbers;
};

static struct numbers
torch_find_legacy(const void *legacy, const struct storage *s)
{
	const struct torch_legacy_file *l = legacy;
	long i = names_find(l->keys, s->key);

	return i >= 0 ? l->numbers[i] : (struct numbers){ 0 };
}

/* Find the data of each storage.  Counts and data begin at offset ${at}. */
static int
torch_place_numbers(const struct pickle *p, const struct value *keys, size_t at,
    struct torch_legacy_file *l)
{
	size_t n = keys->u.of.n;

	if ((l->numbers = arena_get(p->arena, n * sizeof(*l->numbers))) == NULL)
		return DAMAGED("%s: more storages than the file can hold",
		    p->path);
	for (size_t i = 0; i < n; i++) {
		const struct value *key = keys->u.of.item[i];
		long k = key->kind != VALUE_TEXT ? -1 :
		    names_find(p->storages->keys, key->u.text.s);
		size_t bytes;
		uint64_t count;

		if (k < 0 || names_add(l->keys, key->u.text.s) < 0)
			return DAMAGED("%s: key %zu of its storages is %s",
			    p->path, i, key->kind != VALUE_TEXT ? "not a text" :
			    k < 0 ? "not one of a known type" :
			    "listed twice");
		bytes = dtype_bytes(p->storages->item[k]->type);
		if (p->n - at < 8 || (count = get64(p->data + at)) >
		    (p->n - at - 8) / bytes)
			return DAMAGED("%s: offset %zu: storage %s is longer "
			    "than the file, which may be truncated", p->path,
			    p->base + at, text_quote(key->u.text.s));
		l->numbers[i] = (struct numbers){ p->data + at + 8, count };
		at += 8 + (size_t)count * bytes;
	}
	return 0;
}

/* Load the next pickle of the file and move ${*at} past it. */
static int
torch_next_pickle(struct pickle *p, size_t *at, struct value **v)
{
	struct pickle part = *p;
	size_t used = 0;
	int bad;

	part.base += *at;
	part.data += *at;
	part.n -= *at;
	bad = pickle_load(&part, &used, v);
	*at += used;
	return bad;
}

static int
torch_read_legacy(struct pickle *p, struct weights_file *w,
    struct torch_legacy_file *l)
{
	struct value *protocol, *system, *root, *keys;
	const struct value *little;
	size_t at = torch_after_magic(&w->file);
	int bad;

	/* After the magic number: protocol, system, object, storage keys. */
	if ((bad = torch_next_pickle(p, &at, &protocol)) != 0)
		return bad;
	if (protocol->kind != VALUE_INT ||
	    protocol->u.i != LEGACY_PROTOCOL)
		return DAMAGED("%s: offset %zu: a protocol that is not %d",
		    p->path, at, LEGACY_PROTOCOL);
	if ((bad = torch_next_pickle(p, &at, &system)) != 0)
		return bad;
	little = value_get(system, "little_endian");
	if (little != NULL && little->kind == VALUE_BOOL && !little->u.i)
		return UNKNOWN("%s: written on a big-endian machine", p->path);
	if ((bad = torch_next_pickle(p, &at, &root)) != 0 ||
	    (bad = torch_next_pickle(p, &at, &keys)) != 0)
		return bad;
	if (keys->kind != VALUE_LIST)
		return DAMAGED("%s: offset %zu: no list of storages", p->path,
		    at);
	if (torch_place_numbers(p, keys, at, l) != 0)
		return -2;
	return torch_dict(p, root, torch_find_legacy, l, w);
}

int
torch_legacy(const char *path, struct weights_file *w)
{
	struct pickle p = torch_pickle_at(path, w, 0, w->file.n);
	struct torch_legacy_file l = { .keys = names_new() };
	struct storages storages;
	int bad;

	torch_pickle_begin(&p, &storages);
	bad = torch_read_legacy(&p, w, &l);
	if (!bad)
		torch_say_unknown(path, p.unknown);
	torch_pickle_end(&p);
	names_free(l.keys);
	return bad;
}

/* ---- a single pickle ---- */

/*
 * Without an archive only numpy arrays have data, and those hold it themselves:
 * any other storage has none.
 */
static struct numbers
torch_find_nothing(const void *nothing, const struct storage *s)
{
	(void)nothing, (void)s;
	return (struct numbers){ 0 };
}

int
torch_pickle(const char *path, struct weights_file *w)
{
	return torch_read_pickle(torch_pickle_at(path, w, 0, w->file.n),
	    torch_find_nothing, NULL, w);
}
