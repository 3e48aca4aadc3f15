/* SGD with momentum over groups of parameters. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "train/optim.h"

const struct group_rule group_rules[] = {
	{ "tsm", { 1, 1 }, { 2, 0 }, { 1, 0 }, { 5, 1 }, { 10, 0 } },
	{ "tsm-fine", { 1, 1 }, { 2, 0 }, { 1, 0 }, { 1, 1 }, { 2, 0 } },
	{ "plain", { 1, 1 }, { 1, 1 }, { 1, 0 }, { 1, 1 }, { 1, 1 } },
	{ NULL, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 } }
};

const struct group_rule *
group_rule_find(const char *name)
{
	for (const struct group_rule *r = group_rules; r->name != NULL; r++)
		if (strcmp(r->name, name) == 0)
			return r;
	return fail_null("no rule %s for groups of parameters (wanted tsm, "
	    "tsm-fine or plain)", text_quote(name));
}

struct group
group_of(const struct group_rule *r, const struct param *p)
{
	switch (p->kind) {
	case PARAM_WEIGHT:
		return p->head ? r->head_weight : r->weight;
	case PARAM_BIAS:
		return p->head ? r->head_bias : r->bias;
	default:
		return r->norm;
	}
}

int
optim_open(struct optim *o, const struct net *n)
{
	o->m = device_alloc(n->device, n->graph->elements * n->device->elem);
	return o->m != NULL ? 0 : -1;
}

void
optim_close(struct optim *o, const struct net *n)
{
	if (o->m != NULL)
		device_free(n->device, o->m);
	o->m = NULL;
}

static void *
part(const struct net *n, const void *flat, const struct param *p)
{
	return (char *)flat + p->offset * n->device->elem;
}

/* Sum of squares over the trained parameters, or over the statistics. */
static double
squares(const struct net *n, const void *flat, int statistics)
{
	double sum = 0;

	for (int i = 0; i < n->graph->nparam; i++) {
		const struct param *p = &n->graph->param[i];

		if ((p->kind >= PARAM_MEAN) == statistics)
			sum += device_squares(n->device, part(n, flat, p), p->count);
	}
	return sum;
}

int
optim_finite(const struct optim *o, const struct net *n)
{
	return isfinite(squares(n, n->w, 0)) && isfinite(squares(n, n->w, 1)) &&
	    isfinite(squares(n, o->m, 0));
}

int
optim_step(struct optim *o, struct net *n, const void *g, double scale,
    double lr, double *norm)
{
	double factor = 1;

	*norm = sqrt(squares(n, g, 0)) * scale;
	if (!isfinite(*norm))
		return OPTIM_GRADIENT;
	if (!isfinite(squares(n, g, 1)))
		return OPTIM_STATISTICS;
	if (o->clip > 0 && *norm > o->clip)
		factor = o->clip / (*norm + 1e-6);
	for (int i = 0; i < n->graph->nparam; i++) {
		const struct param *p = &n->graph->param[i];
		struct group group = group_of(o->rule, p);
		struct update u = { .w = part(n, n->w, p),
			.m = part(n, o->m, p), .g = part(n, g, p),
			.n = p->count, .lr = lr * group.lr,
			.momentum = o->momentum,
			.decay = o->decay * group.decay,
			.scale = scale * factor, .nesterov = o->nesterov };

		if (p->kind < PARAM_MEAN)
			device_update(n->device, &u);
		else
			device_track(n->device, u.w, u.g, u.n,
			    n->graph->op[p->op].momentum, scale);
	}
	return 0;
}
