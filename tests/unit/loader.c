/*
 * tests/run: weight 3
 * The loader gives the clips of an independent computation, with the same bits
 * for any number of ranks and threads and after any stop.  Damage is reported
 * with its place.  Pixels of the datasets tell sample and frame.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/fail.h"
#include "base/rng.h"
#include "clip/draw.h"
#include "data/loader.h"
#include "data/order.h"
#include "media/jpeg.h"
#include "media/png.h"

#include "jpeg_rgb.h"
#include "loader_set.h"
#include "said.h"
#include "tap.h"

static char *root;

/* ---- datasets ---- */

#define SAMPLES 23

static int frames_of(int i) { return i % 7 == 3 ? 1 : 2 + i * 5 % 31; }
static int width_of(int i) { return i % 4 == 1 ? 30 : 44; }
static int height_of(int i) { return i % 4 == 1 ? 48 : 30; }
static int one_of(int i) { return (void)i, 1; }
static int jpeg_width(int i) { return (void)i, 171; }
static int jpeg_height(int i) { return (void)i, 129; }

/* Red is the sample, green the frame, blue the column. */
static struct image *
numbers(int sample, int frame, int w, int h)
{
	struct image *m = image_new(w, h, 3);

	for (int i = 0; i < w * h; i++) {
		m->data[3 * i] = (uint8_t)sample;
		m->data[3 * i + 1] = (uint8_t)frame;
		m->data[3 * i + 2] = (uint8_t)(i % w);
	}
	return m;
}

static void
number_frame(int sample, int frame, int w, int h, struct buffer *to)
{
	struct image *m = numbers(sample, frame, w, h);

	png_encode(m, to);
	image_free(m);
}

static void
jpeg_frame(int sample, int frame, int w, int h, struct buffer *to)
{
	struct image *m = numbers(sample, frame, w, h);

	for (int i = 0; i < w * h; i++)
		m->data[3 * i] = (uint8_t)(100 + 90 * sin(i * 0.011 * frame +
		    sample));
	jpeg_encode_rgb(90, m, to);
	image_free(m);
}

static char *
make(const char *name, struct set s)
{
	char *dir = path_join(root, name);

	file_make_dir(dir, NULL);
	s.dir = dir;
	if (set_make(&s) != 0) {
		printf("Bail out! cannot write %s\n", dir);
		exit(1);
	}
	return dir;
}

static struct dataset *
numbers_set(void)
{
	static struct dataset *d;
	char *dir;

	if (d != NULL)
		return d;
	dir = make("numbers", (struct set){ .ext = "png", .shards = 3,
		.samples = SAMPLES, .frames = frames_of, .width = width_of,
		.height = height_of, .frame = number_frame });
	d = dataset_open(dir, NULL);
	free(dir);
	return d;
}

/* ---- schedules ---- */

static struct resizer *resizer;

static struct schedule *
schedule(const char *rows)
{
	char *text = xprintf("#stage\tepoch_begin\tepoch_end\tcycle\tbatch\tframes\tcrop"
	    "\tbn\tlr\tstride_min\tstride_max\n%s", rows);
	struct table *t;
	struct schedule *s;

	for (char *c = strchr(text, '\n'); *c != '\0'; c++)
		if (*c == ' ')
			*c = '\t';
	t = table_parse("test", text);
	s = schedule_from_table(t);
	table_free(t);
	free(text);
	return s;
}

/*
 * Batches of 24, 12 and 4 cross the end of an epoch of 23 anywhere.  Groups
 * have 2 clips, in one stage interleaved; one stage has strides.
 */
static const char mixed[] =
    "0 0 3 0 24 4 11 2 0.1 0 0\n"
    "0 0 3 1 12 4 16 2 0.1 0 0\n"
    "1 3 6 0 12 8 16 2 0.1 0 0\n"
    "1 3 6 1 4 8 22 2 0.1 0 0\n"
    "2 6 8 0 12 3 19 2/6 0.1 1 3\n"
    "3 8 9 0 6 16 9 2 0.1 0 0\n";

static const struct loader_options plain = { .seed = 77, .threads = 1,
	.ranks = 1, .sampler = SAMPLER_TSM, .crop = { .scale = { 1, .875, .75, .66 },
	.scales = 4, .distort = 1, .positions = CROP_POSITIONS, .flip = 1 },
	.memory = 1 << 20 };

/* ---- the reference: one clip, computed directly ---- */

