#ifndef INGEST_LIST_FORMAT_H
#define INGEST_LIST_FORMAT_H

/*
 * Internal interface of the readers of lists: the formats, lists/NAME.c, and
 * what they share, list*.c.
 */

#include "base/json.h"
#include "base/mem.h"
#include "ingest/list.h"

#define LIST_CODES 157		/* classes of Charades, c000 to c156 */
#define LIST_TIME_MAX 1e6	/* seconds, longer than any video */

/*
 * The non-empty lines of a list and their numbers.  They point into its text.
 */
struct list_lines { char **s; int *number; size_t n, cap; };

/* The cells or words of a line.  They point into it. */
struct list_fields { char **s; int n; size_t cap; };

/*
 * The meanings of columns, for which list_columns.c has the names.  BEGIN and
 * END are times, BEGIN_FRAME and END_FRAME numbers of frames.  LENGTH, INSTANT
 * and HINT are not read, but show that a list has times under other names.
 */
enum list_column { COLUMN_PATH, COLUMN_ID, COLUMN_LABEL, COLUMN_SET,
	COLUMN_SPLIT, COLUMN_ACTIONS, COLUMN_BEGIN, COLUMN_END,
	COLUMN_BEGIN_FRAME, COLUMN_END_FRAME, COLUMN_GROUP, COLUMN_VOTE,
	COLUMN_NAME, COLUMN_FRAMES, COLUMN_READ, COLUMN_LENGTH = COLUMN_READ,
	COLUMN_INSTANT, COLUMN_HINT, COLUMNS };

/*
 * Integers after the paths of a list that is separated by blanks: the smallest
 * and the largest number of them in a line, and the lines ${few} and ${many}
 * that have these.  ${parts} lines have three, the third above the second.
 * ${files} paths have an extension.  All 0 if another separator is used, or if
 * only a part of the paths has an extension.
 */
struct list_numbers { int min, max, few, many, parts, files; };

struct list_format;

/* The state of reading one list. */
struct list_reading {
	struct list *l;
	const struct list_how *how;
	const char *path, *name;	/* path of the file; its name in
					 * messages */
	const struct list_format *format;

	struct buffer text;		/* cut into lines, and these into
					 * cells */
	struct json *json;		/* the text, or NULL */
	struct list_lines lines;
	size_t next;			/* index of the next line to read */
	int line;			/* number of the current line */
	char sep;			/* between fields; ' ': blanks */
	struct list_fields cell;	/* fields of the current line */
	struct list_numbers numbers;

	const char *head_line;
	char *head_text;
	struct list_fields head;	/* names of the columns; none without a
					 * header */
	int at[COLUMNS];		/* index of each column, or -1 */
	double per_second[2];		/* units of BEGIN and END in a second;
					 * 0: not known */

	int skipped;			/* rows of other subsets */
	int against;			/* rows of HACS that say "not this
					 * class" */
	struct buffer tried;		/* names tried for the current video */
	int counted;			/* first line whose frame count will be
					 * checked, or 0 */
	int ignored;			/* first line whose middle field is
					 * ignored, or 0 */
	struct buffer unused;		/* columns that are not read */
};

/* ---- formats: lists/NAME.c ---- */

/*
 * Stages of detection, from the most specific to the most general, and what
 * struct list_reading has in each:
 * TEXT: text, and json if it is JSON;
 * COLUMNS: lines, head, at and per_second;
 * LINES: lines;
 * NUMBERS: lines, sep and numbers.
 */
enum list_stage { LIST_BY_TEXT, LIST_BY_COLUMNS, LIST_BY_LINES,
	LIST_BY_NUMBERS };

enum {
	LIST_HOLDS_SPLIT = 1,		/* subsets without a column of them */
	LIST_HOLDS_DIGIT_NAMES = 2	/* names of classes that are numbers, if
					 * the user names the format, or its
					 * text does */
};

/*
 * A format of lists, a row of lists/formats.def.
 *
 * detect(r): Return 1 if the list has this format, 0 if not, or -1 after a
 * message if it is ambiguous.
 *
 * read(r): Append the rows of the list to r->l.  Return 0, or -1 after a
 * message.  The stage of detection decides what is cut: a text, or lines that
 * list_next_line and list_next_row return.
 */
struct list_format {
	const char *name, *title, *wanted;
	enum list_stage by;
	unsigned holds;			/* LIST_HOLDS_SPLIT ... */
	int (*detect)(struct list_reading *r);
	int (*read)(struct list_reading *r);
};

#define LIST_FORMAT(id, name, by, holds, title, wanted) \
	int id##_detect(struct list_reading *r); \
	int id##_read(struct list_reading *r);
