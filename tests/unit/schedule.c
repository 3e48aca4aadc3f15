/*
 * Schedules: tables are read, printed and refused by place; steps follow the
 * definition; learning rates, BN groups and the multigrid rule give the
 * expected values.
 */
#include <stdint.h>

#include "base/fail.h"
#include "base/mem.h"
#include "sched/group.h"
#include "sched/multigrid.h"
#include "sched/schedule.h"
#include "sched/summary.h"

#include "said.h"
#include "schedule_lr.h"
#include "tap.h"

#define HEAD "#stage\tepoch_begin\tepoch_end\tcycle\tbatch\tframes\tcrop\tbn\tlr" \
    "\tstride_min\tstride_max\n"
#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static struct schedule *
parse(const char *rows)
{
	char *text = xprintf("%s%s", HEAD, rows);
	struct table *t = table_parse("t.tsv", text);
	struct schedule *s = t != NULL ? schedule_from_table(t) : NULL;

	free(text);
	table_free(t);
	return s;
}

/* Parse rows with blanks instead of tabs, which are easier to read here. */
static struct schedule *
parse_blanks(const char *rows)
{
	char *text = xstrdup(rows);
	struct schedule *s;

	for (char *c = text; *c != '\0'; c++)
		if (*c == ' ')
			*c = '\t';
	s = parse(text);
	free(text);
	return s;
}

/*
 * Two stages of different short cycles, with batches chosen so that nothing
 * divides evenly.
 */
static const char uneven[] =
    "0 0 3 0 16 4 112 8 0.01@0..0.2@1.5,0.2 1 2\n"
    "0 0 3 1 8 4 158 8 0.01@0..0.2@1.5,0.2 1 2\n"
    "0 0 3 2 4 4 224 2/4 0.01@0..0.2@1.5,0.2 1 2\n"
    "1 3 7 0 6 8 224 3 0.02 1 1\n"
    "1 3 7 1 2 8 224 1 0.02 1 1\n";

/* ---- tables ---- */

static void
test_round_trip(void)
{
	static const double odd[] = { 0.1, 0.010000000000000002, 1e-300, 0,
		0.30000000000000004, 1.0 / 3, 2e8 / 7 };
	struct schedule *s = parse_blanks(uneven), *back;
	char *text = schedule_text(s), *again, *rows;
	struct table *t = table_parse("again", text);

	is(s->stages, 2, "a table has two stages");
	is(s->stage[0].cells, 3, "the first stage has three cells");
	is(s->stage[0].cell[2].group, 2, "a bn of 2/4 has groups of 2");
	is(s->stage[0].cell[2].run, 4,
	    "a bn of 2/4 interleaves groups in runs of 4");
	is(schedule_epochs(s), 7, "the table has seven epochs");
	back = schedule_from_table(t);
	again = schedule_text(back);
	is_text(again, text, "a table that is read prints the same");
	table_free(t);
	schedule_free(back);
	schedule_free(s);
	free(text);
	free(again);
	text = xprintf("# a comment\n#lr\tstride_max\tstage\tnote\tepoch_begin\tbatch"
	    "\tcycle\tframes\tepoch_end\tcrop\tstride_min\tbn\n"
	    "0.5\t0\t0\thello\t0\t4\t0\t8\t5\t32\t0\t4\n");
	t = table_parse("moved", text);
	back = schedule_from_table(t);
	again = schedule_text(back);
	is_text(again, HEAD "0\t0\t5\t0\t4\t8\t32\t4\t0.5\t0\t0\n",
	    "columns may be moved, added and commented");
	table_free(t);
	schedule_free(back);
	free(text);
	free(again);
	for (size_t i = 0; i < LENGTH(odd); i++) {
		rows = xprintf("0\t0\t9\t0\t4\t1\t1\t4\t%.17g@0..%.17g@%.17g,%.17g"
		    "\t0\t0\n", odd[i], odd[i] / 3, 8.1, odd[i] / 7);
		s = parse(rows);
		text = schedule_text(s);
		t = table_parse("odd", text);
		back = schedule_from_table(t);
		ok(s->stage[0].lr[0].r0 == odd[i] &&
		    back->stage[0].lr[0].r0 == odd[i] &&
		    back->stage[0].lr[0].r1 == odd[i] / 3 &&
		    back->stage[0].lr[0].e1 == 8.1 &&
		    back->stage[0].lr[1].r0 == odd[i] / 7,
		    "%.17g survives printing and reading to the last bit",
		    odd[i]);
		table_free(t);
		schedule_free(s);
		schedule_free(back);
		free(text);
		free(rows);
	}
}

