#ifndef DATA_LIST_LAYOUT_H
#define DATA_LIST_LAYOUT_H

/* What the readers of lists share: list.c, list_layout.c, list_read.c. */

#include "data/list.h"

#define LIST_FIELDS 64		/* of a line that count */
#define LIST_MARK "\357\273\277"	/* a byte order mark, of some editors */

/* The lines of a list that are not empty, in its text, without their ends. */
struct list_lines { char **s; int *number; size_t n, cap; };

struct list_layout {
	enum list_format format;
	char sep;		/* between fields; ' ': blanks */
	int header;		/* the first line is one */
	int path, label, id, start, end;	/* columns, or -1 */
};

/* ---- list.c ---- */

/* list_append(l, path, label, file, line): the strings become the list's;
 * ${label} may be NULL. */
void list_append(struct list *l, char *path, char *label, const char *file,
    int line);

/* list_name(l, file): the name of a list as messages show it, kept by ${l}. */
const char *list_name(struct list *l, const char *file);

/* list_is_json(name, text): annotations often come as JSON, of many shapes;
 * none is read here: 1 after a message. */
int list_is_json(const char *name, const char *text);

/* ---- list_layout.c ---- */

/* list_cut_lines(l, name, text): fill ${l}, or -1 after a message. */
int list_cut_lines(struct list_lines *l, const char *name, char *text);

/*
 * list_cut_fields(line, sep, field):
 * Cut ${line} at ${sep} into ${field}[LIST_FIELDS], taking off quotes, within
 * which "" is one; fields beyond are left out.  Return how many.
 */
int list_cut_fields(char *line, char sep, char **field);

/* list_is_ucf101(line): Class/v_Class_gNN_cNN.avi, and a number from 1 or
 * nothing. */
int list_is_ucf101(const char *line);

/*
 * list_choose_layout(l, name, asked, y):
 * A header line decides; without one, names as UCF101 has them, whose numbers
 * count from 1 unless one of them is 0; everything else is path and label.
 * -1 after a message.
 */
int list_choose_layout(const struct list_lines *l, const char *name,
    enum list_format asked, struct list_layout *y);

#endif
