/*
 * Find the video files that rows of annotation lists name: by a path, by an
 * identifier without an extension, or by an identifier and seconds, as Kinetics
 * does.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list_layout.h"

char *
list_place(const struct list_reading *r, const char *path)
{
	const char *root = r->how->root;

	return root == NULL || path[0] == '/' ? xstrdup(path) :
	    path_join(root, path);
}

/*
 * Return the path of ${below} under the root if it exists.  Otherwise record
 * the name in r->tried and return NULL.
 */
static char *
list_try(struct list_reading *r, const char *below)
{
	char *path = list_place(r, below);

	if (access(path, F_OK) == 0)
		return path;
	buffer_printf(&r->tried, "%s%s", r->tried.n > 0 ? ", " : "",
	    text_quote(below));
	free(path);
	return NULL;
}

/*
 * Append the row of a video at ${path}.  If ${path} is NULL, use ${below} under
 * the root, which does not exist, and store the names that were tried in the
 * row.
 */
static struct list_row *
list_found(struct list_reading *r, char *path, const char *below)
{
	struct list_row *row = list_append(r->l, path != NULL ? path :
	    list_place(r, below), NULL, r->name, r->line);

	if (path == NULL && r->tried.n > 0)
		row->tried = xstrdup(r->tried.data);
	r->tried.n = 0;
	return row;
}

/* Return the first path that exists of ID.mp4, ID.webm, ..., ID, or NULL. */
static char *
list_try_endings(struct list_reading *r, const char *id)
{
	static const char *const ending[] = { ".mp4", ".webm", ".mkv", ".avi",
		"" };
	const size_t n = sizeof(ending) / sizeof(*ending);
	char *path = NULL;

	for (size_t i = 0; i < n && path == NULL; i++) {
		char *below = xprintf("%s%s", id, ending[i]);

		path = list_try(r, below);
		free(below);
	}
	return path;
}

struct list_row *
list_find(struct list_reading *r, const char *id, int folder)
{
	char *path = list_try_endings(r, id);
	char *below = xprintf("%s%s", id, folder ? "" :
	    r->y.format == LIST_SSV2 ? ".webm" : ".mp4");
	struct list_row *row = list_found(r, path, below);

	free(below);
	return row;
}

struct list_row *
list_find_path(struct list_reading *r, const char *path)
{
	char *whole = list_place(r, path);

	if (list_is_file(path) || access(whole, F_OK) == 0)
		return list_append(r->l, whole, NULL, r->name, r->line);
	free(whole);
	return list_find(r, path, 1);
}

struct list_row *
list_find_hacs(struct list_reading *r, const char *label, const char *id)
{
	char *below[] = {
		xprintf("%s/v_%s", label != NULL ? label : ".", id),
		xprintf("%s/v_%s", label != NULL ? label : ".", id),
		xprintf("v_%s", id), xstrdup(id)
	};
	const size_t n = sizeof(below) / sizeof(*below);
	struct list_row *row;
	char *path = NULL, *missing;

	for (char *s = below[1]; *s != '\0' && *s != '/'; s++)
		*s = *s == ' ' ? '_' : *s;
	for (size_t i = 0; i < n && path == NULL; i++)
		if (i != 1 || strcmp(below[0], below[1]) != 0)
			path = list_try_endings(r, below[i]);
	missing = xprintf("%s.mp4", below[0]);
	row = list_found(r, path, missing);
	for (size_t i = 0; i < n; i++)
		free(below[i]);
	free(missing);
	return row;
}

char *
list_part_suffix(const struct list_part *p)
{
	int whole = p->start == (int)p->start && p->end == (int)p->end;
	double unit = whole ? 1 : 1e3;

	if (p->count > 0)
		return xprintf("_f%06lld_f%06lld", (long long)p->first,
		    (long long)(p->first + p->count));
	if (p->start == 0 && p->end == 0)
		return NULL;
	return xprintf("_%06.0f_%06.0f%s", p->start * unit, p->end * unit,
	    whole ? "" : "ms");
}

/*
 * Sets are kept flat, or in folders named by label, with '_' for ' ' or
 * unchanged.
 */
struct list_row *
list_find_kinetics(struct list_reading *r, const char *label, const char *id,
    const struct list_part *part)
{
	int whole = part->start == (int)part->start &&
	    part->end == (int)part->end;
	char *file = xprintf("%s_%06.0f_%06.0f.mp4", id, part->start,
	    part->end);
	char *path = whole ? list_try(r, file) : NULL, *below;
	struct list_row *row;

	for (int way = 0; whole && way < 2 && label != NULL && path == NULL;
	    way++) {
		if (way == 1 && strchr(label, ' ') == NULL)
			break;
		below = xprintf("%s/%s", label, file);
		for (char *s = below; way == 0 && *s != '/'; s++)
			if (*s == ' ')
				*s = '_';
		path = list_try(r, below);
		free(below);
	}
	if (path != NULL) {
		row = list_found(r, path, NULL);
	} else {
		path = list_try_endings(r, id);
		below = whole ? xstrdup(file) : xprintf("%s.mp4", id);
		row = list_found(r, path, below);
		free(below);
		if (path != NULL || !whole) {
			row->part = *part;
			row->suffix = list_part_suffix(part);
		}
	}
	free(file);
	return row;
}
