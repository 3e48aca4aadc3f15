/*
 * How convolutions are done is chosen once for each shape, without a GPU: by rule,
 * by trying, by what is known, or as it was chosen before; a pattern that there is
 * no way to do is asked for once, and one that is slower than plain convolutions
 * and kernels is done without.  Ways and seconds are the test's own.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/choose.h"
#include "base/fail.h"
#include "base/mem.h"

#include "gpu/standin/standin.h"
#include "tap.h"

struct conv_plan { struct conv_shape s; };

/* Seconds, by pass and pattern; 0: it has no way. */
static double seconds[3][CONV_PATTERNS];
static double norm[3];			/* of kernels, by enum norm_part */
static int opened, tried, ruled;

static void
key_of(const struct conv_shape *s, char key[KEY])
{
	snprintf(key, KEY, "%d.%d of %d", (int)s->pass, (int)s->pattern, s->n);
}

static struct conv_plan *
open_plan(struct ways *w, const struct conv_shape *s)
{
	struct conv_plan *p = xcalloc(1, sizeof(*p));

	(void)w;
	p->s = *s;
	opened++;
	return p;
}

static void
close_plan(struct ways *w, struct conv_plan *p)
{
	(void)w;
	free(p);
}

static int
make_plan(struct ways *w, struct conv_plan *p, enum by by, struct choice *c)
{
	double t = seconds[p->s.pass][p->s.pattern];

	(void)w;
	if (t == 0)
		return -1;
	tried += by == BY_TRYING;
	ruled += by == BY_RULE;
	if (by != BY_CHOICE)
		*c = (struct choice){ .engine = by == BY_RULE ? 1 : 2,
			.seconds = by == BY_RULE ? 0 : t };
	return c->engine > 0 ? 0 : -1;
}

static double
time_norm(struct ways *w, const struct conv_shape *s, enum norm_part part)
{
	(void)w, (void)s;
	return norm[part];
}

static struct ways
ways(int how)
{
	opened = tried = ruled = 0;
	return (struct ways){ .choices = choices_new(1, "x"), .how = how,
		.key = key_of, .open = open_plan, .close = close_plan,
		.make = make_plan, .norm = time_norm };
}

static struct conv_shape
shape(enum conv_pass pass, enum conv_pattern pattern)
{
	return (struct conv_shape){ .pass = pass, .pattern = pattern,
		.type = GPU_F16, .dims = 2, .n = 1, .in = 8, .out = 16,
		.groups = 1, .from = { 2, 2 }, .to = { 2, 2 },
		.kernel = { 1, 1 }, .stride = { 1, 1 } };
}

/* Is it done so? */
static int
has(struct ways *w, enum conv_pass pass, enum conv_pattern pattern)
{
	struct conv_shape s = shape(pass, pattern);
	struct conv_plan *p = choose_conv(w, &s);
	int is = p != NULL;

	close_plan(w, p);
	return is;
}

static int
normed(struct ways *w)
{
	return has(w, CONV_FORWARD, CONV_NORMED_SUMS) &&
	    has(w, CONV_DATA, CONV_NORM_BACK) &&
	    has(w, CONV_WEIGHTS, CONV_NORMED);
}

static int
sums(struct ways *w)
{
	return has(w, CONV_FORWARD, CONV_SUMS);
}

/* What a table says of a convolution: its engine, or "". */
static const char *
engine(struct ways *w, enum choices_kind which, enum conv_pass pass,
    enum conv_pattern pattern)
{
	static char found[16];
	struct conv_shape s = shape(pass, pattern);
	char key[KEY], *text = choices_text(w->choices, which), *at;

	key_of(&s, key);
	found[0] = '\0';
	if ((at = strstr(text, key)) != NULL)
		sscanf(at + strlen(key), "\t%15[^\t]", found);
	free(text);
	return found;
}

/* All take a second, patterns ${fused}, and kernels next to nothing. */
static void
all_take(double fused)
{
	for (int i = 0; i < 3; i++)
		norm[i] = 1e-3;
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < CONV_PATTERNS; k++)
			seconds[i][k] = k == CONV_PLAIN ? 1 : fused;
}

