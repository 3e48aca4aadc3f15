/*
 * The tables of facts and options in the fingerprint of a run.  They are
 * compared between the ranks of a run, and with the checkpoint it resumes from.
 * A row without a mark is compared in both, and so is an option without a row:
 * a new one is compared until somebody decides otherwise.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/options.h"
#include "base/text.h"
#include "graph/graph.h"
#include "train/run/fingerprint.h"

/* Marks: the comparisons in which a row is free. */
enum { RANKS = FINGERPRINT_RANKS, RESUME = FINGERPRINT_RESUME,
	BOTH = RANKS | RESUME };

#define FIELD(name, free, hint) \
	{ #name, offsetof(struct fingerprint, name), free, hint }

static const struct fingerprint_field {
	const char *name;		/* also for --override */
	size_t at;			/* offset in struct fingerprint */
	int free;			/* marks */
	const char *hint;		/* advice if it differs; NULL: none */
} field[] = {
	/* Another build resumes a run if its results number agrees. */
	FIELD(build, RESUME,
	    "install the same build on every host"),
	FIELD(program, RESUME,
	    "install the same build on every host"),
	/* Equal builds have equal numbers. */
	FIELD(results, RANKS,
	    "this version computes other weights; resume with the earlier one"),
	FIELD(isa, 0, "VT_ISA=avx2 or base makes processors alike"),
	FIELD(library, 0, NULL),
	FIELD(precision, 0, NULL),
	FIELD(network, 0, NULL),
	/* Only vt-eval has one, which does not resume. */
	FIELD(checkpoint, RESUME, NULL),
	FIELD(classes, 0, NULL),
	FIELD(data, 0, NULL),
	/* A validation changes no weight. */
	FIELD(val, RESUME, NULL),
	FIELD(schedule, 0, "steps to come may change"),
	FIELD(order, 0, NULL),
	FIELD(flips, 0, "--flip-swap"),
	FIELD(class_weights, 0, "--class-weight"),
	FIELD(choices, 0,
	    "one kind of device and one version of its libraries"),
};
#define FIELDS (sizeof(field) / sizeof(field[0]))

/*
 * Options that are free in one comparison or both; all others must agree.
 * Checkpoints do not store those that are free at a resume.
 */
static const struct fingerprint_free {
	const char *name;
	int free;
} free_setting[] = {
	/* The content of these files is a fact. */
	{ "data", BOTH }, { "val", BOTH }, { "flip-swap", BOTH },
	{ "class-weight", BOTH }, { "model", RESUME }, { "schedule", RESUME },
	/* Rank 0 alone reads these. */
	{ "override", BOTH }, { "init", BOTH }, { "replay", BOTH },
	{ "allreduce-table", BOTH },
	/* Places and resources of a host. */
	{ "output", BOTH }, { "trace-samples", BOTH }, { "root", BOTH },
	{ "stage", BOTH }, { "stage-command", BOTH }, { "threads", BOTH },
	{ "loader-threads", BOTH }, { "loader-memory", BOTH },
	/* Output. */
	{ "progress", BOTH }, { "quiet", BOTH }, { "verbose", BOTH },
	/* Facts hold their results: precision, data and choices. */
	{ "precision", BOTH }, { "short-side", RESUME }, { "fps", RESUME },
	{ "on-error", RESUME }, { "autotune", RESUME }, { "fuse", RESUME },
	/* The bits are the same for all values. */
	{ "shard-optimizer", RESUME }, { "bucket", RESUME },
	{ "allreduce", RESUME },
	/* A validation changes no weight. */
	{ "val-every", RESUME }, { "val-frames", RESUME },
	{ "val-crop", RESUME }, { "use-ema", RESUME },
	/* When a run saves, logs, checks itself, stops or fails. */
	{ "save-every", RESUME }, { "save-steps", RESUME }, { "keep", RESUME },
	{ "keep-best", RESUME }, { "stop-after", RESUME },
	{ "step-timeout", RESUME }, { "max-loss", RESUME },
	{ "on-nan", RESUME }, { "on-corrupt", RESUME },
	{ "log-every", RESUME }, { "tensorboard", RESUME },
	{ "audit", RESUME }, { "audit-report", RESUME },
	{ "noise-scale", RESUME },
	/* The work of one start of the command. */
	{ "resume", RESUME }, { "init-partial", RESUME },
	{ "replay-steps", RESUME }, { "status", RESUME }, { "export", RESUME },
	{ "names", RESUME }, { "dry-run", RESUME }, { "time", RESUME },
	{ "parity", RESUME },
};
#define FREE_SETTINGS (sizeof(free_setting) / sizeof(free_setting[0]))

#define LONG 200			/* a longer value is replaced by its
					 * hash */

static int
fingerprint_is_free(const char *name, int when)
{
	for (size_t i = 0; i < FREE_SETTINGS; i++)
		if (strcmp(free_setting[i].name, name) == 0)
			return (free_setting[i].free & when) != 0;
	return 0;
}

const char *
fingerprint_next(const char *at)
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
fingerprint_value_in(const struct fingerprint *x,
    const struct fingerprint_field *f, struct buffer *b)
{
	const char *v = *(const char *const *)((const char *)x + f->at);
	char *text;

	if (v == NULL || f->at != offsetof(struct fingerprint, network))
		return v;
	text = graph_uncomment(v);
	b->n = 0;
	for (const char *at = text; *at != '\0'; at = fingerprint_next(at))
		if (*at != '\n')
			buffer_add(b, at, (size_t)(fingerprint_next(at) - at));
	buffer_text(b, "\n");
	free(text);
	return b->data;
}

int
fingerprint_name(const char *at, char name[FINGERPRINT_NAME])
{
	size_t n = strcspn(at, " \n");

	if (*at == '#' || n == 0 || n >= FINGERPRINT_NAME ||
	    strncmp(at + n, " = ", 3) != 0)
		return 0;
	memcpy(name, at, n);
	name[n] = '\0';
	return 1;
}

/* Append the options of ${settings} as "--name", so that none collides with a
 * field. */
static void
fingerprint_add_settings(struct buffer *b, const char *settings, int when)
{
	char name[FINGERPRINT_NAME];

	for (const char *at = settings; *at != '\0'; at = fingerprint_next(at))
		if (fingerprint_name(at, name) && !fingerprint_is_free(name,
		    when))
			buffer_printf(b, "--%s = %.*s\n", name, (int)
			    strcspn(at + strlen(name) + 3, "\n"),
			    at + strlen(name) + 3);
}

char *
fingerprint_text(const struct fingerprint *x, int when)
{
	struct buffer b = { 0 }, value = { 0 };
	char text[33];

	buffer_add(&b, "", 0);
	for (size_t i = 0; i < FIELDS; i++) {
		const char *v = fingerprint_value_in(x, &field[i], &value);

		if ((field[i].free & when) || v == NULL)
			continue;
		if (strlen(v) > LONG || strchr(v, '\n') != NULL)
			v = hash128_text(hash128(v, strlen(v)), text);
		buffer_printf(&b, "%s = %s\n", field[i].name, v);
	}
	if (x->settings != NULL)
		fingerprint_add_settings(&b, x->settings, when);
	buffer_free(&value);
	return b.data;
}

char *
fingerprint_value(const char *fingerprint, const char *name)
{
	char other[FINGERPRINT_NAME];

	for (const char *at = fingerprint; *at != '\0';
	    at = fingerprint_next(at))
		if (fingerprint_name(at, other) && strcmp(other, name) == 0) {
			at += strlen(name) + 3;
			return xstrndup(at, strcspn(at, "\n"));
		}
	return NULL;
}

const char *
fingerprint_hint(const char *name)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (strcmp(field[i].name, name) == 0)
			return field[i].hint;
	return NULL;
}

