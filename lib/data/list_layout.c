/* What an annotation list looks like: its lines, fields and columns. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/list_layout.h"

int
list_cut_lines(struct list_lines *l, const char *name, char *text)
{
	size_t cap = 0;
	int number = 0;

	if (text_starts(text, LIST_MARK))
		text += strlen(LIST_MARK);
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

int
list_cut_fields(char *line, char sep, char **field)
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
		if (n < LIST_FIELDS)
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

#define PATHS "path|file|filename|video|video_path|filepath"
#define LABELS "label|class|label_name|class_name"
#define NUMBERS "label_id|class_id|label_index|class_index"

static int
read_header(const char *line, struct list_layout *y)
{
	static const char seps[] = ",\t;";

	for (const char *s = seps; *s != '\0'; s++) {
		char *copy = xstrdup(line), *field[LIST_FIELDS];
		int n = list_cut_fields(copy, *s, field);

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
find_separator(const struct list_lines *l)
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

int
list_is_ucf101(const char *line)
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
all_ucf101(const struct list_lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (!list_is_ucf101(l->s[i]))
			return 0;
	return l->n > 0;
}

int
list_choose_layout(const struct list_lines *l, const char *name,
    enum list_format asked, struct list_layout *y)
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
