/* Open the schedule, the datasets and the network of a run. */
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/share.h"
#include "base/text.h"
#include "sched/summary.h"
#include "shard/stream.h"
#include "train/loop/inputs.h"
#include "train/run/ordinal.h"
#include "train/weights/freeze.h"

char *
inputs_text(struct comm *c, const char *path)
{
	struct buffer b = { 0 };
	int64_t n = -1;			/* bytes of the text; -1: failed */

	if (c->rank == 0 && file_read_text(path, &b) == 0)
		n = (int64_t)b.n;
	if (comm_broadcast(c, &n, sizeof(n), 0) != 0 || n < 0) {
		buffer_free(&b);
		return NULL;
	}
	if (c->rank != 0)
		b.data = xcalloc((size_t)n + 1, 1);
	if (comm_broadcast(c, b.data, (size_t)n, 0) != 0)
		buffer_free(&b);
	return b.data;
}

void
inputs_warn_crop(const struct dataset *d, const char *path, int crop)
{
	int largest = 0, w = 0, h = 0;

	for (uint32_t i = 0; i < dataset_samples(d); i++) {
		struct sample m = dataset_sample(d, i);
		int side = m.width < m.height ? m.width : m.height;

		if (side <= largest)
			continue;
		largest = side;
		w = m.width;
		h = m.height;
	}
	if (crop > largest)
		warning("%s: crops of %dx%d pixels from frames of at most "
		    "%dx%d: they are enlarged, which costs time and adds no "
		    "detail", text_quote(path), crop, crop, w, h);
}

/* Check that the schedule has a stride if the sampler chooses frames at a fixed
 * distance. */
static int
inputs_check_strides(const struct session *s)
{
	for (int i = 0; i < s->schedule->stages; i++)
		for (int k = 0; k < s->schedule->stage[i].cells; k++)
			if (clip_needs_stride(s->o.loading.sampler) &&
			    s->schedule->stage[i].cell[k].stride_min == 0)
				return fail("%s: stage %d has no stride, which "
				    "this --sampler needs (vt-schedule --stride "
				    "gives one)", s->schedule->path, i);
	return 0;
}

static int
inputs_open_schedule(struct session *s)
{
	struct table *t;

	s->schedule_text = inputs_text(s->comm, s->o.schedule);
	if (s->schedule_text == NULL)
		return EXIT_USAGE;
	t = table_parse(strcmp(s->o.schedule, "-") == 0 ? "standard input" :
	    text_quote(s->o.schedule), s->schedule_text);
	if (t != NULL)
		s->schedule = schedule_from_table(t);
	table_free(t);
	if (s->schedule != NULL && schedule_sets_momentum(s->schedule) &&
	    s->o.given.momentum) {
		fail("%s: sets the momentum of each stage (--momentum is for "
		    "schedules without)", s->schedule->path);
		return EXIT_USAGE;
	}
	if (s->schedule == NULL || inputs_check_strides(s) != 0)
		return EXIT_USAGE;
	if (s->comm->rank == 0)
		schedule_advise(s->schedule);
	return 0;
}

/*
 * Check that ${d} has labels.  ${training} needs a label, or a set of them, for
 * every sample.  A validation needs at least one, and ignores samples without a
 * label.
 */
static int
inputs_check_labels(const struct dataset *d, const char *path, int training)
{
	uint32_t n = dataset_samples(d), none = 0;
	const char *key = "";		/* of the first sample without a
					 * label */

	for (uint32_t i = n; i-- > 0;) {
		struct sample m = dataset_sample(d, i);

		if (m.label >= 0 || (m.flags & SHARD_LABELS))
			continue;
		none++;
		key = m.key;
	}
	if (n == 0)
		return fail("%s: 0 samples (wanted at least 1)", text_quote(path));
	if (none == n)
		return fail("%s: none of its %u samples has a label (vt-extract "
		    "--label-from=dir or --annotations gives labels)", text_quote(path),
		    n);
	if (none > 0 && training)
		return fail("%s: %u of %u samples have no label, %s first",
		    text_quote(path), none, n, key);
	return 0;
}

