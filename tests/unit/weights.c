/*
 * Weight files of PyTorch, numpy and safetensors: tensors have the right
 * values, state dicts are found at their usual places, and malformed or hostile
 * files are refused with a reason.
 */
#include <math.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "weights/weights.h"

#include "said.h"
#include "tap.h"
#include "weights_find.h"
#include "weights_make.h"

static char *path;
static char said[4096];

/* Write ${b} to the file, free it, and open the file as weights. */
static int
open_bytes(struct buffer *b, struct weights_file *w)
{
	FILE *f = fopen(path, "w");
	int bad;

	if (f == NULL || fwrite(b->data, 1, b->n, f) != b->n ||
	    fclose(f) != 0) {
		printf("Bail out! cannot write %s\n", path);
		exit(1);
	}
	buffer_free(b);
	said[0] = '\0';
	said_begin(said, sizeof(said));
	bad = weights_open(path, w);
	said_end();
	return bad;
}

/* Open a zip with the pickle of ${object} and the usual storages. */
static int
open_object(struct buffer *object, struct weights_file *w)
{
	struct buffer b = { 0 };

	make_zip(&b, object, make_storages, MAKE_STORAGES);
	buffer_free(object);
	return open_bytes(&b, w);
}

/* Open the state dict of ${n} tensors in the same way. */
static int
open_tensors(const struct made *t, int n, struct weights_file *w)
{
	struct buffer object = { 0 };

	make_dict(&object, t, n, 0);
	return open_object(&object, w);
}

/* Check that a file is refused with one message that has ${words}, and with
 * ${want}: -2 for damage, -3 for an intact file. */
static void
refused_as(int want, int bad, struct weights_file *w, const char *words)
{
	int good = bad == want && strstr(said, words) != NULL &&
	    strstr(said, "; ") == NULL;

	if (!ok(good, "a file is refused: %s", words))
		diag("%d: %s", bad, said);
	if (bad == 0)
		weights_close(w);
}

static void
refused(int bad, struct weights_file *w, const char *words)
{
	refused_as(-2, bad, w, words);
}

/* Check that tensor ${name} has these values. */
static void
has(const struct weights_file *w, const char *name, const float *want, size_t n)
{
	const struct weight *t = weights_find(w, name);
	float got[64];
	int same = t != NULL && t->count == n;

	if (same)
		weights_floats(t, got);
	for (size_t i = 0; same && i < n; i++)
		same = got[i] == want[i];
	ok(same, "%s: %s", w->container, name);
}

static void
kinds(void)
{
	static const char *const kind[] = { "zip", "legacy", "safetensors" };
	static const float part[] = { 13, 14, 15, 17, 18, 19 };
	static const float spread[] = { 5, 6, 5, 6, 5, 6 };
	static const float half[] = { 1, -2, 0x1p-24f, 65504 };
	static const float count[] = { 123456 };
	float turned[24];

	for (int i = 0; i < 24; i++)
		turned[i] = (float)(i / 6 + i / 2 % 3 * 4 + i % 2 * 12);
	for (int k = 0; k < 3; k++) {
		struct buffer b = { 0 };
		struct weights_file w;
		const struct weight *t;

		make_file(&b, kind[k]);
		if (!is(open_bytes(&b, &w), 0, kind[k])) {
			diag("%s", said);
			continue;
		}
		is((long long)w.tensors, k < 2 ? MAKE_TENSORS : 3,
		    "the file has all its tensors");
		t = weights_find(&w, "conv.weight");
		ok(t != NULL && t->ndim == 3 && t->dim[0] == 2 &&
		    t->dim[1] == 3 && t->dim[2] == 4 && t->type == DTYPE_F32,
		    "a tensor has its shape and type");
		has(&w, "conv.weight", make_floats, 24);
		has(&w, "half", half, 4);
		has(&w, "bn.num_batches_tracked", count, 1);
		if (k < 2) {
			has(&w, "turned", turned, 24);
			has(&w, "part", part, 6);
			has(&w, "spread", spread, 6);
			has(&w, "none", part, 0);
		}
		ok(weights_find(&w, "scalar") == NULL,
		    "an absent name is not found");
		weights_close(&w);
	}
}

