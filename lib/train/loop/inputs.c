/* Open the schedule and the datasets of a run, and then its network. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/options.h"
#include "base/share.h"
#include "base/text.h"
#include "data/holdout.h"
#include "sched/summary.h"
#include "shard/manifest.h"
#include "shard/stream.h"
#include "train/loop/inputs.h"
#include "train/run/rundir.h"

char *
inputs_share(struct comm *c, char *text)
{
	/* bytes of the text; -1: none */
	int64_t n = text != NULL ? (int64_t)strlen(text) : -1;

	if (comm_broadcast(c, &n, sizeof(n), 0) != 0 || n < 0)
		goto err0;
	if (c->rank != 0)
		text = xcalloc((size_t)n + 1, 1);
	if (comm_broadcast(c, text, (size_t)n, 0) == 0)
		return text;
err0:
	free(text);
	return NULL;
}

char *
inputs_text(struct comm *c, const char *path)
{
	struct buffer b = { 0 };

	if (c->rank == 0 && file_read_text(path, &b) != 0)
		buffer_free(&b);
	return inputs_share(c, b.data);
}

/* Return EXIT_USAGE on all ranks if any is ${bad}, else 0. */
static int
inputs_agree(const struct session *s, int bad)
{
	return comm_agree(s->comm, bad ? EXIT_USAGE : 0);
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
	for (int i = 0; i < s->t.schedule->stages; i++)
		for (int k = 0; k < s->t.schedule->stage[i].cells; k++)
			if (clip_needs_stride(s->t.loading.sampler) &&
			    s->t.schedule->stage[i].cell[k].stride_min == 0)
				return fail("%s: stage %d has no stride, which "
				    "this --sampler needs (vt-schedule "
				    "--stride gives one)", s->t.schedule->path,
				    i);
	return 0;
}

static int
inputs_open_schedule(struct session *s)
{
	const char *path = s->t.o.schedule;
	struct table *t;

	s->text.schedule = path != NULL ? inputs_text(s->comm, path) :
	    inputs_share(s->comm, s->comm->rank == 0 ?
	    s->t.o.make_schedule(s->t.train, s->t.o.schedule_how,
	    !s->use.opens_again) : NULL);
	if (s->text.schedule == NULL)
		return -1;
	t = table_parse(path == NULL ? "the schedule" : strcmp(path, "-") == 0 ?
	    "standard input" : text_quote(path), s->text.schedule);
	if (t != NULL)
		s->t.schedule = schedule_from_table(t);
	table_free(t);
	if (s->t.schedule != NULL && schedule_sets_momentum(s->t.schedule) &&
	    s->t.o.given.momentum)
		return fail("%s: sets the momentum of each stage (--momentum "
		    "is for schedules without)", s->t.schedule->path);
	if (s->t.schedule == NULL || inputs_check_strides(s) != 0)
		return -1;
	if (s->comm->rank == 0 && !s->use.opens_again)
		schedule_advise(s->t.schedule);
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
		return fail("%s: 0 samples (wanted at least 1)",
		    text_quote(path));
	if (none == n)
		return fail("%s: none of its %u samples has a label "
		    "(vt-extract --label-from=dir or --annotations gives "
		    "labels)", text_quote(path), n);
	if (none > 0 && training)
		return fail("%s: %u of %u samples have no label, %s first",
		    text_quote(path), none, n, key);
	return 0;
}

/* Check that the classes for validation are those of training. */
static int
inputs_compare_classes(const struct session *s)
{
	char *file = path_join(s->t.o.data, "classes.txt");
	char *quoted = xstrdup(text_quote(file));
	char *whose = xstrdup(text_quote(s->t.o.data));
	int bad = class_compare(s->t.o.val, dataset_class_list(s->t.val), whose,
	    dataset_class_list(s->t.train), quoted);

	free(whose);
	free(quoted);
	free(file);
	return bad;
}

/* Open the set ${path}.  Return an exit status that is the same on all
 * ranks. */
static int
inputs_open_set(struct session *s, const char *path, int which)
{
	struct dataset **d = which == 0 ? &s->t.train : &s->t.val;
	int bad = -1;

	if (s->use.planned.samples > 0) {
		*d = planned_dataset(&s->use.planned, path);
		return 0;
	}
	if (s->use.plan[which] != NULL) {
		*d = planned_videos(s->use.plan[which], path);
		return 0;
	}
	if (access(path, F_OK) != 0 && errno == ENOENT)
		fail("%s: no such file or folder (wanted a packed set, a "
		    "folder of folders of videos, or a list of videos)",
		    text_quote(path));
	else if (file_is_dir(path) && access(path, R_OK | X_OK) == 0 &&
	    !manifest_exists(path))
		fail("%s: no manifest.json: not a packed set, or packing was "
		    "not finished; and no folders of videos (wanted "
		    "%s/CLASS/VIDEO)", text_quote(path), text_quote(path));
	else
		*d = dataset_open(path, &bad);
	return comm_agree(s->comm, *d != NULL ? 0 : exit_of(bad));
}

