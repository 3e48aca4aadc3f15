/* Open the parts of a session, alike on every rank. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/isa.h"
#include "base/text.h"
#include "base/version.h"
#include "comm/watch.h"
#include "sched/group.h"
#include "train/loop/choices.h"
#include "train/loop/inputs.h"
#include "train/loop/session.h"
#include "train/run/identity.h"

/* Check that all ranks have opened the same inputs. */
static int
session_check_ranks(struct session *s)
{
	struct state mine = s->t.state;
	struct buffer b = { 0 };

	mine.history = s->text.schedule;
	identity_add_state(&b, &mine);
	identity_add(&b, "val", s->text.val_id);
	return identity_check(s->comm, &b);
}

/* Refuse modes that cannot be combined.  Return 0, or EXIT_USAGE after a
 * message. */
static int
session_check_modes(const struct session *s)
{
	char *refused = modes_refused(&s->t.o.modes);

	if (refused == NULL)
		return 0;
	fail("%s", refused);
	free(refused);
	return EXIT_USAGE;
}

static int
session_loader_threads(const struct session *s)
{
	return loader_threads(s->use.cores, s->backend->discrete);
}

/* Set the shape of validations: that of the options, or of the last cell. */
static void
session_set_viewing(struct session *s)
{
	const struct stage *last =
	    &s->t.schedule->stage[s->t.schedule->stages - 1];
	const struct cell *c = &last->cell[last->cells - 1];
	struct view_options *v = &s->t.viewing;

	s->t.state.frames = c->frames;
	s->t.state.crop = c->crop;
	s->t.state.stride = c->stride_min;
	if (v->threads == 0)
		v->threads = session_loader_threads(s);
	v->stride = c->stride_min;
	v->t = v->t > 0 ? v->t : c->frames;
	v->side = v->side > 0 ? v->side : c->crop;
	v->needs = &s->graph->needs;
}

/* Return the results number: runs with --repeat have one of their own. */
static const char *
session_results(const struct session *s)
{
	return s->t.loading.transforms.repeat > 1 ?
	    VERSION_RESULTS " repeat=1" : VERSION_RESULTS;
}

/* Set what follows from the settings alone. */
static void
session_set_loading(struct session *s)
{
	const struct settings *o = &s->t.o;
	struct trainer *t = &s->t;

	t->cores = s->use.cores;
	t->loading = (struct loader_options){ .seed = (uint64_t)o->seed,
		.threads = (int)o->loaders, .audit = o->audit,
		.replaces = o->corrupt >= 0,
		.memory = (size_t)o->loader_memory };
	clip_settings_apply(&o->clips, &t->loading);
	t->viewing = (struct view_options){ .threads = (int)o->loaders,
		.sampler = t->loading.sampler, .validate = 1,
		.rule = crop_view(t->loading.crop.rule), .clips = 1,
		.crops = 1, .n = 8, .t = (int)o->val_frames,
		.side = (int)o->val_crop, .largest = t->loading.crop.largest,
		.memory = (size_t)o->loader_memory };
}

