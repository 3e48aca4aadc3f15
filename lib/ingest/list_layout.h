#ifndef INGEST_LIST_LAYOUT_H
#define INGEST_LIST_LAYOUT_H

/* Internal interface of the list readers, the files list*.c. */

#include "base/mem.h"
#include "ingest/list.h"

#define LIST_FIELDS 64		/* further fields of a line are ignored */
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

/* How the lines of a list are divided. */
struct list_layout {
	enum list_format format;
	char sep;		/* between fields; ' ': blanks */
	int header;		/* 1: the first line is a header */
	/* index of each column, or -1 */
	int path, label, id, start, end, split, actions;
	int frame_start, frame_end, set, group;
};

/* The state of reading one list. */
struct list_reading {
	struct list *l;
	const struct list_how *how;
	const char *path, *name;	/* path of the file; its name in
					 * messages */
	struct list_layout y;
	int line;			/* number of the current line */
	int skipped;			/* rows of other subsets */
	struct buffer tried;		/* names tried for the current video */
	int counted;			/* first line whose frame count will be
					 * checked, or 0 */
	int ignored;			/* first line whose middle field is
					 * ignored, or 0 */
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

/*
 * list_is_json(text):
 * Return 1 if ${text} begins like a JSON object or array, otherwise 0.
 */
int list_is_json(const char *text);

/*
 * list_no_json(name, text):
 * Refuse JSON where lines of text are wanted.  Return 1 after a message if
 * ${text} is JSON, otherwise 0.
 */
int list_no_json(const char *name, const char *text);

/* ---- list_layout.c ---- */

/*
 * list_cut_lines(l, name, text):
 * Split ${text} in place into its non-empty lines, ${l}, without line ends.
 * Return 0, or -1 after a message if a line contains a carriage return.  The
 * caller frees the arrays of ${l}.
 */
int list_cut_lines(struct list_lines *l, const char *name, char *text);

/*
 * list_cut_fields(line, sep, field):
 * Split ${line} in place at ${sep} into ${field}[LIST_FIELDS].  Remove quotes;
 * within quotes, "" stands for one quote.  Ignore further fields.  Return the
 * number of fields.
 */
int list_cut_fields(char *line, char sep, char **field);

/*
 * list_cut_words(line, word):
 * Split ${line}, separated by blanks, in place into a path and the integers
 * after it, ${word}[LIST_FIELDS].  The path, which keeps at least the first
 * word, is what remains in ${line}.  Return the number of integers.
 */
int list_cut_words(char *line, char **word);

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

/* ---- list_cells.c ---- */

/*
 * list_cells(r, row, field, n):
 * Set what the further columns of ${row}, in ${field}[n], give: its group,
 * its frames and its set of classes.  Return 0, or -1 after a message.
 */
int list_cells(struct list_reading *r, struct list_row *row, char **field,
    int n);

/*
 * list_code_class(text, n, to):
 * Parse a code such as "c012", below ${n}, as class number ${*to}.  Return 0,
 * or -1 without a message.
 */
int list_code_class(const char *text, int n, int64_t *to);

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
 * list_ssv2(r, text, n):
 * Append all rows of a Something-Something v2 JSON file, ${n} bytes at ${text}.
 * Return 0, or -1 after a message.
 */
int list_ssv2(struct list_reading *r, const char *text, size_t n);

#endif
