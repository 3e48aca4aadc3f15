/* Reads and writes the table of a schedule. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "sched/schedule.h"


/* The integers of a row, before they are compared with other rows. */
struct schedule_row {
	int64_t stage, begin, end, cycle, batch, frames, crop;
	int64_t stride_min, stride_max;
};

/* Read "N" or "N/M": groups of N, interleaved within each M if M is given. */
static int
schedule_read_groups(const struct table *t, size_t r, struct cell *c)
{
	const char *text = table_text(t, r, "bn");
	char *copy, *slash;
	int64_t group = 0, run = 0;
	int bad;

	if (text == NULL)
		return -1;
	copy = xstrdup(text);
	if ((slash = strchr(copy, '/')) != NULL)
		*slash++ = '\0';
	bad = text_int(copy, 1, c->batch, &group) != 0 ||
	    (slash != NULL && text_int(slash, 1, c->batch, &run) != 0);
	free(copy);
	if (bad)
		return fail("%s:%d: column bn: %s (wanted clips a group, 1 to "
		    "the batch of %d, or N/M for groups of N interleaved "
		    "within M)", t->path, t->line[r], text_quote(text),
		    c->batch);
	if (run % group != 0)
		return fail("%s:%d: column bn: %s: %d clips are not a whole "
		    "number of groups of %d", t->path, t->line[r], text,
		    (int)run, (int)group);
	if (c->batch % (run > 0 ? run : group) != 0)
		return fail("%s:%d: column bn: a batch of %d is not a whole "
		    "number of groups of %d clips (the column batch, or this "
		    "one, must change)", t->path, t->line[r], c->batch,
		    (int)(run > 0 ? run : group));
	c->group = (int)group;
	c->run = (int)run;
	return 0;
}

/* Read row ${r} into ${w} and ${c}.  Return 0, or -1 after a message. */
static int
schedule_read_row(const struct table *t, size_t r, struct schedule_row *w,
    struct cell *c)
{
	if (table_int(t, r, "stage", 0, SCHEDULE_STAGES - 1, &w->stage) != 0 ||
	    table_int(t, r, "epoch_begin", 0, SCHEDULE_EPOCHS,
	    &w->begin) != 0 || table_int(t, r, "epoch_end", 1,
	    SCHEDULE_EPOCHS, &w->end) != 0 ||
	    table_int(t, r, "cycle", 0, SCHEDULE_CYCLE - 1, &w->cycle) != 0 ||
	    table_int(t, r, "batch", 1, SCHEDULE_BATCH, &w->batch) != 0 ||
	    table_int(t, r, "frames", 1, SCHEDULE_FRAMES, &w->frames) != 0 ||
	    table_int(t, r, "crop", 1, SCHEDULE_CROP, &w->crop) != 0 ||
	    table_int(t, r, "stride_min", 0, SCHEDULE_FRAMES, &w->stride_min) !=
	    0 || table_int(t, r, "stride_max", 0, SCHEDULE_FRAMES,
	    &w->stride_max) != 0)
		return -1;
	if (w->stride_max < w->stride_min)
		return fail("%s:%d: column stride_max: %d (wanted at least "
		    "stride_min, %d)", t->path, t->line[r], (int)w->stride_max,
		    (int)w->stride_min);
	if (w->stride_min == 0 && w->stride_max > 0)
		return fail("%s:%d: column stride_min: 0 with stride_max %d "
		    "(wanted at least 1, or 0 in both where segments choose "
		    "the frames)", t->path, t->line[r], (int)w->stride_max);
	*c = (struct cell){ (int)w->batch, (int)w->frames, (int)w->crop, 0, 0,
		(int)w->stride_min, (int)w->stride_max };
	return schedule_read_groups(t, r, c);
}

/* Begin stage ${g} by row ${r}; ${before} is the stage before it, or NULL. */
static int
schedule_begin_stage(const struct table *t, size_t r,
    const struct schedule_row *w, const struct stage *before, struct stage *g)
{
	const char *lr = table_text(t, r, "lr");
	int begin = before != NULL ? before->epoch_end : 0;
	char *where;

	if (lr == NULL)
		return -1;
	if (w->begin != begin)
		return fail("%s:%d: column epoch_begin: %d (wanted %d, %s)",
		    t->path, t->line[r], (int)w->begin, begin,
		    before != NULL ? "where the stage before ends" :
		    "the first epoch");
	if (w->end <= w->begin)
		return fail("%s:%d: column epoch_end: %d (wanted more than "
		    "epoch_begin, %d: the end is not in the stage)", t->path,
		    t->line[r], (int)w->end, (int)w->begin);
	if (w->cycle != 0)
		return fail("%s:%d: column cycle: %d (wanted 0 in the first "
		    "row of a stage)", t->path, t->line[r], (int)w->cycle);
	g->epoch_begin = (int)w->begin;
	g->epoch_end = (int)w->end;
	g->sets_momentum = table_column(t, "momentum") >= 0;
	if (g->sets_momentum && table_real(t, r, "momentum", 0, MOMENTUM_MAX,
	    &g->momentum) != 0)
		return -1;
	where = xprintf("%s:%d: column lr", t->path, t->line[r]);
	g->pieces = lr_parse(where, lr, g->epoch_begin, g->epoch_end, &g->lr);
	free(where);
	return g->pieces < 0 ? -1 : 0;
}

