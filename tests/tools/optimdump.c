/*
 * optimdump OUT OPTIMIZER [nesterov|clip=X|value=X|ema=X]...: take ten steps in
 * double with synthetic gradients and write them to folder OUT, for
 * tests/parity/optim_torch.py.  params.tsv lists name, count and the factors on
 * learning rate and weight decay of each trained parameter.  g.f64 has the
 * gradient of each step, w.f64 the weights before the first step and after
 * each, and ema.f64 their moving average after each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "train/optim/optim.h"

#include "../optimizer_find.h"

#define STEPS 10

static const char net_text[] =
    "input x out=3\n"
    "conv c in=x out=20 k=3,3 bias=1\n"
    "bn b in=c\n"
    "conv d in=b out=20 k=3,3\n"
    "avgpool p in=d over=thw\n"
    "linear fc in=p out=classes std=0.5\n";

static void
write_file(const char *dir, const char *name, const struct buffer *b)
{
	char *path = path_join(dir, name);

	if (commit_bytes(path, b->data, b->n) != 0)
		exit(1);
	free(path);
}

/* Append the trained parameters of a flat buffer. */
static void
add(struct buffer *b, const struct net *n, const void *flat)
{
	for (int k = 0; k < n->graph->nparam; k++) {
		const struct param *p = &n->graph->param[k];

		if (p->kind < PARAM_MEAN)
			buffer_add(b, (const char *)flat + p->offset *
			    sizeof(double), p->count * sizeof(double));
	}
}

static void
draw(const struct net *n, double *g, int step)
{
	for (int k = 0; k < n->graph->nparam; k++) {
		const struct param *p = &n->graph->param[k];

		for (size_t i = 0; i < p->count; i++)
			g[p->offset + i] = 0.05 * (1 + step % 3) *
			    rng_normal(9, (uint32_t)(100 * step + k),
			    (uint32_t)i) * (p->kind == PARAM_VAR ? 0 : 1);
	}
}

static double
number(const char *arg, const char *name)
{
	size_t n = strlen(name);

	return strncmp(arg, name, n) == 0 && arg[n] == '=' ?
	    atof(arg + n + 1) : 0;
}

int
main(int argc, char **argv)
{
	struct buffer params = { 0 }, g = { 0 }, w = { 0 }, ema = { 0 };
	struct graph *graph = graph_parse("optim.net", net_text, 7);
	struct device *d = device_open(backend_find("ref64"),
	    &(struct device_options){ .threads = 1 });
	struct net *n = net_new(graph, d);
	double *gradient = device_alloc(d, graph->elements * sizeof(double));
	struct optim o = { .rule = group_rule_find("tsm"), .set = {
		.momentum = 0.9, .decay = 0.01, .beta1 = 0.8, .beta2 = 0.95,
		.eps = 1e-6 } };
	double norm;

	if (argc < 3 || (o.kind = optimizer_find(argv[2])) == NULL)
		return 2;
	for (int i = 3; i < argc; i++) {
		o.set.nesterov |= strcmp(argv[i], "nesterov") == 0;
		o.clip += number(argv[i], "clip");
		o.clip_value += number(argv[i], "value");
		o.ema += number(argv[i], "ema");
	}
	net_init(n, 5);
	if (optim_open(&o, n, NULL) != 0)
		return 1;
	for (int k = 0; k < graph->nparam; k++) {
		const struct param *p = &graph->param[k];
		struct group of = group_of(o.rule, graph, p);

		if (p->kind < PARAM_MEAN)
			buffer_printf(&params, "%s\t%zu\t%g\t%g\n", p->name,
			    p->count, of.lr, of.decay);
	}
	add(&w, n, n->w);
	for (int s = 0; s < STEPS; s++) {
		draw(n, gradient, s);
		add(&g, n, gradient);
		if (optim_step(&o, n, gradient, 1, 0.1 / (1 + s), &norm) != 0)
			return 1;
		add(&w, n, n->w);
		if (o.ema_slot >= 0)
			add(&ema, n, o.slots.slot[o.ema_slot].data);
	}
	if (file_make_dir(argv[1], NULL) != 0)
		return 1;
	write_file(argv[1], "params.tsv", &params);
	write_file(argv[1], "g.f64", &g);
	write_file(argv[1], "w.f64", &w);
	if (ema.n > 0)
		write_file(argv[1], "ema.f64", &ema);
	buffer_free(&params);
	buffer_free(&g);
	buffer_free(&w);
	buffer_free(&ema);
	optim_close(&o);
	device_free(d, gradient);
	net_free(n);
	device_close(d);
	graph_free(graph);
	return 0;
}