#include "ingest/lists/formats.def"

/* ---- list.c ---- */

/*
 * list_append(l, path, file, line):
 * Append a row and return it.  The list takes ${path}; ${file} may be NULL.
 * The pointer is valid until the next row is added.
 */
struct list_row *list_append(struct list *l, char *path, const char *file,
    int line);

/*
 * list_row_add(r, label): Add a label, of which the list takes the text.
 *
 * list_row_interval(r, text, unit, from, to):
 * Add class ${text} to the set of row ${r}, shown from ${from} to ${to},
 * inclusive, in ${unit}.
 */
void list_row_add(struct list_row *r, struct list_label label);
void list_row_interval(struct list_row *r, const char *text,
    enum list_unit unit, double from, double to);

/*
 * list_column_of_labels(l, name):
 * Return the index in l->column of ${name}, which is added if it is new.
 */
int list_column_of_labels(struct list *l, const char *name);

/*
 * list_code_class(text, class):
 * Set ${*class} to the number of a code of Charades, c000 to c156.  Return 0,
 * or -1 without a message if ${text} is none.
 */
int list_code_class(const char *text, int64_t *class);

/*
 * list_name(l, file):
 * Return the name of ${file} for messages.  ${l} owns it.
 */
const char *list_name(struct list *l, const char *file);

/* ---- list_cut.c ---- */

/*
 * list_cut_lines(l, name, text):
 * Split ${text} in place into its non-empty lines, ${l}, without line ends.
 * Return 0, or -1 after a message if a line contains a carriage return.  The
 * caller frees the arrays of ${l}.
 */
int list_cut_lines(struct list_lines *l, const char *name, char *text);

/*
 * list_cut_fields(line, sep, f):
 * Split ${line} in place at ${sep}, or at runs of blanks, into ${f}.  Remove
 * the blanks around a cell and its quotes; within quotes, "" stands for one
 * quote and blanks are kept.  The caller frees f->s.
 * Return 0, or -1 without a message if a quote does not end.
 */
int list_cut_fields(char *line, char sep, struct list_fields *f);

/*
 * list_cut_cells(r, line):
 * Split ${line} at r->sep into r->cell.  Return 0, or -1 after a message.
 */
int list_cut_cells(struct list_reading *r, char *line);

/*
 * list_cut_last_word(line):
 * Cut the last word and the blanks before it off ${line}, and return it.
 * Return NULL if there is only one word.  Words are cut from the end because a
 * path may contain blanks.
 */
char *list_cut_last_word(char *line);

/*
 * list_cut_numbers(line, f):
 * Split ${line}, separated by blanks, in place into a path and the integers
 * after it, ${f}.  The path, which keeps at least the first word, is what
 * remains in ${line}.  The caller frees f->s.
 */
void list_cut_numbers(char *line, struct list_fields *f);

/*
 * list_is_file(word):
 * Return 1 if the last component of ${word} ends with an extension, as in
 * a.mp4.  Numbers such as 0.5 have none, and folders of frames seldom have one.
 */
int list_is_file(const char *word);

/*
 * list_all_lines(l, is):
 * Return 1 if ${l} has lines and ${is} is true of each, otherwise 0.
 *
 * list_next_line(r):
 * Return the next line and set r->line to its number, or return NULL after the
 * last one.  The caller may cut it.
 */
int list_all_lines(const struct list_lines *l, int (*is)(const char *line));
char *list_next_line(struct list_reading *r);

/*
 * list_by_bytes(a, b): Compare two strings for qsort.
 * list_distinct(text, n): Sort the ${n} strings by bytes, leave each different
 * one once, and return their number.
 */
int list_by_bytes(const void *a, const void *b);
size_t list_distinct(const char **text, size_t n);

/* ---- list_detect.c ---- */

/*
 * list_detect(r):
 * Set r->format, to what the user named or to the first format that is
 * detected, and cut the text into lines unless it is a text of one piece.
 * Return 0, or -1 after a message, also if the format is ambiguous.
 */
int list_detect(struct list_reading *r);

/*
 * list_detect_by(r, stage):
 * Set r->format to the first format of ${stage} that the list has, or leave it.
 * Return 0, or -1 after a message.
 */
int list_detect_by(struct list_reading *r, enum list_stage stage);

/* The formats, in the order of list_format_choices; the name of the last one is
 * NULL. */
extern const struct list_format list_formats[];

/* ---- list_number.c ---- */

/*
 * list_whole(text):
 * Return the length of the integer at the beginning of ${text} if nothing but a
 * point and zeros follows it, as programs write integers in columns of floats.
 * Return 0 if ${text} is not an integer.
 */
