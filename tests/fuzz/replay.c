/*
 * replay FILE|DIR...: run the linked fuzz target on each file, for builds
 * without libFuzzer, and print the number of files.
 */
#include <dirent.h>
#include <err.h>

#include "base/file.h"

#include "fuzz.h"

static int
replay(const char *path)
{
	struct buffer b = { 0 };
	uint8_t *exact;

	said_end();
	if (file_read(path, &b) != 0)
		exit(1);
	/* An exact buffer, so that a sanitizer detects a read beyond the
	 * end. */
	exact = malloc(b.n > 0 ? b.n : 1);
	if (exact == NULL)
		err(1, "%s", path);
	memcpy(exact, b.data, b.n);
	fprintf(stderr, "%s\n", path);	/* the last path before a crash is
					 * the culprit */
	LLVMFuzzerTestOneInput(exact, b.n);
	free(exact);
	buffer_free(&b);
	return 1;
}

int
main(int argc, char **argv)
{
	int n = 0;

	for (int i = 1; i < argc; i++) {
		struct dirent **entry;
		int entries;

		if (!file_is_dir(argv[i])) {
			n += replay(argv[i]);
			continue;
		}
		if ((entries = scandir(argv[i], &entry, NULL, alphasort)) < 0)
			err(1, "%s", argv[i]);
		for (int k = 0; k < entries; k++) {
			char *path = path_join(argv[i], entry[k]->d_name);

			if (!file_is_dir(path))
				n += replay(path);
			free(path);
			free(entry[k]);
		}
		free(entry);
	}
	printf("%d\n", n);
	return 0;
}
