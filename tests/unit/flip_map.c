/*
 * Label maps for flips: the table is parsed or refused, and the loader swaps
 * the labels of flipped clips.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "data/loader.h"
#include "media/png.h"
#include "loader_set.h"
#include "said.h"
#include "tap.h"

enum { SAMPLES = 12, FRAMES = 4, CLASSES = 6, SIDE = 16, CLIPS = 240 };

static char dir[] = "/tmp/vt-flip_map.XXXXXX";
static int sets;		/* 1: the dataset has sets of classes */

/* a and b swap, c and d swap, e is never flipped, f keeps its label. */
static const char rows[] = "# comment\n#class\tmirrored\na\tb\n3\tc\ne\t-\n";

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
	return SIDE;
}

/* Sample i has class i mod 6; odd ones also have the next class. */
static int
spans_of(int sample, int n, struct label_interval *to)
{
	if (!sets)
		return -1;
	to[0] = (struct label_interval){ sample % CLASSES, 0, n - 1 };
	to[1] = (struct label_interval){ (sample + 1) % CLASSES, 0, n - 1 };
	return 1 + sample % 2;
}

/* Draw brighter to the right, so that a flip is visible. */
static void
draw(int sample, int frame, int w, int h, struct buffer *to)
{
	struct image *m = image_new(w, h, 3);

	(void)sample, (void)frame;
	for (int i = 0; i < w * h * 3; i++)
		m->data[i] = (unsigned char)(i / 3 % w * 15);
	png_encode(m, to);
	image_free(m);
}

static struct set set = { .dir = dir, .ext = "png", .shards = 1,
	.samples = SAMPLES, .classes = CLASSES, .spans = spans_of,
	.frames = frames_of, .width = size_of, .height = size_of,
	.frame = draw };

/* ---- the table ---- */

static struct class_list classes;
static char why[512];

static void
refused(const char *what, const char *text, const char *says)
{
	struct flip_map s;
	int r;

	said_begin(why, sizeof(why));
	r = flip_map_parse("t", text, &classes, &s);
	said_end();
	if (!ok(r == -1 && strstr(why, says) != NULL, "%s", what))
		diag("said: %s (wanted: %s)", why, says);
}

static void
test_table(struct flip_map *s)
{
	int flip = 1;
	float share[CLASSES] = { 1, 0, 0, 1, 0, 1 };
	float never[CLASSES] = { 1, 0, 0, 0, 1, 0 };

	for (int c = 0; c < CLASSES; c++)
		class_add(&classes, (char[]){ (char)('a' + c), '\0' });
	is(flip_map_parse("t", rows, &classes, s), 0, "a table of swaps is read");
	is(flip_map_class(s, &flip, 0), 1, "a becomes b");
	is(flip_map_class(s, &flip, 1), 0, "b becomes a");
	is(flip_map_class(s, &flip, 2), 3, "classes given by number swap");
	is(flip_map_class(s, &flip, 5), 5, "a class that is not listed stays");
	is(flip_map_class(s, &flip, -1), -1, "no class stays no class");
	is(flip, 1, "none of these forbids the flip");
	is(flip_map_class(s, &flip, 4), 4, "a class that is never flipped stays");
	is(flip, 0, "a class that is never flipped forbids the flip");
	is(flip_map_class(s, &flip, 0), 0, "without a flip nothing is swapped");
	flip = 1;
	flip_map_set_of_classes(s, &flip, share);
	ok(flip && share[0] == 0 && share[1] == 1 && share[2] == 1 &&
	    share[3] == 0 && share[4] == 0 && share[5] == 1,
	    "sets of classes swap");
	flip_map_set_of_classes(s, &flip, never);
	ok(!flip && never[0] == 1 && never[1] == 0,
	    "a set with a class that is never flipped forbids the flip");
	refused("an unknown class is refused", "#class\tmirrored\na\tx\n",
	    "t: line 2: class x is not among the 6 classes");
	refused("a class number beyond the classes is refused",
	    "#class\tmirrored\n6\ta\n",
	    "t: line 2: class 6 is not");
	refused("a class twice", "#class\tmirrored\na\tb\nc\tb\n",
	    "t: line 3: class b is listed twice");
	refused("a class that is itself", "#class\tmirrored\nf\tf\n",
	    "t: line 2: class f is mirrored to itself");
	refused("another header", "#class\tother\na\tb\n", "mirrored");
	refused("nothing", "#class\tmirrored\n", "no rows");
}

/* ---- the loader ---- */

struct seen { int label[CLIPS], flip[CLIPS]; unsigned char set[CLIPS]; };

