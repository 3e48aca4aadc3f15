/*
 * The engine of vt-bench: statistics, gates, shapes, formulas of work and
 * traffic, and timing are right.
 */
#include "base/fail.h"
#include "base/mem.h"
#include "bench/bench.h"
#include "bench/cases.h"
#include "bench/fixture.h"
#include "bench/shape.h"
#include "bench/tasks.h"
#include "net/alike.h"

#include "gpu/standin/standin.h"
#include "said.h"
#include "tap.h"

static void
test_figures(void)
{
	struct figure f = { 0 };

	ok(isnan(figure_min(&f)) && isnan(figure_median(&f)) &&
	    isnan(figure_p99(&f)), "without values all statistics are NaN");
	figure_add(&f, 7);
	ok(figure_min(&f) == 7 && figure_median(&f) == 7 &&
	    figure_p99(&f) == 7,
	    "one value is minimum, median and 99th percentile");
	figure_add(&f, 1);
	near(figure_median(&f), 4, 0, "the median of two values is their mean");
	figure_add(&f, 3);
	near(figure_median(&f), 3, 0,
	    "the median of three values is the middle one");
	near(figure_min(&f), 1, 0, "the minimum does not depend on the order");
	near(figure_p99(&f), 7, 0,
	    "the 99th percentile of a few values is the largest");
	figure_free(&f);
	for (int i = 0; i < 200; i++)
		figure_add(&f, i * 77 % 200);
	near(figure_p99(&f), 197, 0,
	    "99th percentile: 198 of 0 to 199 are at most 197");
	figure_add(&f, 1e9);
	near(figure_p99(&f), 198, 0,
	    "99th percentile: 199 of 201 values are at most 198");
	figure_free(&f);
	for (int i = 0; i < 60; i++)
		figure_add(&f, i);
	near(figure_p99(&f), 59, 0,
	    "99th percentile: of 60 values, rank 59.4 rounds up to 60");
	figure_free(&f);
}

/* Calls of ${run}, and how many of them were timed. */
struct calls { int all, counted, fail_at; };

static int
run(void *arg, int counts)
{
	struct calls *c = arg;

	c->counted += counts;
	return ++c->all == c->fail_at ? 4 : 0;
}

static void
test_repeat(void)
{
	struct bench b = { .warmup = 3, .runs = 5 };
	struct calls c = { 0 };

	is(bench_repeat(&b, run, &c), 0,
	    "bench_repeat returns 0 if all runs succeed");
	ok(c.all == 8 && c.counted == 5,
	    "bench_repeat: three warmup runs and five timed ones");
	c = (struct calls){ .fail_at = 2 };
	is(bench_repeat(&b, run, &c), 4,
	    "bench_repeat returns the status of a failed run");
	is(c.all, 2, "bench_repeat starts no run after a failed one");
}

/*
 * Return the status of bench_end after the figures a/b/one = 1 and a/b/three =
 * 3 under the requirement ${text}; -1 if the requirement is refused.
 */
static int
verdict(const char *text)
{
	struct bench b = { .out = tmpfile() };
	char said[1024];
	int status = -1;

	said_begin(said, sizeof(said));
	if (bench_require(&b, text, NULL) == 0) {
		bench_value(&b, 1, "s", NULL, "a/b/one");
		bench_value(&b, 3, "s", NULL, "a/b/three");
		status = bench_end(&b);
	}
	said_end();
	fclose(b.out);
	bench_close(&b);
	return status;
}

