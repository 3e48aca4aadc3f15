#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mem.h"

/*
 * One table per command describes its options.  It feeds getopt_long(3),
 * --help, configuration files and the completions.
 * tests/commands/options.sh compares it with the manual page.
 *
 * A setting comes from the strongest of these origins, in descending order:
 * - the command line;
 * - the file given by -c;
 * - the recipe, given by --recipe;
 * - the initial value of the variable.
 *
 * Long names cannot be abbreviated.  If an option is repeated, the last one
 * counts, but a list collects all of them.
 *
 * One thread calls these functions.
 */
enum option_kind {
	OPTION_FLAG,		/* int *: --name 1, --no-name 0 */
	OPTION_COUNT,		/* int *: incremented by each, as in -vv */
	OPTION_INT,		/* int64_t * */
	OPTION_SIZE,		/* int64_t *: bytes, with K, M, G, T */
	OPTION_TIME,		/* double *: seconds, with s, m, h, d */
	OPTION_REAL,		/* double * */
	OPTION_TEXT,		/* const char **: valid to the end */
	OPTION_CHOICE,		/* int *: index into choices */
	OPTION_LIST		/* struct option_list * */
};

/* The values of a repeated option.  All zero at first. */
struct option_list { const char **item; size_t n, cap; };

/* An option.  The constants above give the type of ${to}. */
struct option_row {
	int letter;		/* short form; 0: none */
	const char *name;
	enum option_kind kind;
	void *to;
	const char *arg;	/* FILE, DIR, NET: completed as such */
	const char *help;	/* one line; '%' stands for the default;
				 * NULL: hidden */
	const char *choices;	/* OPTION_CHOICE: "stop|skip"; OPTION_TEXT:
				 * values to complete, "never|FILE"; of an
				 * OPTION_OUTPUT: fnmatch(3) patterns of what
				 * its files begin with, zeros as blanks; if it
				 * is a DIR: of the names that it keeps */
	double min, max;	/* range of numbers, bytes or seconds; both
				 * 0: from 0 */
	unsigned flags;		/* bits, as below */
};

/*
 * Bits of option_row.flags.  Each row whose argument names a file is an input
 * or an output.  options_parse refuses an output that is an input, or another
 * output.  Unless --force is given, it refuses to replace a file that does not
 * begin as in ${choices}.
 */
#define OPTION_OPTIONAL	1	/* the argument may be omitted */
#define OPTION_COMMON	2	/* --help without =all shows the row */
#define OPTION_INPUT	4	/* a file or directory that is read */
#define OPTION_OUTPUT	8	/* a file or directory that is written */
#define OPTION_NEW	16	/* only --force replaces a file */
/*
 * The value may differ without an effect on the result.  A row without these
 * bits is compared (train/run/identity.h); one with them has the reason beside
 * it.
 */
#define OPTION_FREE_RANKS	32	/* between the ranks of a command */
#define OPTION_FREE_RESUME	64	/* between a run and its resume */
#define OPTION_FREE	(OPTION_FREE_RANKS | OPTION_FREE_RESUME)
/*
 * The row applies in mode ${i} of the command.  A row without such a bit
 * applies in all modes.
 */
#define OPTION_MODE(i)	(1u << (8 + (i)))

/* An option that a command no longer has.  Files may still set it to
 * ${value}, its default; "": they do not set it. */
struct option_removed { const char *name, *value; };

struct command {
	const char *usage;	/* "[OPTION]... FILE...", without the name */
	const char *summary;	/* one sentence */
	const char *example;	/* one command line */
	const struct option_row *rows;	/* ends with a NULL name; a row with
					 * a NULL ${to} is a heading */
	void (*versions)(FILE *f);	/* print library versions; NULL: none */
	const char *operands;	/* their completion, such as "stop|go FILE";
				 * the last word repeats; NULL: none */
	const struct option_removed *removed;	/* ends with a NULL name;
						 * NULL: none */
	const char *packed;	/* how options of vt-extract reach the command,
				 * for a hint; NULL: they do not */
	const char *modes;	/* names of OPTION_MODE(0), OPTION_MODE(1)
				 * ..., "step|loader"; NULL: no modes */
	int (*mode)(int n, char *const *operand);	/* return the mode that
				 * options and operands select, or -1 */
	const char *(*recipe)(void);	/* return the recipe to read, by name or
				 * path, when the stronger origins have been
				 * read; NULL: that of --recipe */
};

/* Rows for every command, to be included in its table.  ${to} is the address
 * of the variable. */
#define OPTION_CONFIG(to) \
	{ 'c', "config", OPTION_TEXT, to, "FILE", \
	    "read settings from FILE: long-option = value", NULL, 0, 0, \
	    OPTION_COMMON | OPTION_INPUT }
#define OPTION_RECIPE(to) \
	{ 0, "recipe", OPTION_TEXT, to, "RECIPE", \
	    "take defaults from an installed recipe or a file", NULL, 0, 0, \
	    OPTION_COMMON | OPTION_INPUT | OPTION_FREE /* its settings are \
							* compared */ }
#define OPTION_QUIET(to) \
	{ 'q', "quiet", OPTION_COUNT, to, NULL, \
	    "omit warnings and notes; twice: also errors", NULL, 0, 0, \
	    OPTION_FREE /* messages */ }
