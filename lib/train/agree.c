/*
 * One table of what must be the same, for two comparisons: between the ranks
 * of a run, and of a run with the checkpoint it resumes from.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "train/agree.h"

enum { RANKS = 1, RESUME = 2 };		/* between ranks; when resuming */

#define FIELD(name, when, hint) \
	{ #name, offsetof(struct identity, name), when, hint }

static const struct field {
	const char *name;		/* what --override takes */
	size_t at;			/* in struct identity */
	int when;
	const char *hint;		/* what helps; NULL: nothing special */
} field[] = {
	FIELD(program, RANKS, "install the same build on every host"),
	FIELD(build, RANKS | RESUME, NULL),
	FIELD(isa, RANKS | RESUME,
	    "VT_ISA=avx2 or base makes processors alike"),
	FIELD(library, RANKS | RESUME, NULL),
	FIELD(network, RANKS | RESUME, NULL),
	FIELD(checkpoint, RANKS, NULL),
	FIELD(classes, RANKS | RESUME, NULL),
	FIELD(data, RANKS | RESUME, NULL),
	FIELD(val, RANKS, NULL),
	FIELD(schedule, RANKS | RESUME, "steps to come may change"),
	FIELD(order, RANKS | RESUME, NULL),
};
#define FIELDS (sizeof(field) / sizeof(field[0]))

/*
 * Options that may differ, and when; all others must agree.  Between ranks,
 * those that a rank reads for itself alone: paths on its host, whose content is
 * compared; how many threads and how much memory it has; what it prints.  When
 * resuming, all that the weights do not depend on, and files whose content is
 * compared; checkpoints do not speak of these.
 */
static const struct free_setting { const char *name; int when; } free_setting[] = {
	{ "checkpoint", RANKS | RESUME },
	{ "data", RANKS | RESUME },
	{ "val", RANKS | RESUME },
	{ "out", RANKS | RESUME },
	{ "override", RANKS | RESUME },	/* rank 0 alone resumes */
	{ "trace-samples", RANKS | RESUME },
	{ "threads", RANKS | RESUME },
	{ "loader-threads", RANKS | RESUME },
	{ "loader-memory", RANKS | RESUME },
	{ "progress", RANKS | RESUME },
	{ "quiet", RANKS | RESUME },
	{ "verbose", RANKS | RESUME },
	{ "model", RESUME },
	{ "schedule", RESUME },
	{ "resume", RESUME },
	{ "save-every", RESUME },
	{ "save-steps", RESUME },
	{ "keep", RESUME },
	{ "keep-best", RESUME },
	{ "stop-after", RESUME },
	{ "step-timeout", RESUME },
	{ "max-loss", RESUME },
	{ "log-every", RESUME },
	{ "status", RESUME },
	{ "dry-run", RESUME },
	{ "bucket", RESUME },
	{ "val-every", RESUME },
	{ "val-frames", RESUME },
	{ "val-crop", RESUME },
};
#define FREE_SETTINGS (sizeof(free_setting) / sizeof(free_setting[0]))

/* What settings of checkpoints of version 0.1.0 are called now. */
static const struct { const char *then, *now; } renamed[] = {
	{ "clip", "clip-grad" },
	{ "groups", "param-groups" },
};
#define RENAMED (sizeof(renamed) / sizeof(renamed[0]))

#define NAME 96				/* room for a name */
#define LONG 200			/* a longer value is shown as its hash */

const char *
agree_program(char text[33])
{
	struct buffer b = { 0 };
	char said[200];

	fail_capture(said, sizeof(said));
	if (file_read("/proc/self/exe", &b) == 0)
		hash128_text(hash128(b.data, b.n), text);
	else
		strcpy(text, "unknown");
	fail_capture(NULL, 0);
	buffer_free(&b);
	return text;
}

/* ---- facts: all that is compared as lines, "name = value" ---- */

static int
is_free(const char *name, int when)
{
	for (size_t i = 0; i < FREE_SETTINGS; i++)
		if (strcmp(free_setting[i].name, name) == 0)
			return (free_setting[i].when & when) != 0;
	return 0;
}

static const char *
value_in(const struct identity *x, const struct field *f)
{
	return *(const char *const *)((const char *)x + f->at);
}

/* The name that the line at ${at} begins with; 0 if it sets nothing. */
static int
name_at(const char *at, char name[NAME])
{
	size_t n = strcspn(at, " \n");

	if (*at == '#' || n == 0 || n >= NAME || strncmp(at + n, " = ", 3) != 0)
		return 0;
	memcpy(name, at, n);
	name[n] = '\0';
	return 1;
}

static const char *
next_line(const char *at)
{
	at += strcspn(at, "\n");
	return at + (*at == '\n');
}

/* Options are called as they are typed, which no field is. */
static void
add_settings(struct buffer *b, const char *settings, int when)
{
	char name[NAME];

	for (const char *at = settings; *at != '\0'; at = next_line(at)) {
		const char *now = name;

		if (!name_at(at, name))
			continue;
		for (size_t i = 0; i < RENAMED; i++)
			if (strcmp(renamed[i].then, name) == 0)
				now = renamed[i].now;
		if (!is_free(now, when))
			buffer_printf(b, "--%s = %.*s\n", now, (int)
			    strcspn(at + strlen(name) + 3, "\n"),
			    at + strlen(name) + 3);
	}
}

static char *
facts_of(const struct identity *x, int when)
{
	struct buffer b = { 0 };
	char text[33];

	buffer_add(&b, "", 0);
	for (size_t i = 0; i < FIELDS; i++) {
		const char *v = value_in(x, &field[i]);

		if (!(field[i].when & when) || v == NULL)
			continue;
		if (strlen(v) > LONG || strchr(v, '\n') != NULL)
			v = hash128_text(hash128(v, strlen(v)), text);
		buffer_printf(&b, "%s = %s\n", field[i].name, v);
	}
	if (x->settings != NULL)
		add_settings(&b, x->settings, when);
	return b.data;
}

/* The value of ${name} in ${facts}, the caller's to free; NULL: unset. */
static char *
fact(const char *facts, const char *name)
{
	char other[NAME];

	for (const char *at = facts; *at != '\0'; at = next_line(at))
		if (name_at(at, other) && strcmp(other, name) == 0) {
			at += strlen(name) + 3;
			return xstrndup(at, strcspn(at, "\n"));
		}
	return NULL;
}

static const char *
hint_of(const char *name)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (strcmp(field[i].name, name) == 0)
			return field[i].hint;
	return NULL;
}

