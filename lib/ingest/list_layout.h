#ifndef INGEST_LIST_LAYOUT_H
#define INGEST_LIST_LAYOUT_H

/* What the readers of lists share: the files list*.c. */

#include "base/mem.h"
#include "ingest/list.h"

#define LIST_FIELDS 64		/* of a line that count */
#define LIST_MARK "\357\273\277"	/* a byte order mark, of some editors */

/* The lines of a list that are not empty, in its text, without their ends. */
struct list_lines { char **s; int *number; size_t n, cap; };

/* The names of a format, in --annotations-format and in notes. */
struct list_kind { const char *name, *title, *wanted; };
extern const struct list_kind list_kind[LIST_FORMATS];

struct list_layout {
	enum list_format format;
	char sep;		/* between fields; ' ': blanks */
	int header;		/* the first line is one */
	/* columns, or -1 */
	int path, label, id, start, end, split, actions;
};

/* A list while it is read. */
struct list_reading {
	struct list *l;
	const struct list_how *how;
	const char *path, *name;	/* of the file; as messages show it */
	struct list_layout y;
	int line;			/* the number of the one that is read */
	int skipped;			/* rows of other subsets */
	struct buffer tried;		/* names tried for the current video */
	int counted;			/* first line whose frame count will be
					 * checked, or 0 */
	int ignored;			/* first line whose middle field is
					 * ignored, or 0 */
	struct list_row *video;		/* CHARADES_FRAMES: as yet */
};

/* ---- list.c ---- */

/* list_append(l, path, label, file, line): a row, whose strings become the
 * list's; ${label} may be NULL.  Good until the next one is added. */
struct list_row *list_append(struct list *l, char *path, char *label,
    const char *file, int line);

/* list_row_label(r, text, unit, from, to): one class more of a row's set. */
void list_row_label(struct list_row *r, const char *text, enum list_unit unit,
    double from, double to);

/* list_name(l, file): the name of a list as messages show it, kept by ${l}. */
const char *list_name(struct list *l, const char *file);

/* list_is_json(text): does it begin as an object or an array of JSON? */
int list_is_json(const char *text);

/* list_no_json(name, text): refuse JSON where lines are wanted: 1 after a
 * message. */
int list_no_json(const char *name, const char *text);

/* ---- list_layout.c ---- */

/* list_cut_lines(l, name, text): fill ${l}, or -1 after a message. */
int list_cut_lines(struct list_lines *l, const char *name, char *text);

/*
 * list_cut_fields(line, sep, field):
 * Cut ${line} at ${sep} into ${field}[LIST_FIELDS], taking off quotes, within
 * which "" is one; fields beyond are left out.  Return how many.
 */
int list_cut_fields(char *line, char sep, char **field);

/*
 * list_cut_words(line, word): cut a copy of a row that is written between
 * blanks into a path and the words behind it that are whole numbers,
 * ${word}[LIST_FIELDS]; return how many of these there are, at most all but the
 * first word.  The path is what is left of ${line}.
 */
int list_cut_words(char *line, char **word);

/* list_is_ucf101(line): Class/v_Class_gNN_cNN.avi, and a number from 1 or
 * nothing. */
int list_is_ucf101(const char *line);

/* list_hmdb51_class(path): the class that a file CLASS_test_splitK.txt is of,
 * the caller's to free; NULL if it is not called so. */
char *list_hmdb51_class(const char *path);

/*
 * list_choose_layout(l, r):
 * Fill in r->y: a header line decides; without one, names and lines as the
 * datasets have them, then what stands behind the paths; everything else is
 * path and label.  -1 after a message, also where that is ambiguous.
 */
int list_choose_layout(const struct list_lines *l, struct list_reading *r);

/* ---- list_read.c ---- */

/* list_place(r, path): below the root unless absolute; the caller's. */
char *list_place(const struct list_reading *r, const char *path);

/* list_broken(r, found): -1 after a message: the line, what was found in it and
 * what its format wants. */
int list_broken(const struct list_reading *r, const char *found);

/* list_take(r, subset): is a row of ${subset}, "" or NULL for none, wanted? */
int list_take(struct list_reading *r, const char *subset);

/*
 * list_find(r, id, folder):
 * Append a row without a label for the clip ${id}, which the list names without
 * an extension.  Its path is the first that exists of ID.mp4, ID.webm, ID.mkv,
 * ID.avi and the folder ID.  If none exists, use the folder if ${folder} is
 * set, else the usual extension of the dataset.
 */
struct list_row *list_find(struct list_reading *r, const char *id, int folder);

/* ---- rows: list_known.c of datasets, list_numbered.c of programs, list_json.c;
 * -1 after a message ---- */

int list_hmdb51_row(struct list_reading *r, char *line);
int list_ssv1_row(struct list_reading *r, char *line);
int list_charades_row(struct list_reading *r, char *line);
int list_charades_frame(struct list_reading *r, char *line);
/* list_numbered_row(r, line): of MMAction2, PySlowFast and TSM. */
int list_numbered_row(struct list_reading *r, char *line);
/* list_ssv2(r, text, n): all rows of a JSON file. */
int list_ssv2(struct list_reading *r, const char *text, size_t n);

#endif