/* A table and the message that must refuse it. */
static const struct { const char *rows, *message; } bad[] = {
	{ "", "t.tsv: no rows under the header" },
	{ "1 0 9 0 8 8 32 8 0.1 0 0\n", "t.tsv:2: column stage: 1 (wanted 0)" },
	{ "x 0 9 0 8 8 32 8 0.1 0 0\n", "t.tsv:2: column stage: x (wanted an i" },
	{ "0 1 9 0 8 8 32 8 0.1 0 0\n",
	    "t.tsv:2: column epoch_begin: 1 (wanted 0, the first epoch)" },
	{ "0 0 0 0 8 8 32 8 0.1 0 0\n", "t.tsv:2: column epoch_end: 0 (wanted an" },
	{ "0 0 9 0 8 8 32 8 0.1 0 0\n1 9 9 0 8 8 32 8 0.1 0 0\n",
	    "t.tsv:3: column epoch_end: 9 (wanted more than epoch_begin, 9" },
	{ "0 0 9 0 8 8 32 8 0.1 0 0\n1 10 20 0 8 8 32 8 0.1 0 0\n",
	    "t.tsv:3: column epoch_begin: 10 (wanted 9, where the stage before ends)" },
	{ "0 0 9 0 8 8 32 8 0.1 0 0\n1 8 20 0 8 8 32 8 0.1 0 0\n",
	    "t.tsv:3: column epoch_begin: 8 (wanted 9" },
	{ "0 0 9 0 8 8 32 8 0.1 0 0\n2 9 20 0 8 8 32 8 0.1 0 0\n",
	    "t.tsv:3: column stage: 2 (wanted 1)" },
	{ "0 0 9 1 8 8 32 8 0.1 0 0\n",
	    "t.tsv:2: column cycle: 1 (wanted 0 in the first row" },
	{ "0 0 9 0 8 8 32 8 0.1 0 0\n0 0 9 2 8 8 32 8 0.1 0 0\n",
	    "t.tsv:3: column cycle: 2 (wanted 1, the next of stage 0)" },
	{ "0 0 9 0 8 8 32 8 0.1 0 0\n0 0 9 0 8 8 32 8 0.1 0 0\n",
	    "t.tsv:3: column cycle: 0 (wanted 1" },
	{ "0 0 9 0 8 8 32 8 0.1 0 0\n0 0 8 1 8 8 32 8 0.1 0 0\n",
	    "t.tsv:3: column epoch_end: 8 (wanted 9, as in line 2" },
	{ "0 0 9 0 8 8 32 8 0.1 0 0\n0 0 9 1 8 8 32 8 0.2 0 0\n",
	    "t.tsv:3: column lr: 0.2 (wanted 0.1, as in line 2" },
	{ "0 0 9 0 0 8 32 8 0.1 0 0\n", "t.tsv:2: column batch: 0 (wanted" },
	{ "0 0 9 0 8 0 32 8 0.1 0 0\n", "t.tsv:2: column frames: 0 (wanted" },
	{ "0 0 9 0 8 8 1.5 8 0.1 0 0\n", "t.tsv:2: column crop: 1.5 (wanted" },
	{ "0 0 9 0 12 8 32 8 0.1 0 0\n",
	    "t.tsv:2: column bn: a batch of 12 is not a whole number of groups" },
	{ "0 0 9 0 8 8 32 16 0.1 0 0\n", "t.tsv:2: column bn: 16 (wanted clips" },
	{ "0 0 9 0 8 8 32 3/8 0.1 0 0\n",
	    "t.tsv:2: column bn: 3/8: 8 clips are not a whole number" },
	{ "0 0 9 0 24 8 32 8/16 0.1 0 0\n",
	    "t.tsv:2: column bn: a batch of 24 is not" },
	{ "0 0 9 0 8 8 32 8/ 0.1 0 0\n", "t.tsv:2: column bn: 8/ (wanted" },
	{ "0 0 9 0 8 8 32 8 0.1 3 2\n",
	    "t.tsv:2: column stride_max: 2 (wanted at least stride_min, 3)" },
	{ "0 0 9 0 8 8 32 8 0.1 0 2\n", "t.tsv:2: column stride_min: 0 with" },
	{ "0 0 9 0 8 8 32 8 fast 0 0\n", "t.tsv:2: column lr: fast (wanted a l" },
	{ "0 0 9 0 8 8 32 8 -0.1 0 0\n", "t.tsv:2: column lr: -0.1 (wanted a l" },
	{ "0 0 9 0 8 8 32 8 nan 0 0\n", "t.tsv:2: column lr: nan (wanted a l" },
	{ "0 0 9 0 8 8 32 8 0.1@0 0 0\n", "t.tsv:2: column lr: 0.1@0 (wanted a" },
	{ "0 0 9 0 8 8 32 8 0@0..1,1 0 0\n",
	    "t.tsv:2: column lr: 0@0..1 (wanted lr@epoch..lr@epoch" },
	{ "0 0 9 0 8 8 32 8 0@5..1@5,1 0 0\n",
	    "t.tsv:2: column lr: 0@5..1@5 begins at epoch 5 and ends at 5" },
	{ "0 0 9 0 8 8 32 8 0.01@5..0.2@10 0 0\n",
	    "t.tsv:2: column lr: 0.01@5..0.2@10 is -0.18 at epoch 0" },
	{ "0 0 9 0 8 8 32 8 0@0..1@5e-324,1 0 0\n",
	    "t.tsv:2: column lr: 0@0..1@5e-324 is " },
	{ "0 0 9 0 8 8 32 8 1e400 0 0\n",
	    "t.tsv:2: column lr: 1e400 (wanted a l" },
	{ "0 0 9 0 99999999999999999999 8 32 8 1 0 0\n",
	    "t.tsv:2: column batch: 99999999999999999999 (wanted" },
	{ "0 0 9 0 8 8 32 8 0@0..1@5 0 0\n",
	    "t.tsv:2: column lr: 0@0..1@5 ends at epoch 5, and the stage at 9" },
	{ "0 0 9 0 8 8 32 8 0@0..1@9,1 0 0\n",
	    "t.tsv:2: column lr: 1 never applies: the piece before it holds to "
	    "epoch 9, and the stage ends at 9" },
	{ "0 0 9 0 8 8 32 8 1,0@0..1@9 0 0\n",
	    "t.tsv:2: column lr: 1 has no end" },
	{ "0 0 9 0 8 8 32 8 0@0..1@5,0@0..1@4,1 0 0\n",
	    "t.tsv:2: column lr: 0@0..1@4 never applies: it ends at epoch 4" },
	{ "0 0 9 0 8 8 32 8 0@0..1@5, 0 0\n",
	    "t.tsv:2: column lr: \"\" (wanted" },
};

