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

int
init_open(struct init *in, const struct graph *g, const char *path,
    const char *classes, int partial)
{
	struct wgrad *w = &in->weights;
	char hash[33];
	int bad;

	*in = (struct init){ .path = path };
	if ((bad = weights_open(path, w)) != 0)
		return bad == -2 ? EXIT_DAMAGE : EXIT_FAILED;
	if ((in->match = match_new(g, w, classes)) == NULL) {
		init_close(in);
		return EXIT_FAILED;
	}
	/*
	 * Print the reason for refusing the weights before match_report lists
	 * the names.
	 */
	bad = match_enough(in->match) || partial ? 0 :
	    fail("%s: %zu of the %zu values of %s without its classifier are "
	    "in it (%.0f %%), less than half: they seem to be weights of "
	    "another network (--init-partial takes them)", text_quote(path),
	    in->match->elements, in->match->of, g->name, in->match->of > 0 ?
	    100.0 * (double)in->match->elements / (double)in->match->of : 0.0);
	match_report(in->match, path);
	if (!bad)
		bad = init_check_finite(in, path);
	if (bad) {
		init_close(in);
		return EXIT_FAILED;
	}
	init_hash_text(w->file.data != NULL ? &w->file : &w->s.file, hash);
	in->text = xprintf("%s %s %s", hash, in->match->names,
	    path_base(path));
	return 0;
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
	char hash[33];
	const char *name;

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
	if (access(path, F_OK) != 0 && errno == ENOENT) {
		if (strcmp(name, path_base(path)) == 0)
			return 1;
	} else {
		if (file_read(path, &b) != 0)
			return 0;
		init_hash_text(&b, hash);
		buffer_free(&b);
		if (strncmp(text, hash, 32) == 0)
			return 1;
	}
	fail("--init=%s: the run is there already, and began from another file, "
	    "%s (a new run needs another --output)", text_quote(path),
	    text_quote(name));
	return 0;
}
