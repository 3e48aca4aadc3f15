/*
 * Detect the format of an annotation list, and split its text into lines,
 * fields and words.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list_layout.h"

const struct list_kind list_kind[LIST_FORMATS] = {
	[LIST_AUTO] = { "auto", "", "" },
	[LIST_PATH_LABEL] = { "path-label", "path and label",
	    "path and label, or path, frames and label" },
	[LIST_CSV] = { "csv", "CSV",
	    "a column path, file, filename or video" },
	[LIST_KINETICS] = { "kinetics", "Kinetics CSV",
	    "label,youtube_id,time_start,time_end" },
	[LIST_UCF101] = { "ucf101", "UCF101, numbers from 1",
	    "Class/v_Class_gNN_cNN.avi and a number from 1 or nothing" },
	[LIST_HMDB51] = { "hmdb51", "HMDB51",
	    "a name, and 1 for training, 2 for testing or 0" },
	[LIST_SSV1] = { "ssv1", "Something-Something v1",
	    "a number, or a number, a semicolon and a label" },
	[LIST_SSV2] = { "ssv2", "Something-Something v2 JSON",
	    "[{\"id\":\"1\",\"template\":\"...\"},...]" },
	[LIST_CHARADES] = { "charades", "Charades CSV",
	    "an id, and actions such as c012 3.10 9.80;c059 0.00 5.00" },
	[LIST_CHARADES_FRAMES] = { "charades-frames", "Charades frames",
	    "original_vido_id video_id frame_id path \"label,label\"" },
	[LIST_MMACTION2] = { "mmaction2", "MMAction2 videos, several labels",
	    "a path and one label or more, whole numbers" },
	[LIST_MMACTION2_FRAMES] = { "mmaction2-frames",
	    "MMAction2 frames, several labels",
	    "a folder, the number of its frames, and one label or more" },
	[LIST_MMACTION2_OFFSET] = { "mmaction2-offset",
	    "MMAction2 frames with offset",
	    "a folder, its first frame from 0, the number of frames, and one "
	    "label or more" },
	[LIST_PYSLOWFAST] = { "pyslowfast", "PySlowFast",
	    "a path and a label, or a path, a word and a label" },
	[LIST_TSM] = { "tsm", "frames, as TSM lists them",
	    "a folder, the number of its frames, and a label" },
};

int
list_cut_lines(struct list_lines *l, const char *name, char *text)
{
	size_t cap = 0;
	int number = 0;

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
		l->s = array_reserve(l->s, l->n, &l->cap, sizeof(*l->s));
		l->number = array_reserve(l->number, l->n, &cap,
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
		/* Copy in place without quotes: ${to} never passes ${p}. */
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

/*
 * Return the index of the column whose name is one of ${names}, "a|b", without
 * regard to case; -1 if absent.
 */
