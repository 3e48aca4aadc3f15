#ifndef INGEST_LIST_LAYOUT_H
#define INGEST_LIST_LAYOUT_H

/* Internal interface of the list readers, the files list*.c. */

#include "base/mem.h"
#include "ingest/list.h"

#define LIST_CODES 157		/* classes of Charades, c000 to c156 */

/*
 * The non-empty lines of a list and their numbers.  They point into its text.
 */
struct list_lines { char **s; int *number; size_t n, cap; };

/*
 * A format: its name for --annotations-format, its title for notes, and a
 * description of a correct line for errors.
 */
struct list_kind { const char *name, *title, *wanted; };
extern const struct list_kind list_kind[LIST_FORMATS];

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
	COLUMN_READ, COLUMN_LENGTH = COLUMN_READ, COLUMN_INSTANT, COLUMN_HINT,
	COLUMNS };

/* How the lines of a list are divided. */
struct list_layout {
	enum list_format format;
	char sep;		/* between fields; ' ': blanks */
	int header;		/* 1: the first line is a header */
	int at[COLUMNS];	/* index of each column, or -1 */
	double per_second[2];	/* units of BEGIN and END in a second; 0: not
				 * known */
};

/* The state of reading one list. */
struct list_reading {
	struct list *l;
	const struct list_how *how;
	const char *path, *name;	/* path of the file; its name in
					 * messages */
	struct list_layout y;
	char *head_text;
	struct list_fields head;	/* names of the columns */
	struct list_fields cell;	/* fields of the current line */
	int line;			/* number of the current line */
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

/* ---- list.c ---- */

/*
 * list_append(l, path, label, file, line):
 * Append a row and return it.  The list takes ${path} and ${label}; ${label}
 * and ${file} may be NULL.  The pointer is valid until the next row is added.
 */
struct list_row *list_append(struct list *l, char *path, char *label,
    const char *file, int line);

/*
 * list_row_label(r, text, unit, from, to):
 * Add class ${text} to the set of row ${r}, shown from ${from} to ${to},
 * inclusive, in ${unit}.
 */
void list_row_label(struct list_row *r, const char *text, enum list_unit unit,
    double from, double to);

/*
 * list_name(l, file):
 * Return the name of ${file} for messages.  ${l} owns it.
 */
const char *list_name(struct list *l, const char *file);

/* ---- list_layout.c ---- */

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
 * list_cut_words(line, f):
 * Split ${line}, separated by blanks, in place into a path and the integers
 * after it, ${f}.  The path, which keeps at least the first word, is what
 * remains in ${line}.  The caller frees f->s.
 */
void list_cut_words(char *line, struct list_fields *f);

/*
 * list_is_file(word):
 * Return 1 if the last component of ${word} ends with an extension, as in
 * a.mp4.  Numbers such as 0.5 have none, and folders of frames seldom have one.
 */
int list_is_file(const char *word);

/*
 * list_is_ucf101(line):
 * Return 1 if ${line} is Class/v_Class_gNN_cNN.avi, alone or with a number from
 * 1 to 101 after it.
 */
int list_is_ucf101(const char *line);

/*
 * list_hmdb51_class(path):
 * Return the class of a file that is called CLASS_test_splitK.txt; NULL without
 * a message for another name.  The caller frees it.
 */
char *list_hmdb51_class(const char *path);

/*
 * list_choose_layout(l, r):
 * Set r->y, the format and the columns.  For LIST_AUTO, a header line decides
 * first, then file names and lines of known datasets, then the integers after
 * the paths; the fallback is path and label.
 * Return 0, or -1 after a message, also if the format is ambiguous.
 */
int list_choose_layout(const struct list_lines *l, struct list_reading *r);

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
 * If ${line} is a header, set r->head, the columns, the separator and the
 * format that they give.  Return 1 if it is, -1 if it is one without a column
 * of videos, otherwise 0.
 *
 * list_columns_check(r, l):
 * Check the columns and the times in the lines ${l}, of which the first is the
 * header, and note the columns that are not read.  Return 0, or -1 after a
 * message, also if two columns have one meaning.
 *
 * list_columns_names(column):
 * Return the names of ${column}, for messages.  Valid until the next call by
 * this thread.
 */
int list_columns_read(struct list_reading *r, const char *line);
int list_columns_check(struct list_reading *r, const struct list_lines *l);
const char *list_columns_names(enum list_column column);

/*
 * list_columns_row(r, line):
 * Split ${line} into r->cell.  Return 0, or -1 after a message if it has more
 * cells than the header or lacks a column that is read, and 1 if all its cells
 * are empty.
 */
int list_columns_row(struct list_reading *r, char *line);

/*
 * list_column_of(cell): Return the enum list_column that ${cell} of a header
 * names, or -1.
 * list_cell(r, column): Return the cell of the current row, "" if the list has
 * no such column.
 * list_column_name(r, column): Return the quoted name of a column that the list
 * has.
 */
int list_column_of(const char *cell);
char *list_cell(const struct list_reading *r, enum list_column column);
const char *list_column_name(const struct list_reading *r,
    enum list_column column);

/* ---- list_times.c ---- */

/*
 * list_times_find_unit(r, l):
 * Find the unit of times whose columns state none: seconds if one of their
 * values has a decimal mark or a colon, or if the format says so.  ${l} begins
 * with the header.  Return 0, or -1 after a message if the unit is not known.
 *
 * list_times_check_hints(r, l):
 * Refuse a list of whole videos with a column that is not read but has a name
 * and values of times.  Return 0, or -1 after a message.
 */
int list_times_find_unit(struct list_reading *r, const struct list_lines *l);
int list_times_check_hints(struct list_reading *r, const struct list_lines *l);

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
 * list_foreign_read(path, name, wanted, b):
 * Read the text ${path} into ${b} as file_read_text does.  Name binary formats
 * of other programs.  Return 0, or -1 after a message.
 *
 * list_foreign(name, text):
 * Refuse ${text} that begins as a file of another program: markup, JSON,
 * subtitles, exports of labeling tools.  Return 1 after a message that names
 * the format and the way to a list, otherwise 0.
 *
 * list_foreign_lines(r, l):
 * The same for lists without a header, of which all lines ${l} look alike.
 */
int list_foreign_read(const char *path, const char *name, const char *wanted,
    struct buffer *b);
int list_foreign(const char *name, const char *text);
int list_foreign_lines(const struct list_reading *r,
    const struct list_lines *l);

/* ---- list_cells.c ---- */

/*
 * list_cells(r, row):
 * Set what further columns of the current row give ${row}: its group and its
 * set of classes.  Return 0, or -1 after a message.
 */
int list_cells(struct list_reading *r, struct list_row *row);

/* ---- list_find.c ---- */

/*
 * list_place(r, path):
 * Return ${path} joined to the root of the list, or unchanged if it is absolute
 * or there is no root.  The caller frees it.
 */
char *list_place(const struct list_reading *r, const char *path);

/*
 * list_find(r, id, folder):
 * Append a row without a label for the clip ${id}, which the list names without
 * an extension.  Its path is the first that exists of ID.mp4, ID.webm, ID.mkv,
 * ID.avi and the folder ID.  If none exists, use the folder if ${folder} is
 * set, otherwise the usual extension of the dataset.
 */
struct list_row *list_find(struct list_reading *r, const char *id, int folder);

/*
 * list_find_path(r, path):
 * Append a row without a label for ${path}.  If there is no such file and
 * ${path} has no extension, try those of list_find.
 */
struct list_row *list_find_path(struct list_reading *r, const char *path);

/*
 * list_find_hacs(r, label, id):
 * Append a row without a label for the HACS video ${id} of class ${label}:
 * LABEL/v_ID.mp4, v_ID.mp4 or ID.mp4, with the extensions of list_find.
 */
struct list_row *list_find_hacs(struct list_reading *r, const char *label,
    const char *id);

/*
 * list_find_kinetics(r, label, id, part):
 * Append a row for the seconds ${part} of the Kinetics video ${id}, whose name
 * consists of the identifier and whole seconds, with the label ${label} of a
 * folder that may contain it, or NULL.  If there is no such file, take a whole
 * video and select the part.  If that is missing too, record the flat name.
 *
 * list_part_suffix(p):
 * Return the end of the key of a part.  Kinetics names its clips so:
 * "_SSSSSS_EEEEEE" in whole seconds, or in milliseconds with "ms" after them.
 * Frames are "_fFFFFFF_fFFFFFF".  Return NULL for a whole video.  The caller
 * frees the text.
 */
struct list_row *list_find_kinetics(struct list_reading *r, const char *label,
    const char *id, const struct list_part *part);
char *list_part_suffix(const struct list_part *p);

/* ---- list_read.c ---- */

/*
 * list_broken(r, found):
 * Report the current line: ${found} was found in it, and what its format wants.
 * Return -1.
 */
int list_broken(const struct list_reading *r, const char *found);

/*
 * list_take(r, subset):
 * Return 1 if rows of ${subset} ("" or NULL: none) are wanted.  Otherwise count
 * the row as skipped and return 0.
 */
int list_take(struct list_reading *r, const char *subset);

/*
 * ---- readers of rows: list_known.c, list_numbered.c and list_json.c ----
 *
 * list_FORMAT_row(r, line):
 * Parse ${line}, which is modified, and append what it describes to r->l.
 * Return 0, or -1 after a message.
 */

int list_hmdb51_row(struct list_reading *r, char *line);
int list_ssv1_row(struct list_reading *r, char *line);
int list_charades_row(struct list_reading *r, char *line);
int list_charades_frame(struct list_reading *r, char *line);
/*
 * list_numbered_row(r, line):
 * Parse a row in a format of MMAction2, PySlowFast or TSM, as above.
 */
int list_numbered_row(struct list_reading *r, char *line);
/*
 * list_json(r, text, n):
 * Append all rows of a Something-Something v2 JSON file, ${n} bytes at ${text}.
 * Return 0, or -1 after a message, also if it is other JSON.
 */
int list_json(struct list_reading *r, const char *text, size_t n);

#endif
