/*
 * Parts of vt-extract: results come in the order of their items, the spool
 * stays within its budget, sizes and settings are right, and only needed frames
 * are stored.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/ordered.h"
#include "base/spool.h"
#include "ingest/extract.h"
#include "ingest/extract_settings.h"
#include "ingest/needed.h"
#include "said.h"
#include "tap.h"

enum { N = 200 };

/* ---- ordered ---- */

static struct {
	atomic_int worked[N], started, finished, prefetch;
	int done[N], n, stop_at;
} seen;

static void
work(size_t i, int thread, void *arg)
{
	int far = (int)i - atomic_load(&seen.finished);

	(void)thread;
	atomic_fetch_add(&seen.started, 1);
	if (far > atomic_load(&seen.prefetch))
		atomic_store(&seen.prefetch, far);
	if (i % 7 == 0)
		clock_sleep(0.001);
	atomic_fetch_add(&seen.worked[i], *(int *)arg);
}

static int
done_one(int i)
{
	if (atomic_load(&seen.worked[i]) != 1)
		return 99;
	if (i == seen.stop_at)
		return 5;
	seen.done[seen.n++] = i;
	atomic_store(&seen.finished, i + 1);
	return 0;
}

static int
run(int threads, int caller, int window, int stop_at)
{
	struct ordered *o;
	int one = 1, r = 0;
	size_t i;

	memset(&seen, 0, sizeof(seen));
	seen.stop_at = stop_at;
	o = ordered_new(N, threads, caller, (size_t)window, work, &one);
	while (r == 0 && ordered_next(o, &i))
		r = done_one((int)i);
	ordered_free(o);
	return r;
}

static void
test_ordered(int threads, int caller)
{
	int right = 1;

	is(run(threads, caller, 5, -1), 0, "ordered: all items are done");
	for (int i = 0; i < N; i++)
		right &= seen.done[i] == i;
	ok(right && seen.n == N,
	    "ordered: items are done in order, %d threads", threads);
	ok(atomic_load(&seen.prefetch) < 5,
	    "ordered: work stays within the window");
	is(run(threads, caller, 5, 50), 5,
	    "ordered: the status of a failed item is returned");
	ok(seen.n == 50 && atomic_load(&seen.started) <= 56,
	    "ordered: no further item begins after a failure");
	is(run(threads, caller, 1, -1), 0, "ordered: a window of one works");
}

/* ---- spool ---- */

static void
test_spool(size_t limit, const char *what)
{
	struct spool_budget budget;
	struct spool *s;
	char *data = xmalloc(300000);
	int wrong = 0, r = 0;
	size_t n;

	spool_budget_open(&budget, limit);
	s = spool_new(&budget, 0);
	for (int i = 0; i < 40; i++) {
		memset(data, i, 300000);
		r |= spool_add(s, data, (size_t)(i * 7500 + 1));
	}
	is(r, 0, what);
	is((long long)spool_count(s), 40, "spool: all items are counted");
	ok(atomic_load(&budget.used) <= limit + (1 << 20),
	    "spool: memory stays within the budget");
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < 40; i++) {
			const char *p = spool_get(s, (size_t)i, &n, NULL);

			wrong += p == NULL || n != (size_t)(i * 7500 + 1) ||
			    p[0] != i || p[n - 1] != i;
		}
	is(wrong, 0, "spool: items read back twice");
	spool_free(s);
	is((long long)atomic_load(&budget.used), 0,
	    "spool: freeing returns the memory to the budget");
	ok(budget.kept_bytes <= limit,
	    "spool: what is kept for reuse is within the limit");
	s = spool_new(&budget, 10);
	is((long long)spool_count(s), 0, "spool: a reused spool is empty");
	r = spool_add(s, "once more", 9);
	ok(r == 0 && memcmp(spool_get(s, 0, &n, NULL), "once more", 9) == 0 && n == 9,
	    "spool: a reused spool stores an item");
	spool_free(s);
	spool_budget_close(&budget);
	free(data);
}

