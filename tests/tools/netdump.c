/*
 * netdump NET CLASSES BACKEND N T SIDE OUT [WEIGHTS]: run one training
 * microbatch of N clips and write its inputs and outputs to folder OUT, for
 * tests/parity/parity.py.
 *
 * The files are pixels.u8, labels.i32 and params.tsv; scores.f64 and
 * losses.f64, as doubles; and w and dw in the type of the back end: .f64 from
 * ref64, else .f32.  Then the statistics of the microbatch, in dw, become the
 * running statistics, and tested.f64 has the scores of the same clips at test
 * time.  With WEIGHTS "-", there is no backward pass and no dw.  With other
 * WEIGHTS, a file as for vt-train --init that may lack biases only, the program
 * writes only test scores and does not train.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "net/net.h"
#include "train/weights/init.h"
#include "losses.h"

static void
write_file(const char *dir, const char *name, const void *data, size_t bytes)
{
	char *path = path_join(dir, name);

	if (commit_bytes(path, data, bytes) != 0)
		exit(1);
	free(path);
}

/*
 * Draw weights as net_init does, from a table that repeats after a prime number
 * of values.  Drawing each value took a third of the run time.  Scales and
 * offsets vary, so that an unused one changes the scores.
 */
static void
fill(struct net *n)
{
	enum { PERIOD = 65537, APART = 4099 };
	static double normal[PERIOD];
	const struct graph *g = n->graph;

	for (uint32_t i = 0; i < PERIOD; i++)
		normal[i] = rng_normal(7, 1000, i);
	for (int k = 0; k < g->nparam; k++) {
		const struct param *p = &g->param[k];
		double *v = xcalloc(p->count, sizeof(*v));
		double fixed = p->fill, spread = p->std > 0 ? p->std : 0;

		if (p->kind == PARAM_SCALE)
			spread = 0.1;
		else if (p->kind == PARAM_OFFSET || p->kind == PARAM_BIAS)
			fixed = 0, spread = 0.1;
		else if (p->head)
			fixed = 0, spread = 0.05;
		/* Round to float, so that every back end starts from the same
		 * values. */
		for (size_t i = 0; i < p->count; i++)
			v[i] = (float)(fixed + spread *
			    normal[(i + (size_t)k * APART) % PERIOD]);
		device_put(n->device, (char *)n->w + p->offset * n->device->elem,
		    v, p->count);
		free(v);
	}
}

/* Write the parameters, or their gradients, in the type of the device. */
static void
write_elements(const struct net *n, void *from, const char *out,
    const char *name)
{
	size_t bytes = n->graph->elements * n->device->elem;
	void *v = xmalloc(bytes);
	char file[16];

	device_download(n->device, v, from, bytes);
	snprintf(file, sizeof(file), "%s.f%zu", name, 8 * n->device->elem);
	write_file(out, file, v, bytes);
	free(v);
}

static void
write_params(const struct net *n, void *dw, const char *out)
{
	const struct graph *g = n->graph;
	struct buffer b = { 0 };

	buffer_text(&b, "#name\tkind\toffset\tcount\tshape\n");
	for (int k = 0; k < g->nparam; k++) {
		const struct param *p = &g->param[k];

		buffer_printf(&b, "%s\t%d\t%zu\t%zu\t", p->name, p->kind,
		    p->offset, p->count);
		for (int i = 0; i < p->ndim; i++)
			buffer_printf(&b, "%s%d", i ? "," : "", p->dim[i]);
		buffer_text(&b, "\n");
	}
	write_file(out, "params.tsv", b.data, b.n);
	write_elements(n, n->w, out, "w");
	if (dw != NULL)
		write_elements(n, dw, out, "dw");
	buffer_free(&b);
}

/* Copy the statistics of the microbatch from ${dw} to the running
 * statistics. */
