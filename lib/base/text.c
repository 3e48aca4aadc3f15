/* Text for messages and tables: quoting, numbers, UTF-8, similar names. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define QUOTED 512		/* longer text is truncated, with "..." */

unsigned
text_code(const char *s)
{
	int n = text_utf8(s);
	unsigned code = (unsigned char)*s;

	if (n > 1)
		code &= 0x7fu >> n;
	for (int i = 1; i < n; i++)
		code = code << 6 | ((unsigned char)s[i] & 0x3f);
	return code;
}

int
text_displayable(const char *s)
{
	int n = text_utf8(s);
	unsigned c = n > 0 ? text_code(s) : 0;

	if (c < ' ' || (c >= 0x7f && c < 0xa0))
		return 0;		/* controls */
	if (c == 0x2028 || c == 0x2029)
		return 0;		/* line and paragraph separators */
	if (c == 0x61c || c == 0x200e || c == 0x200f ||
	    (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
		return 0;		/* Bidi_Control */
	return n;
}

/* Four buffers per thread, so that one message can quote four names. */
const char *
text_quote(const char *s)
{
	static _Thread_local char ring[4][QUOTED + 8];
	static _Thread_local int next;
	char *out = ring[next++ % 4], *o = out;
	int plain = *s != '\0';

	for (const char *p = s; *p != '\0' && plain; p += text_utf8(p))
		plain = text_displayable(p) != 0 && strchr(" \"\\", *p) == NULL;
	if (plain && strlen(s) < QUOTED)
		return strcpy(out, s);
	*o++ = '"';
	for (int n; *s != '\0'; s += n) {
		unsigned char c = (unsigned char)*s;

		n = text_displayable(s);
		if (o - out > QUOTED - 8) {
			o = stpcpy(o, "...");
			break;
		}
		if (c == '"' || c == '\\')
			*o++ = '\\';
		if (n > 0)
			o = mempcpy(o, s, (size_t)n);
		else if (c == '\n' || c == '\t')
			o = stpcpy(o, c == '\n' ? "\\n" : "\\t");
		else if (c >= 0x80 && (n = text_utf8(s)) > 0)
			o += sprintf(o, "\\u%04x", text_code(s));
		else
			o += sprintf(o, "\\%03o", c);
		n = n > 0 ? n : 1;
	}
	strcpy(o, "\"");
	return out;
}

int
text_chomp(char *line)
{
	size_t n = strlen(line);

	if (n > 0 && line[n - 1] == '\r')
		line[n - 1] = '\0';
	return strchr(line, '\r') == NULL ? 0 : -1;
}

char *
text_trim(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	for (n = strlen(s); n > 0 && strchr(" \t", s[n - 1]) != NULL; n--)
		s[n - 1] = '\0';
	return s;
}

int
text_choice(const char *choices, const char *value)
{
	size_t n = strlen(value);

	for (int i = 0; *choices != '\0'; i++) {
		size_t m = strcspn(choices, "|");

		if (m == n && memcmp(choices, value, n) == 0)
			return i;
		choices += m + (choices[m] == '|');
	}
	return -1;
}

const char *
text_choice_name(const char *choices, int i, char buf[64])
{
	for (; i > 0; i--)
		choices += strcspn(choices, "|") + 1;
	snprintf(buf, 64, "%.*s", (int)strcspn(choices, "|"), choices);
	return buf;
}

int
text_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

int
text_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && strcmp(s + n - m, suffix) == 0;
}

int
text_int(const char *s, int64_t min, int64_t max, int64_t *to)
{
	char *end;
	long long v;

	if (*s != '-' && (*s < '0' || *s > '9'))
		return -1;		/* strtoll would skip blanks and '+' */
	errno = 0;
	v = strtoll(s, &end, 10);
	if (end == s || *end != '\0' || errno != 0 || v < min || v > max)
		return -1;
	*to = v;
	return 0;
}

/* Leading blanks, '+' and hexadecimal digits are refused, as in text_int.  The
 * comparison also refuses NaN. */
int
text_real(const char *s, double min, double max, double *to)
{
	char *end;
	double v;

	if (*s == '\0' || strchr(" \t\n\v\f\r+", *s) != NULL ||
	    strpbrk(s, "xX") != NULL)
		return -1;
	errno = 0;
	v = strtod(s, &end);
	/* ERANGE with a small result is underflow, which is accepted if it is
	 * not 0: many options are off at 0. */
	if (end == s || *end != '\0' ||
	    (errno != 0 && (v == 0 || fabs(v) > 1)) || !(v >= min && v <= max))
		return -1;
	*to = v;
	return 0;
}

char *
text_real_write(char *buf, double x)
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(buf, 32, "%.*g", digits, x);
		if (strtod(buf, NULL) == x)
			break;
	}
	return buf;
}

/* One row of the matrix suffices, since only the row above is needed. */
int
text_distance(const char *a, const char *b)
{
	enum { MAX = 64 };
	int row[MAX + 1];
	int n = (int)strnlen(b, MAX);

	for (int j = 0; j <= n; j++)
		row[j] = j;
	for (int i = 0; a[i] != '\0'; i++) {
		int corner = row[0];	/* the element above and to the left */

		row[0] = i + 1;
		for (int j = 1; j <= n; j++) {
			int best = corner + (a[i] != b[j - 1]);

			corner = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

char *
text_hex(char *buf, const void *data, size_t n)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < n; i++)
		sprintf(buf + 2 * i, "%02x", p[i]);
	buf[2 * n] = '\0';
	return buf;
}

char *
text_bytes(char *buf, double bytes)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	int i = 0;

	/* 1000, not 1024, so that at most three digits precede the point. */
	for (; bytes >= 1000 && i < 4; i++)
		bytes /= 1024;
	snprintf(buf, 32, i == 0 ? "%.0f %s" : "%.2f %s", bytes, unit[i]);
	return buf;
}

int
text_utf8(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	/* Lead bytes 0xc0 and 0xc1 would be overlong; 0xf5 and higher exceed
	 * U+10FFFF. */
	int n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 :
	    p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;

	for (int i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* Reject overlong forms, surrogates, and code points above U+10FFFF. */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

int
text_is_utf8(const char *s)
{
	for (int n; *s != '\0'; s += n)
		if ((n = text_utf8(s)) == 0)
			return 0;
	return 1;
}
