/*
 * Open the network of a run: find its file, parse it, and place it on a device.
 */
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/share.h"
#include "base/text.h"
#include "train/loop/inputs.h"
#include "backend/ordinal.h"
#include "train/weights/freeze.h"

/* Refuse a file of weights that is given as a network. */
static int
input_network_refuse_weights(const char *model)
{
	static const char *const suffix[] = { ".safetensors", ".pth", ".pyth",
		".pkl" };
	char *dir = path_dir(model), *network = path_join(dir, "network.net");
	int bad = 0;

	for (size_t i = 0; i < sizeof(suffix) / sizeof(suffix[0]) && !bad; i++)
		if (text_ends(model, suffix[i]))
			bad = fail("%s: holds weights (wanted a network): "
			    "--init=%s begins from them%s%s", text_quote(model),
			    model, file_size(network) < 0 ? "" :
			    ", and the network of that run is --model=",
			    file_size(network) < 0 ? "" : network);
	free(network);
	free(dir);
	return bad;
}

/* Return the path of the .net file of --model, which the caller frees, or NULL
 * after a message. */
static char *
input_network_find(const char *model)
{
	char *text;

	if (input_network_refuse_weights(model) != 0)
		return NULL;
	text = path_join(model, "network.net");
	/* A run directory often has the name of its network.  Then prefer the
	 * network. */
	if (!file_is_dir(model) || share_has("models", model, ".net")) {
		free(text);
		return share_find("models", model, ".net");
	}
	if (file_size(text) >= 0)
		fail("%s: is a directory: --model=%s is the network of that "
		    "run, --output=%s resumes it", text_quote(model), text,
		    model);
	else
		fail("%s: is a directory (wanted the name of a network, or a "
		    ".net file)", text_quote(model));
	free(text);
	return NULL;
}

/*
 * Set --label-smoothing in every softmax loss of the network.  It and
 * --class-weight need one.
 */
static int
input_network_set_losses(struct session *s)
{
	struct graph *g = s->graph;
	int losses = 0;

	for (int i = 0; i < g->nop; i++)
		if (g->op[i].kind == OP_LOSS &&
		    g->op[i].loss.kind == LOSS_SOFTMAX) {
			if (s->t.o.label_smoothing > 0)
				g->op[i].loss.smooth = s->t.o.label_smoothing;
			losses++;
		}
	if (losses == 0 && (s->t.o.label_smoothing > 0 ||
	    s->class_weight != NULL))
		return fail("%s: has no softmax loss (--%s needs one)",
		    g->name, s->t.o.label_smoothing > 0 ? "label-smoothing" :
		    "class-weight");
	return 0;
}

/* Set --dropout in the dropout of the network, and --classifier-std. */
static int
input_network_set_head(struct session *s)
{
	struct graph *g = s->graph;
	int dropouts = 0;

	for (int i = 0; i < g->nop; i++)
		if (g->op[i].kind == OP_DROPOUT) {
			if (s->t.o.dropout >= 0)
				g->op[i].dropout.rate = s->t.o.dropout;
			dropouts++;
		}
	for (int i = 0; i < g->nparam && s->t.o.classifier_std > 0; i++)
		if (g->param[i].head && g->param[i].kind == PARAM_WEIGHT)
			g->param[i].std = s->t.o.classifier_std;
	return dropouts == 0 && s->t.o.dropout >= 0 ? fail("%s: has no dropout "
	    "(--dropout needs one)", g->name) : 0;
}

/*
 * Parse the network.  If its file has no loss, add the one of --loss as a line
 * to the text, which checkpoints store.  Return NULL after a message.
 */
static struct graph *
input_network_parse(struct session *s)
{
	const char *name = s->text.network_path != NULL ? s->text.network_path :
	    s->t.o.model;
	int classes = dataset_classes(s->t.train);
	struct graph *g = graph_parse(name, s->text.network, classes);
	char gamma[32], loss[64], *text;
	int focal = s->t.o.loss == FOCAL;

	if (g == NULL || s->t.o.loss == 0)
		return g;
	text_choice_name(LOSS_NAMES, s->t.o.loss, loss);
	if (!g->open_loss) {
		fail("%s: has a loss of its own (--loss=%s is for networks "
		    "without one)", text_quote(name), loss);
		graph_free(g);
		return NULL;
	}
	text_real_write(gamma, s->t.o.focal_gamma);
	text = xprintf("%s\nloss loss in=%s kind=%s%s%s\n", s->text.network,
	    g->op[g->head[0].scores].name, loss, focal ? " gamma=" : "",
	    focal ? gamma : "");
	graph_free(g);
	free(s->text.network);
	s->text.network = text;
	return graph_parse(name, text, classes);
}

int
input_network_open(struct session *s)
{
	struct device_options o = { .threads = (int)s->t.o.threads,
		.precision = (enum precision)s->t.o.precision };
	unsigned char uuid[1][DEVICE_UUID];

	/* Agree before each collective call, so that a rank that fails does not
	 * leave the others waiting. */
	s->backend = backend_find(s->t.o.device);
	if (s->comm->rank == 0 && s->backend != NULL)
		s->text.network_path = input_network_find(s->t.o.model);
	if (comm_agree(s->comm, s->backend == NULL || (s->comm->rank == 0 &&
	    s->text.network_path == NULL)) != 0)
		return EXIT_USAGE;
	o.ordinal = ordinal_of(s->comm, s->backend);
	if (o.ordinal == -2)
		return EXIT_RANKS;
	if (comm_agree(s->comm, o.ordinal < 0) != 0)
		return EXIT_USAGE;
	if (s->use.plan_only && s->backend->ordinal != NULL &&
	    s->backend->ordinal->uuids(uuid, 1) == 0)
		o.ordinal = -1;
	s->text.network = inputs_text(s->comm, s->text.network_path);
	if (s->text.network == NULL)
		return EXIT_USAGE;
	s->graph = input_network_parse(s);
	if (s->graph == NULL || loader_check_dataset(s->t.train,
	    &s->graph->needs, s->graph->name) != 0 || (s->t.val != NULL &&
	    loader_check_dataset(s->t.val, &s->graph->needs, s->graph->name) !=
	    0) || input_network_set_losses(s) != 0 ||
	    input_network_set_head(s) != 0 ||
	    loader_check_transforms(&s->graph->needs,
	    &s->t.loading.transforms, s->graph->name) != 0 ||
	    (transforms_mix_clips(&s->t.loading.transforms) &&
	    loader_check_mixing(&s->graph->needs, s->t.schedule,
	    s->graph->name) != 0) ||
	    freeze_apply(s->graph, &s->t.o.freeze) != 0)
		return EXIT_USAGE;
	if (s->t.o.bn_running)
		graph_between(s->graph);
	if ((s->device = device_open(s->backend, &o)) == NULL)
		return EXIT_USAGE;
	if ((s->t.net = net_new(s->graph, s->device)) == NULL)
		return EXIT_FAILED;
	s->t.net->advice = "a smaller --bn-size (vt-schedule), ";
	return 0;
}
