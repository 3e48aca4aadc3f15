/*
 * cuDNN has a plan for each pass of plain, strided, depthwise and grouped
 * convolutions in each precision, for a described device, which need not be
 * present.  The table of chosen plans makes the same plans again.  The libraries
 * stay loaded.  If cuDNN refuses plans with a handle, they are made with a
 * description of the device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/conv_select.h"
#include "base/fail.h"

#include "said.h"
#include "tap.h"

static const struct { const char *what; struct conv_shape s; } cases[] = {
	{ "3x3", { .dims = 2, .n = 64, .in = 64, .out = 64, .groups = 1,
	    .from = { 56, 56 }, .to = { 56, 56 }, .kernel = { 3, 3 },
	    .stride = { 1, 1 }, .pad = { 1, 1 } } },
	{ "1x1 stride 2", { .dims = 2, .n = 64, .in = 256, .out = 512,
	    .groups = 1, .from = { 56, 56 }, .to = { 28, 28 },
	    .kernel = { 1, 1 }, .stride = { 2, 2 } } },
	{ "7x7 of pixels", { .dims = 2, .n = 16, .in = 3, .out = 64,
	    .groups = 1, .from = { 158, 158 }, .to = { 79, 79 },
	    .kernel = { 7, 7 }, .stride = { 2, 2 }, .pad = { 3, 3 } } },
	{ "odd channels", { .dims = 2, .n = 3, .in = 37, .out = 21,
	    .groups = 1, .from = { 7, 8 }, .to = { 7, 8 }, .kernel = { 3, 3 },
	    .stride = { 1, 1 }, .pad = { 1, 1 } } },
	{ "3x1x1, as images", { .dims = 2, .n = 8, .in = 256, .out = 64,
	    .groups = 1, .from = { 8, 3136 }, .to = { 8, 3136 },
	    .kernel = { 3, 1 }, .stride = { 1, 1 }, .pad = { 1, 0 } } },
	{ "5x7x7 of pixels", { .dims = 3, .n = 4, .in = 3, .out = 8,
	    .groups = 1, .from = { 32, 224, 224 }, .to = { 32, 112, 112 },
	    .kernel = { 5, 7, 7 }, .stride = { 1, 2, 2 },
	    .pad = { 2, 3, 3 } } },
	{ "3x3x3 of each channel", { .dims = 3, .n = 8, .in = 54, .out = 54,
	    .groups = 54, .from = { 13, 80, 80 }, .to = { 13, 80, 80 },
	    .kernel = { 3, 3, 3 }, .stride = { 1, 1, 1 },
	    .pad = { 1, 1, 1 } } },
	{ "3x3 in 32 groups", { .dims = 2, .n = 64, .in = 256, .out = 256,
	    .groups = 32, .from = { 28, 28 }, .to = { 28, 28 },
	    .kernel = { 3, 3 }, .stride = { 1, 1 }, .pad = { 1, 1 } } },
};

#define CASES (sizeof(cases) / sizeof(cases[0]))
/* Forward, data gradient, weight gradient, and data gradient that
 * accumulates. */
enum { WAYS = 4, PLANS = CASES * GPU_TYPES * WAYS };

static struct conv_shape
shape(size_t i)
{
	struct conv_shape s = cases[i / WAYS / GPU_TYPES].s;
	size_t way = i % WAYS;

	s.type = (enum gpu_type)(i / WAYS % GPU_TYPES);
	s.pass = way == 3 ? CONV_DATA : (enum conv_pass)way;
	s.accumulate = way == 3;
	return s;
}

/* Describe each plan in ${text}.  Return how many are missing. */
static int
describe(struct driver *d, char text[PLANS][80])
{
	int missing = 0;

	for (size_t i = 0; i < PLANS; i++) {
		struct conv_shape s = shape(i);
		struct conv_plan *p = d->call->conv_new(d, &s);

		text[i][0] = '\0';
		if (p == NULL) {
			diag("none for %s, type %d, pass %d", cases[i / WAYS /
			    GPU_TYPES].what, (int)s.type, (int)s.pass);
			missing++;
			continue;
		}
		d->call->conv_describe(d, p, text[i], sizeof(text[i]));
		d->call->conv_free(d, p);
	}
	return missing;
}

/* Return whether this process has mapped a file whose path contains ${name}. */
static int
mapped(const char *name)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	int found = 0;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		found |= strstr(line, name) != NULL;
	if (f != NULL)
		fclose(f);
	return found;
}

#ifdef VT_HAVE_CUDA
#include "backend/cuda/runtime.h"

/* A device that is described has no handle, so cuDNN refuses it. */
static int
falls_back(struct driver *d)
{
	struct runtime *r = (struct runtime *)d;

	r->with_handle = 1;
	return cudnn_choose_device(r) == 0 && !r->with_handle;
}
#else
static int
falls_back(struct driver *d)
{
	(void)d;
	return 1;
}
#endif

static int
refuses(struct driver *d, const char *text, const char *says)
{
	char said[512] = "";
	int bad;

	said_begin(said, sizeof(said));
	bad = conv_cache_read(d->algorithms->choices, ALGORITHMS_SELECTED,
	    "a table", text, NULL) != 0 && strstr(said_now(), says) != NULL;
	said_end();
	return bad;
}

int
main(void)
{
	static char first[PLANS][80], again[PLANS][80];
	char cut[512], *one, *two;
	struct driver *d;

	said_begin(cut, sizeof(cut));
	d = runtime_open_described(NULL);
	said_end();
	if (d == NULL) {
		skip("plans of cuDNN", "no CUDA here");
		return done();
	}
	ok(describe(d, first) == 0, "each pass has a plan in each precision");
	one = conv_cache_text(d->algorithms->choices, ALGORITHMS_SELECTED);
	d->call->close(d);

	d = runtime_open_described(NULL);
	ok(conv_cache_read(d->algorithms->choices, ALGORITHMS_SELECTED,
	    "a table", one, NULL) == 0, "the table of choices is accepted");
	ok(describe(d, again) == 0 && memcmp(first, again, sizeof(first)) == 0,
	    "the table makes the same plans again");
	ok(falls_back(d) && describe(d, again) == 0, "plans are made without a "
	    "handle that cuDNN refuses");
	two = conv_cache_text(d->algorithms->choices, ALGORITHMS_SELECTED);
	ok(strcmp(one, two) == 0, "the new device prints the same table");
	free(one);
	free(two);

	ok(refuses(d, "#cudnn\tdevice\tconvolution\tengine\tknobs\tseconds\n"
	    "1\tx\ty\t5\t1=2,3\t0\n", "a table: line 2"),
	    "knobs without a value are refused, with the line number");
	ok(refuses(d, "#cudnn\tdevice\tconvolution\tengine\tseconds\n"
	    "1\tx\ty\t5\t0\n", "knobs"), "a table without knobs is refused");
	ok(!refuses(d, "#cudnn\tdevice\tconvolution\tengine\tknobs\tseconds\n"
	    "1\tx\ty\t5\t-\t0\n", "are not for cuDNN"),
	    "a table of another version of cuDNN is accepted");
	d->call->close(d);
	said_begin(cut, sizeof(cut));
	d = runtime_open_described("{}");
	said_end();
	ok(d == NULL && strstr(cut, "cuDNN") != NULL,
	    "a device description without properties is refused");
	runtime_library();
	ok(mapped("libcudnn") && mapped("libcublasLt"), "the libraries stay "
	    "loaded after their last use");
	return done();
}