static void
answer(const struct dataset *d, const struct microbatch *f, int i,
    const struct loader_options *o, uint8_t *to)
{
	const struct cell *c = f->at.cell;
	uint32_t n = dataset_samples(d), *order = xcalloc(n, sizeof(*order));
	uint64_t repeat = o->transforms.repeat > 1 ?
	    (uint64_t)o->transforms.repeat : 1;
	uint64_t place = f->clip[i] / repeat;
	struct rng clip = rng_clip(o->seed, f->clip[i]);
	struct rng first = rng_clip(o->seed, place * repeat);
	struct rng stride = clip_draw(first, DRAW_STRIDE);
	struct clip_input of;
	struct sample s;
	struct crop crop;
	int frame[64];

	rng_shuffle(o->seed, (uint32_t)(place / n), n, order);
	s = dataset_sample(d, order[place % n]);
	of = (struct clip_input){ s.frames, f->stream->t, 0, 30 };
	if (c->stride_max > 0)
		of.stride = c->stride_min + (int)rng_below(&stride,
		    (uint32_t)(c->stride_max - c->stride_min + 1));
	clip_train(o->sampler, &of, first, frame);
	crop = crop_train(&o->crop, s.width, s.height, f->stream->w, clip);
	for (int k = 0; k < f->stream->t; k++) {
		struct image *m = numbers((int)order[place % n], frame[k],
		    s.width, s.height);

		image_resize(resizer, &(struct resize_call){ crop.how, to + k * f->stream->w * f->stream->h * 3,
		    f->stream->w, f->stream->h, m->data,
		    m->w, m->h, (struct region){ crop.x, crop.y, crop.w,
		    crop.h }, crop.flip });
		image_free(m);
	}
	free(order);
}

static void
test_against_answer(void)
{
	static uint8_t want[16 * 22 * 22 * 3];
	struct dataset *d = numbers_set();
	struct schedule *s = schedule(mixed);
	struct loader *l = loader_new(d, s, 0, &plain);
	struct schedule_step at = schedule_start(s, SAMPLES);
	struct microbatch *f;
	int right = 0, clips = 0, labels = 0, in_order = 0, microbatches = 0, next = 0;
	int status, straddled = 0, plan = 0, seen = 0, others = 0;
	const struct microbatch *peek;
	uint64_t load;

	while (loader_peek(l) == NULL)
		sched_yield();
	for (;;) {
		size_t size;

		peek = loader_peek(l);
		load = peek != NULL ? peek->load : 0;
		if ((status = loader_next(l, &f)) != 1)
			break;
		seen += peek != NULL;
		others += peek != NULL && (peek != f || load != f->load);
		size = (size_t)(f->stream->t * f->stream->w * f->stream->h * 3);

		plan += f->at.step == at.step && f->index == next &&
		    f->microbatches == at.cell->batch / 2 && f->n == 2 &&
		    f->stream->t == at.cell->frames && f->stream->w == at.cell->crop &&
		    f->stream->h == f->stream->w && f->filled == 0;
		straddled += f->clip[0] / SAMPLES != f->clip[1] / SAMPLES;
		for (int i = 0; i < f->n; i++, clips++) {
			answer(d, f, i, &plain, want);
			right += memcmp(want, f->stream->bytes + (size_t)i * size,
			    size) == 0;
			labels += f->target->label[i] == (int)f->sample[i] % 3 &&
			    f->stream->bytes[(size_t)i * size] == f->sample[i];
			in_order += f->clip[i] == at.clip +
			    (uint64_t)cell_clip(at.cell, f->index, i);
		}
		if (++next == f->microbatches) {
			at = schedule_next(s, SAMPLES, &at);
			next = 0;
		}
		microbatches++;
		loader_return(l, f);
	}
	is(status, 0, "the schedule ends");
	ok(at.cell == NULL && next == 0,
	    "the schedule ends after its last microbatch");
	is(loader_next(l, &f), 0, "loader_next at the end returns 0 again");
	is(plan, microbatches,
	    "microbatches are in order and have the shape of their cell");
	is(in_order, clips, "microbatches have the clips of their BN group");
	is(right, clips, "pixels are those of the reference");
	is(labels, clips, "labels, samples and pixels agree");
	ok(seen > 0 && others == 0, "loader_peek shows the next microbatch (%d "
	    "of %d)", seen, microbatches);
	ok(straddled > 0,
	    "some groups cross epochs (%d of %d microbatches)", straddled,
	    microbatches);
	is((long long)loader_stats(l).clips, clips,
	    "loader_stats counts every clip");
	is((long long)loader_stats(l).microbatches, microbatches,
	    "loader_stats counts every microbatch");
	ok(loader_stats(l).decode > 0 && loader_stats(l).resize > 0 &&
	    loader_stats(l).bytes > 0 && loader_stats(l).waited > 0 &&
	    loader_stats(l).ready == 0, "loader_stats has times and bytes");
	loader_free(l);
	schedule_free(s);
}

