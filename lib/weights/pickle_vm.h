#ifndef WEIGHTS_PICKLE_VM_H
#define WEIGHTS_PICKLE_VM_H

/*
 * The pickle VM, the state that opcodes work on: a stack of values, marks on
 * the stack, and a memo.  A function that returns a text returns NULL, or the
 * text of an error; no message was printed.
 */

#include "weights/pickle_calls.h"

#define FULL ""			/* error text: the arena is full */

struct pickle_vm {
	struct pickle p;
	size_t at;			/* offset after the current opcode */
	uint64_t operand;		/* operand of that opcode */
	struct value **stack;
	size_t n, cap;
	size_t *mark;			/* stack heights of the marks */
	size_t marks, marks_cap;
	struct value **memo;
	size_t memos, memos_cap;
	int stopped;
};

/*
 * pickle_vm_take(m, n):
 * Return the next ${n} bytes of the pickle and move past them.  Return NULL if
 * fewer are left.
 */
const unsigned char *pickle_vm_take(struct pickle_vm *m, size_t n);

/*
 * pickle_vm_push(m, v):
 * Push ${v}, which is not copied.  Return NULL, or FULL also if ${v} is NULL.
 */
const char *pickle_vm_push(struct pickle_vm *m, struct value *v);

/*
 * pickle_vm_push_new(m, from): Push a copy of ${from}, allocated in the arena.
 */
const char *pickle_vm_push_new(struct pickle_vm *m, struct value from);

/*
 * pickle_vm_push_text(m, n):
 * Push the next ${n} bytes of the pickle as a VALUE_TEXT.
 */
const char *pickle_vm_push_text(struct pickle_vm *m, size_t n);

/*
 * pickle_vm_above_mark(m):
 * Return the number of values above the last mark, or on the whole stack if
 * there is no mark.
 */
size_t pickle_vm_above_mark(const struct pickle_vm *m);

/*
 * pickle_vm_pop(m):
 * Pop the topmost value.  The stack must not be empty: check with WANT first.
 */
struct value *pickle_vm_pop(struct pickle_vm *m);

/* pickle_vm_mark(m): Set a mark at the present height of the stack. */
const char *pickle_vm_mark(struct pickle_vm *m);

/*
 * pickle_vm_put(m, i):
 * Store the topmost value, which stays on the stack, as memo entry ${i}.
 */
const char *pickle_vm_put(struct pickle_vm *m, size_t i);

/*
 * pickle_vm_get(m, i):
 * Push memo entry ${i}.  An entry that was never stored is an error.
 */
const char *pickle_vm_get(struct pickle_vm *m, size_t i);

/*
 * pickle_vm_tuple(m, n): Replace the topmost ${n} values by one tuple of them.
 */
const char *pickle_vm_tuple(struct pickle_vm *m, size_t n);

/*
 * pickle_vm_append(m, n, kind):
 * Pop the topmost ${n} values and append them to the value below, which must be
 * a ${kind} (VALUE_LIST or VALUE_DICT).  A VALUE_OTHER below drops them.
 */
const char *pickle_vm_append(struct pickle_vm *m, size_t n,
    enum value_kind kind);

/*
 * Return an error text from the calling opcode if fewer than ${n} bytes are
 * left; otherwise point ${p} at them.
 */
#define TAKE(m, n, p) do { \
	if ((p = pickle_vm_take(m, n)) == NULL) \
		return "the pickle ends inside it"; \
} while (0)

/*
 * Return an error text from the calling opcode if there are fewer than
 * ${values} values above the last mark.
 */
#define WANT(m, values) do { \
	if (pickle_vm_above_mark(m) < (values)) \
		return "too few values on the stack"; \
} while (0)
#define WANT_MARK(m) do { \
	if ((m)->marks == 0) \
		return "no mark on the stack"; \
} while (0)

#endif