/* The same as numpy arrays, each stored whole. */
static void
arrays(void)
{
	static const float half[] = { 1, -2, 0x1p-24f, 65504 };
	static const float count[] = { 123456 }, encoded[] = { 97, 255, 128 };
	float turned[24];
	struct buffer b = { 0 };
	struct weights_file w;

	for (int i = 0; i < 24; i++)
		turned[i] = (float)(i / 6 + i / 2 % 3 * 4 + i % 2 * 12);
	make_file(&b, "arrays");
	if (!is(open_bytes(&b, &w), 0, "arrays")) {
		diag("%s", said);
		return;
	}
	is((long long)w.tensors, 6, "all arrays of numbers are found");
	has(&w, "conv1_w", make_floats, 24);
	has(&w, "turned", turned, 24);
	has(&w, "half", half, 4);
	has(&w, "model_iter", count, 1);
	has(&w, "encoded", encoded, 3);
	has(&w, "none", count, 0);
	weights_close(&w);
}

static void
arrays_refused(void)
{
	static const char text[] = "c_codecs\nencode\nX\002\0\0\0\xc4\x80"
	    "X\006\0\0\0latin1\x86R", cut[] = "c_codecs\nencode\n"
	    "X\001\0\0\0\xc3X\006\0\0\0latin1\x86R";
	static const char shape[] = "an array whose bytes are not those of its "
	    "shape";
	static const struct { struct made_array a; const char *words; } bad[] = {
		{ { "x", "f4", "<", 0, 1, { 2 }, "abcd", 4, NULL }, shape },
		{ { "x", "f4", "<", 0, 1, { 1 }, "abcdefgh", 8, NULL }, shape },
		{ { "x", "f4", "<", 0, 0, { 0 }, "abc", 3, NULL }, shape },
		{ { "x", "f4", "<", 0, 4, { 2147483647, 2147483647, 2147483647,
			2147483647 }, "abcd", 4, NULL }, shape },
		{ { "x", "f4", "<", 1, 2, { 65536, 65536 }, "", 0, NULL },
			shape },
		{ { "x", "f4", "<", 0, 2, { 0, 2 }, "abcd", 4, NULL },
			"an array of nothing that has bytes" },
		{ { "x", "f4", "<", 0, 1, { -1 }, "abcd", 4, NULL },
			"size that is not a number from 0" },
		{ { "x", "f4", "<<", 0, 1, { 1 }, "abcd", 4, NULL },
			"a numpy type whose state is not" },
		{ { "x", "f4", "<", 0, 1, { 1 }, NULL, 1, "N" },
			"an array without bytes" },
		{ { "x", "u1", "|", 0, 1, { 1 }, NULL, sizeof(text) - 1, text },
			"REDUCE: a text that is not of latin1" },
		{ { "x", "u1", "|", 0, 1, { 1 }, NULL, sizeof(cut) - 1, cut },
			"REDUCE: a text that is not of latin1" },
	};
	struct buffer b = { 0 };
	struct weights_file w;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		make_blobs(&b, &bad[i].a, 1);
		refused(open_bytes(&b, &w), &w, bad[i].words);
	}
	/* Only known types that weights do not have are skipped. */
	make_blobs(&b, &(struct made_array){ "x", "f4", "", 0, 1, { 1 }, "abcd",
	    4, NULL }, 1);
	refused(open_bytes(&b, &w), &w, "a numpy type whose state is not");
	make_blobs(&b, &make_arrays[6], 2);
	refused_as(-3, open_bytes(&b, &w), &w, "no tensors, at the top or in "
	    "any of state_dict, model_state, model_state_dict, model, blobs, "
	    "net, params, weights, state_dict_ema, ema_state_dict, model_ema, "
	    "ema (blobs)");
	/* A pickle cut at any length is refused. */
	make_file(&b, "arrays");
	for (size_t n = 0, whole = b.n, wrong = 0; n <= whole; n++) {
		struct buffer part = { 0 };

		if (n == whole) {
			is((long long)wrong, 0,
			    "every shorter pickle of arrays is refused");
			break;
		}
		buffer_add(&part, b.data, n);
		wrong += open_bytes(&part, &w) >= -1 || *said == '\0';
	}
	buffer_free(&b);
}