/* ---- ranks, threads and stops change nothing ---- */

struct digest { uint64_t step; int index; struct hash128 hash; };
struct digests { struct digest *at; size_t n, cap; };

static void
digest_microbatch(struct digests *to, const struct microbatch *f)
{
	size_t n = (size_t)f->n;
	struct hasher *h = hasher_new();

	hasher_add(h, f->stream->bytes, n * (size_t)(f->stream->t *
	    f->stream->h * f->stream->w * 3));
	hasher_add(h, f->target->label, n * sizeof(*f->target->label));
	hasher_add(h, f->clip, n * sizeof(*f->clip));
	hasher_add(h, f->sample, n * sizeof(*f->sample));
	to->at = array_reserve(to->at, to->n, &to->cap, sizeof(*to->at));
	to->at[to->n++] = (struct digest){ f->at.step, f->index,
		hasher_128(h) };
	hasher_free(h);
}

static int
by_place(const void *a, const void *b)
{
	const struct digest *x = a, *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return x->index - y->index;
}

/*
 * Digest the microbatches of all ranks from step ${from}, at most ${largest}
 * per rank. Return them in the order of steps.
 */
static struct digests
run(const struct dataset *d, const struct schedule *s, uint64_t from,
    struct loader_options o, size_t largest)
{
	struct digests all = { 0 };
	struct microbatch *f;

	for (o.rank = 0; o.rank < o.ranks; o.rank++) {
		struct loader *l = loader_new(d, s, from, &o);

		for (size_t n = 0; n < largest && loader_next(l, &f) == 1; n++) {
			digest_microbatch(&all, f);
			loader_return(l, f);
		}
		loader_free(l);
	}
	if (all.n > 0)
		qsort(all.at, all.n, sizeof(*all.at), by_place);
	return all;
}

/*
 * Return 1 if ${b} equals the digests of ${a} from step ${from}.  Without
 * ${whole}, ${b} may end earlier.
 */
static int
same_from(const struct digests *a, uint64_t from, const struct digests *b,
    int whole)
{
	size_t skip = 0;

	while (skip < a->n && a->at[skip].step < from)
		skip++;
	if (b->n > a->n - skip || (whole && b->n != a->n - skip))
		return 0;
	for (size_t i = 0; i < b->n; i++)
		if (by_place(&a->at[skip + i], &b->at[i]) != 0 ||
		    !hash128_equal(a->at[skip + i].hash, b->at[i].hash))
			return 0;
	return 1;
}

static void
test_same(void)
{
	struct dataset *d = numbers_set();
	struct schedule *s = schedule(mixed);
	struct digests one = run(d, s, 0, plain, SIZE_MAX), other;
	uint64_t steps = schedule_steps(s, SAMPLES);
	struct loader_options o = plain;
	int good = 0;

	for (o.ranks = 1; o.ranks <= 4; o.ranks++)
		for (o.threads = 1; o.threads <= 8; o.threads += 7) {
			o.memory = o.threads == 8 ? 1 << 20 : 0;
			/*
			 * With 2 microbatches per step, 3 or 4 ranks have idle
			 * ones.
			 */
			other = run(d, s, 0, o, SIZE_MAX);
			ok(same_from(&one, 0, &other, 1),
			    "%d ranks of %d threads and %zu bytes load the "
			    "same bits", o.ranks,
			    o.threads, o.memory);
			free(other.at);
		}
	o = plain;
	o.threads = 3;
	for (uint64_t t = 0; t <= steps + 1; t++) {
		other = run(d, s, t, o, 15);
		good += same_from(&one, t, &other, t > steps);
		free(other.at);
	}
	is(good, (long long)steps + 2,
	    "a start at any step loads the same bits");
	o.seed++;
	other = run(d, s, 0, o, 4);
	ok(!same_from(&one, 0, &other, 0), "another seed loads other bits");
	free(other.at);
	free(one.at);
	schedule_free(s);
}

/* ---- repeated samples ---- */

/* Return the frames that differ from the one before, in a clip of 4 frames of
 * the sample with this ${place} in the order. */
static int
decoded_frames(const struct dataset *d, uint64_t place, int repeat)
{
	uint32_t order[SAMPLES];
	int frame[4], n = 1;
	struct clip_input of = { .t = 4, .fps = 30 };

	rng_shuffle(plain.seed, (uint32_t)(place / SAMPLES), SAMPLES, order);
	of.total = dataset_sample(d, order[place % SAMPLES]).frames;
	clip_train(plain.sampler, &of, rng_clip(plain.seed, place *
	    (uint64_t)repeat), frame);
	for (int k = 1; k < 4; k++)
		n += frame[k] != frame[k - 1];
	return n;
}