/* ---- between ranks ---- */

struct card { struct hash128 hash; uint64_t bytes; char host[64]; };

/* "7 on rank 0 (node1) and 62 more, 8 on rank 17 (node5)" */
static void
who_has_what(struct buffer *b, const char *name, const struct card *card,
    const char *facts, size_t most, int ranks)
{
	char **value = xcalloc((size_t)ranks, sizeof(*value));

	for (int r = 0; r < ranks; r++) {
		value[r] = fact(facts + (size_t)r * most, name);
		if (value[r] == NULL)
			value[r] = xstrdup("unset");
	}
	for (int r = 0; r < ranks; r++) {
		int known = 0, more = 0;

		for (int k = 0; k < r && !known; k++)
			known = strcmp(value[k], value[r]) == 0;
		if (known)
			continue;
		for (int k = r + 1; k < ranks; k++)
			more += strcmp(value[k], value[r]) == 0;
		buffer_printf(b, "%s%s on rank %d (%s)", r > 0 ? ", " : "",
		    text_quote(value[r]), r, card[r].host);
		if (more > 0)
			buffer_printf(b, " and %d more", more);
	}
	for (int r = 0; r < ranks; r++)
		free(value[r]);
	free(value);
}

/* The first thing in which rank ${r} is not like rank 0. */
static int
first_difference(const char *mine, const char *other, char name[NAME])
{
	for (int side = 0; side < 2; side++) {
		const char *these = side == 0 ? mine : other;
		const char *those = side == 0 ? other : mine;

		for (const char *at = these; *at != '\0'; at = next_line(at)) {
			char *a, *b;
			int same;

			if (!name_at(at, name))
				continue;
			a = fact(these, name);
			b = fact(those, name);
			same = b != NULL && strcmp(a, b) == 0;
			free(a);
			free(b);
			if (!same)
				return 1;
		}
	}
	return 0;
}

static void
say_difference(const struct card *card, const char *facts, size_t most,
    int ranks)
{
	struct buffer b = { 0 };
	char name[NAME];
	const char *hint;
	int r = 1;

	while (hash128_equal(card[r].hash, card[0].hash))
		r++;
	if (!first_difference(facts, facts + (size_t)r * most, name))
		strcpy(name, "settings");
	who_has_what(&b, name, card, facts, most, ranks);
	hint = hint_of(name);
	fail("the ranks differ in %s: %s%s%s%s", name, b.data,
	    hint ? " (" : "", hint ? hint : "", hint ? ")" : "");
	buffer_free(&b);
}

