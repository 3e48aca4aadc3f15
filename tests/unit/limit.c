/*
 * The times of its steps decide what limits a run: computation, decoding or
 * reading.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "train/loop/limit.h"

#include "tap.h"

static const char *
decided(double waited, double read, double decode, int threads, int cores)
{
	static char text[200];
	const struct limit_costs c = { .steps = 90, .seconds = 10,
		.waited = waited, .read = read, .decode = decode,
		.threads = threads, .cores = cores };
	struct limit l = limit_decide(&c);

	limit_text(text, sizeof(text), &l, &c, "16x8x112");
	return text;
}

int
main(void)
{
	static const struct {
		double waited, read, decode;
		int threads, cores;
		const char *want, *what;
	} row[] = {
		{ 0, 0.4, 3.6, 2, 6, "computation limits 16x8x112: of 2 cores "
		    "the loader needs 0.4, 10", "no wait" },
		{ 0.4, 0.4, 3.6, 1, 6, "computation limits 16x8x112: of 1 core "
		    "the loader needs 0.4, 10", "a wait of 4 %" },
		{ 6, 2, 53, 6, 6, "decoding limits 16x8x112: of 6 cores the "
		    "loader needs 13.8, 4", "all cores decode" },
		{ 6, 2, 53, 8, 6, "decoding limits 16x8x112: of 6 cores the "
		    "loader needs 13.8, 4", "more threads than cores" },
		{ 5, 1, 19, 2, 12, "decoding limits 16x8x112: of 2 cores the "
		    "loader needs 4.0, 5", "cores are left" },
		{ 9.99, 2, 53, 6, 6, "decoding limits 16x8x112: of 6 cores the "
		    "loader needs more than 1024.0, 4",
		    "steps that hardly compute" },
		{ 1, 1, 9, 2, 12, "decoding limits 16x8x112: of 2 cores the "
		    "loader needs 1.1, 10", "irregular steps wait although the "
		    "mean needs fewer threads" },
		{ 6, 30, 10, 2, 12, "reading limits 16x8x112: of 2 cores the "
		    "loader needs 10.0, 75", "slow storage" },
		{ 10, 30, 10, 2, 12, "reading limits 16x8x112: of 2 cores the "
		    "loader needs 4.0, 75", "no time is left to compute" },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		char *want = xprintf("%s %% of that to read files",
		    row[i].want);

		is_text(decided(row[i].waited, row[i].read, row[i].decode,
		    row[i].threads, row[i].cores), want, row[i].what);
		free(want);
	}
	return done();
}
