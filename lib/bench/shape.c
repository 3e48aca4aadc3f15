/* Batch shapes as text and as schedules. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"
#include "bench/shape.h"

int
shape_parse(const char *text, struct bench_shape *s)
{
	const int largest[3] = { SCHEDULE_BATCH, SCHEDULE_FRAMES,
		SCHEDULE_CROP };
	char part[3][16];
	int64_t v[3];

	if (strlen(text) >= sizeof(part[0]) || sscanf(text,
	    "%15[0-9]x%15[0-9]x%15[0-9]", part[0], part[1], part[2]) != 3 ||
	    strlen(text) != strlen(part[0]) + strlen(part[1]) +
	    strlen(part[2]) + 2)
		return -1;
	for (int i = 0; i < 3; i++)
		if (text_int(part[i], 1, largest[i], &v[i]) != 0)
			return -1;
	*s = (struct bench_shape){ (int)v[0], (int)v[1], (int)v[2] };
	return 0;
}

char *
shape_text(const struct bench_shape *s, char *buf)
{
	snprintf(buf, 40, "%dx%dx%d", s->n, s->t, s->side);
	return buf;
}

struct cell
shape_cell(const struct bench_shape *s)
{
	return (struct cell){ .batch = s->n, .frames = s->t, .crop = s->side,
		.group = s->n };
}

struct schedule *
shape_schedule(const struct cell *cell, int n)
{
	struct buffer b = { 0 };
	struct schedule *s = NULL;
	struct table *t;

	/*
	 * Build the text of a schedule and parse it, so that its checks apply.
	 */
	buffer_text(&b, "#stage\tepoch_begin\tepoch_end\tcycle\tbatch\tframes\t"
	    "crop\tbn\tlr\tstride_min\tstride_max\n");
	for (int i = 0; i < n; i++)
		buffer_printf(&b,
		    "0\t0\t%d\t%d\t%d\t%d\t%d\t%d\t0.01\t%d\t%d\n",
		    SCHEDULE_EPOCHS, i, cell[i].batch, cell[i].frames,
		    cell[i].crop, cell[i].group, cell[i].stride_min,
		    cell[i].stride_max);
	if ((t = table_parse("shape", b.data)) != NULL)
		s = schedule_from_table(t);
	table_free(t);
	buffer_free(&b);
	return s;
}
