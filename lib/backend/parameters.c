/*
 * Operations on parameters.  For a back end that takes no lists of portions,
 * calls it once per portion.
 */
#include "backend/backend.h"
#include "backend/formulas.h"

static void *
parameters_at(const struct device *d, const void *flat, size_t i)
{
	return flat != NULL ? (char *)flat + i * d->elem : NULL;
}

/* Return 1 if the back end takes all ${portions} in one call. */
static int
parameters_at_once(const struct device *d, size_t portions)
{
	return portions == 0 || d->backend->param->portions;
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
	if (parameters_at_once(d, u->portions)) {
		d->backend->param->update(d, u);
		return;
	}
	for (size_t i = 0; i < u->portions; i++) {
		const struct portion *p = &u->portion[i];
		/*
		 * Factors and ratio of the parameter become rates of this call.
		 */
		struct update_rates r = update_rates(u, p, u->scale,
		    u->ratio != NULL ? u->ratio[p->of] : 1);

		d->backend->param->update(d, &(struct update){ .w = parameters_at(d,
		    u->w, p->at),
			.m = parameters_at(d, u->m, p->held),
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

	if (parameters_at_once(d, m->portions)) {
		d->backend->param->moments(d, m);
		return;
	}
	one.portions = 0;
	for (size_t i = 0; i < m->portions; i++) {
		const struct portion *p = &m->portion[i];

		one.w = parameters_at(d, m->w, p->at);
		one.m = parameters_at(d, m->m, p->held);
		one.v = parameters_at(d, m->v, p->held);
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
	if (parameters_at_once(d, c->portions)) {
		d->backend->param->clamp(d, c);
		return;
	}
	for (size_t i = 0; i < c->portions; i++)
		d->backend->param->clamp(d, &(struct clamp){ .x = parameters_at(d,
		    c->x,
			c->portion[i].at), .n = c->portion[i].n,
			.most = c->most, .scale = c->scale });
}

void
device_track(struct device *d, const struct track *t)
{
	if (parameters_at_once(d, t->portions)) {
		d->backend->param->track(d, t);
		return;
	}
	for (size_t i = 0; i < t->portions; i++) {
		const struct portion *p = &t->portion[i];

		d->backend->param->track(d, &(struct track){ .w = parameters_at(d,
		    t->w, p->held),
			.x = parameters_at(d, t->x, p->at), .n = p->n,
			.rate = t->rate * p->factor[0],
			.scale = t->scale * p->factor[1] });
	}
}

void
device_squares(struct device *d, double *sum, const void *x,
    const struct interval *part, size_t parts)
{
	d->backend->param->squares(d, sum, x, part, parts);
}

int
device_judges(const struct device *d)
{
	return d->backend->verdict != NULL;
}

void
device_judge(struct device *d, struct verdict *v, const struct judgement *j)
{
	d->backend->verdict->judge(d, v, j);
}

void
device_obey(struct device *d, const struct verdict *v)
{
	d->backend->verdict->obey(d, v);
}

void
device_ratios(struct device *d, const struct ratios *r)
{
	d->backend->verdict->ratios(d, r);
}

void
device_lost(struct device *d, float *lost, const struct outcome *o, size_t n,
    double most, int other)
{
	d->backend->verdict->lost(d, lost, o, n, most, other);
}
