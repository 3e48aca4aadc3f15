/*
 * A model from weights of another program: its network is named, its clip and
 * test are those of the table of published weights.
 */
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/share.h"
#include "base/text.h"
#include "eval/model.h"
#include "train/loop/views.h"
#include "weights/known.h"

/* Take the clip and the test of the row ${k}, if it states them. */
static int
model_weights_take_clip(struct model *m, const struct known *k)
{
	int protocol;

	if (k->table == NULL || k->frames == 0 || k->crop == 0 ||
	    *k->views == '\0')
		return 0;
	if ((protocol = text_choice(VIEWS_NAMES, k->views)) < 0) {
		fail("%s: row %s: views is %s (wanted " VIEWS_NAMES ")",
		    k->table->path, k->name, text_quote(k->views));
		return EXIT_USAGE;
	}
	m->state.frames = (int)k->frames;
	m->state.crop = (int)k->crop;
	m->state.stride = (int)k->stride;
	m->views = (struct model_views){ protocol, k->clips > 0 ?
		(int)k->clips : 1, k->crops > 0 ? (int)k->crops : 1,
		k->side == k->crop };
	note("%d frames, stride %d, crop size %d, %d x %d views: those of the "
	    "test of known:%s", m->state.frames, m->state.stride,
	    m->state.crop, m->views.clips, m->views.crops, k->name);
	return 0;
}

/* Set the class names: those of --classes, else of the row, else numbers. */
static int
model_weights_name_classes(struct model *m, const struct known *k)
{
	size_t outputs = (size_t)m->graph->head[0].classes;
	const char *name = m->classes != NULL ? m->classes :
	    k->table != NULL && *k->classes_file != '\0' ? k->classes_file :
	    NULL;
	char *path;
	int bad;

	if (name == NULL) {
		class_add_numbers(&m->class, outputs);
		note("%s: the names of its %zu classes are unknown (--classes "
		    "names a list)", text_quote(m->path), outputs);
		return 0;
	}
	if ((path = share_find("classes", name, ".txt")) == NULL)
		return EXIT_USAGE;
	bad = class_read(path, &m->class);
	if (bad == 0 && m->class.n != outputs)
		bad = fail("%s: %zu classes (wanted the %zu of %s)",
		    text_quote(path), m->class.n, outputs,
		    text_quote(m->path));
	free(path);
	return bad != 0 ? EXIT_USAGE : 0;
}

/* Return the network's file, or NULL after a message. */
static char *
model_weights_find_network(const struct model *m, const struct known *k)
{
	const char *name = m->network != NULL ? m->network : k->table != NULL &&
	    *k->network != '\0' ? k->network : NULL;
	struct buffer fits = { 0 };

	if (name != NULL)
		return share_find("models", name, ".net");
	match_fitting(&m->weights.weights, 2, &fits);
	fail("%s: weights of another program (wanted their network, as "
	    "--model=NET%s%s)", text_quote(m->path), fits.n > 0 ?
	    "; they fit " : "", fits.n > 0 ? fits.data : "");
	buffer_free(&fits);
	return NULL;
}

/* Build the network ${path} with as many classes as the file has outputs, and
 * match the file to it. */
static int
model_weights_match(struct model *m, const char *path)
{
	struct graph *any = graph_read(path, 2);
	int64_t n = any != NULL ? match_outputs(any, &m->weights.weights) : -1;

	graph_free(any);
	if (n < 0)
		return EXIT_USAGE;
	/* Without outputs, init_match names what is absent. */
	if ((m->graph = graph_read(path, n > 0 ? (int)n : 2)) == NULL)
		return EXIT_USAGE;
	m->state.model = m->graph->name;
	m->state.config = "";
	return init_match(&m->weights, m->graph, NULL, INIT_WHOLE);
}

static int
model_weights_set(struct model *m, struct known *k)
{
	char *path = model_weights_find_network(m, k);
	int status = path != NULL ? model_weights_match(m, path) : EXIT_USAGE;

	free(path);
	if (status == 0)
		status = model_weights_name_classes(m, k);
	if (status == 0 && k->table == NULL)
		status = known_of_network(m->graph->name, (int)m->class.n, k);
	if (status == 0)
		status = model_weights_take_clip(m, k);
	if (k->table != NULL && strcmp(k->loss, "sigmoid") == 0 &&
	    m->graph != NULL && m->graph->open_loss)
		m->graph->op[m->graph->head[0].loss].loss.kind = LOSS_SIGMOID;
	return status;
}

int
model_weights_read(struct model *m, const char *path)
{
	struct known k = { 0 };
	int status = known_is(path) ? known_find(path, &k) : 0;

	if (status == 0)
		status = init_read(&m->weights, path);
	if (status == 0 && safetensors_meta(&m->weights.weights.s,
	    "vt.format") != NULL) {
		fail("%s: a checkpoint of vt, which has its network and "
		    "classes (wanted no --model and no --classes)",
		    text_quote(path));
		status = EXIT_USAGE;
	}
	if (status == 0)
		status = model_weights_set(m, &k);
	known_close(&k);
	return status;
}