/* Return the number of clips whose pixels are not those of the reference. */
static int
wrong_clips(const struct dataset *d, const struct schedule *s,
    const struct loader_options *o)
{
	static uint8_t want[16 * 22 * 22 * 3];
	struct loader *l = loader_new(d, s, 0, o);
	struct microbatch *f;
	int wrong = 0;

	while (loader_next(l, &f) == 1) {
		size_t size = (size_t)(f->stream->t * f->stream->w *
		    f->stream->h * 3);

		for (int i = 0; i < f->n; i++) {
			answer(d, f, i, o, want);
			wrong += memcmp(want, f->stream->bytes + (size_t)i *
			    size, size) != 0;
		}
		loader_return(l, f);
	}
	loader_free(l);
	return wrong;
}

static void
test_repeat(void)
{
	const size_t size = 4 * 16 * 16 * 3;
	struct dataset *d = numbers_set();
	struct schedule *s = schedule("0 0 3 0 12 4 16 6 0.1 0 0\n");
	struct schedule *odd = schedule(mixed);
	struct loader_options o = plain;
	struct digests one, other;
	struct loader *l;
	struct microbatch *f;
	int clips = 0, decoded = 0, alike = 0;

	o.transforms.repeat = 3;
	is(wrong_clips(d, s, &o), 0,
	    "repeated samples: pixels are those of the reference");
	is(wrong_clips(d, odd, &o), 0, "repeated samples in several "
	    "microbatches: pixels are those of the reference");
	l = loader_new(d, s, 0, &o);
	while (loader_next(l, &f) == 1) {
		for (int i = 0; i < f->n; i++, clips++) {
			if (i % 3 == 0)
				decoded += decoded_frames(d, f->clip[i] / 3, 3);
			else
				alike += memcmp(f->stream->bytes + (size_t)i *
				    size, f->stream->bytes + (size_t)(i - 1) *
				    size, size) == 0;
		}
		loader_return(l, f);
	}
	ok(alike < clips / 6, "repeated samples have different crops (%d of %d "
	    "clips equal the one before)", alike, clips);
	is((long long)loader_stats(l).frames, decoded,
	    "a frame is decoded once for the clips of a repeated sample");
	is((long long)loader_stats(l).clips, clips,
	    "loader_stats counts every clip of a repeated sample");
	loader_free(l);
	/* Groups of two clips: those of a sample are in two groups. */
	one = run(d, odd, 0, o, SIZE_MAX);
	for (o.ranks = 1; o.ranks <= 3; o.ranks++) {
		o.threads = o.ranks + 1;
		other = run(d, odd, 0, o, SIZE_MAX);
		ok(same_from(&one, 0, &other, 1), "%d ranks of %d threads load "
		    "the same bits of repeated samples", o.ranks, o.threads);
		free(other.at);
	}
	free(one.at);
	schedule_free(s);
	schedule_free(odd);
}

/* ---- the trace ---- */

#define HEADER "#step\tclip\tkey\tframes\tcrop\tflip\teffects\n"

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * Return the lines of ${text}, sorted, which merges those of ranks.  Free
 * ${text}.
 */
static char *
sorted(char *text)
{
	char **line = xcalloc(strlen(text) + 1, sizeof(*line));
	struct buffer b = { 0 };
	size_t n = 0;

	for (char *p = strtok(text, "\n"); p != NULL; p = strtok(NULL, "\n"))
		line[n++] = p;
	qsort(line, n, sizeof(*line), by_text);
	for (size_t i = 0; i < n; i++)
		buffer_printf(&b, "%s\n", line[i]);
	free(line);
	free(text);
	return b.data;
}

/*
 * Return the trace of all ranks of a run that stops after step ${stop} and
 * resumes.  The caller frees it.
 */
static char *
trace(const struct schedule *s, uint64_t stop, struct loader_options o)
{
	struct buffer b = { 0 };
	uint64_t steps = schedule_steps(s, SAMPLES);
	uint64_t part[2][2] = { { 0, stop }, { stop, steps } };

	for (int k = stop == 0; k < 2; k++)
		for (o.rank = 0; o.rank < o.ranks; o.rank++) {
			char *text = NULL;
			size_t n = 0;
			struct microbatch *f;
			struct loader *l;

			o.trace = open_memstream(&text, &n);
			l = loader_new(numbers_set(), s, part[k][0], &o);
			/*
			 * Clips that are prefetched beyond the stop must not be
			 * in the trace.
			 */
			while (part[k][0] < part[k][1] &&
			    loader_next(l, &f) == 1) {
				int last = f->at.step + 1 == part[k][1], first;
				int mine = split(f->microbatches, o.rank,
				    o.ranks, &first);

				last &= f->index == first + mine - 1;
				loader_return(l, f);
				if (last)
					break;
			}
			loader_free(l);
			fclose(o.trace);
			if (strncmp(text, HEADER, strlen(HEADER)) != 0)
				ok(0, "the trace of rank %d has a header",
				    o.rank);
			buffer_text(&b, text + strlen(HEADER));
			free(text);
		}
	return sorted(b.data);
}

