#ifndef INGEST_LIST_H
#define INGEST_LIST_H

/*
 * Lists of videos: plain lists of paths, and the annotation lists of datasets.
 */

#include <stddef.h>
#include <stdint.h>

#include "shard/classes.h"
#include "shard/sample.h"

/* The unit of an interval; LIST_ALWAYS: the whole video. */
enum list_unit { LIST_ALWAYS, LIST_SECONDS, LIST_FRAMES };

/* The part of a video that a row selects. */
struct list_part {
	enum list_unit unit;
	double begin, end;	/* without the end, frames from 0; end 0: to
				 * the end of the video */
	int64_t frames;		/* frames of the whole video, from the list; 0
				 * if unknown */
};

/* A class of a row, and the interval that shows it. */
struct list_label {
	char *text;		/* as written in the list */
	int column;		/* index in list.column */
	enum list_unit unit;
	double from, to;	/* inclusive */
};

/* A row of a list, and the sample that it becomes. */
struct list_row {
	struct sample sample;	/* label or labels set by list_number; key,
				 * source and group by list_keys */
	char *unit;		/* key of the whole video, set by list_keys */
	char *path;		/* the video, or its folder of frames */
	char *name;		/* of the video in its dataset, such as an id;
				 * NULL: only ${path} */
	struct list_label *label;	/* [nlabels]: one class for each
					 * column, or a set */
	int nlabels;
	int has_set;		/* 1: the classes are a set, possibly empty */
	int by_folder;		/* 1: the label comes from list_label_folders */
	int base;		/* number of class 0 in the label */
	int label_missing;	/* 1: the format requires a label, but the line
				 * has none */
	char *tried;		/* names that were tried, if none exists; NULL:
				 * only ${path} */
	struct list_part part;
	int part_in_key;	/* 1: the key ends with the part */
	char *group;		/* value in the column of list_how.group; NULL:
				 * none */
	char *split;		/* subset, of the list or by list_split; NULL:
				 * none */
	const char *file;	/* the list, or NULL for a command-line
				 * operand */
	int line, item;		/* position in the list, from 1; the other is
				 * 0 */
};

struct list {
	struct list_row *row;
	size_t n, cap;
	char **file;		/* names of the lists read */
	size_t files, files_cap;
	char **column;		/* names of columns of labels, such as verb and
				 * noun; the first, "", is the column label */
	int columns;
	int strict;		/* 1: numbers mixed with names are an error; set
				 * unless the user named formats that allow it
				 * for all lists */
	int coded;		/* number of classes with codes c000, c001 ...,
				 * whichever of them occur; 0: classes have
				 * names */
};

/* list_free(l): Free all rows and leave an empty list. */
void list_free(struct list *l);

/* list_cut(l, n): Free all rows after the first ${n}. */
void list_cut(struct list *l, size_t n);

/*
 * list_keep_subset(l, first, subset):
 * Free row ${first} and the rows after it that are not of ${subset}, and return
 * their number.
 */
size_t list_keep_subset(struct list *l, size_t first, const char *subset);

/* list_add(l, path): Append one row for ${path}, a command-line operand. */
void list_add(struct list *l, const char *path);

/*
 * list_read_paths(l, file, zero):
 * Append the lines of ${file} ("-": standard input) as paths.  With ${zero},
 * paths are terminated by zero bytes instead of newlines.
 * Return 0, or -1 after a message.
 */
int list_read_paths(struct list *l, const char *file, int zero);

/* How to read an annotation list. */
struct list_how {
	int format;		/* index in list_format_choices; 0: detect it */
	const char *root;	/* base of relative paths; NULL: current
				 * directory */
	const char *subset;	/* read only rows of this split; NULL: all */
	const char *group;	/* column that groups rows; NULL: none */
	int by_folder;		/* 1: list_label_folders will label what has
				 * none */
	double around;		/* seconds of the clip around an event without
				 * duration; 0: refuse such events */
	double fps;		/* rate of the frames in lists that count them
				 * at a rate of their own; 0: refuse these */
	const char *attribute;	/* whose values are labels, or added to them;
				 * NULL: none */
	const char *background;	/* class of the gaps between the parts of a
				 * video; NULL: gaps have no rows */
	const char *tier;	/* that has the labels; NULL: the only one */
	int all;		/* 1: also rows that their list assigns to no
				 * subset */
};

