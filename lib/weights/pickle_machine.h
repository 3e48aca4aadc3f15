#ifndef WEIGHTS_PICKLE_MACHINE_H
#define WEIGHTS_PICKLE_MACHINE_H

/*
 * The pickle VM, the state that opcodes work on: a stack of values, marks on
 * the stack, and a memo.  A function that returns a text returns NULL, or the
 * text of an error; no message was printed.
 */

#include "weights/pickle_calls.h"

#define FULL ""			/* error text: the arena is full */

struct machine {
	struct pickle p;
	size_t at;			/* offset after the current opcode */
	uint32_t operand;		/* operand of that opcode */
	struct value **stack;
	size_t n, cap;
	size_t *mark;			/* stack heights of the marks */
	size_t marks, marks_cap;
	struct value **memo;
	size_t memos, memos_cap;
	int stopped;
};

/*
 * machine_take(m, n):
 * Return the next ${n} bytes of the pickle and move past them.  Return NULL if
 * fewer are left.
 */
const unsigned char *machine_take(struct machine *m, size_t n);

/*
 * machine_push(m, v):
 * Push ${v}, which is not copied.  Return NULL, or FULL also if ${v} is NULL.
 */
const char *machine_push(struct machine *m, struct value *v);

/* machine_push_new(m, from): Push a copy of ${from}, allocated in the arena. */
const char *machine_push_new(struct machine *m, struct value from);

/*
 * machine_push_text(m, n):
 * Push the next ${n} bytes of the pickle as a VALUE_TEXT.
 */
const char *machine_push_text(struct machine *m, size_t n);

/*
 * machine_above(m):
 * Return the number of values above the last mark, or on the whole stack if
 * there is no mark.
 */
size_t machine_above(const struct machine *m);

/*
 * machine_pop(m):
 * Pop the topmost value.  The stack must not be empty: check with WANT first.
 */
struct value *machine_pop(struct machine *m);

/* machine_mark(m): Set a mark at the present height of the stack. */
const char *machine_mark(struct machine *m);

/*
 * machine_put(m, i):
 * Store the topmost value, which stays on the stack, as memo entry ${i}.
 */
const char *machine_put(struct machine *m, size_t i);

/*
 * machine_get(m, i):
 * Push memo entry ${i}.  An entry that was never stored is an error.
 */
const char *machine_get(struct machine *m, size_t i);

/* machine_tuple(m, n): Replace the topmost ${n} values by one tuple of them. */
const char *machine_tuple(struct machine *m, size_t n);

/*
 * machine_join(m, n, kind):
 * Pop the topmost ${n} values and append them to the value below, which must be
 * a ${kind} (VALUE_LIST or VALUE_DICT).  A VALUE_OTHER below drops them.
 */
const char *machine_join(struct machine *m, size_t n, enum value_kind kind);

/*
 * Return an error text from the calling opcode if fewer than ${n} bytes are
 * left; otherwise point ${p} at them.
 */
#define TAKE(m, n, p) do { \
	if ((p = machine_take(m, n)) == NULL) \
		return "the pickle ends inside it"; \
} while (0)

/*
 * Return an error text from the calling opcode if there are fewer than
 * ${values} values above the last mark.
 */
#define WANT(m, values) do { \
	if (machine_above(m) < (values)) \
		return "too few values on the stack"; \
} while (0)
#define WANT_MARK(m) do { \
	if ((m)->marks == 0) \
		return "no mark on the stack"; \
} while (0)

#endif