char *
fingerprint_recipe(void)
{
	struct buffer except = { 0 };
	char *text;

	buffer_text(&except, " ");
	for (size_t i = 0; i < FREE_SETTINGS; i++)
		if (free_setting[i].free & RESUME)
			buffer_printf(&except, "%s ", free_setting[i].name);
	text = options_config(except.data);
	buffer_free(&except);
	return text;
}

const char *
fingerprint_option_name(const char *name)
{
	return text_starts(name, "--") ? name + 2 : name;
}

int
fingerprint_may_override(const char *name)
{
	const struct fingerprint defaults = { .settings = options_defaults() };
	char *fingerprint = fingerprint_text(&defaults, RESUME);
	char *option, *value;
	int there;

	for (size_t i = 0; i < FIELDS; i++)
		if (strcmp(field[i].name, name) == 0 &&
		    !(field[i].free & RESUME)) {
			free(fingerprint);
			return 1;
		}
	option = xprintf("--%s", name);
	value = fingerprint_value(fingerprint, option);
	free(fingerprint);
	free(option);
	there = value != NULL;
	free(value);
	return there;
}

void
fingerprint_overrides(struct buffer *b)
{
	const struct fingerprint defaults = { .settings = options_defaults() };
	char *fingerprint = fingerprint_text(&defaults, RESUME);
	char name[FINGERPRINT_NAME];
	const char *comma = "";

	for (size_t i = 0; i < FIELDS; i++)
		if (!(field[i].free & RESUME)) {
			buffer_printf(b, "%s%s", comma, field[i].name);
			comma = ", ";
		}
	for (const char *at = fingerprint; *at != '\0';
	    at = fingerprint_next(at))
		if (fingerprint_name(at, name))
			buffer_printf(b, "%s%s", comma,
			    fingerprint_option_name(name));
	free(fingerprint);
}