static void
load(const struct dataset *d, const struct flip_map *s, int threads,
    struct seen *to)
{
	static const char schedule[] = "#stage\tepoch_begin\tepoch_end\tcycle\t"
	    "batch\tframes\tcrop\tbn\tlr\tstride_min\tstride_max\n"
	    "0\t0\t20\t0\t6\t2\t8\t6\t0.1\t0\t0\n";
	struct target_spec target = { TARGET_DEFAULT, CLASSES,
		1 << TARGET_SET | 1 << TARGET_CLASS };
	struct input_spec needs = input_spec_default;
	struct loader_options o = { .seed = 9, .threads = threads, .ranks = 1,
		.memory = 1 << 20, .crop = crop_defaults, .flip_map = s,
		.needs = &needs };
	struct table *t = table_parse("schedule", schedule);
	struct schedule *plan = schedule_from_table(t);
	struct microbatch *mb;
	struct loader *l;

	needs.target = &target;
	l = loader_new(d, plan, 0, &o);
	while (loader_next(l, &mb) == 1) {
		for (int i = 0; i < mb->n; i++) {
			uint64_t c = mb->clip[i];
			size_t at = (size_t)i * 2 * 8 * 8 * 3;

			to->flip[c] = mb->stream->bytes[at] >
			    mb->stream->bytes[at + 7 * 3];
			to->label[c] = mb->target->label != NULL ?
			    mb->target->label[i] : (int)mb->sample[i];
			to->set[c] = 0;
			for (int k = 0; mb->target->soft != NULL &&
			    k < CLASSES; k++)
				to->set[c] |= (unsigned char)((mb->target->
				    soft[i * CLASSES + k] > 0) << k);
		}
		loader_return(l, mb);
	}
	loader_free(l);
	schedule_free(plan);
	table_free(t);
}

/* The class of a flipped clip by the table above; -1: never flipped. */
static const int mirrored[CLASSES] = { 1, 0, 3, 2, -1, 5 };

static void
check_classes(const struct seen *plain, const struct seen *swapped)
{
	int bad = 0, flips = 0, never = 0;

	for (int c = 0; c < CLIPS; c++) {
		int was = plain->label[c], other = mirrored[was];

		flips += swapped->flip[c];
		never += was == 4 && plain->flip[c];
		bad += swapped->flip[c] != (plain->flip[c] && other >= 0);
		bad += swapped->label[c] != (swapped->flip[c] ? other : was);
	}
	is(bad, 0, "labels are swapped exactly where clips are flipped");
	ok(flips > CLIPS / 4 && flips < CLIPS / 2 && never > 5,
	    "%d of %d clips are flipped, and %d are never flipped",
	    flips, CLIPS, never);
}

static void
check_sets(const struct seen *plain, const struct seen *swapped)
{
	int bad = 0, flips = 0;

	for (int c = 0; c < CLIPS; c++) {
		unsigned char want = 0;
		int may = !(plain->set[c] & 1 << 4);

		flips += swapped->flip[c];
		bad += swapped->flip[c] != (plain->flip[c] && may);
		for (int k = 0; k < CLASSES; k++)
			if (plain->set[c] & 1 << k)
				want |= (unsigned char)(1 << (swapped->flip[c] ?
				    mirrored[k] : k));
		bad += swapped->set[c] != want;
	}
	is(bad, 0, "sets are swapped exactly where clips are flipped");
	ok(flips > CLIPS / 5,
	    "%d of %d clips with sets are flipped", flips, CLIPS);
}

static void
test_loader(const struct flip_map *s)
{
	static struct seen plain, one, three;
	struct dataset *d;

	for (sets = 0; sets < 2; sets++) {
		if (set_make(&set) != 0 || (d = dataset_open(dir, NULL)) == NULL)
			exit(1);
		load(d, NULL, 2, &plain);
		load(d, s, 1, &one);
		load(d, s, 3, &three);
		(sets ? check_sets : check_classes)(&plain, &one);
		ok(memcmp(&one, &three, sizeof(one)) == 0,
		    "three threads give the same");
		dataset_free(d);
	}
}

int
main(void)
{
	struct flip_map s;
	char *command;

	program_start("flip_map");
	if (mkdtemp(dir) == NULL)
		return 1;
	test_table(&s);
	test_loader(&s);
	flip_map_free(&s);
	class_list_free(&classes);
	command = xprintf("rm -r '%s'", dir);
	ok(system(command) == 0, "the dataset is removed");
	free(command);
	return done();
}
