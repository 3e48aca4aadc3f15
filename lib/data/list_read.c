/* The rows of annotation lists, of each format. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/list_layout.h"

/* Below ${root} unless absolute. */
static char *
place(const char *root, const char *path)
{
	return root == NULL || path[0] == '/' ? xstrdup(path) :
	    path_join(root, path);
}

/*
 * Cut the last word off ${line}, blanks before it too, and return it; NULL if
 * there is only one.  So a path may hold blanks.
 */
static char *
cut_last_word(char *line)
{
	char *end = line + strlen(line), *word;

	while (end > line && strchr(" \t", end[-1]) != NULL)
		*--end = '\0';
	for (word = end; word > line && strchr(" \t", word[-1]) == NULL;)
		word--;
	if (word == line)
		return NULL;
	for (end = word; end > line && strchr(" \t", end[-1]) != NULL;)
		*--end = '\0';
	return word;
}

/* "PATH", "PATH LABEL" or "PATH FRAMES LABEL". */
static void
blank_row(struct list *l, const char *root, char *line, const char *name,
    int number)
{
	char *label = cut_last_word(line), *word;
	int64_t frames;

	word = strrchr(line, ' ');
	if (label != NULL && word != NULL && strchr(line, '.') != NULL &&
	    strchr(line, '.') < word && text_int(word + 1, 0, INT64_MAX,
	    &frames) == 0)
		cut_last_word(line);
	list_append(l, place(root, line), label != NULL ? xstrdup(label) : NULL,
	    name, number);
}

static int
separated_row(struct list *l, const char *root, char *line,
    const struct list_layout *y, const char *name, int number)
{
	char *field[LIST_FIELDS];
	int n = list_cut_fields(line, y->sep, field);
	int path = y->header ? y->path : 0;
	int label = y->header ? y->label : n - 1;

	if (!y->header && n > 3)
		return fail("%s: line %d: %d fields (wanted path and label, or "
		    "path, frames and label)", name, number, n);
	if (path >= n || label >= n || *field[path] == '\0')
		return fail("%s: line %d: no path%s", name, number,
		    path < n && *field[path] != '\0' ? " and label" : "");
	list_append(l, place(root, field[path]),
	    label > 0 || (label == 0 && path > 0) ? xstrdup(field[label]) :
	    NULL, name, number);
	return 0;
}

/*
 * The name of a Kinetics video is made of its identifier and whole seconds.
 * Sets are kept flat, or in folders named by label, with '_' for ' ' or as it
 * is: the first of these that exists counts, and the flat one if none does.
 */
static char *
find_kinetics(const char *root, const char *label, const char *file)
{
	for (int way = 0; way < 2 && label != NULL; way++) {
		char *below = xprintf("%s/%s", label, file), *path;

		for (char *s = below; way == 0 && *s != '/'; s++)
			if (*s == ' ')
				*s = '_';
		path = place(root, below);
		free(below);
		if (access(path, F_OK) == 0)
			return path;
		free(path);
	}
	return place(root, file);
}

static int
kinetics_row(struct list *l, const char *root, char *line,
    const struct list_layout *y, const char *name, int number)
{
	char *field[LIST_FIELDS], *file, *label = NULL;
	int n = list_cut_fields(line, y->sep, field);
	int64_t start, end;

	if (y->id >= n || y->start >= n || y->end >= n ||
	    text_int(field[y->start], 0, 999999, &start) != 0 ||
	    text_int(field[y->end], 0, 999999, &end) != 0)
		return fail("%s: line %d: not a row of Kinetics (wanted label,"
		    "youtube_id,time_start,time_end, in whole seconds)", name,
		    number);
	if (y->label >= 0 && y->label < n && *field[y->label] != '\0')
		label = field[y->label];
	file = xprintf("%s_%06d_%06d.mp4", field[y->id], (int)start, (int)end);
	list_append(l, find_kinetics(root, label, file),
	    label != NULL ? xstrdup(label) : NULL, name, number);
	free(file);
	return 0;
}

/* Numbers count from 1 here and from 0 with us. */
static int
ucf101_row(struct list *l, const char *root, char *line, const char *name,
    int number)
{
	char *label, text[16];
	int64_t class = 0;

	if (!list_is_ucf101(line))
		return fail("%s: line %d: not a row of UCF101 (wanted Class/"
		    "v_Class_gNN_cNN.avi and a number from 1 or nothing)",
		    name, number);
	label = cut_last_word(line);
	if (label != NULL) {
		text_int(label, 1, 101, &class);
		snprintf(text, sizeof(text), "%d", (int)class - 1);
	}
	list_append(l, place(root, line), label != NULL ? xstrdup(text) : NULL,
	    name, number);
	return 0;
}

int
list_read(struct list *l, const char *file, enum list_format format,
    const char *root)
{
	const char *name = list_name(l, file);
	struct buffer b = { 0 };
	struct list_lines lines = { 0 };
	struct list_layout y = { 0 };
	int result = -1;

	if (file_read(file, &b) != 0)
		goto out;
	if (strlen(b.data) != b.n) {
		fail("%s: a zero byte (wanted lines of text)", name);
		goto out;
	}
	if (list_is_json(name, b.data) ||
	    list_cut_lines(&lines, name, b.data) != 0)
		goto out;
	if (list_choose_layout(&lines, name, format, &y) != 0)
		goto out;
	for (size_t i = (size_t)y.header; i < lines.n; i++) {
		char *s = lines.s[i];
		int k = lines.number[i], bad = 0;

		if (y.format == LIST_KINETICS)
			bad = kinetics_row(l, root, s, &y, name, k);
		else if (y.format == LIST_UCF101)
			bad = ucf101_row(l, root, s, name, k);
		else if (y.sep == ' ')
			blank_row(l, root, s, name, k);
		else
			bad = separated_row(l, root, s, &y, name, k);
		if (bad)
			goto out;
	}
	result = 0;
out:
	free(lines.s);
	free(lines.number);
	buffer_free(&b);
	return result;
}