/* Check that the classes for validation are those of training. */
static int
inputs_compare_classes(const struct session *s)
{
	char *file = path_join(s->o.data, "classes.txt");
	char *quoted = xstrdup(text_quote(file));
	char *whose = xstrdup(text_quote(s->o.data));
	int bad = class_compare(s->o.val, dataset_class_list(s->val), whose,
	    dataset_class_list(s->train), quoted);

	free(whose);
	free(quoted);
	free(file);
	return bad;
}

static int
inputs_open_data(struct session *s)
{
	int bad;

	if ((s->train = dataset_open(s->o.data, &bad)) == NULL)
		return bad == -2 ? EXIT_DAMAGE : EXIT_FAILED;
	if (inputs_check_labels(s->train, s->o.data, 1) != 0)
		return EXIT_USAGE;
	if (dataset_classes(s->train) < 2) {
		fail("%s: %d classes (wanted at least 2)", text_quote(s->o.data),
		    dataset_classes(s->train));
		return EXIT_USAGE;
	}
	if (s->o.val == NULL)
		return 0;
	if ((s->val = dataset_open(s->o.val, &bad)) == NULL)
		return bad == -2 ? EXIT_DAMAGE : EXIT_FAILED;
	if (inputs_check_labels(s->val, s->o.val, 0) != 0)
		return EXIT_USAGE;
	return inputs_compare_classes(s) == 0 ? 0 : EXIT_USAGE;
}

/* Read the table of classes that a flip swaps, from the file of rank 0. */
static int
inputs_open_flips(struct session *s)
{
	char *path, *text = NULL;
	int bad = 0;

	strcpy(s->flips, "none");
	if (s->o.flips == NULL)
		return 0;
	path = s->comm->rank == 0 ? share_find("flips", s->o.flips, ".tsv") :
	    NULL;
	if (comm_agree(s->comm, s->comm->rank == 0 && path == NULL) == 0)
		text = inputs_text(s->comm, path);
	bad = text == NULL || flip_map_parse(text_quote(path != NULL ? path :
	    s->o.flips), text, dataset_class_list(s->train), &s->flip_map) != 0;
	if (!bad)
		hash128_text(flip_map_hash(&s->flip_map), s->flips);
	free(text);
	free(path);
	return bad ? EXIT_USAGE : 0;
}

/* Refuse a file of weights that is given as a network. */
static int
inputs_refuse_weights(const char *model)
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
inputs_find_network(const char *model)
{
	char *text;

	if (inputs_refuse_weights(model) != 0)
		return NULL;
	text = path_join(model, "network.net");
	/* A run directory often has the name of its network.  Then prefer the
	 * network. */
	if (!file_is_dir(model) || share_has("models", model, ".net")) {
		free(text);
		return share_find("models", model, ".net");
	}
	if (file_size(text) >= 0)
		fail("%s: is a directory: --model=%s is the network of that run, "
		    "--output=%s resumes it", text_quote(model), text, model);
	else
		fail("%s: is a directory (wanted the name of a network, or a "
		    ".net file)", text_quote(model));
	free(text);
	return NULL;
}

/* Set --label-smoothing in every softmax loss of the network. */
static int
inputs_smooth_labels(struct session *s)
{
	struct graph *g = s->graph;
	int losses = 0;

	for (int i = 0; i < g->nop && s->o.smoothing > 0; i++)
		if (g->op[i].kind == OP_LOSS && g->op[i].loss == LOSS_SOFTMAX) {
			g->op[i].smooth = s->o.smoothing;
			losses++;
		}
	if (s->o.smoothing > 0 && losses == 0)
		return fail("%s: has no softmax loss (--label-smoothing needs one)",
		    g->name);
	return 0;
}

