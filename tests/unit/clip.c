/*
 * The frames of a clip, for training, validation and tests: they agree with
 * tables of TSM and PySlowFast, and with the rules at all small sizes.
 */
#include "base/file.h"
#include "base/mem.h"
#include "base/table.h"
#include "clip/clip.h"
#include "clip/draw.h"

#include "tap.h"

#define MAX 1024

#define OF(total, t) (&(struct clip_input){ total, t, 0, 0 })
#define STRIDED(total, t, stride) (&(struct clip_input){ total, t, stride, 30 })

/* The number of the first frame in the tables. */
static int from = 1;

/* Return 1 if ${text}, "3,8,13", lists the ${n} frames of ${frame}. */
static int
same_list(const char *text, const int *frame, int n)
{
	for (int i = 0; i < n; i++) {
		char *end;

		if (strtol(text, &end, 10) != frame[i] + from)
			return 0;
		text = end + (*end == ',');
	}
	return *text == '\0';
}

static void
list(char *text, const int *frame, int n)
{
	for (int i = 0; i < n; i++)
		text += sprintf(text, "%s%d", i > 0 ? "," : "", frame[i] + from);
}

static int
same_cell(const struct table *g, size_t row, const char *name,
    const int *frame, int n)
{
	char got[16 * MAX];

	if (same_list(table_text(g, row, name), frame, n))
		return 1;
	list(got, frame, n);
	diag("line %d, %s: got %s, wanted %s", g->line[row], name, got,
	    table_text(g, row, name));
	return 0;
}

/* Find the minimum and maximum of each frame over ${draws} random clips. */
static void
ranges(enum sampler s, int total, int t, int draws, int *low, int *high)
{
	int frame[MAX];

	for (int g = 0; g < draws; g++) {
		clip_train(s, OF(total, t), rng_clip(5, (uint64_t)g), frame);
		for (int i = 0; i < t; i++) {
			if (g == 0 || frame[i] < low[i])
				low[i] = frame[i];
			if (g == 0 || frame[i] > high[i])
				high[i] = frame[i];
		}
	}
}

/*
 * Return 1 if TSM's training clips fill segments of ${each} frames; if 0, if
 * they take frame 0 only.
 */
static int
train_is(int total, int t, int each)
{
	int low[MAX], high[MAX], draws = each > 0 ? 40 * each : 5, good = 1;

	ranges(SAMPLER_TSM_UPSTREAM, total, t, draws < 400 ? 400 : draws, low,
	    high);
	for (int i = 0; i < t; i++)
		good &= low[i] == i * each &&
		    high[i] == (each > 0 ? i * each + each - 1 : 0);
	return good;
}

static void
test_golden(void)
{
	struct table *g = table_read(golden_path("idx_tsm_segments.tsv"));
	int val = 0, test = 0, twice = 0, dense = 0, train = 0, repaired = 0;

	for (size_t r = 0; r < g->rows; r++) {
		int64_t n = 0, t = 0, each = 0;
		int frame[MAX], other[MAX], total, k;

		table_int(g, r, "video_frames", 1, 1 << 20, &n);
		table_int(g, r, "segments", 1, 64, &t);
		table_int(g, r, "train_avg_duration", 0, 1 << 20, &each);
		total = (int)n;
		k = (int)t;
		clip_validate(SAMPLER_TSM_UPSTREAM, OF(total, k), frame);
		val += same_cell(g, r, "val_1based", frame, k);
		clip_validate(SAMPLER_TSM, OF(total, k), other);
		repaired += same_cell(g, r, total > k ? "val_1based" :
		    "test_1based", other, k);
		clip_test(SAMPLER_TSM_UPSTREAM, OF(total, k), 0, 1, frame);
		test += same_cell(g, r, "test_1based", frame, k);
		clip_test(SAMPLER_TSM, OF(total, k), 0, 2, frame);
		clip_test(SAMPLER_TSM, OF(total, k), 1, 2, frame + k);
		twice += same_cell(g, r, "twice_1based", frame, 2 * k);
		for (int v = 0; v < 10; v++)
			clip_test(SAMPLER_DENSE, OF(total, k), v, 10, frame + v *
			    k);
		dense += same_cell(g, r, "dense_10clips_1based", frame, 10 * k);
		train += train_is(total, k, (int)each) &&
		    (each > 0) == (strcmp(table_text(g, r, "train_mode"),
		    "jitter") == 0);
	}
	is(val, (long long)g->rows,
	    "tsm-upstream: validation clips as published");
	is(repaired, (long long)g->rows,
	    "tsm: validation as published above T frames, else spread evenly");
	is(test, (long long)g->rows, "tsm-upstream: test clips as published");
	is(twice, (long long)g->rows, "tsm: two test clips as published");
	is(dense, (long long)g->rows, "dense: ten test clips as published");
	is(train, (long long)g->rows,
	    "tsm-upstream: training clips fill exactly the published ranges");
	table_free(g);
}

