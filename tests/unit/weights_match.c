/*
 * Weights of other networks are matched by name and shape: loaded, reshaped,
 * initialized or left out, with the right values.  Files exported for other
 * programs read back.
 */
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "train/run/checkpoint.h"
#include "train/run/export.h"
#include "train/weights/match.h"

#include "said.h"
#include "tap.h"
#include "weights_find.h"

static char *path;

/* A ResNet of one block with a shift, for images. */
static const char resnet[] =
    "input x out=3 mean=0.5 std=0.2\n"
    "conv conv1 in=x out=4 k=3,3 s=2,2\nbn bn1 in=conv1\nrelu r in=bn1\n"
    "shift layer1.0.shift in=r fold=4\n"
    "conv layer1.0.conv1 in=layer1.0.shift out=4 k=1,1\n"
    "bn layer1.0.bn1 in=layer1.0.conv1\n"
    "conv layer1.0.downsample.0 in=r out=4 k=1,1\n"
    "bn layer1.0.downsample.1 in=layer1.0.downsample.0\n"
    "add layer1.0 in=layer1.0.bn1,layer1.0.downsample.1\n"
    "avgpool p in=layer1.0 over=hw\nlinear fc in=p out=classes std=0.1\n"
    "avgpool s in=fc over=t\n";
/* The same without a shift, with kernels over time. */
static const char cube[] =
    "input x out=3 mean=0.5 std=0.2\n"
    "conv conv1 in=x out=4 k=5,3,3 s=1,2,2\nbn bn1 in=conv1\nrelu r in=bn1\n"
    "conv layer1.0.conv1 in=r out=4 k=3,1,1\n"
    "bn layer1.0.bn1 in=layer1.0.conv1\n"
    "conv layer1.0.downsample.0 in=r out=4 k=1,1,1\n"
    "bn layer1.0.downsample.1 in=layer1.0.downsample.0\n"
    "add layer1.0 in=layer1.0.bn1,layer1.0.downsample.1\n"
    "avgpool p in=layer1.0 over=thw\nlinear fc in=p out=classes std=0.1\n";
/* Two pathways.  The last norm tells how many channels the fast pathway has. */
static const char slowfast[] =
    "input x out=3 mean=0.5 std=0.2\nframes slow in=x step=4 spread=1\n"
    "conv slow.conv1 in=slow out=4 k=1,3,3 s=1,2,2\nbn slow.bn1 in=slow.conv1\n"
    "conv fast.conv1 in=x out=2 k=5,3,3 s=1,2,2\nbn fast.bn1 in=fast.conv1\n"
    "conv lateral1.conv in=fast.bn1 out=2 k=5,1,1 s=4,1,1\n"
    "bn lateral1.bn in=lateral1.conv\n"
    "concat lateral1 in=slow.bn1,lateral1.bn\n"
    "conv slow.layer1.0.conv1 in=lateral1 out=4 k=3,1,1\n"
    "bn slow.layer1.0.bn1 in=slow.layer1.0.conv1\n"
    "conv fast.layer4.2.conv3 in=fast.bn1 out=2 k=1,1,1\n"
    "bn fast.layer4.2.bn3 in=fast.layer4.2.conv3\n"
    "avgpool a in=slow.layer1.0.bn1 over=thw\n"
    "avgpool b in=fast.layer4.2.bn3 over=thw\n"
    "concat p in=a,b\nlinear fc in=p out=classes std=0.1\n";
/* A convolution whose bias is absorbed by the norm that follows. */
static const char nonlocal[] =
    "input x out=3 mean=0.5 std=0.2\n"
    "conv conv1 in=x out=4 k=1,3,3 s=1,2,2\nbn bn1 in=conv1\n"
    "conv layer1.0.nl.out in=bn1 out=4 k=1,1,1 bias=1\n"
    "bn layer1.0.nl.bn in=layer1.0.nl.out\n"
    "add layer1.0.nl in=layer1.0.nl.bn,bn1\n"
    "avgpool p in=layer1.0.nl over=thw\nlinear fc in=p out=classes std=0.1\n";