size_t list_whole(const char *text);

/* ---- list_columns.c ---- */

/*
 * list_columns_read(r, line):
 * If ${line} is a header, set r->head, r->at, r->sep and the format that they
 * give.  Return 1 if it is.  Otherwise drop the columns, and return -1 if it is
 * a header without a column of videos, 0 if it is none.
 *
 * list_columns_drop(r): Let the list have no columns.
 *
 * list_columns_check(r):
 * Check the columns and the times in the lines, of which the first is the
 * header, and note the columns that are not read.  Return 0, or -1 after a
 * message, also if two columns have one meaning.
 *
 * list_columns_names(column):
 * Return the names of ${column}, for messages.  Valid until the next call by
 * this thread.
 */
int list_columns_read(struct list_reading *r, const char *line);
void list_columns_drop(struct list_reading *r);
int list_columns_check(struct list_reading *r);
const char *list_columns_names(enum list_column column);

/*
 * list_labels_name(cell, set):
 * Return the name of a column of labels, "verb" of "label:verb" and
 * "label_set:verb", and set ${*set} to 1 for the second; NULL for another cell.
 *
 * list_column_of(cell): Return the enum list_column that ${cell} of a header
 * names, or -1.
 * list_cell(r, column): Return the cell of the current row, "" if the list has
 * no such column.
 * list_named(r, name): The same for the column ${name} of r->head.
 * list_named_at(r, name): Return the index of this column, or -1.
 * list_column_name(r, column): Return the quoted name of a column that the list
 * has.
 */
const char *list_labels_name(const char *cell, int *set);
int list_column_of(const char *cell);
char *list_cell(const struct list_reading *r, enum list_column column);
char *list_named(const struct list_reading *r, const char *name);
int list_named_at(const struct list_reading *r, const char *name);
const char *list_column_name(const struct list_reading *r,
    enum list_column column);

/*
 * list_next_row(r):
 * Split the next line that has a cell into r->cell.  Return 1, 0 after the last
 * line, or -1 after a message if the line has more cells than the header or
 * lacks a column that is read.
 */
int list_next_row(struct list_reading *r);

/* ---- list_times.c ---- */

/*
 * list_has_times(r): Return 1 if the list has columns BEGIN and END.
 * list_times_are_seconds(r): Set the unit of times whose columns state none.
 */
int list_has_times(const struct list_reading *r);
void list_times_are_seconds(struct list_reading *r);

/*
 * list_times_find_unit(r):
 * Find the unit of times whose columns state none: seconds if one of their
 * values has a decimal mark or a colon.  Return 0, or -1 after a message if the
 * unit is not known.
 *
 * list_times_check_hints(r):
 * Refuse a list of whole videos with a column that is not read but has a name
 * and values of times.  Return 0, or -1 after a message.
 */
int list_times_find_unit(struct list_reading *r);
int list_times_check_hints(struct list_reading *r);

/*
 * list_times_part(r, p):
 * Set the part of the video that the current row selects, in seconds or in
 * frames.  Return 0, or -1 after a message.
 */
int list_times_part(const struct list_reading *r, struct list_part *p);

/* ---- list_foreign.c ---- */

/*
 * list_is_json(text):
 * Return 1 if ${text} begins like a JSON object or array, otherwise 0.
 */
int list_is_json(const char *text);

/*
 * list_is_xml(text, begin):
 * Return 1 if ${begin} follows the declarations of the XML document ${text}.
 */
int list_is_xml(const char *text, const char *begin);

/*
 * list_foreign_read(path, name, wanted, b):
 * Read the text ${path} into ${b} as file_read_text does.  Name binary formats
 * of other programs.  Return 0, or -1 after a message.
 *
 * list_foreign(name, text):
 * Refuse ${text} that begins as a file of another program: markup, JSON,
 * subtitles, exports of labeling tools.  Return 1 after a message that names
 * the format and the way to a list, otherwise 0.
 *
 * list_foreign_lines(r):
 * The same for lists without a header, of which all lines look alike.
 */
int list_foreign_read(const char *path, const char *name, const char *wanted,
    struct buffer *b);
int list_foreign(const char *name, const char *text);
int list_foreign_lines(const struct list_reading *r);

/* ---- list_background.c ---- */

/*
 * list_background(l, first, label):
 * Append a row of class ${label} for each gap between the parts of one video
 * that has at least a second or 16 frames.  Only row ${first} and the rows
 * after it count.
 */
void list_background(struct list *l, size_t first, const char *label);

/* ---- list_cells.c ---- */

