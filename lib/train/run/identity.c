/*
 * The table of facts, and the comparison of identities.  Ranks first exchange
 * hashes; only if these differ do they exchange the texts, to name the
 * difference.
 */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/isa.h"
#include "base/text.h"
#include "base/version.h"
#include "graph/graph.h"
#include "train/run/identity.h"

/* The two sides of the comparison at a resume. */
struct identity_resume {
	const struct resume *from;
	const struct state *was, *now;
	const struct schedule *schedule;
	uint64_t samples;
	const struct option_list *override;
	int differs;
};

/* ---- descriptions of differences ---- */

/* Return "${what} N was X and is Y now" for the first line that differs, apart
 * from empty lines.  N is its number in ${now}, from ${first}. */
static char *
identity_lines(const char *what, int first, const char *was, const char *now)
{
	size_t a, b;
	char *text[2], *result;

	for (;; was += a, now += b) {
		was += strspn(was, "\n");
		for (; *now == '\n'; now++)
			first++;
		a = strcspn(was, "\n");
		b = strcspn(now, "\n");
		if (a == 0 || a != b || memcmp(was, now, a) != 0)
			break;
	}
	text[0] = xstrndup(was, a);
	text[1] = xstrndup(now, b);
	result = xprintf("%s %d was %s and is %s now", what, first,
	    a > 0 ? text_quote(text[0]) : "missing",
	    b > 0 ? text_quote(text[1]) : "missing");
	free(text[0]);
	free(text[1]);
	return result;
}

static char *
identity_network(const struct identity_resume *r)
{
	char *what, *before, *after, *text;

	if (strcmp(r->was->model, r->now->model) != 0)
		return xprintf("network was %s and is %s now",
		    text_quote(r->was->model), text_quote(r->now->model));
	what = xprintf("network %s: line", text_quote(r->now->model));
	before = graph_uncomment(r->was->network);
	after = graph_uncomment(r->now->network);
	text = identity_lines(what, 1, before, after);
	free(before);
	free(after);
	free(what);
	return text;
}

static char *
identity_classes(const struct identity_resume *r)
{
	return identity_lines("class", 0, r->was->classes, r->now->classes);
}

static char *
identity_flips(const struct identity_resume *r)
{
	int had = strcmp(r->was->flips, "none") != 0;
	int has = strcmp(r->now->flips, "none") != 0;

	return xprintf("flips was %s and is %s now", had ? "a table" : "none",
	    !has ? "none" : had ? "another table" : "a table");
}

/* Compare with the schedule.tsv beside the checkpoint, if that is the schedule
 * of its run. */
static char *
identity_schedule(const struct identity_resume *r)
{
	uint64_t then = r->was->epoch > 0 ? (uint64_t)llround(
	    (double)r->was->clips / r->was->epoch) : r->samples;
	char *dir = path_dir(r->from->path), *path, history[33], *text = NULL;
	struct schedule *s;

	path = path_join(dir, "schedule.tsv");
	s = file_size(path) >= 0 ? schedule_read(path) : NULL;
	if (then != r->samples)
		text = xprintf("schedule: an epoch had %" PRIu64
		    " samples and has %" PRIu64 " now", then, r->samples);
	else if (s != NULL && strcmp(r->was->history, hash128_text(
	    schedule_prefix_hash(s, then, r->was->step), history)) == 0)
		text = schedule_difference(s, r->schedule, then, r->was->step);
	schedule_free(s);
	free(path);
	free(dir);
	return text != NULL ? text : xprintf("schedule: the first %" PRIu64
	    " steps differ from those of the run", r->was->step);
}

/* ---- the facts of a state ---- */

