/* Estimate the size and the time of an extraction from a sample. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/version.h"
#include "ingest/extract_estimate.h"

#define Z 1.959964		/* quantile 0.975 of the normal distribution */

/* Measurements of a video, which are proportional to its ${size}. */
struct extract_estimate_video { double size, refused, frames, bytes, cpu, wall;
	};

struct extract_estimate_state {
	struct extract_estimate_video *video;	/* [n] */
	size_t n;			/* recorded so far */
	struct stream_writer *stream;
	uint64_t before;		/* bytes of the stream */
	int together;			/* videos that share the time */
};

static void
extract_estimate_record(void *arg, size_t i, const struct extraction *x)
{
	struct extract_estimate_state *s = arg;
	uint64_t bytes = stream_written(s->stream);

	s->video[i].refused = !x->kept;
	s->video[i].frames = x->kept ? x->sample.frames : 0;
	s->video[i].bytes = (double)(bytes - s->before);
	s->video[i].cpu = x->cpu;
	s->video[i].wall = x->spent / s->together;
	s->before = bytes;
	s->n = i + 1;
}

/* Quantile 0.975 of Student's t, by the expansion of Abramowitz and Stegun,
 * 26.7.5. */
static double
extract_estimate_t(size_t freedom)
{
	double v = (double)freedom, z = Z, z3 = z * z * z, z5 = z3 * z * z;

	return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) /
	    (96 * v * v) + (3 * z5 * z * z + 19 * z5 + 17 * z3 - 15 * z) /
	    (384 * v * v * v);
}

/*
 * Estimate the sum over ${all} videos, whose sizes add up to ${total}, of the
 * value at offset ${at} of struct extract_estimate_video.
 */
static struct extract_range
extract_estimate_total(const struct extract_estimate_state *s, size_t all,
    double total, size_t at)
{
	double sum = 0, sizes = 0, squares = 0, n = (double)s->n, ratio, half;
	struct extract_range r;

	for (size_t i = 0; i < s->n; i++) {
		sum += *(const double *)((const char *)&s->video[i] + at);
		sizes += s->video[i].size;
	}
	ratio = sizes > 0 ? sum / sizes : 0;
	for (size_t i = 0; i < s->n; i++) {
		double d = *(const double *)((const char *)&s->video[i] + at) -
		    ratio * s->video[i].size;

		squares += d * d;
	}
	half = s->n == all ? 0 : s->n < 2 ? INFINITY :
	    extract_estimate_t(s->n - 1) * (double)all *
	    sqrt((1 - n / (double)all) / n * squares / (n - 1));
	r.value = ratio * total;
	r.low = fmax(r.value - half, sum);
	r.high = r.value + half;
	return r;
}

static int
extract_estimate_by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Copy a random sample of the rows, in the order of the list, to ${to}. */
static void
extract_estimate_sample(const struct list *from, size_t n, struct list *to)
{
	uint32_t *order = xcalloc(from->n, sizeof(*order));

	rng_shuffle(0, 0, (uint32_t)from->n, order);
	qsort(order, n, sizeof(*order), extract_estimate_by_number);
	*to = (struct list){ .n = n };
	to->row = xcalloc(n, sizeof(*to->row));
	for (size_t i = 0; i < n; i++)
		to->row[i] = from->row[order[i]];
	free(order);
}

/* Return the bytes of the file, 0 if it is absent, or -1 for a folder. */
static double
extract_estimate_size(const struct list_row *r)
{
	struct stat st;

	if (stat(r->path, &st) != 0)
		return 0;
	return S_ISDIR(st.st_mode) ? -1 : (double)st.st_size;
}

/*
 * Return the sum of the sizes of ${l}.  Set ${*by_bytes} to 0 if it has a
 * folder; then each row has size 1.
 */
static double
extract_estimate_sizes(const struct list *l, int *by_bytes)
{
	double total = 0;

	*by_bytes = 1;
	for (size_t i = 0; i < l->n; i++) {
		double size = extract_estimate_size(&l->row[i]);

		if (size < 0) {
			*by_bytes = 0;
			return (double)l->n;
		}
		total += size;
	}
	return total;
}

static int
extract_estimate_run(struct extract_run *run, struct extract_estimate_state *s)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC), result;

	if (fd < 0)
		return fail_errno("/dev/null");
	s->stream = run->stream = stream_open(fd, "/dev/null", version_text);
	run->finished = extract_estimate_record;
	run->finished_of = s;
	result = extract_all(run);
	stream_drop(run->stream);
	close(fd);
	tally_free(&run->tally);
	return result;
}

int
extract_estimate(const struct extract_run *r, size_t n,
    struct extract_estimate *e)
{
	struct extract_run run = *r;
	struct extract_estimate_state s = { 0 };
	struct list part;
	size_t all = r->list->n;
	int by_bytes, result;
	double total = extract_estimate_sizes(r->list, &by_bytes);

	n = n < all ? n : all;
	extract_estimate_sample(r->list, n, &part);
	s.video = xcalloc(n, sizeof(*s.video));
	for (size_t i = 0; i < n; i++)
		s.video[i].size =
		    by_bytes ? extract_estimate_size(&part.row[i]) : 1;
	run.list = &part;
	/*
	 * A video's time is that of its thread, which computes its flow, too.
	 */
	run.threads = (size_t)run.threads < n ? run.threads : (int)n;
	e->cores = r->threads < cpus() ? r->threads : cpus();
	/* The time of more threads than cores has waits for each other. */
	s.together = run.threads > e->cores ? run.threads : e->cores;
	run.report = NULL;
	run.skip = 1;
	result = extract_estimate_run(&run, &s);
#define TOTAL(f) extract_estimate_total(&s, all, total, \
	offsetof(struct extract_estimate_video, f))
	*e = (struct extract_estimate){ .sampled = n, .frames = TOTAL(frames),
		.bytes = TOTAL(bytes), .cpu = TOTAL(cpu),
		.wall = TOTAL(wall), .cores = e->cores };
#undef TOTAL
	for (size_t i = 0; i < n; i++)
		s.video[i].size = 1;
	e->refused = extract_estimate_total(&s, all, (double)all,
	    offsetof(struct extract_estimate_video, refused));
	e->refused.high = fmin(e->refused.high, (double)all);
	free(s.video);
	free(part.row);		/* the rows belong to r->list */
	return result;
}
