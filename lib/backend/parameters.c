/*
 * Operations on parameters.  For a back end that takes no lists of shards,
 * calls it once per portion.
 */
#include "backend/backend.h"
#include "backend/formulas.h"

static void *
parameters_at(const struct device *d, const void *flat, size_t i)
{
	return flat != NULL ? (char *)flat + i * d->elem : NULL;
}

/* Return 1 if the back end takes all ${shards} in one call. */
static int
parameters_at_once(const struct device *d, size_t shards)
{
	return shards == 0 || d->backend->param->takes_shards;
}

void
device_add(void *device, void *sum, const void *x, size_t n)
{
	struct device *d = device;

	d->backend->param->add(d, sum, x, n);
}

void
device_update(struct device *d, const struct update *u)
{
	if (parameters_at_once(d, u->shards)) {
		d->backend->param->update(d, u);
		return;
	}
	for (size_t i = 0; i < u->shards; i++) {
		const struct owned_shard *p = &u->shard[i];
		/*
		 * Factors and ratio of the parameter become rates of this call.
		 */
		struct update_rates r = update_rates(u, p, u->scale,
		    u->ratio != NULL ? u->ratio[p->param] : 1);

		d->backend->param->update(d,
		    &(struct update){ .w = parameters_at(d, u->w, p->at),
			.m = parameters_at(d, u->m, p->state_at),
			.g = parameters_at(d, u->g, p->at), .n = p->n,
			.lr = r.lr, .momentum = u->momentum, .decay = r.decay,
			.scale = r.scale,
			.nesterov = u->nesterov });
	}
}

void
device_moments(struct device *d, const struct moments *m)
{
	struct moments one = *m;

	if (parameters_at_once(d, m->shards)) {
		d->backend->param->moments(d, m);
		return;
	}
	one.shards = 0;
	for (size_t i = 0; i < m->shards; i++) {
		const struct owned_shard *p = &m->shard[i];

		one.w = parameters_at(d, m->w, p->at);
		one.m = parameters_at(d, m->m, p->state_at);
		one.v = parameters_at(d, m->v, p->state_at);
		one.g = parameters_at(d, m->g, p->at);
		one.n = p->n;
		/*
		 * The direction contains the decay.  device_update applies the
		 * learning rate, and its factor, later.
		 */
		one.decay = m->decay * p->factor[1];
		d->backend->param->moments(d, &one);
	}
}

void
device_clamp(struct device *d, const struct clamp *c)
{
	if (parameters_at_once(d, c->shards)) {
		d->backend->param->clamp(d, c);
		return;
	}
	for (size_t i = 0; i < c->shards; i++)
		d->backend->param->clamp(d,
		    &(struct clamp){ .x = parameters_at(d, c->x,
			c->shard[i].at), .n = c->shard[i].n,
			.max = c->max, .scale = c->scale });
}

void
device_track(struct device *d, const struct track *t)
{
	if (parameters_at_once(d, t->shards)) {
		d->backend->param->track(d, t);
		return;
	}
	for (size_t i = 0; i < t->shards; i++) {
		const struct owned_shard *p = &t->shard[i];

		d->backend->param->track(d,
		    &(struct track){ .w = parameters_at(d, t->w, p->state_at),
			.x = parameters_at(d, t->x, p->at), .n = p->n,
			.rate = t->rate * p->factor[0],
			.scale = t->scale * p->factor[1] });
	}
}
