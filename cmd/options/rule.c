/* Make a schedule by rule, from checked settings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/options.h"
#include "base/text.h"
#include "sched/group.h"
#include "sched/growth.h"
#include "sched/multigrid.h"

#include "rule.h"

const char *const rule_options[] = { "policy", "batch", "frames", "crop",
	"stride", "lr", "epochs", "milestones", "gamma", "lr-factors",
	"lr-policy", "lr-power", "lr-end", "warmup-epochs", "warmup-lr",
	"hold-lr", "batch-at", "batch-scaling", "momentum", "epoch-factor", "long-factors",
	"short-factors", "fine-tune", "bn", "bn-size", NULL };

/* ---- lists ---- */

enum { ITEMS = 64, ITEM = 64 };	/* items of a list; bytes of an item */

/* Copy the next item of the comma-separated list ${*rest} to ${item}, and
 * advance ${*rest}.  Return 1, or 0 after the last item. */
static int
rule_next_item(const char **rest, char item[ITEM])
{
	size_t n;

	if (*rest == NULL)
		return 0;
	n = strcspn(*rest, ",");
	snprintf(item, ITEM, "%.*s", (int)n, *rest);
	*rest = (*rest)[n] == ',' ? *rest + n + 1 : NULL;
	return 1;
}

/* End the program if a list already has ${largest} items, the maximum. */
static void
rule_check_length(const char *option, int n, int largest)
{
	if (n == largest)
		options_wrong("--%s: more than %d items", option, largest);
}

static int
rule_read_milestones(const struct rule *r, int fall[ITEMS])
{
	const char *list = r->milestones;
	int64_t before = 0, at;
	char item[ITEM];
	int n = 0;

	if (list == NULL) {	/* 2/5 and 4/5: TSM has 20 and 40 of 50 */
		for (int part = 2; part <= 4; part += 2)
			if (r->epochs * part / 5 > (n > 0 ? fall[n - 1] : 0))
				fall[n++] = (int)(r->epochs * part / 5);
		return n;
	}
	if (strcmp(list, "none") == 0)
		return 0;
	for (; rule_next_item(&list, item); n++) {
		rule_check_length("milestones", n, ITEMS);
		if (text_int(item, before + 1, r->epochs - 1, &at) != 0)
			options_wrong("--milestones: %s (wanted epochs, rising, from "
			    "1 to --epochs - 1 = %d, such as 20,40; or none)",
			    text_quote(item), (int)r->epochs - 1);
		fall[n] = (int)at;
		before = at;
	}
	return n;
}

/* Parse ${list} to ${to}[${max}].  It must have ${wanted} numbers (0: any
 * number).  Return their number. */
static int
rule_read_numbers(const char *option, const char *list, double min, double max,
    int wanted, double *to, int largest)
{
	char item[ITEM];
	int n = 0;

	for (; rule_next_item(&list, item); n++) {
		rule_check_length(option, n, largest);
		if (text_real(item, min, max, &to[n]) != 0)
			options_wrong("--%s: %s (wanted a number from %g to %g)",
			    option, text_quote(item), min, max);
	}
	if (wanted > 0 && n != wanted)
		options_wrong("--%s: %d numbers (wanted %d, one more than "
		    "milestones)", option, n, wanted);
	return n;
}

static int
rule_read_longs(const char *list, struct long_factor f[ITEMS])
{
	char item[ITEM];
	int n = 0;

	for (; rule_next_item(&list, item); n++) {
		char *rest = item, *frames = strsep(&rest, "x");

		rule_check_length("long-factors", n, ITEMS);
		if (rest == NULL ||
		    text_real(frames, 1e-6, 1, &f[n].frames) != 0 ||
		    text_real(rest, 1e-6, 1, &f[n].crop) != 0)
			options_wrong("--long-factors: %s%s%s (wanted frames x "
			    "crop, above 0 and up to 1, such as 0.5x0.7071)",
			    frames, rest != NULL ? "x" : "",
			    rest != NULL ? rest : "");
	}
	return n;
}

static int
rule_read_grows(const char *list, struct growth_at g[ITEMS])
{
	int64_t before = 0, epoch, batch;
	char item[ITEM];
	int n = 0;

	for (; list != NULL && rule_next_item(&list, item); n++) {
		char *rest = item, *at = strsep(&rest, ":");

		rule_check_length("batch-at", n, ITEMS);
		if (rest == NULL || text_int(at, before + 1, SCHEDULE_EPOCHS,
		    &epoch) != 0 || text_int(rest, 1, SCHEDULE_BATCH,
		    &batch) != 0)
			options_wrong("--batch-at: %s%s%s (wanted epoch:clips, "
			    "epochs rising from 1, such as 30:512,60:1024)", at,
			    rest != NULL ? ":" : "", rest != NULL ? rest : "");
		g[n] = (struct growth_at){ (int)epoch, (int)batch };
		before = epoch;
	}
	return n;
}

/* ---- making ---- */

static int
rule_has_long(const struct rule *r)
{
	return r->policy == RULE_LONG || r->policy == RULE_LONG_SHORT;
}

static int
rule_has_short(const struct rule *r)
{
	return r->policy == RULE_SHORT || r->policy == RULE_LONG_SHORT;
}