static void
keep_statistics(struct net *n, void *dw)
{
	size_t elem = n->device->elem;

	for (int k = 0; k < n->graph->nparam; k++) {
		const struct param *p = &n->graph->param[k];
		double *v = xcalloc(p->count, sizeof(*v));

		if (p->kind >= PARAM_MEAN) {
			device_get(n->device, v, (char *)dw + p->offset * elem,
			    p->count);
			device_put(n->device, (char *)n->w + p->offset * elem, v,
			    p->count);
		}
		free(v);
	}
}

/* Load a weight file.  Biases that it lacks become 0.  Return 0, or -1 after a
 * message. */
static int
load(struct net *n, const char *path)
{
	struct init in;

	if (init_open(&in, n->graph, path, NULL, INIT_WHOLE) != 0)
		return -1;
	match_load_whole(in.match, n);
	init_close(&in);
	return 0;
}

int
main(int argc, char **argv)
{
	struct dims d = { 0 };
	const struct backend *back;
	struct device *be;
	struct graph *g;
	struct net *n;
	struct plan *p = NULL, *tests;
	struct feed f = { .seed = 1 };
	int *label;
	uint64_t *clip;
	uint8_t *pixels;
	double *out;
	size_t bytes;
	void *dw;
	int trains, backward = argc == 8;

	program_start(argv[0]);
	if (argc != 8 && argc != 9)
		die(2, "wanted NET CLASSES BACKEND N T SIDE OUT [WEIGHTS]");
	trains = backward || strcmp(argv[8], "-") == 0;
	d.n = atoi(argv[4]);
	d.t = atoi(argv[5]);
	d.h = d.w = atoi(argv[6]);
	if (file_make_dir(argv[7], NULL) != 0 ||
	    (back = backend_find(argv[3])) == NULL ||
	    (be = device_open(back, &(struct device_options){ .threads = 2 })) ==
	    NULL ||
	    (g = graph_read(argv[1], atoi(argv[2]))) == NULL ||
	    (n = net_new(g, be)) == NULL ||
	    (d.c = g->needs.stream[0].c) == 0 ||
	    (trains && (p = net_plan(n, &d, 1)) == NULL) ||
	    (tests = net_plan(n, &d, 0)) == NULL || net_reserve(n) != 0)
		return 1;
	if (trains) {
		fill(n);
	} else if (load(n, argv[8]) != 0) {
		return 1;
	}
	bytes = dims_count(&d);
	pixels = xmalloc(bytes);
	for (size_t i = 0; i < bytes; i++)
		pixels[i] = (uint8_t)rng_philox(5, (uint32_t)i, 0, 0, 99).w[0];
	label = xcalloc((size_t)d.n, sizeof(*label));
	clip = xcalloc((size_t)d.n, sizeof(*clip));
	for (int i = 0; i < d.n; i++)
		label[i] = i * 5 % g->head->classes;
	f.stream = &(struct stream){ d.t, d.h, d.w, d.c, pixels };
	f.target = &(struct target){ .classes = g->head->classes,
		.label = label };
	f.clip = clip;
	dw = device_alloc(be, g->elements * be->elem);
	out = xcalloc((size_t)d.n * (size_t)g->head->classes, sizeof(*out));
	write_file(argv[7], "pixels.u8", pixels, bytes);
	write_file(argv[7], "labels.i32", label, (size_t)d.n * sizeof(*label));
	if (p != NULL) {
		net_forward(n, p, &f, dw);
		if (backward)
			plan_backward(p, NULL);
		net_scores(p, out);
		write_file(argv[7], "scores.f64", out, (size_t)d.n *
		    (size_t)g->head->classes * sizeof(*out));
		losses_read(p, out);
		write_file(argv[7], "losses.f64", out, (size_t)d.n *
		    sizeof(*out));
		keep_statistics(n, dw);
		write_params(n, backward ? dw : NULL, argv[7]);
	}
	net_forward(n, tests, &f, NULL);
	net_scores(tests, out);
	write_file(argv[7], "tested.f64", out, (size_t)d.n *
	    (size_t)g->head->classes * sizeof(*out));
	device_free(be, dw);
	net_free(n);
	graph_free(g);
	device_close(be);
	free(pixels);
	free(label);
	free(clip);
	free(out);
	return 0;
}
