/* vt-eval --rescore: outputs of an evaluation from score files. */
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/text.h"
#include "eval/rescore.h"
#include "shard/dataset.h"

#define Q text_quote

enum { HASH_DIGITS = 8 };

/* The files that were read; the first becomes the fused one. */
struct rescore_work {
	size_t n;
	struct score_file *f;		/* [n] */
	double *weight;			/* [n] */
	const char *fitted;		/* hash of the samples that the weights
					 * were fitted to; NULL: unknown */
	struct protocol fused;		/* empty for one file */
	struct dataset *data;
	uint32_t *in_data;		/* results.in_data */
	struct output output;
};

/* ---- weights ---- */

/*
 * Set w->weight[n] from "1:1.5" or "1:1.5@HASH", and w->fitted.  Return 0, or
 * -1 after a message.
 */
static int
rescore_read_weights(const char *text, size_t n, struct rescore_work *w)
{
	const char *hash = strchr(text, '@');
	char *copy = hash == NULL ? xstrdup(text) :
	    xstrndup(text, (size_t)(hash - text)), *at = copy;
	double sum = 0;
	size_t k = 0;
	int bad = 0;

	for (char *next; at != NULL && !bad; at = next, k++) {
		double x;

		if ((next = strchr(at, ':')) != NULL)
			*next++ = '\0';
		bad = text_real(at, 0, 1e6, &x) != 0;
		sum += bad ? 0 : x;
		if (!bad && k < n)
			w->weight[k] = x;
	}
	free(copy);
	w->fitted = hash == NULL ? NULL : hash + 1;
	if (bad || (hash != NULL && strlen(w->fitted) != HASH_DIGITS) ||
	    k != n || sum <= 0)
		return fail("--fusion-weights=%s: not weights of the %zu score "
		    "files (wanted a number of at least 0 for each, separated "
		    "by ':', such as 1:1.5)", text, n);
	return 0;
}

/* Return the weights as the value of --fusion-weights.  The caller frees it. */
static char *
rescore_weights_text(const double *weight, size_t n)
{
	struct buffer b = { 0 };
	char number[32];

	for (size_t k = 0; k < n; k++)
		buffer_printf(&b, "%s%s", k > 0 ? ":" : "",
		    text_real_write(number, weight[k]));
	return b.data;
}

static int
rescore_by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Write the hash of the sorted keys of all samples to ${text}[33], HASH_DIGITS
 * of it.
 */
static const char *
rescore_hash(const struct score_file *f, char *text)
{
	const char **key = xcalloc(f->e.samples, sizeof(*key));
	struct buffer keys = { 0 };

	for (uint32_t i = 0; i < f->e.samples; i++)
		key[i] = f->e.sample[i].key;
	qsort(key, f->e.samples, sizeof(*key), rescore_by_text);
	for (uint32_t i = 0; i < f->e.samples; i++)
		buffer_printf(&keys, "%s\n", key[i]);
	free(key);
	hash128_text(hash128(keys.data, keys.n), text)[HASH_DIGITS] = '\0';
	buffer_free(&keys);
	return text;
}

/* ---- steps ---- */

static int
rescore_read(const struct rescore *r, struct rescore_work *w)
{
	size_t n = r->file.n;
	int status = 0;

	w->f = xcalloc(n, sizeof(*w->f));
	w->weight = xcalloc(n, sizeof(*w->weight));
	for (size_t k = 0; k < n; k++)
		w->weight[k] = 1;
	if (r->weights != NULL && rescore_read_weights(r->weights, n, w) != 0)
		return EXIT_USAGE;
	for (; w->n < n && status == 0; w->n++)
		status = score_file_read(&w->f[w->n], r->file.item[w->n]);
	if (status == 0 && fusion_match(w->f, w->n) != 0)
		status = EXIT_USAGE;
	return status;
}

/* Print the weights that are best for these files. */
static int
rescore_fit(const struct rescore *r, struct rescore_work *w)
{
	const struct evaluation *e = &w->f[0].e;
	int by = e->label_sets ? METRIC_MAP : METRIC_TOP1;
	struct summary best = evaluation_summary(e);
	struct buffer line = { 0 };
	char *weights, hash[33];
	int bad;

	if (best.labeled == 0) {
		fail("%s: no sample has a label, which --fusion-fit needs",
		    Q(w->f[0].path));
		return EXIT_USAGE;
	}
	best = fusion_fit((enum fusion)r->fusion, w->f, w->n, w->weight);
	weights = rescore_weights_text(w->weight, w->n);
	note("%s %.6f, loss %.6f with these weights, which are fitted to these "
	    "samples: use them for others", metrics[by].text, best.value[by],
	    best.value[METRIC_LOSS]);
	buffer_printf(&line, "%s--fusion-weights=%s@%s\n", r->fusion ==
	    FUSION_LOGITS ? "--fusion=logits " : "", weights,
	    rescore_hash(&w->f[0], hash));
	bad = output_open(&w->output, r->output) != 0 ||
	    output_write(&w->output, &line) != 0 ||
	    output_done(&w->output) != 0;
	buffer_free(&line);
	free(weights);
	return bad ? EXIT_FAILED : 0;
}

