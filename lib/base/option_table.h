#ifndef BASE_OPTION_TABLE_H
#define BASE_OPTION_TABLE_H

#include "base/options.h"

/*
 * What the files behind base/options.h share; nothing else includes this.  The
 * rows of a command, those that every command has behind its own, and by whom
 * each was set last.
 */
#define OPTION_ROWS 160

enum option_origin { OPTION_UNSET, OPTION_FILE, OPTION_ENVIRONMENT,
	OPTION_COMMAND };

struct option_table {
	const struct command *command;
	const struct option_row *row[OPTION_ROWS];
	enum option_origin origin[OPTION_ROWS];
	int on[OPTION_ROWS];	/* a flag that is on unless it is set */
	int own, rows;		/* the command's own, and all */
};

/*
 * option_table_fill(t, command, common):
 * Rows and origins anew; ${common} ends as a command's rows do.
 */
void option_table_fill(struct option_table *t, const struct command *command,
    const struct option_row *common);

/* The row of that name or letter, -1 if there is none. */
int option_named(const struct option_table *t, const char *name);
int option_lettered(const struct option_table *t, int letter);

/*
 * option_is_setting(t, i):
 * Row ${i} is none that only asks for output, nor the file of settings.
 */
int option_is_setting(const struct option_table *t, int i);

/*
 * option_meant(t, name, dashes):
 * What the user may have meant by an option ${name} that is none of these, ""
 * or in brackets behind a blank; ${dashes} go before a name.  It stands until
 * the next call.
 */
const char *option_meant(const struct option_table *t, const char *name,
    const char *dashes);

/* option_of_any(name): return 1 if at least one command has the option. */
int option_of_any(const char *name);

/* ---- values (option_value.c) ---- */

/*
 * option_set(t, i, from, value, origin):
 * Give row ${i} the ${value}, which must outlive the program; ${from} names
 * where it stands.  A list loses its values when a stronger origin sets it.  A wrong
 * value ends the program.
 */
void option_set(struct option_table *t, int i, const char *from,
    const char *value, enum option_origin origin);

/* option_print(b, row): the value in force, but for texts and lists. */
void option_print(struct buffer *b, const struct option_row *row);

/* ---- configuration files (option_config.c) ---- */

/* Set what the file says.  Its text stays allocated: options point into it. */
void option_read_config(struct option_table *t, const char *path);

/*
 * option_config(t, except, with_origin):
 * All settings but those named in ${except}, " a b ", as such a file, with
 * whose each is as a comment; the caller's to free.
 */
char *option_config(const struct option_table *t, const char *except,
    int with_origin);

/* ---- the command line (option_line.c) ---- */

/* One option of it; ${from} and ${own}, which may be NULL, are to be freed. */
struct option_given { int row; const char *value; char *from, *own; };

/*
 * option_read_line(t, argc, argv, given):
 * What the command line sets, in its order; how many.  The caller frees
 * *${given}.
 */
size_t option_read_line(const struct option_table *t, int argc, char **argv,
    struct option_given **given);

/* Whether the row takes a value, as getopt_long(3) calls it. */
int option_takes(const struct option_row *row);

/* ---- what is printed (option_print.c) ---- */

/* option_print_help(t, all): all rows, or those of common use. */
void option_print_help(const struct option_table *t, int all);
void option_print_version(const struct option_table *t, int verbose);

/*
 * option_print_spec(t):
 * For completions/make, one line an option, between tabs: letter, name,
 * whether it takes a value, the value's name, what completes it, whether it
 * may be repeated, help.  A flag that is on also has its --no-.  Then one line
 * an operand.
 */
void option_print_spec(const struct option_table *t);

#endif
