/*
 * The input spec of a network selects the datasets that can feed it, and
 * determines the layout of streams and targets in a microbatch.
 */

#include "base/fail.h"
#include "data/microbatches.h"
#include "graph/graph.h"
#include "media/png.h"

#include "loader_set.h"
#include "said.h"
#include "tap.h"

static int frames_of(int i) { return 5 + i; }
static int side_of(int i) { return (void)i, 20; }
static int label_of(int i) { return i == 3 ? -1 : i % 3; }

static void
gray_frame(int sample, int frame, int w, int h, struct buffer *to)
{
	struct image *m = image_new(w, h, 3);

	memset(m->data, sample * 16 + frame, (size_t)(3 * w * h));
	png_encode(m, to);
	image_free(m);
}

static struct schedule *
schedule(const char *rows)
{
	char *text = xprintf("#stage\tepoch_begin\tepoch_end\tcycle\tbatch\tframes\tcrop"
	    "\tbn\tlr\tstride_min\tstride_max\n%s", rows);
	struct table *t = table_parse("test", text);
	struct schedule *s = schedule_from_table(t);

	table_free(t);
	free(text);
	return s;
}

/* ---- which datasets can feed it ---- */

static void
refused(const struct dataset *d, const char *net, const char *want)
{
	struct graph *g = graph_parse("dir/t.net", net, 3);
	char said[512];
	int bad;

	said_begin(said, sizeof(said));
	bad = g == NULL || loader_check_dataset(d, &g->needs, g->name) != 0;
	said_end();
	if (want == NULL)
		ok(!bad, "the dataset has rgb and classes");
	else if (!ok(bad && strstr(said, want) != NULL &&
	    strstr(said, "; ") == NULL, "the dataset is refused: %s", want))
		diag("got: %s", said);
	graph_free(g);
}

#define REST "avgpool p in=x over=thw\nlinear s in=p out=classes\n"

static void
offers(const struct dataset *d)
{
	refused(d, "input x out=3\n" REST, NULL);
	refused(d, "input x out=3\n" REST "loss l in=s kind=sigmoid\n", NULL);
	refused(d, "input x out=10 stream=flow\n" REST, "t reads the stream flow "
	    "of 10 channels, which set does not have (it has rgb of 3): "
	    "vt-extract --flow=tvl1 VIDEO... | vt-pack -o SET stores flow, and "
	    "--data=SET reads it");
	refused(d, "input x out=15 stream=rgbdiff\n" REST, NULL);
	refused(d, "input x out=1\n" REST, "t reads the stream rgb of 1 channel, "
	    "which set does not have (it has rgb of 3)");
	refused(d, "input x out=3\n" REST "loss l in=s\nloss m in=s target=verb\n",
	    "t has a loss of the target verb, which set does not have (it has "
	    "class, one a clip)");
	refused(d, "input x out=3\n" REST "loss l in=s\n"
	    "loss m in=s kind=sigmoid\n", NULL);
}

/* ---- the memory of a microbatch ---- */

static const struct input_spec two = {
	.streams = 3, .targets = 2,
	.stream = (struct stream_spec[]){ { "rgb", 3 }, { "flow", 7 },
	    { "depth", 1 } },
	.target = (struct target_spec[]){ { "class", 3, 1 }, { "again", 3, 1 } },
};

static void
streams(const struct dataset *d)
{
	struct schedule *s = schedule("0\t0\t3\t0\t6\t4\t9\t2\t0.1\t0\t0\n"
	    "1\t3\t5\t0\t6\t2\t15\t3\t0.1\t0\t0\n");
	struct loader_options o = { .seed = 1, .ranks = 1, .needs = &two,
		.crop = crop_defaults };
	struct microbatches *m = microbatches_of_steps(d, s, 0, &o);
	struct microbatch_max largest = microbatches_max(m);
	struct microbatch mb = { 0 };
	uint8_t *buffer = aligned_alloc(64, (largest.bytes + 127) / 64 * 64);
	int shapes = 0, apart = 0, inside = 0, labels = 0, n = 0, clips = 0;
	struct clip_request r = { .frame = xcalloc(largest.frames,
		sizeof(*r.frame)) };

	microbatches_open(m, &mb, largest.clips);
	for (; microbatches_next(m, &mb); n++) {
		const struct cell *c = mb.at.cell;
		size_t bytes = microbatches_set_buffers(m, &mb, buffer);
		const uint8_t *end = buffer;

		inside += bytes <= largest.bytes;
		for (int i = 0; i < two.streams; i++) {
			const struct stream *p = &mb.stream[i];

			shapes += p->t == c->frames && p->h == c->crop &&
			    p->w == c->crop && p->c == two.stream[i].c;
			apart += p->bytes >= end && p->bytes < end + 64 &&
			    (size_t)(p->bytes - buffer) % 64 == 0;
			end = p->bytes + mb.n * p->t * p->h * p->w * p->c;
		}
		inside += end == buffer + bytes;
		for (int i = 0; i < mb.n; i++, clips++) {
			int label = dataset_sample(d, mb.sample[i]).label;

			struct frame_source s = frame_source_sample(d,
			    mb.sample[i], 0);

			microbatches_choose(m, &mb, i, &s, &r);
			for (int k = 0; k < two.targets; k++)
				labels += mb.target[k].label[i] == (strcmp(
				    two.target[k].name, TARGET_DEFAULT) == 0 ?
				    label : -1) &&
				    mb.target[k].kind == TARGET_CLASS &&
				    mb.target[k].classes == 3;
		}
	}
	ok(n > 0 && shapes == 3 * n,
	    "every stream has its channels and the shape of the cell");
	is(apart, 3 * n, "streams are adjacent, at multiples of 64 bytes");
	is(inside, 2 * n, "a microbatch fits into the declared maximum");
	is(labels, 2 * clips,
	    "the target class has the labels, other targets have none");
	microbatch_close(&mb);
	microbatches_free(m);
	schedule_free(s);
	free(buffer);
	free(r.frame);
}

/* ---- inputs ---- */

static void
inputs(void)
{
	struct graph *g = graph_parse("t.net", "input x out=3\ninput y out=200 "
	    "stream=flow\nconv a in=x out=8\nconv b in=y out=8\nadd x2 in=a,b\n"
	    "avgpool p in=x2 over=thw\nlinear s in=p out=classes\n", 3);
	struct dims *input = graph_inputs(g, 2, 8, 32);

	ok(input[0].c == 3 && input[1].c == 200 && input[1].n == 2 &&
	    input[1].t == 8 && input[1].w == 32,
	    "graph_inputs returns the shapes of all inputs");
	near(graph_macs(g, input), 2 * 8 * 32 * 32 * (3 + 200) * 8.0 + 2 * 8 * 3,
	    0, "graph_macs counts the work of all inputs");
	free(input);
	graph_free(g);
}

int
main(void)
{
	char root[] = "/tmp/vt-input_spec.XXXXXX";
	struct set set = { .dir = "set", .ext = "png", .shards = 1, .samples = 7,
		.label = label_of, .frames = frames_of, .width = side_of,
		.height = side_of, .frame = gray_frame };
	struct dataset *d = set_open(&set, root);

	offers(d);
	streams(d);
	inputs();
	set_close(d, root);
	return done();
}
