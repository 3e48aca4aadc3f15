/*
 * The times of its steps decide what limits a run: computation, decoding or
 * reading.
 */
#include "base/mem.h"
#include "train/loop/limit.h"

#include "tap.h"

static const char *
decided(double waited, double read, double decode, int threads, int cores)
{
	static char text[200];
	const struct limit_costs c = { .steps = 90, .seconds = 10,
		.waited = waited, .clips = 1440, .read = read, .decode = decode,
		.threads = threads, .cores = cores };
	struct limit l = limit_decide(&c);

	limit_text(text, sizeof(text), &l, &c, "16x8x112");
	return text;
}

int
main(void)
{
	is_text(decided(0, 0.4, 3.6, 2, 6), "computation limits 16x8x112: of "
	    "2 cores the loader needs 0.4, 10 % of that to read files",
	    "no wait");
	is_text(decided(0.4, 0.4, 3.6, 1, 6), "computation limits 16x8x112: of "
	    "1 core the loader needs 0.4, 10 % of that to read files",
	    "a wait of 4 %");
	is_text(decided(6, 2, 53, 6, 6), "decoding limits 16x8x112: of "
	    "6 cores the loader needs 13.8, 4 % of that to read files",
	    "all cores decode");
	is_text(decided(6, 2, 53, 8, 6), "decoding limits 16x8x112: of "
	    "6 cores the loader needs 13.8, 4 % of that to read files",
	    "more threads than cores");
	is_text(decided(5, 1, 19, 2, 12), "decoding limits 16x8x112: of "
	    "2 cores the loader needs 4.0, 5 % of that to read files",
	    "cores are left");
	is_text(decided(9.99, 2, 53, 6, 6), "decoding limits 16x8x112: of "
	    "6 cores the loader needs more than 1024.0, 4 % of that to read files",
	    "steps that hardly compute");
	is_text(decided(1, 1, 9, 2, 12), "decoding limits 16x8x112: of "
	    "2 cores the loader needs 1.1, 10 % of that to read files",
	    "irregular steps wait although the mean needs fewer threads");
	is_text(decided(6, 30, 10, 2, 12), "reading limits 16x8x112: of "
	    "2 cores the loader needs 10.0, 75 % of that to read files",
	    "slow storage");
	is_text(decided(10, 30, 10, 2, 12), "reading limits 16x8x112: of "
	    "2 cores the loader needs 4.0, 75 % of that to read files",
	    "no time is left to compute");
	return done();
}