/* Are the patterns of a norm used, when a kernel takes so long? */
static int
normed_if(enum norm_part part, double kernel)
{
	double was = norm[part];
	struct ways w = ways(TUNE_TRY);
	int used;

	norm[part] = kernel;
	used = normed(&w);
	norm[part] = was;
	choices_free(w.choices);
	return used;
}

/* Another device with what is made, or known, of this one. */
static struct ways
after(const struct ways *w, enum choices_kind which, int how)
{
	char *text = choices_text(w->choices, which);
	struct ways next = ways(how);

	if (choices_take(next.choices, which, "a table", text) != 0)
		ok(0, "a table is taken");
	free(text);
	return next;
}

static void
test_rule(void)
{
	struct ways w = ways(0), next;

	all_take(9);
	ok(normed(&w) && sums(&w) && has(&w, CONV_DATA, CONV_PLAIN),
	    "by rule there is each that has a way");
	is(ruled, 5, "each chosen once");
	ok(normed(&w) && ruled == 5 && tried == 0, "and for good");
	seconds[CONV_DATA][CONV_NORM_BACK] = 0;
	next = ways(0);
	ok(!normed(&next) && !normed(&next), "but those that have none");
	is(opened, 3, "which is asked once");
	ok(strcmp(engine(&next, CHOICES_MADE, CONV_DATA, CONV_NORM_BACK),
	    "-") == 0, "and stands in the table");
	choices_free(w.choices);
	w = after(&next, CHOICES_MADE, 0);
	ok(!has(&w, CONV_DATA, CONV_NORM_BACK) && opened == 0,
	    "so that another need not ask");
	choices_free(next.choices);
	next = after(&w, CHOICES_KNOWN, TUNE_TRY);
	ok(!has(&next, CONV_DATA, CONV_NORM_BACK) && opened == 1,
	    "but one of which it is not known does");
	choices_free(next.choices);
	choices_free(w.choices);
}

/* A norm and its convolution, fused or not. */
static void
test_norms(void)
{
	struct ways w, next;

	all_take(1.25);			/* 3.75, and 3 in their place */
	w = ways(TUNE_TRY);
	ok(!normed(&w), "patterns that are slower are done without");
	ok(strcmp(engine(&w, CHOICES_MADE, CONV_FORWARD, CONV_NORMED_SUMS),
	    "-") == 0, "as the table says");
	next = after(&w, CHOICES_MADE, 0);
	ok(!normed(&next) && opened == 0, "and other ranks do by it");
	choices_free(next.choices);
	next = after(&w, CHOICES_KNOWN, TUNE_TRY);
	ok(!normed(&next) && tried == 0, "and other runs, which try nothing");
	choices_free(next.choices);
	choices_free(w.choices);
	seconds[CONV_FORWARD][CONV_SUMS] = 9;
	for (int i = 0; i < 3; i++)
		ok(!normed_if(i, 0.74) && normed_if(i, 0.76), "each kernel "
		    "counts (%d)", i);
	ok(normed_if(PART_APPLY, 0), "one that is not known decides nothing");
	seconds[CONV_FORWARD][CONV_SUMS] = 1.25;
	norm[PART_SUMS_BACK] = 0.76;
	w = ways(TUNE_TRY);
	ok(normed(&w), "patterns that are faster than with kernels are used");
	next = after(&w, CHOICES_KNOWN, TUNE_TRY);
	ok(normed(&next) && tried == 0, "by others, which try nothing");
	choices_free(next.choices);
	choices_free(w.choices);
	/* Where sums cost nothing, no kernel makes them. */
	seconds[CONV_FORWARD][CONV_SUMS] = 1;
	norm[PART_SUMS] = 9;
	norm[PART_SUMS_BACK] = 0.74;
	w = ways(TUNE_TRY);
	ok(!normed(&w), "sums that a convolution leaves take their place");
	choices_free(w.choices);
}

