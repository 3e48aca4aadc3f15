/* The rows of a command's options: lookup by name and letter, and hints. */
#include <stdio.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/option_table.h"
#include "base/text.h"

/* The commands that have each option; completions/make generates it. */
static const struct { const char *name, *commands; } all_options[] = {
#include "base/option_names.h"
	{ NULL, NULL }
};

/* Append the rows that have a variable; the others are headings. */
static void
option_table_collect(struct option_table *t, const struct option_row *r)
{
	for (; r->name != NULL; r++)
		if (r->to != NULL) {
			if (t->rows == OPTION_ROWS)
				die(EXIT_FAILED, "more than %d options",
				    OPTION_ROWS);
			t->on[t->rows] = r->kind == OPTION_FLAG &&
			    *(int *)r->to;
			t->row[t->rows++] = r;
		}
}

void
option_table_fill(struct option_table *t, const struct command *command,
    const struct option_row *common)
{
	*t = (struct option_table){ .command = command };
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

const char *
option_hint(const struct option_table *t, const char *name,
    const char *dashes)
{
	static char text[200];
	const char *near = option_table_nearest(t, name);

	text[0] = '\0';
	/* A name of another command is a better hint than a similar name. */
	for (size_t i = 0; all_options[i].name != NULL; i++)
		if (strcmp(all_options[i].name, name) == 0) {
			snprintf(text, sizeof(text), " (an option of %s)",
			    all_options[i].commands);
			return text;
		}
	if (near != NULL)
		snprintf(text, sizeof(text), " (similar: %s%s)", dashes, near);
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
option_is_setting(const struct option_table *t, int i)
{
	return i < t->own && strcmp(t->row[i]->name, "config") != 0;
}
