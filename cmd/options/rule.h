#ifndef CMD_OPTIONS_RULE_H
#define CMD_OPTIONS_RULE_H

/*
 * A schedule by rule, from what a person sets: numbers, and lists as text.
 * Wrong ones are usage errors that name their option and end the program
 * (options_wrong); the options are called as the fields here, or as said.
 */

#include <stdint.h>

#include "sched/schedule.h"

enum rule_policy { RULE_CONSTANT, RULE_LONG, RULE_SHORT, RULE_LONG_SHORT };
enum rule_decay { DECAY_STEP, DECAY_COSINE, DECAY_LINEAR, DECAY_POWER };
enum rule_bn { BN_CONSTANT, BN_PYSLOWFAST };

struct rule {
	int policy, bn, fine_tune;
	int decay, follow;		/* --lr-policy; enum follow */
	int64_t batch, frames, crop, stride, epochs, bn_size, ranks, power;
	double lr, lr_end, gamma, epoch_factor, warmup_epochs, warmup_lr;
	double momentum;
	const char *falls;		/* --milestones; NULL: 2/5 and 4/5 */
	const char *factors;		/* --lr-factors; NULL: of gamma */
	const char *longs, *shorts;	/* --long-factors, --short-factors */
	const char *grows;		/* --batch-at; NULL: nowhere */
};

/* What is so unless it is set. */
#define RULE_SETTINGS { .fine_tune = 1, .batch = 64, .frames = 8, .crop = 224, \
	.epochs = 50, .ranks = 1, .power = 2, .lr = 0.01, .gamma = 0.1, \
	.momentum = 0.9, .longs = "0.25x0.7071067811865476," \
	"0.5x0.7071067811865476,0.5x1,1x1", \
	.shorts = "0.5,0.7071067811865476" }

/* Options that shape a schedule, up to a NULL. */
extern const char *const rule_options[];

/*
 * rule_schedule(r): the schedule, schedule_free's; NULL after a message if the
 * numbers give none.  A bn_size of 0 becomes what was chosen.
 */
struct schedule *rule_schedule(struct rule *r);

/* rule_warn(r): a warning for each option that was set in vain. */
void rule_warn(const struct rule *r);

#endif