int
inputs_all_have(struct comm *c, const char *path)
{
	int64_t lacks = path == NULL;

	return comm_max(c, &lacks) == 0 && !lacks;
}

/*
 * Open --val.  If only some ranks have it, they open it without the others, and
 * identity_check names the difference later.
 */
static int
inputs_open_val(struct session *s)
{
	if (inputs_all_have(s->comm, s->t.o.val))
		return inputs_open_set(s, s->t.o.val, 1);
	if (s->t.o.val != NULL)
		s->t.val = dataset_open(s->t.o.val, NULL);
	return comm_agree(s->comm, s->t.o.val != NULL && s->t.val == NULL ?
	    EXIT_FAILED : 0);
}

static int
inputs_check_train(const struct session *s)
{
	if (inputs_check_labels(s->t.train, s->t.o.data, 1) != 0)
		return -1;
	return dataset_classes(s->t.train) >= 2 ? 0 :
	    fail("%s: %d classes (wanted at least 2)",
	    text_quote(s->t.o.data), dataset_classes(s->t.train));
}

/* Check the set of --val.  Rank 0 compares its recordings with those of
 * training. */
static int
inputs_check_val(const struct session *s)
{
	if (s->t.val == NULL)
		return 0;
	if (inputs_check_labels(s->t.val, s->t.o.val, 0) != 0 ||
	    inputs_compare_classes(s) != 0)
		return -1;
	if (s->comm->rank == 0 && !s->use.opens_again)
		holdout_compare(s->t.train, s->t.val);
	return 0;
}

/*
 * Divide the data into the samples that train and those that validate, as rank
 * 0 decides.  A replay does not validate.  Return an exit status that is the
 * same on all ranks.
 */
static int
inputs_hold_out(struct session *s)
{
	struct dataset *all = s->t.train;
	uint32_t n = dataset_samples(all), parts[2] = { 0 };
	uint32_t *number = xcalloc(2 * (size_t)n, sizeof(*number));
	char *held = xcalloc(n, 1);
	struct buffer table = { 0 };
	int status = 0;

	if (s->comm->rank == 0)
		status = exit_of(holdout_draw(all, s->t.o.holdout,
		    !s->use.opens_again, held, &table));
	status = comm_agree(s->comm, status);
	if (status == 0 && comm_broadcast(s->comm, held, n, 0) != 0)
		status = EXIT_RANKS;
	for (uint32_t i = 0; i < n && status == 0; i++)
		number[held[i] * n + parts[(int)held[i]]++] = i;
	if (status == 0) {
		s->text.split = table.data;
		s->t.train = dataset_part(all, number, parts[0]);
		if (s->use.replay == NULL)
			s->t.val = dataset_part(all, number + n, parts[1]);
		dataset_free(all);
	} else {
		buffer_free(&table);
	}
	free(held);
	free(number);
	return status;
}

static int
inputs_open_data(struct session *s)
{
	int status;

	if ((status = inputs_open_set(s, s->t.o.data, 0)) != 0 ||
	    (status = inputs_agree(s, inputs_check_train(s))) != 0)
		return status;
	if (s->t.o.holdout > 0)
		return inputs_hold_out(s);
	if ((status = inputs_open_val(s)) != 0)
		return status;
	return inputs_agree(s, inputs_check_val(s));
}

/* Return the first class whose name has the word left or right, NULL if there
 * is none. */
static const char *
inputs_side_class(const struct class_list *c)
{
	static const char *const sides[] = { "left", "right" };

	for (size_t k = 0; k < c->n; k++)
		for (int i = 0; i < 2; i++) {
			const char *name = c->name[k], *s = name;
			size_t n = strlen(sides[i]);

			for (; (s = strcasestr(s, sides[i])) != NULL; s += n)
				if ((s == name || !isalpha((unsigned char)
				    s[-1])) && !isalpha((unsigned char)s[n]))
					return name;
		}
	return NULL;
}

/* A run by rule flips no clips if a flip would show another class. */
static void
inputs_choose_flip(struct session *s)
{
	const char *name = inputs_side_class(dataset_class_list(s->t.train));

	if (!s->t.o.by_rule || s->t.o.flip_swap != NULL || name == NULL ||
	    !options_choose("flip", "no"))
		return;
	s->t.o.clips.flip = s->t.loading.crop.flip = 0;
	if (s->comm->rank == 0 && !s->use.opens_again)
		note("clips are not flipped, since a class is %s (--flip-swap "
		    "names classes that a flip swaps)", text_quote(name));
}