/* Check row ${r}, which continues stage ${g}.  ${top} is its first row. */
static int
schedule_continue_stage(const struct table *t, size_t r,
    const struct schedule_row *w, size_t top, const struct stage *g)
{
	static const char *const same[] = { "epoch_begin", "epoch_end", "lr",
		"momentum" };
	size_t n = table_column(t, "momentum") >= 0 ? 4 : 3;

	if (w->cycle != g->cells)
		return fail("%s:%d: column cycle: %d (wanted %d, the next of "
		    "stage %d)", t->path, t->line[r], (int)w->cycle, g->cells,
		    (int)w->stage);
	for (size_t i = 0; i < n; i++) {
		const char *here = table_text(t, r, same[i]);
		const char *there = table_text(t, top, same[i]);

		if (strcmp(here, there) != 0)
			return fail("%s:%d: column %s: %s (wanted %s, as in "
			    "line %d: all rows of stage %d share it)", t->path,
			    t->line[r], same[i], text_quote(here),
			    text_quote(there), t->line[top], (int)w->stage);
	}
	return 0;
}

struct schedule *
schedule_from_table(const struct table *t)
{
	struct schedule *s = xcalloc(1, sizeof(*s));
	size_t cap = 0, top = 0;

	s->path = xstrdup(t->path);
	if (t->rows == 0) {
		fail("%s: no rows under the header (wanted a stage)", t->path);
		goto err0;
	}
	for (size_t r = 0; r < t->rows; r++) {
		struct schedule_row w;
		struct cell c;
		struct stage *g;

		if (schedule_read_row(t, r, &w, &c) != 0)
			goto err0;
		/*
		 * The first row of a stage has all that its other rows must
		 * repeat.
		 */
		if (s->stages == 0 || w.stage != s->stages - 1) {
			if (w.stage != s->stages) {
				fail("%s:%d: column stage: %d (wanted %d)",
				    t->path, t->line[r], (int)w.stage,
				    s->stages);
				goto err0;
			}
			s->stage = array_reserve(s->stage, (size_t)s->stages,
			    &cap, sizeof(*s->stage));
			g = &s->stage[s->stages];
			memset(g, 0, sizeof(*g));
			if (schedule_begin_stage(t, r, &w,
			    s->stages > 0 ? g - 1 : NULL, g) != 0)
				goto err0;
			s->stages++;
			top = r;
		} else {
			g = &s->stage[s->stages - 1];
			if (schedule_continue_stage(t, r, &w, top, g) != 0)
				goto err0;
		}
		g->cell[g->cells++] = c;
	}
	return s;

err0:
	schedule_free(s);
	return NULL;
}

struct schedule *
schedule_read(const char *path)
{
	struct table *t = table_read(path);
	struct schedule *s = t != NULL ? schedule_from_table(t) : NULL;

	table_free(t);
	return s;
}


static void
schedule_print_row(const struct schedule *s, int stage, int cycle,
    struct buffer *b)
{
	const struct stage *g = &s->stage[stage];
	const struct cell *c = &g->cell[cycle];

	buffer_printf(b, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d", stage,
	    g->epoch_begin, g->epoch_end, cycle, c->batch, c->frames, c->crop,
	    c->group);
	if (c->run != 0)
		buffer_printf(b, "/%d", c->run);
	buffer_text(b, "\t");
	lr_print(g->lr, g->pieces, b);
	buffer_printf(b, "\t%d\t%d", c->stride_min, c->stride_max);
	if (g->sets_momentum) {
		char momentum[32];

		buffer_printf(b, "\t%s", text_real_write(momentum,
		    g->momentum));
	}
}

/* Return the table.  ${steps} is the result of schedule_count, or NULL. */
static char *
schedule_print_table(const struct schedule *s,
    uint64_t (*steps)[SCHEDULE_CYCLE])
{
	struct buffer b = { 0 };

	buffer_printf(&b, "#stage\tepoch_begin\tepoch_end\tcycle\tbatch\tframes"
	    "\tcrop\tbn\tlr\tstride_min\tstride_max%s%s\n",
	    schedule_sets_momentum(s) ? "\tmomentum" : "",
	    steps ? "\tsteps\tclips" : "");
	for (int i = 0; i < s->stages; i++)
		for (int k = 0; k < s->stage[i].cells; k++) {
			schedule_print_row(s, i, k, &b);
			if (steps != NULL)
				buffer_printf(&b, "\t%llu\t%llu",
				    (unsigned long long)steps[i][k],
				    (unsigned long long)steps[i][k] *
				    (unsigned)s->stage[i].cell[k].batch);
			buffer_text(&b, "\n");
		}
	return b.data;
}

char *
schedule_text(const struct schedule *s)
{
	return schedule_print_table(s, NULL);
}

char *
schedule_text_steps(const struct schedule *s, uint64_t samples)
{
	uint64_t (*steps)[SCHEDULE_CYCLE] = xcalloc((size_t)s->stages,
	    sizeof(*steps));
	char *text;

	schedule_count(s, samples, steps);
	text = schedule_print_table(s, steps);
	free(steps);
	return text;
}