static void
test_trace(void)
{
	/*
	 * Every rank has a microbatch in every step, so that each can stop at
	 * any step.
	 */
	struct schedule *s = schedule("0 0 4 0 12 3 11 2 0.1 0 0\n"
	    "1 4 6 0 8 2 16 2 0.1 0 0\n");
	struct loader_options o = plain;
	char *one = trace(s, 0, o);
	uint64_t steps = schedule_steps(s, SAMPLES), lines = 0, clips = 0;
	int same = 0, tried = 0;

	for (struct schedule_step at = schedule_start(s, SAMPLES);
	    at.cell != NULL; at = schedule_next(s, SAMPLES, &at))
		clips += (uint64_t)at.cell->batch;
	for (char *p = one; (p = strchr(p, '\n')) != NULL; p++)
		lines++;
	is((long long)lines, (long long)clips,
	    "the trace has a header and a line for each clip");
	for (o.ranks = 1; o.ranks <= 4; o.ranks++)
		for (uint64_t stop = 0; stop <= steps; stop += 1 + stop / 2) {
			char *other;

			o.threads = 1 + (int)(stop % 5);
			other = trace(s, stop, o);
			same += strcmp(one, other) == 0;
			tried++;
			free(other);
		}
	is(same, tried,
	    "the trace does not depend on ranks, threads and stops");
	free(one);
	schedule_free(s);
}

static void
test_trace_line(void)
{
	struct schedule *s = schedule("0 0 1 0 2 3 11 2 0.1 0 0\n");
	struct loader_options o = plain;
	struct rng clip = rng_clip(o.seed, 0);
	struct dataset *d = numbers_set();
	uint32_t order[SAMPLES];
	char *text = NULL, *want;
	struct sample m;
	struct crop c;
	struct microbatch *f;
	struct loader *l;
	int frame[3];
	size_t n;

	o.trace = open_memstream(&text, &n);
	l = loader_new(d, s, 0, &o);
	loader_next(l, &f);
	fclose(o.trace);
	rng_shuffle(o.seed, 0, SAMPLES, order);
	m = dataset_sample(d, order[0]);
	clip_train(SAMPLER_TSM, &(struct clip_input){ m.frames, 3, 0, 0 }, clip,
	    frame);
	c = crop_train(&o.crop, m.width, m.height, 11, clip);
	want = xprintf("0\t0\ts%05u\t%d,%d,%d\t%gx%g+%g+%g\t%d\t-", order[0],
	    frame[0], frame[1], frame[2], c.w, c.h, c.x, c.y, c.flip);
	strtok(text, "\n");
	is_text(strtok(NULL, "\n"), want,
	    "a line of the trace has the clip's frames, crop and flip");
	loader_free(l);
	free(text);
	free(want);
	schedule_free(s);
}

/* ---- JPEG ---- */

static void
test_jpeg(void)
{
	static uint8_t want[32 * 32 * 3];
	char *dir = make("jpeg", (struct set){ .ext = "jpg", .shards = 1,
		.samples = 5, .frames = frames_of, .width = jpeg_width,
		.height = jpeg_height, .frame = jpeg_frame });
	struct dataset *d = dataset_open(dir, NULL);
	struct view_options o = { .threads = 2, .sampler = SAMPLER_TSM,
		.clips = 2, .crops = 10, .n = 3, .t = 4, .side = 32 };
	struct jpeg_decoder *e = jpeg_decoder_new();
	struct loader *l = loader_views(d, 0, 5, &o);
	struct buffer b = { 0 };
	int frame[4], right = 0, frames = 0;
	struct microbatch *f;

	while (loader_next(l, &f) == 1) {
		for (int i = 0; i < f->n * 4; i++, frames++) {
			int sample = (int)f->sample[i / 4];
			int view = (int)(f->clip[i / 4] % 20);
			struct crop c = crop_test(VIEW_TSM, 171, 129, 32,
			    view % 10, 10, 0);
			struct region all = { 0, 0, 171, 129 }, at;
			struct image out;

			clip_test(SAMPLER_TSM, &(struct clip_input){
			    frames_of(sample), 4, 0, 0 }, view / 10, 2, frame);
			b.n = 0;
			jpeg_frame(sample, frame[i % 4], 171, 129, &b);
			/*
			 * A crop of 113 pixels to a side of 32 allows a scale
			 * of 1/2.
			 */
			jpeg_decode(e, b.data, b.n, &(struct jpeg_part){ all, 60, 40, 0 }, &out, &at, NULL);
			image_resize(resizer, &(struct resize_call){ c.how, want, 32, 32, out.data, out.w, out.h,
			    (struct region){ c.x / 2.0, c.y / 2.0, c.w / 2.0,
			    c.h / 2.0 }, c.flip });
			right += memcmp(want, f->stream->bytes + (size_t)i *
			    sizeof(want), sizeof(want)) == 0;
		}
		loader_return(l, f);
	}
	is(frames, 34 * 3 * 4, "JPEG: all views of all samples are loaded");
	is(right, frames, "JPEG: each view equals that of the whole frame");
	loader_free(l);
	jpeg_decoder_free(e);
	buffer_free(&b);
	dataset_free(d);
	free(dir);
}

