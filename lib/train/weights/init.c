/* Initial weights of a run, from a file. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "train/run/checkpoint.h"
#include "train/weights/init.h"
#include "weights/known.h"

static void
init_hash_text(const struct buffer *b, char hash[33])
{
	hash128_text(hash128(b->data, b->n), hash);
}

/* Refuse NaN, infinity and negative variances in the tensors that are used. */
static int
init_check_finite(const struct init *in, const char *path)
{
	const struct match *m = in->match;

	for (int i = 0; i < m->graph->nparam; i++) {
		const struct weight *t =
		    &in->weights.tensor[m->param[i].tensor];
		float *x;
		size_t bad = 0, negative = 0;

		if (m->param[i].status == LOAD_INITIALIZED)
			continue;
		x = xcalloc(t->count, sizeof(*x));
		weights_floats(t, x);
		for (size_t k = 0; k < t->count; k++) {
			bad += !isfinite(x[k]);
			negative += m->graph->param[i].kind == PARAM_VAR &&
			    x[k] < -CHECKPOINT_ROUNDING;
		}
		free(x);
		if (bad > 0)
			return fail("%s: tensor %s holds NaN or infinity",
			    text_quote(path), text_quote(t->name));
		if (negative > 0)
			return fail("%s: tensor %s holds %zu numbers below 0 "
			    "(wanted variances, at least 0)", text_quote(path),
			    text_quote(t->name), negative);
	}
	return 0;
}

/*
 * Refuse a file with less than half of the backbone, and one with tensors or
 * parameters that do not fit.  Name the networks that the file fits.
 */
static int
init_check_fit(const struct init *in, const struct graph *g, const char *path)
{
	const struct match *m = in->match;
	struct buffer misfits = { 0 }, fitting = { 0 };
	size_t n = match_misfits(m, &misfits);
	int enough = match_enough(m), bad = 0;
	char *fits;

	if (n > 0 || !enough)
		match_fitting(m->weights, g->head[0].classes, &fitting);
	fits = fitting.n == 0 ? xstrdup("") :
	    xprintf("the file fits %s; ", fitting.data);
	if (!enough)
		bad = fail("%s: %zu of the %zu values of %s without its "
		    "classifier are in it (%.0f %%), less than half: they seem "
		    "to be weights of another network (%s--init-partial takes "
		    "them)", text_quote(path), m->elements, m->of, g->name,
		    m->of > 0 ? 100.0 * (double)m->elements / (double)m->of :
		    0.0, fits);
	else if (n > 0)
		bad = fail("%s: %zu tensor%s of convolutions and norms %s not "
		    "fit %s: %s (%s--init-partial takes the others)",
		    text_quote(path), n, n == 1 ? "" : "s", n == 1 ? "does" :
		    "do", g->name, misfits.data, fits);
	free(fits);
	buffer_free(&misfits);
	buffer_free(&fitting);
	return bad;
}

/* Refuse a file that lacks parameters of the network, or has others. */
static int
init_check_whole(const struct init *in, const struct graph *g, const char *path)
{
	const struct match *m = in->match;
	struct buffer names = { 0 }, fitting = { 0 };
	size_t n = 0;
	int bad = 0;

	for (int i = 0; i < g->nparam; i++)
		if (m->param[i].status == LOAD_INITIALIZED &&
		    (g->param[i].head || g->param[i].kind != PARAM_BIAS))
			match_add_name(&names, &n, g->param[i].name,
			    m->param[i].why);
	match_end_names(&names, n);
	if (n == 0)
		n = match_misfits(m, &names);
	if (n > 0) {
		match_fitting(m->weights, g->head[0].classes, &fitting);
		bad = fail("%s: is not all of %s, or not only that: %s%s%s%s",
		    text_quote(path), g->name, names.data, fitting.n > 0 ?
		    " (the file fits " : "", fitting.n > 0 ? fitting.data : "",
		    fitting.n > 0 ? ")" : "");
	}
	buffer_free(&names);
	buffer_free(&fitting);
	return bad;
}

int
init_read(struct init *in, const char *path)
{
	int bad;

	*in = (struct init){ .path = path };
	bad = weights_open(path, &in->weights);
	return bad == -3 ? EXIT_USAGE : exit_of(bad);
}

int
init_match(struct init *in, const struct graph *g, const char *classes,
    int part)
{
	const struct weights_file *w = &in->weights;
	char hash[33];
	int bad;

	if ((in->match = match_new(g, w, classes)) == NULL) {
		init_close(in);
		return EXIT_FAILED;
	}
	/*
	 * Print the reason for refusing the weights before match_report lists
	 * the names.
	 */
	bad = part == INIT_PARTIAL ? 0 : part == INIT_WHOLE ?
	    init_check_whole(in, g, in->path) :
	    init_check_fit(in, g, in->path);
	match_report(in->match, in->path);
	if (!bad)
		bad = init_check_finite(in, in->path);
	if (bad) {
		init_close(in);
		return EXIT_USAGE;
	}
	init_hash_text(w->file.data != NULL ? &w->file : &w->s.file, hash);
	in->text = xprintf("%s %s %s", hash, in->match->names,
	    path_base(in->path));
	return 0;
}

int
init_open(struct init *in, const struct graph *g, const char *path,
    const char *classes, int part)
{
	int status = init_read(in, path);

	return status == 0 ? init_match(in, g, classes, part) : status;
}

void
init_close(struct init *in)
{
	match_free(in->match);
	weights_close(&in->weights);
	free(in->text);
	*in = (struct init){ 0 };
}

int
init_same(const char *path, const char *text)
{
	struct buffer b = { 0 };
	char hash[33], *file;
	const char *name;
	int absent, bad;

	if (text == NULL) {
		fail("--init=%s: the run is there already, and did not begin "
		    "from weights of a file (a new run needs another --output)",
		    text_quote(path));
		return 0;
	}
	/* "HASH NAMES FILE", where FILE may contain blanks. */
	name = text + strcspn(text, " ");
	name += strspn(name, " ");
	name += strcspn(name, " ");
	name += *name != '\0';
	file = known_path(path);
	absent = access(file, F_OK) != 0 && errno == ENOENT;
	bad = !absent && file_read(file, &b) != 0;
	free(file);
	if (bad)
		return 0;
	if (!absent)
		init_hash_text(&b, hash);
	buffer_free(&b);
	if (absent ? strcmp(name, path_base(path)) == 0 :
	    strncmp(text, hash, 32) == 0)
		return 1;
	fail("--init=%s: the run is there already, and began from another "
	    "file, %s (a new run needs another --output)", text_quote(path),
	    text_quote(name));
	return 0;
}
