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
#include "train/run/fingerprint.h"

#define FIELD(name, when, hint) \
	{ #name, offsetof(struct fingerprint, name), when, hint }

static const struct fingerprint_field {
	const char *name;		/* also for --override */
	size_t at;			/* offset in struct fingerprint */
	int when;			/* FINGERPRINT_* bits */
	const char *hint;		/* advice if it differs; NULL: none */
} field[] = {
	FIELD(build, FINGERPRINT_RANKS, "install the same build on every host"),
	FIELD(program, FINGERPRINT_RANKS, "install the same build on every "
	"host"),
	FIELD(results, FINGERPRINT_RESUME,
	    "this version computes other weights; resume with the earlier one"),
	FIELD(isa, FINGERPRINT_RANKS | FINGERPRINT_RESUME,
	    "VT_ISA=avx2 or base makes processors alike"),
	FIELD(library, FINGERPRINT_RANKS | FINGERPRINT_RESUME, NULL),
	FIELD(precision, FINGERPRINT_RANKS | FINGERPRINT_RESUME, NULL),
	FIELD(network, FINGERPRINT_RANKS | FINGERPRINT_RESUME, NULL),
	FIELD(checkpoint, FINGERPRINT_RANKS, NULL),
	FIELD(classes, FINGERPRINT_RANKS | FINGERPRINT_RESUME, NULL),
	FIELD(data, FINGERPRINT_RANKS | FINGERPRINT_RESUME, NULL),
	FIELD(val, FINGERPRINT_RANKS, NULL),
	FIELD(schedule, FINGERPRINT_RANKS | FINGERPRINT_RESUME, "steps to come "
	"may change"),
	FIELD(order, FINGERPRINT_RANKS | FINGERPRINT_RESUME, NULL),
	FIELD(flips, FINGERPRINT_RANKS | FINGERPRINT_RESUME, "--flip-swap"),
	FIELD(class_weights, FINGERPRINT_RANKS | FINGERPRINT_RESUME,
	    "--class-weight"),
	FIELD(choices, FINGERPRINT_RANKS | FINGERPRINT_RESUME,
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
static const struct fingerprint_free_setting { const char *name; int when;
	} free_setting[] = {
	{ "data", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	{ "val", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	{ "output", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	{ "override", FINGERPRINT_RANKS | FINGERPRINT_RESUME },	/* rank 0 alone
							 * resumes */
	{ "flip-swap", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	{ "class-weight", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	{ "trace-samples", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	/* The field precision has the precision that results. */
	{ "precision", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	{ "threads", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	{ "loader-threads", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	{ "loader-memory", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	{ "root", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	/* The field data has the content of videos that results. */
	{ "short-side", FINGERPRINT_RESUME },
	{ "fps", FINGERPRINT_RESUME },
	{ "on-error", FINGERPRINT_RESUME },
	{ "stage", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	{ "stage-command", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	{ "progress", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	{ "quiet", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	{ "verbose", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	{ "model", FINGERPRINT_RESUME },
	{ "schedule", FINGERPRINT_RESUME },
	{ "resume", FINGERPRINT_RESUME },
	/* rank 0 alone reads it */
	{ "init", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	{ "init-partial", FINGERPRINT_RESUME },
	{ "export", FINGERPRINT_RESUME },
	{ "names", FINGERPRINT_RESUME },
	{ "save-every", FINGERPRINT_RESUME },
	{ "save-steps", FINGERPRINT_RESUME },
	{ "keep", FINGERPRINT_RESUME },
	{ "keep-best", FINGERPRINT_RESUME },
	{ "use-ema", FINGERPRINT_RESUME },
	{ "shard-optimizer", FINGERPRINT_RESUME },
	{ "stop-after", FINGERPRINT_RESUME },
	{ "step-timeout", FINGERPRINT_RESUME },
	/* The field choices has the algorithms that result. */
	{ "autotune", FINGERPRINT_RESUME },
	{ "fuse", FINGERPRINT_RESUME },
	{ "max-loss", FINGERPRINT_RESUME },
	{ "on-nan", FINGERPRINT_RESUME },
	{ "on-corrupt", FINGERPRINT_RESUME },
	{ "log-every", FINGERPRINT_RESUME },
	{ "tensorboard", FINGERPRINT_RESUME },
	/* rank 0 alone reads it */
	{ "replay", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	{ "replay-steps", FINGERPRINT_RESUME },
	{ "audit", FINGERPRINT_RESUME },
	{ "audit-report", FINGERPRINT_RESUME },
	{ "status", FINGERPRINT_RESUME },
	{ "dry-run", FINGERPRINT_RESUME },
	{ "time", FINGERPRINT_RESUME },
	{ "parity", FINGERPRINT_RESUME },
	{ "noise-scale", FINGERPRINT_RESUME },
	{ "bucket", FINGERPRINT_RESUME },
	{ "allreduce", FINGERPRINT_RESUME },
	/* rank 0 alone reads it */
	{ "allreduce-table", FINGERPRINT_RANKS | FINGERPRINT_RESUME },
	{ "val-every", FINGERPRINT_RESUME },
	{ "val-frames", FINGERPRINT_RESUME },
	{ "val-crop", FINGERPRINT_RESUME },
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
fingerprint_is_free(const char *name, int when)
{
	for (size_t i = 0; i < FREE_SETTINGS; i++)
		if (strcmp(free_setting[i].name, name) == 0)
			return (free_setting[i].when & when) != 0;
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

		if (!(field[i].when & when) || v == NULL)
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
fingerprint_value_before(const char *name)
{
	for (size_t i = 0; i < UNNAMED; i++)
		if (strcmp(unnamed[i].name, name) == 0)
			return unnamed[i].then;
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
		if (free_setting[i].when & FINGERPRINT_RESUME)
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
	char *fingerprint = fingerprint_text(&defaults, FINGERPRINT_RESUME),
	    *option, *value;
	int there;

	for (size_t i = 0; i < FIELDS; i++)
		if (strcmp(field[i].name, name) == 0 &&
		    (field[i].when & FINGERPRINT_RESUME)) {
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
	char *fingerprint = fingerprint_text(&defaults, FINGERPRINT_RESUME),
	    name[FINGERPRINT_NAME];
	const char *comma = "";

	for (size_t i = 0; i < FIELDS; i++)
		if (field[i].when & FINGERPRINT_RESUME) {
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
