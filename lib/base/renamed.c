/*
 * Old names of options.  One table serves the command line, the environment and
 * files, so that no place forgets a name.  Rows are never removed, because
 * checkpoints keep their settings.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/renamed.h"

/* tests/commands/renamed.sh parses these rows and compares them with
 * share/NEWS.md. */
const struct renamed_option renamed_options[] = {
	/* since 0.1.0 */
	{ "vt-schedule", "lr-steps", "milestones" },
	{ "vt-train", "clip", "clip-grad" },
	{ "vt-train", "groups", "param-groups" },
	{ "vt-eval", "leaf", "microbatch" },
	/* since 0.2.0 */
	{ "vt-extract", "list", "annotations" },
	{ "vt-extract", "list-format", "annotations-format" },
	{ "vt-extract", "memory", "spool-memory" },
	{ "vt-pack", "input", "data" },
	{ "vt-pack", "rest", "continue" },
	{ "vt-schedule", "follow", "batch-scaling" },
	{ "vt-schedule", "at", "locate" },
	{ "vt-train", "out", "output" },
	{ "vt-train", "augment", "crop-rule" },
	{ "vt-train", "erase", "random-erase" },
	{ "vt-train", "trust", "trust-coefficient" },
	{ "vt-train", "grow-batch", "batch-growth-max" },
	{ "vt-train", "grow-by", "batch-growth-factor" },
	{ "vt-train", "grow-above", "batch-growth-threshold" },
	{ "vt-train", "grow-after", "batch-growth-patience" },
	{ "vt-train", "steps", "replay-steps" },
	{ "vt-train", "choices", "autotune" },
	{ "vt-train", "exchange", "comm-dtype" },
	{ "vt-eval", "m", "k" },
	{ "vt-eval", "model", "checkpoint" },
	{ "vt-eval", "full", "full-short-side" },
	{ "vt-bench", "classes", "num-classes" },
	{ "vt-bench", "exchange", "comm-dtype" },
	{ "vt-bench", "hidden", "overlap" },
	{ "vt-bench", "augment", "crop-rule" },
	{ "vt-bench", "erase", "random-erase" },
	{ "vt-bench", "check", "verify" },
	{ "vt-bench", "choices", "autotune" },
	{ NULL, NULL, NULL }
};

const char *
renamed_now(const char *command, const char *old)
{
	for (const struct renamed_option *r = renamed_options; r->command; r++)
		if (strcmp(r->old, old) == 0 && strcmp(r->command, command) == 0)
			return r->now;
	return NULL;
}

char *
renamed_settings(const char *command, const char *text)
{
	struct buffer b = { 0 };
	char name[80];

	buffer_add(&b, "", 0);
	while (*text != '\0') {
		size_t line = strcspn(text, "\n"), n = strcspn(text, " =\n");
		const char *now = NULL;

		if (n < sizeof(name)) {
			memcpy(name, text, n);
			name[n] = '\0';
			now = renamed_now(command, name);
		}
		if (now != NULL) {
			buffer_text(&b, now);
			buffer_add(&b, text + n, line - n);
		} else {
			buffer_add(&b, text, line);
		}
		text += line;
		if (*text == '\n') {
			buffer_text(&b, "\n");
			text++;
		}
	}
	return b.data;
}