static void
test_spool_error(void)
{
	struct spool_budget budget;
	struct spool *s;
	char why[300], *data = xcalloc(1 << 20, 1);

	spool_budget_open(&budget, 0);
	s = spool_new(&budget, 0);
	setenv("TMPDIR", "/nonexistent", 1);
	said_begin(why, sizeof(why));
	is(spool_add(s, data, 1 << 20), -1,
	    "spool: a missing TMPDIR is an error");
	said_end();
	ok(strstr(why, "/nonexistent") != NULL,
	    "spool: the message names the folder: %s", why);
	unsetenv("TMPDIR");
	spool_free(s);
	free(data);
}

/* A full disk: a write that ends in the middle of an item.  With room, the next
 * one stores everything. */
static void
test_spool_full(void)
{
	enum { SIZE = 1 << 20 };
	struct spool_budget budget;
	struct rlimit before, less;
	struct spool *s;
	char why[300], *data = xmalloc(SIZE);
	int r[4], wrong = 0;
	size_t n;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	less = before;
	less.rlim_cur = 3 * SIZE / 2;
	spool_budget_open(&budget, 0);
	s = spool_new(&budget, 0);
	said_begin(why, sizeof(why));
	setrlimit(RLIMIT_FSIZE, &less);
	for (int i = 0; i < 4; i++) {
		memset(data, 'a' + i, SIZE);
		r[i] = spool_add(s, data, SIZE);
		if (i == 1)
			setrlimit(RLIMIT_FSIZE, &before);
	}
	said_end();
	ok(r[0] == 0 && r[1] == -1 && r[2] == 0 && r[3] == 0,
	    "spool: only the write to a full disk fails");
	for (int i = 0; i < 4; i++) {
		const char *p = spool_get(s, (size_t)i, &n, NULL);

		wrong += p == NULL || n != SIZE || p[0] != 'a' + i ||
		    p[SIZE - 1] != 'a' + i;
	}
	is(wrong, 0, "spool: after a partial write items read back");
	spool_free(s);
	spool_budget_close(&budget);
	free(data);
}

/* ---- sizes ---- */

static void
size_is(struct extract_options o, int w, int h, int want_w, int want_h)
{
	int got_w, got_h;

	extract_size(&o, w, h, &got_w, &got_h);
	if (!ok(got_w == want_w && got_h == want_h,
	    "size: %dx%d becomes %dx%d", w,
	    h, want_w, want_h))
		diag("got %dx%d", got_w, got_h);
}

static void
test_sizes(void)
{
	struct extract_options side = { .short_side = 256 };
	struct extract_options large = { .short_side = 256, .enlarge = 1 };
	struct extract_options exact = { .width = 171, .height = 128 };
	struct extract_options as_is = { 0 };

	size_is(side, 1920, 1080, 456, 256);	/* 455.1 */
	size_is(side, 1080, 1920, 256, 456);
	size_is(side, 426, 320, 340, 256);	/* 340.8: the nearest even
						 * number is 340 */
	size_is(side, 427, 320, 342, 256);	/* 341.6 */
	size_is(side, 300, 300, 256, 256);
	size_is(side, 340, 256, 340, 256);
	size_is(side, 341, 256, 341, 256);	/* already right: unchanged */
	size_is(side, 320, 240, 320, 240);	/* smaller: unchanged */
	size_is(side, 1, 1, 1, 1);
	size_is(side, 20000, 257, 19922, 256);
	size_is(large, 320, 240, 342, 256);	/* 341.3 */
	size_is(large, 1, 1, 256, 256);
	size_is(exact, 1920, 1080, 171, 128);
	size_is(exact, 16, 12, 171, 128);
	size_is(as_is, 1921, 1081, 1921, 1081);
}

/* ---- settings ---- */

