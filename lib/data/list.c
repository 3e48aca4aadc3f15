/* Lists of videos: which format, which columns, which file. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/list.h"

#define Q text_quote
#define MAX_FIELDS 64
#define MARK "\357\273\277"	/* a byte order mark, of some editors */

/* ---- rows ---- */

void
list_free(struct list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->row[i].path);
		free(l->row[i].label);
	}
	for (size_t i = 0; i < l->files; i++)
		free(l->file[i]);
	free(l->file);
	free(l->row);
	*l = (struct list){ 0 };
}

/* The strings become the list's; ${label} may be NULL. */
static void
add(struct list *l, char *path, char *label, const char *file, int line)
{
	l->row = array_room(l->row, l->n, &l->cap, sizeof(*l->row));
	l->row[l->n++] = (struct list_row){ path, label, file, line };
}

void
list_add(struct list *l, const char *path)
{
	add(l, xstrdup(path), NULL, NULL, 0);
}

/* The name of a list as messages show it, kept by ${l}. */
static const char *
keep_name(struct list *l, const char *file)
{
	l->file = array_room(l->file, l->files, &l->files_cap,
	    sizeof(*l->file));
	return l->file[l->files++] = xstrdup(strcmp(file, "-") == 0 ?
	    "standard input" : Q(file));
}

/* Annotations often come as JSON, of many shapes; none is read here. */
static int
is_json(const char *name, const char *text)
{
	const char *next;

	text += strspn(text, " \t\r\n");
	next = text + 1 + strspn(text + (*text != '\0'), " \t\r\n");
	if (*text != '{' && *text != '[')
		return 0;
	if (*next != '"' && (*text == '{' || *next != '{'))
		return 0;
	fail("%s: JSON (wanted lines of text, a video a line; vt-extract(1) shows "
	    "how jq makes them)", name);
	return 1;
}

/* Where every line ends in CR LF, as some editors have it, the CR is none of
 * the path. */
static int
has_returns(const char *text)
{
	int lines = 0;

	for (const char *s = text; (s = strchr(s, '\n')) != NULL; s++, lines++)
		if (s == text || s[-1] != '\r')
			return 0;
	return lines > 0;
}

int
list_read_paths(struct list *l, const char *file, int zero)
{
	const char *name = keep_name(l, file);
	struct buffer b = { 0 };
	char end = zero ? '\0' : '\n', *p;
	int line = 0, returns, result = -1;

	if (file_read(file, &b) != 0)
		goto out;
	if (!zero && strlen(b.data) != b.n) {
		fail("%s: line %d: a zero byte (is this a list for -0?)", name,
		    line + 1);
		goto out;
	}
	if (!zero && is_json(name, b.data))
		goto out;
	returns = !zero && has_returns(b.data);
	p = b.data + (!zero && text_starts(b.data, MARK) ? strlen(MARK) : 0);
	for (char *next; p < b.data + b.n; p = next) {
		next = memchr(p, end, (size_t)(b.data + b.n - p));
		if (next == NULL)
			next = b.data + b.n;
		*next++ = '\0';
		line++;
		if (returns)
			text_chomp(p);
		if (*p != '\0')
			add(l, xstrdup(p), NULL, name, line);
	}
	result = 0;
out:
	buffer_free(&b);
	return result;
}

/* ---- lines and fields ---- */

struct lines { char **s; int *number; size_t n, cap; };

/* Cut ${text} into lines that are not empty, without their ends. */
static int
cut_lines(struct lines *l, const char *name, char *text)
{
	size_t cap = 0;
	int number = 0;

	if (text_starts(text, MARK))
		text += strlen(MARK);
	for (char *next; *text != '\0'; text = next) {
		next = text + strcspn(text, "\n");
		if (*next != '\0')
			*next++ = '\0';
		number++;
		if (text_chomp(text) != 0)
			return fail("%s: line %d: a carriage return within the "
			    "line", name, number);
		if (*text == '\0')
			continue;
		l->s = array_room(l->s, l->n, &l->cap, sizeof(*l->s));
		l->number = array_room(l->number, l->n, &cap,
		    sizeof(*l->number));
		l->s[l->n] = text;
		l->number[l->n++] = number;
	}
	return 0;
}

