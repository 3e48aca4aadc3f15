/*
 * Precise batch normalization gives the statistics of the population: where the
 * input does not depend on the BN groups, they equal those of one group of all
 * clips.
 */

#include "base/mem.h"
#include "comm/comm.h"
#include "media/png.h"
#include "train/loop/precise.h"

#include "loader_set.h"
#include "tap.h"
#include "devices.h"

enum { SAMPLES = 12, CHANNELS = 4, SIDE = 12 };

static const char network[] =
	"input x out=3 mean=0.45,0.45,0.45 std=0.225,0.225,0.225\n"
	"conv conv1 in=x out=4 k=3,3 s=2,2 std=0.3\n"
	"bn bn1 in=conv1\n"
	"relu relu1 in=bn1\n"
	"conv conv2 in=relu1 out=4 k=3,3 std=0.3\n"
	"bn bn2 in=conv2\n"
	"avgpool pool in=bn2 over=thw\n"
	"linear fc in=pool out=classes\n";

static int frames_of(int i) { return 4 + i % 3; }
static int side_of(int i) { return (void)i, 20; }

/* Samples differ in brightness, and so do the means of their groups. */
static void
frame(int sample, int number, int w, int h, struct buffer *to)
{
	struct image *m = image_new(w, h, 3);

	for (int i = 0; i < 3 * w * h; i++)
		m->data[i] = (uint8_t)(i * (sample + 3) % 60 + 13 * sample +
		    number);
	png_encode(m, to);
	image_free(m);
}

/* Mean and variance of each channel of each normalization. */
struct found { double mean[2][CHANNELS], var[2][CHANNELS]; };

static struct found
look(const struct net *n, const void *flat)
{
	struct found f;
	int mean = 0, var = 0;

	for (int i = 0; i < n->graph->nparam; i++) {
		const struct param *p = &n->graph->param[i];
		const char *at = (const char *)flat + p->offset *
		    n->device->elem;

		if (p->kind == PARAM_MEAN)
			device_get(n->device, f.mean[mean++], at, CHANNELS);
		else if (p->kind == PARAM_VAR)
			device_get(n->device, f.var[var++], at, CHANNELS);
	}
	return f;
}

/* Return the greatest difference, relative to the variance. */
static double
apart(const struct found *a, const struct found *b, int bn)
{
	double largest = 0;

	for (int c = 0; c < CHANNELS; c++) {
		largest = fmax(largest, fabs(a->mean[bn][c] - b->mean[bn][c]) /
		    sqrt(b->var[bn][c]));
		largest = fmax(largest, fabs(a->var[bn][c] / b->var[bn][c] - 1));
	}
	return largest;
}

/*
 * Measure all samples in groups of ${group}.  If ${one} is not NULL, it gets
 * the statistics of the last group's forward pass, with the variance of a
 * population.
 */
static struct found
measure(struct device *d, const struct dataset *set, int group, int frozen,
    struct found *one)
{
	struct graph *g = graph_parse("test", network, 3);
	struct net *n;
	struct comm *c = comm_self();
	const struct loader_options loading = { .seed = 3, .threads = 1,
		.ranks = 1, .crop = crop_defaults };
	const struct precise_options o = { .clips = SAMPLES, .group = group,
		.frames = 2, .crop = SIDE, .memory = 1 << 20 };
	struct precise *p;
	struct found f;
	void *buffer;

	for (int i = 0; i < g->nop; i++)
		if (g->op[i].kind == OP_BN && frozen)
			g->op[i].bn.fixed = 1;
	n = net_new(g, d);
	net_init(n, 5);
	buffer = device_alloc(d, g->elements * d->elem);
	p = precise_new(n, set, c, &o, &loading);
	if (p == NULL || net_reserve(n) != 0 || precise_measure(p, buffer, NULL) != 0) {
		printf("Bail out! cannot measure statistics\n");
		exit(1);
	}
	f = look(n, n->w);
	if (one != NULL) {
		double rows = group * 2 * SIDE / 2 * SIDE / 2;

		*one = look(n, buffer);
		for (int i = 0; i < 2 * CHANNELS; i++)
			one->var[i / CHANNELS][i % CHANNELS] *=
			    (rows - 1) / rows;
	}
	precise_free(p);
	device_free(d, buffer);
	net_free(n);
	graph_free(g);
	comm_free(c);
	return f;
}

