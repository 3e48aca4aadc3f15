/*
 * The parts of a step that ranks share: each clip is in one part of its BN
 * group, and clips that are mixed with each other are in the same part.
 */
#include <string.h>

#include "clip/transforms.h"
#include "sched/group.h"

#include "tap.h"

enum { MAX = 64 };

/* Find group and place of clip ${at} of a batch. */
static void
find(const struct cell *c, int at, int *group, int *place)
{
	for (*group = 0; *group < c->batch / c->group; ++*group)
		for (*place = 0; *place < c->group; ++*place)
			if (cell_clip(c, *group, *place) == at)
				return;
}

/*
 * Return 1 if the clips of part ${part} have the mixing partners that they have
 * in the whole group.
 */
static int
partners_agree(const struct cell *c, const struct step_split *p, int part)
{
	int same = 1, ring[3], whole[3], group, place, mate;

	for (int i = 0; i < p->clips; i++) {
		int n = transforms_partners(i, p->clips, ring);

		find(c, step_split_clip(p, c, part, i), &group, &place);
		same &= group == part / p->span;
		same &= transforms_partners(place, c->group, whole) == n;
		for (int k = 0; k < n; k++) {
			find(c, step_split_clip(p, c, part, ring[k]), &group, &mate);
			same &= mate == whole[k];
		}
	}
	return same;
}

/*
 * ${span} is the expected number of parts per group; 0 if the ranks cannot
 * share groups.
 */
static void
test(int batch, int group, int run, int ranks, int span)
{
	struct cell c = { .batch = batch, .group = group, .run = run };
	struct step_split p = cell_parts(&c, ranks, 1), whole = cell_parts(&c,
	    ranks, 0);
	int seen[MAX] = { 0 }, once = 1, same = 1;

	ok(whole.span == 1 && whole.n == batch / group,
	    "%d clips in groups of %d, %d ranks: parts are whole groups unless "
	    "sharing is allowed", batch,
	    group, ranks);
	is(p.span, span > 0 ? span : 1,
	    "sharing: a group has the expected number of parts");
	is(p.n * p.clips, batch, "parts cover all clips");
	is(p.n >= ranks, span > 0, "each rank has a part, if that is possible");
	for (int i = 0; i < p.n; i++)
		for (int k = 0; k < p.clips; k++)
			seen[step_split_clip(&p, &c, i, k)]++;
	for (int i = 0; i < batch; i++)
		once &= seen[i] == 1;
	ok(once, "each clip is in one part");
	for (int i = 0; i < p.n && (p.span == 1 || p.clips % 2 == 0); i++)
		same &= partners_agree(&c, &p, i);
	ok(same, "the mixing partners of a clip are in its part");
}

int
main(void)
{
	test(16, 8, 0, 1, 1);
	test(16, 8, 0, 2, 1);
	test(16, 8, 0, 3, 0);		/* not a multiple of 2 groups */
	test(16, 8, 0, 4, 2);
	test(16, 8, 0, 8, 4);
	test(16, 8, 0, 16, 8);		/* a clip per rank */
	test(16, 8, 0, 32, 0);		/* none for some ranks */
	test(12, 6, 0, 4, 2);		/* three clips per rank */
	test(10, 5, 0, 4, 0);		/* 5 clips over 2 ranks */
	test(15, 5, 0, 15, 5);
	test(64, 8, 0, 4, 1);
	test(48, 8, 16, 12, 2);		/* interleaved groups */
	test(24, 12, 24, 6, 3);
	return done();
}
