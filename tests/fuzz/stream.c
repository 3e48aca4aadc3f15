/* Streams of samples, from vt-extract and from other programs: packing ends
 * with a documented status. */
#include <stdlib.h>

#include "base/exit.h"
#include "shard/pack.h"

#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size);

	FUZZ_QUIET();
	for (int foreign = 0; foreign < 3; foreign++) {
		const struct pack_options o = {
			.dir = "/nonexistent/set", .prefix = "shard",
			.shard_size = 4096, .max_member = 1 << 20,
			.foreign = (enum stream_layout)foreign,
			.skip_foreign = foreign > 0,
			.dry_run = 1,
		};
		struct pack_report r = { 0 };
		int status = pack(&o, &path, 1, &r);

		MUST(status == EXIT_DONE || status == EXIT_FAILED ||
		    status == EXIT_USAGE || status == EXIT_SKIPPED);
		free(r.classes);
	}
	return 0;
}
