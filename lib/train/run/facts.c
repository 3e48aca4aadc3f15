/*
 * The table of facts in the fingerprint of a run, with the comparisons in which
 * each takes part: between the ranks of a run, and with the checkpoint it
 * resumes from.
 *
 * An option is compared unless free_setting lists it.  So a new option is
 * compared until somebody decides otherwise.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/options.h"
#include "base/text.h"
#include "graph/graph.h"
#include "train/run/facts.h"

#define FIELD(name, when, hint) \
	{ #name, offsetof(struct identity, name), when, hint }

static const struct facts_field {
	const char *name;		/* also for --override */
	size_t at;			/* offset in struct identity */
	int when;			/* FACT_* bits */
	const char *hint;		/* advice if it differs; NULL: none */
} field[] = {
	FIELD(build, FACT_RANKS, "install the same build on every host"),
	FIELD(program, FACT_RANKS, "install the same build on every host"),
	FIELD(results, FACT_RESUME,
	    "this version computes other weights; resume with the earlier one"),
	FIELD(isa, FACT_RANKS | FACT_RESUME,
	    "VT_ISA=avx2 or base makes processors alike"),
	FIELD(library, FACT_RANKS | FACT_RESUME, NULL),
	FIELD(precision, FACT_RANKS | FACT_RESUME, NULL),
	FIELD(network, FACT_RANKS | FACT_RESUME, NULL),
	FIELD(checkpoint, FACT_RANKS, NULL),
	FIELD(classes, FACT_RANKS | FACT_RESUME, NULL),
	FIELD(data, FACT_RANKS | FACT_RESUME, NULL),
	FIELD(val, FACT_RANKS, NULL),
	FIELD(schedule, FACT_RANKS | FACT_RESUME, "steps to come may change"),
	FIELD(order, FACT_RANKS | FACT_RESUME, NULL),
	FIELD(flips, FACT_RANKS | FACT_RESUME, "--flip-swap"),
	FIELD(choices, FACT_RANKS | FACT_RESUME,
	    "one kind of device and one version of its libraries"),
};
#define FIELDS (sizeof(field) / sizeof(field[0]))

/*
 * Options that may differ, and in which comparisons; all others must agree.
 *
 * Between ranks, these are options that concern one rank: paths on its host,
 * whose content is compared; its threads and memory; its output.  When
 * resuming, these are options that do not affect the weights, and paths of
 * files whose content is compared.  Checkpoints do not store the latter.
 */
static const struct facts_free_setting { const char *name; int when; } free_setting[] = {
	{ "data", FACT_RANKS | FACT_RESUME },
	{ "val", FACT_RANKS | FACT_RESUME },
	{ "output", FACT_RANKS | FACT_RESUME },
	{ "override", FACT_RANKS | FACT_RESUME },	/* rank 0 alone
							 * resumes */
	{ "flip-swap", FACT_RANKS | FACT_RESUME },
	{ "trace-samples", FACT_RANKS | FACT_RESUME },
	/* The field precision has the precision that results. */
	{ "precision", FACT_RANKS | FACT_RESUME },
	{ "threads", FACT_RANKS | FACT_RESUME },
	{ "loader-threads", FACT_RANKS | FACT_RESUME },
	{ "loader-memory", FACT_RANKS | FACT_RESUME },
	{ "progress", FACT_RANKS | FACT_RESUME },
	{ "quiet", FACT_RANKS | FACT_RESUME },
	{ "verbose", FACT_RANKS | FACT_RESUME },
	{ "model", FACT_RESUME },
	{ "schedule", FACT_RESUME },
	{ "resume", FACT_RESUME },
	{ "init", FACT_RANKS | FACT_RESUME },		/* rank 0 alone reads
							 * it */
	{ "init-partial", FACT_RESUME },
	{ "export", FACT_RESUME },
	{ "names", FACT_RESUME },
	{ "save-every", FACT_RESUME },
	{ "save-steps", FACT_RESUME },
	{ "keep", FACT_RESUME },
	{ "keep-best", FACT_RESUME },
	{ "use-ema", FACT_RESUME },
	{ "shard-optimizer", FACT_RESUME },
	{ "stop-after", FACT_RESUME },
	{ "step-timeout", FACT_RESUME },
	/* The field choices has the algorithms that result. */
	{ "autotune", FACT_RESUME },
	{ "fuse", FACT_RESUME },
	{ "max-loss", FACT_RESUME },
	{ "on-nan", FACT_RESUME },
	{ "on-corrupt", FACT_RESUME },
	{ "log-every", FACT_RESUME },
	{ "tensorboard", FACT_RESUME },
	{ "replay", FACT_RANKS | FACT_RESUME },	/* rank 0 alone reads it */
	{ "replay-steps", FACT_RESUME },
	{ "audit", FACT_RESUME },
	{ "audit-report", FACT_RESUME },
	{ "status", FACT_RESUME },
	{ "dry-run", FACT_RESUME },
	{ "time", FACT_RESUME },
	{ "parity", FACT_RESUME },
	{ "noise-scale", FACT_RESUME },
	{ "bucket", FACT_RESUME },
	{ "allreduce", FACT_RESUME },
	{ "allreduce-table", FACT_RANKS | FACT_RESUME },	/* rank 0 alone
								 * reads it */
	{ "val-every", FACT_RESUME },
	{ "val-frames", FACT_RESUME },
	{ "val-crop", FACT_RESUME },
};
#define FREE_SETTINGS (sizeof(free_setting) / sizeof(free_setting[0]))

