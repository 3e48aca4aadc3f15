/*
 * Reduces a network.  Each change is tried by itself, and kept if the network
 * still fails; the whole list is tried again until no change is kept.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#include "fuzz/networks/shrink.h"

struct shrink {
	struct random_net *n;
	int (*fails)(const struct random_net *n, void *arg);
	void *arg;
	int tries, kept;
};

/* ---- words of lines ---- */

/* Copy word ${i} of ${line} to ${word}[NET_LINE].  Return 0 if it is absent. */
static int
shrink_word(const char *line, int i, char *word)
{
	while (i-- > 0) {
		line += strcspn(line, " ");
		line += strspn(line, " ");
	}
	snprintf(word, NET_LINE, "%.*s", (int)strcspn(line, " "), line);
	return word[0] != '\0';
}

/* Replace word ${i} of ${line} by ${word}; "" removes it. */
static void
shrink_set_word(char *line, int i, const char *word)
{
	char was[NET_LINE], each[NET_LINE];
	size_t at = 0;

	snprintf(was, sizeof(was), "%s", line);
	line[0] = '\0';
	for (int k = 0; shrink_word(was, k, each); k++) {
		const char *to = k == i ? word : each;

		if (to[0] != '\0')
			at += (size_t)snprintf(line + at, NET_LINE - at, "%s%s",
			    at > 0 ? " " : "", to);
	}
}

/* Return the number of the word "in=..." of ${line}, or -1. */
static int
shrink_in(const char *line, char *word)
{
	for (int i = 2; shrink_word(line, i, word); i++)
		if (strncmp(word, "in=", 3) == 0)
			return i;
	return -1;
}

/* Copy input ${k} of ${line} to ${name}.  Return 0 if it is absent. */
static int
shrink_input(const char *line, int k, char *name)
{
	char word[NET_LINE];
	const char *at = word + 3;

	if (shrink_in(line, word) < 0)
		return 0;
	for (; k > 0; k--) {
		at += strcspn(at, ",");
		if (*at++ == '\0')
			return 0;
	}
	snprintf(name, NET_LINE, "%.*s", (int)strcspn(at, ","), at);
	return 1;
}

/* Replace input ${from} of ${line} by ${to}; "" removes it. */
static void
shrink_rename(char *line, const char *from, const char *to)
{
	char word[NET_LINE], in[2 * NET_LINE] = "in=", name[NET_LINE];
	int at = shrink_in(line, word), n = 0;

	if (at < 0)
		return;
	for (int k = 0; shrink_input(line, k, name); k++) {
		const char *is = strcmp(name, from) == 0 ? to : name;
		size_t end = strlen(in);

		if (is[0] != '\0')
			snprintf(in + end, sizeof(in) - end, "%s%s",
			    n++ > 0 ? "," : "", is);
	}
	shrink_set_word(line, at, in);
}

static void
shrink_delete(struct random_net *n, int i)
{
	n->lines--;
	memmove(n->line[i], n->line[i + 1], (size_t)(n->lines - i) * NET_LINE);
}

static int
shrink_is_loss(const char *line)
{
	return strncmp(line, "loss ", 5) == 0;
}

/* Delete operators that nothing reads, except the last one and losses. */
static void
shrink_prune(struct random_net *n)
{
	char name[NET_LINE], in[NET_LINE];

	for (int i = n->lines - 2; i >= 0; i--) {
		int used = shrink_is_loss(n->line[i]);

		shrink_word(n->line[i], 1, name);
		for (int k = i + 1; k < n->lines && !used; k++)
			for (int j = 0; shrink_input(n->line[k], j, in); j++)
				used |= strcmp(in, name) == 0;
		if (!used)
			shrink_delete(n, i);
	}
}

/* ---- changes ---- */

/* Keep ${try} if it is another network, and fails. */
static int
shrink_try(struct shrink *s, struct random_net *try)
{
	struct error said = { { 0 } }, *before = fail_into(&said);
	struct graph *g;

	shrink_prune(try);
	g = random_net_graph(try);
	fail_into(before);
	if (g == NULL || memcmp(try, s->n, sizeof(*try)) == 0 ||
	    s->tries-- <= 0 || !s->fails(try, s->arg)) {
		graph_free(g);
		return 0;
	}
	graph_free(g);
	*s->n = *try;
	s->kept = 1;
	return 1;
}

/* Try smaller values of ${*v}, a field of ${*try}, down to ${min}. */
static void
shrink_field(struct shrink *s, size_t at, int min)
{
	static struct random_net try;

	for (int i = 0; i < 3; i++) {
		int *v = (int *)((char *)&try + at);

		try = *s->n;
		if (*v <= min)
			return;
		*v = i == 0 ? min : i == 1 ? (*v + min) / 2 : *v - 1;
		if (shrink_try(s, &try))
			i = -1;
	}
}

