/*
 * Label a video by a folder on its path.
 *
 * Two conventions are common: the video's own folder, and the first folder
 * below the root of the dataset, which may contain further folders.  With
 * --root, use the second.  Without it, use the first.  Refuse videos at several
 * depths for which the two conventions differ, because either could be wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/relative.h"
#include "ingest/list_format.h"

#define Q text_quote

/*
 * A video and the components of its path.  The first is "/" if the path is
 * absolute; the last is the file name.
 */
struct folder_item { struct list_row *row; char *path, **part; int parts; };
struct folder_items { struct folder_item *item; size_t n, cap; };

static void
list_folder_cut(struct folder_item *k)
{
	size_t cap = 0;
	char *s;

	k->path = relative_path(k->row->path, ".");
	if (k->path == NULL)
		k->path = xstrdup(k->row->path);
	for (char *next = k->path; *next != '\0';) {
		s = next;
		next += strcspn(next, "/");
		if (*next != '\0')
			*next++ = '\0';
		if (s == k->path && *s == '\0')
			s = "/";
		else if (*s == '\0' || strcmp(s, ".") == 0)
			continue;
		k->part = array_reserve(k->part, (size_t)k->parts, &cap,
		    sizeof(*k->part));
		k->part[k->parts++] = s;
	}
}

static void
list_folder_items_free(struct folder_items *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->item[i].path);
		free(t->item[i].part);
	}
	free(t->item);
}

/* Join the first ${n} components to a path.  The caller frees it. */
static char *
list_folder_join(const struct folder_item *k, int n)
{
	struct buffer b = { 0 };

	for (int i = 0; i < n; i++)
		buffer_printf(&b, "%s%s", b.n > 0 && b.data[b.n - 1] != '/' ?
		    "/" : "", k->part[i]);
	if (n == 0)
		buffer_text(&b, ".");
	return b.data;
}

static void
list_folder_label(struct list_row *r, const char *name, size_t n)
{
	char *label = xstrndup(name, n);

	list_row_label(r, label);
	r->by_folder = 1;
	free(label);
}

/* Label a video by the first folder below ${root} on its path. */
static int
list_folder_below(struct list_row *r, const char *root)
{
	char *below = relative_path(r->path, root);
	const char *slash = below != NULL ? strchr(below, '/') : NULL;

	if (below == NULL)
		fail("%s%s: not below %s", list_at(r), Q(r->path), Q(root));
	else if (slash == NULL)
		fail("%s%s: is in %s itself (wanted in a subfolder that "
		    "names its class: --label-from=dir)", list_at(r),
		    Q(r->path), Q(root));
	else
		list_folder_label(r, below, (size_t)(slash - below));
	free(below);
	return slash != NULL ? 0 : EXIT_FAILED;
}

/* Label a video by its own folder, and add it to ${t}. */
static int
list_folder_own(struct list_row *r, struct folder_items *t)
{
	struct folder_item *k;
	const char *name;

	t->item = array_reserve(t->item, t->n, &t->cap, sizeof(*t->item));
	k = &t->item[t->n++];
	*k = (struct folder_item){ .row = r };
	list_folder_cut(k);
	name = k->parts > 1 ? k->part[k->parts - 2] : "";
	if (*name == '\0' || *name == '/' || strcmp(name, "..") == 0) {
		fail("%s%s: no folder names its class (--label-from=dir)",
		    list_at(r), Q(r->path));
		return EXIT_FAILED;
	}
	list_folder_label(r, name, strlen(name));
	return 0;
}

/*
 * Refuse videos at several depths if the two conventions label one differently.
 */
static int
list_folder_check(const struct folder_items *t)
{
	const struct folder_item *first = t->item, *k;
	int common = first->parts - 2, mixed = 0;

	for (size_t i = 1; i < t->n; i++) {
		int n = 0;

		k = &t->item[i];
		/* An absolute and a relative path have no common parent. */
		if ((*k->part[0] == '/') != (*first->part[0] == '/'))
			return 0;
		mixed |= k->parts != first->parts;
		while (n < common && n < k->parts - 2 &&
		    strcmp(k->part[n], first->part[n]) == 0)
			n++;
		common = n;
	}
	for (size_t i = 0; mixed && i < t->n; i++) {
		const char *other, *quoted;
		char *root;

		k = &t->item[i];
		if (strcmp(k->part[common], k->row->label->text) == 0)
			continue;
		other = Q(k->part[common]);
		root = list_folder_join(k, common);
		quoted = Q(root);
		fail("%s%s: class %s by its own folder, %s by the first folder "
		    "below %s; other videos lie at other depths (wanted "
		    "--root=%s for %s)", list_at(k->row), Q(k->row->path),
		    Q(k->row->label->text), other, quoted, quoted, other);
		free(root);
		return EXIT_USAGE;
	}
	return 0;
}

int
list_label_folders(struct list *l, const char *root)
{
	struct folder_items t = { 0 };
	int status = 0;

	for (size_t i = 0; i < l->n && status == 0; i++) {
		struct list_row *r = &l->row[i];

		if (!list_row_labeled(r))
			status = root != NULL ? list_folder_below(r, root) :
			    list_folder_own(r, &t);
	}
	if (status == 0 && t.n > 0)
		status = list_folder_check(&t);
	list_folder_items_free(&t);
	return status;
}
