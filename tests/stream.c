/* tests/stream MAKE...: see main; without arguments the tests. */
#include <unistd.h>
#include "stream_make.h"
#include "tap.h"
int
main(int argc, char **argv)
{
	if (argc > 1) {
		struct make m = { .first = atoi(argv[1]), .samples = atoi(argv[2]), .frames = atoi(argv[3]),
			.bytes = atoi(argv[4]), .labels = atoi(argv[5]), .head = atoi(argv[6]), .seed = 1 };
		return make_stream(1, &m) != 0;
	}
	return done();
}