#define FACT(name, member, free, hint, describe) \
	{ #name, offsetof(struct state, member), free, hint, describe }

/* A row without OPTION_FREE_RESUME is compared at a resume.  Ranks compare all
 * facts. */
static const struct identity_fact {
	const char *name;		/* also for --override */
	size_t at;			/* offset in struct state */
	unsigned free;
	const char *hint;		/* advice if it differs; NULL: none */
	char *(*describe)(const struct identity_resume *);	/* return how it
						 * differs; NULL: both values
						 * say it */
} facts[] = {
	/* Another build resumes a run if its results number agrees. */
	FACT(build, build, OPTION_FREE_RESUME,
	    "install the same build on every host", NULL),
	FACT(results, results, 0, "this version computes other weights; "
	    "resume with the earlier one", NULL),
	FACT(isa, isa, 0, "VT_ISA=avx2 or base makes processors alike", NULL),
	FACT(library, library, 0, NULL, NULL),
	FACT(precision, precision, 0, NULL, NULL),
	FACT(network, network, 0, NULL, identity_network),
	FACT(classes, class_hash, 0, NULL, identity_classes),
	FACT(data, dataset, 0, NULL, NULL),
	FACT(schedule, history, 0, "steps to come may change",
	    identity_schedule),
	FACT(order, order, 0, NULL, NULL),
	FACT(flips, flips, 0, "--flip-swap", identity_flips),
	FACT(class_weights, class_weights, 0, "--class-weight", NULL),
	FACT(choices, choices, 0,
	    "one kind of device and one version of its libraries", NULL),
};
#define FACTS (sizeof(facts) / sizeof(facts[0]))

static const struct identity_fact *
identity_fact(const char *name)
{
	/* The executable file is a fact that no state has. */
	static const struct identity_fact other, program = {
		.hint = "install the same build on every host" };

	for (size_t i = 0; i < FACTS; i++)
		if (strcmp(facts[i].name, name) == 0)
			return &facts[i];
	return strcmp(name, "program") == 0 ? &program : &other;
}

/* ---- the text ---- */

#define LONG 200		/* a longer value is replaced by its hash */

static const char *
identity_next(const char *at)
{
	at += strcspn(at, "\n");
	return at + (*at == '\n');
}

/* Return the value on the line at ${at} if it is of ${name}, else NULL. */
static const char *
identity_line_value(const char *at, const char *name)
{
	size_t n = strlen(name);

	return strncmp(at, name, n) == 0 && strncmp(at + n, " = ", 3) == 0 ?
	    at + n + 3 : NULL;
}

char *
identity_value(const char *text, const char *name)
{
	struct buffer b = { 0 };
	const char *value;

	for (const char *at = text; *at != '\0'; at = identity_next(at))
		if ((value = identity_line_value(at, name)) != NULL) {
			buffer_text(&b, b.data != NULL ? ", " : "");
			buffer_add(&b, value, strcspn(value, "\n"));
		}
	return b.data;
}

void
identity_add(struct buffer *b, const char *name, const char *value)
{
	char text[33];

	if (value == NULL)
		return;
	if (strlen(value) > LONG || strchr(value, '\n') != NULL)
		value = hash128_text(hash128(value, strlen(value)), text);
	buffer_printf(b, "%s = %s\n", name, value);
}

/* Append the lines of ${settings} as "--name", so that none collides with
 * another fact.  A comment is an option without a value. */
static void
identity_add_settings(struct buffer *b, const char *settings)
{
	for (const char *at = settings; *at != '\0'; at = identity_next(at))
		if (*at != '#')
			buffer_printf(b, "--%.*s\n", (int)strcspn(at, "\n"),
			    at);
}

void
identity_add_options(struct buffer *b)
{
	char *settings = options_config(OPTION_FREE_RANKS);

	identity_add_settings(b, settings);
	free(settings);
}

/* Append the network without comments and empty lines: a release that only
 * rewords them must not refuse the runs of an earlier one. */
static void
identity_add_network(struct buffer *b, const char *network)
{
	char *text = graph_uncomment(network);
	struct buffer lines = { 0 };

	for (const char *at = text; *at != '\0'; at = identity_next(at))
		if (*at != '\n')
			buffer_add(&lines, at, (size_t)(identity_next(at) -
			    at));
	buffer_text(&lines, "\n");
	identity_add(b, "network", lines.data);
	buffer_free(&lines);
	free(text);
}

void
identity_add_state(struct buffer *b, const struct state *s)
{
	for (size_t i = 0; i < FACTS; i++) {
		const char *value = *(const char *const *)((const char *)s +
		    facts[i].at);

		if (facts[i].describe == identity_network)
			identity_add_network(b, value);
		else
			identity_add(b, facts[i].name, value);
	}
	identity_add_settings(b, s->config);
}

/*
 * Call ${differs}(${of}, name, was, now) for each name that has another value
 * in ${now} than in ${was}; NULL means none.  End when it returns 1.
 */
static void
identity_compare(const char *was, const char *now, int (*differs)(void *of,
    const char *name, const char *was, const char *now), void *of)
{
	int end = 0;

	for (int side = 0; side < 2; side++)
		for (const char *at = side == 0 ? now : was; *at != '\0' &&
		    !end; at = identity_next(at)) {
			char *name = xstrndup(at, strcspn(at, " \n"));
			char *a = identity_value(was, name);
			char *b = identity_value(now, name);

			/* Only the last line of a repeated name counts. */
			if ((side == 0 || b == NULL) && (a == NULL ||
			    b == NULL || strcmp(a, b) != 0) &&
			    identity_line_value(identity_next(at), name) ==
			    NULL)
				end = differs(of, name, a, b);
			free(name);
			free(a);
			free(b);
		}
}

/* ---- between ranks ---- */

/* The identities of all ranks. */
struct identity_ranks {
	struct identity_card { struct hash128 hash; uint64_t bytes;
		char host[64]; } *card;
	char *text;
	size_t *start;			/* [ranks + 1] in ${text} */
	int ranks;
};

/* Print the values of ${name} and their ranks, as "7 on rank 0 (node1) and 62
 * more, 8 on rank 17 (node5)". */
static int
identity_ranks_differ(void *of, const char *name, const char *was,
    const char *now)
{
	const struct identity_ranks *all = of;
	const char *hint = identity_fact(name)->hint;
	char **value = xcalloc((size_t)all->ranks, sizeof(*value));
	struct buffer b = { 0 };

	(void)was;
	(void)now;
	for (int r = 0; r < all->ranks; r++)
		if ((value[r] = identity_value(all->text + all->start[r],
		    name)) == NULL)
			value[r] = xstrdup("unset");
	for (int r = 0; r < all->ranks; r++) {
		int known = 0, more = 0;

		for (int k = 0; k < r; k++)
			known |= strcmp(value[k], value[r]) == 0;
		for (int k = r + 1; k < all->ranks && !known; k++)
			more += strcmp(value[k], value[r]) == 0;
		if (!known)
			buffer_printf(&b, "%s%s on rank %d (%s)", r > 0 ? ", " :
			    "", text_quote(value[r]), r, all->card[r].host);
		if (more > 0)
			buffer_printf(&b, " and %d more", more);
	}
	fail("the ranks differ in %s: %s%s%s%s", name, b.data,
	    hint ? " (" : "", hint ? hint : "", hint ? ")" : "");
	for (int r = 0; r < all->ranks; r++)
		free(value[r]);
	free(value);
	buffer_free(&b);
	return 1;		/* other differences often follow from it */
}

int
identity_check(struct comm *c, struct buffer *mine)
{
	struct identity_ranks all = { .ranks = c->size };
	struct identity_card card;
	int other = 0, status = EXIT_RANKS;

	memset(&card, 0, sizeof(card));		/* padding is sent, too */
	buffer_add(mine, "", 1);
	card.bytes = mine->n;
	card.hash = hash128(mine->data, mine->n);
	gethostname(card.host, sizeof(card.host) - 1);
	all.card = xcalloc((size_t)c->size, sizeof(*all.card));
	all.start = xcalloc((size_t)c->size + 1, sizeof(*all.start));
	if (comm_allgather(c, &card, sizeof(card), all.card) != 0)
		goto out;
	for (int r = 0; r < c->size; r++) {
		if (other == 0 && !hash128_equal(all.card[r].hash,
		    all.card[0].hash))
			other = r;
		all.start[r + 1] = all.start[r] + all.card[r].bytes;
	}
	if (other == 0) {
		status = 0;
		goto out;
	}
	all.text = xmalloc(all.start[c->size]);
	memcpy(all.text + all.start[c->rank], mine->data, mine->n);
	if (comm_allgatherv(c, all.text, all.start) == 0 && c->rank == 0)
		identity_compare(all.text + all.start[other], all.text,
		    identity_ranks_differ, &all);
out:
	free(all.text);
	free(all.start);
	free(all.card);
	buffer_free(mine);
	return status;
}

/*
 * Write the hash of the executable file to ${text}, or "unknown" if it cannot
 * be read.
 *
 * Hash the program in pieces.  With GPU code it is large, and freeing one large
 * block raises the mmap threshold of malloc(3): later blocks of that size would
 * come from the heap and stay resident.
 */
static const char *
identity_program(char text[33])
{
	FILE *f = fopen("/proc/self/exe", "rb");
	struct hasher *h = hasher_new();
	char piece[32768];
	size_t n;

	while (f != NULL && (n = fread(piece, 1, sizeof(piece), f)) > 0)
		hasher_add(h, piece, n);
	if (f != NULL && !ferror(f))
		hash128_text(hasher_128(h), text);
	else
		strcpy(text, "unknown");
	if (f != NULL)
		fclose(f);
	hasher_free(h);
	return text;
}

int
identity_check_start(struct comm *c)
{
	struct buffer b = { 0 };
	char program[33];

	identity_add(&b, "build", version_build);
	identity_add(&b, "program", identity_program(program));
	identity_add(&b, "isa", isa_name(isa_best()));
	identity_add_options(&b);
	return identity_check(c, &b);
}

/* ---- with a checkpoint ---- */

static int
identity_is_overridden(const struct identity_resume *r, const char *name)
{
	for (size_t i = 0; i < r->override->n; i++)
		if (strcmp(r->override->item[i], name) == 0)
			return 1;
	return 0;
}

/* Print how fact ${name} differs unless it may. */
static void
identity_resume_say(struct identity_resume *r, const char *name,
    const char *was, const char *now)
{
	const struct identity_fact *f = identity_fact(name);
	const char *hint = f->hint;
	char *how;

	name += text_starts(name, "--") ? 2 : 0;
	if (strcmp(was, now) == 0 || identity_is_overridden(r, name))
		return;
	how = f->describe != NULL ? f->describe(r) : xprintf(
	    "%s was %s and is %s now", name, text_quote(was), text_quote(now));
	fail("%s: %s (%s%s--override=%s allows it)", text_quote(r->from->path),
	    how, hint ? hint : "", hint ? "; " : "", name);
	free(how);
	r->differs = 1;
}

static int
identity_resume_differs(void *of, const char *name, const char *was,
    const char *now)
{
	struct identity_resume *r = of;
	const char *option = name + 2, *removed;
	char *unset;

	if (!text_starts(name, "--")) {
		if (was != NULL && now != NULL && !identity_fact(name)->free)
			identity_resume_say(r, name, was, now);
	} else if ((removed = options_removed(option)) != NULL) {
		if (strcmp(was, removed) == 0)
			return 0;
		fail("%s: %s was %s, and this version does not have the "
		    "option (wanted %s, its default)", text_quote(
		    r->from->path), option, text_quote(was),
		    text_quote(removed));
		r->differs = 1;
	} else if (!(options_flags(option) & OPTION_FREE_RESUME)) {
		unset = identity_value(options_defaults(), option);
		identity_resume_say(r, name, was != NULL ? was :
		    unset != NULL ? unset : "unset", now != NULL ? now :
		    "unset");
		free(unset);
	}
	return 0;
}

int
identity_check_resume(const struct resume *r, const struct state *now,
    const struct schedule *schedule, uint64_t samples,
    const struct option_list *override)
{
	struct identity_resume sides = { r, &r->state, now, schedule, samples,
		override, 0 };
	struct buffer was = { 0 }, is = { 0 };

	identity_add_state(&was, &r->state);
	identity_add_state(&is, now);
	identity_compare(was.data, is.data, identity_resume_differs, &sides);
	buffer_free(&was);
	buffer_free(&is);
	return sides.differs ? -1 : 0;
}

int
identity_may_override(const char *name, struct buffer *names)
{
	int may = 0;

	for (size_t i = 0; i < FACTS; i++)
		if (!facts[i].free) {
			buffer_printf(names, "%s%s", names->n > 0 ? ", " : "",
			    facts[i].name);
			may |= strcmp(facts[i].name, name) == 0;
		}
	for (const char *at = options_defaults(); *at != '\0';
	    at = identity_next(at)) {
		const char *from = at + strspn(at, "# ");
		char *option = xstrndup(from, strcspn(from, " "));

		if (!(options_flags(option) & OPTION_FREE_RESUME)) {
			buffer_printf(names, ", %s", option);
			may |= strcmp(option, name) == 0;
		}
		free(option);
	}
	return may;
}