/*
 * list_read(l, file, how):
 * Append the rows of an annotation list.  If ${file} does not exist and
 * contains '*', '?' or '[', it is a glob pattern, whose files are read in byte
 * order.
 * Print a note with the format and the numbers of videos and classes.  Return
 * 0, or -1 after a message that names the line.
 */
int list_read(struct list *l, const char *file, const struct list_how *how);

/*
 * list_one_column(l):
 * Return 0, or -1 after a message if ${l} has labels in columns with names.  A
 * dataset has one list of classes.
 */
int list_one_column(const struct list *l);

/* "auto" and the names of the formats (lists/formats.def), "a|b|c". */
extern const char list_format_choices[];

/*
 * list_row_label(r, text): Let ${text} be the class of row ${r}, in column 0.
 * list_row_labeled(r): Return 1 if the row has a class or a set of classes.
 */
void list_row_label(struct list_row *r, const char *text);
int list_row_labeled(const struct list_row *r);

/*
 * list_at(row):
 * Return "FILE: line N: ", the prefix of messages about ${row}, or "" if ${row}
 * is not from a list.  Valid until the next call by this thread.
 */
const char *list_at(const struct list_row *row);

/*
 * list_label_folders(l, root):
 * Label each row that has no label and no set of labels by a folder: the first
 * one below ${root} on the path of its video, or, if ${root} is NULL, the
 * video's own folder.
 *
 * Return 0, or an exit status after a message.  EXIT_FAILED: there is no such
 * folder.  EXIT_USAGE: ${root} is NULL, the videos lie at different depths, and
 * the first folder below their common parent would give another label.
 */
int list_label_folders(struct list *l, const char *root);

/*
 * list_number(l, classes, file):
 * Convert labels of column 0 to class numbers: sample.label of a row, or -1 if
 * it has none or a set, and the classes of sample.labels.  Their frames are not
 * known yet (label_intervals_place).
 *
 * If all labels are numbers and none is a folder's name, keep these numbers.
 * They must be below classes->n unless that is 0.  Otherwise look up the labels
 * in ${classes}.  If ${classes} is empty, fill it with the labels in byte
 * order.  ${file} names the source of ${classes} in messages, or is NULL.
 *
 * Return 0, or -1 after a message: unknown class, number out of range, a line
 * without a label where others have one, or numbers mixed with names.
 */
int list_number(struct list *l, struct class_list *classes, const char *file);

/*
 * list_keys(l, root, skip):
 * Set the source of each row's sample, the path of its video relative to
 * ${root}, the key derived from it, the group and the unit.  If ${root} is
 * NULL, use the current directory; a video outside it gets its file name only.
 *
 * Rows that differ in their labels alone get keys that end with the label, and
 * a warning.  Rows that differ in nothing are an error, or removed with a
 * warning if ${skip} is set.
 * Return 0, or -1 after a message: a path is not below ${root}, two rows are
 * equal, or two videos have the same key.  The list owns the texts.
 */
int list_keys(struct list *l, const char *root, int skip);

/*
 * list_classes(path, sorted, c):
 * Read class names from the file ${path} into ${c}.  The file has one name per
 * line.  Lines may be numbered from 0 or 1, as in UCF101's classInd.txt, or
 * begin with codes c000, c001 and so on, as in Charades.  The file may also be
 * a JSON object of names and numbers, as in Something-Something v2.
 * Keep the order of the file, or sort by bytes if ${sorted} is set.  Return 0,
 * or -1 after a message.
 */
int list_classes(const char *path, int sorted, struct class_list *c);

#endif
