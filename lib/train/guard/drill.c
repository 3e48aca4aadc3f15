/* A fault on purpose. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "train/guard/drill.h"

int
drill_read(struct drill *d)
{
	const char *text = getenv("VT_FLIP_BIT");
	unsigned long long step;
	int end = 0, n;

	*d = (struct drill){ 0 };
	if (text == NULL)
		return 0;
	n = sscanf(text, "%llu:%d:%n%d%n", &step, &d->rank, &end, &d->index,
	    &end);
	if (n == 2 && end > 0 && strcmp(text + end, "w") == 0)
		d->index = -1;
	else if (n != 3 || text[end] != '\0' || d->index < 0)
		return fail("VT_FLIP_BIT=%s (wanted STEP:RANK:MICROBATCH or "
		    "STEP:RANK:w)", text_quote(text));
	d->step = step;
	return 0;
}

int
drill_due(const struct drill *d, const struct trainer *t, int index)
{
	return d->step == t->state.step + 1 && d->rank == t->comm->rank &&
	    d->index == index;
}

/*
 * In the first value of a parameter in the middle, a bit of its upper mantissa,
 * so that the weights do come out otherwise.
 */
void
drill_flip(const struct drill *d, const struct trainer *t, void *flat)
{
	const struct graph *g = t->net->graph;
	size_t elem = t->net->device->elem;
	int p = g->nparam / 2;
	char what[40] = "weights";
	unsigned char byte;
	char *at;

	while (p < g->nparam - 1 && g->param[p].frozen)
		p++;
	at = (char *)flat + g->param[p].offset * elem + elem - 2;
	device_download(t->net->device, &byte, at, 1);
	byte ^= 1;
	device_upload(t->net->device, at, &byte, 1);
	if (d->index >= 0)
		snprintf(what, sizeof(what), "gradient of microbatch %d",
		    d->index);
	warning("a drill: in step %llu one bit of %s in the %s of rank %d is "
	    "flipped", (unsigned long long)d->step, g->param[p].name, what,
	    d->rank);
}