/* Every type, from the bits that PyTorch stores. */
static void
types(void)
{
	static const unsigned char bits[28] = {
		0xff, 0x7f, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0x80, 0xff,
		0, 0, 0, 0, 0, 0, 0xf8, 0x3f
	};
	static const struct { const char *class; int at; float want; } of[] = {
		{ "ByteStorage", 0, 255 }, { "CharStorage", 0, -1 },
		{ "BoolStorage", 0, 1 }, { "BoolStorage", 8, 0 },
		{ "ShortStorage", 2, -2 }, { "IntStorage", 2, -2 },
		{ "DoubleStorage", 12, 1.5 }, { "BFloat16Storage", 18, 1.9375 },
		{ "HalfStorage", 18, 1.9921875 }, { "LongStorage", 2, 0x1p48f },
		{ "FloatStorage", 8, -INFINITY }, { "HalfStorage", 10, NAN },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct made t = { "x", of[i].class, "0", 1, 0, 0, { 0 },
			{ 0 } };
		struct made_storage s = { "0", bits + of[i].at, 8, 1 };
		struct buffer object = { 0 }, b = { 0 };
		struct weights_file w;
		float got = 0;

		make_dict(&object, &t, 1, 0);
		make_zip(&b, &object, &s, 1);
		buffer_free(&object);
		if (open_bytes(&b, &w) == 0) {
			weights_floats(&w.tensor[0], &got);
			weights_close(&w);
		}
		if (!ok(isnan(of[i].want) ? isnan(got) : got == of[i].want,
		    "%s", of[i].class))
			diag("got %.9g, wanted %.9g", got, of[i].want);
	}
}

/* State dicts under their usual names, and nested. */
static void
places(void)
{
	static const char *const at[][3] = {
		{ NULL }, { "state_dict" }, { "model_state" }, { "model" },
		{ "model_state_dict" }, { "model", "state_dict" },
		{ "model", "model", "model" }
	};
	struct weights_file w;
	struct buffer b = { 0 };

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		int depth = 0;

		for (; depth < 3 && at[i][depth] != NULL; depth++) {
			buffer_text(&b, "}");
			make_text(&b, "optimizer");
			make_dict(&b, make_tensors + 1, 2, 0);
			buffer_text(&b, "s");
			make_text(&b, at[i][depth]);
		}
		make_dict(&b, make_tensors, 1, 0);
		for (int k = 0; k < depth; k++)
			buffer_text(&b, "s");
		ok(open_object(&b, &w) == 0 && w.tensors == 1 &&
		    strcmp(w.tensor[0].name, "conv.weight") == 0,
		    "a state dict is found %d dicts deep%s%s",
		    depth, depth > 0 ? ", in " : "",
		    depth > 0 ? at[i][0] : "");
		weights_close(&w);
	}
	buffer_text(&b, "}");
	make_text(&b, "epoch");
	buffer_text(&b, "K\003s");
	make_text(&b, "\033[2J");
	buffer_text(&b, "K\003s");
	refused_as(-3, open_object(&b, &w), &w, "(epoch, \"\\033[2J\")");
	buffer_text(&b, "]");
	refused_as(-3, open_object(&b, &w), &w, "it holds no dict");
	/* A dict that contains itself. */
	buffer_text(&b, "}q\001");
	make_text(&b, "model");
	buffer_text(&b, "h\001s");
	refused_as(-3, open_object(&b, &w), &w, "no tensors");
	/* As written by Python 2: a list of pairs, with byte strings. */
	buffer_text(&b, "ccollections\nOrderedDict\n](](U\004nameR");
	b.n--;
	make_tensor(&b, &make_tensors[0], 0);
	buffer_text(&b, "ee\x85R");
	ok(open_object(&b, &w) == 0 && weights_find(&w, "name") != NULL,
	    "a dict of Python 2 is read");
	weights_close(&w);
	/* A parameter, and a name given twice. */
	buffer_text(&b, "}(");
	make_text(&b, "twice");
	make_tensor(&b, &make_tensors[0], 0);
	make_text(&b, "twice");
	buffer_text(&b, "ctorch._utils\n_rebuild_parameter\n");
	make_tensor(&b, &make_tensors[2], 0);
	buffer_text(&b, "\x88N\x87Ru");
	ok(open_object(&b, &w) == 0 && w.tensors == 1 &&
	    w.tensor[0].count == 6, "the last of two tensors of a name counts");
	weights_close(&w);
}

/* Append ${text} as protocol 4 writes it. */
static void
make_short(struct buffer *b, const char *text)
{
	char head[] = { (char)0x8c, (char)strlen(text) };

	buffer_add(b, head, 2);
	buffer_text(b, text);
	buffer_add(b, "\x94", 1);
}

