#ifndef SHARD_CLASSES_H
#define SHARD_CLASSES_H

#include <stddef.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/mem.h"

/* Class names, in the order of their labels. */
struct class_list { char **name; size_t n, cap; };

void class_add(struct class_list *c, const char *name);	/* copies */
void class_list_free(struct class_list *c);	/* leaves an empty list */
/* class_check(what, c, why): names must be UTF-8 that a terminal only shows
 * (text_shown), and differ. */
int class_check(const char *what, const struct class_list *c,
    struct error *why);
/* class_text(c, b): append them as lines, which is what classes.txt holds. */
void class_text(const struct class_list *c, struct buffer *b);
/* class_write(w, c): put them as the array "classes"; NULL: an empty one. */
void class_write(struct json_writer *w, const struct class_list *c);
/* class_parse(text, c): add the lines of a text; class_check says more. */
void class_parse(const char *text, struct class_list *c);
/* class_read(path, c): lines of a file, checked. */
int class_read(const char *path, struct class_list *c);

/*
 * class_compare(path, have, whose, want, classes):
 * Compare the classes ${have} of dataset ${path} with the classes ${want} by
 * name and number.  Return 0, or -1 after a message about the first that
 * differs.  The message calls ${want} the classes of ${whose}, and advises to
 * extract the dataset with --classes=${classes}.
 */
int class_compare(const char *path, const struct class_list *have,
    const char *whose, const struct class_list *want, const char *classes);

#endif