struct lab { struct graph *graph; struct device *device; struct net *net; };

/*
 * Return a network whose values are distinct multiples of 2^-10, plus ${first}.
 */
static struct lab
lab_new(const char *text, int classes, double first)
{
	static const struct device_options o = { .threads = 1 };
	struct lab l = { .graph = graph_parse("small.net", text, classes) };

	if (l.graph == NULL) {
		printf("Bail out! a network of the test is refused\n");
		exit(1);
	}
	l.device = device_open(backend_find("ref"), &o);
	l.net = net_new(l.graph, l.device);
	for (int i = 0; i < l.graph->nparam; i++) {
		const struct param *p = &l.graph->param[i];
		double *v = xcalloc(p->count, sizeof(*v));

		for (size_t k = 0; k < p->count; k++)
			v[k] = first + (double)(p->offset + k) * 0x1p-10;
		device_put(l.device, (char *)l.net->w + p->offset *
		    l.device->elem, v, p->count);
		free(v);
	}
	return l;
}

static void
lab_free(struct lab *l)
{
	net_free(l->net);
	device_close(l->device);
	graph_free(l->graph);
}

/* Return the values of the parameter ${name}.  The caller frees them. */
static double *
values(const struct lab *l, const char *name, size_t *n)
{
	for (int i = 0; i < l->graph->nparam; i++) {
		const struct param *p = &l->graph->param[i];
		double *v;

		if (strcmp(p->name, name) != 0)
			continue;
		v = xcalloc(p->count, sizeof(*v));
		device_get(l->device, v, (char *)l->net->w + p->offset *
		    l->device->elem, p->count);
		*n = p->count;
		return v;
	}
	printf("Bail out! no parameter %s\n", name);
	exit(1);
}

static int
same_values(const struct lab *a, const struct lab *b, const char *name)
{
	size_t n, m;
	double *x = values(a, name, &n), *y = values(b, name, &m);
	int same = n == m && memcmp(x, y, n * sizeof(*x)) == 0;

	free(x);
	free(y);
	return same;
}

static int
export_as(const struct lab *l, const char *names)
{
	struct key_map *n = key_map_open(names);
	struct export e;
	int bad = n == NULL;

	/*
	 * Networks with shifts start from weights of programs without shifts.
	 * This file stands for such weights.
	 */
	if (!bad)
		n->lacks = 0;
	bad = bad || export_new(l->graph, n, &e) != 0;
	if (!bad) {
		bad = export_write(&e, l->net, 77, NULL, 0, path);
		export_free(&e);
	}
	key_map_close(n);
	return bad;
}

/*
 * Load the exported file into ${to}.  Return the match; the caller frees it and
 * closes ${w}.
 */
static struct match *
load(struct weights_file *w, const struct lab *to, const char *classes)
{
	struct match *m = NULL;

	if (weights_open(path, w) == 0 &&
	    (m = match_new(to->graph, w, classes)) != NULL)
		match_load(m, to->net);
	return m;
}

static const struct matched *
fate(const struct match *m, const char *name)
{
	for (int i = 0; i < m->graph->nparam; i++)
		if (strcmp(m->graph->param[i].name, name) == 0)
			return &m->param[i];
	printf("Bail out! no parameter %s\n", name);
	exit(1);
}

/* ---- export and read back ---- */

static void
round_trips(void)
{
	static const struct { const char *net, *names; } of[] = {
		{ resnet, "torchvision" }, { resnet, "tsm" },
		{ resnet, "pyslowfast" }, { resnet, "mmaction2" },
		{ cube, "pyslowfast" }, { cube, "mmaction2" },
		{ slowfast, "pyslowfast" }, { slowfast, "mmaction2" },
		{ nonlocal, "pyslowfast" },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct lab a = lab_new(of[i].net, 3, 1);
		struct lab b = lab_new(of[i].net, 3, 100);
		struct weights_file w;
		struct match *m;
		int differ = 0;

		if (export_as(&a, of[i].names) != 0 ||
		    (m = load(&w, &b, NULL)) == NULL) {
			ok(0, "%s", of[i].names);
			continue;
		}
		for (int k = 0; k < a.graph->nparam; k++)
			differ += !same_values(&a, &b, a.graph->param[k].name);
		ok(differ == 0 && strcmp(m->names, of[i].names) == 0,
		    "network %zu is exported and read back with names of %s",
		    i, m->names);
		if (i == 0) {
			float count = 0;

			weights_floats(weights_find(&w,
			    "layer1.0.bn1.num_batches_tracked"), &count);
			is((long long)count, 77,
			    "num_batches_tracked is the number of steps");
		}
		match_free(m);
		weights_close(&w);
		lab_free(&a);
		lab_free(&b);
	}
}

