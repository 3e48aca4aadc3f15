/* KEY.json: what is read prints as text that reads back the same. */
#include "shard/info.h"

#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct info *i, *again;

	FUZZ_QUIET();
	i = info_read("KEY.json", (const char *)data, size);
	if (i == NULL)
		return 0;
	MUST(key_is_valid(i->key) && i->sample.frames >= 1);
	again = info_read("again", i->text, strlen(i->text));
	MUST(again != NULL && strcmp(again->text, i->text) == 0);
	info_free(again);
	info_free(i);
	return 0;
}
