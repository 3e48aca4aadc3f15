/* Annotation lists in every format: an accepted row has a label of its list of
 * classes, or none. */
#include "ingest/list_format.h"

#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size);
	struct class_list names = { 0 };

	FUZZ_QUIET();
	for (int format = 0; format == 0 || list_formats[format - 1].name != NULL;
	    format++) {
		struct class_list classes = { 0 };
		struct list l = { 0 };
		const struct list_how how = {
			.format = format, .root = "root", .around = 2,
			.fps = 24, .attribute = "a", .tier = "a",
			.background = "b" };

		if (list_read(&l, path, &how) == 0 &&
		    list_number(&l, &classes, path) == 0)
			for (size_t i = 0; i < l.n; i++) {
				const struct sample *s = &l.row[i].sample;

				MUST(s->label >= -1 && (classes.n == 0 ||
				    s->label < (int)classes.n));
				for (int k = 0; k < s->nlabels; k++)
					MUST(s->labels[k].class >= 0);
			}
		list_free(&l);
		class_list_free(&classes);
	}
	for (int zero = 0; zero < 2; zero++) {
		struct list l = { 0 };

		(void)list_read_paths(&l, path, zero);
		list_free(&l);
	}
	(void)list_classes(path, 0, &names);
	class_list_free(&names);
	return 0;
}