/* The opcodes of protocols 3 to 5, and every key of a state dict. */
static void
protocols(void)
{
	static const struct { const char *text; size_t n; } value[] = {
#define V(text) { text, sizeof(text) - 1 }
		V("\x8f\x94(K\001K\002\x90"), V("(K\001K\002\x91"),
		V("\x8c\004mmcv\x8c\001C\x93)}\x92\x94"),
		V("\x8c\004mmcv\x8c\001C\x93)\x81}b"), V("C\002xy"),
		V("B\002\0\0\0xy"), V("\x8e\002\0\0\0\0\0\0\0xy"),
		V("\x8d\002\0\0\0\0\0\0\0xy"), V("\x8b\002\0\0\0\0\001"),
		V("\x96\002\0\0\0\0\0\0\0xy"), V("K\001K\0020"),
		V("N(K\001K\0021"), V("\x95\001\0\0\0\0\0\0\0N"),
	};
	static const char *const key[] = { "state_dict", "model_state",
		"model_state_dict", "model", "blobs", "net", "params", "weights",
		"state_dict_ema", "ema_state_dict", "model_ema", "ema" };
	struct weights_file w;

	for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
		struct buffer b = { 0 };

		buffer_add(&b, "\x95\001\0\0\0\0\0\0\0}\x94", 11);
		for (size_t k = 0; k < sizeof(value) / sizeof(value[0]); k++) {
			char name[] = { (char)('a' + k), 0 };

			make_short(&b, name);
			buffer_add(&b, value[k].text, value[k].n);
			buffer_text(&b, "s");
		}
		make_short(&b, key[i]);
		buffer_text(&b, "}(");
		make_short(&b, "t");
		make_tensor(&b, &make_tensors[0], 0);
		buffer_text(&b, "us");
		if (!ok(open_object(&b, &w) == 0 && w.tensors == 1 &&
		    strcmp(w.tensor[0].name, "t") == 0,
		    "protocol 4: the tensor of %s is read", key[i]))
			diag("%s", said);
		weights_close(&w);
	}
}

/* A safetensors file with a tensor of a type that vt does not know. */
static void
other_types(void)
{
	static const char *const type[] = { "F8_E4M3", "C64", "U16", "F4" };

	for (size_t i = 0; i < sizeof(type) / sizeof(type[0]); i++) {
		char *header = xprintf("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],"
		    "\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"%s\","
		    "\"shape\":[8],\"data_offsets\":[4,9]}}", type[i]);
		struct buffer b = { 0 };
		unsigned char length[8];
		struct weights_file w;

		put64(length, strlen(header));
		buffer_add(&b, length, 8);
		buffer_text(&b, header);
		buffer_add(&b, "\0\0\200\077vwxyz", 9);
		free(header);
		if (!ok(open_bytes(&b, &w) == 0, "a tensor of %s does not stop "
		    "a file", type[i]))
			diag("%s", said);
		has(&w, "a", (const float[]){ 1 }, 1);
		ok(w.tensors == 2 && w.tensor[1].type == DTYPE_OTHER &&
		    strcmp(w.tensor[1].other, type[i]) == 0, "it is listed");
		weights_close(&w);
	}
}

/* ---- refused files ---- */

/* The opcodes that are read, by pickletools. */
static const char allowed[] = "\x80.N\x88\x89JKMGXqrhj(}])t\x85\x86" "aesucRbQ"
    "\x8a\x8b\x87\x81UT01BC\x8c\x8d\x8e\x8f\x90\x91\x92\x93\x94\x95\x96";

static void
opcodes(void)
{
	int wrong = 0;

	for (int code = 0; code < 256; code++) {
		struct buffer b = { 0 };
		unsigned char c = (unsigned char)code;
		struct weights_file w;
		char want[64];
		int bad;

		/* After a 1, so that only the opcode itself can be refused. */
		buffer_text(&b, "K\001");
		buffer_add(&b, &c, 1);
		bad = open_object(&b, &w);
		/* The pickle is the first member, after 64 bytes and PROTO. */
		snprintf(want, sizeof(want), "offset 68: opcode 0x%02x (", c);
		if ((strstr(said, want) != NULL) ==
		    (memchr(allowed, code, sizeof(allowed) - 1) != NULL)) {
			diag("0x%02x: %s", code, said);
			wrong++;
		}
		if (bad == 0)
			weights_close(&w);
	}
	is(wrong, 0, "each of 256 opcodes is read or refused by offset");
}