/* Read the table of classes that a flip swaps, from the file of rank 0. */
static int
inputs_open_flips(struct session *s)
{
	char *path, *text = NULL;
	int bad = 0;

	strcpy(s->text.flips, "none");
	inputs_choose_flip(s);
	if (s->t.o.flip_swap == NULL)
		return 0;
	path = s->comm->rank == 0 ? share_find("flips", s->t.o.flip_swap,
	    ".tsv") : NULL;
	if (comm_agree(s->comm, s->comm->rank == 0 && path == NULL) == 0)
		text = inputs_text(s->comm, path);
	bad = text == NULL || flip_map_parse(text_quote(path != NULL ? path :
	    s->t.o.flip_swap), text, dataset_class_list(s->t.train),
	    &s->flip_map) != 0;
	if (!bad)
		hash128_text(flip_map_hash(&s->flip_map), s->text.flips);
	free(text);
	free(path);
	return bad;
}

/* Warn about crops larger than all frames, for training at its largest shape
 * and for validation. */
static void
inputs_warn_crops(const struct session *s)
{
	const struct schedule *t = s->t.schedule;
	int crop = 0, last = 0;

	for (const struct cell *c = NULL; (c = schedule_cell(t, c)) != NULL;) {
		last = c->crop;
		crop = last > crop ? last : crop;
	}
	/* The frames of a plan are not those of the videos. */
	if (s->use.plan[0] == NULL)
		inputs_warn_crop(s->t.train, s->t.o.data, crop);
	if (s->t.val != NULL && s->use.plan[s->t.o.val != NULL] == NULL)
		inputs_warn_crop(s->t.val, dataset_path(s->t.val),
		    s->t.o.val_crop > 0 ? (int)s->t.o.val_crop : last);
}

/*
 * Set the weights of --class-weight, from a power or from the file of rank 0.
 */
static int
inputs_open_weights(struct session *s)
{
	const char *how = s->t.o.class_weight;
	double power;
	char *text;
	int bad;

	s->class_weight = xcalloc(s->balance->classes, sizeof(float));
	if (class_weights_power(how, &power) > 0) {
		class_weights_inverse(s->balance, power, s->class_weight);
		return 0;
	}
	if ((text = inputs_text(s->comm, how)) == NULL)
		return -1;
	bad = class_weights_parse(text_quote(how), text,
	    dataset_class_list(s->t.train), s->balance, s->class_weight);
	free(text);
	return bad;
}

/* Set the balance and the class weights of ${s}, as its options say, for its
 * training data.  Return 0, or -1 after a message. */
static int
inputs_open_imbalance(struct session *s)
{
	strcpy(s->text.class_weights, "none");
	if (s->t.o.balance <= 0 && s->t.o.class_weight == NULL)
		return 0;
	if (dataset_has_label_sets(s->t.train))
		return fail("%s: its samples have sets of classes (--%s is for "
		    "one class a sample)", text_quote(s->t.o.data),
		    s->t.o.balance > 0 ? "balance" : "class-weight");
	s->balance = class_balance_new(s->t.train, s->t.o.balance);
	if (s->t.o.class_weight == NULL)
		return 0;
	if (inputs_open_weights(s) != 0)
		return -1;
	hash128_text(class_weights_hash(s->class_weight, s->balance->classes),
	    s->text.class_weights);
	return 0;
}

int
inputs_open(struct session *s)
{
	int status;

	if ((status = inputs_open_data(s)) != 0 ||
	    (status = inputs_agree(s, inputs_open_schedule(s))) != 0 ||
	    (status = inputs_agree(s, inputs_open_flips(s))) != 0 ||
	    (status = inputs_agree(s, inputs_open_imbalance(s))) != 0)
		return status;
	if (s->comm->rank == 0 && !s->use.opens_again)
		inputs_warn_crops(s);
	return comm_agree(s->comm, input_network_open(s));
}

void
inputs_print_classes(const struct session *s, FILE *f)
{
	const struct class_balance *b = s->balance;

	for (uint32_t c = 0; b != NULL && c < b->classes; c++) {
		fprintf(f, "%-22s %u samples, %u visits an epoch (%.4g %%)",
		    "# class", class_balance_count(b, c), b->visits[c],
		    100.0 * b->visits[c] / b->samples);
		if (s->class_weight != NULL)
			fprintf(f, ", weight %.4g", (double)s->class_weight[c]);
		fprintf(f, ": %s\n", dataset_class(s->t.train, (int)c));
	}
}
