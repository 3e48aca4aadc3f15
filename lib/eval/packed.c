/* Score a packed dataset: open everything, check it, and write the results. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/text.h"
#include "base/version.h"
#include "clip/augment.h"
#include "eval/packed.h"
#include "eval/run_data.h"
#include "media/image.h"
#include "train/loop/choices.h"
#include "train/loop/feeder.h"
#include "train/loop/inputs.h"
#include "train/run/identity.h"

#define Q text_quote

int
packed_open(struct packed *p)
{
	const struct graph *g = p->model->graph;
	int bad;

	p->data = p->run != NULL ? run_data_open(p->path, p->run, &bad) :
	    dataset_open(p->path, &bad);
	if (p->data == NULL)
		return exit_of(bad);
	if (dataset_samples(p->data) == 0) {
		fail("%s: no samples in it", Q(p->path));
		return EXIT_FAILED;
	}
	return loader_check_testing(p->data, &g->needs,
	    g->op[g->head[0].loss].loss.target,
	    g->name) == 0 ? 0 : EXIT_USAGE;
}

void
packed_close(struct packed *p)
{
	for (uint32_t i = 0; p->source != NULL && i < dataset_samples(p->data);
	    i++)
		free(p->source[i]);
	free(p->source);
	evaluation_free(&p->e);
	protocol_free(&p->protocol);
	dataset_free(p->data);
	*p = (struct packed){ 0 };
}

/*
 * Check that all ranks opened the same checkpoint and dataset, and compute with
 * the same library, precision and algorithms.
 */
static int
packed_check_ranks(const struct packed *p, struct comm *comm)
{
	const struct model *m = p->model;
	const struct buffer *file = model_bytes(m);
	char hash[33], *choices = choices_stamp(m->device, NULL);
	struct buffer b = { 0 };

	identity_add(&b, "library", backend_library(m->backend));
	identity_add(&b, "precision", m->device->precision);
	identity_add(&b, "checkpoint", hash128_text(hash128(file->data,
	    file->n), hash));
	identity_add(&b, "classes", hash64_text(dataset_class_hash(p->data),
	    hash));
	identity_add(&b, "data", hash128_text(dataset_id(p->data), hash));
	identity_add(&b, "choices", choices);
	free(choices);
	return identity_check(comm, &b);
}

/*
 * The data must have the classes that the network was trained on, by number and
 * name.  Otherwise the scores would be attributed to the wrong classes.
 */
static int
packed_check_classes(const struct packed *p)
{
	return class_compare(p->path, dataset_class_list(p->data),
	    "the checkpoint", &p->model->class, "classes.txt of the set "
	    "that it was trained on") == 0 ? 0 : EXIT_USAGE;
}

static int
packed_check_labels(const struct packed *p)
{
	int labeled = 0;

	for (uint32_t i = 0; i < dataset_samples(p->data) && !labeled; i++) {
		struct sample m = dataset_sample(p->data, i);

		labeled = evaluation_has(&m, 0) >= 0;
	}
	return results_check_labels(&p->files, p->path,
	    dataset_has_label_sets(p->data), labeled);
}

/* Append the name with index ${i} in "a|b|c". */
static void
packed_add_choice(struct protocol *to, const char *name, const char *names,
    int i)
{
	char text[64];

	protocol_add(to, name, "%s", text_choice_name(names, i, text));
}

static void
packed_add_hash(struct protocol *to, const char *name, struct hash128 hash)
{
	char text[33];

	protocol_add(to, name, "%s", hash128_text(hash, text));
}

/* Return what the samples have: "classes", "sets" or, if both, "mixed". */
static const char *
packed_label_kind(const struct packed *p)
{
	if (!dataset_has_label_sets(p->data))
		return "classes";
	for (uint32_t i = 0; i < dataset_samples(p->data); i++)
		if (dataset_sample(p->data, i).label >= 0)
			return "mixed";
	return "sets";
}