/* ---- views ---- */

static void
test_views(void)
{
	static const struct view_options kinds[] = {
		{ .validate = 1, .clips = 1, .crops = 1 },
		{ .clips = 2, .crops = 3, .full = 1 },
		{ .sampler = SAMPLER_DENSE, .clips = 10, .crops = 3 },
		{ .stride = 2, .clips = 3, .crops = 1 } };
	struct dataset *d = numbers_set();

	for (int k = 0; k < 4; k++) {
		struct view_options o = kinds[k];
		int each = o.clips * o.crops, views = 0, good = 0, fill = 0;
		struct digests one = { 0 };
		struct microbatch *f;

		o.n = 4;
		o.t = 5;
		o.side = 14;
		for (o.threads = 1; o.threads < 9; o.threads += 7) {
			struct loader *l = loader_views(d, 3, 17, &o);
			struct digests again = { 0 };

			while (loader_next(l, &f) == 1) {
				for (int i = 0; i < f->n && o.threads == 1; i++) {
					int real = i < f->n - f->filled;
					uint32_t want = 3 + (uint32_t)(views /
					    each);

					fill += !real;
					good += real && f->sample[i] == want &&
					    f->clip[i] == (uint64_t)views &&
					    f->target->label[i] == (int)want % 3 &&
					    f->stream->bytes[(size_t)(i * 5 * 14 * 14 *
					    3)] == want;
					good += !real && f->target->label[i] == -1;
					views += real;
				}
				digest_microbatch(o.threads == 1 ? &one : &again, f);
				loader_return(l, f);
			}
			if (o.threads > 1)
				ok(same_from(&one, 0, &again, 1),
				    "views %d: 8 threads load the same bits",
				    k);
			loader_free(l);
			free(again.at);
		}
		ok(views == 17 * each && good == views + fill &&
		    fill == (4 - views % 4) % 4, "views %d: %d views in order, "
		    "%d to fill up", k, views, fill);
		free(one.at);
	}
}

static void
test_no_views(void)
{
	struct view_options o = { .threads = 2, .clips = 1, .crops = 1, .n = 2,
		.t = 1, .side = 8 };
	struct loader *l = loader_views(numbers_set(), 5, 0, &o);
	struct microbatch *f;

	is(loader_next(l, &f), 0, "no samples give no microbatches");
	loader_free(l);
}

/* ---- unusual datasets ---- */

static void
test_small(void)
{
	char *dir = make("small", (struct set){ .ext = "png", .shards = 1,
		.samples = 1, .frames = one_of, .width = width_of,
		.height = height_of, .frame = number_frame });
	struct dataset *d = dataset_open(dir, NULL);
	struct schedule *s = schedule("0 0 40 0 16 8 12 4 0.1 0 0\n");
	struct digests a = run(d, s, 0, plain, SIZE_MAX), b;
	struct loader_options o = plain;
	struct loader *l = loader_new(d, s, 0, &plain);
	struct microbatch *f;
	int first = 1, all = 1;

	is((long long)a.n, 3 * 4,
	    "one sample, 40 epochs: 3 batches of 16 are loaded");
	o.ranks = 3;
	o.threads = 8;
	b = run(d, s, 0, o, SIZE_MAX);
	ok(same_from(&a, 0, &b, 1),
	    "one sample: 3 ranks of 8 threads load the same bits");
	while (loader_next(l, &f) == 1) {
		for (int i = 0; i < f->n; i++) {
			const uint8_t *p = f->stream->bytes + (size_t)(i * 8 * 432);

			all &= f->sample[i] == 0;
			for (int k = 1; k < 8; k++)
				all &= memcmp(p, p + k * 432, 432) == 0;
			first &= i == 0 || f->clip[i] == f->clip[i - 1] + 1;
		}
		loader_return(l, f);
	}
	ok(first && all, "one sample: one frame is repeated for a clip of 8");
	is((long long)loader_stats(l).frames, 48,
	    "one sample: the frame is decoded once per clip");
	loader_free(l);
	schedule_free(s);
	dataset_free(d);
	free(dir);
	free(a.at);
	free(b.at);
}

