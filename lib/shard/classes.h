#ifndef SHARD_CLASSES_H
#define SHARD_CLASSES_H

#include <stddef.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/mem.h"

#define CLASSES_MAX 1000000	/* labels without class names are less */

/* Class names; the index is the label.  Initialize it with { 0 }.
 * class_list_free frees it. */
struct class_list { char **name; size_t n, cap; };

/* class_add(c, name): Append a copy of ${name}. */
void class_add(struct class_list *c, const char *name);

/* class_add_numbers(c, n): Append names up to class ${n} - 1, each of which is
 * its own number. */
void class_add_numbers(struct class_list *c, size_t n);

/* class_list_free(c): Free the names and leave an empty list. */
void class_list_free(struct class_list *c);

/*
 * class_check(what, c, why):
 * Check that the names are not empty, are UTF-8 that terminals can display
 * (text_displayable), and differ. Return 0, or -1 with a message in ${why},
 * printed if ${why} is NULL. ${what} begins the message.
 */
int class_check(const char *what, const struct class_list *c,
    struct error *why);

/*
 * class_warn_alike(c):
 * Warn of names that look the same (text_fold), with their bytes.
 */
void class_warn_alike(const struct class_list *c);

/* class_text(c, b): Append the names as lines, as in classes.txt. */
void class_text(const struct class_list *c, struct buffer *b);

/*
 * class_write(w, c):
 * Write the names as the JSON array "classes", empty if ${c} is NULL.
 */
void class_write(struct json_writer *w, const struct class_list *c);

/*
 * class_parse(text, c):
 * Append each line of ${text}.  Check nothing; use class_check.
 */
void class_parse(const char *text, struct class_list *c);

/*
 * class_read(path, c):
 * Append the lines of a file without blanks at their ends, and check them.
 * Comments at its beginning, lines of "# ", and empty lines at its end do not
 * count.  An empty file is an error.
 * Return 0, or -1 after a message.
 * class_read_lines(path, text, c):
 * As class_read, from ${text}, the content of ${path}.
 */
int class_read(const char *path, struct class_list *c);
int class_read_lines(const char *path, const char *text, struct class_list *c);

/* class_find(c, name): Return the class with the name or the number ${name}, or
 * -1 without a message. */
int class_find(const struct class_list *c, const char *name);

/*
 * class_name(c, class, number):
 * Return the name of ${class}, or its number, in ${number}, if it has none.
 */
const char *class_name(const struct class_list *c, int class, char number[16]);

/*
 * class_compare(path, have, whose, want, classes):
 * Compare the classes ${have} of dataset ${path} with the classes ${want} by
 * name and number.  Return 0, or -1 after a message about the first that
 * differs.  The message calls ${want} the classes of ${whose}, and recommends
 * extracting the dataset with --classes=${classes}.
 */
int class_compare(const char *path, const struct class_list *have,
    const char *whose, const struct class_list *want, const char *classes);

#endif
