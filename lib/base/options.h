#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stddef.h>
#include <stdio.h>

#include "base/mem.h"

/*
 * One table per command describes its options.  It feeds getopt_long(3),
 * --help, the configuration file, the environment and the completions, and
 * tests/commands/options.sh compares it with the manual page.
 *
 * A setting comes from, strongest first: the command line; the environment,
 * VT_NAME_OF_OPTION; the file given by -c; what the variable held before.
 * Files may have names of earlier releases (base/renamed.h); the other two may
 * not.  Long names are never abbreviated.  For a repeated option the last one
 * counts; a list collects them.
 */
enum option_kind {
	OPTION_FLAG,		/* int *: --name 1, --no-name 0 */
	OPTION_COUNT,		/* int *: one more each time, as -vv */
	OPTION_INT,		/* int64_t * */
	OPTION_SIZE,		/* int64_t *: bytes, with K, M, G, T */
	OPTION_TIME,		/* double *: seconds, with s, m, h, d */
	OPTION_REAL,		/* double * */
	OPTION_TEXT,		/* const char ** */
	OPTION_CHOICE,		/* int *: index into choices */
	OPTION_LIST		/* struct option_list * */
};

struct option_list { const char **item; size_t n, cap; };

struct option_row {
	int letter;		/* 0: long form only */
	const char *name;
	enum option_kind kind;
	void *to;
	const char *arg;	/* FILE, DIR and NET are completed as such */
	const char *help;	/* one line, with the default */
	const char *choices;	/* "stop|skip", for OPTION_CHOICE; of a text,
				 * what to complete it with: "never|FILE" */
	double min, max;	/* for numbers; both 0: any from 0 up */
	int flags;		/* OPTION_OPTIONAL, OPTION_COMMON */
};

/* Flags of rows. */
#define OPTION_OPTIONAL	1	/* the argument may be left out */
#define OPTION_COMMON	2	/* --help without =all shows the row */

struct command {
	const char *usage;	/* "[OPTION]... FILE...", without the name */
	const char *summary;	/* one sentence */
	const char *example;	/* one command line */
	const struct option_row *rows;	/* ends with a NULL name; a row with a
					 * NULL ${to} is a heading */
	void (*versions)(FILE *f);	/* print library versions; NULL: none */
	const char *operands;	/* what completes them, as choices: "a|b FILE";
				 * the last for all further ones; NULL: none */
	const char *name;	/* in base/renamed.h, whatever file runs it */
};

/* The rows every command has, to be put in its table. */
#define OPTION_CONFIG(to) \
	{ 'c', "config", OPTION_TEXT, to, "FILE", \
	    "read settings from FILE: long-option = value", NULL, 0, 0, \
	    OPTION_COMMON }
#define OPTION_QUIET(to) \
	{ 'q', "quiet", OPTION_COUNT, to, NULL, \
	    "omit warnings and notes; twice: also errors", NULL, 0, 0, 0 }
#define OPTION_VERBOSE(to) \
	{ 'v', "verbose", OPTION_COUNT, to, NULL, \
	    "print more details; twice: still more", NULL, 0, 0, \
	    OPTION_COMMON }
#define OPTION_PROGRESS(to) \
	{ 0, "progress", OPTION_CHOICE, to, "WHEN", \
	    "show a live line: auto, always or never (auto)", \
	    "auto|always|never", 0, 0, 0 }
#define OPTION_HEADING(text) \
	{ 0, text, OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0, 0 }
#define OPTION_END { 0, NULL, OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0, 0 }

/*
 * options_parse(command, argc, argv):
 * Store what is set where the rows say.  --help, --version, --print-config
 * and --complete-spec print and exit 0; a mistake is one line on standard
 * error and exit 2.  Return the index of the first operand; operands are
 * moved after the options.  --help shows the rows with OPTION_COMMON, or all
 * if the command has none; --help=all shows all.
 */
int options_parse(const struct command *command, int argc, char **argv);

/*
 * options_from(name, file, argc, argv): where the command line says --NAME=DIR,
 * the settings in DIR/FILE are read first, as the weakest.  Returns the arguments
 * to parse, which are then others.
 */
char **options_from(const char *name, const char *file, int *argc, char **argv);

/* options_given(name): the option was set by the user, by whatever means. */
int options_given(const char *name);

/* options_typed(name): on the command line. */
int options_typed(const char *name);

/*
 * options_adopt(name, value):
 * Set the option ${name} to ${value} as if that were its default.  The option
 * must exist, must not have been given, and must accept the value.  ${value}
 * must remain valid until the program ends.
 */
void options_adopt(const char *name, const char *value);

/*
 * options_config(except):
 * Every setting in force as a configuration file, in the order of the table,
 * but for those named in ${except}, " a b " between blanks (NULL: none); the
 * caller's to free.
 */
char *options_config(const char *except);

/*
 * options_defaults(): the same where nothing is set; "" before options_parse.
 * The text stays.
 */
const char *options_defaults(void);

/* options_wrong(fmt, ...): a usage error: print it and the hint, exit 2. */
_Noreturn void options_wrong(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

#endif
