/* The stream and the report of vt-extract: opened, completed, and named. */
#include <stdlib.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/text.h"
#include "base/version.h"
#include "ingest/extract_output.h"
#include "ingest/extract_settings.h"

#define Q text_quote

/*
 * Refuse ranks of mpirun or srun that write one file.  A launcher may also
 * start each rank with an output of its own, so the number of ranks alone is
 * not an error.
 */
static void
extract_output_refuse_ranks(struct extract_output *o)
{
	int size;

	launch_rank(&size);
	if (size == 1 || !commit_shared(o->out))
		return;
	commit_drop(o->out);
	options_wrong("--output=%s: %d ranks write this file (wanted one "
	    "vt-extract, without mpirun or srun)", Q(o->path), size);
}

/* Name classes by their numbers, up to the largest label of ${l}. */
static void
extract_output_name_numbers(const struct list *l, struct class_list *c)
{
	int largest = -1;

	for (size_t i = 0; i < l->n; i++) {
		const struct sample *s = &l->row[i].sample;

		largest = s->label > largest ? s->label : largest;
		for (int k = 0; k < s->nlabels; k++)
			largest = s->labels[k].class > largest ?
			    s->labels[k].class : largest;
	}
	if (largest < CLASSES_MAX)
		class_add_numbers(c, (size_t)(largest + 1));
}

int
extract_output_open(struct extract_output *o, const struct list *l,
    const struct class_list *classes, const struct extract_options *how)
{
	struct class_list numbers = { 0 };
	char *text, *tool;
	int result;

	if (o->path != NULL && (o->out = commit_open(o->path, NULL)) == NULL)
		return -1;
	if (o->path != NULL)
		extract_output_refuse_ranks(o);
	if (o->report_path != NULL) {
		if ((o->report = commit_open(o->report_path, NULL)) == NULL)
			return -1;
		o->compare = compare_new(l);
	}
	tool = xprintf("vt-extract %s", version_text);
	o->stream = stream_open(o->path != NULL ? commit_fd(o->out) :
	    o->fd, o->path != NULL ? o->path : "stdout", tool);
	free(tool);
	text = extract_settings(how);
	if (classes->n == 0)
		extract_output_name_numbers(l, &numbers);
	if (numbers.n > 0)
		classes = &numbers;
	result = stream_head(o->stream, classes, numbers.n > 0, text);
	class_list_free(&numbers);
	free(text);
	return result;
}

int
extract_output_end(struct extract_output *o, const char *status)
{
	struct stream_writer *w = o->stream;

	o->stream = NULL;
	if (stream_end(w, status) != 0)
		return -1;
	return o->out != NULL ? commit_sync(o->out) : 0;
}

/* Warn about findings that the summary does not count. */
static void
extract_output_say_findings(const struct extract_output *o,
    const struct compare_counts *c)
{
	struct buffer b = { 0 };

	if (c->shorter > 0)
		buffer_printf(&b, "%lld video%s shorter than stated; ",
		    (long long)c->shorter, c->shorter == 1 ? " is" : "s are");
	if (c->duplicates > 0)
		buffer_printf(&b, "%lld of %lld videos have equal content, in "
		    "%lld group%s", (long long)c->equal, (long long)c->rows,
		    (long long)c->duplicates, c->duplicates == 1 ? "" : "s");
	if (c->conflicts > 0)
		buffer_printf(&b, " (%lld with different labels)",
		    (long long)c->conflicts);
	if (c->duplicates > 0)
		buffer_text(&b, "; ");
	if (b.n > 0)
		warning("%s%s has them", b.data, Q(o->report_path));
	buffer_free(&b);
}

/* Complete the report, also after a failure. */
static int
extract_output_close_report(struct extract_output *o, const char *status,
    const struct report_totals *sum)
{
	struct buffer b = { 0 };
	struct commit *c = o->report;
	struct compare_counts found;
	int result;

	o->report = NULL;
	if (c == NULL)
		return 0;
	report_summary(&b, status, sum, o->compare, &found);
	result = commit_write(c, b.data, b.n);
	buffer_free(&b);
	if (result != 0) {
		commit_drop(c);
		return -1;
	}
	extract_output_say_findings(o, &found);
	return commit_done(c);
}

int
extract_output_close(struct extract_output *o, int complete,
    const struct report_totals *sum)
{
	struct commit *c = o->out;
	int result = 0;

	/* The stream has its name before the report says so. */
	if (complete && c != NULL) {
		o->out = NULL;
		result = commit_done(c);
	}
	if (extract_output_close_report(o, complete && result == 0 ? "ok" :
	    "stopped", sum) != 0)
		result = -1;
	return result;
}

void
extract_output_drop(struct extract_output *o)
{
	stream_drop(o->stream);
	commit_drop(o->out);
	commit_drop(o->report);
	compare_free(o->compare);
}