static void
test_sums(void)
{
	struct ways w;

	all_take(1.25);
	norm[PART_SUMS] = 0.24;
	w = ways(TUNE_TRY);
	ok(!sums(&w), "so are sums");
	choices_free(w.choices);
	norm[PART_SUMS] = 0.26;
	w = ways(TUNE_TRY);
	ok(sums(&w), "or not");
	choices_free(w.choices);
	/* What was measured for another's sake is decided, too. */
	norm[PART_SUMS] = 0.24;
	w = ways(TUNE_TRY);
	ok(!normed(&w) && !sums(&w), "and where they were measured before");
	ok(strcmp(engine(&w, CHOICES_KNOWN, CONV_FORWARD, CONV_SUMS), "-") == 0,
	    "which is known then");
	choices_free(w.choices);
}

static void
test_plain(void)
{
	struct ways w, next;
	char *known;

	all_take(0.1);
	w = ways(TUNE_TRY | TUNE_PLAIN);
	ok(!normed(&w) && !sums(&w) && has(&w, CONV_DATA, CONV_PLAIN),
	    "plain ones alone, where they are wanted");
	is(tried, 1, "and no others are tried");
	known = choices_text(w.choices, CHOICES_KNOWN);
	ok(strstr(known, "\t-\t-\t") == NULL, "which others do not heed");
	free(known);
	next = after(&w, CHOICES_MADE, TUNE_TRY);
	ok(!normed(&next) && !sums(&next), "but this run, to its end");
	choices_free(next.choices);
	choices_free(w.choices);
	w = ways(TUNE_TRY);
	ok(normed(&w), "a run that began with patterns");
	next = after(&w, CHOICES_MADE, TUNE_PLAIN);
	ok(normed(&next), "goes on with them");
	choices_free(next.choices);
	choices_free(w.choices);
}

/* A way that is gone is chosen anew; a plain one cannot be done without. */
static void
test_gone(void)
{
	static const char table[] =
	    "#cudnn\tdevice\tconvolution\tengine\tknobs\tseconds\n"
	    "1\tx\t1.0 of 1\t-\t-\t0\n1\tx\t1.4 of 1\t0\t-\t0\n";
	struct ways w = ways(0);

	all_take(1);
	ok(choices_take(w.choices, CHOICES_MADE, "a table", table) == 0 &&
	    has(&w, CONV_DATA, CONV_PLAIN) && has(&w, CONV_DATA,
	    CONV_NORM_BACK) && ruled == 2, "ways that are gone are chosen anew");
	choices_free(w.choices);
}

/* What is timed is one kernel, in the memory that it asks for: the stand-in ends
 * the program if it touches any other. */
static void
test_kernels(void)
{
	for (int p = PRECISION_FP32; p <= PRECISION_FP16; p++) {
		struct device *d = device_open(standin_backend(STANDIN_AT_ONCE),
		    &(struct device_options){ .precision = p });
		struct task t = { .device = d, .stored = 1,
			.out = { 2, 3, 5, 5, 24 } };
		size_t bytes[] = { device_bytes(d, &t.out),
			cuda_norm_room(&t, 0), device_bytes(d, &t.out),
			cuda_norm_room(&t, 1), 24 * 4, 24 * 4 };
		void *at[6];
		long before;

		for (int i = 0; i < 6; i++)
			at[i] = device_alloc(d, bytes[i]);
		t.x[0] = at[0];
		t.saved = at[1];
		t.y = at[2];
		t.dy = at[2];
		t.scratch = at[3];
		t.w[0] = at[4];
		t.w[1] = at[5];
		before = standin_pieces(standin_of(d));
		for (int i = 0; i < 3; i++)
			cuda_norm_part(&t, (enum norm_part)i);
		is(standin_pieces(standin_of(d)) - before, 3,
		    "one kernel is timed at a time");
		for (int i = 0; i < 6; i++)
			device_free(d, at[i]);
		device_close(d);
	}
}

int
main(void)
{
	test_kernels();
	test_rule();
	test_norms();
	test_sums();
	test_plain();
	test_gone();
	return done();
}
