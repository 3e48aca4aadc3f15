/* List the frames of a folder and check their numbers. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/folder.h"

#define Q text_quote
#define DIGITS 15		/* a number with more digits is not a frame
				 * number */

/* A file name: the length of its prefix, its number, and 1 for PNG. */
struct folder_parts { size_t prefix; long long number; int png; };

/* Parse ${name}.  Return 1, or 0 if it is not the name of a frame. */
static int
folder_cut(const char *name, struct folder_parts *p)
{
	const char *dot = strrchr(name, '.'), *digits = dot;

	if (dot == NULL || name[0] == '.')
		return 0;
	p->png = strcasecmp(dot, ".png") == 0;
	if (!p->png && strcasecmp(dot, ".jpg") != 0 &&
	    strcasecmp(dot, ".jpeg") != 0)
		return 0;
	while (digits > name && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	if (digits == dot || dot - digits > DIGITS)
		return 0;
	p->prefix = (size_t)(digits - name);
	p->number = strtoll(digits, NULL, 10);
	return 1;
}

static int
folder_is_usual(const char *name, size_t prefix)
{
	static const char *const usual[] = { "img_", "image_", "frame_" };

	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		if (strlen(usual[i]) == prefix &&
		    memcmp(name, usual[i], prefix) == 0)
			return 1;
	return 0;
}

static int
folder_by_name(const void *a, const void *b)
{
	const struct folder_frame *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int
folder_by_number(const void *a, const void *b)
{
	const struct folder_frame *x = a, *y = b;

	return x->number != y->number ? (x->number > y->number) -
	    (x->number < y->number) : strcmp(x->name, y->name);
}

static int
folder_same_kind(const char *a, const char *b)
{
	struct folder_parts p, q;

	return folder_cut(a, &p) && folder_cut(b, &q) && p.prefix == q.prefix &&
	    p.png == q.png && memcmp(a, b, p.prefix) == 0;
}

/* Keep only the frames whose prefix and format are those of f->frame[like]. */
static void
folder_keep_like(struct folder *f, size_t like)
{
	char *name = xstrdup(f->frame[like].name);
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		if (folder_same_kind(f->frame[i].name, name))
			f->frame[n++] = f->frame[i];
		else
			free(f->frame[i].name);
	f->n = n;
	free(name);
}

/*
 * If there are several prefixes, choose the one that usually names RGB frames.
 */
static int
folder_choose(const char *path, struct folder *f)
{
	size_t other = f->n, usual = f->n;
	struct folder_parts p;

	qsort(f->frame, f->n, sizeof(*f->frame), folder_by_name);
	for (size_t i = 0; i < f->n; i++) {
		const char *name = f->frame[i].name;

		if (other == f->n && !folder_same_kind(name, f->frame[0].name))
			other = i;
		if (folder_cut(name, &p) && usual == f->n &&
		    folder_is_usual(name, p.prefix))
			usual = i;
	}
	if (other == f->n)
		return 0;
	if (usual == f->n)
		return fail("%s: frames called like %s and like %s (wanted one "
		    "kind of name, or img_00001.jpg)", Q(path),
		    Q(f->frame[0].name), Q(f->frame[other].name));
	folder_keep_like(f, usual);
	return 0;
}

static int
folder_check_numbers(const char *path, const struct folder *f)
{
	for (size_t i = 1; i < f->n; i++) {
		const struct folder_frame *a = &f->frame[i - 1], *b = a + 1;

		if (a->number == b->number)
			return fail("%s: %s and %s have the same number",
			    Q(path), Q(a->name), Q(b->name));
		if (a->number + 1 != b->number)
			return fail("%s: after %s comes %s (wanted number "
			    "%lld)", Q(path), Q(a->name), Q(b->name),
			    a->number + 1);
	}
	return 0;
}

/*
 * Report a folder without frames.  The message depends on whether it holds
 * folders, files or nothing.
 */
static int
folder_empty(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *e;
	int folders = 0, files = 0;

	while (d != NULL && (e = readdir(d)) != NULL) {
		char *below;

		if (e->d_name[0] == '.')
			continue;
		below = path_join(path, e->d_name);
		folders += file_is_dir(below);
		files += !file_is_dir(below);
		free(below);
	}
	if (d != NULL)
		closedir(d);
	if (folders + files == 0)
		return fail("%s: a folder without frames (wanted such as "
		    "img_00001.jpg)", Q(path));
	return fail("%s: a folder without frames, but with %s (wanted its "
	    "videos, %s%s, or a list of them, -T FILE; or frames such as "
	    "img_00001.jpg)", Q(path), folders > 0 ? "folders" : "files",
	    Q(path), folders > 0 ? "/*/*" : "/*");
}

int
folder_open(const char *path, struct folder *f)
{
	DIR *d = opendir(path);
	const struct dirent *e;
	struct folder_parts p = { 0 };
	size_t cap = 0;

	*f = (struct folder){ 0 };
	if (d == NULL)
		return fail_errno("%s: cannot open", Q(path));
	while ((e = readdir(d)) != NULL) {
		if (!folder_cut(e->d_name, &p))
			continue;
		f->frame = array_reserve(f->frame, f->n, &cap,
		    sizeof(*f->frame));
		f->frame[f->n++] = (struct folder_frame){ xstrdup(e->d_name),
			p.number };
	}
	closedir(d);
	if (f->n == 0)
		return folder_empty(path);
	if (folder_choose(path, f) != 0) {
		folder_close(f);
		return -1;
	}
	qsort(f->frame, f->n, sizeof(*f->frame), folder_by_number);
	/* All frames have the same format by now. */
	folder_cut(f->frame[0].name, &p);
	f->png = p.png;
	if (folder_check_numbers(path, f) == 0)
		return 0;
	folder_close(f);
	return -1;
}

void
folder_close(struct folder *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->frame[i].name);
	free(f->frame);
	*f = (struct folder){ 0 };
}
