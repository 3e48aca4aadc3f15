/*
 * safetensors files: every value of every tensor can be read as its type, with
 * the footer of a checkpoint and without.
 */
#include "base/hash.h"
#include "train/run/checkpoint.h"

#include "fuzz.h"

#define FOOTER 64

static void
look(const struct safetensors *s)
{
	double sum = 0;
	volatile double used;

	for (size_t i = 0; i < s->tensors; i++) {
		const struct tensor *t = &s->tensor[i];

		MUST(safetensors_tensor(s, t->name) != NULL);
		for (size_t k = 0; k < t->bytes / 4 && t->type == DTYPE_F32; k++)
			sum += ((const float *)t->data)[k];
		for (size_t k = 0; k < t->bytes / 8 && t->type == DTYPE_F64; k++)
			sum += ((const double *)t->data)[k];
		for (size_t k = 0; k < t->bytes && t->type == DTYPE_U8; k++)
			sum += ((const unsigned char *)t->data)[k];
	}
	used = sum;
	(void)used;
	for (size_t i = 0; i < s->metas; i++)
		MUST(safetensors_meta(s, s->meta[i].key) != NULL);
}

/* Replace the last bytes by a valid footer. */
static void
seal(uint8_t *file, size_t size)
{
	uint8_t *f = file + size - FOOTER;
	struct hash128 hash = hash128(file, size - FOOTER);

	memset(f, 0, FOOTER);
	memcpy(f, "VTCKPT1", 8);
	for (int i = 0; i < 8; i++)
		f[8 + i] = (uint8_t)((uint64_t)(size - FOOTER) >> 8 * i);
	memcpy(f + 16, hash.byte, sizeof(hash.byte));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct safetensors s;
	struct state state;
	uint8_t *copy;

	FUZZ_QUIET();
	if (safetensors_read(fuzz_file(data, size), 0, &s) == 0) {
		look(&s);
		safetensors_free(&s);
	}
	if (size <= FOOTER)
		return 0;
	copy = xmalloc(size);
	memcpy(copy, data, size);
	seal(copy, size);
	if (checkpoint_read(fuzz_file(copy, size), &s, &state) == 0) {
		look(&s);
		MUST(strlen(state.network) < size);
		safetensors_free(&s);
	}
	free(copy);
	return 0;
}