/* Return a number from 0 to a million of row ${r}. */
static int
number(const struct table *g, size_t r, const char *name)
{
	int64_t v = -1;

	table_int(g, r, name, 0, 1 << 20, &v);
	return (int)v;
}

static void
test_pyslowfast(void)
{
	struct table *g = table_read(golden_path(
	    "idx_psf_kinetics_test_clip.tsv"));
	int good = 0, frame[MAX], low = MAX, high = 0, inside = 1;
	struct clip_input v = { 300, 8, 8, 25 };

	from = 0;
	for (size_t r = 0; r < g->rows; r++) {
		struct clip_input c = { number(g, r, "video_frames"),
			number(g, r, "T"), number(g, r, "tau"),
			atof(table_text(g, r, "fps")) };

		clip_test(SAMPLER_PYSLOWFAST, &c, number(g, r,
		    "clip_idx_of_10"), 10, frame);
		good += same_cell(g, r, "frame_indices", frame, c.t);
	}
	is(good, (long long)g->rows, "PySlowFast: test windows as published");
	table_free(g);
	for (uint64_t k = 0; k < 4000; k++) {
		clip_train(SAMPLER_PYSLOWFAST, &v, rng_clip(3, k), frame);
		low = frame[0] < low ? frame[0] : low;
		high = frame[7] > high ? frame[7] : high;
		/*
		 * A window of 53.3 frames: neighbors are 52.3 / 7 = 7.5 apart.
		 */
		for (int i = 1; i < 8; i++)
			inside &= frame[i] - frame[i - 1] == 7 ||
			    frame[i] - frame[i - 1] == 8;
	}
	ok(low == 0 && high == 298 && inside,
	    "PySlowFast: training windows start anywhere (%d to %d)",
	    low, high);
	clip_validate(SAMPLER_PYSLOWFAST, &v, frame);
	ok(frame[0] == 123 && frame[7] == 175,
	    "PySlowFast: the validation window is in the middle");
	v = (struct clip_input){ 10, 4, 2, 0 };
	clip_test(SAMPLER_PYSLOWFAST, &v, 0, 1, frame);
	ok(frame[1] == 2 && frame[3] == 7,
	    "PySlowFast: an unknown rate counts as 30 per second");
}

static void
test_ssv2(void)
{
	struct table *g = table_read(golden_path("idx_psf_ssv2_segments.tsv"));
	int test = 0, train = 0, frame[MAX], low[MAX], high[MAX];

	from = 0;
	for (size_t r = 0; r < g->rows; r++) {
		int n = number(g, r, "video_frames"), t = number(g, r, "T");
		int each = n / t + 2, good = 1;
		const char *p = table_text(g, r, "train_inclusive_ranges");

		clip_test(SAMPLER_SSV2, OF(n, t), 0, 1, frame);
		test += same_cell(g, r, "val_test_indices", frame, t);
		ranges(SAMPLER_SSV2, n, t, 40 * each + 400, low, high);
		for (int i = 0; i < t; i++, p += *p == ';') {
			good &= strtol(p, (char **)&p, 10) == low[i];
			good &= strtol(p + 1, (char **)&p, 10) == high[i];
		}
		train += good && *p == '\0';
	}
	is(test, (long long)g->rows,
	    "SSv2: test frames are the published segment centres");
	is(train, (long long)g->rows,
	    "SSv2: training clips fill exactly the published ranges");
	table_free(g);
}

