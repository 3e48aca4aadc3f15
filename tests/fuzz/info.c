/* KEY.json: a file that is accepted prints as text that reads back the same. */
#include "shard/sample.h"

#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = NULL, *text2 = NULL;
	struct sample *i, *again;

	FUZZ_QUIET();
	i = sample_read("KEY.json", (const char *)data, size, &text, NULL);
	if (i == NULL)
		return 0;
	MUST(key_is_valid(i->key) && i->frames >= 1);
	again = sample_read("again", text, strlen(text), &text2, NULL);
	MUST(again != NULL && strcmp(text2, text) == 0);
	sample_free(again);
	sample_free(i);
	free(text);
	free(text2);
	return 0;
}