static void
test_bad_tables(void)
{
	char why[512];
	struct table *t;
	struct schedule *s;

	for (size_t i = 0; i < LENGTH(bad); i++) {
		said_begin(why, sizeof(why));
		s = parse_blanks(bad[i].rows);
		said_end();
		if (!ok(s == NULL && strncmp(why, bad[i].message,
		    strlen(bad[i].message)) == 0, "a table is refused: %s",
		    bad[i].message))
			diag("said: %s", why);
		schedule_free(s);
	}
	said_begin(why, sizeof(why));
	t = table_parse("t.tsv", "#stage\tepoch_begin\tepoch_end\tcycle\tbatch\tframes\tcrop"
	    "\tlr\tstride_min\tstride_max\n0\t0\t9\t0\t8\t8\t32\t0.1\t0\t0\n");
	s = schedule_from_table(t);
	said_end();
	ok(s == NULL && strstr(why, "no column bn") != NULL,
	    "the message names a missing column");
	table_free(t);
}

/* ---- learning rates ---- */

static void
test_rates(void)
{
	struct schedule *s = parse_blanks(
	    "0 0 2 0 8 1 1 8 0.01@0..0.4@5 0 0\n"
	    "1 2 9 0 8 1 1 8 0.01@0..0.4@5,0.4@5..0.1@8,0.05 0 0\n"
	    "2 9 12 0 8 1 1 8 0.01 0 0\n");
	int same = 1;

	/*
	 * The line continues into the next stage: one warm-up over two stages.
	 */
	for (double e = 0; e < 5; e += 0.0625)
		same &= schedule_lr(s, e) == e * ((0.4 - 0.01) / 5) + 0.01;
	ok(same, "a piece is learning rate + epoch * slope, to the last bit");
	near(schedule_lr(s, 5), 0.4, 0,
	    "the next piece begins where the first ends");
	near(schedule_lr(s, 6.5), 0.25, 1e-15, "a falling piece");
	near(schedule_lr(s, 8), 0.05, 0, "a constant piece");
	near(schedule_lr(s, 9), 0.01, 0, "the next stage");
	near(schedule_lr(s, 99), 0.01, 0,
	    "the last piece holds beyond the last epoch");
	is(schedule_stage(s, 8) - s->stage, 1, "epoch 8 is in stage 1");
	is(schedule_stage(s, 9) - s->stage, 2, "epoch 9 is in stage 2");
	schedule_free(s);
}