static void
test_requirements(void)
{
	static const struct { const char *text; int status; } cases[] = {
		{ "a/b/one<=1", 0 }, { "a/b/one<=0.99", 1 },
		{ "a/b/one>=1", 0 }, { "a/b/one>=1.01", 1 },
		{ "a/*/three<=3", 0 }, { "a/*<=2", 1 }, { "a/*<=3", 0 },
		{ "a/b/o?e>=0", 0 }, { "a/b/four<=1", 1 }, { "one<=1", 1 },
		{ "a/b/one", -1 }, { "a/b/one<1", -1 }, { "a/b/one=1", -1 },
		{ "<=1", -1 }, { "a<=", -1 }, { "a<=x", -1 }, { "a<=nan", -1 },
		{ "", -1 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is(verdict(cases[i].text), cases[i].status, cases[i].text);
}

static void
test_shapes(void)
{
	static const char *const wrong[] = { "", "2", "2x8", "2x8x", "x8x224",
		"2x8x224x", "2x8x224 ", " 2x8x224", "0x8x224", "2x-8x224",
		"2X8X224", "2x8x99999999", "2x8x2e2", "+2x8x224" };
	struct bench_shape s;
	struct cell c;
	struct schedule *made;
	char text[40];
	int accepted = 0;

	ok(shape_parse("12x8x224", &s) == 0 && s.n == 12 && s.t == 8 &&
	    s.side == 224, "shape_parse reads 12x8x224");
	is_text(shape_text(&s, text), "12x8x224", "shape_text writes 12x8x224");
	c = shape_cell(&s);
	made = shape_schedule(&c, 1);
	ok(made != NULL && made->stage[0].cell[0].batch == 12 &&
	    made->stage[0].cell[0].group == 12 &&
	    made->stage[0].cell[0].crop == 224,
	    "a shape becomes a schedule with one BN group");
	schedule_free(made);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		accepted += shape_parse(wrong[i], &s) == 0;
	is(accepted, 0, "malformed shapes are refused");
}

static size_t
floats(const struct device *device, const struct dims *d)
{
	(void)device;
	return dims_count(d) * sizeof(float);
}

/* Work by hand: 2x3x8x8x16 to 2x3x4x4x32 by a 3x3 convolution of stride 2. */
static void
test_work(void)
{
	static const struct op_impl conv = { .reads = READS_X };
	static const struct op_impl relu = { .reads = READS_Y };
	static const struct op_impl *const ops[OP_KINDS] = {
		[OP_CONV] = &conv, [OP_RELU] = &relu };
	const struct backend b = { .name = "b", .ops = ops,
		.layout = &(const struct layout_ops){ .bytes = floats } };
	struct device device = { .backend = &b };
	struct op op = { .kind = OP_CONV, .nin = 1, .k = { 1, 3, 3 },
		.s = { 1, 2, 2 }, .conv.groups = 1 };
	struct task t = { .device = &device, .op = &op, .impl = &conv,
		.in = { { 2, 3, 8, 8, 16 } },
		.out = { 2, 3, 4, 4, 32 }, .needs_input_grad = { 1 }, .needs_weight_grad = 1,
		.reads = READS_X };
	double work = 2.0 * 6 * 16 * 9 * 16 * 32, x = 4 * 6 * 64 * 16;
	double y = 4 * 6 * 16 * 32;
	struct task u = t;
	struct op grouped = op;

	grouped.conv.groups = 2;
	u.op = &grouped;
	ok(!task_alike(&t, &u),
	    "tasks that differ in the rule of their operator are not alike");
	u = t;
	near(task_work(&t, 0), work, 0,
	    "forward: two operations per multiply-add");
	near(task_work(&t, 1), 2 * work, 0,
	    "backward: work for weights and input");
	near(task_traffic(&t, 0), x + y, 0, "forward: x and y are moved once");
	near(task_traffic(&t, 1), y + x + x, 0,
	    "backward: dy, x and dx are moved once");
	ok(task_alike(&t, &u), "equal tasks are alike");
	u.needs_input_grad[0] = 0;
	near(task_work(&u, 1), work, 0,
	    "backward without dx: work for the weights only");
	ok(!task_alike(&t, &u), "tasks with and without dx are not alike");
	u = t;
	u.needs_weight_grad = 0;
	near(task_work(&u, 1), work, 0,
	    "backward with frozen weights: work for the input only");
	ok(!task_alike(&t, &u), "tasks with and without dw are not alike");
	op.kind = OP_RELU;
	t.impl = &relu;
	t.reads = READS_Y;
	t.needs_weight_grad = 0;
	u = t;
	u.out = t.in[0];
	u.accumulate[0] = 1;
	near(task_work(&u, 0), 0, 0, "relu has no multiply-adds");
	near(task_traffic(&u, 1), x + x + 2 * x, 0,
	    "relu: dy and y are moved once, dx twice if accumulated");
}

/* On the stand-in device, which does no work before the host waits. */
static void
test_seconds(void)
{
	struct graph *g = graph_parse("t.net", "input x out=3\n"
	    "conv a in=x out=8 k=3,3\navgpool p in=a over=thw\n"
	    "linear fc in=p out=classes\n", 3);
	struct device *d = device_open(standin_backend(STANDIN_LATE),
	    &(struct device_options){ .threads = 1 });
	struct driver *driver = standin_of(d);
	struct fixture r;
	struct plan *p;
	int waited = 1;

	if (fixture_open(&r, g, d, &(struct bench_shape){ 2, 2, 8 }) != 0)
		ok(0, "a bench fixture of a small network opens");
	p = r.plan;
	plan_bind(p, r.net->arena, r.net->w, r.gradient);
	plan_feed(p, &r.feed);
	for (int i = 0; i < p->n && p->task[i].fused_into == i; i++) {
		standin_quiet(driver, 1);
		waited &= task_seconds(&p->task[i], task_forward) > 0;
		standin_quiet(driver, 0);
		waited &= standin_faults(driver, FAULT_WAIT) > 0 ||
		    standin_absent();
	}
	ok(waited, "the time of an operator ends when the device is done");
	fixture_close(&r);
	device_close(d);
	graph_free(g);
}

int
main(void)
{
	test_figures();
	test_repeat();
	test_requirements();
	test_shapes();
	test_work();
	test_seconds();
	near(allreduce_traffic(100, 1), 0, 0,
	    "allreduce: one rank sends nothing");
	near(allreduce_traffic(100, 4), 150, 0,
	    "allreduce: four ranks send 2 * 3 / 4 of the bytes each");
	return done();
}
