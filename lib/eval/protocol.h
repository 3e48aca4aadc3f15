#ifndef EVAL_PROTOCOL_H
#define EVAL_PROTOCOL_H

/*
 * The protocol of an evaluation: what was scored, with which network, and how.
 * A score file has it as lines "# name value" (vt-eval(1), SCORE FILES).
 */

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

/* Names and values, in the order of their lines.  Initialize it with { 0 }. */
struct protocol {
	struct protocol_item { char *name, *value; } *item;
	size_t n, cap;
};

/* protocol_free(p): Free the lines and leave an empty protocol. */
void protocol_free(struct protocol *p);

/*
 * protocol_add(p, name, fmt, ...):
 * Append a line with the formatted value.
 */
void protocol_add(struct protocol *p, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * protocol_get(p, name):
 * Return the value of the line, owned by ${p}, or NULL if it is absent.
 * protocol_int(p, name):
 * Return the value as an integer, or -1 if it is absent or not an integer of
 * at least 0.
 */
const char *protocol_get(const struct protocol *p, const char *name);
int64_t protocol_int(const struct protocol *p, const char *name);

/* protocol_write(p, to): Append the lines to ${to}. */
void protocol_write(const struct protocol *p, struct buffer *to);

/*
 * protocol_read(p, line):
 * Append the line "# name value".  Ignore other comments.  Return 0, or -1
 * without a message if an escape is wrong.
 */
int protocol_read(struct protocol *p, const char *line);

/*
 * protocol_difference(a, b, to):
 * Append "name VALUE OF A (VALUE OF B)", separated by ", ", for each line that
 * differs between ${a} and ${b}.  Skip lines that differ between any two
 * networks, such as the checkpoint, and lines that only one of them has.
 */
void protocol_difference(const struct protocol *a, const struct protocol *b,
    struct buffer *to);

/*
 * protocol_join(p, n, to):
 * Append the protocol of a fusion of ${p}[n] to ${to}: the lines that all have
 * with equal values, then the other ones of file k as "k.name", k from 1.
 */
void protocol_join(const struct protocol *const *p, size_t n,
    struct protocol *to);

#endif