/* ---- steps ---- */

/*
 * Compare the steps with their definition.  A step takes the clips after those
 * of the last step, and its epoch is that of its first clip.  The first step of
 * an epoch takes cell 0.
 */
static int
walk_is_right(const struct schedule *s, uint64_t n, uint64_t *steps,
    int *straddles)
{
	struct schedule_step at = schedule_start(s, n);
	uint64_t clip = 0, step = 0;
	int epoch = 0, turn = 0, good = 1;

	*straddles = 0;
	while (clip / n < (uint64_t)schedule_epochs(s)) {
		int e = (int)(clip / n), k = 0;
		const struct cell *c;

		while (e >= s->stage[k].epoch_end)
			k++;
		turn = e != epoch || step == 0 ? 0 : turn + 1;
		epoch = e;
		c = &s->stage[k].cell[turn % s->stage[k].cells];
		good &= at.cell == c && at.clip == clip && at.step == step &&
		    at.epoch == e && at.stage == k &&
		    at.cycle_position == turn % s->stage[k].cells &&
		    at.exact_epoch == (double)clip / (double)n &&
		    at.lr == schedule_lr(s, at.exact_epoch);
		clip += (uint64_t)c->batch;
		*straddles += clip % n != 0 && (int)(clip / n) != e;
		step++;
		at = schedule_next(s, n, &at);
	}
	good &= at.cell == NULL && at.step == step && at.clip == clip;
	*steps = step;
	return good;
}

static int
same_step(const struct schedule_step *a, const struct schedule_step *b)
{
	return a->step == b->step && a->clip == b->clip && a->cell == b->cell &&
	    a->epoch == b->epoch && a->stage == b->stage &&
	    a->cycle_position == b->cycle_position &&
	    a->lr == b->lr && a->exact_epoch == b->exact_epoch;
}

static void
test_walk(uint64_t n)
{
	struct schedule *s = parse_blanks(uneven);
	struct schedule_step at = schedule_start(s, n), found;
	uint64_t steps, count[2][SCHEDULE_CYCLE], sum = 0, clips = 0;
	uint64_t walked[2][SCHEDULE_CYCLE] = { 0 };
	int straddles, same = 1, good;

	good = walk_is_right(s, n, &steps, &straddles);
	ok(good, "%d samples: every step is as defined, %d batches cross epochs",
	    (int)n, straddles);
	for (uint64_t t = 0; t <= steps; t++) {
		found = schedule_seek(s, n, t);
		same &= same_step(&at, &found);
		if (at.cell != NULL)
			walked[at.stage][at.cycle_position]++;
		at = schedule_next(s, n, &at);
	}
	ok(same, "schedule_seek gives the steps of schedule_next");
	found = schedule_seek(s, n, steps + 1000);
	ok(same_step(&at, &found),
	    "schedule_seek beyond the last step gives the end");
	is((long long)schedule_steps(s, n), (long long)steps,
	    "schedule_steps counts the steps");
	schedule_count(s, n, count);
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < s->stage[i].cells; k++) {
			same &= count[i][k] == walked[i][k];
			sum += count[i][k];
			clips += count[i][k] * (uint64_t)s->stage[i].cell[k].batch;
		}
	ok(same && sum == steps && clips == at.clip,
	    "schedule_count counts the steps of each cell");
	schedule_free(s);
}