static void
test_charades(void)
{
	struct table *g = table_read(golden_path("idx_psf_charades_test.tsv"));
	struct clip_input v = { 40, 16, 4, 0 };
	int good = 0, frame[MAX], low = MAX, high = 0, first = 0, even = 1;

	from = 0;
	for (size_t r = 0; r < g->rows; r++) {
		struct clip_input c = { number(g, r, "video_frames"),
			number(g, r, "T"), number(g, r, "tau"), 0 };

		clip_test(SAMPLER_CHARADES, &c, number(g, r,
		    "clip_idx_of_10"), 10, frame);
		good += same_cell(g, r, "indices", frame, c.t);
	}
	is(good, (long long)g->rows, "Charades: test windows as published");
	table_free(g);
	/*
	 * A window of 61 frames in a video of 40 begins up to 21 frames before
	 * it, or ends up to 21 after it.
	 */
	for (uint64_t k = 0; k < 2000; k++) {
		clip_train(SAMPLER_CHARADES, &v, rng_clip(3, k), frame);
		low = frame[15] < low ? frame[15] : low;
		high = frame[0] > high ? frame[0] : high;
		first += frame[5] == 0;
		for (int i = 1; i < 16; i++)
			even &= frame[i] - frame[i - 1] <= 4;
	}
	ok(low == 39 && high == 0 && even && first > 20 && first < 200,
	    "Charades: too long a window overlaps the video at random");
	v.total = 100;
	low = MAX;
	for (uint64_t k = 0; k < 2000; k++) {
		clip_train(SAMPLER_CHARADES, &v, rng_clip(3, k), frame);
		low = frame[0] < low ? frame[0] : low;
		high = frame[15] > high ? frame[15] : high;
	}
	ok(low == 0 && high == 99,
	    "Charades: a short window is anywhere in the video");
}

/* The same by the rule itself, for all n and T up to a size. */
static void
test_rule(void)
{
	int center = 0, once = 0, early = 0, same = 0;
	int frame[MAX], other[MAX];

	for (int n = 1; n <= 200; n++)
		for (int t = 1; t <= 40; t++) {
			clip_validate(SAMPLER_TSM, OF(n, t), frame);
			clip_validate(SAMPLER_TSM_UPSTREAM, OF(n, t), other);
			for (int i = 0; i < t; i++) {
				int exact = n * (2 * i + 1) / (2 * t);

				/* one too early where n / t rounds down */
				early += frame[i] != exact;
				center += frame[i] == exact ||
				    (frame[i] == exact - 1 &&
				    n * (2 * i + 1) % (2 * t) == 0);
				once += n == t && frame[i] == i;
				same += other[i] == (n > t ? frame[i] : 0);
			}
		}
	is(center, 200 * 820,
	    "tsm: validation takes the middle of each segment");
	ok(early < 200 * 820 / 100, "tsm: rounding takes an earlier frame "
	    "seldom (%d of %d)", early, 200 * 820);
	is(once, 820, "tsm: a video of T frames gives each frame once");
	is(same, 200 * 820, "tsm-upstream differs only at T frames or fewer");
}

static void
test_short(void)
{
	int low[MAX], high[MAX], frame[MAX], good = 1, order = 1;

	for (int n = 1; n < 12; n++) {
		ranges(SAMPLER_TSM, n, 12, 2000, low, high);
		for (int i = 0; i < 12; i++)
			good &= low[i] == i * n / 12 &&
			    high[i] == ((i + 1) * n - 1) / 12;
		for (uint64_t g = 0; g < 200; g++) {
			clip_train(SAMPLER_TSM, OF(n, 12), rng_clip(1, g), frame);
			for (int i = 1; i < 12; i++)
				order &= frame[i] >= frame[i - 1];
		}
	}
	ok(good, "tsm: below T frames training clips fill the segments");
	ok(order, "tsm: below T frames training clips are in order");
	ranges(SAMPLER_TSM, 1, 64, 10, low, high);
	ok(low[0] == 0 && high[63] == 0,
	    "tsm: a video of one frame repeats it 64 times");
}

static void
test_dense(void)
{
	int low[MAX], high[MAX], frame[MAX];

	ranges(SAMPLER_DENSE, 80, 8, 2000, low, high);
	ok(low[0] == 0 && high[0] == 15 && low[7] == 56 && high[7] == 71,
	    "dense: training windows start at 0 to n - 65");
	ranges(SAMPLER_DENSE, 65, 8, 200, low, high);
	ok(low[0] == 0 && high[0] == 0,
	    "dense: at 65 frames the window starts at 0");
	ranges(SAMPLER_DENSE, 30, 8, 200, low, high);
	ok(low[0] == 0 && high[0] == 0 && low[4] == 2 && high[4] == 2,
	    "dense: in a shorter video it starts at 0 and wraps around");
	clip_validate(SAMPLER_DENSE, OF(164, 8), frame);
	ok(frame[0] == 50 && frame[7] == 106,
	    "dense: the validation window is in the middle");
	clip_test(SAMPLER_DENSE, OF(10, 128), 0, 1, frame);
	ok(frame[1] == 1 && frame[11] == 1,
	    "dense: above 64 frames the stride is 1");
	ok(clip_test_max(SAMPLER_TSM, 0) == 2 &&
	    clip_test_max(SAMPLER_DENSE, 0) >= 10 &&
	    clip_test_max(SAMPLER_TSM, 2) >= 10 &&
	    clip_test_max(SAMPLER_SSV2, 2) == 1,
	    "the maximum number of test clips is that of the sampler");
}

