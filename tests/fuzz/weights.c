/*
 * Weight files: every value of every tensor can be read, and no tensor is
 * larger than ten times the file and 16 MiB.  The bytes are also wrapped as the
 * pickle of a state dict with two storages, so that the pickle reader is
 * reached without a valid archive.
 */
#include "weights/weights.h"

#include "fuzz.h"
#include "../weights_find.h"
#include "../weights_make.h"

static void
look(const void *data, size_t size)
{
	struct weights_file w;

	if (weights_open(fuzz_file(data, size), &w) != 0)
		return;
	for (size_t i = 0; i < w.tensors; i++) {
		const struct weight *t = &w.tensor[i];
		float *x;

		MUST(t->count <= arena_max(size) / sizeof(*x));
		MUST(weights_find(&w, t->name) == t);
		x = xcalloc(t->count, sizeof(*x));
		weights_floats(t, x);
		free(x);
	}
	weights_close(&w);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer dir = { 0 }, b = { 0 };

	FUZZ_QUIET();
	look(data, size);
	make_member(&b, &dir, "a/data.pkl", data, size);
	make_member(&b, &dir, "a/data/0", make_floats, sizeof(make_floats));
	make_member(&b, &dir, "a/data/1", make_halves, sizeof(make_halves));
	make_zip_end(&b, &dir, 3);
	look(b.data, b.n);
	buffer_free(&dir);
	buffer_free(&b);
	return 0;
}
