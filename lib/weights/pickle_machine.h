#ifndef WEIGHTS_PICKLE_MACHINE_H
#define WEIGHTS_PICKLE_MACHINE_H

/*
 * What the opcodes of a pickle work on: a stack of values, marks on it, and a
 * memo.  Functions that return text return NULL, or what is wrong.
 */

#include "weights/pickle_calls.h"

#define FULL ""			/* what is wrong when the heap is full */

struct machine {
	struct pickle p;
	size_t at;			/* behind the opcode being done */
	uint32_t operand;		/* of that opcode */
	struct value **stack;
	size_t n, cap;
	size_t *mark;			/* heights of the stack */
	size_t marks, marks_cap;
	struct value **memo;
	size_t memos, memos_cap;
	int stopped;
};

/* machine_take(m, n): the next ${n} bytes of the pickle; NULL: there are
 * fewer. */
const unsigned char *machine_take(struct machine *m, size_t n);

/* machine_push(m, v): NULL is FULL.  machine_push_new: a copy of ${from};
 * machine_push_text: of the next ${n} bytes. */
const char *machine_push(struct machine *m, struct value *v);
const char *machine_push_new(struct machine *m, struct value from);
const char *machine_push_text(struct machine *m, size_t n);

/* machine_above(m): how many values lie above the last mark;
 * machine_pop(m): the topmost of them, of which there is one. */
size_t machine_above(const struct machine *m);
struct value *machine_pop(struct machine *m);

const char *machine_mark(struct machine *m);

/* machine_put(m, i), machine_get(m, i): the topmost value into the memo, and
 * back. */
const char *machine_put(struct machine *m, size_t i);
const char *machine_get(struct machine *m, size_t i);

/* machine_tuple(m, n): the topmost ${n} values become a tuple. */
const char *machine_tuple(struct machine *m, size_t n);

/*
 * machine_join(m, n, kind): the topmost ${n} values join what lies below them,
 * a ${kind}; what is of a class that is not known takes them and forgets them.
 */
const char *machine_join(struct machine *m, size_t n, enum value_kind kind);

#define TAKE(m, n, p) do { \
	if ((p = machine_take(m, n)) == NULL) \
		return "the pickle ends in it"; \
} while (0)

#define WANT(m, values) do { \
	if (machine_above(m) < (values)) \
		return "too few values on the stack"; \
} while (0)
#define WANT_MARK(m) do { \
	if ((m)->marks == 0) \
		return "no mark on the stack"; \
} while (0)

#endif