static void
test_strided(void)
{
	int low = MAX, high = 0, even = 1, frame[MAX];

	for (uint64_t g = 0; g < 2000; g++) {
		clip_train(SAMPLER_TSM, STRIDED(40, 8, 4), rng_clip(3, g), frame);
		low = frame[0] < low ? frame[0] : low;
		high = frame[0] > high ? frame[0] : high;
		for (int i = 1; i < 8; i++)
			even &= frame[i] == frame[0] + 4 * i;
	}
	ok(even, "strided: frames are a stride apart");
	ok(low == 0 && high == 11,
	    "strided: the window starts wherever it fits");
	clip_train(SAMPLER_TSM, STRIDED(20, 8, 4), rng_clip(3, 0), frame);
	ok(frame[0] == 0 && frame[4] == 16 && frame[5] == 19 && frame[7] == 19,
	    "strided: a short video repeats its last frame");
	clip_test(SAMPLER_TSM, STRIDED(40, 8, 4), 0, 1, frame);
	is(frame[0], 5, "strided: one view is in the middle");
	clip_test(SAMPLER_TSM, STRIDED(40, 8, 4), 2, 3, frame);
	is(frame[7], 39,
	    "strided: the last of several views ends with the video");
	clip_test(SAMPLER_TSM, STRIDED(1, 8, 1 << 28), 1, 2, frame);
	is(frame[7], 0, "strided: a huge stride does not overflow");
}

/* The window of MMAction2: 8 frames, 4 apart, in 40 and in 20 frames. */
static void
test_mmaction2(void)
{
	static const int looped[8] = { 0, 4, 8, 12, 16, 0, 4, 8 };
	int low = MAX, high = 0, same = 1, frame[MAX];

	for (uint64_t g = 0; g < 2000; g++) {
		clip_train(SAMPLER_MMACTION2, STRIDED(40, 8, 4), rng_clip(3, g),
		    frame);
		low = frame[0] < low ? frame[0] : low;
		high = frame[0] > high ? frame[0] : high;
		clip_train(SAMPLER_MMACTION2, STRIDED(20, 8, 4), rng_clip(3, g),
		    frame);
		same &= memcmp(frame, looped, sizeof(looped)) == 0;
	}
	ok(low == 0 && high == 8,
	    "MMAction2: a window of T strides starts wherever it fits");
	ok(same, "MMAction2: a short video starts again at its first frame");
	clip_test(SAMPLER_MMACTION2, STRIDED(40, 8, 4), 0, 1, frame);
	is(frame[0], 5, "MMAction2: one view is in the middle");
	clip_test(SAMPLER_MMACTION2, STRIDED(40, 8, 4), 1, 5, frame);
	is(frame[0], 3, "MMAction2: starts are rounded to the nearest");
	clip_test(SAMPLER_MMACTION2, STRIDED(1, 8, 1 << 28), 1, 2, frame);
	is(frame[7], 0, "MMAction2: a huge stride does not overflow");
}

/* A clip does not depend on numbers that were drawn for it before. */
static void
test_draws(void)
{
	struct rng a = rng_clip(9, 77), b = clip_draw(a, DRAW_FLIP);
	int first[16], again[16];

	clip_train(SAMPLER_TSM, OF(300, 16), a, first);
	rng_below(&b, 3);
	clip_train(SAMPLER_TSM, OF(300, 16), b, again);
	ok(memcmp(first, again, sizeof(first)) == 0,
	    "draws of one purpose do not depend on other draws");
}

int
main(void)
{
	test_golden();
	test_pyslowfast();
	test_ssv2();
	test_charades();
	test_rule();
	test_short();
	test_dense();
	test_strided();
	test_mmaction2();
	test_draws();
	return done();
}