static void
pickles(void)
{
	static const struct {
		const char *text;
		size_t n;
		const char *words;
		int intact;
	} bad[] = {
#define P(text, words) { text, sizeof(text) - 1, words, 0 }
#define WHOLE(text, words) { text, sizeof(text) - 1, words, 1 }
		P("\xfe", "opcode 0xfe (unknown)"),
		WHOLE("iposix\nsystem\n", "offset 66: opcode 0x69 (INST), which "
		    "no file of weights needs"),
		WHOLE("\x80\006", "PROTO: a protocol above 5"),
		P("\x8c\011a", "SHORT_BINUNICODE: the pickle ends inside it"),
		P("\x8d\xff\xff\xff\xff\xff\xff\xff\xff",
		    "BINUNICODE8: the pickle ends inside it"),
		P("\x8e\xff\xff\xff\xff\xff\xff\xff\x7f",
		    "BINBYTES8: the pickle ends inside it"),
		P("\x8b\xff\xff\xff\xff", "LONG4: the pickle ends inside it"),
		P("\x93", "STACK_GLOBAL: too few values on the stack"),
		P("K\001K\001\x93", "a class whose name is not a text"),
		P("\x8c\002a\0\x8c\001b\x93", "a class without a name"),
		P("\x94", "MEMOIZE: too few values on the stack"),
		P("K\001\x90", "ADDITEMS: no mark on the stack"),
		P("K\001K\001\x92", "NEWOBJ_EX: too few values on the stack"),
		P("0", "POP: too few values on the stack"),
		P("1", "POP_MARK: no mark on the stack"),
		P("cnumpy.core.numeric\n_frombuffer\n)R",
		    "an array that is not (buffer, type, shape, order)"),
		P("K", "ends without STOP"),	/* the '.' is its number */
		P("Xa", "opcode BINUNICODE: the pickle ends inside it"),
		P("X\xff\xff\xff\xff", "opcode BINUNICODE: the pickle ends"),
		P("X\xff\xff\xff\x7f", "opcode BINUNICODE: the pickle ends"),
		P("G1234", "opcode BINFLOAT: the pickle ends inside it"),
		P("\x8a\xff", "opcode LONG1: the pickle ends inside it"),
		P("", "opcode STOP: too few values on the stack"),
		P("(", "opcode STOP: too few values on the stack"),
		P("t", "opcode TUPLE: no mark on the stack"),
		P("K\001\x86", "opcode TUPLE2: too few values on the stack"),
		P("K\001(K\001\x86", "opcode TUPLE2: too few values"),
		P("u", "opcode SETITEMS: no mark on the stack"),
		P("}(K\001u", "opcode SETITEMS: a key without a value"),
		P("K\001(K\001K\001u",
		    "members for a value that is not a dict"),
		P("}K\001a",
		    "opcode APPEND: members for a value that is not a list"),
		P("(e", "opcode APPENDS: too few values on the stack"),
		P("q\001", "opcode BINPUT: too few values on the stack"),
		P("Nr\xff\xff\xff\xff", "LONG_BINPUT: a memo index larger"),
		P("h\001", "opcode BINGET: a memo entry that was never stored"),
		P("Nq\002h\001", "BINGET: a memo entry that was never stored"),
		P("j\xff\xff\xff\xff", "LONG_BINGET: a memo entry"),
		P("ccollections", "opcode GLOBAL: a class without a name"),
		P("ca\0b\nc\n", "opcode GLOBAL: a class without a name"),
		P("ccollections\nOrderedDict\nNR", "REDUCE: arguments that are no"),
		P("ccollections\nOrderedDict\nN\x85R",
		    "an OrderedDict whose pairs are not a list"),
		P("ccollections\nOrderedDict\n]Na\x85R",
		    "values that are not pairs"),
		P("ctorch._utils\n_rebuild_tensor_v2\n)R", "a tensor without "
		    "storage"),
		P("ctorch._utils\n_rebuild_tensor_v2\n(NK\0))tR", "a tensor "
		    "whose first argument is not a storage"),
		P("ctorch._utils\n_rebuild_parameter\n)R",
		    "parameter that is not a tensor"),
		P("cnumpy.core.multiarray\n_reconstruct\n)R", "an array whose "
		    "first argument is not a class"),
		P("cnumpy._core.multiarray\n_reconstruct\n)R",
		    "first argument is not a class"),
		P("cnumpy\ndtype\n)R", "a numpy type without a name"),
		P("cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n"
		    "\x85R)b", "BUILD: an array whose state is not"),
		P("NQ", "BINPERSID: a persistent id that is not"),
		P("(U\7storageNU\1kNK\1tQ", "a persistent id that is not"),
		P("(U\7storagectorch\nFloatStorage\nU\1kNJ\xff\xff\xff\xfftQ",
		    "a persistent id that is not"),
		WHOLE("(U\7storagectorch\nFloatStorage\nU\1kNK\1NK\1tQ",
		    "no tensors"),
		P("(U\7storagectorch\nFloatStorage\nU\1kNK\1(K\1ttQ",
		    "a storage's view that is not"),
		P("(U\7storagectorch\nFloatStorage\nU\1kNK\1tQ"
		    "(U\7storagectorch\nFloatStorage\nU\1kNK\2tQ",
		    "a storage that has another size elsewhere"),
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct buffer b = { 0 };
		struct weights_file w;

		buffer_add(&b, bad[i].text, bad[i].n);
		refused_as(bad[i].intact ? -3 : -2, open_object(&b, &w), &w,
		    bad[i].words);
	}
}

