/* Output of --help, --version and --complete-spec. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/option_table.h"
#include "base/share.h"
#include "base/version.h"

/* Return 1 if the row is in the text of --help: not hidden, for ${mode}, and
 * with OPTION_COMMON if ${some} is 1. */
static int
option_print_shows(const struct option_row *r, int some, int mode)
{
	return r->help != NULL && option_applies(r, mode) &&
	    (!some || r->flags & OPTION_COMMON);
}

/* Print the help with the default in place of '%'. */
static void
option_print_text(const struct option_table *t, int i)
{
	const char *help = t->row[i]->help;
	size_t n = strcspn(help, "%");

	printf("%.*s%s%s", (int)n, help, help[n] == '%' ? t->initial[i] : "",
	    help + n + (help[n] == '%'));
}

static void
option_print_help_row(const struct option_table *t, int i)
{
	char left[80];
	const struct option_row *r = t->row[i];
	const char *no = t->on[i] ? "[no-]" : "";
	int n = r->letter != 0 ? snprintf(left, sizeof(left), "  -%c, --%s%s",
	    r->letter, no, r->name) : snprintf(left, sizeof(left),
	    "      --%s%s", no, r->name);

	if (r->arg != NULL)
		n += snprintf(left + n, sizeof(left) - (size_t)n,
		    r->flags & OPTION_OPTIONAL ? "[=%s]" : "=%s", r->arg);
	/* The help begins in column 28; a longer name has a line of its own. */
	if (n > 27)
		printf("%s\n%-28s", left, "");
	else
		printf("%-28s", left);
	option_print_text(t, i);
	printf("\n");
}

/* Return 1 if a row below the heading ${r} is shown, 0 otherwise. */
static int
option_print_shows_below(const struct option_row *r, int some, int mode)
{
	for (r++; r->name != NULL && r->to != NULL; r++)
		if (option_print_shows(r, some, mode))
			return 1;
	return 0;
}

/* Return 1 if the command marks rows of its own with OPTION_COMMON.  The
 * shared rows, which are marked everywhere, stand below one heading. */
static int
option_print_marks_common(const struct option_row *r)
{
	int headings = 0;

	for (; r->name != NULL; r++)
		headings += r->to == NULL && option_print_shows_below(r, 1, -1);
	return headings > 1;
}

void
option_print_help(const struct option_table *t, int all, int mode)
{
	const struct option_row *rows = t->command->rows;
	int some = !all && mode < 0 && option_print_marks_common(rows);

	printf("usage: %s %s\n%s\n", program_name(), t->command->usage,
	    t->command->summary);
	for (int i = 0; i < t->rows; i++) {
		/* Headings stand between the rows of the command. */
		for (; i < t->own && rows->to == NULL; rows++)
			if (option_print_shows_below(rows, some, mode))
				printf("\n%s:\n", rows->name);
		rows += i < t->own;
		if (option_print_shows(t->row[i], some, mode))
			option_print_help_row(t, i);
	}
	printf("\nExample:\n  %s\n", t->command->example);
	printf("More: %s--help=tasks, %s(1), vt(7)\n", some ? "--help=all, " :
	    "", program_name());
}

/* A task is a line that says what to do, and indented lines that do it. */
void
option_print_tasks(void)
{
	char *path = share_find("examples", "TASKS", ""), *next, *line;
	char *command = xprintf("%s ", program_name());
	struct buffer b = { 0 }, task = { 0 };
	int own = 0;

	if (path == NULL || file_read_text(path, &b) != 0)
		exit(EXIT_FAILED);
	for (next = b.data; (line = strsep(&next, "\n")) != NULL;) {
		if (*line != ' ') {		/* also after the last line */
			if (own)
				fwrite(task.data, 1, task.n, stdout);
			own = 0;
			task.n = 0;
		}
		buffer_printf(&task, "%s\n", line);
		own |= *line == ' ' && strstr(line, command) != NULL;
	}
	buffer_free(&task);
	buffer_free(&b);
	free(command);
	free(path);
}

void
option_print_version(const struct option_table *t, int verbose)
{
	printf("%s (vt) %s\n", program_name(), version_text);
	printf("Copyright (c) 2026 the vt authors.  BSD 2-clause license.\n");
	printf("Built with: %s\n", VT_FEATURES);
	if (*VT_MISSING != '\0')
		printf("Built without: %s\n", VT_MISSING);
	if (verbose && t->command->versions != NULL)
		t->command->versions(stdout);
}

/* Print "a|b|" for the files with ${suffix} in ${folder}. */
static void
option_print_installed(const char *folder, const char *suffix)
{
	size_t n;
	char **path = share_list(folder, suffix, &n);

	for (size_t i = 0; i < n; i++) {
		const char *s = path_base(path[i]);

		printf("%.*s|", (int)(strlen(s) - strlen(suffix)), s);
		free(path[i]);
	}
	free(path);
}

/* Print the completion of the value: choices "a|b", FILE or DIR, the installed
 * networks and NET, the installed recipes and FILE, or "-" for none. */
static void
option_print_completed_by(const struct option_row *r)
{
	const char *by = r->arg != NULL && (strcmp(r->arg, "FILE") == 0 ||
	    strcmp(r->arg, "DIR") == 0 || strcmp(r->arg, "NET") == 0) ?
	    r->arg : "-";

	if (strcmp(by, "NET") == 0)
		option_print_installed("models", ".net");
	if (r->arg != NULL && strcmp(r->arg, "RECIPE") == 0) {
		option_print_installed("recipes", ".recipe");
		by = "FILE";
	}
	printf("%s", r->choices != NULL && !(r->flags & OPTION_OUTPUT) ?
	    r->choices : by);
}

void
option_print_spec(const struct option_table *t)
{
	for (int i = 0; i < t->rows; i++) {
		const struct option_row *r = t->row[i];

		if (r->help == NULL)
			continue;
		printf("%c\t%s\t%s\t%s\t", r->letter ? r->letter : '-',
		    r->name, option_takes(r) == no_argument ? "none" :
		    r->flags & OPTION_OPTIONAL ? "optional" : "required",
		    r->arg ? r->arg : "-");
		option_print_completed_by(r);
		printf("\t%s\t", r->kind == OPTION_COUNT ||
		    r->kind == OPTION_LIST ? "many" : "once");
		option_print_text(t, i);
		printf("\t%s\n", r->flags & OPTION_INPUT ? "input" :
		    r->flags & OPTION_OUTPUT ? "output" : "-");
		if (t->on[i])
			printf("-\tno-%s\tnone\t-\t-\tonce\tturn off --%s\n",
			    r->name, r->name);
	}
	for (const char *s = t->command->operands; s != NULL && *s != '\0';) {
		int n = (int)strcspn(s, " ");

		printf("-\t-\toperand\t-\t%.*s\t%s\t-\n", n, s,
		    s[n] == '\0' ? "many" : "once");
		s += n + (s[n] == ' ');
	}
}