/* Combine the files into the first, with the protocol of all. */
static void
rescore_fuse(const struct rescore *r, struct rescore_work *w)
{
	const struct protocol **p = xcalloc(w->n, sizeof(*p));
	char *weights = rescore_weights_text(w->weight, w->n), hash[33];

	for (size_t k = 0; k < w->n; k++) {
		protocol_add(&w->f[k].protocol, "scores", "%s", w->f[k].path);
		p[k] = &w->f[k].protocol;
	}
	protocol_join(p, w->n, &w->fused);
	protocol_add(&w->fused, "fusion", "%s", r->fusion == FUSION_LOGITS ?
	    "logits" : "probabilities");
	protocol_add(&w->fused, "fusion-weights", "%s", weights);
	if (w->fitted != NULL && strcmp(w->fitted,
	    rescore_hash(&w->f[0], hash)) == 0) {
		protocol_add(&w->fused, "fusion-fitted", "yes");
		warning("the weights were fitted to these samples, so other "
		    "samples may have lower figures");
	}
	fusion_combine((enum fusion)r->fusion, w->f, w->n, w->weight,
	    w->f[0].e.scores);
	free(weights);
	free(p);
}

/* Open the dataset and find the samples in it. */
static int
rescore_open_data(const struct rescore *r, struct rescore_work *w)
{
	const struct score_file *f = &w->f[0];
	const char *scored = protocol_get(&f->protocol, "data-hash");
	char id[33];
	int bad;

	if ((w->data = dataset_open(r->data, &bad)) == NULL)
		return exit_of(bad);
	if (scored != NULL && strcmp(scored, hash128_text(dataset_id(w->data),
	    id)) != 0)
		note("%s: not the dataset that was scored, %s", Q(r->data),
		    Q(protocol_get(&f->protocol, "data")));
	w->in_data = xcalloc(f->e.samples, sizeof(*w->in_data));
	/* 1 more than the number; 0: not found yet. */
	for (uint32_t i = 0; i < dataset_samples(w->data); i++) {
		int64_t k = score_file_find(f, dataset_sample(w->data, i).key);

		if (k >= 0)
			w->in_data[k] = i + 1;
	}
	for (uint32_t i = 0; i < f->e.samples; i++)
		if (w->in_data[i]-- == 0) {
			fail("%s:%d: sample %s is not in %s", Q(f->path),
			    f->table->line[i], f->e.sample[i].key, Q(r->data));
			return EXIT_USAGE;
		}
	return 0;
}

static int
rescore_write(const struct rescore *r, struct rescore_work *w)
{
	const struct score_file *f = &w->f[0];
	const struct protocol *p = w->n > 1 ? &w->fused : &f->protocol;
	char *title = results_title(p, f->path);
	const struct results all = { .e = &f->e,
		.class = (const char *const *)f->class.name, .protocol = p,
		.data = w->data, .in_data = w->in_data,
		.summary = evaluation_summary(&f->e), .title = title };
	int status = results_check_labels(r->outputs, f->path, f->e.label_sets,
	    all.summary.labeled > 0);

	if (status == 0)
		status = results_check_files(r->outputs, f->e.classes,
		    r->output, 0);
	if (status == 0 && output_open(&w->output, r->output) != 0)
		status = EXIT_FAILED;
	if (status == 0)
		status = results_write(&all, r->outputs, f->path, r->json,
		    &w->output);
	if (status == 0 && output_done(&w->output) != 0)
		status = EXIT_FAILED;
	free(title);
	return status;
}

int
rescore_run(const struct rescore *r)
{
	struct rescore_work w = { 0 };
	int status = rescore_read(r, &w);

	if (status == 0 && r->fit)
		status = rescore_fit(r, &w);
	else if (status == 0) {
		if (w.n > 1)
			rescore_fuse(r, &w);
		if (r->data != NULL)
			status = rescore_open_data(r, &w);
		if (status == 0)
			status = rescore_write(r, &w);
	}
	output_drop(&w.output);
	for (size_t k = 0; k < w.n; k++)
		score_file_free(&w.f[k]);
	protocol_free(&w.fused);
	dataset_free(w.data);
	free(w.in_data);
	free(w.weight);
	free(w.f);
	return status;
}