/* A million epochs of a billion clips: counting must not visit each step. */
static void
test_long_walk(void)
{
	struct schedule *s = parse("0\t0\t1000000\t0\t1\t1\t1\t1\t0.1\t0\t0\n");

	ok(schedule_steps(s, 1000000000) == 1000000000000000,
	    "10^15 steps are counted at once");
	is(schedule_seek(s, 1000000000, 999999999999999).epoch, 999999,
	    "the last of 10^15 steps is found");
	schedule_free(s);
}

/* ---- the hash of past steps ---- */

static int
same_past(const char *a, const char *b, uint64_t na, uint64_t nb, uint64_t step)
{
	struct schedule *s = parse_blanks(a), *t = parse_blanks(b);
	int same = hash128_equal(schedule_prefix_hash(s, na, step),
	    schedule_prefix_hash(t, nb, step));

	schedule_free(s);
	schedule_free(t);
	return same;
}

static void
test_prefix(void)
{
	static const char one[] = "0 0 9 0 8 8 32 8 0.1 0 0\n";
	static const char cut[] = "0 0 4 0 8 8 32 8 0.1 0 0\n"
	    "1 4 9 0 8 8 32 8 0.1 0 0\n";
	static const char later[] = "0 0 4 0 8 8 32 8 0.1 0 0\n"
	    "1 4 9 0 8 8 32 8 0.01 0 0\n";
	static const char longer[] = "0 0 90 0 8 8 32 8 0.1 0 0\n";
	static const char bit[] =
	    "0 0 9 0 8 8 32 8 0.10000000000000002 0 0\n";
	static const char group[] = "0 0 9 0 8 8 32 4 0.1 0 0\n";
	static const char mixed[] = "0 0 9 0 8 8 32 4/8 0.1 0 0\n";

	/* 40 samples, batches of 8: epoch 4 begins with step 20. */
	ok(same_past(one, one, 40, 40, 45),
	    "past: the same table has the same hash");
	ok(same_past(one, cut, 40, 40, 45),
	    "past: splitting a stage does not change the hash");
	ok(same_past(one, longer, 40, 40, 45),
	    "past: more epochs do not change the hash");
	ok(same_past(one, later, 40, 40, 20),
	    "past: a later change does not change the hash");
	ok(!same_past(one, later, 40, 40, 21),
	    "past: a change in a past step changes the hash");
	ok(!same_past(one, bit, 40, 40, 1),
	    "past: the last bit of a learning rate changes the hash");
	ok(same_past(one, bit, 40, 40, 0), "past: not before the first step");
	ok(!same_past(one, group, 40, 40, 1),
	    "past: BN groups change the hash");
	ok(!same_past(group, mixed, 40, 40, 1),
	    "past: interleaving of BN groups changes the hash");
	ok(!same_past(one, one, 40, 41, 1),
	    "past: the number of samples changes the hash");
	ok(same_past(one, longer, 40, 40, 45) &&
	    !same_past(one, longer, 40, 40, 46),
	    "past: the end of the schedule is part of the hash");
}

/* ---- BN groups ---- */

