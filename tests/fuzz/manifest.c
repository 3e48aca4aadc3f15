/* The manifest of a packed set: an accepted one has shards, samples and
 * options. */
#include <fcntl.h>

#include "shard/manifest.h"

#include "fuzz.h"

static char dir[] = "/tmp/vt-fuzz.XXXXXX";

static void
clean_up(void)
{
	char path[sizeof(dir) + sizeof(MANIFEST_NAME)];

	snprintf(path, sizeof(path), "%s/" MANIFEST_NAME, dir);
	unlink(path);
	rmdir(dir);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct manifest *m;

	if (fd < 0) {
		char path[sizeof(dir) + sizeof(MANIFEST_NAME)];

		MUST(mkdtemp(dir) != NULL);
		atexit(clean_up);
		snprintf(path, sizeof(path), "%s/" MANIFEST_NAME, dir);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	}
	MUST(fd >= 0 && ftruncate(fd, 0) == 0 &&
	    pwrite(fd, data, size, 0) == (ssize_t)size);
	FUZZ_QUIET();
	if ((m = manifest_read(dir, NULL)) != NULL)
		MUST(m->shards > 0 && m->samples > 0 && m->options != NULL);
	manifest_free(m);
	return 0;
}
