/*
 * Samples of other programs become members of a stream.
 *
 * All members of a sample are read before the first is passed on, because the
 * order of frames and the description depend on all of them.  Memory therefore
 * grows with the largest sample.  The members of a key must be adjacent, as
 * WebDataset requires; the packer refuses a key that comes back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "shard/foreign.h"
#include "shard/foreign_folder.h"
#include "shard/picture_size.h"
#include "shard/stream.h"

#define Q text_quote

/* A member whose data are at ${at} of the buffer. */
struct foreign_item { struct stream_member m; size_t at; };

struct foreign {
	struct stream_reader *r;	/* NULL: a folder */
	struct stream_limits limits;
	char *path;			/* of the folder */
	struct foreign_files files;
	size_t file;			/* the next one */
	int headed;			/* 1: the classes were passed on */

	int end;			/* result of the reader at its end */
	int ahead;			/* 1: ${next} was read, but not its
					 * data */
	struct stream_member next;

	struct foreign_item *item;	/* of the current sample */
	size_t items, cap, passed;	/* passed: given by foreign_next */
	struct buffer data;
	int label, text_label;		/* of the sample, -1 without */
	struct error no_label;		/* why the .json gives none */
	int labeled;			/* -1: no sample yet */
	char ext[4];			/* of all frames, "" before */
};

static struct foreign *
foreign_new(const struct stream_limits *limits)
{
	struct foreign *f = xcalloc(1, sizeof(*f));

	f->limits = *limits;
	f->end = STREAM_MORE;
	f->labeled = -1;
	return f;
}

struct foreign *
foreign_archive(struct stream_reader *r, const struct stream_limits *limits)
{
	struct foreign *f = foreign_new(limits);

	f->r = r;
	return f;
}

struct foreign *
foreign_folder(const char *path, const struct stream_limits *limits,
    uint64_t *skipped)
{
	struct foreign *f = foreign_new(limits);

	f->path = xstrdup(path);
	if (foreign_files_list(path, limits, &f->files, skipped) == 0)
		return f;
	foreign_free(f);
	return NULL;
}

void
foreign_free(struct foreign *f)
{
	if (f == NULL)
		return;
	foreign_files_free(&f->files);
	buffer_free(&f->data);
	free(f->item);
	free(f->path);
	free(f);
}

/* Report an error of member ${m}.  Return STREAM_BAD. */
static int
foreign_bad(const struct foreign *f, const struct stream_member *m,
    const char *why)
{
	if (f->r == NULL)
		return fail("%s: %s: %s", Q(f->path), Q(m->name), why);
	return fail("%s: offset %llu: member %s: %s", stream_path(f->r),
	    (unsigned long long)m->offset, Q(m->name), why);
}

static struct foreign_item *
foreign_add(struct foreign *f, const struct stream_member *m)
{
	struct foreign_item *i;

	f->item = array_reserve(f->item, f->items, &f->cap, sizeof(*f->item));
	i = &f->item[f->items++];
	*i = (struct foreign_item){ *m, f->data.n };
	return i;
}

/* ---- labels ---- */

static int
foreign_read_cls(struct foreign *f, const struct stream_member *m, char *text)
{
	size_t n = strcspn(text, "\r\n");
	int64_t v;
	/* Only the end of the line may follow, and no zero byte. */
	int more = n + strspn(text + n, "\r\n") < m->size;

	text[n] = '\0';
	if (f->label >= 0)
		return foreign_bad(f, m, "a second label of the sample");
	if (more || text_int(text, 0, INT32_MAX, &v) != 0)
		return foreign_bad(f, m, "not a label in decimal digits (the "
		    "name of a class is in a .txt, with --classes)");
	f->label = (int)v;
	return STREAM_MORE;
}

/* A .txt is a class name only if --classes has it; else it is a caption. */
static int
foreign_read_txt(struct foreign *f, char *text)
{
	text[strcspn(text, "\r\n")] = '\0';
	for (size_t i = 0; f->limits.classes != NULL &&
	    i < f->limits.classes->n; i++)
		if (strcmp(f->limits.classes->name[i], text) == 0)
			f->text_label = (int)i;
	return STREAM_MORE;
}

/*
 * Use an integer "label" of another program's KEY.json, and nothing else.  A
 * defect counts only if no other member has the label (foreign_check_label).
 */
