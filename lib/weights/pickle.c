/*
 * The interpreter of pickles: a table of opcodes that work on the pickle VM of
 * pickle_vm.h.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "weights/pickle_vm.h"
#include "weights/pickle_numpy.h"

/*
 * Run the opcode whose operand is m->operand.  Return NULL, or the text of an
 * error.
 */
typedef const char *opcode(struct pickle_vm *m);

static struct value none = { .kind = VALUE_NONE };

static const char UNSUPPORTED[] = "a protocol above 5";

/* ---- constants ---- */

static const char *
pickle_op_proto(struct pickle_vm *m)
{
	return m->operand <= 5 ? NULL : UNSUPPORTED;
}

static const char *
pickle_op_none(struct pickle_vm *m)
{
	return pickle_vm_push(m, &none);
}

/* Push an empty value of the kind given by the operand. */
static const char *
pickle_op_new(struct pickle_vm *m)
{
	return pickle_vm_push_new(m, (struct value){
	    .kind = (enum value_kind)m->operand });
}

static const char *
pickle_op_true(struct pickle_vm *m)
{
	return pickle_vm_push_new(m, (struct value){ .kind = VALUE_BOOL,
	    .u.i = 1 });
}

static const char *
pickle_push_int(struct pickle_vm *m, int64_t i)
{
	return pickle_vm_push_new(m, (struct value){ .kind = VALUE_INT,
	    .u.i = i });
}

static const char *
pickle_op_binint(struct pickle_vm *m)
{
	return pickle_push_int(m, (int32_t)m->operand);
}

static const char *
pickle_op_count(struct pickle_vm *m)
{
	return pickle_push_int(m, (int64_t)m->operand);
}

/*
 * A two's complement integer of ${n} bytes, lowest first.  Longer ones than 8
 * bytes do not fit int64_t and occur in no weight file; they become a
 * VALUE_OTHER.
 */
static const char *
pickle_op_long(struct pickle_vm *m)
{
	size_t n = m->operand;
	const unsigned char *p;
	uint64_t i = 0;

	TAKE(m, n, p);
	if (n > 8)
		return pickle_vm_push_new(m, (struct value){
		    .kind = VALUE_OTHER });
	if (n > 0 && p[n - 1] & 128)
		i = ~(uint64_t)0;
	for (size_t k = n; k-- > 0;)
		i = i << 8 | p[k];
	return pickle_push_int(m, (int64_t)i);
}

static const char *
pickle_op_binfloat(struct pickle_vm *m)
{
	const unsigned char *p;
	struct value v = { .kind = VALUE_REAL };
	uint64_t bits = 0;

	TAKE(m, 8, p);
	/* BINFLOAT is the only big-endian operand of the format. */
	for (int i = 0; i < 8; i++)
		bits = bits << 8 | p[i];
	memcpy(&v.u.r, &bits, sizeof(bits));
	return pickle_vm_push_new(m, v);
}

static const char *
pickle_op_text(struct pickle_vm *m)
{
	return pickle_vm_push_text(m, m->operand);
}

/*
 * The numbers of arrays: bytes, and strings of at least 256 bytes of Python 2,
 * which are never names.  The value points into the file.
 */
static const char *
pickle_op_bytes(struct pickle_vm *m)
{
	const unsigned char *p;
	struct value v = { .kind = VALUE_BYTES };

	v.u.text.n = m->operand;
	TAKE(m, v.u.text.n, p);
	v.u.text.s = (const char *)p;
	return pickle_vm_push_new(m, v);
}

/* ---- the memo ---- */

static const char *
pickle_op_put(struct pickle_vm *m)
{
	return pickle_vm_put(m, m->operand);
}

static const char *
pickle_op_memoize(struct pickle_vm *m)
{
	return pickle_vm_put(m, m->memos);
}

static const char *
pickle_op_get(struct pickle_vm *m)
{
	return pickle_vm_get(m, m->operand);
}

/* ---- containers ---- */

static const char *
pickle_op_tuple(struct pickle_vm *m)
{
	size_t values = pickle_vm_above_mark(m);

	WANT_MARK(m);
	m->marks--;
	return pickle_vm_tuple(m, values);
}

static const char *
pickle_op_tuple_of(struct pickle_vm *m)
{
	return pickle_vm_tuple(m, m->operand);
}

static const char *
pickle_op_pop(struct pickle_vm *m)
{
	WANT(m, 1);
	m->n--;
	return NULL;
}