static void
test_order(void)
{
	struct order *o = order_new(9, 7, NULL);
	uint32_t want[7];
	int good = 0;

	/* Clip numbers in no order, as interleaved groups ask for them. */
	for (uint64_t k = 0; k < 500; k++) {
		uint64_t g = k * 13 % 97;

		rng_shuffle(9, (uint32_t)(g / 7), 7, want);
		good += order_sample(o, g) == want[g % 7];
	}
	is(good, 500,
	    "order_sample returns the sample at a clip's place in its epoch");
	order_free(o);
}

static void
test_rank_leaves(void)
{
	int good = 1;

	for (int microbatches = 1; microbatches < 40; microbatches++)
		for (int ranks = 1; ranks < 20; ranks++) {
			int next = 0, first, least = microbatches, largest = 0;

			for (int r = 0; r < ranks; r++) {
				int n = split(microbatches, r, ranks, &first);

				good &= first == next;
				next += n;
				least = n < least ? n : least;
				largest = n > largest ? n : largest;
			}
			good &= next == microbatches && largest - least <= 1;
		}
	ok(good, "split gives ranks microbatches without gaps, evenly");
}

/* ---- damage ---- */

/*
 * Load one epoch of views.  Return the status of the first failed microbatch,
 * and its index in ${*mb}.  The next call must repeat status and message; else
 * return 99.
 */
static int
first_failure(const struct dataset *d, int threads, int *mb, char *said,
    size_t size)
{
	struct view_options o = { .threads = threads, .validate = 1,
		.clips = 1, .crops = 1, .n = 2, .t = 8, .side = 12 };
	struct loader *l = loader_views(d, 0, dataset_samples(d), &o);
	struct microbatch *f;
	int status, again;

	said_begin(said, size);
	for (*mb = 0; (status = loader_next(l, &f)) == 1; ++*mb)
		loader_return(l, f);
	said_end();
	if (status < 0) {
		char twice[512];

		said_begin(twice, sizeof(twice));
		again = loader_next(l, &f);
		said_end();
		if (again != status || strcmp(said, twice) != 0)
			status = 99;
	}
	loader_free(l);
	return status;
}

static void
test_changed_byte(void)
{
	char *dir = make("changed", (struct set){ .ext = "png", .shards = 1,
		.samples = 9, .frames = frames_of, .width = width_of,
		.height = height_of, .frame = number_frame });
	char *path = path_join(dir, "t-000000.tar"), said[512], now[512];
	struct dataset *d = dataset_open(dir, NULL);
	struct sample s = dataset_sample(d, 7);
	int fd = open(path, O_WRONLY), at, same = 1;

	/* In frame 0 of sample 7, whose 6 frames are all used. */
	is(pwrite(fd, "x", 1, (off_t)s.offset + 512 + 60), 1,
	    "a byte of a frame is changed");
	is(first_failure(d, 1, &at, said, sizeof(said)), -2,
	    "a changed byte gives the status of damage");
	is(at, 3, "a changed byte fails its microbatch, not those before");
	ok(strstr(said, path) != NULL && strstr(said, "s00007") != NULL &&
	    strstr(said, "frame 0") != NULL,
	    "the message names shard, key and frame: %s",
	    said);
	for (int k = 0; k < 10; k++)
		same &= first_failure(d, 8, &at, now, sizeof(now)) == -2 &&
		    at == 3 && strcmp(now, said) == 0;
	ok(same, "8 threads fail at the same microbatch with the same message");
	is(ftruncate(fd, (off_t)dataset_sample(d, 3).offset), 0,
	    "a shard is truncated");
	is(first_failure(d, 3, &at, said, sizeof(said)), -1,
	    "a truncated shard gives the status of a read error");
	close(fd);
	dataset_free(d);
	free(path);
	free(dir);
}

static void
bad_frame(int sample, int frame, int w, int h, struct buffer *to)
{
	jpeg_frame(sample, frame, w + (sample == 6 && frame == 2), h, to);
	if (sample == 1 && frame == 3)
		to->n -= 40;
}

static int eight_of(int i) { return (void)i, 8; }

