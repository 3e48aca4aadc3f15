#ifndef CMD_OPTIONS_RULE_H
#define CMD_OPTIONS_RULE_H

/*
 * Make a schedule by rule from the options of vt-schedule(1): numbers, and
 * lists as text.  A wrong value ends the program with a message that names the
 * option (options_wrong).  Fields have the names of their options, or a
 * comment.
 */

#include <stdint.h>

#include "sched/schedule.h"

enum rule_policy { RULE_CONSTANT, RULE_LONG, RULE_SHORT, RULE_LONG_SHORT };
enum rule_bn { BN_CONSTANT, BN_PYSLOWFAST };

struct rule {
	int policy, bn, fine_tune;
	int decay, follow;		/* enum rate_kind, of --lr-policy;
					 * enum follow */
	int64_t batch, frames, crop, stride, epochs, bn_size, ranks, power;
	double lr, lr_end, gamma, epoch_factor, warmup_epochs, warmup_lr;
	int hold;			/* enum rate_hold */
	double momentum;
	const char *milestones;		/* --milestones; NULL: 2/5 and 4/5 */
	const char *factors;		/* --lr-factors; NULL: of gamma */
	const char *longs, *shorts;	/* --long-factors, --short-factors */
	const char *batch_at;		/* --batch-at; NULL: nowhere */
};

/* The defaults. */
#define RULE_SETTINGS { .fine_tune = 1, .batch = 64, .frames = 8, .crop = 224, \
	.epochs = 50, .ranks = 1, .power = 2, .lr = 0.01, .gamma = 0.1, \
	.momentum = 0.9, .longs = "0.25x0.7071067811865476," \
	"0.5x0.7071067811865476,0.5x1,1x1", \
	.shorts = "0.5,0.7071067811865476" }

/* Names of the options that shape a schedule, up to a NULL. */
extern const char *const rule_options[];

/*
 * rule_schedule(r):
 * Return the schedule of ${r}, which the caller frees (schedule_free), or NULL
 * after a message if the numbers allow none.  If ${r}->bn_size is 0, set it to
 * the size that was chosen.
 */
struct schedule *rule_schedule(struct rule *r);

/* rule_warn(r): print a warning for each option on the command line that has no
 * effect.  A file of settings may serve every policy. */
void rule_warn(const struct rule *r);

#endif