static const char *
pickle_op_pop_mark(struct pickle_vm *m)
{
	WANT_MARK(m);
	m->n = m->mark[--m->marks];
	return NULL;
}

/* Nothing: a FRAME only says how many bytes to read at once. */
static const char *
pickle_op_frame(struct pickle_vm *m)
{
	(void)m;
	return NULL;
}

/* Add the topmost value to a list, or the topmost key and value to a dict. */
static const char *
pickle_op_add(struct pickle_vm *m)
{
	return pickle_vm_append(m, m->operand == VALUE_DICT ? 2 : 1,
	    (enum value_kind)m->operand);
}

/* Add the values above the last mark. */
static const char *
pickle_op_add_marked(struct pickle_vm *m)
{
	size_t values = pickle_vm_above_mark(m);

	WANT_MARK(m);
	m->marks--;
	return pickle_vm_append(m, values, (enum value_kind)m->operand);
}

/* ---- classes: kept as names, never imported ---- */

/*
 * Read up to a newline and skip it.  Set ${*n} to the length.  Return NULL if
 * there is no newline within 255 bytes.
 */
static const char *
pickle_read_line(struct pickle_vm *m, size_t *n)
{
	const char *p = (const char *)m->p.data + m->at, *end;
	size_t left = m->p.n - m->at;

	end = memchr(p, '\n', left < 256 ? left : 256);
	if (end == NULL)
		return NULL;
	*n = (size_t)(end - p);
	m->at += *n + 1;
	return p;
}

/* Push the class ${module}[n].${name}[k]. */
static const char *
pickle_push_class(struct pickle_vm *m, const char *module, size_t n,
    const char *name, size_t k)
{
	char whole[520];

	if (name == NULL || n > 255 || k > 255 ||
	    memchr(module, '\0', n) != NULL || memchr(name, '\0', k) != NULL)
		return "a class without a name of up to 255 bytes";
	snprintf(whole, sizeof(whole), "%.*s.%.*s", (int)n, module, (int)k,
	    name);
	name = arena_text(m->p.arena, whole, strlen(whole));
	return name == NULL ? FULL : pickle_vm_push_new(m,
	    (struct value){ .kind = VALUE_CLASS, .u.name = name });
}

static const char *
pickle_op_global(struct pickle_vm *m)
{
	size_t n = 0, k = 0;
	const char *module = pickle_read_line(m, &n),
	    *name = module ? pickle_read_line(m, &k) : NULL;

	return pickle_push_class(m, module, n, name, k);
}

static const char *
pickle_op_stack_global(struct pickle_vm *m)
{
	const struct value *module, *name;

	WANT(m, 2);
	name = pickle_vm_pop(m);
	module = pickle_vm_pop(m);
	if (name->kind != VALUE_TEXT || module->kind != VALUE_TEXT)
		return "a class whose name is not a text";
	return pickle_push_class(m, module->u.text.s, module->u.text.n,
	    name->u.text.s, name->u.text.n);
}

static const char *
pickle_op_reduce(struct pickle_vm *m)
{
	struct value *args, v = { .kind = VALUE_NONE };
	const char *bad;

	WANT(m, 2);
	args = pickle_vm_pop(m);
	bad = pickle_call(&m->p, pickle_vm_pop(m), args, &v);
	return bad != NULL ? bad : pickle_vm_push_new(m, v);
}

/*
 * Like REDUCE, for classes that Python creates through __new__ with the topmost
 * values, as many as the operand.  No such class holds weights, so the result
 * is a VALUE_OTHER.
 */
static const char *
pickle_op_newobj(struct pickle_vm *m)
{
	struct value v = { .kind = VALUE_NONE };
	const struct value *class;

	WANT(m, m->operand + 1);
	m->n -= m->operand;
	class = pickle_vm_pop(m);
	pickle_other(&m->p, class->kind == VALUE_CLASS ? class->u.name :
	    "a value that is not a class", &v);
	return pickle_vm_push_new(m, v);
}

/* Set the attributes of an object.  They matter only for numpy's types. */
static const char *
pickle_op_build(struct pickle_vm *m)
{
	struct value *state;

	WANT(m, 2);
	state = pickle_vm_pop(m);
	return pickle_numpy_build(&m->p, m->stack[m->n - 1], state);
}