static void
packed_set_protocol(struct packed *p, const struct packed_start *how)
{
	const struct model *m = p->model;
	const struct view_options *v = &p->views;
	struct protocol *to = &p->protocol;
	/* The rule selects the same filter for every size. */
	int filter = crop_test(v->rule, 64, 64, 32, 0, 1, 0).how;

	protocol_add(to, "version", "%s", version_text);
	protocol_add(to, "checkpoint", "%s", m->path);
	packed_add_hash(to, "checkpoint-hash", hash128(model_bytes(m)->data,
	    model_bytes(m)->n));
	protocol_add(to, "use-ema", "%s", m->ema ? "yes" : "no");
	protocol_add(to, "model", "%s", m->state.model);
	protocol_add(to, "step", "%" PRIu64, m->state.step);
	packed_add_choice(to, "loss", "softmax|sigmoid",
	    m->graph->op[m->graph->head[0].loss].loss.kind);
	protocol_add(to, "data", "%s", p->path);
	packed_add_hash(to, "data-hash", dataset_id(p->data));
	protocol_add(to, "labels", "%s", packed_label_kind(p));
	protocol_add(to, "validation", "%s", v->validate ? "yes" : "no");
	packed_add_choice(to, "sampler", VIEWS_SAMPLERS, v->sampler);
	protocol_add(to, "stride", "%d", v->stride);
	protocol_add(to, "clips", "%d", v->clips);
	protocol_add(to, "crops", "%d", v->crops);
	packed_add_choice(to, "crop-rule", "tsm|pyslowfast", v->rule);
	protocol_add(to, "full-short-side", "%s", v->full ? "yes" : "no");
	protocol_add(to, "resize", "%s", filter & RESIZE_ANTIALIAS ?
	    "antialias" : "bilinear");
	protocol_add(to, "level", "%s", v->largest ? "largest" : "auto");
	packed_add_choice(to, "ensemble", "scores|probabilities|max",
	    v->ensemble);
	protocol_add(to, "frames", "%d", v->t);
	protocol_add(to, "crop", "%d", v->side);
	protocol_add(to, "device", "%s", how->device);
	packed_add_choice(to, "precision", "fp32|bf16|fp16", how->precision);
}

/* Read the paths before the work begins, since KEY.json may be damaged. */
static int
packed_read_sources(struct packed *p)
{
	int bad = 0;

	p->source = xcalloc(dataset_samples(p->data), sizeof(*p->source));
	for (uint32_t i = 0; i < dataset_samples(p->data) && bad == 0; i++)
		bad = dataset_source(p->data, i, &p->source[i]);
	return exit_of(bad);
}

static int
packed_open_all(struct packed *p, const struct packed_start *how)
{
	int status = model_read(p->model, how->network, how->device);

	if (status == 0)
		status = packed_open(p);
	if (status == 0)
		status = model_start(p->model, how->threads, how->precision);
	return status;
}

int
packed_prepare(struct packed *p, const struct packed_start *how,
    struct comm *comm)
{
	/*
	 * Agree on the status before the next collective: a rank that failed
	 * would not take part in it.
	 */
	int status = comm_agree(comm, packed_open_all(p, how));

	if (status == 0)
		status = packed_check_ranks(p, comm);
	if (status != 0)
		return status;
	status = packed_check_classes(p);
	if (status == 0)
		status = packed_check_labels(p);
	if (status == 0)
		status = results_check_files(&p->files, (int)p->model->class.n,
		    how->output, comm->rank);
	if (status == 0)
		status = view_overrides_apply(how->views, p->model, &p->views);
	if (status == 0 && comm->rank == 0)
		status = packed_read_sources(p);
	if (status == 0 && comm->rank == 0)
		packed_set_protocol(p, how);
	if (status == 0 && comm->rank == 0)
		inputs_warn_crop(p->data, p->path, p->views.side);
	if (status == 0 && evaluator_plan(p->model->net, &p->views) == NULL)
		status = EXIT_USAGE;
	if (status == 0 && (net_reserve(p->model->net) != 0 ||
	    net_reserve_prefetch(p->model->net) != 0))
		status = EXIT_FAILED;
	return comm_agree(comm, status);
}

int
packed_write(const struct packed *p, int json, struct output *output)
{
	char *title = results_title(&p->protocol, p->path);
	const struct results r = { .e = &p->e,
		.class = (const char *const *)p->model->class.name,
		.protocol = &p->protocol, .data = p->data,
		.summary = evaluation_summary(&p->e), .title = title };
	int status;

	for (uint32_t i = 0; i < p->e.samples; i++)
		p->e.sample[i].source = p->source[i];
	status = results_write(&r, &p->files, p->path, json, output);
	free(title);
	return status;
}