int
agree_ranks(struct comm *c, const struct identity *mine)
{
	char *facts = facts_of(mine, RANKS), *all_facts = NULL, *padded = NULL;
	struct card card, *all = xcalloc((size_t)c->size, sizeof(*all));
	size_t most = 0;
	int same = 1, result = -1;

	memset(&card, 0, sizeof(card));		/* its holes are sent too */
	card.bytes = strlen(facts) + 1;
	card.hash = hash128(facts, card.bytes);
	gethostname(card.host, sizeof(card.host) - 1);
	if (comm_allgather(c, &card, sizeof(card), all) != 0)
		goto out;
	for (int r = 0; r < c->size; r++) {
		same &= hash128_equal(all[r].hash, all[0].hash);
		most = all[r].bytes > most ? all[r].bytes : most;
	}
	if (same) {
		result = 0;
		goto out;
	}
	padded = xcalloc(most, 1);
	memcpy(padded, facts, card.bytes);
	all_facts = xcalloc((size_t)c->size, most);
	if (comm_allgather(c, padded, most, all_facts) == 0 && c->rank == 0)
		say_difference(all, all_facts, most, c->size);
out:
	free(padded);
	free(all_facts);
	free(all);
	free(facts);
	return result;
}

/* ---- with a checkpoint ---- */

static int
is_overridden(const char *name, const struct option_list *override)
{
	for (size_t i = 0; i < override->n; i++)
		if (strcmp(override->item[i], name) == 0)
			return 1;
	return 0;
}

/* A fact as messages and --override call it. */
static const char *
plain_name(const char *name)
{
	return text_starts(name, "--") ? name + 2 : name;
}

/* 0 if ${name} is the same in both, or may differ; else 1 after a message. */
static int
differs(const char *path, const char *name, const char *was, const char *is,
    const struct option_list *override)
{
	const char *hint = hint_of(name);

	name = plain_name(name);
	if (strcmp(was, is) == 0 || is_overridden(name, override))
		return 0;
	fail("%s: %s was %s and is %s now (%s%s--override=%s allows it)",
	    text_quote(path), name, text_quote(was), text_quote(is),
	    hint ? hint : "", hint ? "; " : "", name);
	return 1;
}

/*
 * Each thing that is known of both.  A setting that the checkpoint does not
 * speak of is younger than the checkpoint, and was what it is by default.
 */
int
agree_resume(const char *path, const struct identity *was,
    const struct identity *now, const struct option_list *override)
{
	char *then = facts_of(was, RESUME), *today = facts_of(now, RESUME);
	const struct identity defaults = { .settings = options_defaults() };
	char *unset = facts_of(&defaults, RESUME), name[NAME];
	int bad = 0;

	for (const char *at = today; *at != '\0'; at = next_line(at)) {
		char *a, *b;

		if (!name_at(at, name))
			continue;
		a = fact(then, name);
		b = fact(today, name);
		if (a == NULL && text_starts(name, "--") &&
		    (a = fact(unset, name)) == NULL)
			a = xstrdup("unset");
		if (a != NULL)
			bad |= differs(path, name, a, b, override);
		free(a);
		free(b);
	}
	/* What it had and is not set now. */
	for (const char *at = then; *at != '\0'; at = next_line(at)) {
		char *a, *b;

		if (!name_at(at, name) || !text_starts(name, "--"))
			continue;
		a = fact(then, name);
		b = fact(today, name);
		if (b == NULL)
			bad |= differs(path, name, a, "unset", override);
		free(a);
		free(b);
	}
	free(then);
	free(today);
	free(unset);
	return bad ? -1 : 0;
}

char *
agree_recipe(void)
{
	struct buffer except = { 0 };
	char *text;

	buffer_text(&except, " ");
	for (size_t i = 0; i < FREE_SETTINGS; i++)
		if (free_setting[i].when & RESUME)
			buffer_printf(&except, "%s ", free_setting[i].name);
	text = options_config(except.data);
	buffer_free(&except);
	return text;
}

/* ---- --override ---- */

int
agree_may_override(const char *name)
{
	const struct identity defaults = { .settings = options_defaults() };
	char *facts = facts_of(&defaults, RESUME), *option, *value;
	int there;

	for (size_t i = 0; i < FIELDS; i++)
		if (strcmp(field[i].name, name) == 0 && (field[i].when & RESUME)) {
			free(facts);
			return 1;
		}
	option = xprintf("--%s", name);
	value = fact(facts, option);
	free(facts);
	free(option);
	there = value != NULL;
	free(value);
	return there;
}

void
agree_overrides(struct buffer *b)
{
	const struct identity defaults = { .settings = options_defaults() };
	char *facts = facts_of(&defaults, RESUME), name[NAME];
	const char *comma = "";

	for (size_t i = 0; i < FIELDS; i++)
		if (field[i].when & RESUME) {
			buffer_printf(b, "%s%s", comma, field[i].name);
			comma = ", ";
		}
	for (const char *at = facts; *at != '\0'; at = next_line(at))
		if (name_at(at, name))
			buffer_printf(b, "%s%s", comma, plain_name(name));
	free(facts);
}
