#ifndef CMD_OPTIONS_RULE_H
#define CMD_OPTIONS_RULE_H

/*
 * Make a schedule by rule from the options of vt-schedule(1): numbers, and
 * lists as text.  A wrong value ends the program with a message that names the
 * option (options_wrong).  Fields have the names of their options, or a
 * comment.
 */

#include <stdint.h>

#include "base/options.h"
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

/* The rows of these options. */
#define OPTION_RULE(r) \
	OPTION_HEADING("Shape and learning rate"), \
	{ 0, "policy", OPTION_CHOICE, &(r).policy, "NAME", \
	    "choose cycles: long, short, long+short (%)", \
	    "constant|long|short|long+short", 0, 0, OPTION_COMMON }, \
	{ 0, "batch", OPTION_INT, &(r).batch, "CLIPS", \
	    "set the clips of a base batch, over all ranks (%)", NULL, \
	    1, SCHEDULE_BATCH, OPTION_COMMON }, \
	{ 0, "frames", OPTION_INT, &(r).frames, "T", \
	    "set the frames of a clip at the base shape (%)", NULL, \
	    1, SCHEDULE_FRAMES, OPTION_COMMON }, \
	{ 0, "crop", OPTION_INT, &(r).crop, "PIXELS", \
	    "set the crop size at the base shape (%)", NULL, \
	    1, SCHEDULE_CROP, OPTION_COMMON }, \
	{ 0, "stride", OPTION_INT, &(r).stride, "FRAMES", \
	    "set the temporal stride (%: a frame of each segment)", NULL, \
	    0, 1024, OPTION_COMMON }, \
	{ 0, "lr", OPTION_REAL, &(r).lr, "LR", \
	    "set the learning rate of the base batch (%)", \
	    NULL, 0, 1e6, OPTION_COMMON }, \
	{ 0, "epochs", OPTION_INT, &(r).epochs, "N", \
	    "set the epochs of a schedule without cycles (%)", \
	    NULL, 1, SCHEDULE_EPOCHS, OPTION_COMMON }, \
	{ 0, "milestones", OPTION_TEXT, &(r).milestones, "LIST", \
	    "decay the lr after these epochs, or none (2/5, 4/5)", NULL, \
	    0, 0, OPTION_COMMON }, \
	{ 0, "gamma", OPTION_REAL, &(r).gamma, "X", \
	    "multiply the lr by X at each milestone (%)", NULL, 0, 1, 0 }, \
	{ 0, "lr-factors", OPTION_TEXT, &(r).factors, "LIST", \
	    "list the factors of --lr: 1, then each milestone's", NULL, \
	    0, 0, 0 }, \
	{ 0, "lr-policy", OPTION_CHOICE, &(r).decay, "NAME", \
	    "choose the decay: step, cosine, linear, power (%)", \
	    LR_POLICIES, 0, 0, OPTION_COMMON }, \
	{ 0, "lr-power", OPTION_INT, &(r).power, "N", \
	    "set the exponent of --lr-policy=power (%)", NULL, 2, LR_POWER_MAX, 0 }, \
	{ 0, "lr-end", OPTION_REAL, &(r).lr_end, "LR", \
	    "set the last lr of cosine, linear, power (%)", NULL, 0, 1e6, 0 }, \
	{ 0, "warmup-epochs", OPTION_REAL, &(r).warmup_epochs, "N", \
	    "warm up linearly over N epochs, not stretched (%)", NULL, \
	    0, SCHEDULE_EPOCHS, OPTION_COMMON }, \
	{ 0, "warmup-lr", OPTION_REAL, &(r).warmup_lr, "LR", \
	    "set the learning rate at which warm-up starts (%)", NULL, 0, 1e6, 0 }, \
	{ 0, "hold-lr", OPTION_CHOICE, &(r).hold, "WHAT", \
	    "hold nothing, the decay or all in an epoch (%)", \
	    "none|decay|all", 0, 0, 0 }, \
	{ 0, "batch-at", OPTION_TEXT, &(r).batch_at, "LIST", \
	    "grow the base batch at each epoch:clips in LIST", \
	    NULL, 0, 0, OPTION_COMMON }, \
	{ 0, "batch-scaling", OPTION_CHOICE, &(r).follow, "WHAT", \
	    "scale lr, momentum or none with --batch-at (%)", \
	    "lr|momentum|none", 0, 0, 0 }, \
	{ 0, "momentum", OPTION_REAL, &(r).momentum, "X", \
	    "set the initial momentum of --batch-scaling (%)", \
	    NULL, 0, MOMENTUM_MAX, 0 }, \
	OPTION_HEADING("Cycles"), \
	{ 0, "epoch-factor", OPTION_REAL, &(r).epoch_factor, "X", \
	    "stretch the epochs; 0: 1.5 with cycles, else 1 (%)", NULL, \
	    0, 100, 0 }, \
	{ 0, "long-factors", OPTION_TEXT, &(r).longs, "LIST", \
	    "set the long cycle: factors of frames x crop", NULL, \
	    0, 0, 0 }, \
	{ 0, "short-factors", OPTION_TEXT, &(r).shorts, "LIST", \
	    "set the short cycle: factors of the crop", NULL, 0, 0, 0 }, \
	{ 0, "fine-tune", OPTION_FLAG, &(r).fine_tune, NULL, \
	    "use the last long shape after the milestones (%)", NULL, \
	    0, 0, 0 }, \
	OPTION_HEADING("Batch normalization"), \
	{ 0, "bn", OPTION_CHOICE, &(r).bn, "RULE", \
	    "choose BN groups: constant or pyslowfast (%)", \
	    "constant|pyslowfast", 0, 0, 0 }, \
	{ 0, "bn-size", OPTION_INT, &(r).bn_size, "CLIPS", \
	    "set the BN group size (%: 8, or half the batch)", NULL, 0, SCHEDULE_BATCH, 0 }

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