static int
list_column(char **field, int n, const char *names)
{
	for (int i = 0; i < n; i++) {
		/* The header may be written as a comment. */
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
list_read_header(const char *line, struct list_layout *y)
{
	static const char seps[] = ",\t;";

	/* The separator is the one that gives known column names. */
	for (const char *s = seps; *s != '\0'; s++) {
		char *copy = xstrdup(line), *field[LIST_FIELDS];
		int n = list_cut_fields(copy, *s, field);

		n = n < LIST_FIELDS ? n : LIST_FIELDS;
		y->sep = *s;
		y->path = list_column(field, n, PATHS);
		y->id = list_column(field, n, "youtube_id|video_id|id");
		/* With a column of paths, only time_start and time_end are
		 * times; a column "start" may be something else. */
		y->start = list_column(field, n, y->path >= 0 ? "time_start" :
		    "time_start|start");
		y->end = list_column(field, n, y->path >= 0 ? "time_end" :
		    "time_end|end");
		y->split = list_column(field, n, "split|subset");
		y->actions = list_column(field, n, "actions");
		y->frame_start = list_column(field, n, "frame_start");
		y->frame_end = list_column(field, n, "frame_end");
		y->set = list_column(field, n, "label_set");
		y->label = list_column(field, n, LABELS);
		if (y->label < 0)
			y->label = list_column(field, n, NUMBERS);
		free(copy);
		y->format = y->path >= 0 ? LIST_CSV : y->id < 0 ? LIST_AUTO :
		    y->start >= 0 && y->end >= 0 ? LIST_KINETICS :
		    y->actions >= 0 ? LIST_CHARADES : LIST_AUTO;
		y->header = y->format != LIST_AUTO;
		if (y->header)
			return 1;
	}
	/* The misspelling is PySlowFast's. */
	if (text_starts(line, "original_vido_id")) {
		y->format = LIST_CHARADES_FRAMES;
		y->header = 1;
	}
	return y->header;
}

/* Return a separator that occurs in every line, or a blank if there is none. */
static char
list_find_separator(const struct list_lines *l)
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

char *
list_hmdb51_class(const char *path)
{
	static const char mark[] = "_test_split";
	const char *base = path_base(path), *at = strstr(base, mark);

	if (at == NULL || at == base || at[strlen(mark)] < '1' ||
	    at[strlen(mark)] > '9' || strcmp(at + strlen(mark) + 1, ".txt") != 0)
		return NULL;
	return xstrndup(base, (size_t)(at - base));
}

/* Match "name.avi 0", 1 or 2. */
static int
list_is_hmdb51(const char *line)
{
	size_t n = strlen(line) - strspn(line, " ");

	line += strlen(line) - n;
	while (n > 0 && line[n - 1] == ' ')
		n--;
	return n > 2 && strchr("012", line[n - 1]) != NULL &&
	    line[n - 2] == ' ';
}

/* Match "123;label", where the label is not a number. */
static int
list_is_ssv1(const char *line)
{
	size_t n = strspn(line, "0123456789");

	return n > 0 && line[n] == ';' && line[n + 1] != '\0' &&
	    strspn(line + n + 1, "0123456789") != strlen(line + n + 1);
}

static int
list_all_lines(const struct list_lines *l, int (*is)(const char *line))
{
	for (size_t i = 0; i < l->n; i++)
		if (!is(l->s[i]))
			return 0;
	return l->n > 0;
}

int
list_cut_words(char *line, char **word)
{
	int n = 0;

	for (;;) {
		char *end = line + strlen(line), *w;

		while (end > line && strchr(" \t", end[-1]) != NULL)
			*--end = '\0';
		for (w = end; w > line && strchr(" \t", w[-1]) == NULL;)
			w--;
		if (w == line || n == LIST_FIELDS ||
		    w[strspn(w, "0123456789")] != '\0')
			break;
		word[n++] = w;
		w[-1] = '\0';
	}
	for (int i = 0; i < n / 2; i++) {	/* found from the end:
						 * reverse */
		char *w = word[i];

		word[i] = word[n - 1 - i];
		word[n - 1 - i] = w;
	}
	return n;
}

/* A file has an extension; a folder of frames has none. */
static int
list_is_file(const char *path)
{
	const char *dot = strrchr(path_base(path), '.');

	return dot != NULL && dot != path_base(path) && dot[1] != '\0';
}

/*
 * Choose the format of a list separated by blanks.  The number of integers
 * after the paths decides, and whether the paths are files or folders.  Report
 * an error where two formats are possible.
 */
static int
list_choose_numbered(const struct list_lines *l, struct list_reading *r)
{
	int min_numbers = LIST_FIELDS, max_numbers = 0, files = 0, few = 0, many = 0;

	for (size_t i = 0; i < l->n; i++) {
		char *copy = xstrdup(l->s[i]), *word[LIST_FIELDS];
		int n = list_cut_words(copy, word);

		if (n < min_numbers)
			few = l->number[i];
		if (n > max_numbers)
			many = l->number[i];
		min_numbers = n < min_numbers ? n : min_numbers;
		max_numbers = n > max_numbers ? n : max_numbers;
		files += list_is_file(copy);
		free(copy);
	}
	r->y.format = LIST_PATH_LABEL;
	if (l->n == 0 || (files > 0 && files < (int)l->n))
		return 0;
	if (files > 0 && min_numbers > 0 && max_numbers > 2)
		r->y.format = LIST_MMACTION2;
	else if (files > 0 && min_numbers == 1 && max_numbers == 2)
		return fail("%s: line %d: two numbers after the path, but one in "
		    "line %d (wanted --annotations-format=mmaction2 for one label or "
		    "more, or path-label for a number of frames and a label)",
		    r->name, many, few);
	else if (files == 0 && min_numbers == 2 && max_numbers == 2)
		r->y.format = LIST_TSM;
	else if (files == 0 && min_numbers == 3 && max_numbers == 3)
		return fail("%s: line %d: a folder and three numbers, in every "
		    "line (wanted --annotations-format=mmaction2-offset for first "
		    "frame, frames and label, or mmaction2-frames for frames "
		    "and two labels)", r->name, l->number[0]);
	else if (files == 0 && min_numbers >= 2)
		r->y.format = LIST_MMACTION2_FRAMES;
	return 0;
}

static int
list_choose(const struct list_lines *l, struct list_reading *r, int header)
{
	char *class = list_hmdb51_class(r->path);
	int hmdb51 = class != NULL && list_all_lines(l, list_is_hmdb51);

	free(class);
	if (header)
		return 0;
	r->y.sep = ' ';
	/* From the most specific format to the most general. */
	if (hmdb51)
		r->y.format = LIST_HMDB51;
	else if (list_all_lines(l, list_is_ucf101))
		r->y.format = LIST_UCF101;
	else if (list_all_lines(l, list_is_ssv1))
		r->y.format = LIST_SSV1;
	else if ((r->y.sep = list_find_separator(l)) == ' ')
		return list_choose_numbered(l, r);
	else
		r->y.format = LIST_PATH_LABEL;
	return 0;
}

static int
list_has_header(enum list_format f)
{
	return f == LIST_CSV || f == LIST_KINETICS || f == LIST_CHARADES ||
	    f == LIST_CHARADES_FRAMES;
}

/* Check that the header, if any, has the columns of the requested format. */
static int
list_check_header(const struct list_reading *r, enum list_format requested)
{
	const struct list_layout *y = &r->y;

	if (y->header && (y->format == requested || (requested == LIST_KINETICS &&
	    y->id >= 0 && y->start >= 0 && y->end >= 0)))
		return 0;
	return fail("%s: line 1: no header of %s (wanted %s)", r->name,
	    list_kind[requested].title, list_kind[requested].wanted);
}

int
list_choose_layout(const struct list_lines *l, struct list_reading *r)
{
	enum list_format requested = r->how->format;
	int header = l->n > 0 && list_read_header(l->s[0], &r->y);

	r->y.group = -1;
	if (header && r->how->group != NULL) {
		char *copy = xstrdup(l->s[0]), *field[LIST_FIELDS];

		r->y.group = list_column(field, list_cut_fields(copy, r->y.sep,
		    field), r->how->group);
		free(copy);
	}
	if (requested == LIST_AUTO)
		return list_choose(l, r, header);
	if (list_has_header(requested) && list_check_header(r, requested) != 0)
		return -1;
	r->y.format = requested;
	if (list_has_header(requested))
		return 0;
	r->y.header = 0;
	r->y.sep = requested == LIST_PATH_LABEL ? list_find_separator(l) : ' ';
	return 0;
}