void
rule_warn(const struct rule *r)
{
	int steps = r->decay == LR_FLAT;
	const struct { const char *name; int used; const char *why; } vain[] = {
		{ "long-factors", rule_has_long(r), "without a long cycle" },
		{ "fine-tune", rule_has_long(r), "without a long cycle" },
		{ "short-factors", rule_has_short(r), "without a short cycle" },
		{ "warmup-lr", r->warmup_epochs > 0,
		    "without --warmup-epochs" },
		{ "gamma", r->factors == NULL && steps, steps ?
		    "with --lr-factors" : "without --lr-policy=step" },
		{ "lr-factors", steps, "without --lr-policy=step" },
		{ "milestones", steps || rule_has_long(r),
		    "without --lr-policy=step or a long cycle" },
		{ "lr-end", !steps, "with --lr-policy=step" },
		{ "lr-power", r->decay == LR_POWER,
		    "without --lr-policy=power" },
		{ "batch-scaling", r->batch_at != NULL, "without --batch-at" },
		{ "momentum", r->batch_at != NULL && r->follow == FOLLOW_MOMENTUM,
		    "without --batch-scaling=momentum" } };

	for (size_t i = 0; i < sizeof(vain) / sizeof(vain[0]); i++)
		if (!vain[i].used && options_on_line(vain[i].name))
			warning("--%s has no effect %s", vain[i].name,
			    vain[i].why);
}

/* Set the decay of the learning rate: its kind, and the factor after each
 * milestone, in ${factor}[ITEMS + 1]. */
static void
rule_set_decay(const struct rule *r, struct multigrid *m, double *factor)
{
	m->decay = (enum rate_kind)r->decay;
	m->power = (int)r->power;
	m->lr_end = r->lr_end;
	m->factor = factor;
	for (int j = 0; j <= m->milestones; j++)
		factor[j] = r->decay == LR_FLAT ? pow(r->gamma, j) : 1;
	if (r->factors != NULL && r->decay == LR_FLAT)
		rule_read_numbers("lr-factors", r->factors, 0, 1e6,
		    m->milestones + 1, factor, ITEMS + 1);
}

/* Return the schedule without BN groups, or NULL after a message. */
static struct schedule *
rule_make(const struct rule *r)
{
	struct multigrid m = {
		.batch = (int)r->batch, .frames = (int)r->frames,
		.crop = (int)r->crop, .stride = (int)r->stride,
		.epochs = (int)r->epochs, .lr = r->lr,
		.epoch_factor = r->epoch_factor,
		.warmup_epochs = r->warmup_epochs, .warmup_lr = r->warmup_lr,
		.hold = (enum rate_hold)r->hold,
		.fine_tune = r->fine_tune
	};
	struct long_factor longs[ITEMS];
	double shorts[SCHEDULE_CYCLE - 1], factor[ITEMS + 1];
	struct growth_at grows[ITEMS];
	int fall[ITEMS], n = rule_read_grows(r->batch_at, grows);
	struct schedule *s;

	m.milestone = fall;
	m.long_factor = longs;
	m.short_factor = shorts;
	/* Milestones matter for the step policy, and for the long cycle, which
	 * ends its last shape at them. */
	if (r->decay == LR_FLAT || rule_has_long(r))
		m.milestones = rule_read_milestones(r, fall);
	rule_set_decay(r, &m, factor);
	if (m.epoch_factor == 0)
		m.epoch_factor = r->policy == RULE_CONSTANT ? 1 : 1.5;
	if (rule_has_long(r))
		m.longs = rule_read_longs(r->longs, longs);
	if (rule_has_short(r))
		m.shorts = rule_read_numbers("short-factors", r->shorts, 1e-6,
		    1, 0, shorts, SCHEDULE_CYCLE - 1);
	if (rule_has_long(r) && m.fine_tune && m.milestones == 0)
		options_wrong("--policy: without a milestone a long cycle has no epochs, "
		    "all would be fine-tuning (wanted --milestones, or "
		    "--no-fine-tune)");
	if (m.hold != HOLD_NONE && (m.lr == 0 || m.warmup_epochs !=
	    floor(m.warmup_epochs) || m.warmup_epochs == 1))
		options_wrong("--hold-lr=%s with --lr=%g --warmup-epochs=%g "
		    "(wanted a learning rate above 0, and 0 or at least 2 whole "
		    "epochs)", r->hold == HOLD_ALL ? "all" : "decay", m.lr,
		    m.warmup_epochs);
	s = multigrid_schedule(&m);
	if (s != NULL && schedule_grow(s, m.batch, grows, n,
	    (enum follow)r->follow, r->momentum) != 0) {
		schedule_free(s);
		return NULL;
	}
	return s;
}

struct schedule *
rule_schedule(struct rule *r)
{
	struct schedule *s = rule_make(r);
	int bad;

	if (s == NULL)
		return NULL;
	if (r->bn_size == 0)
		r->bn_size = r->bn == BN_CONSTANT ? group_default(s) : 8;
	bad = r->bn == BN_CONSTANT ? group_constant(s, (int)r->bn_size) :
	    group_pyslowfast(s, (int)r->bn_size, (int)r->ranks,
	    rule_has_long(r));
	if (bad) {
		schedule_free(s);
		return NULL;
	}
	return s;
}