static void
test_device(const struct backend *b, const struct dataset *set,
    double tolerance)
{
	const struct device_options o = { .threads = 2 };
	struct device *d = device_open(b, &o);
	struct found one, all = measure(d, set, SAMPLES, 0, &one);
	struct found by3 = measure(d, set, 3, 0, NULL), part;
	struct found by2 = measure(d, set, 2, 0, &part);
	struct found still = measure(d, set, 2, 1, NULL);

	ok(apart(&all, &one, 0) < tolerance && apart(&all, &one, 1) < tolerance,
	    "%s: one group of all clips has their statistics", b->name);
	ok(apart(&by2, &all, 0) < tolerance && apart(&by3, &all, 0) < tolerance,
	    "%s: first bn: statistics do not depend on the groups",
	    b->name);
	ok(apart(&by2, &all, 1) > 1e-3,
	    "%s: second bn: statistics depend on the groups", b->name);
	ok(apart(&part, &by2, 0) > 0.05,
	    "%s: one group has other statistics than the population",
	    b->name);
	ok(still.mean[0][0] == 0 && still.var[1][3] == 1,
	    "%s: frozen statistics do not change", b->name);
	device_close(d);
}

static void
test_choice(void)
{
	static const char *const wrong[] = { "", "some", "-1", "1.5", "auto ",
		"8388609" };
	static const struct { const char *text; int64_t clips; } right[] = {
		{ "auto", PRECISE_AUTO }, { "off", 0 }, { "0", 0 },
		{ "22", 22 } };
	struct graph *g = graph_parse("test", network, 3);
	int64_t clips;
	int refused = 0, taken = 0;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		refused += precise_parse(wrong[i], &clips) != 0;
	is(refused, 6, "a value that is not a number of clips is refused");
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		taken += precise_parse(right[i].text, &clips) == 0 &&
		    clips == right[i].clips;
	is(taken, 4, "a number of clips, auto and off are accepted");
	is((int)precise_choose(g, 12, 8, 4, 1), 32,
	    "auto: a small dataset takes 32 clips");
	is((int)precise_choose(g, 800, 8, 4, 1), 100,
	    "auto: a larger dataset takes an eighth");
	is((int)precise_choose(g, 240000, 64, 8, 4), 1024,
	    "auto: a large dataset takes 1,024 clips");
	is((int)precise_choose(g, 240000, 8192, 32, 256), 8192,
	    "auto: at least one batch is taken");
	is((int)precise_choose(g, 800, 16, 16, 8), 128,
	    "auto: at least a group per rank is taken if ranks share groups");
	for (int i = 0; i < g->nop; i++)
		if (g->op[i].kind == OP_BN)
			g->op[i].bn.fixed = 1;
	is((int)precise_choose(g, 800, 8, 4, 1), 0,
	    "auto: nothing is measured if all bns are frozen");
	graph_free(g);
}

int
main(void)
{
	char root[] = "/tmp/vt-precise.XXXXXX";
	struct set set = { .dir = "set", .ext = "png", .shards = 1,
		.samples = SAMPLES, .frames = frames_of, .width = side_of,
		.height = side_of, .frame = frame };
	struct dataset *d = set_open(&set, root);

	test_choice();
	for (int i = 0; backends[i] != NULL; i++)
		if (has_device(backends[i]))
			test_device(backends[i], d, backends[i]->elem == 8 ?
			    1e-11 : 1e-4);
	set_close(d, root);
	return done();
}