static int
foreign_read_json(struct foreign *f, const struct stream_member *m,
    const char *text)
{
	struct json *o = json_try(Q(m->name), text, (size_t)m->size,
	    &f->no_label);
	const struct json *label = json_get(o, "label");
	char *printed = label != NULL ? json_print(label) : NULL;
	int64_t v;
	int result = STREAM_MORE;

	if (json_get(o, "src_xxh3") != NULL) {
		result = foreign_bad(f, m, "a description by vt (wanted "
		    "--foreign without =webdataset, which keeps it)");
	} else if (json_to_int(label, 0, INT32_MAX, &v) == 0) {
		f->text_label = f->text_label < 0 ? (int)v : f->text_label;
	} else if (label != NULL && strcmp(printed, "-1") != 0 &&
	    strcmp(printed, "null") != 0) {
		error_set(&f->no_label, "%s: label %s (wanted an integer from "
		    "0; the name of a class is in a .txt, with --classes)",
		    Q(m->name), Q(printed));
	}
	free(printed);
	json_free(o);
	return result;
}

/* Use the member that was added last.  Only frames remain. */
static int
foreign_use(struct foreign *f)
{
	struct foreign_item *i = &f->item[f->items - 1];
	struct stream_member m = i->m;
	char *text;
	int result;

	if (m.kind == MEMBER_FRAME)
		return m.size > 0 ? STREAM_MORE : foreign_bad(f, &m, "empty");
	text = xstrndup(f->data.data + i->at, (size_t)m.size);
	f->data.n = i->at;
	f->items--;
	result = m.kind == MEMBER_LABEL ? foreign_read_cls(f, &m, text) :
	    m.kind == MEMBER_TEXT ? foreign_read_txt(f, text) :
	    foreign_read_json(f, &m, text);
	free(text);
	return result;
}

/* ---- samples ---- */

static int
foreign_by_number(const void *a, const void *b)
{
	const struct foreign_item *x = a, *y = b;

	return x->m.frame != y->m.frame ? (x->m.frame < y->m.frame ? -1 : 1) :
	    (x->at > y->at) - (x->at < y->at);
}

/* Sort the frames, and check that they are one series of one size. */
static int
foreign_check_frames(struct foreign *f, int *w, int *h)
{
	qsort(f->item, f->items, sizeof(*f->item), foreign_by_number);
	for (size_t k = 0; k < f->items; k++) {
		const struct stream_member *m = &f->item[k].m;
		int fw = 0, fh = 0;
		const char *why = picture_size(m->ext, f->data.data +
		    f->item[k].at, (size_t)m->size, &fw, &fh);

		if (k > 0 && f->item[k - 1].m.frame < 0)
			why = "its sample also has a frame without a number";
		else if (k > 0 && f->item[k - 1].m.frame == m->frame)
			why = "its sample has two frames of this number";
		else if (f->ext[0] != '\0' && strcmp(f->ext, m->ext) != 0)
			why = "JPEG and PNG in one set (wanted one of them)";
		if (why == NULL && k > 0 && (fw != *w || fh != *h))
			why = "another size than the frame before it (wanted "
			    "one size in a sample)";
		if (why != NULL)
			return foreign_bad(f, m, why);
		strcpy(f->ext, m->ext);
		*w = fw;
		*h = fh;
	}
	return f->items <= FRAME_MAX ? STREAM_MORE : foreign_bad(f,
	    &f->item[FRAME_MAX].m, "more than 999999 frames in a sample");
}

/* All samples have a class, or none has. */
static int
foreign_check_label(struct foreign *f, const struct stream_member *m)
{
	if (f->label < 0)
		f->label = f->text_label;
	if (f->label < 0 && f->no_label.text[0] != '\0')
		return fail("%s: %s", stream_path(f->r), f->no_label.text);
	if (f->labeled < 0)
		f->labeled = f->label >= 0 || f->limits.classes != NULL;
	if (f->labeled && f->label < 0)
		return foreign_bad(f, m, "its sample has no class (wanted a "
		    ".cls, a .txt with a name of --classes, or a .json with "
		    "\"label\")");
	if (!f->labeled && f->label >= 0)
		return foreign_bad(f, m, "its sample has a class, but the "
		    "first one has none");
	return STREAM_MORE;
}

/* Append the member "${key}${ext}" whose data are ${text}. */
static void
foreign_add_text(struct foreign *f, enum member_kind kind, const char *key,
    const char *ext, const char *text, size_t n)
{
	struct stream_member m = { .kind = kind, .size = n,
		.offset = f->items > 0 ? f->item[0].m.offset : 0 };

	strcpy(m.key, key);
	snprintf(m.name, sizeof(m.name), "%s%s", key, ext);
	foreign_add(f, &m);
	buffer_add(&f->data, text, n);
}

/* Give the frames their names, and append KEY.cls and KEY.json.  ${source} is
 * the name of the sample. */
