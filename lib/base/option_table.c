/* The rows of a command's options: lookup by name and letter, and hints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/option_table.h"
#include "base/share.h"
#include "base/text.h"

/* Append the rows that have a variable; the others are headings. */
static void
option_table_collect(struct option_table *t, const struct option_row *r)
{
	for (; r->name != NULL; r++)
		if (r->to != NULL) {
			struct buffer b = { 0 };

			if (t->rows == OPTION_ROWS)
				die(EXIT_FAILED, "more than %d options",
				    OPTION_ROWS);
			t->on[t->rows] = r->kind == OPTION_FLAG &&
			    *(int *)r->to;
			buffer_add(&b, "", 0);
			option_print_short(&b, r);
			t->initial[t->rows] = b.data;
			t->row[t->rows++] = r;
		}
}

void
option_table_fill(struct option_table *t, const struct command *command,
    const struct option_row *common)
{
	for (int i = 0; i < t->rows; i++)
		free(t->initial[i]);
	*t = (struct option_table){ .command = command,
		.lines = program_name() + strlen("vt-") };
	option_table_collect(t, command->rows);
	t->own = t->rows;
	option_table_collect(t, common);
}

int
option_named(const struct option_table *t, const char *name)
{
	for (int i = 0; i < t->rows; i++)
		if (strcmp(t->row[i]->name, name) == 0)
			return i;
	return -1;
}

int
option_lettered(const struct option_table *t, int letter)
{
	for (int i = 0; i < t->rows; i++)
		if (t->row[i]->letter == letter)
			return i;
	return -1;
}

/* Return the option with the most similar name, NULL if each needs 3 edits
 * or more.  Hidden rows do not count. */
static const char *
option_table_nearest(const struct option_table *t, const char *name)
{
	const char *best = NULL;
	int least = 3;

	for (int i = 0; i < t->rows; i++) {
		int d = text_distance(name, t->row[i]->name);

		if (t->row[i]->help != NULL && d < least) {
			least = d;
			best = t->row[i]->name;
		}
	}
	return best;
}

/*
 * Return 1 if the program ${path} has an option ${name}, 0 otherwise, also if
 * it cannot be run.
 */
static int
option_table_program_has(const char *path, const char *name)
{
	char *command = xprintf("'%s' --complete-spec 2>/dev/null", path);
	FILE *f = strchr(path, '\'') == NULL && access(path, X_OK) == 0 ?
	    popen(command, "r") : NULL;
	char *line = NULL;
	size_t cap = 0, n = strlen(name);
	int has = 0;

	/* A line is the letter, a tab, the name and a tab. */
	while (f != NULL && getline(&line, &cap, f) > 0)
		has |= strncmp(line + 2, name, n) == 0 && line[2 + n] == '\t';
	if (f != NULL)
		pclose(f);
	free(line);
	free(command);
	return has;
}

/* Append the commands with an option ${name} to ${to}, as "vt-x and vt-y".  Ask
 * those in the directory of this program. */
static void
option_table_ask_others(const char *name, struct buffer *to)
{
	static const char *const commands[] = { "vt-bench", "vt-eval",
		"vt-extract", "vt-pack", "vt-schedule", "vt-train" };
	char *dir = share_program_dir();

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char *path = xprintf("%s%s", dir, commands[i]);

		if (strcmp(commands[i], program_name()) != 0 &&
		    option_table_program_has(path, name))
			buffer_printf(to, "%s%s", to->n > 0 ? " and " : "",
			    commands[i]);
		free(path);
	}
	free(dir);
}

const char *
option_hint(const struct option_table *t, const char *name,
    const char *dashes)
{
	static char text[300];
	const char *near = option_table_nearest(t, name);
	const char *packed = t->command->packed;
	struct buffer others = { 0 };
	int size;

	text[0] = '\0';
	/* Usually all ranks have the same wrong option. */
	if (launch_rank(&size) == 0)
		option_table_ask_others(name, &others);
	/* A name of another command is a better hint than a similar name. */
	if (others.n > 0)
		snprintf(text, sizeof(text), " (an option of %s%s)",
		    others.data, packed != NULL && strstr(others.data,
		    "vt-extract") != NULL ? packed : "");
	else if (near != NULL)
		snprintf(text, sizeof(text), " (similar: %s%s)", dashes, near);
	buffer_free(&others);
	return text;
}

const char *
option_removed(const struct option_table *t, const char *name)
{
	/* There is no command before options_parse. */
	for (const struct option_removed *r = t->command != NULL ?
	    t->command->removed : NULL; r != NULL && r->name != NULL; r++)
		if (strcmp(r->name, name) == 0)
			return r->value;
	return NULL;
}

int
option_applies(const struct option_row *r, int mode)
{
	unsigned modes = r->flags & ~(OPTION_MODE(0) - 1);

	return mode < 0 || modes == 0 || (modes & OPTION_MODE(mode)) != 0;
}

int
option_is_setting(const struct option_table *t, int i)
{
	return i < t->own && strcmp(t->row[i]->name, "config") != 0;
}
