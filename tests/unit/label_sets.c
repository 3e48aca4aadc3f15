/*
 * Sets of classes per sample come from shards through the loader to the targets
 * of a microbatch.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "data/loader.h"
#include "graph/graph.h"
#include "media/png.h"
#include "loader_set.h"
#include "said.h"
#include "tap.h"

enum { SAMPLES = 10, FRAMES = 12, CLASSES = 4 };

static char dir[] = "/tmp/vt-sets.XXXXXX";

static int
frames_of(int sample)
{
	(void)sample;
	return FRAMES;
}

static int
size_of(int sample)
{
	(void)sample;
	return 16;
}

static int
label_of(int sample)
{
	return sample == 8 ? -1 : sample % CLASSES;
}

/*
 * Samples 0 to 4 have a class in all frames, and class 3 in the last two.
 * Sample 5 has no class; 6 and 9 have one class twice.  Sample 7 has a label,
 * and 8 nothing.
 */
static int
spans_of(int sample, int n, struct label_interval *to)
{
	if (sample == 7 || sample == 8)
		return -1;
	if (sample == 5)
		return 0;
	to[0] = (struct label_interval){ sample % CLASSES, 0, n - 1 };
	to[1] = (struct label_interval){ 3, n - 2, n - 1 };
	if (sample >= 6)
		to[1] = to[0];
	return 2;
}

static void
draw(int sample, int frame, int w, int h, struct buffer *to)
{
	struct image *m = image_new(w, h, 3);

	memset(m->data, sample * 16 + frame, (size_t)(3 * w * h));
	png_encode(m, to);
	image_free(m);
}

static const struct set set = { .dir = dir, .ext = "png", .shards = 2,
	.samples = SAMPLES, .classes = CLASSES, .label = label_of,
	.spans = spans_of, .frames = frames_of, .width = size_of,
	.height = size_of, .frame = draw };

/*
 * Return 1 if a clip of ${sample} with frames ${first} to ${last} has class
 * ${c}.
 */
static int
wanted(int sample, int first, int last, int c)
{
	struct label_interval span[SET_SPANS];
	int n = spans_of(sample, FRAMES, span);

	if (n < 0)
		return label_of(sample) == c;
	for (int k = 0; k < n; k++)
		if (span[k].class == c && span[k].first <= last &&
		    span[k].last >= first)
			return 1;
	return 0;
}

static struct input_spec
needs_of(unsigned kinds)
{
	static struct target_spec target;
	struct input_spec n = input_spec_default;

	target = (struct target_spec){ TARGET_DEFAULT, CLASSES, kinds };
	n.target = &target;
	return n;
}

/* Check the targets of a microbatch.  The pixels of a clip tell its frames. */
static void
check_microbatch(const struct microbatch *mb, int testing, int *bad, int *part)
{
	const struct target *t = mb->target;
	size_t size = 3u * 8 * 8;

	*bad += t->kind != TARGET_SET || t->classes != CLASSES;
	for (int i = 0; i < mb->n; i++) {
		int sample = (int)mb->sample[i], first = 0, last = FRAMES - 1;
		const uint8_t *p = mb->stream->bytes + (size_t)i * size *
		    (size_t)mb->stream->t;

		if (!testing) {
			first = p[0] - sample * 16;
			last = p[size * (size_t)(mb->stream->t - 1)] -
			    sample * 16;
		}
		*part += last < FRAMES - 2;
		*bad += t->weight[i] != (i < mb->n - mb->filled && sample != 8);
		for (int c = 0; c < CLASSES; c++)
			*bad += t->soft[i * CLASSES + c] !=
			    wanted(sample, first, last, c);
	}
}

static void
test_testing(const struct dataset *d)
{
	struct input_spec needs = needs_of(1 << TARGET_SET | 1 << TARGET_CLASS);
	struct view_options v = { .threads = 2, .clips = 1, .crops = 1, .n = 4,
		.t = 2, .side = 8, .memory = 1 << 20, .needs = &needs };
	struct loader *l = loader_views(d, 0, SAMPLES, &v);
	struct microbatch *mb;
	int bad = 0, part = 0, n = 0;

	while (loader_next(l, &mb) == 1) {
		check_microbatch(mb, 1, &bad, &part);
		n += mb->n;
		loader_return(l, mb);
	}
	is(n, 12, "all samples are tested, the last microbatch filled up");
	is(bad, 0, "a test clip has the classes of the whole video");
	loader_free(l);
}

static void
test_training(const struct dataset *d)
{
	static const char rows[] = "#stage\tepoch_begin\tepoch_end\tcycle\tbatch\t"
	    "frames\tcrop\tbn\tlr\tstride_min\tstride_max\n"
	    "0\t0\t20\t0\t4\t3\t8\t4\t0.1\t2\t2\n";
	struct input_spec needs = needs_of(1 << TARGET_SET | 1 << TARGET_CLASS);
	struct loader_options o = { .seed = 3, .threads = 3, .ranks = 1,
		.memory = 1 << 20, .crop = { .rule = CROP_CENTER }, .needs = &needs };
	struct table *t = table_parse("schedule", rows);
	struct schedule *s = schedule_from_table(t);
	struct loader *l = loader_new(d, s, 0, &o);
	struct microbatch *mb;
	int bad = 0, part = 0, n = 0;

	while (loader_next(l, &mb) == 1) {
		check_microbatch(mb, 0, &bad, &part);
		n += mb->n;
		loader_return(l, mb);
	}
	is(n, 200, "200 clips are trained on");
	is(bad, 0,
	    "a training clip has the classes between its first and last frame");
	ok(part > 50 && part < 200,
	    "some clips end before the last interval (%d)", part);
	loader_free(l);
	schedule_free(s);
	table_free(t);
}

static void
test_needs(const struct dataset *d)
{
	struct input_spec class = needs_of(1 << TARGET_CLASS | 1 << TARGET_SOFT);
	struct input_spec any;
	char why[512];

	said_begin(why, sizeof(why));
	is(loader_check_dataset(d, &class, "net"), -1,
	    "a loss of one class is refused for sets of classes");
	said_end();
	ok(strstr(why, "net has a loss of one class a clip (wanted a loss of "
	    "kind=sigmoid") != NULL, "the message names kind=sigmoid: %s", why);
	any = needs_of(1 << TARGET_SET | 1 << TARGET_CLASS);
	is(loader_check_dataset(d, &any, "net"), 0, "a loss of sets is accepted");
}

int
main(void)
{
	struct dataset *d;
	struct sample m;
	char *command;

	program_start("label_sets");
	if (mkdtemp(dir) == NULL || set_make(&set) != 0)
		return 1;
	command = xprintf("rm -r '%s'", dir);
	d = dataset_open(dir, NULL);
	ok(d != NULL && dataset_has_label_sets(d),
	    "a dataset with sets of classes opens");
	m = dataset_sample(d, 5);
	ok(m.labels != NULL && m.nlabels == 0,
	    "a sample may have an empty set");
	m = dataset_sample(d, 7);
	ok(m.labels == NULL && m.nlabels == 0, "a sample may have no set");
	m = dataset_sample(d, 1);
	ok(m.nlabels == 2 && m.labels[1].class == 3 &&
	    m.labels[1].first == FRAMES - 2,
	    "a set has classes with their frames");
	test_testing(d);
	test_training(d);
	test_needs(d);
	dataset_free(d);
	ok(system(command) == 0, "the dataset is removed");
	free(command);
	return done();
}
