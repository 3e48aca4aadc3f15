/* The estimate of a run as text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "train/loop/estimate.h"

#define SCATTER 1.25			/* of times, to print a range */

/* Print only as many digits as an estimate has. */
static char *
estimate_time_text(char text[32], double seconds)
{
	if (seconds > 0 && seconds < 1e-4)	/* %g would print an exponent */
		snprintf(text, 32, "%.2g ms", 1e3 * seconds);
	else if (seconds < 10)
		snprintf(text, 32, "%.2g s", seconds);
	else if (seconds < 100)
		snprintf(text, 32, "%.0f s", seconds);
	else if (seconds < 100 * 60)
		snprintf(text, 32, "%.0f min", seconds / 60);
	else if (seconds < 72 * 3600)
		snprintf(text, 32, "%.1f h", seconds / 3600);
	else
		snprintf(text, 32, "%.1f days", seconds / 86400);
	return text;
}

char *
estimate_text(const struct estimate *e, char text[256])
{
	double all = e->training + e->validating;
	char low[32], high[32], part[32], *unit, *at = text, *end = text + 256;

	estimate_time_text(low, all * e->fast);
	estimate_time_text(high, all * e->slow);
	/* "2 to 11 min", but "50 s to 2 min". */
	if ((unit = strchr(low, ' ')) != NULL &&
	    strcmp(unit, strchr(high, ' ')) == 0)
		*unit = '\0';
	if (e->slow > SCATTER * e->fast && strcmp(low, high) != 0)
		at += snprintf(at, 256, "%s to %s, as the timed steps vary: "
		    "%s", low, high, estimate_time_text(part, e->training));
	else
		at += snprintf(at, 256, "about %s%s%s",
		    estimate_time_text(low, all), e->validations > 0 ? ": " : "",
		    e->validations == 0 ? "" : estimate_time_text(part,
		    e->training));
	at += snprintf(at, (size_t)(end - at), " for %" PRIu64 " step%s",
	    e->steps, e->steps == 1 ? "" : "s");
	if (e->validations > 0)
		at += snprintf(at, (size_t)(end - at), " and %s for ",
		    estimate_time_text(part, e->validating));
	if (e->validations > 0 && !e->validates)
		at += snprintf(at, (size_t)(end - at), "precise BN");
	else if (e->validations > 0)
		at += snprintf(at, (size_t)(end - at), "%d validation%s",
		    e->validations, e->validations == 1 ? "" : "s");
	if (e->log != NULL)
		snprintf(at, (size_t)(end - at), ", from %s",
		    text_quote(e->log));
	return text;
}

void
estimate_print(const struct trainer *t, const struct estimate *e, FILE *f)
{
	const struct schedule *s = t->schedule;
	char text[256], shape[48], time[32];

	fprintf(f, "%-22s %s\n", "# time", estimate_text(e, text));
	for (int i = 0; i < s->stages; i++)
		for (int k = 0; k < s->stage[i].cells; k++) {
			const struct cell *c = &s->stage[i].cell[k];

			if (e->cell[i][k] <= 0)
				continue;
			snprintf(shape, sizeof(shape), "# stage %d, %dx%dx%d", i,
			    c->batch, c->frames, c->crop);
			fprintf(f, "%-22s %s a step\n", shape,
			    estimate_time_text(time, e->cell[i][k]));
		}
}