/*
 * Replace line ${i} by one of its inputs: in all lines, or in line ${only}.
 */
static int
shrink_bypass(struct shrink *s, int i, int only)
{
	static struct random_net try;
	char name[NET_LINE], to[NET_LINE];

	for (int k = 0; shrink_input(s->n->line[i], k, to); k++) {
		try = *s->n;
		shrink_word(try.line[i], 1, name);
		for (int m = i + 1; m < try.lines; m++)
			if (only < 0 || m == only)
				shrink_rename(try.line[m], name, to);
		if (only < 0)
			shrink_delete(&try, i);
		if (shrink_try(s, &try))
			return 1;
	}
	return 0;
}

/* Drop each input of line ${i} that has several. */
static int
shrink_inputs(struct shrink *s, int i)
{
	static struct random_net try;
	char name[NET_LINE];

	for (int k = 0; shrink_input(s->n->line[i], k, name); k++) {
		try = *s->n;
		shrink_rename(try.line[i], name, "");
		if (shrink_try(s, &try))
			return 1;
	}
	return 0;
}

static void
shrink_operators(struct shrink *s)
{
	static struct random_net try;

	for (int i = s->n->lines - 1; i >= 0; i--) {
		if (i >= s->n->lines)
			continue;
		if (shrink_is_loss(s->n->line[i])) {
			try = *s->n;
			shrink_delete(&try, i);
			shrink_try(s, &try);
			continue;
		}
		if (shrink_bypass(s, i, -1))
			continue;
		for (int m = s->n->lines - 1; m > i; m--)
			if (m < s->n->lines)
				shrink_bypass(s, i, m);
		if (i < s->n->lines)
			shrink_inputs(s, i);
	}
}

/*
 * Replace ${word} of line ${i} by ${to}; if ${all}, in all lines.
 */
static int
shrink_replace(struct shrink *s, int i, const char *word, const char *to,
    int all)
{
	static struct random_net try;
	char each[NET_LINE];

	try = *s->n;
	for (int k = 0; k < try.lines; k++)
		for (int w = 2; (all ? strncmp(try.line[k], "input ", 6) != 0 :
		    k == i) && shrink_word(try.line[k], w, each); w++)
			if (strcmp(each, word) == 0)
				shrink_set_word(try.line[k], w, to);
	return shrink_try(s, &try);
}

/* Make each integer of ${word}, "key=3,1,1", smaller in turn. */
static int
shrink_integers(struct shrink *s, int i, const char *word, int all)
{
	const char *value = strchr(word, '=') + 1;
	size_t key = (size_t)(value - word), at = key;

	while (isdigit((unsigned char)word[at])) {
		size_t n = strspn(word + at, "0123456789");
		int v = atoi(word + at), smaller[] = { 0, 1, 4, v / 2, v - 1 };

		for (int k = 0; k < 5; k++) {
			char to[2 * NET_LINE];

			if (smaller[k] >= v || smaller[k] < 0)
				continue;
			snprintf(to, NET_LINE, "%.*s%d%s", (int)at, word,
			    smaller[k], word + at + n);
			if (shrink_replace(s, i, word, to, all))
				return 1;
		}
		at += n;
		if (word[at] != ',')
			break;
		at++;
	}
	return 0;
}

static void
shrink_attributes(struct shrink *s)
{
	char word[NET_LINE];

	for (int i = s->n->lines - 1; i >= 0; i--)
		for (int w = 2; i < s->n->lines && shrink_word(s->n->line[i], w,
		    word); w++) {
			/* A dataset must have the channels of an input. */
			if (strncmp(word, "in=", 3) == 0 ||
			    (strncmp(s->n->line[i], "input ", 6) == 0 &&
			    (strncmp(word, "out=", 4) == 0 ||
			    strncmp(word, "stream=", 7) == 0)))
				continue;
			if (shrink_replace(s, i, word, "", 1) ||
			    shrink_integers(s, i, word, 1) ||
			    shrink_integers(s, i, word, 0))
				w--;
		}
}

void
shrink_net(struct random_net *n,
    int (*fails)(const struct random_net *n, void *arg), void *arg, int tries)
{
	struct shrink s = { n, fails, arg, tries, 1 };
	static struct random_net try;

	try = *n;
	try.freeze[0] = '\0';
	shrink_try(&s, &try);
	while (s.kept && s.tries > 0) {
		s.kept = 0;
		shrink_operators(&s);
		shrink_field(&s, offsetof(struct random_net, soft), 0);
		shrink_field(&s, offsetof(struct random_net, repeats), 0);
		shrink_field(&s, offsetof(struct random_net, clips), 1);
		shrink_field(&s, offsetof(struct random_net, frames), 1);
		shrink_field(&s, offsetof(struct random_net, side), 1);
		shrink_attributes(&s);
	}
}