static void
session_set_trainer(struct session *s)
{
	static const int best[] = { METRIC_TOP1, METRIC_LOSS, BEST_NONE,
		METRIC_MAP };		/* in the order of BEST_NAMES */
	struct trainer *t = &s->t;

	/* If samples have sets of classes, mAP is the default metric. */
	t->best = best[t->o.keep_best];
	if (t->best == METRIC_TOP1 && !s->t.o.given.keep_best &&
	    s->t.val != NULL && dataset_has_label_sets(s->t.val))
		t->best = METRIC_MAP;
	/* A dry run for other ranks plans with a comm that only has a size. */
	if (s->use.ranks > 0)
		s->planned = comm_planned(s->use.ranks);
	t->comm = s->planned != NULL ? s->planned : s->comm;
	t->replay = s->use.replay;
	t->out = s->comm->rank == 0 && t->replay == NULL ? stdout : NULL;
	if (t->loading.threads == 0)
		t->loading.threads = session_loader_threads(s);
	t->loading.rank = t->comm->rank;
	t->loading.ranks = t->comm->size;
	t->loading.learners = (int)t->o.learners.n;
	t->loading.spread = modes_has(&s->t.o.modes, MODE_FAST);
	t->loading.needs = &s->graph->needs;
	t->loading.flip_map = s->t.o.flip_swap != NULL ? &s->flip_map : NULL;
	t->loading.balance = s->t.o.balance > 0 ? s->balance : NULL;
	t->loading.class_weight = s->class_weight;
	t->optim.kind = &optimizers[t->o.optimizer];
	t->optim.set = t->o.optimizing;
	t->optim.clip = t->o.clip_grad;
	t->optim.clip_value = t->o.clip_value;
	t->optim.ema = t->o.ema;
	t->optim.loss_scale = t->o.scale > 0 ? t->o.scale : 1;
	t->optim.dynamic_scale = t->o.scale < 0 || (t->o.scale == 0 &&
	    s->device->o.precision == PRECISION_FP16);
	t->optim.learners = t->o.learners.state == STATE_KEEP ?
	    (int)t->o.learners.n : 0;
	t->best_metric = t->best == BEST_NONE ? "" :
	    metrics[t->best].name;
	t->state = (struct state){ .seed = t->loading.seed,
		.best = BEST_WORST, .best_metric = "",
		.build = version_build, .results = session_results(s),
		.isa = isa_name(isa_best()),
		.library = backend_library(s->backend),
		.precision = s->device->precision, .classes = s->text.classes,
		.class_hash = s->text.class_hash, .config = s->text.recipe,
		.dataset = s->text.dataset, .settings_id = s->text.settings_id,
		.flips = s->text.flips, .class_weights = s->text.class_weights,
		.generation = (uint64_t)dataset_generation(s->t.train),
		.grown = 1,
		.extract = s->text.extract,
		.history = s->text.history, .model = s->graph->name,
		.network = s->text.network, .order = "v1" };
	session_set_viewing(s);
}

void
session_history(struct session *s, uint64_t step)
{
	hash128_text(schedule_prefix_hash(s->t.schedule,
	    dataset_samples(s->t.train), step), s->text.history);
}

/* Set the texts and hashes of the inputs, for identity and checkpoints. */
static void
session_describe(struct session *s)
{
	struct buffer classes = { 0 };

	hash128_text(dataset_id(s->t.train), s->text.dataset);
	hash128_text(dataset_settings_id(s->t.train), s->text.settings_id);
	if (s->t.val != NULL)
		hash128_text(dataset_id(s->t.val), s->text.val_id);
	else
		strcpy(s->text.val_id, "none");
	hash64_text(dataset_class_hash(s->t.train), s->text.class_hash);
	s->text.extract = dataset_extract(s->t.train);
	s->text.recipe = options_config(OPTION_FREE_RESUME);
	class_text(dataset_class_list(s->t.train), &classes);
	s->text.classes = classes.data;
	session_history(s, 0);
}

/* Return 1 if ranks share a BN group in any cell of the schedule. */
static int
session_shares_groups(const struct session *s)
{
	const struct schedule *t = s->t.schedule;
	int shares = 0;

	for (const struct cell *c = NULL; (c = schedule_cell(t, c)) != NULL;)
		shares |= cell_parts(c, s->t.comm->size,
		    s->t.loading.spread).span > 1;
	return shares;
}

/* Add the modes of device and ranks to those of the options, and refuse what
 * they cannot be combined with. */
