#ifndef BASE_OPTION_TABLE_H
#define BASE_OPTION_TABLE_H

#include "base/options.h"

/*
 * The interface between the files that implement base/options.h; no other file
 * includes it.  A table has the command's rows, then the rows common to all
 * commands, and the last origin of each.
 */
#define OPTION_ROWS 160

/* In ascending order of strength. */
enum option_origin { OPTION_UNSET, OPTION_BY_RULE, OPTION_OF_RECIPE,
	OPTION_FILE, OPTION_COMMAND };

struct option_table {
	const struct command *command;
	const struct option_row *row[OPTION_ROWS];
	enum option_origin origin[OPTION_ROWS];
	int on[OPTION_ROWS];	/* 1: a flag whose default is yes */
	char *initial[OPTION_ROWS];	/* the default, as --help shows it */
	int own, rows;		/* rows of the command; rows in all */
	const char *lines;	/* command whose lines of a recipe are read */
};

/*
 * option_table_fill(t, command, common):
 * Reset all rows and origins.  A NULL name ends ${common}.
 */
void option_table_fill(struct option_table *t, const struct command *command,
    const struct option_row *common);

/*
 * option_named(t, name), option_lettered(t, letter):
 * Return the row of the option, or -1 if there is none.
 */
int option_named(const struct option_table *t, const char *name);
int option_lettered(const struct option_table *t, int letter);

/*
 * option_is_setting(t, i):
 * Return 1 if row ${i} is a setting, 0 if it requests output or names the file
 * of settings.
 */
int option_is_setting(const struct option_table *t, int i);

/*
 * option_applies(r, mode):
 * Return 1 if the row applies in ${mode}, 0 otherwise.  All rows apply in mode
 * -1.
 */
int option_applies(const struct option_row *r, int mode);

/*
 * option_hint(t, name, dashes):
 * Return a hint for an unknown option ${name}: " (an option of vt-x)", or the
 * most similar option with ${dashes} before its name, or "".  Run the other
 * commands in the directory of this one to learn their options, on rank 0 only.
 * Valid until the next call.
 */
const char *option_hint(const struct option_table *t, const char *name,
    const char *dashes);

/*
 * option_removed(t, name):
 * Return the default that the option ${name} had, NULL if ${t} lists no such
 * option as removed.
 */
const char *option_removed(const struct option_table *t, const char *name);

/* ---- values (option_value.c) ---- */

/*
 * option_set(t, i, from, value, origin):
 * Set row ${i} to ${value}, which must remain valid until the program ends, if
 * no stronger origin has set it.  ${from} names the place of the value in
 * messages.  A list loses its values when another origin sets it.  A wrong
 * value is a usage error, which ends the program.
 */
void option_set(struct option_table *t, int i, const char *from,
    const char *value, enum option_origin origin);

/*
 * option_print(b, row), option_print_short(b, row):
 * Append the value in force.  option_print appends nothing for texts and lists.
 * option_print_short appends texts too, and bytes and times with the largest
 * unit that divides them.
 */
void option_print(struct buffer *b, const struct option_row *row);
void option_print_short(struct buffer *b, const struct option_row *row);

/* ---- inputs and outputs (option_files.c) ---- */

/*
 * option_check_files(t, operand, n):
 * Check all outputs in the table against its inputs, the operands and each
 * other, and against the files that they would replace.  An error ends the
 * program.
 *
 * option_check_output(t, row, path, operand, n):
 * Check the output ${path} of ${row} in the same way.
 */
void option_check_files(const struct option_table *t, char *const *operand,
    size_t n);
void option_check_output(const struct option_table *t,
    const struct option_row *row, const char *path, char *const *operand,
    size_t n);

/*
 * option_file_value(r, k):
 * Return value ${k} of a text or a list, NULL after the last one.
 */
const char *option_file_value(const struct option_row *r, size_t k);

/* ---- configuration files (option_config.c) ---- */

/*
 * option_read_config(t, path, origin):
 * Apply the settings of a file.  In one of OPTION_OF_RECIPE, apply the lines
 * that begin with the name of the command.  Return the text of the file, which
 * the caller frees.  An error ends the program with status 2.
 */
char *option_read_config(struct option_table *t, const char *path,
    enum option_origin origin);

/*
 * option_config(t, except, with_origin):
 * Return the settings as options_config.  If ${with_origin} is 1, a comment
 * gives the origin of each.  The caller frees the text.
 */
char *option_config(const struct option_table *t, unsigned except,
    int with_origin);

/*
 * option_config_add(b, t, i, with_origin):
 * Append the lines of row ${i} to ${b} in the same form.
 */
void option_config_add(struct buffer *b, const struct option_table *t, int i,
    int with_origin);

/* ---- the command line (option_line.c) ---- */

/* One option on the command line.  ${from} names it in messages.  ${own} is
 * the storage of ${value}, or NULL.  The caller frees both. */
struct option_given { int row; const char *value; char *from, *own; };

/*
 * option_read_line(t, argc, argv, given):
 * Read the options on the command line.  Set ${*given} to an array of them in
 * their order, which the caller frees.  Return its length.  An error ends the
 * program with status 2.
 */
size_t option_read_line(const struct option_table *t, int argc, char **argv,
    struct option_given **given);

/*
 * option_takes(row):
 * Return no_argument, required_argument or optional_argument of getopt_long(3).
 */
int option_takes(const struct option_row *row);

/* ---- output (option_print.c) ---- */

/*
 * option_print_help(t, all, mode):
 * Print the text of --help on standard output: all rows that apply in ${mode}.
 * In mode -1, print only those with OPTION_COMMON if ${all} is 0 and the
 * command marks some.
 */
void option_print_help(const struct option_table *t, int all, int mode);

/* option_print_tasks(): Print the tasks in share/examples/TASKS whose lines
 * have the command. */
void option_print_tasks(void);

/*
 * option_print_version(t, verbose):
 * Print the text of --version on standard output, with the versions of
 * libraries if ${verbose} is 1.
 */
void option_print_version(const struct option_table *t, int verbose);

/*
 * option_print_spec(t):
 * Print the table for the completions of shells on standard output.  Each
 * option is a line of fields separated by tabs: letter, name, none, optional or
 * required for its value, name of the value, its completion, "many" if the
 * option may be repeated, help, and "input" or "output" if it names a file.
 * The completion is a list of values between bars, where FILE, DIR and NET
 * stand for files, directories and .net files.  "-" means none.  A flag whose
 * default is yes has a second line for its --no- form.  Then each operand is a
 * line.
 */
void option_print_spec(const struct option_table *t);

#endif
