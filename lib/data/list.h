#ifndef DATA_LIST_H
#define DATA_LIST_H

/* Lists of videos: plain lists of paths, and those that come with datasets. */

#include <stddef.h>
#include <stdint.h>

#include "shard/manifest.h"

/*
 * How a list is written; vt-extract(1) shows a line of each, and list_layout.c
 * has their names.
 * PATH_LABEL: a path and a label, between blanks, tabs, commas or semicolons;
 * of three fields the middle one is the number of frames: it is ignored, but
 * LIST_AUTO wants it to be that of the video.
 * CSV: a header line names the columns: path (or file, filename, video), label
 * (or class), and possibly split, time_start and time_end.
 * KINETICS: a header line with label, youtube_id, time_start and time_end; the
 * videos are ID_SSSSSS_EEEEEE.mp4, in one folder or in one for each label, or
 * whole ones, ID.mp4, of which that part counts.
 * UCF101: Class/v_Class_gNN_cNN.avi, in training lists followed by a number
 * that counts classes from 1.
 * HMDB51: CLASS_test_splitK.txt, a file for each class: a name, and 1 for
 * training, 2 for testing or 0 for neither.
 * SSV1, SSV2: Something-Something: "id;label", and JSON.
 * CHARADES: its own CSV, with actions in seconds; CHARADES_FRAMES: PySlowFast's
 * list of its frames.
 * MMACTION2: a path and one label or more.  MMACTION2_FRAMES: a folder of
 * frames, their number, one label or more; MMACTION2_OFFSET: the same with the
 * number of the first frame, from 0, before that.
 * PYSLOWFAST: a path and a label, with a word between them that does not count;
 * without a label it is 0.
 * TSM: a folder of frames, their number and a label.
 */
enum list_format { LIST_AUTO, LIST_PATH_LABEL, LIST_CSV, LIST_KINETICS,
	LIST_UCF101, LIST_HMDB51, LIST_SSV1, LIST_SSV2, LIST_CHARADES,
	LIST_CHARADES_FRAMES, LIST_MMACTION2, LIST_MMACTION2_FRAMES,
	LIST_MMACTION2_OFFSET, LIST_PYSLOWFAST, LIST_TSM, LIST_FORMATS };

/* The part of a video that a row means; all 0: all of it. */
struct list_part {
	double start, end;	/* seconds; end 0: to its end */
	int64_t first, count;	/* frames, from 0; count 0: all that follow */
	int64_t frames;		/* of the whole video, by the list; 0: not said */
};

/* One class of several, and when it can be seen. */
enum list_unit { LIST_ALWAYS, LIST_SECONDS, LIST_FRAMES };

struct list_label {
	char *text;		/* as it is written */
	enum list_unit unit;
	double from, to;	/* both included */
	int class;		/* list_number's */
};

struct list_row {
	char *path;		/* where the video, or its folder of frames, is */
	char *name;		/* a path that is this part's alone, to make a
				 * key of; NULL: ${path} */
	char *label;		/* as it is written, NULL: none, or several */
	int by_folder;		/* list_label_folders made ${label} */
	int base;		/* ${label}, if a number, counts from this */
	int bare;		/* the line lacks the label that its format wants */
	char *tried;		/* names that were looked for, if none is there;
				 * NULL: ${path} alone */
	int several;		/* it has a set of classes, maybe an empty one */
	struct list_label *set;	/* [nset] */
	int nset;
	struct list_part part;
	const char *file;	/* the list, or NULL for an operand */
	int line, item;		/* one of them, from 1 */
};

struct list {
	struct list_row *row;
	size_t n, cap;
	char **file;		/* names of the lists read */
	size_t files, files_cap;
	int strict;		/* not all formats were asked for by name, and
				 * numbers among names are a mistake */
	int coded;		/* classes are c000, c001 ...: so many there are
				 * whatever occurs; 0: they are named */
};

void list_free(struct list *l);			/* leaves an empty list */

/* list_add(l, path): one path as it stands. */
void list_add(struct list *l, const char *path);

/* list_read_paths(l, file, zero): add the lines of ${file} as paths, or what
 * stands between zero bytes; "-" is standard input. */
int list_read_paths(struct list *l, const char *file, int zero);

/* The option rows of plain lists, in every command that takes them. */
#define LIST_OPTIONS(files, zero) \
	{ 'T', "files-from", OPTION_LIST, files, "FILE", \
	    "read video paths from the lines of FILE; -: stdin", NULL, 0, \
	    0, 0 }, \
	{ '0', "null", OPTION_FLAG, zero, NULL, \
	    "end paths of -T with a zero byte, not a newline", NULL, 0, 0, 0 }

/* How to read a list. */
struct list_how {
	enum list_format format;
	const char *root;	/* where relative paths begin; NULL: here */
	const char *subset;	/* only these rows; NULL: all */
};

/*
 * list_read(l, file, how):
 * Add the rows of an annotation list.  LIST_AUTO looks at its content.  What it
 * was read as, and how many videos and classes are in it, is printed as a note.
 * A ${file} that is not there and holds '*', '?' or '[' is a pattern, whose
 * files are read in byte order.  -1 after a message naming the line.
 */
int list_read(struct list *l, const char *file, const struct list_how *how);

/* The names of the formats, in their order. */
#define LIST_FORMAT_CHOICES "auto|path-label|csv|kinetics|ucf101|hmdb51|ssv1|" \
	"ssv2|charades|charades-frames|mmaction2|mmaction2-frames|" \
	"mmaction2-offset|pyslowfast|tsm"

/*
 * list_at(row): "FILE: line N: " to begin a message about ${row} with; "" if no
 * list has it.  Valid until the next call by the same thread.
 */
const char *list_at(const struct list_row *row);

/*
 * list_label_folders(l, root):
 * Label each row that has neither a label nor a set of them by the first folder
 * below ${root} that its video lies in, or, if ${root} is NULL, by the folder of
 * the video.  Return 0, or an exit status after a message: EXIT_FAILED if there
 * is no such folder; EXIT_USAGE if ${root} is NULL and the videos lie at
 * different depths, so that the first folder below what they have in common is
 * another one.
 */
int list_label_folders(struct list *l, const char *root);

/*
 * list_number(l, classes, file, label):
 * Turn labels into class numbers, label[i] for row i, -1 for none or for
 * several, which are numbered in their rows.  Labels that are all numbers, and
 * no names of folders, stay what they are, and must be below classes->n if that
 * is not 0; names are looked up in ${classes}, which is filled with them in byte
 * order if it is empty.  ${file} is where the classes come from, for messages;
 * NULL: nowhere yet.  -1 after a message, also if a line lacks the label that
 * others have, or if numbers and names are mixed.
 */
int list_number(struct list *l, struct class_list *classes, const char *file,
    int *label);

/*
 * list_classes(path, sorted, c): class names, one a line, also if they are
 * numbered from 0 or 1 as in UCF101's classInd.txt, or coded c000, c001 and so
 * on as in Charades; or as an object of JSON, of names and their numbers, as in
 * Something-Something v2.  In the file's order, or, if ${sorted}, in that of
 * their bytes.
 */
int list_classes(const char *path, int sorted, struct class_list *c);

#endif
