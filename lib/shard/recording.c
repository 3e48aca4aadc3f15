/* Recordings of samples, by what the samples share. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "shard/recording.h"

/* ---- names ---- */

size_t
recording_session(const char *key)
{
	for (const char *s = key; (s = strstr(s, "_g")) != NULL; s++) {
		size_t n = strspn(s + 2, "0123456789"), at = 2 + n;

		if (n > 0 && strncmp(s + at, "_c", 2) == 0 &&
		    isdigit((unsigned char)s[at + 2]))
			return (size_t)(s - key) + at;
	}
	return 0;
}

/* Read ${n} digits at ${*s}, a number from ${min} to ${max}, to ${to}.  Step
 * over one separator before them, but no digit. */
static int
recording_digits(const char **s, int n, int min, int max, char *to)
{
	int value = 0;

	*s += **s != '\0' && strchr("-_", **s) != NULL;
	/* A key has =2E for a point, =3A for a colon and =20 for a blank. */
	*s += strncmp(*s, "=2E", 3) == 0 || strncmp(*s, "=3A", 3) == 0 ||
	    strncmp(*s, "=20", 3) == 0 ? 3 : 0;
	for (int i = 0; i < n; i++) {
		if (!isdigit((unsigned char)(*s)[i]))
			return -1;
		value = 10 * value + (*s)[i] - '0';
	}
	memcpy(to, *s, (size_t)n);
	*s += n;
	return value < min || value > max ? -1 : 0;
}

int
recording_time(const char *key, char text[15])
{
	for (const char *s = key; *s != '\0'; s++) {
		const char *at = s;

		if (!isdigit((unsigned char)*s) ||
		    (s > key && isdigit((unsigned char)s[-1])) ||
		    recording_digits(&at, 4, 1970, 2099, text) != 0 ||
		    recording_digits(&at, 2, 1, 12, text + 4) != 0 ||
		    recording_digits(&at, 2, 1, 31, text + 6) != 0)
			continue;
		at += *at == 'T';
		if (recording_digits(&at, 2, 0, 23, text + 8) != 0 ||
		    recording_digits(&at, 2, 0, 59, text + 10) != 0 ||
		    recording_digits(&at, 2, 0, 60, text + 12) != 0 ||
		    isdigit((unsigned char)*at))
			continue;
		text[14] = '\0';
		return 0;
	}
	return -1;
}

/* ---- reading ---- */

/* Copy to ${to} what ${m} has, which may be nothing. */
static void
recording_copy(const struct sample *m, struct recorded *to)
{
	to->group = m->group != NULL ? xstrdup(m->group) : NULL;
	to->source = m->source != NULL ? xstrdup(m->source) : NULL;
	to->bytes = m->source_bytes;
	to->hash = m->source_hash;
	to->phash = m->phash;
}

static int
recording_read(const struct dataset *d, uint32_t i, struct recorded *to)
{
	struct buffer b = { 0 };
	int bad = dataset_json_read(d, i, &b);
	struct sample *m = bad ? NULL : sample_read(to->key, b.data, b.n, NULL,
	    NULL);

	if (!bad && m == NULL)
		bad = -2;
	if (!bad)
		recording_copy(m, to);
	sample_free(m);
	buffer_free(&b);
	return bad;
}

int
recordings_add(struct recordings *r, const struct dataset *d, int json)
{
	int bad = 0;

	for (uint32_t i = 0; i < dataset_samples(d) && !bad; i++) {
		struct sample m = dataset_sample(d, i);
		struct recorded *to;

		r->sample = array_reserve(r->sample, r->n, &r->cap,
		    sizeof(*r->sample));
		to = &r->sample[r->n++];
		*to = (struct recorded){ .key = m.key, .set = r->sets,
			.class = m.label >= 0 ? dataset_class(d, m.label) :
			"" };
		if (json)
			bad = recording_read(d, i, to);
		else
			recording_copy(&m, to);
	}
	r->sets++;
	return bad;
}

void
recordings_free(struct recordings *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->sample[i].group);
		free(r->sample[i].source);
	}
	free(r->sample);
	*r = (struct recordings){ 0 };
}

/* ---- joining ---- */

/* Return the first sample of the recording of sample ${i}, and shorten the way
 * to it. */
static uint32_t
recordings_first(struct recordings *r, uint32_t i)
{
	struct recorded *s = r->sample;

	while (s[i].first != i)
		i = s[i].first = s[s[i].first].first;
	return i;
}