static int
foreign_complete(struct foreign *f, const char *source)
{
	struct stream_list streams = { .n = 1 };
	struct sample s = { .source = source, .status = "ok",
		.streams = &streams };
	struct buffer b = { 0 };
	char key[KEY_MAX + 1];

	if (foreign_check_frames(f, &s.width, &s.height) != STREAM_MORE ||
	    foreign_check_label(f, &f->item[0].m) != STREAM_MORE)
		return STREAM_BAD;
	strcpy(key, f->item[0].m.key);
	strcpy(streams.kind[0].tag, STREAM_UNTAGGED);
	strcpy(streams.kind[0].ext, f->ext);
	s.key = key;
	s.label = f->label;
	s.frames = (int)f->items;
	for (size_t k = 0; k < f->items; k++) {
		struct foreign_item *i = &f->item[k];

		buffer_add(&b, f->data.data + i->at, (size_t)i->m.size);
		i->m.frame = (int)k;
		stream_frame_name(key, (unsigned)k, &streams.kind[0],
		    i->m.name);
	}
	s.source_bytes = b.n;
	s.source_hash = hash64(b.data, b.n);
	b.n = 0;
	if (f->label >= 0) {
		buffer_printf(&b, "%d", f->label);
		foreign_add_text(f, MEMBER_LABEL, key, ".cls", b.data, b.n);
		b.n = 0;
	}
	sample_write(&s, &b);
	foreign_add_text(f, MEMBER_INFO, key, ".json", b.data, b.n);
	buffer_free(&b);
	return STREAM_MORE;
}

/* ---- sources ---- */

/* Read the members of the next key of the archive. */
static int
foreign_fill_archive(struct foreign *f)
{
	struct stream_member first;
	int result = f->end;

	if (!f->ahead && result == STREAM_MORE)
		result = stream_member_next(f->r, &f->next);
	if (result != STREAM_MORE)
		return result;
	first = f->next;
	do {
		f->ahead = 0;
		foreign_add(f, &f->next);
		buffer_reserve(&f->data, (size_t)f->next.size + 1);
		result = stream_member_data(f->r, f->data.data + f->data.n);
		if (result != STREAM_MORE)
			return result;
		f->data.n += (size_t)f->next.size;
		if (foreign_use(f) != STREAM_MORE)
			return STREAM_BAD;
		result = stream_member_next(f->r, &f->next);
		f->ahead = result == STREAM_MORE;
	} while (f->ahead && strcmp(f->next.key, first.key) == 0);
	if (result == STREAM_BAD || result == STREAM_TRUNCATED)
		return result;
	f->end = result;
	if (f->items == 0)
		return foreign_bad(f, &first, "its sample has no frame (wanted "
		    "KEY.jpg, KEY.jpeg or KEY.png next to it)");
	return foreign_complete(f, first.key);
}

/* Pass the names of the subfolders on, as the head of a stream. */
static int
foreign_fill_head(struct foreign *f)
{
	struct json_writer w = { 0 };

	f->headed = 1;
	json_open(&w, NULL, '{');
	class_write(&w, &f->files.classes);
	json_close(&w);
	foreign_add_text(f, MEMBER_HEAD, "", STREAM_HEAD, w.out.data, w.out.n);
	buffer_free(&w.out);
	return STREAM_MORE;
}

/* Read the next picture of the folder. */
static int
foreign_fill_folder(struct foreign *f)
{
	const struct foreign_file *file = &f->files.file[f->file];
	struct stream_member m = { 0 };
	const char *why;
	char *path;
	int64_t size;
	int result;

	if (!f->headed && f->limits.classes == NULL)
		return foreign_fill_head(f);
	if (f->file == f->files.n)
		return STREAM_DONE;
	f->file++;
	why = foreign_member_name(file->name, &m);
	/* A picture is a sample of its own, so a.1.jpg and a.2.jpg have two
	 * keys. */
	(void)key_from_path(file->name, m.key);
	path = path_join(f->path, file->name);
	size = file_size(path);
	if (why == NULL && size < 0)
		why = "not a regular file";
	if (why == NULL && (uint64_t)size > f->limits.member)
		why = "larger than --max-member allows";
	result = why != NULL ? foreign_bad(f, &m, why) :
	    file_read(path, &f->data) != 0 ? STREAM_BAD : STREAM_MORE;
	free(path);
	if (result != STREAM_MORE)
		return result;
	m.size = f->data.n;
	m.frame = -1;
	foreign_add(f, &m)->at = 0;
	f->label = file->class;
	return foreign_complete(f, file->name);
}

int
foreign_next(struct foreign *f, struct stream_member *m)
{
	int result = STREAM_MORE;

	if (f->passed == f->items) {
		f->passed = f->items = 0;
		f->data.n = 0;
		f->label = f->text_label = -1;
		f->no_label.text[0] = '\0';
		result = f->r != NULL ? foreign_fill_archive(f) :
		    foreign_fill_folder(f);
	}
	if (result == STREAM_MORE)
		*m = f->item[f->passed++].m;
	return result;
}

int
foreign_data(struct foreign *f, void *to)
{
	const struct foreign_item *i = &f->item[f->passed - 1];

	memcpy(to, f->data.data + i->at, (size_t)i->m.size);
	return STREAM_MORE;
}