static void
test_bad_frames(void)
{
	char *dir = make("bad", (struct set){ .ext = "jpg", .shards = 1,
		.samples = 7, .frames = eight_of, .width = width_of,
		.height = height_of, .frame = bad_frame });
	struct dataset *d = dataset_open(dir, NULL);
	struct view_options o = { .threads = 4, .validate = 1, .clips = 1,
		.crops = 1, .n = 1, .t = 8, .side = 12 };
	char said[512], *want;
	int at;
	struct loader *l;
	struct microbatch *f;

	is(first_failure(d, 3, &at, said, sizeof(said)), -2,
	    "a truncated frame is found");
	is(at, 0, "a truncated frame fails its microbatch");
	want = xprintf("%s/t-000000.tar: key s00001: frame 3: JPEG: Premature "
	    "end of JPEG file", dir);
	is_text(said, want, "the message names the truncated frame");
	free(want);
	l = loader_views(d, 6, 1, &o);
	said_begin(said, sizeof(said));
	is(loader_next(l, &f), -2, "a frame of another size is found");
	said_end();
	want = xprintf("%s/t-000000.tar: key s00006: frame 2: 45x30 pixels "
	    "(the index says 44x30)", dir);
	is_text(said, want, "the message names the frame of another size");
	free(want);
	loader_free(l);
	dataset_free(d);
	free(dir);
}

/* ---- early end, and memory ---- */

static void
test_early_end(void)
{
	struct schedule *s = schedule(mixed);
	struct loader_options o = plain;
	int loaded = 0;

	o.threads = 8;
	for (int k = 0; k < 60; k++) {
		struct loader *l;
		struct microbatch *f = NULL;

		o.memory = k % 2 ? 0 : 1 << 20;
		l = loader_new(numbers_set(), s, (uint64_t)(k % 11), &o);
		for (int i = 0; i < k % 5; i++) {
			if (f != NULL)
				loader_return(l, f);
			loaded += loader_next(l, &f) == 1;
		}
		loader_free(l);		/* while a microbatch is held */
	}
	is(loaded, 120, "a loader can be freed at any time while it works");
	loader_free(NULL);
	schedule_free(s);
}

static void
test_memory(void)
{
	/*
	 * The largest microbatch is that of stage 1: 2 * 8 * 22 * 22 * 3 bytes.
	 */
	const size_t largest = 2 * 8 * 22 * 22 * 3;
	struct schedule *s = schedule(mixed);
	struct loader_options o = plain;

	o.threads = 4;
	for (size_t microbatches = 0; microbatches < 8; microbatches += 3) {
		struct loader *l;
		struct microbatch *f, *kept[8] = { 0 };
		const uint8_t *seen[16];
		int n = 0, epochs = 0, ready = 0, want;

		o.memory = microbatches * largest + 100;
		l = loader_new(numbers_set(), s, 0, &o);
		while (loader_next(l, &f) == 1) {
			int known = 0;

			for (int i = 0; i < n; i++)
				known |= seen[i] == f->stream->bytes;
			if (!known && n < 16)
				seen[n++] = f->stream->bytes;
			known = loader_stats(l).ready;
			ready = known > ready ? known : ready;
			epochs = f->at.epoch;
			loader_return(l, f);
		}
		want = microbatches < 2 ? 2 : (int)microbatches;
		ok(n <= want && ready <= want && epochs == 8,
		    "memory holds no more than %d microbatches (%d, %d)",
		    want, n, ready);
		loader_free(l);

		/* All microbatches but one may be held. */
		l = loader_new(numbers_set(), s, 0, &o);
		n = 0;
		while (n < want - 1 && loader_next(l, &kept[n]) == 1)
			n++;
		is(loader_next(l, &f), 1, "loader_next works while all "
		    "microbatches but one are held");
		loader_return(l, f);
		while (n-- > 0)
			loader_return(l, kept[n]);
		is(loader_next(l, &f), 1,
		    "loader_next works after they are returned");
		loader_free(l);
	}
	schedule_free(s);
}

int
main(void)
{
	char dir[] = "/tmp/vt-loader.XXXXXX", *command;

	if ((root = mkdtemp(dir)) == NULL)
		return 1;
	resizer = resizer_new();
	test_order();
	is(loader_threads(6, 0), 6, "a rank that computes on 6 cores loads with 6");
	is(loader_threads(6, 1), 5, "a discrete device leaves one core to the trainer");
	is(loader_threads(1, 1), 1, "one core loads clips, too");
	test_rank_leaves();
	test_against_answer();
	test_same();
	test_repeat();
	test_trace();
	test_trace_line();
	test_jpeg();
	test_views();
	test_no_views();
	test_small();
	test_changed_byte();
	test_bad_frames();
	test_early_end();
	test_memory();
	dataset_free(numbers_set());
	command = xprintf("rm -rf '%s'", root);
	if (system(command) != 0)
		diag("cannot remove %s", root);
	free(command);
	resizer_free(resizer);
	return done();
}