/*
 * Parse the network.  If its file has no loss, add the one of --loss as a line
 * to the text, which checkpoints store.  Return NULL after a message.
 */
static struct graph *
inputs_parse_network(struct session *s)
{
	const char *name = s->network_path != NULL ? s->network_path :
	    s->o.model;
	int classes = dataset_classes(s->train);
	struct graph *g = graph_parse(name, s->network_text, classes);
	char *text;

	if (g == NULL || s->o.loss == LOSS_SOFTMAX)
		return g;
	if (!g->open_loss) {
		fail("%s: has a loss of its own (--loss=sigmoid is for networks "
		    "without one)", text_quote(name));
		graph_free(g);
		return NULL;
	}
	text = xprintf("%s\nloss loss in=%s kind=sigmoid\n", s->network_text,
	    g->op[g->head[0].scores].name);
	graph_free(g);
	free(s->network_text);
	s->network_text = text;
	return graph_parse(name, text, classes);
}

static int
inputs_open_network(struct session *s)
{
	struct device_options o = { .threads = s->o.threads,
		.precision = s->o.precision };

	/* Agree before each collective call, so that a rank that fails does not
	 * leave the others waiting. */
	s->backend = backend_find(s->o.device);
	if (s->comm->rank == 0 && s->backend != NULL)
		s->network_path = inputs_find_network(s->o.model);
	if (comm_agree(s->comm, s->backend == NULL || (s->comm->rank == 0 &&
	    s->network_path == NULL)) != 0)
		return EXIT_USAGE;
	o.ordinal = ordinal_of(s->comm, s->backend);
	if (o.ordinal == -2)
		return EXIT_RANKS;
	if (comm_agree(s->comm, o.ordinal < 0) != 0)
		return EXIT_USAGE;
	s->network_text = inputs_text(s->comm, s->network_path);
	if (s->network_text == NULL)
		return EXIT_USAGE;
	s->graph = inputs_parse_network(s);
	if (s->graph == NULL || loader_check_dataset(s->train, &s->graph->needs,
	    s->graph->name) != 0 || (s->val != NULL && loader_check_dataset(s->val,
	    &s->graph->needs, s->graph->name) != 0) ||
	    inputs_smooth_labels(s) != 0 ||
	    (transforms_mix_clips(&s->o.loading.transforms) && loader_check_mixing(
	    &s->graph->needs, s->schedule, s->graph->name) != 0) ||
	    freeze_apply(s->graph, s->o.freeze) != 0)
		return EXIT_USAGE;
	if (s->o.aggregate)
		graph_between(s->graph);
	if ((s->device = device_open(s->backend, &o)) == NULL)
		return EXIT_USAGE;
	if ((s->net = net_new(s->graph, s->device)) == NULL)
		return EXIT_FAILED;
	return 0;
}

/* Warn about crops larger than all frames, for training at its largest shape
 * and for validation. */
static void
inputs_warn_crops(const struct session *s)
{
	const struct schedule *t = s->schedule;
	int crop = 0, last = 0;

	for (int i = 0; i < t->stages; i++)
		for (int k = 0; k < t->stage[i].cells; k++) {
			last = t->stage[i].cell[k].crop;
			crop = last > crop ? last : crop;
		}
	inputs_warn_crop(s->train, s->o.data, crop);
	if (s->val != NULL)
		inputs_warn_crop(s->val, s->o.val, s->o.viewing.side > 0 ?
		    s->o.viewing.side : last);
}

int
inputs_open(struct session *s)
{
	int status;

	if ((status = comm_agree(s->comm, inputs_open_schedule(s))) != 0 ||
	    (status = comm_agree(s->comm, inputs_open_data(s))) != 0 ||
	    (status = comm_agree(s->comm, inputs_open_flips(s))) != 0)
		return status;
	if (s->comm->rank == 0)
		inputs_warn_crops(s);
	return comm_agree(s->comm, inputs_open_network(s));
}