/*
 * Cut ${line} at ${sep} into ${field}, taking off quotes, within which "" is
 * one; at most MAX_FIELDS, the rest is left out.  Return how many.
 */
static int
cut_fields(char *line, char sep, char **field)
{
	int n = 0;

	for (char *p = line;;) {
		char *to = p, *start = p;
		int quoted = *p == '"';

		if (quoted)
			p++;
		for (; *p != '\0'; p++) {
			if (quoted && p[0] == '"' && p[1] == '"')
				p++;
			else if (quoted && *p == '"') {
				quoted = 0;
				continue;
			} else if (!quoted && *p == sep)
				break;
			*to++ = *p;
		}
		if (n < MAX_FIELDS)
			field[n++] = start;
		if (*p == '\0') {
			*to = '\0';
			return n;
		}
		p++;
		*to = '\0';
	}
}

/* The column called by one of ${names}, "a|b", or -1. */
static int
column(char **field, int n, const char *names)
{
	for (int i = 0; i < n; i++) {
		const char *f = field[i] + strspn(field[i], "# ");
		size_t m;

		for (const char *s = names; *s != '\0'; s += m + (s[m] == '|')) {
			m = strcspn(s, "|");
			if (strlen(f) == m && strncasecmp(f, s, m) == 0)
				return i;
		}
	}
	return -1;
}

/* ---- what a list looks like ---- */

struct layout {
	enum list_format format;
	char sep;		/* between fields; ' ': blanks */
	int header;		/* the first line is one */
	int path, label, id, start, end;	/* columns, or -1 */
};

#define PATHS "path|file|filename|video|video_path|filepath"
#define LABELS "label|class|label_name|class_name"
#define NUMBERS "label_id|class_id|label_index|class_index"

static int
read_header(const char *line, struct layout *y)
{
	static const char seps[] = ",\t;";

	for (const char *s = seps; *s != '\0'; s++) {
		char *copy = xstrdup(line), *field[MAX_FIELDS];
		int n = cut_fields(copy, *s, field);

		y->sep = *s;
		y->path = column(field, n, PATHS);
		y->id = column(field, n, "youtube_id|video_id");
		y->start = column(field, n, "time_start|start");
		y->end = column(field, n, "time_end|end");
		y->label = column(field, n, LABELS);
		if (y->label < 0)
			y->label = column(field, n, NUMBERS);
		free(copy);
		y->format = y->id >= 0 && y->start >= 0 && y->end >= 0 ?
		    LIST_KINETICS : y->path >= 0 ? LIST_CSV : LIST_AUTO;
		y->header = y->format != LIST_AUTO;
		if (y->header)
			return 1;
	}
	return 0;
}

/* A separator that every line has; blanks if there is none. */
static char
find_separator(const struct lines *l)
{
	static const char seps[] = "\t,;";

	for (const char *s = seps; *s != '\0'; s++) {
		size_t i = 0;

		while (i < l->n && strchr(l->s[i], *s) != NULL)
			i++;
		if (i == l->n)
			return *s;
	}
	return ' ';
}

/* Class/v_Class_gNN_cNN.avi, and a number from 1 or nothing. */
static int
is_ucf101(const char *line)
{
	static const char end[] = "_g??_c??.avi";
	const char *slash = strchr(line, '/'), *tail;
	const size_t ends = sizeof(end) - 1;
	size_t n;
	int64_t number;

	if (slash == NULL || !text_starts(slash, "/v_"))
		return 0;
	n = strcspn(slash, " ");
	tail = slash + n;
	if (n < ends + 2)
		return 0;
	for (size_t i = 0; i < ends; i++)
		if (end[i] != '?' && slash[n - ends + i] != end[i])
			return 0;
	tail += strspn(tail, " ");
	return *tail == '\0' || text_int(tail, 1, 101, &number) == 0;
}

