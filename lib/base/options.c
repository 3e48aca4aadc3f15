/* Options: parse all origins in the order of their strength, and print what
 * --help and the like request. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/environ.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/option_table.h"
#include "base/share.h"
#include "base/text.h"

/* Rows of every command, in no command's table. */
static const char *want_help;	/* NULL: not requested; "", "all", "tasks" */
static int want_version, want_print, want_spec;
static const struct option_row common[] = {
	{ 'h', "help", OPTION_TEXT, &want_help, "WHAT",
	    "show the common options, all, or tasks", "all|tasks", 0, 0,
	    OPTION_OPTIONAL | OPTION_COMMON },
	{ 'V', "version", OPTION_FLAG, &want_version, NULL,
	    "show the version; with -v the libraries too", NULL, 0, 0,
	    OPTION_COMMON },
	{ 0, "print-config", OPTION_FLAG, &want_print, NULL,
	    "show all settings in force, as a file for -c", NULL, 0, 0, 0 },
	{ 0, "complete-spec", OPTION_FLAG, &want_spec, NULL, NULL, NULL,
	    0, 0, 0 },		/* hidden: for completions/ */
	OPTION_END
};

static struct option_table table;
static char *defaults;		/* the settings before any origin was read */
static struct { char *name, *path, *text; } recipe;	/* NULL: none */

_Noreturn void
options_wrong(const char *fmt, ...)
{
	char text[1024];
	int size;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/*
	 * Usually all ranks have the same options, and rank 0 reports the
	 * error.  mpirun then kills the others.  A rank that still runs after 2
	 * seconds is alone with the error, and reports it.  srun does not kill
	 * the others, so they exit silently.
	 */
	if (launch_rank(&size) > 0) {
		if (getenv("OMPI_COMM_WORLD_SIZE") == NULL)
			exit(EXIT_USAGE);
		sleep(2);
	}
	fail("%s", text);
	fprintf(stderr, "Try '%s --help'.\n", program_name());
	exit(EXIT_USAGE);
}

/* Return how often a counted option was given, 0 if the command does not
 * have it. */
static int
options_count_of(const struct option_table *t, const char *name)
{
	int i = option_named(t, name);

	return i >= 0 ? *(int *)t->row[i]->to : 0;
}

char *
options_config(unsigned except)
{
	return option_config(&table, except, 0);
}

char *
options_from_recipe(void)
{
	struct buffer b = { 0 };

	if (recipe.name == NULL)
		return NULL;
	buffer_printf(&b, "%s:", recipe.name);
	for (int i = 0; i < table.rows; i++)
		if (table.origin[i] == OPTION_OF_RECIPE) {
			buffer_printf(&b, " %s=", table.row[i]->name);
			option_print_short(&b, table.row[i]);
		}
	return b.data;
}

char *
options_recipe(const char *name)
{
	struct buffer b = { 0 };
	char *text;

	buffer_printf(&b, "%s.", program_name() + strlen("vt-"));
	option_config_add(&b, &table, option_named(&table, name), 0);
	text = recipe.text == NULL ? xstrdup(b.data) : text_ends(recipe.text,
	    b.data) ? xstrdup(recipe.text) : xprintf("%s%s%s", recipe.text,
	    text_ends(recipe.text, "\n") ? "" : "\n", b.data);
	buffer_free(&b);
	return text;
}

const char *
options_defaults(void)
{
	return defaults != NULL ? defaults : "";
}

const char *
options_removed(const char *name)
{
	return option_removed(&table, name);
}

char **
options_from(const char *name, const char *file, int *argc, char **argv)
{
	static char **with;		/* options point into it */
	const char *dir = NULL;
	char *option = xprintf("--%s", name);
	size_t n = strlen(option);

	for (int i = 1; i < *argc && strcmp(argv[i], "--") != 0; i++)
		if (strncmp(argv[i], option, n) == 0 && argv[i][n] == '=')
			dir = argv[i] + n + 1;
		else if (strcmp(argv[i], option) == 0)
			dir = argv[i + 1];	/* NULL: missing */
	free(option);
	if (dir == NULL)
		return argv;
	with = xcalloc((size_t)*argc + 2, sizeof(*with));
	with[0] = argv[0];
	with[1] = xprintf("--config=%s/%s", dir, file);
	memcpy(with + 2, argv + 1, (size_t)*argc * sizeof(*with));
	++*argc;
	return with;
}

unsigned
options_flags(const char *name)
{
	int i = option_named(&table, name);

	return i >= 0 ? table.row[i]->flags : 0;
}

int
options_given(const char *name)
{
	int i = option_named(&table, name);

	return i >= 0 && table.origin[i] != OPTION_UNSET;
}

int
options_on_line(const char *name)
{
	int i = option_named(&table, name);

	return i >= 0 && table.origin[i] == OPTION_COMMAND;
}

int
options_choose(const char *name, const char *value)
{
	int i = option_named(&table, name);

	if (table.origin[i] > OPTION_BY_RULE)
		return 0;
	option_set(&table, i, name, value, OPTION_BY_RULE);
	return 1;
}

