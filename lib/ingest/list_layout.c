/*
 * Detect the format of an annotation list, and split its text into lines,
 * fields and words.
 */
#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "ingest/list_layout.h"

#define Q text_quote
#define HEADER_LINES 20		/* in which a header is looked for */

const struct list_kind list_kind[LIST_FORMATS] = {
	[LIST_AUTO] = { "auto", "", "" },
	[LIST_PATH_LABEL] = { "path-label", "path and label",
	    "path and label, or path, frames and label" },
	[LIST_CSV] = { "csv", "CSV",
	    "a column path, file, filename or video" },
	[LIST_KINETICS] = { "kinetics", "Kinetics CSV",
	    "label,youtube_id,time_start,time_end" },
	[LIST_HACS] = { "hacs", "HACS Clips CSV",
	    "classname,youtube_id,subset,start,end,label" },
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
	char *end;

	/* Excel writes the separator as a line of its own. */
	if (text_starts(text, "sep=")) {
		text += strcspn(text, "\n");
		number += *text == '\n';
		text += *text == '\n';
	}
	for (char *next; *text != '\0'; text = next) {
		next = text + strcspn(text, "\n");
		if (*next != '\0')
			*next++ = '\0';
		number++;
		if (text_chomp(text) != 0)
			return fail("%s: line %d: a carriage return within the "
			    "line (wanted newlines, as tr '\\r' '\\n' makes "
			    "them)", name, number);
		for (end = text + strlen(text); end > text && end[-1] == ' ';)
			*--end = '\0';
		if (text[strspn(text, " \t")] == '\0')
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
list_cut_fields(char *line, char sep, struct list_fields *f)
{
	const char *blanks = sep == '\t' ? " " : " \t";

	f->n = 0;
	for (char *p = line;;) {
		char *to, *start, *text;
		int quoted;

		p += strspn(p, blanks);
		if (sep == ' ' && *p == '\0' && f->n > 0)
			return 0;
		to = start = text = p;
		quoted = *p == '"';
		p += quoted;
		/* Copy in place without quotes: ${to} never passes ${p}. */
		for (; *p != '\0'; p++) {
			if (quoted && p[0] == '"' && p[1] == '"')
				p++;
			else if (quoted && *p == '"') {
				quoted = 0;
				text = to;
				continue;
			} else if (!quoted && (*p == sep || (sep == ' ' &&
			    *p == '\t')))
				break;
			*to++ = *p;
		}
		if (quoted)
			return -1;
		while (to > text && strchr(blanks, to[-1]) != NULL)
			to--;
		f->s = array_reserve(f->s, (size_t)f->n, &f->cap,
		    sizeof(*f->s));
		f->s[f->n++] = start;
		quoted = *p++ == '\0';
		*to = '\0';
		if (quoted)
			return 0;
	}
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
	    at[strlen(mark)] > '9' || strcmp(at + strlen(mark) + 1,
	    ".txt") != 0)
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

void
list_cut_words(char *line, struct list_fields *f)
{
	for (f->n = 0;;) {
		char *end = line + strlen(line), *w;

		while (end > line && strchr(" \t", end[-1]) != NULL)
			*--end = '\0';
		for (w = end; w > line && strchr(" \t", w[-1]) == NULL;)
			w--;
		if (w == line || w[strspn(w, "0123456789")] != '\0')
			break;
		f->s = array_reserve(f->s, (size_t)f->n, &f->cap,
		    sizeof(*f->s));
		f->s[f->n++] = w;
		w[-1] = '\0';
	}
	for (int i = 0; i < f->n / 2; i++) {	/* found from the end:
						 * reverse */
		char *w = f->s[i];

		f->s[i] = f->s[f->n - 1 - i];
		f->s[f->n - 1 - i] = w;
	}
}

int
list_is_file(const char *word)
{
	const char *base = path_base(word), *dot = strrchr(base, '.');
	size_t n = dot != NULL ? strlen(dot + 1) : 0;
	int letters = 0;

	for (size_t i = 1; i <= n; i++) {
		if (!isalnum((unsigned char)dot[i]))
			return 0;
		letters += isalpha((unsigned char)dot[i]) != 0;
	}
	return dot != base && n <= 5 && letters > 0;
}

/*
 * Refuse lines with more after a path than numbers, or a label, or a number and
 * a label.  A path may contain blanks: then it exists, or no word before its
 * last one looks like a file.
 */
static int
list_check_words(const struct list_lines *l, struct list_reading *r)
{
	int result = 0;

	for (size_t i = 0; i < l->n && result == 0; i++) {
		char *copy = xstrdup(l->s[i]), *file = NULL, *path;
		int after = 0, names = 0;

		if (list_cut_fields(copy, ' ', &r->cell) != 0)
			r->cell.n = 0;
		for (int k = 0; k < r->cell.n; k++) {
			char *s = r->cell.s[k];
			int is_file = list_is_file(s);

			file = is_file ? s : file;
			after = is_file ? 0 : after + 1;
			/* The last word may be a name: it is the label. */
			names = is_file ? 0 : names + (k < r->cell.n - 1 &&
			    s[strspn(s, "0123456789")] != '\0');
		}
		if (file != NULL && (names > 0 || (after > 2 &&
		    list_whole(r->cell.s[r->cell.n - 1]) == 0))) {
			size_t n = strlen(l->s[i]);
			char *cut;

			while (strchr(" \t", l->s[i][n - 1]) == NULL)
				n--;
			cut = xstrndup(l->s[i], n - 1);
			path = list_place(r, cut);
			free(cut);
			if (access(path, F_OK) != 0)
				result = fail("%s: line %d: %d words after %s "
				    "(wanted a label, or a number of frames "
				    "and a label; for times, a first line "
				    "such as \"path label time_start "
				    "time_end\")", r->name, l->number[i], after,
				    Q(file));
			free(path);
		}
		free(copy);
	}
	return result;
}

/*
 * Choose the format of a list separated by blanks.  The number of integers
 * after the paths decides, and whether the paths are files or folders.  Report
 * an error where two formats are possible.
 */
static int
list_choose_numbered(const struct list_lines *l, struct list_reading *r)
{
	int min_numbers = INT_MAX, max_numbers = 0, files = 0, few = 0,
	    many = 0;
	int parts = 0;

	for (size_t i = 0; i < l->n; i++) {
		char *copy = xstrdup(l->s[i]), **s;
		int n;

		list_cut_words(copy, &r->cell);
		n = r->cell.n;
		s = r->cell.s;
		if (n < min_numbers)
			few = l->number[i];
		if (n > max_numbers)
			many = l->number[i];
		min_numbers = n < min_numbers ? n : min_numbers;
		max_numbers = n > max_numbers ? n : max_numbers;
		files += list_is_file(copy);
		parts += n == 3 && atoll(s[1]) < atoll(s[2]);
		free(copy);
	}
	r->y.format = LIST_PATH_LABEL;
	if (l->n == 0 || (files > 0 && files < (int)l->n))
		return 0;
	if (files > 0 && min_numbers == 3 && parts == (int)l->n)
		return fail("%s: line %d: a file and three numbers, the third "
		    "above the second, in every line (wanted --annotations-"
		    "format=mmaction2 for three labels; for DALI's parts, the "
		    "first line \"path label frame_start frame_end\")",
		    r->name, l->number[0]);
	if (files > 0 && min_numbers > 0 && max_numbers > 2)
		r->y.format = LIST_MMACTION2;
	else if (files > 0 && min_numbers == 1 && max_numbers == 2)
		return fail("%s: line %d: two numbers after the path, but "
		    "one in line %d (wanted --annotations-format=mmaction2 for "
		    "one label or more, or path-label for a number of frames "
		    "and a label)", r->name, many, few);
	else if (files == 0 && min_numbers == 2 && max_numbers == 2)
		r->y.format = LIST_TSM;
	else if (files == 0 && min_numbers == 3 && max_numbers == 3)
		return fail("%s: line %d: a folder and three numbers, in every "
		    "line (wanted --annotations-format=mmaction2-offset for "
		    "first frame, frames and label, or mmaction2-frames for "
		    "frames and two labels)", r->name, l->number[0]);
	else if (files == 0 && min_numbers >= 2)
		r->y.format = LIST_MMACTION2_FRAMES;
	return 0;
}

/*
 * Check a list without a known header that is separated by r->y.sep: its lines
 * have equally many fields, at most three, and the first one is not a header
 * of other names.
 */
static int
list_choose_separated(const struct list_lines *l, struct list_reading *r)
{
	int fields = 0, first = -1, others = -1;	/* fields; the path */

	r->y.format = LIST_PATH_LABEL;
	for (size_t i = 0; i < l->n; i++) {
		char *copy = xstrdup(l->s[i]);
		int at = -1;

		if (list_cut_fields(copy, r->y.sep, &r->cell) != 0)
			r->cell.n = 0;
		for (int k = r->cell.n - 1; k >= 0; k--)
			at = list_is_file(r->cell.s[k]) ? k : at;
		free(copy);
		if (i == 0) {
			first = at;
			fields = r->cell.n;
		}
		others = i == 1 || at == others ? at : -1;
		if (r->cell.n == fields || r->cell.n == 0)
			continue;
		return fail("%s: line %d: %d fields, but %d in line %d (wanted "
		    "equally many; several labels with blanks between them, as "
		    "tr , ' ' makes them, are --annotations-format=mmaction2)",
		    r->name, l->number[i], r->cell.n, fields, l->number[0]);
	}
	if (first < 0 && others >= 0)
		return fail("%s: line 1: %s: a header without a name that vt "
		    "reads (wanted one of %s)", r->name, Q(l->s[0]),
		    list_columns_names(COLUMN_PATH));
	if (first > 0 && (l->n == 1 || others == first))
		return fail("%s: line 1: the path is field %d (wanted it "
		    "first, or a line above that names the fields, such as "
		    "label,path)", r->name, first + 1);
	if (fields > 3)
		return fail("%s: line %d: %d fields without a header that vt "
		    "knows (wanted path and label, which cut -d, -f1,2 keeps; "
		    "or names such as path,label,time_start,time_end in "
		    "line 1)", r->name, l->number[0], fields);
	return 0;
}

static int
list_choose(const struct list_lines *l, struct list_reading *r, int header)
{
	char *class = list_hmdb51_class(r->path);
	int hmdb51 = class != NULL && list_all_lines(l, list_is_hmdb51);

	free(class);
	if (header > 0)
		return 0;
	if (header < 0)
		return fail("%s: line 1: %s: a header without the videos "
		    "(wanted a column %s)", r->name, Q(l->s[0]),
		    list_columns_names(COLUMN_PATH));
	for (size_t i = 1; i < l->n && i < HEADER_LINES; i++)
		if (list_columns_read(r, l->s[i]) != 0)
			return fail("%s: line %d: a header (wanted it in "
			    "line 1, without lines above it)", r->name,
			    l->number[i]);
	r->y.sep = ' ';
	/* From the most specific format to the most general. */
	if (hmdb51)
		r->y.format = LIST_HMDB51;
	else if (list_all_lines(l, list_is_ucf101))
		r->y.format = LIST_UCF101;
	else if (list_all_lines(l, list_is_ssv1))
		r->y.format = LIST_SSV1;
	else if (list_foreign_lines(r, l))
		return -1;
	else if (l->n > 0 && text_starts(l->s[0], "# "))
		return fail("%s: line 1: a comment (wanted lines of videos and "
		    "labels, without those that begin with #)", r->name);
	else if ((r->y.sep = list_find_separator(l)) == ' ')
		return list_check_words(l, r) != 0 ? -1 :
		    list_choose_numbered(l, r);
	else
		return list_choose_separated(l, r);
	return 0;
}

static int
list_has_header(enum list_format f)
{
	return f == LIST_CSV || f == LIST_KINETICS || f == LIST_HACS ||
	    f == LIST_CHARADES || f == LIST_CHARADES_FRAMES;
}

/* Check that the header, if any, has the columns of the requested format. */
static int
list_check_header(const struct list_reading *r, enum list_format requested)
{
	const struct list_layout *y = &r->y;

	if (y->header && (y->format == requested ||
	    (requested == LIST_KINETICS && y->at[COLUMN_ID] >= 0 &&
	    y->at[COLUMN_BEGIN] >= 0 && y->at[COLUMN_END] >= 0)))
		return 0;
	return fail("%s: line 1: no header of %s (wanted %s)", r->name,
	    list_kind[requested].title, list_kind[requested].wanted);
}

int
list_choose_layout(const struct list_lines *l, struct list_reading *r)
{
	enum list_format requested = r->how->format;
	int header = l->n > 0 ? list_columns_read(r, l->s[0]) : 0;

	if (requested == LIST_AUTO)
		return list_choose(l, r, header);
	if (list_has_header(requested) && list_check_header(r, requested) != 0)
		return -1;
	r->y.format = requested;
	if (list_has_header(requested))
		return 0;
	r->y.header = 0;
	r->head.n = 0;
	r->y.sep = requested == LIST_PATH_LABEL ? list_find_separator(l) : ' ';
	return 0;
}