static const char *
pickle_op_binpersid(struct pickle_vm *m)
{
	struct value v = { .kind = VALUE_NONE };
	const char *bad;

	WANT(m, 1);
	bad = pickle_persistent(&m->p, pickle_vm_pop(m), &v);
	return bad != NULL ? bad : pickle_vm_push_new(m, v);
}

static const char *
pickle_op_stop(struct pickle_vm *m)
{
	WANT(m, 1);
	m->stopped = 1;
	return NULL;
}

/*
 * Opcodes with a function are supported.  The others are listed for the name in
 * the message that rejects them.
 * ${bytes} is the size of the operand after the opcode, lowest byte first.  If
 * it is 0, ${operand} is the operand.
 */
static const struct {
	const char *name;
	opcode *run;
	int bytes;
	uint32_t operand;
} opcodes[256] = {
	[0x80] = { "PROTO", pickle_op_proto, 1, 0 },
	['.'] = { "STOP", pickle_op_stop, 0, 0 },
	['N'] = { "NONE", pickle_op_none, 0, 0 },
	[0x88] = { "NEWTRUE", pickle_op_true, 0, 0 },
	[0x89] = { "NEWFALSE", pickle_op_new, 0, VALUE_BOOL },
	['J'] = { "BININT", pickle_op_binint, 4, 0 },
	['K'] = { "BININT1", pickle_op_count, 1, 0 },
	['M'] = { "BININT2", pickle_op_count, 2, 0 },
	['G'] = { "BINFLOAT", pickle_op_binfloat, 0, 0 },
	['X'] = { "BINUNICODE", pickle_op_text, 4, 0 },
	['q'] = { "BINPUT", pickle_op_put, 1, 0 },
	['r'] = { "LONG_BINPUT", pickle_op_put, 4, 0 },
	['h'] = { "BINGET", pickle_op_get, 1, 0 },
	['j'] = { "LONG_BINGET", pickle_op_get, 4, 0 },
	['('] = { "MARK", pickle_vm_mark, 0, 0 },
	['}'] = { "EMPTY_DICT", pickle_op_new, 0, VALUE_DICT },
	[']'] = { "EMPTY_LIST", pickle_op_new, 0, VALUE_LIST },
	[')'] = { "EMPTY_TUPLE", pickle_op_new, 0, VALUE_TUPLE },
	['t'] = { "TUPLE", pickle_op_tuple, 0, 0 },
	[0x85] = { "TUPLE1", pickle_op_tuple_of, 0, 1 },
	[0x86] = { "TUPLE2", pickle_op_tuple_of, 0, 2 },
	['a'] = { "APPEND", pickle_op_add, 0, VALUE_LIST },
	['e'] = { "APPENDS", pickle_op_add_marked, 0, VALUE_LIST },
	['s'] = { "SETITEM", pickle_op_add, 0, VALUE_DICT },
	['u'] = { "SETITEMS", pickle_op_add_marked, 0, VALUE_DICT },
	['c'] = { "GLOBAL", pickle_op_global, 0, 0 },
	['R'] = { "REDUCE", pickle_op_reduce, 0, 0 },
	['b'] = { "BUILD", pickle_op_build, 0, 0 },
	['Q'] = { "BINPERSID", pickle_op_binpersid, 0, 0 },
	/*
	 * Needed for, in this order: the legacy magic number and times in
	 * nanoseconds; numpy's scalars; metadata; strings of Python 2; tuples
	 * that contain themselves.
	 */
	[0x8a] = { "LONG1", pickle_op_long, 1, 0 },
	[0x8b] = { "LONG4", pickle_op_long, 4, 0 },
	[0x87] = { "TUPLE3", pickle_op_tuple_of, 0, 3 },
	[0x81] = { "NEWOBJ", pickle_op_newobj, 0, 1 },
	['U'] = { "SHORT_BINSTRING", pickle_op_text, 1, 0 },
	['T'] = { "BINSTRING", pickle_op_bytes, 4, 0 },
	['0'] = { "POP", pickle_op_pop, 0, 0 },
	['1'] = { "POP_MARK", pickle_op_pop_mark, 0, 0 },
	/* Protocols 3 to 5.  A set becomes a list, a frozen one a tuple. */
	['B'] = { "BINBYTES", pickle_op_bytes, 4, 0 },
	['C'] = { "SHORT_BINBYTES", pickle_op_bytes, 1, 0 },
	[0x8c] = { "SHORT_BINUNICODE", pickle_op_text, 1, 0 },
	[0x8d] = { "BINUNICODE8", pickle_op_text, 8, 0 },
	[0x8e] = { "BINBYTES8", pickle_op_bytes, 8, 0 },
	[0x8f] = { "EMPTY_SET", pickle_op_new, 0, VALUE_LIST },
	[0x90] = { "ADDITEMS", pickle_op_add_marked, 0, VALUE_LIST },
	[0x91] = { "FROZENSET", pickle_op_tuple, 0, 0 },
	[0x92] = { "NEWOBJ_EX", pickle_op_newobj, 0, 2 },
	[0x93] = { "STACK_GLOBAL", pickle_op_stack_global, 0, 0 },
	[0x94] = { "MEMOIZE", pickle_op_memoize, 0, 0 },
	[0x95] = { "FRAME", pickle_op_frame, 8, 0 },
	[0x96] = { "BYTEARRAY8", pickle_op_bytes, 8, 0 },
	['2'] = { "DUP", NULL, 0, 0 }, ['F'] = { "FLOAT", NULL, 0, 0 },
	['I'] = { "INT", NULL, 0, 0 }, ['L'] = { "LONG", NULL, 0, 0 },
	['P'] = { "PERSID", NULL, 0, 0 }, ['S'] = { "STRING", NULL, 0, 0 },
	['V'] = { "UNICODE", NULL, 0, 0 }, ['d'] = { "DICT", NULL, 0, 0 },
	['g'] = { "GET", NULL, 0, 0 }, ['i'] = { "INST", NULL, 0, 0 },
	['l'] = { "LIST", NULL, 0, 0 }, ['o'] = { "OBJ", NULL, 0, 0 },
	['p'] = { "PUT", NULL, 0, 0 }, [0x82] = { "EXT1", NULL, 0, 0 },
	[0x83] = { "EXT2", NULL, 0, 0 }, [0x84] = { "EXT4", NULL, 0, 0 },
	[0x97] = { "NEXT_BUFFER", NULL, 0, 0 },
	[0x98] = { "READONLY_BUFFER", NULL, 0, 0 },
};

