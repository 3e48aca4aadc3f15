/* The measurement of gradient noise at an average. */
#include <math.h>

#include "base/cpus.h"
#include "base/json.h"
#include "train/learn/learners_run.h"
#include "train/learn/noise.h"

/*
 * Write elements ${from} to ${to} - 1 of x - y to the first gradient buffer,
 * which is unused at an average.
 */
static void
noise_subtract(struct learners *l, const struct trainer *t, const void *x,
    const void *y, size_t from, size_t to)
{
	struct device *d = t->net->device;
	double *a = l->buffer, *b = l->buffer + LEARNERS_CHUNK;

	for (size_t now; from < to; from += now) {
		now = to - from < LEARNERS_CHUNK ? to - from : LEARNERS_CHUNK;
		device_get(d, a, slots_element(t->net, x, from), now);
		device_get(d, b, slots_element(t->net, y, from), now);
		for (size_t k = 0; k < now; k++)
			a[k] -= b[k];
		device_put(d, slots_element(t->net,
		    t->work->buffers.gradient[0], from), a, now);
	}
}

/*
 * Set ${*squares} to the sum of squares of that buffer over all trained
 * parameters.  Return 0, or -1 after a message if a rank is lost.
 */
static int
noise_squares(struct norm_blocks *tiles, const struct trainer *t,
    double *squares)
{
	norm_blocks_sum(tiles, t->net->device, t->work->buffers.gradient[0]);
	if (norm_blocks_allgather(tiles) != 0)
		return -1;
	*squares = norm_blocks_total(tiles, 0);
	return 0;
}

int
noise_learners(struct learners *l, struct trainer *t)
{
	for (int k = 0; k < l->held; k++) {
		noise_subtract(l, t, l->learner[k].w, l->mean, 0,
		    t->share.elements);
		if (noise_squares(&l->learner[k].optim.tiles, t,
		    &l->moved[l->first + k]) != 0)
			return -1;
	}
	for (int r = 0, first; r < t->comm->size; r++)
		l->moved_at[r + 1] = l->moved_at[r] + (size_t)split(l->n, r,
		    t->comm->size, &first) * sizeof(*l->moved);
	return comm_allgatherv(t->comm, l->moved, l->moved_at);
}

int
noise_average(struct learners *l, struct trainer *t)
{
	for (int i = 0; i < t->share.n; i++) {
		const struct segment *s = &t->share.segment[i];

		noise_subtract(l, t, l->vector[0], l->mean, s->at,
		    s->at + s->n);
	}
	return noise_squares(&t->optim.tiles, t, &l->mean_moved);
}

struct noise
noise_of(const struct learners *l)
{
	struct noise n = { 0 };

	for (int j = 0; j < l->n; j++)
		n.apart += l->moved[j];
	/*
	 * sum |d_j - d|^2 = sum |d_j|^2 - N |d|^2; rounding can make it
	 * negative.
	 */
	n.apart = fmax(n.apart - l->n * l->mean_moved, 0) / (l->n - 1);
	n.moved = l->mean_moved;
	n.gradient = n.moved - n.apart / l->n;
	return n;
}

void
noise_log(const struct learners *l, struct trainer *t, const struct noise *n)
{
	double clips = (double)(t->state.clips - l->round.at.clips);
	const struct json_member m[] = {
		JSON_MEMBER("apart", sqrt(n->apart)),
		JSON_MEMBER("batch", clips / l->updates),
		JSON_MEMBER("moved", sqrt(n->moved)),
		JSON_MEMBER("noise_scale", n->gradient > 0 ?
		    clips / l->n * n->apart / n->gradient : NAN),
		JSON_MEMBER("steps", t->state.step - l->round.at.step) };

	if (t->run != NULL)
		runlog_event(&t->run->log, "average", t->state.step, m,
		    sizeof(m) / sizeof(m[0]));
}