static void
test_groups(void)
{
	static const struct cell block = { 16, 1, 1, 4, 0, 0, 0 };
	static const struct cell mixed = { 16, 1, 1, 4, 8, 0, 0 };
	struct schedule *s = parse_blanks("0 0 1 0 12 1 1 1 0.1 0 0\n"
	    "0 0 1 1 8 1 1 1 0.1 0 0\n");
	char why[256];
	int seen[16] = { 0 }, all = 1, rule = 1;

	is(cell_clip(&block, 2, 3), 11,
	    "without interleaving, a group has consecutive clips");
	for (int g = 0; g < 4; g++)
		for (int i = 0; i < 4; i++) {
			int at = cell_clip(&mixed, g, i);

			seen[at]++;
			/* clip j of each 8 belongs to their group j mod 2 */
			rule &= at / 8 == g / 2 && at % 8 % 2 == g % 2;
		}
	for (int i = 0; i < 16; i++)
		all &= seen[i] == 1;
	ok(all && rule, "interleaved groups take each clip once, by remainder");
	said_begin(why, sizeof(why));
	is(group_constant(s, 8), -1, "a batch of 12 in groups of 8 is refused");
	said_end();
	ok(strstr(why, "stage 0, cycle 0: a batch of 12") != NULL &&
	    strstr(why, "groups of 4 fit all batches") != NULL,
	    "the message names the cell and a possible size, 4");
	is(group_constant(s, 4), 0, "groups of 4 are accepted");
	is(s->stage[0].cell[0].group, 4, "both cells get groups of 4");
	said_begin(why, sizeof(why));
	is(group_pyslowfast(s, 8, 5, 1), -1,
	    "12 clips for 5 devices are refused");
	said_end();
	ok(strstr(why, "shared equally by 5 devices") != NULL,
	    "the message says that shares are unequal");
	said_begin(why, sizeof(why));
	is(group_pyslowfast(s, 4, 6, 1), -1,
	    "unequal shares of devices are refused");
	said_end();
	diag("%s", why);
	schedule_free(s);
}

/* ---- the multigrid rule ---- */

static const struct long_factor quarter[] = { { 0.25, 0.7071067811865476 },
	{ 0.5, 0.7071067811865476 }, { 0.5, 1 }, { 1, 1 } };
static const double halves[] = { 0.5, 0.7071067811865476 };
static const double powers[] = { 1, 0.1, 0.01 };

static void
test_long(void)
{
	static const int ends[] = { 8, 12, 14, 15 };
	static const int batch[] = { 64, 32, 16, 8 };
	static const int frames[] = { 2, 4, 4, 8 }, crop[] = { 34, 34, 48, 48 };
	struct multigrid m = { .batch = 8, .frames = 8, .crop = 48,
		.epochs = 15, .factor = powers, .lr = 0.005, .epoch_factor = 1,
		.longs = 4, .long_factor = quarter, .stride = 2 };
	struct schedule *s = multigrid_schedule(&m);
	int shapes = 1;

	/*
	 * Batches of 8, 4, 2 and 1 take equally many steps.  Epochs are in the
	 * proportion 8:4:2:1, here 15 of them.
	 */
	is(s->stages, 4, "the long cycle alone has one stage per shape");
	for (int i = 0; i < 4; i++) {
		const struct stage *g = &s->stage[i];

		shapes &= g->epoch_end == ends[i] && g->cells == 1 &&
		    g->cell[0].batch == batch[i] &&
		    g->cell[0].frames == frames[i] &&
		    g->cell[0].crop == crop[i] &&
		    g->cell[0].stride_max == 16 / frames[i] &&
		    schedule_lr(s, g->epoch_begin) == batch[i] / 8 * 0.005;
	}
	ok(shapes, "shapes, epochs, strides and learning rates are as computed "
	    "by hand");
	near(schedule_work(s), 15.0 / 3.75, 0.03,
	    "the long cycle needs about a quarter of the work");
	schedule_free(s);
}

/*
 * Every cell has about the work of the base shape, and steps are distributed
 * evenly.
 */