/*
 * list_cells(r, row):
 * Set what further columns of the current row give ${row}: its split, group,
 * name, claimed frames and labels.  Return 0, or -1 after a message.
 *
 * list_cells_read(r, named, find):
 * Append all rows of a list with columns.  ${find} appends the row of a video:
 * its cell in column ${named}, its label or NULL, and the part that is selected
 * of it.  Return 0, or -1 after a message.
 */
int list_cells(struct list_reading *r, struct list_row *row);
int list_cells_read(struct list_reading *r, enum list_column named,
    struct list_row *(*find)(struct list_reading *r, const char *name,
    const char *label, const struct list_part *part));

/* ---- list_numbers.c ---- */

/*
 * list_numbers_count(r): Set r->numbers from the lines.
 *
 * list_numbers_read(r, offset, frames, several):
 * Append all rows of a list of paths and integers: the number of the first
 * frame if ${offset} is 1, the number of frames if ${frames} is 1, then one
 * label, or at least one if ${several} is 1.  Return 0, or -1 after a message.
 */
void list_numbers_count(struct list_reading *r);
int list_numbers_read(struct list_reading *r, int offset, int frames,
    int several);

/* ---- list_find.c ---- */

/*
 * list_place(r, path):
 * Return ${path} joined to the root of the list, or unchanged if it is absolute
 * or there is no root.  The caller frees it.
 *
 * list_try(r, below):
 * Return the path of ${below} under the root if it exists.  Otherwise record
 * the name in r->tried and return NULL.  The caller frees it.
 *
 * list_try_endings(r, id):
 * The same for the first that exists of ID.mp4, ID.webm, ID.mkv, ID.avi and the
 * folder ID.
 *
 * list_found(r, path, below):
 * Append a row without a label for the video at ${path}, which the list takes.
 * If ${path} is NULL, use ${below} under the root, which does not exist, and
 * store the names that were tried in the row.
 */
char *list_place(const struct list_reading *r, const char *path);
char *list_try(struct list_reading *r, const char *below);
char *list_try_endings(struct list_reading *r, const char *id);
struct list_row *list_found(struct list_reading *r, char *path,
    const char *below);

/*
 * list_find(r, id, ending):
 * Append a row called ${id} without a label for a clip, which the list names
 * without an extension: the first of list_try_endings that exists, or ${id}
 * with ${ending}.
 *
 * list_find_class(r, id, class, in_class):
 * Append a row without a label for a whole video of ActivityNet or HACS:
 * CLASS/v_ID.mp4, with blanks or '_' in the class, v_ID.mp4 or ID.mp4, or one
 * with another extension.  If none exists, it is the first of them with
 * ${in_class}, v_ID.mp4 without.
 *
 * list_find_media(r, path):
 * Append a row without a label for a file that a tool names by ${path}, perhaps
 * of another machine: ${path}, or its last component if there is no such file.
 *
 * list_find_path(r, path):
 * Append a row without a label for ${path}.  If there is no such file and
 * ${path} has no extension, try those of list_find.
 */
struct list_row *list_find(struct list_reading *r, const char *id,
    const char *ending);
struct list_row *list_find_class(struct list_reading *r, const char *id,
    const char *class, int in_class);
struct list_row *list_find_media(struct list_reading *r, const char *path);
struct list_row *list_find_path(struct list_reading *r, const char *path);

/* list_decode(text): Decode %XX of addresses in ${text}, in place. */
void list_decode(char *text);

/*
 * list_select(r, row, part):
 * Select ${part} of the video of ${row}, the current one.  Its key ends with
 * the part, unless it has frames and the cell of its first frame is empty.
 */
void list_select(const struct list_reading *r, struct list_row *row,
    const struct list_part *part);

/* ---- list_keys.c ---- */

/*
 * list_part_suffix(row):
 * Return the end of the key of a row: "" without a part in its key.  Kinetics
 * names its clips so: "_SSSSSS_EEEEEE" in whole seconds, or in milliseconds
 * with "ms" after them.  Frames are "_fFFFFFF_fFFFFFF".  The caller frees the
 * text.
 */
char *list_part_suffix(const struct list_row *row);

/* ---- list_read.c ---- */

/*
 * list_broken(r, found):
 * Report the current line: ${found} was found in it, and what its format wants.
 * Return -1.
 */
int list_broken(const struct list_reading *r, const char *found);

/*
 * list_take(r, subset):
 * Return 1 if rows of ${subset} ("" or NULL: none) are wanted, or have gaps
 * between them.  Otherwise count the row as skipped and return 0.
 */
int list_take(struct list_reading *r, const char *subset);

#endif
