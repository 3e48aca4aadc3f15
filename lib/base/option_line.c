/* The command line, by getopt_long(3): whole names only, --no- forms, and
 * hints for wrong names. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option_table.h"
#include "base/text.h"

#define NO 1000			/* added to the code of --name for --no-name */

int
option_takes(const struct option_row *r)
{
	if (r->kind == OPTION_FLAG || r->kind == OPTION_COUNT)
		return no_argument;
	return r->flags & OPTION_OPTIONAL ? optional_argument :
	    required_argument;
}

/*
 * getopt_long accepts any unique prefix of a long name.  Then every new option
 * could break a script, so accept only whole names.
 */
static void
option_line_whole_name(char **argv, const char *name)
{
	/* getopt_long has advanced by one or two arguments: the value may be
	 * separate. */
	const char *given = argv[optind - 1 - (optarg == argv[optind - 1])];

	if (strcspn(given + 2, "=") == strlen(name))
		return;
	options_wrong("no option %s (names are not abbreviated; similar: "
	    "--%s)", text_quote(given), name);
}

/* Report an option that getopt_long rejected, and exit.  ${missing} is 1 if
 * only its value is missing. */
static _Noreturn void
option_line_refuse(const struct option_table *t, char **argv, int missing)
{
	const char *text = argv[optind - 1];
	char name[80];

	if (optopt >= NO)
		optopt -= NO;
	if (missing && optopt > 255)
		options_wrong("--%s: no value (wanted %s)",
		    t->row[optopt - 256]->name, t->row[optopt - 256]->arg);
	if (missing)
		options_wrong("-%c: no value (wanted %s)", optopt,
		    t->row[option_lettered(t, optopt)]->arg);
	if (optopt > 255)
		options_wrong("--%s takes no value",
		    t->row[optopt - 256]->name);
	if (optopt != 0)
		options_wrong("no option -%c", optopt);
	snprintf(name, sizeof(name), "%s",
	    text_starts(text, "--") ? text + 2 : text);
	name[strcspn(name, "=")] = '\0';
	options_wrong("no option %s%s", text_quote(text),
	    option_hint(t, name, "--"));
}

size_t
option_read_line(const struct option_table *t, int argc, char **argv,
    struct option_given **given)
{
	struct option longs[2 * OPTION_ROWS + 1] = { { 0 } };
	char shorts[2 * OPTION_ROWS + 2], *s = shorts, *off[OPTION_ROWS] =
	    { 0 };
	struct option_given *g = NULL;
	size_t n = 0, cap = 0;
	int c, nlong = 0;

	*s++ = ':';			/* return ':' for a missing value */
	for (int i = 0; i < t->rows; i++) {
		int arg = option_takes(t->row[i]);

		longs[nlong++] = (struct option){ t->row[i]->name, arg, NULL,
		    256 + i };
		/* Codes of long options begin above all letters. */
		if (t->row[i]->kind == OPTION_FLAG && t->row[i]->help != NULL) {
			off[i] = xprintf("no-%s", t->row[i]->name);
			longs[nlong++] = (struct option){ off[i], no_argument,
			    NULL, 256 + NO + i };
		}
		if (t->row[i]->letter == 0)
			continue;
		*s++ = (char)t->row[i]->letter;
		if (arg == required_argument)
			*s++ = ':';
	}
	*s = '\0';
	opterr = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const char *value = optarg;
		char *own = NULL;
		int i, no = 0;

		if (c == '?' || c == ':')
			option_line_refuse(t, argv, c == ':');
		if (c >= 256 + NO) {
			no = 1;
			c -= NO;
		}
		i = c >= 256 ? c - 256 : option_lettered(t, c);
		if (c >= 256)
			option_line_whole_name(argv,
			    no ? off[i] : t->row[i]->name);
		/* An omitted value of a choice is the first choice. */
		if (value == NULL && t->row[i]->kind == OPTION_CHOICE)
			value = own = xstrndup(t->row[i]->choices,
			    strcspn(t->row[i]->choices, "|"));
		else if (value == NULL)
			value = no ? "no" : t->row[i]->kind == OPTION_FLAG ?
			    "yes" : "";
		g = array_reserve(g, n, &cap, sizeof(*g));
		g[n++] = (struct option_given){ i, value, c >= 256 ?
		    xprintf("--%s", t->row[i]->name) :
		    xprintf("-%c", t->row[i]->letter), own };
	}
	for (int i = 0; i < t->rows; i++)
		free(off[i]);
	*given = g;
	return n;
}
