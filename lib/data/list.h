#ifndef DATA_LIST_H
#define DATA_LIST_H

/* Lists of videos: plain lists of paths, and those that come with datasets. */

#include <stddef.h>

#include "shard/manifest.h"

/*
 * How a list is written; vt-extract(1) shows a line of each.
 * PATH_LABEL: a path and a label, between blanks, tabs, commas or semicolons;
 * of three fields the middle one (a number of frames) does not count.
 * CSV: a header line names the columns: path (or file, filename, video) and
 * label (or class).
 * KINETICS: a header line with label, youtube_id, time_start and time_end; the
 * videos are ID_SSSSSS_EEEEEE.mp4, in one folder or in one for each label.
 * UCF101: Class/v_Class_gNN_cNN.avi, in training lists followed by a number
 * that counts classes from 1.
 */
enum list_format { LIST_AUTO, LIST_PATH_LABEL, LIST_CSV, LIST_KINETICS,
	LIST_UCF101 };

struct list_row {
	char *path;		/* where the video is */
	char *label;		/* as it is written, NULL: none */
	const char *file;	/* the list, or NULL for an operand */
	int line;
};

struct list {
	struct list_row *row;
	size_t n, cap;
	char **file;		/* names of the lists read */
	size_t files, files_cap;
};

void list_free(struct list *l);			/* leaves an empty list */

/* list_add(l, path): one path as it stands. */
void list_add(struct list *l, const char *path);

/* list_read_paths(l, file, zero): add the lines of ${file} as paths, or what
 * stands between zero bytes; "-" is standard input. */
int list_read_paths(struct list *l, const char *file, int zero);

/*
 * list_read(l, file, format, root):
 * Add the rows of an annotation list, whose relative paths begin at directory
 * ${root} (NULL: the current one).  LIST_AUTO looks at the lines and prints its
 * verdict as a note.  -1 after a message naming the line.
 */
int list_read(struct list *l, const char *file, enum list_format format,
    const char *root);

/*
 * list_number(l, by_folder, classes, label):
 * Turn labels into class numbers, label[i] for row i, -1 for none.  If
 * ${by_folder}, a row without a label has the name of the folder its video
 * lies in.  Labels that are all numbers stay what they are, and must be below
 * classes->n if that is not 0; names are looked up in ${classes}, which is
 * filled with them in byte order if it is empty.  -1 after a message.
 */
int list_number(const struct list *l, int by_folder,
    struct class_list *classes, int *label);

/*
 * list_classes(path, c): class names, one a line, also if they are numbered
 * from 0 or 1 as in UCF101's classInd.txt.
 */
int list_classes(const char *path, struct class_list *c);

#endif