/*
 * Open a storage that is a part of another, as in old legacy files: ${count}
 * elements from ${first} of storage 0.
 */
static int
open_part(int first, int count, int offset, struct weights_file *w)
{
	struct buffer object = { 0 }, b = { 0 };

	buffer_text(&object, "}");
	make_text(&object, "part");
	buffer_text(&object, "ctorch._utils\n_rebuild_tensor\n((");
	make_text(&object, "storage");
	buffer_text(&object, "ctorch\nFloatStorage\n");
	make_text(&object, "0");
	make_text(&object, "cpu");
	make_int(&object, 24);
	buffer_text(&object, "(");
	make_text(&object, "of it");
	make_int(&object, first);
	make_int(&object, count);
	buffer_text(&object, "ttQ");
	make_int(&object, offset);
	make_ints(&object, &(int){ 2 }, 1);
	make_ints(&object, &(int){ 1 }, 1);
	buffer_text(&object, "tRs");
	make_legacy(&b, &object, make_storages, 1);
	buffer_free(&object);
	return open_bytes(&b, w);
}

static void
storage_views(void)
{
	static const float want[] = { 11, 12 };
	struct weights_file w;

	is(open_part(5, 8, 6, &w), 0, "a storage that is a view is read");
	has(&w, "part", want, 2);
	weights_close(&w);
	refused(open_part(5, 8, 7, &w), &w, "reaches beyond the 8 numbers");
	refused(open_part(17, 8, 0, &w), &w, "a view beyond storage 0");
}

static void
views(void)
{
	static const struct { struct made t; const char *words; } bad[] = {
		{ { "x", "FloatStorage", "0", 25, 0, 1, { 1 }, { 1 } },
			"tensor x: storage 0 has 24 numbers (wanted 25)" },
		{ { "x", "DoubleStorage", "0", 24, 0, 1, { 1 }, { 1 } },
			"tensor x: storage 0 has 12 numbers (wanted 24)" },
		{ { "x", "FloatStorage", "nowhere", 1, 0, 1, { 1 }, { 1 } },
			"tensor x: storage nowhere has 0 numbers" },
		{ { "x", "FloatStorage", "../version", 1, 0, 0, { 0 }, { 0 } },
			"storage ../version has 0 numbers" },
		{ { "x", "FloatStorage", "0", 24, 24, 1, { 1 }, { 1 } },
			"tensor x reaches beyond the 24 numbers" },
		{ { "x", "FloatStorage", "0", 24, -1, 1, { 1 }, { 1 } },
			"tensor x reaches beyond" },
		{ { "x", "FloatStorage", "0", 24, 0, 1, { 25 }, { 1 } },
			"tensor x reaches beyond" },
		{ { "x", "FloatStorage", "0", 24, 0, 2, { 2, 2 }, { 23, 1 } },
			"tensor x reaches beyond" },
		{ { "x", "FloatStorage", "0", 24, 0, 4, { 2147483647, 2147483647,
			2147483647, 2 }, { 2147483647, 2147483647, 2147483647,
			1 } }, "tensor x reaches beyond" },
		{ { "x", "FloatStorage", "0", 24, 0, 1, { -1 }, { 1 } },
			"size or stride that is not a number from 0" },
		{ { "x", "FloatStorage", "0", 24, 0, 1, { 1 }, { -1 } },
			"size or stride that is not a number from 0" },
		{ { "x", "FloatStorage", "0", 24, 0, 1, { 2147483647 }, { 0 } },
			"tensor x has more than 4" },
		{ { "x", "FloatStorage", "0", 24, 0, 4, { 2147483647, 2147483647,
			2147483647, 2 }, { 0 } }, "tensor x has more than 4" },
	};
	static const struct made good[] = {
		{ "last", "FloatStorage", "0", 24, 23, 1, { 1 }, { 2147483647 } },
		{ "none", "FloatStorage", "0", 24, 99, 2, { 0, 5 }, { 99, 1 } },
		{ "less", "FloatStorage", "0", 20, 19, 0, { 0 }, { 0 } },
	};
	static const float last[] = { 23 };
	struct weights_file w;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		refused(open_tensors(&bad[i].t, 1, &w), &w, bad[i].words);
	}
	for (int i = 0; i < 2; i++) {
		is(open_tensors(&good[i], 1, &w), 0, good[i].name);
		has(&w, good[i].name, last, (size_t)!i);
		weights_close(&w);
	}
	is(open_tensors(&good[2], 1, &w), 0,
	    "a storage smaller than its file is read");
	weights_close(&w);
	storage_views();
}