static int
session_set_modes(struct session *s)
{
	struct modes *m = &s->t.o.modes;
	int columns, rows;
	const struct algorithm *kind = algorithm_parse(s->t.o.sums.allreduce,
	    &columns, &rows);

	modes_put(m, MODE_SHARDED, s->t.o.shard_optimizer ||
	    !modes_has(m, MODE_FAST), NULL);
	modes_put(m, MODE_RANKS, s->comm->size > 1, NULL);
	modes_put(m, MODE_SYNC_BN, session_shares_groups(s), NULL);
	modes_put(m, MODE_FP64, s->device->elem == sizeof(double), NULL);
	modes_put(m, MODE_HOST_ALLREDUCE, kind != NULL &&
	    !algorithm_of_fabric(kind), NULL);
	modes_put(m, MODE_DEVICE_SUMS, s->comm->size > 1 &&
	    device_stream(s->device) != NULL &&
	    backend_fabric(s->device->backend) != NULL, NULL);
	modes_put(m, MODE_DEVICE_CHECK, device_has_step_check(s->device), NULL);
	modes_put(m, MODE_EARLY_UPDATE, device_has_step_check(s->device) &&
	    !modes_has(m, MODE_LEARNERS), NULL);
	return session_check_modes(s);
}

/* Choose how gradients are summed, and the rank that owns each parameter. */
static int
session_open_sums(struct session *s)
{
	size_t elem = s->device->elem, n = s->graph->elements, largest;
	const struct modes *m = &s->t.o.modes;
	char *table = NULL;
	int bad;

	if (s->t.o.sums.table != NULL &&
	    (table = inputs_text(s->comm, s->t.o.sums.table)) == NULL)
		return EXIT_USAGE;
	bad = sums_open(&s->t.sums, &s->t.o.sums, table, s->comm,
	    modes_in_effect(m, MODE_DEVICE_SUMS) ?
	    backend_fabric(s->device->backend) : NULL,
	    n * elem, elem);
	free(table);
	if (bad)
		return EXIT_USAGE;
	if (s->planned != NULL && modes_has(m, MODE_FAST))
		strcpy(s->t.sums.text, "by the hosts, when it starts");
	largest = bucket_elements(s->t.sums.bucket, elem);
	if (modes_has(m, MODE_SHARDED))
		segments_open(&s->t.share, s->t.comm, n, largest);
	else
		segments_copy(&s->t.share, s->t.comm, n, largest);
	return 0;
}

int
session_open(struct session *s, struct comm *comm,
    const struct settings *o, const struct session_use *use)
{
	int status;

	s->comm = comm;
	s->t.o = *o;
	s->use = *use;
	session_set_loading(s);
	if ((status = identity_check_start(comm)) != 0)
		return status;
	/* From here on nothing is written until trainer_open returns. */
	watch_stop_ends(comm->watch, 1);
	if ((status = inputs_open(s)) != 0)
		return status;
	session_describe(s);
	session_set_trainer(s);
	if ((status = session_check_ranks(s)) != 0 ||
	    (status = comm_agree(s->comm, session_set_modes(s))) != 0)
		return status;
	s->t.optim.rule = group_rule_find(s->t.o.param_groups);
	if ((status = comm_agree(s->comm, session_open_sums(s))) != 0)
		return status;
	status = s->t.optim.rule == NULL ? EXIT_USAGE :
	    optim_open(&s->t.optim, s->t.net, &s->t.share) != 0 ?
	    EXIT_FAILED : 0;
	status = comm_agree(s->comm, status);
	return status != 0 ? status : choices_plan(s);
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
	net_free(s->t.net);
	graph_free(s->graph);
	device_close(s->device);
	dataset_free(s->t.train);
	dataset_free(s->t.val);
	schedule_free(s->t.schedule);
	flip_map_free(&s->flip_map);
	class_balance_free(s->balance);
	free(s->class_weight);
	free(s->text.schedule);
	free(s->text.network);
	free(s->text.network_path);
	free(s->text.classes);
	free(s->text.recipe);
	free(s->text.extract);
	free(s->text.init);
	free(s->text.split);
	buffer_free(&s->text.resumed);
	free(s->text.choices);
	buffer_free(&s->begun.init_table);
}