/* Let the samples ${i} and ${k} be of one recording. */
static void
recordings_join(struct recordings *r, uint32_t i, uint32_t k)
{
	uint32_t a = recordings_first(r, i), b = recordings_first(r, k);

	r->sample[a > b ? a : b].first = a > b ? b : a;
}

/* Texts that samples share, and the first sample with each. */
struct recording_shared { struct names *names; uint32_t *first; size_t cap; };

/* Join sample ${i} with those that share ${text}, which this frees. */
static void
recordings_share(struct recordings *r, struct recording_shared *s, uint32_t i,
    char *text)
{
	long k = names_find(s->names, text);

	if (k < 0) {
		k = names_add(s->names, text);
		s->first = array_reserve(s->first, (size_t)k, &s->cap,
		    sizeof(*s->first));
		s->first[k] = i;
	} else {
		recordings_join(r, i, s->first[k]);
	}
	free(text);
}

/* Join sample ${i} with those of its group, video and name. */
static void
recordings_join_sample(struct recordings *r, struct recording_shared *s,
    uint32_t i)
{
	const struct recorded *m = &r->sample[i];
	size_t n = recording_session(m->key);
	char time[15];

	if (m->source != NULL)
		recordings_share(r, s, i, xprintf("video %d %s", m->set,
		    m->source));
	if (m->bytes > 0)
		recordings_share(r, s, i, xprintf("bytes %" PRIu64 " %016"
		    PRIx64, m->bytes, m->hash));
	if (m->group != NULL) {
		recordings_share(r, s, i, xprintf("group %s", m->group));
		return;
	}
	if (n > 0)
		recordings_share(r, s, i, xprintf("session %s %.*s", m->class,
		    (int)n, m->key));
	if (recording_time(m->key, time) == 0)
		recordings_share(r, s, i, xprintf("time %s", time));
}

/* Order samples by perceptual hash and class. */
static int
recording_by_phash(const void *a, const void *b, void *sample)
{
	const struct recorded *s = sample;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	int order = strcmp(s[i].class, s[k].class);

	if (s[i].phash != s[k].phash)
		return s[i].phash < s[k].phash ? -1 : 1;
	return order != 0 ? order : (i > k) - (i < k);
}

/* Return 1 if more than half of a class, but more than one sample, is among
 * number[n], which are in the order of recording_by_phash. */
static int
recordings_common(const struct recordings *r, const uint32_t *number, size_t n,
    const struct names *names, const size_t *of_class)
{
	for (size_t i = 0, end; i < n; i = end) {
		const char *class = r->sample[number[i]].class;

		end = i + 1;
		while (end < n && strcmp(r->sample[number[end]].class,
		    class) == 0)
			end++;
		if (end - i > 1 && 2 * (end - i) >
		    of_class[names_find(names, class)])
			return 1;
	}
	return 0;
}

/* Join the samples of each perceptual hash that is not common. */
static void
recordings_join_copies(struct recordings *r)
{
	uint32_t *number = xcalloc(r->n, sizeof(*number));
	size_t *of_class = xcalloc(r->n, sizeof(*of_class));
	struct names *names = names_new();

	for (size_t i = 0; i < r->n; i++) {
		number[i] = (uint32_t)i;
		names_add(names, r->sample[i].class);
		of_class[names_find(names, r->sample[i].class)]++;
	}
	qsort_r(number, r->n, sizeof(*number), recording_by_phash, r->sample);
	for (size_t i = 0, end; i < r->n; i = end) {
		uint64_t phash = r->sample[number[i]].phash;

		for (end = i + 1; end < r->n &&
		    r->sample[number[end]].phash == phash; end++)
			;
		if (phash == 0)
			continue;
		if (recordings_common(r, number + i, end - i, names, of_class))
			r->common = r->sample[number[i]].key;
		else
			for (size_t k = i + 1; k < end; k++)
				recordings_join(r, number[i], number[k]);
	}
	names_free(names);
	free(of_class);
	free(number);
}

void
recordings_find(struct recordings *r)
{
	struct recording_shared s = { .names = names_new() };

	for (size_t i = 0; i < r->n; i++)
		r->sample[i].first = (uint32_t)i;
	for (size_t i = 0; i < r->n; i++)
		recordings_join_sample(r, &s, (uint32_t)i);
	recordings_join_copies(r);
	for (size_t i = 0; i < r->n; i++)
		r->sample[i].first = recordings_first(r, (uint32_t)i);
	names_free(s.names);
	free(s.first);
}