static int
all_ucf101(const struct lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (!is_ucf101(l->s[i]))
			return 0;
	return l->n > 0;
}

/*
 * A header line decides; without one, names as UCF101 has them, whose numbers
 * count from 1 unless one of them is 0; everything else is path and label.
 */
static int
choose_layout(const struct lines *l, const char *name, enum list_format asked,
    struct layout *y)
{
	static const char *const what[] = { "", "path-label", "csv", "kinetics",
		"ucf101" };
	int header = l->n > 0 && read_header(l->s[0], y);

	if (asked == LIST_AUTO) {
		asked = header ? y->format : all_ucf101(l) ? LIST_UCF101 :
		    LIST_PATH_LABEL;
		note("%s: read as %s: %zu rows%s", name, what[asked],
		    l->n - (size_t)header, asked == LIST_UCF101 ?
		    ", numbers count from 1" : "");
	}
	if (asked == LIST_KINETICS && y->format != LIST_KINETICS)
		return fail("%s: line 1: no header of Kinetics (wanted label,"
		    "youtube_id,time_start,time_end)", name);
	if (asked == LIST_CSV && (l->n == 0 || y->path < 0))
		return fail("%s: line 1: no header that names a column path, "
		    "file, filename or video", name);
	y->format = asked;
	if (asked == LIST_PATH_LABEL || asked == LIST_UCF101) {
		y->header = 0;
		y->sep = asked == LIST_UCF101 ? ' ' : find_separator(l);
	}
	return 0;
}

/* ---- rows of each format ---- */

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
	add(l, place(root, line), label != NULL ? xstrdup(label) : NULL, name,
	    number);
}

static int
separated_row(struct list *l, const char *root, char *line,
    const struct layout *y, const char *name, int number)
{
	char *field[MAX_FIELDS];
	int n = cut_fields(line, y->sep, field);
	int path = y->header ? y->path : 0;
	int label = y->header ? y->label : n - 1;

	if (!y->header && n > 3)
		return fail("%s: line %d: %d fields (wanted path and label, or "
		    "path, frames and label)", name, number, n);
	if (path >= n || label >= n || *field[path] == '\0')
		return fail("%s: line %d: no path%s", name, number,
		    path < n && *field[path] != '\0' ? " and label" : "");
	add(l, place(root, field[path]),
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
    const struct layout *y, const char *name, int number)
{
	char *field[MAX_FIELDS], *file, *label = NULL;
	int n = cut_fields(line, y->sep, field);
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
	add(l, find_kinetics(root, label, file),
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

	if (!is_ucf101(line))
		return fail("%s: line %d: not a row of UCF101 (wanted Class/"
		    "v_Class_gNN_cNN.avi and a number from 1 or nothing)",
		    name, number);
	label = cut_last_word(line);
	if (label != NULL) {
		text_int(label, 1, 101, &class);
		snprintf(text, sizeof(text), "%d", (int)class - 1);
	}
	add(l, place(root, line), label != NULL ? xstrdup(text) : NULL, name,
	    number);
	return 0;
}

int
list_read(struct list *l, const char *file, enum list_format format,
    const char *root)
{
	const char *name = keep_name(l, file);
	struct buffer b = { 0 };
	struct lines lines = { 0 };
	struct layout y = { 0 };
	int result = -1;

	if (file_read(file, &b) != 0)
		goto out;
	if (strlen(b.data) != b.n) {
		fail("%s: a zero byte (wanted lines of text)", name);
		goto out;
	}
	if (is_json(name, b.data) || cut_lines(&lines, name, b.data) != 0)
		goto out;
	if (choose_layout(&lines, name, format, &y) != 0)
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
