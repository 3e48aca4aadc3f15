/*
 * The times of its steps decide what limits a run: computation, decoding or
 * reading, with the number of loader threads that would free it.
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
	is_text(decided(0, 0.4, 3.6, 2, 6), "computation limits 16x8x112: the "
	    "loader needs 0.4 of 2 cores", "no wait");
	is_text(decided(0.4, 0.4, 3.6, 1, 6), "computation limits 16x8x112: the "
	    "loader needs 0.4 of 1 core", "a wait of 4 %");
	is_text(decided(6, 2, 53, 6, 6), "decoding limits 16x8x112: needs 14 "
	    "cores per device, has 6 (wanted more cores, or smaller stored "
	    "frames)", "all cores decode");
	is_text(decided(6, 2, 53, 8, 6), "decoding limits 16x8x112: needs 14 "
	    "cores per device, has 6 (wanted more cores, or smaller stored "
	    "frames)", "more threads than cores");
	is_text(decided(5, 1, 19, 2, 12), "decoding limits 16x8x112: needs 4 "
	    "cores per device, has 2 (wanted --loader-threads=4 of 12 cores)",
	    "cores are left");
	is_text(decided(6, 2, 53, 2, 12), "decoding limits 16x8x112: needs 14 "
	    "cores per device, has 2 (wanted --loader-threads=12 of 12 cores)",
	    "too few cores are left");
	is_text(decided(9.99, 2, 53, 6, 6), "decoding limits 16x8x112: needs "
	    "more than 1024 cores per device, has 6 (wanted more cores, or "
	    "smaller stored frames)", "steps that hardly compute");
	is_text(decided(1, 1, 9, 2, 12), "decoding limits 16x8x112: needs 3 "
	    "cores per device, has 2 (wanted --loader-threads=3 of 12 cores)",
	    "irregular steps wait although the mean needs fewer threads");
	is_text(decided(6, 30, 10, 2, 12), "reading limits 16x8x112: 75 % of "
	    "loading a clip waits for files (wanted faster storage, or "
	    "--loader-threads=10)", "slow storage");
	is_text(decided(10, 30, 10, 2, 12), "reading limits 16x8x112: 75 % of "
	    "loading a clip waits for files (wanted faster storage, or "
	    "--loader-threads=4)", "no time is left to compute");
	return done();
}