#define OPTION_VERBOSE(to) \
	{ 'v', "verbose", OPTION_COUNT, to, NULL, \
	    "print more details; twice: still more", NULL, 0, 0, \
	    OPTION_COMMON | OPTION_FREE /* messages */ }
#define OPTION_PROGRESS(to) \
	{ 0, "progress", OPTION_CHOICE, to, "WHEN", \
	    "show a live line: auto, always or never (%)", \
	    "auto|always|never", 0, 0, OPTION_FREE /* messages */ }
#define OPTION_HEADING(text) \
	{ 0, text, OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0, 0 }
#define OPTION_END { 0, NULL, OPTION_FLAG, NULL, NULL, NULL, NULL, 0, 0, 0 }

/*
 * options_parse(command, argc, argv):
 * Set the variables of all rows.  Move the operands behind the options in
 * ${argv}, and return the index of the first one.
 *
 * --help, --version, --print-config and --complete-spec print and exit with
 * status 0.  A wrong option prints one line on standard error and exits with
 * status 2, as does an output that would replace what it must not.  All
 * operands are inputs.  --help shows the rows with OPTION_COMMON, or all rows
 * if the command marks none of its own.  --help=all shows all rows.  If a mode
 * is selected, both show all rows that apply in it and no other ones, which are
 * refused on the command line.  A file may have settings of all modes.
 * ${command} and ${argv} must remain valid until the program ends.
 */
int options_parse(const struct command *command, int argc, char **argv);

/*
 * options_reads(path, from):
 * Refuse the input ${path} as options_parse does those of the table.  ${from}
 * names its origin in the message.
 *
 * options_writes(name, path):
 * Refuse ${path} as if it was the value of the output option ${name}.  It must
 * remain valid until the program ends.
 */
void options_reads(const char *path, const char *from);
void options_writes(const char *name, const char *path);

/*
 * options_is_output(path):
 * Return 1 if ${path} is the value of an output option, 0 if the command itself
 * has chosen the name.
 */
int options_is_output(const char *path);

/*
 * options_from(name, file, argc, argv):
 * Insert --config=DIR/${file} before all arguments if the command line has
 * --${name}=DIR, so that the settings in that file are the weakest.  Return the
 * arguments for options_parse, and update ${*argc}.  The result is allocated
 * once and never freed.
 */
char **options_from(const char *name, const char *file, int *argc, char **argv);

/*
 * options_removed(name):
 * Return the default that the option ${name} had, or NULL if the command never
 * had it or still has it.  The result is static.
 */
const char *options_removed(const char *name);

/*
 * options_flags(name):
 * Return the flags of the option, 0 if the command does not have it.
 */
unsigned options_flags(const char *name);

/*
 * options_given(name):
 * Return 1 if the command line or a file set the option, 0 otherwise.
 */
int options_given(const char *name);

/*
 * options_on_line(name):
 * Return 1 if the command line set the option, 0 otherwise.
 */
int options_on_line(const char *name);

/*
 * options_parse_size(s, min, max, to), options_parse_time(s, min, max, to):
 * Set ${*to} to the bytes or seconds in ${s}, written as for OPTION_SIZE or
 * OPTION_TIME.  Return 0, or -1 without a message.
 */
int options_parse_size(const char *s, double min, double max, int64_t *to);
int options_parse_time(const char *s, double min, double max, double *to);

/*
 * options_config(except):
 * Return all settings in force as a configuration file, in the order of the
 * table, without the rows that have a flag of ${except}.  A setting without a
 * value is a comment.  The caller frees the text.
 */
char *options_config(unsigned except);

/*
 * options_from_recipe():
 * Return the recipe in force and the settings that it gives, as "NAME: lr=0.1
 * flip=no", or NULL if there is no recipe.  The caller frees it.
 *
 * options_recipe_name():
 * Return the recipe in force, as it was named; NULL: none.  Valid until the
 * next options_parse.
 *
 * options_recipe_of(name, rows):
 * Set ${rows}, which end with OPTION_END, to the values that the recipe in
 * force has for the command ${name}, such as "schedule".  A wrong value ends
 * the program.
 *
 * options_recipe(name):
 * Return the text of the recipe in force, "" if there is none, followed by a
 * line that sets the option ${name} to its value in force.  The caller frees
 * it.
 */
char *options_from_recipe(void);
const char *options_recipe_name(void);
void options_recipe_of(const char *name, const struct option_row *rows);
char *options_recipe(const char *name);

/*
 * options_choose(name, value):
 * Let a rule set the option ${name} to ${value}, which must be valid and remain
 * valid, if no origin has set it.  Return 1 if it did, now or before, 0 if the
 * user decides.
 */
int options_choose(const char *name, const char *value);

/*
 * options_defaults():
 * Return the settings that hold if nothing is set, in the same form.  It is ""
 * before options_parse.  The text remains valid until the next options_parse.
 */
const char *options_defaults(void);

/*
 * options_wrong(fmt, ...):
 * Report a usage error with a hint at --help, and exit with status 2.
 */
_Noreturn void options_wrong(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

#endif