/* MMAction2's classifier has the channels of the fast pathway first. */
static void
turned(void)
{
	struct lab a = lab_new(slowfast, 3, 1);
	struct weights_file w;
	const struct weight *t;
	float x[18];
	double *v;
	size_t n;
	int wrong = 0;

	export_as(&a, "mmaction2");
	v = values(&a, "fc.weight", &n);
	if (weights_open(path, &w) != 0)
		exit(1);
	t = weights_find(&w, "cls_head.fc_cls.weight");
	weights_floats(t, x);
	for (int row = 0; row < 3; row++)
		for (int c = 0; c < 6; c++)
			wrong += (double)x[row * 6 + c] !=
			    v[row * 6 + (c < 2 ? 4 + c : c - 2)];
	is(wrong, 0,
	    "exported to MMAction2, SlowFast has the fast channels first");
	free(v);
	weights_close(&w);
	lab_free(&a);
}

/* The norm gives (x + b - m) / s = (x - (m - b)) / s. */
static void
folded(void)
{
	struct lab a = lab_new(nonlocal, 3, 1), b = lab_new(nonlocal, 3, 100);
	struct weights_file w;
	struct match *m;
	size_t n;
	double *bias = values(&a, "layer1.0.nl.out.bias", &n);
	double *mean = values(&a, "layer1.0.nl.bn.running_mean", &n), *got;
	int wrong = 0;

	export_as(&a, "mmaction2");
	m = load(&w, &b, NULL);
	got = values(&b, "layer1.0.nl.bn.running_mean", &n);
	for (size_t i = 0; i < n; i++)
		wrong += got[i] != (double)(float)(mean[i] - bias[i]);
	is(wrong, 0, "a conv bias before a norm is absorbed by its mean");
	is(fate(m, "layer1.0.nl.out.bias")->status, LOAD_INITIALIZED,
	    "the absorbed bias is initialized, not loaded");
	free(bias);
	free(mean);
	free(got);
	match_free(m);
	weights_close(&w);
	lab_free(&a);
	lab_free(&b);
}

/* ---- other shapes ---- */

static void
inflated(void)
{
	struct lab a = lab_new(resnet, 3, 1), b = lab_new(cube, 3, 100);
	struct weights_file w;
	struct match *m;
	size_t n, k;
	double *flat = values(&a, "conv1.weight", &n), *deep;
	int wrong = 0;

	export_as(&a, "torchvision");
	m = load(&w, &b, NULL);
	deep = values(&b, "conv1.weight", &k);
	is((long long)k, (long long)n * 5,
	    "inflation: the kernel has five frames");
	for (size_t i = 0; i < k; i++)
		wrong += deep[i] != (double)((float)flat[i / 45 * 9 + i % 9] / 5);
	is(wrong, 0, "inflation: each frame has a fifth of the 2-D kernel");
	is(fate(m, "conv1.weight")->status, LOAD_CONVERTED,
	    "inflation: the status is reshaped");
	is_text(fate(m, "conv1.weight")->why, "repeated over frames",
	    "inflation: the reason is given");
	is(fate(m, "layer1.0.downsample.0.weight")->status, LOAD_COPIED,
	    "inflation: a kernel over one frame is loaded");
	ok(same_values(&a, &b, "layer1.0.bn1.running_var"),
	    "inflation: running statistics are loaded");
	is((long long)m->elements, (long long)m->of,
	    "inflation: the whole backbone is loaded");
	match_free(m);
	weights_close(&w);
	free(flat);
	free(deep);
	lab_free(&b);

	/* The inverse is not done: 3-D kernels are not loaded into 2-D ones. */
	b = lab_new(cube, 3, 1);
	export_as(&b, "pyslowfast");
	m = load(&w, &a, NULL);
	is(fate(m, "conv1.weight")->status, LOAD_INITIALIZED,
	    "a 3-D kernel is not loaded into a 2-D one");
	is_text(fate(m, "conv1.weight")->why,
	    "4x3x5x3x3 in the file (wanted 4x3x3x3)",
	    "the reason is the shapes");
	match_free(m);
	weights_close(&w);
	lab_free(&a);
	lab_free(&b);
}