/* Read the operand of opcode ${code} and run the opcode. */
static const char *
pickle_run(struct pickle_vm *m, unsigned char code)
{
	int bytes = opcodes[code].bytes;
	const unsigned char *p;

	m->operand = opcodes[code].operand;
	TAKE(m, (size_t)bytes, p);
	for (int i = bytes; i-- > 0;)
		m->operand = m->operand << 8 | p[i];
	return opcodes[code].run(m);
}

int
pickle_load(const struct pickle *p, size_t *used, struct value **to)
{
	struct pickle_vm m = { .p = *p };

	while (!m.stopped) {
		size_t from = m.at;
		unsigned char code = m.at < p->n ? p->data[m.at++] : 0;
		const char *name = opcodes[code].name, *bad;

		if (from == p->n) {
			fail("%s: offset %zu: a pickle that ends without STOP",
			    p->path, p->base + from);
			return -2;
		}
		if (opcodes[code].run == NULL) {
			fail("%s: offset %zu: opcode 0x%02x (%s), which no "
			    "file of weights needs", p->path, p->base + from,
			    code, name != NULL ? name : "unknown");
			return name != NULL ? -3 : -2;
		}
		bad = pickle_run(&m, code);
		if (bad != NULL) {
			fail("%s: offset %zu: opcode %s: %s", p->path,
			    p->base + from, name, strcmp(bad, FULL) != 0 ? bad :
			    /*
			     * FULL is an empty text: only the caller knows the
			     * limit in words.
			     */
			    "objects larger than ten times the file");
			return bad == UNSUPPORTED ? -3 : -2;
		}
	}
	*used = m.at;
	*to = m.stack[m.n - 1];
	return 0;
}

struct value *
value_get(const struct value *dict, const char *key)
{
	if (dict->kind != VALUE_DICT)
		return NULL;
	/* From the end: the last value of a key counts. */
	for (size_t i = dict->u.of.n; i >= 2; i -= 2)
		if (value_is(dict->u.of.item[i - 2], key))
			return dict->u.of.item[i - 1];
	return NULL;
}

int
value_is(const struct value *v, const char *text)
{
	return v->kind == VALUE_TEXT && strcmp(v->u.text.s, text) == 0;
}