static void
settings(void)
{
	static const char *const wrong[] = { "{}", "[]",
	    "{\"enlarge\":false,\"format\":\"bmp\",\"fps\":[0,0],\"height\":0,"
	    "\"quality\":90,\"short_side\":256,\"width\":0}",
	    "{\"enlarge\":false,\"format\":\"jpeg\",\"fps\":[12,0],\"height\":0,"
	    "\"quality\":90,\"short_side\":256,\"width\":0}",
	    "{\"enlarge\":false,\"format\":\"jpeg\",\"fps\":[0,0],\"height\":0,"
	    "\"quality\":90,\"short_side\":256,\"width\":5}",
	    "{\"enlarge\":false,\"format\":\"jpeg\",\"fps\":[0,0],\"height\":0,"
	    "\"quality\":0,\"short_side\":256,\"width\":0}" };
	const struct extract_options all[] = { extract_defaults,
		{ .short_side = 72, .enlarge = 1, .fps = { 30000, 1001 },
		    .format = EXTRACT_JPEG, .quality = 75 },
		{ .width = 340, .height = 256, .format = EXTRACT_PNG } };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct extract_options o = { .max_damage = 3, .width = 9,
			.height = 9, .quality = 1, .fps = { 1, 1 } };
		char *text = extract_settings(&all[i]), *again;

		is(extract_settings_read(text, &o), 0,
		    "settings: the written text is read");
		again = extract_settings(&o);
		ok(strcmp(text, again) == 0 && o.max_damage == 3,
		    "settings: read and written again, the text is equal: %s",
		    text);
		free(text);
		free(again);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct extract_options o = { .quality = 7, .enlarge = 1 };

		ok(extract_settings_read(wrong[i], &o) == -1 && o.quality == 7 &&
		    o.enlarge == 1,
		    "settings: refused without a change: %s", wrong[i]);
	}
}

/* ---- needed frames ---- */

static void
middle_and_last(const void *of, const struct extraction *x, int frames,
    struct fraction fps, char *wanted)
{
	(void)of, (void)x, (void)fps;
	wanted[frames / 2] = wanted[frames - 1] = 1;
}

/* Pass ${frames} frames.  Return the number of stored ones. */
static int
pass(struct needed *n, int frames)
{
	int items = 0;

	for (int k = 0; k < frames; k++)
		needed_add(n, needed_has(n) ? items++ : -1);
	return items;
}

static void
test_needed(void)
{
	struct extract_options o = { .need = middle_and_last };
	struct fraction fps = { 25, 1 };
	struct extraction x = { 0 };
	struct needed n;

	for (int frames = 98; frames <= 102; frames++) {
		int stored;

		needed_begin(&n, &o, &x, 100, fps);
		stored = pass(&n, frames);
		ok(stored < 9 && needed_done(&n, &o, &x) == 1 &&
		    x.frame_item[frames / 2] >= 0 && x.frame_item[frames - 1] ==
		    stored - 1 && x.frame_item[0] == -1,
		    "needed: %d frames, announced as 100: %d stored",
		    frames, stored);
		needed_free(&n);
		extraction_free(&x);
	}
	for (int frames = 1; frames <= 1000; frames += 37) {
		needed_begin(&n, &o, &x, 400, fps);
		pass(&n, frames);
		if (needed_done(&n, &o, &x) == 0) {
			is(pass(&n, frames), frames > 1 ? 2 : 1,
			    "needed: a wrong frame count takes a second pass");
			is(needed_done(&n, &o, &x), 1,
			    "needed: after the second pass all frames are "
			    "stored");
			ok(x.frame_item[frames / 2] == 0,
			    "needed: place has the index of a stored frame");
		}
		needed_free(&n);
		extraction_free(&x);
	}
	needed_begin(&n, &o, &x, 0, fps);
	ok(pass(&n, 7) == 7 && needed_done(&n, &o, &x) == 1 && x.frame_item[6] == 6,
	    "needed: an unknown frame count stores all frames");
	needed_free(&n);
	extraction_free(&x);
	o.need = NULL;
	needed_begin(&n, &o, &x, 100, fps);
	ok(pass(&n, 7) == 7 && needed_done(&n, &o, &x) == 1 && x.frame_item[6] == 6,
	    "needed: without a choice all frames are stored");
	needed_free(&n);
	extraction_free(&x);
}

int
main(void)
{
	program_start("extract_parts");
	for (int caller = 0; caller < 2; caller++) {
		test_ordered(1, caller);
		test_ordered(3, caller);
	}
	test_spool(1 << 30, "spool: items are added in memory");
	test_spool(2 << 20, "spool: items are added partly in a file");
	test_spool(0, "spool: items are added mostly in a file");
	test_spool_error();
	test_spool_full();
	test_sizes();
	test_needed();
	settings();
	return done();
}