static void
colors(void)
{
	char *text = xstrdup(resnet), *at = strstr(text, "out=3");
	struct lab a = lab_new(resnet, 3, 1), b;
	struct weights_file w;
	struct match *m;
	size_t n, k;
	double *rgb = values(&a, "conv1.weight", &n), *flow;
	int wrong = 0;

	memcpy(at, "out=8", 5);
	b = lab_new(text, 3, 100);
	export_as(&a, "torchvision");
	m = load(&w, &b, NULL);
	flow = values(&b, "conv1.weight", &k);
	is((long long)k, 4 * 8 * 9,
	    "colors: the first layer has eight channels");
	for (size_t i = 0; i < k; i++) {
		const double *p = rgb + i / 72 * 27 + i % 9;
		float mean = ((float)p[0] + (float)p[9] + (float)p[18]) / 3;

		wrong += flow[i] != (double)mean;
	}
	is(wrong, 0, "colors: each channel has the mean over the colors");
	is_text(fate(m, "conv1.weight")->why, "mean over the colors, repeated",
	    "colors: the reason is given");
	match_free(m);
	weights_close(&w);
	free(rgb);
	free(flow);
	free(text);
	lab_free(&a);
	lab_free(&b);
}

/*
 * Load a 2-D network into the slow pathway, whose layers also have lateral
 * inputs.
 */
static void
added(void)
{
	struct lab a = lab_new(cube, 3, 1), b = lab_new(slowfast, 3, 100);
	struct lab before = lab_new(slowfast, 3, 100);
	struct weights_file w;
	struct match *m;
	size_t n, k;
	double *less = values(&a, "layer1.0.conv1.weight", &n), *more;
	int wrong = 0;

	/* torchvision has no names for kernels over time. */
	said_begin((char[512]){ 0 }, 512);
	is(export_as(&a, "torchvision"), 1,
	    "torchvision: a 3-D ResNet is refused");
	said_end();
	lab_free(&a);
	a = lab_new(resnet, 3, 1);
	free(less);
	less = values(&a, "layer1.0.conv1.weight", &n);
	export_as(&a, "torchvision");
	m = load(&w, &b, NULL);
	more = values(&b, "slow.layer1.0.conv1.weight", &k);
	is((long long)n * 3 / 2 * 3, (long long)k,
	    "laterals: six input channels instead of four");
	for (size_t i = 0; i < k; i++)
		wrong += more[i] != (i / 3 % 6 < 4 ? (double)((float)less[i /
		    18 * 4 + i / 3 % 6] / 3) : 0);
	is(wrong, 0, "laterals: the added channels have zeros");
	is(fate(m, "fast.conv1.weight")->status, LOAD_INITIALIZED,
	    "the fast pathway is initialized");
	ok(same_values(&b, &before, "fast.conv1.weight"), "and is as it was");
	free(less);
	free(more);
	match_free(m);
	weights_close(&w);
	lab_free(&before);
	lab_free(&a);
	lab_free(&b);
}

/* ---- classifiers ---- */

