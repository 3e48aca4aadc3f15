/* Score a packed dataset: open everything, check it, and write the results. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/text.h"
#include "draw/plot.h"
#include "eval/packed.h"
#include "train/loop/choices.h"
#include "train/loop/feeder.h"
#include "train/loop/inputs.h"
#include "train/run/agree.h"

#define Q text_quote

int
packed_open(struct packed *p)
{
	const struct graph *g = p->model->graph;
	int bad;

	if ((p->data = dataset_open(p->path, &bad)) == NULL)
		return bad == -2 ? EXIT_DAMAGE : EXIT_FAILED;
	if (dataset_samples(p->data) == 0) {
		fail("%s: no samples in it", Q(p->path));
		return EXIT_FAILED;
	}
	return loader_check_testing(p->data, &g->needs, g->op[g->head[0].loss].target,
	    g->name) == 0 ? 0 : EXIT_USAGE;
}

void
packed_close(struct packed *p)
{
	evaluation_free(&p->e);
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
	const struct buffer *file = &m->file.file;
	char hash[33], classes[17], id[33], *choices;
	int bad;
	struct fingerprint mine = { .library = backend_library(m->backend),
		.precision = m->device->precision,
		.checkpoint = hash128_text(hash128(file->data, file->n), hash),
		.classes = classes,
		.data = hash128_text(dataset_id(p->data), id) };

	snprintf(classes, sizeof(classes), "%016" PRIx64,
	    dataset_class_hash(p->data));
	mine.choices = choices = choices_stamp(m->device, NULL);
	bad = agree_ranks(comm, &mine);
	free(choices);
	return bad ? EXIT_RANKS : 0;
}

/*
 * The data must have the classes that the network was trained on, by number and
 * name.  Otherwise the scores would be attributed to the wrong classes.
 */
static int
packed_check_classes(const struct packed *p)
{
	return class_compare(p->path, dataset_class_list(p->data),
	    "the checkpoint", &p->model->class, "classes.txt of the set that it "
	    "was trained on") == 0 ? 0 : EXIT_USAGE;
}

/* Outputs that show right and wrong predictions need labels. */
static int
packed_check_labels(const struct packed *p)
{
	const struct packed_files *f = &p->files;
	const char *option = f->matrix.n > 0 ? "matrix" : f->per_class != NULL ?
	    "per-class" : f->sheet_wrong ? "sheet-of=wrong" : NULL;

	if (dataset_has_label_sets(p->data) && (f->matrix.n > 0 || f->sheet_wrong)) {
		fail("%s: its samples have sets of classes (--%s is for one class "
		    "each)", Q(p->path), f->matrix.n > 0 ? "matrix" :
		    "sheet-of=wrong");
		return EXIT_USAGE;
	}
	for (uint32_t i = 0; i < dataset_samples(p->data); i++)
		if (evaluation_has(p->data, i, 0) >= 0)
			return 0;
	if (option == NULL)
		return 0;
	fail("%s: no sample has a label, which --%s needs", Q(p->path), option);
	return EXIT_USAGE;
}

/*
 * Check the outputs before scoring, so that a bad path does not waste the run.
 */
static int
packed_check_outputs(const struct packed *p, int rank, const char *answer)
{
	const struct packed_files *f = &p->files;
	const char *const output[] = { f->scores, f->per_class, f->sheet,
		answer };
	int bad = 0;

	for (size_t i = 0; i < f->matrix.n; i++)
		if (results_matrix_ready(f->matrix.item[i],
		    (int)p->model->class.n) != 0)
			return EXIT_USAGE;
	for (size_t i = 0; i < 4 && rank == 0; i++)
		bad = bad || (output[i] != NULL &&
		    commit_possible(output[i]) != 0);
	for (size_t i = 0; i < f->matrix.n && rank == 0; i++)
		bad = bad || commit_possible(f->matrix.item[i]) != 0;
	return bad ? EXIT_FAILED : 0;
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
		status = packed_check_outputs(p, comm->rank, how->output);
	if (status == 0)
		status = view_overrides_apply(how->views, p->model, &p->views);
	if (status == 0 && comm->rank == 0)
		inputs_warn_crop(p->data, p->path, p->views.side);
	if (status == 0 && evaluate_plan(p->model->net, &p->views) == NULL)
		status = EXIT_USAGE;
	if (status == 0)
		feeder_plan_views(p->model->net, &p->views, p->data);
	if (status == 0 && (net_reserve(p->model->net) != 0 ||
	    net_reserve_prefetch(p->model->net) != 0))
		status = EXIT_FAILED;
	return comm_agree(comm, status);
}

int
packed_write(const struct packed *p, int json, struct output *output)
{
	const struct packed_files *f = &p->files;
	const struct state *state = &p->model->state;
	struct summary m = evaluation_summary(&p->e, p->data);
	char *title = xprintf("%s, step %" PRIu64, state->model, state->step);
	struct results r = { &p->e, p->data,
		(const char *const *)p->model->class.name, m, title };
	struct buffer answer = { 0 };
	int bad = 0, drawn = 0;

	if (f->scores != NULL)
		bad |= results_write_scores(&r, f->scores);
	if (f->per_class != NULL)
		bad |= results_write_classes(&r, f->per_class);
	for (size_t i = 0; i < f->matrix.n; i++)
		bad |= results_write_matrix(&r, &f->matrix_options,
		    f->matrix.item[i]);
	/* Only the sheet reads frames, which may be damaged (-2). */
	if (f->sheet != NULL)
		drawn = results_draw_sheet(&r, f->sheet_samples,
		    f->sheet_wrong, f->sheet);
	results_print(&r, json, &answer);
	results_print_summary(&r, &(struct results_of){ p->model->path, p->path,
	    state->model, state->step, &p->views }, json, &answer);
	bad |= output_write(output, &answer);
	buffer_free(&answer);
	free(title);
	if (m.labelled == 0)
		warning("%s: no sample has a label; there are scores, but no "
		    "accuracy", Q(p->path));
	else if (m.labelled < p->e.samples)
		warning("%s: %u of %u samples have no label; the summary is of "
		    "the others", Q(p->path), p->e.samples - m.labelled,
		    p->e.samples);
	return drawn == -2 ? EXIT_DAMAGE : bad || drawn ? EXIT_FAILED : 0;
}
