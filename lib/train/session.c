/* Opening what a run needs, alike on every rank. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/isa.h"
#include "base/share.h"
#include "base/text.h"
#include "base/version.h"
#include "shard/stream.h"
#include "train/agree.h"
#include "train/best.h"
#include "train/freeze.h"
#include "train/resume.h"
#include "train/session.h"

/*
 * The text of a file that rank 0 can read, on every rank: standard input
 * belongs to rank 0 alone, and files may differ from host to host.
 */
static char *
shared_text(struct comm *c, const char *path)
{
	struct buffer b = { 0 };
	int64_t n = -1;

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

/* A sampler of windows must be told how far their frames are apart. */
static int
check_strides(const struct session *s)
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
open_schedule(struct session *s)
{
	struct table *t;

	s->schedule_text = shared_text(s->comm, s->o.schedule);
	if (s->schedule_text == NULL)
		return EXIT_USAGE;
	t = table_parse(strcmp(s->o.schedule, "-") == 0 ? "standard input" :
	    text_quote(s->o.schedule), s->schedule_text);
	if (t != NULL)
		s->schedule = schedule_from_table(t);
	table_free(t);
	if (s->schedule != NULL && schedule_moves(s->schedule) &&
	    options_given("momentum") && !options_given("config")) {
		fail("%s: says the momentum of each stage (--momentum is for "
		    "schedules without)", s->schedule->path);
		return EXIT_USAGE;
	}
	return s->schedule != NULL && check_strides(s) == 0 ? 0 : EXIT_USAGE;
}

/*
 * A sample to train on has a label, or a set of them; of a set to validate on,
 * those that have none do not count, but some must.
 */
static int
check_labels(const struct dataset *d, const char *path, int training)
{
	uint32_t n = dataset_samples(d), none = 0;
	const char *key = "";		/* the first of those */

	for (uint32_t i = n; i-- > 0;) {
		struct sample m = dataset_sample(d, i);

		if (m.label >= 0 || (m.flags & SHARD_LABELS))
			continue;
		none++;
		key = m.key;
	}
	if (n == 0)
		return fail("%s: no samples in it", text_quote(path));
	if (none == n)
		return fail("%s: none of its %u samples has a label (vt-extract "
		    "--label-from=dir or --list gives labels)", text_quote(path),
		    n);
	if (none > 0 && training)
		return fail("%s: %u of %u samples have no label, %s first",
		    text_quote(path), none, n, key);
	return 0;
}

static int
open_data(struct session *s)
{
	int bad;

	if ((s->train = dataset_open(s->o.data, &bad)) == NULL)
		return bad == -2 ? EXIT_DAMAGE : EXIT_FAILED;
	if (check_labels(s->train, s->o.data, 1) != 0)
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
	if (check_labels(s->val, s->o.val, 0) != 0)
		return EXIT_USAGE;
	if (dataset_class_hash(s->val) != dataset_class_hash(s->train)) {
		fail("%s: its classes are not those of %s", text_quote(s->o.val),
		    text_quote(s->o.data));
		return EXIT_USAGE;
	}
	return 0;
}

/* What classes become where clips are mirrored; rank 0's file. */
static int
open_flips(struct session *s)
{
	char *path, *text = NULL;
	int bad = 0;

	strcpy(s->flips, "none");
	if (s->o.flips == NULL)
		return 0;
	path = s->comm->rank == 0 ? share_find("flips", s->o.flips, ".tsv") :
	    NULL;
	if (comm_agree(s->comm, s->comm->rank == 0 && path == NULL) == 0)
		text = shared_text(s->comm, path);
	bad = text == NULL || swaps_parse(text_quote(path != NULL ? path :
	    s->o.flips), text, dataset_class_list(s->train), &s->swaps) != 0;
	if (!bad)
		hash128_text(swaps_hash(&s->swaps), s->flips);
	free(text);
	free(path);
	return bad ? EXIT_USAGE : 0;
}

/* NULL after a message. */
static char *
find_network(const char *model)
{
	char *text = path_join(model, "network.net");

	/* A run is often called as its network is: the network is meant. */
	if (!file_is_dir(model) || share_has("models", model, ".net")) {
		free(text);
		return share_find("models", model, ".net");
	}
	if (file_size(text) >= 0)
		fail("%s: is a directory: --model=%s is the network of that run, "
		    "--out=%s resumes it", text_quote(model), text, model);
	else
		fail("%s: is a directory (wanted the name of a network, or a "
		    ".net file)", text_quote(model));
	free(text);
	return NULL;
}

/* Labels are smoothed in every loss that can be. */
static int
smooth_labels(struct session *s)
{
	struct graph *g = s->graph;
	int losses = 0;

	for (int i = 0; i < g->nop && s->o.smoothing > 0; i++)
		if (g->op[i].kind == OP_LOSS && g->op[i].loss == LOSS_SOFTMAX) {
			g->op[i].smooth = s->o.smoothing;
			losses++;
		}
	if (s->o.smoothing > 0 && losses == 0)
		return fail("%s has no loss of one class (--label-smoothing)",
		    g->name);
	return 0;
}

/*
 * The network; one whose file leaves the loss open has the one asked for, which
 * becomes a line of the text that checkpoints keep.
 */
static struct graph *
parse_network(struct session *s)
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
open_network(struct session *s)
{
	const struct device_options o = { .threads = s->o.threads,
		.precision = s->o.precision };

	s->backend = backend_find(s->o.device);
	if (s->comm->rank == 0 && s->backend != NULL)
		s->network_path = find_network(s->o.model);
	if (comm_agree(s->comm, s->backend == NULL || (s->comm->rank == 0 &&
	    s->network_path == NULL)) != 0)
		return EXIT_USAGE;
	s->network_text = shared_text(s->comm, s->network_path);
	if (s->network_text == NULL)
		return EXIT_USAGE;
	s->graph = parse_network(s);
	if (s->graph == NULL || loader_has(s->train, &s->graph->needs,
	    s->graph->name) != 0 || (s->val != NULL && loader_has(s->val,
	    &s->graph->needs, s->graph->name) != 0) ||
	    smooth_labels(s) != 0 ||
	    (effects_mixes(&s->o.loading.effects) && loader_can_mix(
	    &s->graph->needs, s->schedule, s->graph->name) != 0) ||
	    freeze_apply(s->graph, s->o.freeze) != 0)
		return EXIT_USAGE;
	if (s->o.aggregate)
		graph_between(s->graph);
	s->device = device_open(s->backend, &o);
	if (s->device == NULL ||
	    (s->net = net_new(s->graph, s->device)) == NULL)
		return EXIT_FAILED;
	return 0;
}

/*
 * How the ranks were started, before they do anything together that depends on
 * it.
 */
static int
check_start(struct session *s)
{
	char program[33];
	struct identity mine = { .program = agree_program(program),
		.build = s->build, .isa = isa_name(isa_best()),
		.settings = s->settings };

	return agree_ranks(s->comm, &mine) == 0 ? 0 : EXIT_RANKS;
}

/* What they have opened. */
static int
check_ranks(struct session *s)
{
	struct identity mine = resume_identity(&s->t.state);
	char schedule[33];

	hash128_text(hash128(s->schedule_text, strlen(s->schedule_text)),
	    schedule);
	mine.schedule = schedule;
	mine.val = s->val_id;
	return agree_ranks(s->comm, &mine) == 0 ? 0 : EXIT_RANKS;
}

/* The shape of validation: asked for, or that of the last stage. */
static void
set_viewing(struct session *s)
{
	const struct stage *last =
	    &s->schedule->stage[s->schedule->stages - 1];
	const struct cell *c = &last->cell[last->cells - 1];
	struct view_options *v = &s->t.viewing;

	s->t.state.frames = c->frames;
	s->t.state.crop = c->crop;
	s->t.state.stride = c->stride_min;
	*v = s->o.viewing;
	v->stride = c->stride_min;
	v->t = v->t > 0 ? v->t : c->frames;
	v->side = v->side > 0 ? v->side : c->crop;
	v->needs = &s->graph->needs;
}

static void
set_trainer(struct session *s)
{
	static const char *const metric[] = { [BEST_NONE] = "",
		[BEST_TOP1] = "top1", [BEST_LOSS] = "loss",
		[BEST_MAP] = "map" };
	struct trainer *t = &s->t;

	t->o = s->o.trainer;
	if (t->o.best == BEST_TOP1 && !options_given("keep-best") &&
	    s->val != NULL && dataset_sets(s->val))
		t->o.best = BEST_MAP;
	if (s->o.ranks > 0)
		s->planned = comm_planned(s->o.ranks);
	t->comm = s->planned != NULL ? s->planned : s->comm;
	t->net = s->net;
	t->schedule = s->schedule;
	t->train = s->train;
	t->val = s->val;
	t->replay = s->o.replay;
	t->out = s->comm->rank == 0 && t->replay == NULL ? stdout : NULL;
	t->loading = s->o.loading;
	t->loading.rank = t->comm->rank;
	t->loading.ranks = t->comm->size;
	t->loading.learners = (int)s->o.trainer.learners.n;
	t->loading.needs = &s->graph->needs;
	t->loading.swaps = s->o.flips != NULL ? &s->swaps : NULL;
	t->optim.kind = s->o.optimizer;
	t->optim.set = s->o.optimizing;
	t->optim.clip = s->o.clip;
	t->optim.clip_value = s->o.clip_value;
	t->optim.ema = s->o.ema;
	t->optim.loss_scale = s->o.loss_scale > 0 ? s->o.loss_scale : 1;
	t->optim.dynamic_scale = s->o.loss_scale < 0 || (s->o.loss_scale == 0 &&
	    s->device->o.precision == PRECISION_FP16);
	t->optim.outer = learner_options_outer(&t->o.learners);
	t->state = (struct state){ .seed = s->o.loading.seed,
		.best = BEST_WORST, .best_metric = metric[t->o.best],
		.build = s->build, .isa = isa_name(isa_best()),
		.library = backend_library(s->backend),
		.precision = s->device->precision, .classes = s->classes,
		.class_hash = s->class_hash, .config = s->recipe,
		.dataset = s->dataset, .settings_id = s->settings_id,
		.flips = s->flips,
		.generation = dataset_generation(s->train),
		.extract = s->extract,
		.history = s->history, .model = s->graph->name,
		.network = s->network_text, .order = s->order };
	set_viewing(s);
}

void
session_history(struct session *s, uint64_t step)
{
	hash128_text(schedule_prefix_hash(s->schedule,
	    dataset_samples(s->train), step), s->history);
}

static void
describe(struct session *s)
{
	struct buffer classes = { 0 };

	hash128_text(dataset_id(s->train), s->dataset);
	hash128_text(dataset_settings_id(s->train), s->settings_id);
	if (s->val != NULL)
		hash128_text(dataset_id(s->val), s->val_id);
	else
		strcpy(s->val_id, "none");
	snprintf(s->class_hash, sizeof(s->class_hash), "%016" PRIx64,
	    dataset_class_hash(s->train));
	s->extract = dataset_extract(s->train);
	s->recipe = facts_recipe();
	class_text(dataset_class_list(s->train), &classes);
	s->classes = classes.data;
	s->order = xstrdup("v1");
	session_history(s, 0);
}

/* Who sums up what, and updates it. */
static int
open_sums(struct session *s)
{
	size_t elem = s->device->elem, n = s->graph->elements, most;
	char *table = NULL;
	int bad;

	if (s->o.sums.table != NULL &&
	    (table = shared_text(s->comm, s->o.sums.table)) == NULL)
		return EXIT_USAGE;
	bad = sums_open(&s->t.sums, &s->o.sums, table, s->comm, n * elem, elem);
	free(table);
	if (bad)
		return EXIT_USAGE;
	most = bucket_elements(s->t.sums.bucket, elem);
	if (s->o.sums.deterministic == EXACT || s->o.sharded)
		segments_open(&s->t.share, s->t.comm, n, most);
	else
		segments_copy(&s->t.share, s->t.comm, n, most);
	return 0;
}

int
session_open(struct session *s, struct comm *comm,
    const struct session_options *o)
{
	int status;

	s->comm = comm;
	s->o = *o;
	s->build = "vt " VT_VERSION;
	s->settings = options_config(NULL);
	if ((status = check_start(s)) != 0 ||
	    (status = comm_agree(s->comm, open_schedule(s))) != 0 ||
	    (status = comm_agree(s->comm, open_data(s))) != 0 ||
	    (status = comm_agree(s->comm, open_flips(s))) != 0 ||
	    (status = comm_agree(s->comm, open_network(s))) != 0)
		return status;
	describe(s);
	set_trainer(s);
	if ((status = check_ranks(s)) != 0)
		return status;
	s->t.optim.rule = group_rule_find(s->o.groups);
	if ((status = comm_agree(s->comm, open_sums(s))) != 0)
		return status;
	status = s->t.optim.rule == NULL ? EXIT_USAGE :
	    optim_open(&s->t.optim, s->net, &s->t.share) != 0 ? EXIT_FAILED :
	    trainer_plan(&s->t);
	return comm_agree(s->comm, status);
}

void
session_close(struct session *s)
{
	trainer_close(&s->t);
	if (s->t.run != NULL)
		rundir_close(&s->run);
	optim_close(&s->t.optim);
	segments_close(&s->t.share);
	sums_close(&s->t.sums);
	comm_free(s->planned);
	net_free(s->net);
	graph_free(s->graph);
	device_close(s->device);
	dataset_free(s->train);
	dataset_free(s->val);
	schedule_free(s->schedule);
	swaps_free(&s->swaps);
	free(s->schedule_text);
	free(s->network_text);
	free(s->network_path);
	free(s->classes);
	free(s->settings);
	free(s->recipe);
	free(s->order);
	free(s->extract);
	free(s->init);
	free(s->corrupt);
}
