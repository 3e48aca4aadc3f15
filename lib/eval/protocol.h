#ifndef EVAL_PROTOCOL_H
#define EVAL_PROTOCOL_H

/*
 * The protocol of an evaluation: what was scored, with which network, and how.
 * A score file begins with it (vt-eval(1), --scores).
 */

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

/* Names and values, in the byte order of names.  Initialize it with { 0 }. */
struct protocol {
	struct protocol_item { char *name, *value; } *item;
	size_t n, cap;
};

/* protocol_free(p): Free the items and leave an empty protocol. */
void protocol_free(struct protocol *p);

/*
 * protocol_add(p, name, fmt, ...):
 * Set the item ${name} to the formatted value.
 */
void protocol_add(struct protocol *p, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * protocol_get(p, name):
 * Return the value of the item, owned by ${p}, or NULL if it is absent.
 * protocol_int(p, name):
 * Return the value as an integer, or -1 if it is absent or not an integer of
 * at least 0.
 */
const char *protocol_get(const struct protocol *p, const char *name);
int64_t protocol_int(const struct protocol *p, const char *name);

/*
 * protocol_write(p, to):
 * Append the line "# {...}", a JSON object with counts as integers and all
 * other values as strings.
 */
void protocol_write(const struct protocol *p, struct buffer *to);

/*
 * protocol_read(p, what, line):
 * Add the items of the line "# {...}", or the item "# name value" that builds
 * before 0.3.0 wrote.  Ignore other comments.  Return 0, or -1 after a message
 * that begins with ${what}.
 */
int protocol_read(struct protocol *p, const char *what, const char *line);

/*
 * protocol_difference(a, b, to):
 * Append "name VALUE" of ${a}, separated by ", ", for each item that differs
 * between ${a} and ${b}.  Skip items that differ between any two
 * networks, such as the checkpoint, and items that only one of them has.
 */
void protocol_difference(const struct protocol *a, const struct protocol *b,
    struct buffer *to);

/*
 * protocol_join(p, n, to):
 * Append the protocol of a fusion of ${p}[n] to ${to}: the items that all have
 * with equal values, then the other ones of file k as "k.name", k from 1.
 */
void protocol_join(const struct protocol *const *p, size_t n,
    struct protocol *to);

#endif