void
options_writes(const char *name, const char *path)
{
	option_check_output(&table, table.row[option_named(&table, name)], path,
	    NULL, 0);
}

/* Read the recipe, which the origins read before it may name. */
static void
options_read_recipe(struct option_table *t)
{
	int i = option_named(t, "recipe");
	const char *name = i < 0 ? NULL : t->command->recipe != NULL ?
	    t->command->recipe() : *(const char **)t->row[i]->to;

	free(recipe.name);
	free(recipe.path);
	free(recipe.text);
	recipe.name = recipe.path = recipe.text = NULL;
	if (name == NULL || want_help != NULL || want_version)
		return;
	if ((recipe.path = share_find("recipes", name, ".recipe")) == NULL)
		exit(EXIT_USAGE);
	recipe.name = xstrdup(name);
	recipe.text = option_read_config(t, recipe.path, OPTION_OF_RECIPE);
}

const char *
options_recipe_name(void)
{
	return recipe.name;
}

void
options_recipe_of(const char *name, const struct option_row *rows)
{
	static struct option_table other;
	static const struct option_row none[] = { OPTION_END };
	const struct command command = { .rows = rows };

	if (recipe.path == NULL)
		return;
	option_table_fill(&other, &command, none);
	other.lines = name;
	free(option_read_config(&other, recipe.path, OPTION_OF_RECIPE));
	other.command = NULL;
}

/* Apply all origins.  The command line has been read already, because it names
 * the file. */
static void
options_apply(struct option_table *t, struct option_given *given, size_t n)
{
	int config = option_named(t, "config");

	for (size_t k = 0; k < n; k++)
		if (given[k].row == config)
			free(option_read_config(t, given[k].value,
			    OPTION_FILE));
	for (size_t k = 0; k < n; k++) {
		option_set(t, given[k].row, given[k].from, given[k].value,
		    OPTION_COMMAND);
		free(given[k].from);
		free(given[k].own);
	}
	options_read_recipe(t);
}

/* Return 1 if row ${i} was requested for this use of the command: on the
 * command line, or as an output, which nobody must miss.  Other settings of a
 * file may be those of another use. */
static int
options_is_requested(const struct option_table *t, int i)
{
	return t->origin[i] == OPTION_COMMAND || (t->origin[i] == OPTION_FILE &&
	    (t->row[i]->flags & OPTION_OUTPUT));
}

/* Refuse requested options that do not apply in ${mode}, because they would
 * have no effect. */
static void
options_check_mode(const struct option_table *t, int mode)
{
	struct buffer wanted = { 0 };
	char name[64];
	int i = 0, m = 0;

	while (i < t->rows && (!options_is_requested(t, i) ||
	    option_applies(t->row[i], mode)))
		i++;
	if (i == t->rows)
		return;
	for (const char *s = t->command->modes; *s != '\0'; m++) {
		int n = (int)strcspn(s, "|");

		if (option_applies(t->row[i], m))
			buffer_printf(&wanted, "%s%.*s", wanted.n > 0 ? ", " :
			    "", n, s);
		s += n + (s[n] == '|');
	}
	options_wrong("--%s does not apply to %s (wanted %s)", t->row[i]->name,
	    text_choice_name(t->command->modes, mode, name), wanted.data);
}

/* A full disk is an error for --help and --print-config, too. */
static _Noreturn void
options_printed(void)
{
	exit(stdout_done() == 0 ? EXIT_DONE : EXIT_FAILED);
}

int
options_parse(const struct command *command, int argc, char **argv)
{
	struct option_table *t = &table;
	struct option_given *given;
	size_t n;
	int size, mode;

	option_table_fill(t, command, common);
	free(defaults);
	defaults = option_config(t, 0, 0);
	n = option_read_line(t, argc, argv, &given);
	for (size_t k = 0; k < n; k++)
		if (t->row[given[k].row]->to == &want_spec) {
			option_print_spec(t);	/* even if others are wrong */
			options_printed();
		}
	options_apply(t, given, n);
	free(given);
	if (want_help != NULL && *want_help != '\0' &&
	    text_choice("all|tasks", want_help) < 0)
		options_wrong("--help=%s (wanted --help, --help=all or "
		    "--help=tasks)", text_quote(want_help));
	mode = command->mode != NULL ? command->mode(argc - optind,
	    argv + optind) : -1;
	if (want_help != NULL && strcmp(want_help, "tasks") == 0)
		option_print_tasks();
	else if (want_help != NULL)
		option_print_help(t, *want_help != '\0', mode);
	if (want_version)
		option_print_version(t, options_count_of(t, "verbose") > 0);
	if (want_print) {
		char *text = option_config(t, 0, 1);

		fputs(text, stdout);
		free(text);
	}
	if (want_help != NULL || want_version || want_print)
		options_printed();
	/* All ranks have the same environment, so only rank 0 warns. */
	if (launch_rank(&size) == 0 && options_count_of(t, "quiet") == 0)
		environ_check();
	option_check_files(t, argv + optind, (size_t)(argc - optind));
	options_check_mode(t, mode);
	return optind;
}