/* Options that were added with a default other than the earlier behavior, and
 * the value for that behavior. */
static const struct { const char *name, *then; } unnamed[] = {
	{ "--resize", "bilinear" },
	{ "--precise-bn", "0" },
};
#define UNNAMED (sizeof(unnamed) / sizeof(unnamed[0]))

#define LONG 200			/* a longer value is replaced by its
					 * hash */

static int
facts_is_free(const char *name, int when)
{
	for (size_t i = 0; i < FREE_SETTINGS; i++)
		if (strcmp(free_setting[i].name, name) == 0)
			return (free_setting[i].when & when) != 0;
	return 0;
}

const char *
fact_next(const char *at)
{
	at += strcspn(at, "\n");
	return at + (*at == '\n');
}

/*
 * Return the value of a field, or NULL if the run has none.  The network counts
 * without comments and empty lines: a release that only rewords them must not
 * refuse the runs of an earlier one.  ${b} is a workspace.
 */
static const char *
facts_value_in(const struct identity *x, const struct facts_field *f,
    struct buffer *b)
{
	const char *v = *(const char *const *)((const char *)x + f->at);
	char *text;

	if (v == NULL || f->at != offsetof(struct identity, network))
		return v;
	text = graph_uncomment(v);
	b->n = 0;
	for (const char *at = text; *at != '\0'; at = fact_next(at))
		if (*at != '\n')
			buffer_add(b, at, (size_t)(fact_next(at) - at));
	buffer_text(b, "\n");
	free(text);
	return b->data;
}

int
fact_name(const char *at, char name[FACT_NAME])
{
	size_t n = strcspn(at, " \n");

	if (*at == '#' || n == 0 || n >= FACT_NAME ||
	    strncmp(at + n, " = ", 3) != 0)
		return 0;
	memcpy(name, at, n);
	name[n] = '\0';
	return 1;
}

/* Append the options of ${settings} as "--name", so that none collides with a
 * field. */
static void
facts_add_settings(struct buffer *b, const char *settings, int when)
{
	char name[FACT_NAME];

	for (const char *at = settings; *at != '\0'; at = fact_next(at))
		if (fact_name(at, name) && !facts_is_free(name, when))
			buffer_printf(b, "--%s = %.*s\n", name, (int)
			    strcspn(at + strlen(name) + 3, "\n"),
			    at + strlen(name) + 3);
}

char *
facts_of(const struct identity *x, int when)
{
	struct buffer b = { 0 }, value = { 0 };
	char text[33];

	buffer_add(&b, "", 0);
	for (size_t i = 0; i < FIELDS; i++) {
		const char *v = facts_value_in(x, &field[i], &value);

		if (!(field[i].when & when) || v == NULL)
			continue;
		if (strlen(v) > LONG || strchr(v, '\n') != NULL)
			v = hash128_text(hash128(v, strlen(v)), text);
		buffer_printf(&b, "%s = %s\n", field[i].name, v);
	}
	if (x->settings != NULL)
		facts_add_settings(&b, x->settings, when);
	buffer_free(&value);
	return b.data;
}

char *
fact_value(const char *facts, const char *name)
{
	char other[FACT_NAME];

	for (const char *at = facts; *at != '\0'; at = fact_next(at))
		if (fact_name(at, other) && strcmp(other, name) == 0) {
			at += strlen(name) + 3;
			return xstrndup(at, strcspn(at, "\n"));
		}
	return NULL;
}

const char *
fact_before(const char *name)
{
	for (size_t i = 0; i < UNNAMED; i++)
		if (strcmp(unnamed[i].name, name) == 0)
			return unnamed[i].then;
	return NULL;
}

const char *
fact_hint(const char *name)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (strcmp(field[i].name, name) == 0)
			return field[i].hint;
	return NULL;
}

char *
facts_recipe(void)
{
	struct buffer except = { 0 };
	char *text;

	buffer_text(&except, " ");
	for (size_t i = 0; i < FREE_SETTINGS; i++)
		if (free_setting[i].when & FACT_RESUME)
			buffer_printf(&except, "%s ", free_setting[i].name);
	text = options_config(except.data);
	buffer_free(&except);
	return text;
}

const char *
fact_plain(const char *name)
{
	return text_starts(name, "--") ? name + 2 : name;
}

int
facts_may_override(const char *name)
{
	const struct identity defaults = { .settings = options_defaults() };
	char *facts = facts_of(&defaults, FACT_RESUME), *option, *value;
	int there;

	for (size_t i = 0; i < FIELDS; i++)
		if (strcmp(field[i].name, name) == 0 &&
		    (field[i].when & FACT_RESUME)) {
			free(facts);
			return 1;
		}
	option = xprintf("--%s", name);
	value = fact_value(facts, option);
	free(facts);
	free(option);
	there = value != NULL;
	free(value);
	return there;
}

void
facts_overrides(struct buffer *b)
{
	const struct identity defaults = { .settings = options_defaults() };
	char *facts = facts_of(&defaults, FACT_RESUME), name[FACT_NAME];
	const char *comma = "";

	for (size_t i = 0; i < FIELDS; i++)
		if (field[i].when & FACT_RESUME) {
			buffer_printf(b, "%s%s", comma, field[i].name);
			comma = ", ";
		}
	for (const char *at = facts; *at != '\0'; at = fact_next(at))
		if (fact_name(at, name))
			buffer_printf(b, "%s%s", comma, fact_plain(name));
	free(facts);
}