static void
test_invariants(int batch, int frames, int crop)
{
	static const int fall[] = { 40, 80 };
	struct multigrid m = { .batch = batch, .frames = frames, .crop = crop,
		.epochs = 100, .milestones = 2, .milestone = fall, .factor = powers,
		.lr = 1, .epoch_factor = 10, .longs = 4,
		.long_factor = quarter, .shorts = 2, .short_factor = halves,
		.fine_tune = 1 };
	struct schedule *s = multigrid_schedule(&m);
	double least = 1e9, largest = 0, few = 1e9, many = 0;

	for (int i = 0; i < s->stages; i++) {
		const struct stage *g = &s->stage[i];
		double steps = (g->epoch_end - g->epoch_begin) / stage_batch(g) * batch;

		for (int k = 0; k < g->cells; k++) {
			double work = g->cell[k].batch * cell_cost(&g->cell[k]) /
			    ((double)batch * frames * crop * crop);

			least = work < least ? work : least;
			largest = work > largest ? work : largest;
		}
		if (i < 4) {
			few = steps < few ? steps : few;
			many = steps > many ? steps : many;
		}
	}
	ok(least > 0.9 && largest < 1.1, "%dx%dx%d: the work of a step is between "
	    "%.3f and %.3f", batch, frames, crop, least, largest);
	/*
	 * The mean batch of the plan counts short crops relative to S0; the
	 * steps counted here, relative to S.  Both give 32/3 and so on.
	 */
	ok(many / few < 1.03, "steps of the first long cycle: %.1f to %.1f "
	    "base epochs", few, many);
	is(schedule_epochs(s), 1000, "the schedule has the requested epochs");
	is(s->stage[0].cell[0].batch, 16 * batch,
	    "the first batch is 2 x 8 base batches");
	is(s->stage[s->stages - 1].cell[0].batch, 4 * batch,
	    "the last batch is 4 base batches");
	near(schedule_lr(s, 0), 8, 0,
	    "the learning rate is scaled with the batch of the long cycle");
	near(schedule_lr(s, 999), 0.01, 0,
	    "the last learning rate is that of the base schedule");
	schedule_free(s);
}

static void
test_plain(void)
{
	static const int fall[] = { 5, 9 };
	struct multigrid m = { .batch = 32, .frames = 8, .crop = 224,
		.epochs = 11, .milestones = 2, .milestone = fall, .factor = powers,
		.lr = 0.02, .epoch_factor = 1, .warmup_epochs = 6,
		.warmup_lr = 0.002 };
	struct schedule *s = multigrid_schedule(&m);
	struct schedule *none;
	char *text, why[256];

	group_constant(s, 8);
	text = schedule_text(s);
	/*
	 * The warm-up ends after the first milestone.  It rises to the learning
	 * rate there.
	 */
	is_text(text, HEAD
	    "0\t0\t5\t0\t32\t8\t224\t8\t0.002@0..0.002@6\t0\t0\n"
	    "1\t5\t9\t0\t32\t8\t224\t8\t0.002@0..0.002@6,0.002\t0\t0\n"
	    "2\t9\t11\t0\t32\t8\t224\t8\t0.0002\t0\t0\n",
	    "without cycles: one stage per learning rate, the warm-up across "
	    "them");
	free(text);
	schedule_free(s);
	m.epoch_factor = 1.5;
	s = multigrid_schedule(&m);
	ok(s->stage[0].epoch_end == 7 && s->stage[1].epoch_end == 13 &&
	    s->stage[2].epoch_end == 16,
	    "stretched epochs are truncated, not rounded");
	schedule_free(s);
	said_begin(why, sizeof(why));
	m.warmup_epochs = 16;
	none = multigrid_schedule(&m);
	ok(none == NULL,
	    "a warm-up longer than the schedule is refused: %s", said_now());
	said_begin(why, sizeof(why));
	m.warmup_epochs = 0;
	m.epoch_factor = 0.05;
	none = multigrid_schedule(&m);
	ok(none == NULL,
	    "a schedule without epochs is refused: %s", said_now());
	said_begin(why, sizeof(why));
	m.epoch_factor = 1;
	m.longs = 4;
	m.long_factor = quarter;
	m.frames = 1;
	none = multigrid_schedule(&m);
	ok(none == NULL, "a shape without frames is refused: %s", said_now());
	said_begin(why, sizeof(why));
	m.frames = 8;
	m.milestones = 0;
	m.fine_tune = 1;
	none = multigrid_schedule(&m);
	ok(none == NULL,
	    "a schedule of only fine-tuning is refused: %s", said_now());
	said_end();
}

int
main(void)
{
	static const uint64_t samples[] = { 1, 7, 28, 29, 100, 1001 };

	test_round_trip();
	test_bad_tables();
	test_rates();
	for (size_t i = 0; i < LENGTH(samples); i++)
		test_walk(samples[i]);
	test_long_walk();
	test_prefix();
	test_groups();
	test_long();
	test_invariants(64, 32, 224);
	test_invariants(8, 8, 224);
	test_plain();
	return done();
}