/* A class that would act when called is only a name. */
static void
inert(void)
{
	struct buffer b = { 0 };
	struct weights_file w;
	char *touched = xprintf("%s.touched", path);

	buffer_text(&b, "}(");
	make_text(&b, "evil");
	buffer_text(&b, "cposix\nsystem\n");
	b.data[b.n] = '\0';
	{
		char *command = xprintf("touch '%s'", touched);

		make_text(&b, command);
		free(command);
	}
	buffer_text(&b, "\x85R");
	make_text(&b, "log");
	/*
	 * As a list, a dict and an object with attributes, all of which are
	 * skipped.
	 */
	buffer_text(&b, "cmmengine.logging\nHistoryBuffer\n)\x81"
	    "(K\001K\002eK\001a(K\001K\002uK\001K\002s}b");
	make_text(&b, "state_dict");
	make_dict(&b, make_tensors, 3, 0);
	buffer_text(&b, "u");
	fail_flush();
	is(open_object(&b, &w), 0, "objects of unknown classes are skipped");
	is((long long)w.tensors, 3, "tensors after unknown objects are found");
	is(access(touched, F_OK), -1, "no unknown class is called");
	weights_close(&w);
	free(touched);
	/* A tensor of a type that no weight has. */
	make_dict(&b, make_tensors, 1, 0);
	make_text(&b, "complex");
	make_tensor(&b, &(struct made){ "c", "ComplexFloatStorage", "0", 3, 0,
	    1, { 3 }, { 1 } }, 0);
	buffer_text(&b, "s");
	is(open_object(&b, &w), 0, "tensors of other types are skipped");
	is((long long)w.tensors, 1, "tensors of known types are kept");
	weights_close(&w);
}

/* A pickle of more and more objects is refused at a limit. */
static void
memory(void)
{
	static const char *const grow[] = { "]", "}", "(", "N", ")",
		"K\001\x85", "Na", "(]" };
	struct weights_file w;

	for (size_t k = 0; k < sizeof(grow) / sizeof(grow[0]); k++) {
		struct buffer b = { 0 };
		int bad;

		buffer_text(&b, "]");
		for (int i = 0; i < 3000000; i++)
			buffer_text(&b, grow[k]);
		bad = open_object(&b, &w);
		ok(bad < 0 && (strstr(said, "objects larger than ten times "
		    "the file") != NULL || strstr(said, "too few values") !=
		    NULL || strstr(said, "no dict") != NULL),
		    "millions of objects are refused");
	}
}

/* ---- archives ---- */

/*
 * Open a good archive after writing ${n} bytes at ${at} of its last directory
 * entry, or with ${local} of its last local header.
 */
static int
open_changed(size_t at, const void *bytes, size_t n, int local,
    struct weights_file *w)
{
	struct buffer b = { 0 };
	size_t entry;

	make_file(&b, "zip");
	for (entry = b.n; entry-- > 0;)
		if (memcmp(b.data + entry, local ? "PK\003\004" : "PK\001\002",
		    4) == 0)
			break;
	memcpy(b.data + entry + at, bytes, n);
	return open_bytes(&b, w);
}

