/* Check and write all outputs of an evaluation. */
#include <stdlib.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "eval/results.h"
#include "eval/score_file.h"

#define Q text_quote

int
results_check_labels(const struct results_files *f, const char *path,
    int label_sets, int labeled)
{
	const char *option = f->matrix.n > 0 ? "matrix" : f->per_class != NULL ?
	    "per-class" : f->sheet_wrong ? "sheet-of=wrong" : NULL;

	if (label_sets && (f->matrix.n > 0 || f->sheet_wrong)) {
		fail("%s: its samples have sets of classes (--%s is for one "
		    "class each)", Q(path), f->matrix.n > 0 ? "matrix" :
		    "sheet-of=wrong");
		return EXIT_USAGE;
	}
	if (labeled || option == NULL)
		return 0;
	fail("%s: no sample has a label, which --%s needs", Q(path), option);
	return EXIT_USAGE;
}

/*
 * Check the outputs before scoring, so that a bad path does not waste the run.
 */
int
results_check_files(const struct results_files *f, int classes,
    const char *output, int rank)
{
	const char *const file[] = { f->scores, f->per_class, f->sheet,
		output };
	int bad = 0;

	for (size_t i = 0; i < f->matrix.n; i++)
		if (results_matrix_ready(f->matrix.item[i], classes) != 0)
			return EXIT_USAGE;
	for (size_t i = 0; i < 4 && rank == 0; i++)
		bad = bad || (file[i] != NULL && commit_possible(file[i]) != 0);
	for (size_t i = 0; i < f->matrix.n && rank == 0; i++)
		bad = bad || commit_possible(f->matrix.item[i]) != 0;
	return bad ? EXIT_FAILED : 0;
}

char *
results_title(const struct protocol *p, const char *path)
{
	const char *model = protocol_get(p, "model");
	const char *step = protocol_get(p, "step");
	const char *fusion = protocol_get(p, "fusion");
	const char *weights = protocol_get(p, "fusion-weights");

	if (fusion != NULL && weights != NULL)
		return xprintf("fusion of %s, %s%s", fusion, weights,
		    protocol_get(p, "fusion-fitted") != NULL ?
		    " fitted to these samples" : "");
	if (model != NULL && step != NULL)
		return xprintf("%s, step %s", model, step);
	return xstrdup(path);
}

int
results_write(const struct results *r, const struct results_files *f,
    const char *path, int json, struct output *output)
{
	const struct summary *m = &r->summary;
	struct buffer answer = { 0 };
	int bad = 0, drawn = 0;

	if (f->scores != NULL)
		bad |= score_file_write(r, f->scores);
	if (f->per_class != NULL)
		bad |= results_write_classes(r, f->per_class);
	for (size_t i = 0; i < f->matrix.n; i++)
		bad |= results_write_matrix(r, &f->matrix_options,
		    f->matrix.item[i]);
	/* Only the sheet reads frames, which may be damaged (-2). */
	if (f->sheet != NULL)
		drawn = results_draw_sheet(r, f->sheet_samples, f->sheet_wrong,
		    f->sheet);
	results_print(r, json, &answer);
	results_print_summary(r, json, &answer);
	bad |= output_write(output, &answer);
	buffer_free(&answer);
	if (m->labeled == 0)
		warning("%s: no sample has a label; there are scores, but no "
		    "accuracy", Q(path));
	else if (m->labeled < r->e->samples)
		warning("%s: %u of %u samples have no label; the summary is of "
		    "the others", Q(path), r->e->samples - m->labeled,
		    r->e->samples);
	return drawn != 0 ? exit_of(drawn) : bad ? EXIT_FAILED : 0;
}
