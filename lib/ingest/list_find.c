/*
 * Find the video files that rows of annotation lists name: by a path, or by an
 * identifier without an extension.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list_format.h"

char *
list_place(const struct list_reading *r, const char *path)
{
	const char *root = r->how->root;

	return root == NULL || path[0] == '/' ? xstrdup(path) :
	    path_join(root, path);
}

char *
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

struct list_row *
list_found(struct list_reading *r, char *path, const char *below)
{
	struct list_row *row = list_append(r->l, path != NULL ? path :
	    list_place(r, below), r->name, r->line);

	if (path == NULL && r->tried.n > 0)
		row->tried = xstrdup(r->tried.data);
	r->tried.n = 0;
	return row;
}

char *
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
list_find(struct list_reading *r, const char *id, const char *ending)
{
	char *path = list_try_endings(r, id);
	char *below = xprintf("%s%s", id, ending);
	struct list_row *row = list_found(r, path, below);

	row->name = xstrdup(id);
	free(below);
	return row;
}

struct list_row *
list_find_class(struct list_reading *r, const char *id, const char *class,
    int in_class)
{
	char *below[] = {
		xprintf("%s/v_%s", class, id), xprintf("%s/v_%s", class, id),
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
	missing = xprintf("%s.mp4", below[in_class ? 0 : 2]);
	row = list_found(r, path, missing);
	for (size_t i = 0; i < n; i++)
		free(below[i]);
	free(missing);
	return row;
}

void
list_decode(char *text)
{
	char *to = text;

	for (; *text != '\0'; text++) {
		char hex[3] = "";

		if (*text == '%' && isxdigit((unsigned char)text[1]) &&
		    isxdigit((unsigned char)text[2]) &&
		    strncmp(text + 1, "00", 2) != 0) {
			memcpy(hex, text + 1, 2);
			*to++ = (char)strtol(hex, NULL, 16);
			text += 2;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

struct list_row *
list_find_path(struct list_reading *r, const char *path)
{
	char *whole = list_place(r, path);

	if (list_is_file(path) || access(whole, F_OK) == 0)
		return list_append(r->l, whole, r->name, r->line);
	free(whole);
	return list_found(r, list_try_endings(r, path), path);
}

struct list_row *
list_find_media(struct list_reading *r, const char *path)
{
	const char *name = path;
	char *found = list_try(r, path);

	/* Tools also run on Windows. */
	for (const char *s = path; *s != '\0'; s++)
		if (*s == '/' || *s == '\\')
			name = s + 1;
	if (found == NULL && name > path && *name != '\0')
		found = list_try(r, name);
	return list_found(r, found, path);
}

void
list_select(const struct list_reading *r, struct list_row *row,
    const struct list_part *part)
{
	row->part = *part;
	/* A row with a first frame is one of several of a video. */
	row->part_in_key = part->unit != LIST_FRAMES ||
	    *list_cell(r, COLUMN_BEGIN_FRAME) != '\0';
}
