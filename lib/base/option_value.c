/* Values of options: parsed from text, and printed as text. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/option_table.h"
#include "base/text.h"

/* Parse bytes with a unit: K, M, G and T are powers of 1024. */
int
options_parse_size(const char *s, double min, double max, int64_t *to)
{
	static const char units[] = "KMGT";
	char digits[32];
	size_t n = strspn(s, "0123456789");
	int64_t v, scale = 1;

	if (n == 0 || n >= sizeof(digits))
		return -1;
	memcpy(digits, s, n);
	digits[n] = '\0';
	if (text_int(digits, 0, INT64_MAX, &v) != 0)
		return -1;
	if (s[n] != '\0') {
		const char *u = strchr(units, s[n]);

		if (u == NULL || s[n + 1] != '\0')
			return -1;
		scale = (int64_t)1 << 10 * (u - units + 1);
	}
	if (v > INT64_MAX / scale || (double)(v * scale) < min ||
	    (double)(v * scale) > max)
		return -1;
	*to = v * scale;
	return 0;
}

/* Parse seconds with a unit: s, m, h or d. */
int
options_parse_time(const char *s, double min, double max, double *to)
{
	static const double scale[] = { 1, 60, 3600, 86400 };
	char number[64];
	size_t n = strlen(s);
	const char *u = n > 0 ? strchr("smhd", s[n - 1]) : NULL;
	double v;

	if (n == 0 || n >= sizeof(number))
		return -1;
	memcpy(number, s, n + 1);
	if (u != NULL)
		number[n - 1] = '\0';
	if (text_real(number, 0, 1e12, &v) != 0)
		return -1;
	v *= u != NULL ? scale[u - "smhd"] : 1;
	if (v < min || v > max)
		return -1;
	*to = v;
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
	switch (r->kind) {
	case OPTION_CHOICE:
		options_wrong("%s: %s (wanted one of %s)", from,
		    text_quote(value), r->choices);
	case OPTION_FLAG:
		options_wrong("%s: %s (wanted yes or no)", from,
		    text_quote(value));
	case OPTION_SIZE:
		options_wrong("%s: %s (wanted %s%s, with K, M, G or T for "
		    "powers of 1024)", from, text_quote(value),
		    strcmp(r->arg, "N") == 0 ? "an integer" : "bytes", range);
	case OPTION_TIME:
		options_wrong("%s: %s (wanted a time%s, such as 30s, 10m or "
		    "2h)", from, text_quote(value), range);
	case OPTION_INT:
		options_wrong("%s: %s (wanted an integer%s)", from,
		    text_quote(value), range);
	default:
		options_wrong("%s: %s (wanted a number%s)", from,
		    text_quote(value), range);
	}
}

/* Return 1 for yes, 0 for no, -1 for other text.  Words with an odd
 * index mean yes. */
static int
option_value_yes_or_no(const char *value)
{
	static const char *const words[] = { "no", "yes", "0", "1", "false",
		"true", "off", "on" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(value, words[i]) == 0)
			return (int)(i % 2);
	return -1;
}

/* Parse ${value} into the variable of the row, by its kind.  On an error the
 * program ends. */
void
option_set(struct option_table *t, int i, const char *from,
    const char *value, enum option_origin o)
{
	const struct option_row *r = t->row[i];
	double min = r->min, max = r->max;
	int64_t n;
	int bad = 0, k;

	/* no limits in the row: from 0 to the limit of the type */
	if (min == 0 && max == 0)
		max = r->kind == OPTION_INT ? INT32_MAX : 9e18;
	switch (r->kind) {
	case OPTION_FLAG:
		bad = (k = option_value_yes_or_no(value)) < 0;
		if (!bad)
			*(int *)r->to = k;
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
				*(int *)r->to = (int)n;
		}
		break;
	case OPTION_INT:
		bad = text_int(value, (int64_t)min, (int64_t)max, r->to) != 0;
		break;
	case OPTION_SIZE:
		bad = options_parse_size(value, min, max, r->to) != 0;
		break;
	case OPTION_TIME:
		bad = options_parse_time(value, min, max, r->to) != 0;
		break;
	case OPTION_REAL:
		bad = text_real(value, min, max, r->to) != 0;
		break;
	case OPTION_TEXT:
		*(const char **)r->to = value;
		break;
	case OPTION_CHOICE:
		bad = (k = text_choice(r->choices, value)) < 0;
		if (!bad)
			*(int *)r->to = k;
		break;
	case OPTION_LIST: {
		/* A new origin is a stronger one: replace the values instead
		 * of adding. */
		struct option_list *l = r->to;

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
	/* Each unit is so many of the one before. */
	static const struct { char unit; int of; } units[2][4] = {
		{ { 'K', 1024 }, { 'M', 1024 }, { 'G', 1024 }, { 0, 0 } },
		{ { 'm', 60 }, { 'h', 60 }, { 'd', 24 }, { 0, 0 } } };
	int64_t v = r->kind == OPTION_SIZE ? *(int64_t *)r->to :
	    r->kind == OPTION_TIME ? (int64_t)*(double *)r->to : 0;
	char unit = 0;

	for (int i = 0, time = r->kind == OPTION_TIME; v > 0 &&
	    units[time][i].unit != 0 && v % units[time][i].of == 0; i++) {
		v /= units[time][i].of;
		unit = units[time][i].unit;
	}
	if (unit != 0)
		buffer_printf(b, "%lld%c", (long long)v, unit);
	else if (r->kind == OPTION_TEXT && *(const char **)r->to != NULL)
		buffer_text(b, *(const char **)r->to);
	else
		option_print(b, r);
}