static void
archives(void)
{
	struct weights_file w;
	struct buffer b = { 0 }, dir = { 0 };
	int bad = 0;

	refused_as(-3, open_changed(10, "\010", 1, 0, &w), &w, "member "
	    "archive/version is compressed by method 8");
	refused_as(-3, open_changed(8, "\001", 1, 0, &w), &w, "is encrypted");
	refused(open_changed(20, "\007", 1, 0, &w), &w, "2 bytes at offset");
	refused(open_changed(20, "\xff\xff\xff\x7f\xff\xff\xff\x7f", 8, 0, &w),
	    &w, "2147483647 bytes at offset");
	refused(open_changed(42, "\xff\xff\xff\xff", 4, 0, &w), &w,
	    "no header at offset 4294967295");
	refused(open_changed(0, "PK\001\003", 4, 0, &w), &w,
	    "no entry of a zip directory (wanted 5 of them)");
	refused(open_changed(28, "\xff\xff", 2, 0, &w), &w, "no entry of a zip");
	refused(open_changed(47, "", 1, 0, &w), &w, "name has a zero byte");
	refused(open_changed(26, "\xff\xff", 2, 1, &w), &w, "bytes at offset");
	is(open_changed(16, "\0\0\0\0", 4, 0, &w), 0,
	    "a checksum of nothing is passed");
	ok(strstr(said, "1 of 5 members do not match their checksums, "
	    "archive/version the first") != NULL, "and reported");
	weights_close(&w);
	make_member(&b, &dir, "archive/constants.pkl", "N.", 2);
	make_zip_end(&b, &dir, 1);
	buffer_free(&dir);
	refused_as(-3, open_bytes(&b, &w), &w, "a zip archive without data.pkl");
	make_member(&b, &dir, "a", "N.", 2);
	make_member(&b, &dir, "a", "N.", 2);
	make_zip_end(&b, &dir, 2);
	buffer_free(&dir);
	refused(open_bytes(&b, &w), &w, "two members a");
	make_member(&b, &dir, "a/data.pkl", "\x80\2}.", 4);
	make_member(&b, &dir, "a/byteorder", "big", 3);
	make_zip_end(&b, &dir, 2);
	buffer_free(&dir);
	refused_as(-3, open_bytes(&b, &w), &w, "written on a big-endian machine");

	/* An archive cut at any length is refused. */
	make_file(&b, "zip");
	for (size_t n = 0, whole = b.n; n < whole; n += 7) {
		struct buffer part = { 0 };

		buffer_add(&part, b.data, n);
		bad += open_bytes(&part, &w) >= -1 || *said == '\0';
	}
	is(bad, 0, "every shorter archive is refused");
	buffer_free(&b);
	make_file(&b, "legacy");
	for (size_t n = 0, whole = b.n; n < whole; n++) {
		struct buffer part = { 0 };

		buffer_add(&part, b.data, n);
		bad += open_bytes(&part, &w) >= -1 || *said == '\0';
	}
	is(bad, 0, "every shorter legacy file is refused");
	buffer_free(&b);
}

/* Sizes that are given in the extra field of zip64. */
static void
zip64(void)
{
	static const char size[] = "\xff\xff\xff\xff";
	struct buffer b = { 0 }, dir = { 0 };
	struct weights_file w;
	unsigned char extra[28] = { 1, 0, 24 }, end[76] = "PK\006\006";
	const char *pickle = "\x80\2}.";

	make_member(&b, &dir, "a/data.pkl", pickle, 4);
	memcpy(dir.data + 20, size, 4);
	memcpy(dir.data + 24, size, 4);
	memcpy(dir.data + 42, size, 4);
	put16((unsigned char *)dir.data + 30, sizeof(extra));
	put64(extra + 4, 4);
	put64(extra + 12, 4);
	buffer_add(&dir, extra, sizeof(extra));
	put64(end + 32, 1);
	put64(end + 40, dir.n);
	put64(end + 48, b.n);
	memcpy(end + 56, "PK\006\007", 4);
	put64(end + 64, b.n + dir.n);
	buffer_add(&b, dir.data, dir.n);
	buffer_add(&b, end, sizeof(end));
	buffer_free(&dir);
	make_zip_end(&b, &dir, 0xffff);
	memcpy(b.data + b.n - 10, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
	refused_as(-3, open_bytes(&b, &w), &w, "the dict is empty");
}

static void
others(void)
{
	struct buffer b = { 0 };
	struct weights_file w;

	buffer_text(&b, "<html>not found</html>");
	refused_as(-3, open_bytes(&b, &w), &w,
	    "not a file of weights that is known");
	buffer_text(&b, "");
	refused(open_bytes(&b, &w), &w, "the file is empty");
	make_file(&b, "legacy");
	b.data[17] = 'N';	/* the opcode of the protocol's number */
	refused(open_bytes(&b, &w), &w, "which no file of weights needs");
	make_file(&b, "legacy");
	b.data[18]++;
	refused(open_bytes(&b, &w), &w, "a protocol that is not 1001");
	unlink(path);
	is(weights_open(path, &w), -1, "an absent file is an error");
}

int
main(void)
{
	path = xprintf("%s/vt-weights.%d", getenv("TMPDIR") != NULL ?
	    getenv("TMPDIR") : "/tmp", (int)getpid());
	kinds();
	arrays();
	arrays_refused();
	types();
	places();
	protocols();
	other_types();
	opcodes();
	pickles();
	views();
	inert();
	memory();
	archives();
	zip64();
	others();
	unlink(path);
	free(path);
	return done();
}