static void
classes(void)
{
	struct lab a = lab_new(resnet, 3, 1), b = lab_new(resnet, 5, 100);
	struct lab before = lab_new(resnet, 5, 100);
	struct buffer table = { 0 };
	struct weights_file w;
	struct match *m;

	export_as(&a, "tsm");
	m = load(&w, &b, NULL);
	is(fate(m, "fc.weight")->status, LOAD_INITIALIZED,
	    "a classifier of another size is initialized");
	is_text(fate(m, "fc.bias")->why, "3 in the file (wanted 5)",
	    "the reason is its shape");
	ok(same_values(&b, &before, "fc.weight") &&
	    same_values(&b, &before, "fc.bias"),
	    "the initialized classifier keeps its values");
	ok(same_values(&b, &a, "conv1.weight"),
	    "the other parameters are loaded");
	is((long long)m->elements, (long long)m->of,
	    "a classifier does not count as backbone");
	match_table(m, &table);
	ok(strstr(table.data, "\nfc.weight\tnew\t-\t3x4 in the file (wanted "
	    "5x4)\n") != NULL && strstr(table.data, "\nconv1.weight\tloaded\t"
	    "base_model.conv1.weight\t-\n") != NULL &&
	    strstr(table.data, "\n-\tleft out\tnew_fc.weight\tfc.weight is 5x4"
	    "\n") != NULL,
	    "match_table lists loaded, initialized and left-out tensors");
	buffer_free(&table);
	match_free(m);
	weights_close(&w);
	lab_free(&b);
	lab_free(&before);
	lab_free(&a);
}

/* Our checkpoints are known by their metadata, and have class names. */
static void
checkpoints(void)
{
	static const struct meta meta[] = { { "vt.classes", "a\nb\nc\n" },
		{ "vt.format", "1" } };
	struct lab a = lab_new(resnet, 3, 1), b = lab_new(resnet, 3, 100);
	struct tensor *t = xcalloc((size_t)a.graph->nparam, sizeof(*t));
	struct hash128 hash;
	float *host = xcalloc(a.graph->elements, sizeof(*host));

	device_download(a.device, host, a.net->w, a.graph->elements *
	    sizeof(*host));
	for (int i = 0; i < a.graph->nparam; i++) {
		const struct param *p = &a.graph->param[i];

		t[i] = (struct tensor){ .name = checkpoint_name(p),
			.type = DTYPE_F32, .ndim = p->ndim,
			.data = host + p->offset,
			.bytes = p->count * 4 };
		for (int k = 0; k < p->ndim; k++)
			t[i].dim[k] = p->dim[k];
	}
	safetensors_write(commit_open(path, NULL), t, (size_t)a.graph->nparam,
	    meta, 2, &hash);
	free(host);
	for (int other = 0; other < 2; other++) {
		struct weights_file w;
		struct match *m = load(&w, &b, other ? "a\nb\nd\n" :
		    "a\nb\nc\n");

		is_text(m->names, "vt", "a checkpoint of vt is detected");
		is(fate(m, "fc.weight")->status, other ? LOAD_INITIALIZED : LOAD_COPIED,
		    other ? "a checkpoint with other classes: the classifier "
		    "is initialized" :
		    "a checkpoint with the same classes: the classifier is "
		    "loaded");
		is(fate(m, "bn1.running_mean")->status, LOAD_COPIED,
		    "a checkpoint: the backbone is loaded");
		match_free(m);
		weights_close(&w);
	}
	for (int i = 0; i < a.graph->nparam; i++)
		free((void *)t[i].name);
	free(t);
	lab_free(&a);
	lab_free(&b);
}

/* A match must load at least half of the backbone. */
static void
enough(void)
{
	struct match m = { .of = 10 };

	for (size_t n = 0; n <= 10; n++) {
		m.elements = n;
		if (match_enough(&m) != (n >= 5))
			break;
		m.of = n == 10 ? 0 : m.of;
	}
	is((long long)m.of, 0, "five of ten elements are enough, four are not");
}

int
main(void)
{
	setenv("VT_SHARE_DIR", "share", 0);
	path = xprintf("%s/vt-match.%d", getenv("TMPDIR") != NULL ?
	    getenv("TMPDIR") : "/tmp", (int)getpid());
	round_trips();
	turned();
	folded();
	inflated();
	colors();
	added();
	classes();
	checkpoints();
	enough();
	unlink(path);
	free(path);
	return done();
}
