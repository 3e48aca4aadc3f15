/* Values of options: parsed from text, and printed as text. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/option_table.h"
#include "base/text.h"

/* The units of a size, which are powers of 1024, and of a time. */
static const struct option_unit { char name; int64_t scale; } sizes[] = {
	{ 'T', (int64_t)1 << 40 }, { 'G', 1 << 30 }, { 'M', 1 << 20 },
	{ 'K', 1 << 10 }, { '\0', 0 } }, times[] = { { 'd', 86400 },
	{ 'h', 3600 }, { 'm', 60 }, { 's', 1 }, { '\0', 0 } };

/* Copy ${s} to ${number}[64] without the unit at its end.  Return the scale of
 * that, 1 without a unit, or 0 if the text is too long. */
static int64_t
option_value_scale(const char *s, const struct option_unit *u, char *number)
{
	size_t n = strlen(s);

	if (n == 0 || n >= 64)
		return 0;
	memcpy(number, s, n + 1);
	while (u->name != '\0' && u->name != s[n - 1])
		u++;
	if (u->name == '\0')
		return 1;
	number[n - 1] = '\0';
	return u->scale;
}

int
options_parse_size(const char *s, double min, double max, int64_t *to)
{
	char number[64];
	int64_t v, scale = option_value_scale(s, sizes, number);

	if (scale == 0 || text_int(number, 0, INT64_MAX / scale, &v) != 0 ||
	    (double)(v * scale) < min || (double)(v * scale) > max)
		return -1;
	*to = v * scale;
	return 0;
}

int
options_parse_time(const char *s, double min, double max, double *to)
{
	char number[64];
	int64_t scale = option_value_scale(s, times, number);
	double v;

	if (scale == 0 || text_real(number, 0, 1e12, &v) != 0 ||
	    v * (double)scale < min || v * (double)scale > max)
		return -1;
	*to = v * (double)scale;
	return 0;
}

/* Print a limit without an exponent if it is an integer. */
static const char *
option_value_limit(double v, char buf[32])
{
	snprintf(buf, 32, v == floor(v) && fabs(v) < 1e18 ? "%.0f" : "%.10g",
	    v);
	return buf;
}

static _Noreturn void
option_value_bad(const struct option_row *r, const char *from,
    const char *value)
{
	char range[128] = " from 0", min[32], max[32];

	if (r->min != 0 || r->max != 0)
		snprintf(range, sizeof(range), " from %s to %s",
		    option_value_limit(r->min, min),
		    option_value_limit(r->max, max));
	if (r->kind == OPTION_CHOICE)
		options_wrong("%s: %s (wanted one of %s)", from,
		    text_quote(value), r->choices);
	if (r->kind == OPTION_FLAG)
		options_wrong("%s: %s (wanted yes or no)", from,
		    text_quote(value));
	options_wrong("%s: %s (wanted %s%s%s)", from, text_quote(value),
	    r->kind == OPTION_INT || (r->kind == OPTION_SIZE &&
	    strcmp(r->arg, "N") == 0) ? "an integer" :
	    r->kind == OPTION_SIZE ? "bytes" : r->kind == OPTION_TIME ?
	    "a time" : "a number", range, r->kind == OPTION_SIZE ?
	    ", with K, M, G or T for powers of 1024" : r->kind == OPTION_TIME ?
	    ", such as 30s, 10m or 2h" : "");
}

/* Parse ${value} into the variable of the row, by its kind, or only check it
 * if a stronger origin has set the row.  On an error the program ends. */
void
option_set(struct option_table *t, int i, const char *from,
    const char *value, enum option_origin o)
{
	const struct option_row *r = t->row[i];
	union { int k; int64_t n; double x; const char *text; } unused;
	int weaker = o < t->origin[i];
	void *to = weaker ? &unused : r->to;
	double min = r->min, max = r->max;
	int64_t n;
	int bad = 0, k;

	/* no limits in the row: from 0 to the limit of the type */
	if (min == 0 && max == 0)
		max = r->kind == OPTION_INT ? INT32_MAX : 9e18;
	switch (r->kind) {
	case OPTION_FLAG:
		k = text_choice("no|yes|0|1|false|true|off|on", value);
		bad = k < 0;
		if (!bad)
			*(int *)to = k % 2;
		break;
	case OPTION_COUNT:
		/* -v on the command line increments; files give the
		 * count. */
		if (o == OPTION_COMMAND) {
			if (t->origin[i] != o)	/* a stronger origin */
				*(int *)r->to = 0;
			++*(int *)r->to;
		} else {
			bad = text_int(value, 0, 9, &n) != 0;
			if (!bad)
				*(int *)to = (int)n;
		}
		break;
	case OPTION_INT:
		bad = text_int(value, (int64_t)min, (int64_t)max, to) != 0;
		break;
	case OPTION_SIZE:
		bad = options_parse_size(value, min, max, to) != 0;
		break;
	case OPTION_TIME:
		bad = options_parse_time(value, min, max, to) != 0;
		break;
	case OPTION_REAL:
		bad = text_real(value, min, max, to) != 0;
		break;
	case OPTION_TEXT:
		*(const char **)to = value;
		break;
	case OPTION_CHOICE:
		bad = (k = text_choice(r->choices, value)) < 0;
		if (!bad)
			*(int *)to = k;
		break;
	case OPTION_LIST: {
		/* A new origin is a stronger one: replace the values instead
		 * of adding. */
		struct option_list *l = r->to;

		if (weaker)
			break;
		if (t->origin[i] != o)
			l->n = 0;
		l->item = array_reserve(l->item, l->n, &l->cap,
		    sizeof(*l->item));
		l->item[l->n++] = value;
		break;
	}
	}
	if (bad)
		option_value_bad(r, from, value);
	if (!weaker)
		t->origin[i] = o;
}

/* Reals are printed so that they read back exactly, because checkpoints
 * store this text. */
void
option_print(struct buffer *b, const struct option_row *r)
{
	char text[64];

	switch (r->kind) {
	case OPTION_FLAG:
		buffer_text(b, *(int *)r->to ? "yes" : "no");
		break;
	case OPTION_COUNT:
		buffer_printf(b, "%d", *(int *)r->to);
		break;
	case OPTION_INT:
	case OPTION_SIZE:
		buffer_printf(b, "%lld", (long long)*(int64_t *)r->to);
		break;
	case OPTION_TIME:
	case OPTION_REAL:
		buffer_text(b, text_real_write(text, *(double *)r->to));
		break;
	case OPTION_CHOICE:
		buffer_text(b, text_choice_name(r->choices,
		    *(int *)r->to, text));
		break;
	default:
		break;
	}
}

void
option_print_short(struct buffer *b, const struct option_row *r)
{
	const struct option_unit *u = r->kind == OPTION_SIZE ? sizes : times;
	int64_t v = r->kind == OPTION_SIZE ? *(int64_t *)r->to :
	    r->kind == OPTION_TIME ? (int64_t)*(double *)r->to : 0;

	while (v > 0 && u->scale > 1 && v % u->scale != 0)
		u++;
	if (v > 0 && u->scale > 1)
		buffer_printf(b, "%lld%c", (long long)(v / u->scale), u->name);
	else if (r->kind == OPTION_TEXT && *(const char **)r->to != NULL)
		buffer_text(b, *(const char **)r->to);
	else
		option_print(b, r);
}
