/* Options: one table for the command line, the manual and the shells. */
#include <ctype.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/environ.h"
#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/options.h"
#include "base/text.h"
#include "base/version.h"

#define MAX_ROWS 96
#define NO 1000			/* getopt code of --no-name, above the name's */

enum origin { DEFAULT, FROM_FILE, FROM_ENVIRONMENT, FROM_COMMAND };

/* Rows that every command has and no table lists. */
static int want_help, want_version, want_print, want_spec;
static const struct option_row common[] = {
	{ 'h', "help", OPTION_FLAG, &want_help, NULL,
	    "show this help", NULL, 0, 0, 0 },
	{ 'V', "version", OPTION_FLAG, &want_version, NULL,
	    "show the version; with -v the libraries too", NULL, 0, 0, 0 },
	{ 0, "print-config", OPTION_FLAG, &want_print, NULL,
	    "show all settings in force, as a file for -c", NULL, 0, 0, 0 },
	{ 0, "complete-spec", OPTION_FLAG, &want_spec, NULL, NULL, NULL,
	    0, 0, 0 },		/* hidden: for completions/make */
	OPTION_END
};

/* Which commands have which option; made by completions/make. */
static const struct { const char *name, *commands; } all_options[] = {
#include "base/option_names.h"
	{ NULL, NULL }
};

static const struct command *command;
static const struct option_row *row[MAX_ROWS];
static enum origin origin[MAX_ROWS];
static int on[MAX_ROWS];	/* a flag that is on unless it is set */
static int rows;
static char *defaults;		/* the settings before any is set */

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
	 * Mostly every rank was given the same options, and one says what is
	 * wrong.  mpirun ends the others then; who still lives is alone with it.
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

static void
collect(const struct option_row *r)
{
	for (; r->name != NULL; r++)
		if (r->to != NULL) {
			if (rows == MAX_ROWS)
				die(EXIT_FAILED, "more than %d options", MAX_ROWS);
			on[rows] = r->kind == OPTION_FLAG && *(int *)r->to;
			row[rows++] = r;
		}
}

static int
row_named(const char *name)
{
	for (int i = 0; i < rows; i++)
		if (strcmp(row[i]->name, name) == 0)
			return i;
	return -1;
}

static int
row_lettered(int letter)
{
	for (int i = 0; i < rows; i++)
		if (row[i]->letter == letter)
			return i;
	return -1;
}

/* The option whose name is nearest to ${name}, NULL if none is near. */
static const char *
nearest(const char *name)
{
	const char *best = NULL;
	int least = 3;

	for (int i = 0; i < rows; i++) {
		int d = text_distance(name, row[i]->name);

		if (row[i]->help != NULL && d < least) {
			least = d;
			best = row[i]->name;
		}
	}
	return best;
}

/* What the user may have meant by ${name}, "" or in brackets. */
static const char *
meant(const char *name, const char *dashes)
{
	static char text[200];
	const char *near = nearest(name);

	text[0] = '\0';
	for (size_t i = 0; all_options[i].name != NULL; i++)
		if (strcmp(all_options[i].name, name) == 0) {
			snprintf(text, sizeof(text), " (an option of %s)",
			    all_options[i].commands);
			return text;
		}
	if (near != NULL)
		snprintf(text, sizeof(text), " (did you mean %s%s?)", dashes, near);
	return text;
}

/* A number with a unit: K, M, G, T are powers of 1024. */
static int
parse_size(const char *s, double min, double max, int64_t *to)
{
	static const char units[] = "KMGT";
	char digits[32];
	size_t n = strspn(s, "0123456789");
	int64_t v, scale = 1;

	if (n == 0 || n >= sizeof(digits))
		return -1;
	memcpy(digits, s, n);
	digits[n] = '\0';
	if (text_int(digits, 0, INT64_MAX, &v) != 0)
		return -1;
	if (s[n] != '\0') {
		const char *u = strchr(units, s[n]);

		if (u == NULL || s[n + 1] != '\0')
			return -1;
		scale = (int64_t)1 << 10 * (u - units + 1);
	}
	if (v > INT64_MAX / scale || (double)(v * scale) < min ||
	    (double)(v * scale) > max)
		return -1;
	*to = v * scale;
	return 0;
}

static int
parse_time(const char *s, double min, double max, double *to)
{
	static const double scale[] = { 1, 60, 3600, 86400 };
	char number[64];
	size_t n = strlen(s);
	const char *u = n > 0 ? strchr("smhd", s[n - 1]) : NULL;
	double v;

	if (n == 0 || n >= sizeof(number))
		return -1;
	memcpy(number, s, n + 1);
	if (u != NULL)
		number[n - 1] = '\0';
	if (text_real(number, 0, 1e12, &v) != 0)
		return -1;
	v *= u != NULL ? scale[u - "smhd"] : 1;
	if (v < min || v > max)
		return -1;
	*to = v;
	return 0;
}

/* The index of ${value} in "a|b|c", or -1. */
static int
choice(const char *choices, const char *value)
{
	size_t n = strlen(value);

	for (int i = 0; *choices != '\0'; i++) {
		size_t m = strcspn(choices, "|");

		if (m == n && memcmp(choices, value, n) == 0)
			return i;
		choices += m + (choices[m] == '|');
	}
	return -1;
}

/* The text of choice ${i} into ${buf}. */
static const char *
choice_text(const char *choices, int i, char buf[64])
{
	for (; i > 0; i--)
		choices += strcspn(choices, "|") + 1;
	snprintf(buf, 64, "%.*s", (int)strcspn(choices, "|"), choices);
	return buf;
}

static _Noreturn void
bad_value(const struct option_row *r, const char *from, const char *value)
{
	char range[128] = "";
	double max = r->max;

	if (r->min != 0 || max != 0)
		snprintf(range, sizeof(range), " from %.10g to %.10g", r->min,
		    max);
	switch (r->kind) {
	case OPTION_CHOICE:
		options_wrong("%s: %s (wanted one of %s)", from,
		    text_quote(value), r->choices);
	case OPTION_FLAG:
		options_wrong("%s: %s (wanted yes or no)", from,
		    text_quote(value));
	case OPTION_SIZE:
		options_wrong("%s: %s (wanted bytes%s, with K, M, G or T for "
		    "powers of 1024)", from, text_quote(value), range);
	case OPTION_TIME:
		options_wrong("%s: %s (wanted a time%s, such as 30s, 10m or "
		    "2h)", from, text_quote(value), range);
	case OPTION_INT:
		options_wrong("%s: %s (wanted an integer%s)", from,
		    text_quote(value), range);
	default:
		options_wrong("%s: %s (wanted a number%s)", from,
		    text_quote(value), range);
	}
}

static int
yes_or_no(const char *value)
{
	static const char *const words[] = { "no", "yes", "0", "1", "false",
		"true", "off", "on" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(value, words[i]) == 0)
			return (int)(i % 2);
	return -1;
}

/*
 * Give row ${i} the ${value}, which must outlive the program; ${from} names
 * where it stands.  A list begins anew when a stronger origin speaks.
 */
static void
set(int i, const char *from, const char *value, enum origin o)
{
	const struct option_row *r = row[i];
	double min = r->min, max = r->max;
	int64_t n;
	int bad = 0, k;

	if (min == 0 && max == 0)
		max = r->kind == OPTION_INT ? INT32_MAX : 9e18;
	switch (r->kind) {
	case OPTION_FLAG:
		bad = (k = yes_or_no(value)) < 0;
		if (!bad)
			*(int *)r->to = k;
		break;
	case OPTION_COUNT:
		if (o == FROM_COMMAND) {
			++*(int *)r->to;
		} else {
			bad = text_int(value, 0, 9, &n) != 0;
			if (!bad)
				*(int *)r->to = (int)n;
		}
		break;
	case OPTION_INT:
		bad = text_int(value, (int64_t)min, (int64_t)max, r->to) != 0;
		break;
	case OPTION_SIZE:
		bad = parse_size(value, min, max, r->to) != 0;
		break;
	case OPTION_TIME:
		bad = parse_time(value, min, max, r->to) != 0;
		break;
	case OPTION_REAL:
		bad = text_real(value, min, max, r->to) != 0;
		break;
	case OPTION_TEXT:
		*(const char **)r->to = value;
		break;
	case OPTION_CHOICE:
		bad = (k = choice(r->choices, value)) < 0;
		if (!bad)
			*(int *)r->to = k;
		break;
	case OPTION_LIST: {
		struct option_list *l = r->to;

		if (origin[i] != o)
			l->n = 0;
		l->item = array_room(l->item, l->n, &l->cap, sizeof(*l->item));
		l->item[l->n++] = value;
		break;
	}
	}
	if (bad)
		bad_value(r, from, value);
	origin[i] = o;
}

/* Not among the settings: what only asks for output, and the file itself. */
static int
is_setting(int i)
{
	return row[i]->help != NULL && strcmp(row[i]->name, "config") != 0 &&
	    row[i]->to != &want_help && row[i]->to != &want_version &&
	    row[i]->to != &want_print;
}

/*
 * Take the quotes off the value at ${s}, which begins behind the first one: \"
 * and \\ stand for a quote and a backslash, \n and \r for ends of lines.
 * Return what follows the closing quote, NULL if there is none.
 */
static char *
unquote(char *s)
{
	char *to = s;

	for (; *s != '"'; s++) {
		if (*s == '\\' && s[1] != '\0' && strchr("\"\\nr", s[1]) != NULL)
			*to++ = *++s == 'n' ? '\n' : *s == 'r' ? '\r' : *s;
		else if (*s != '\0')
			*to++ = *s;
		else
			return NULL;
	}
	*to = '\0';
	return s + 1;
}

/* One line of a configuration file: name = value. */
static void
config_line(const char *path, int number, char *line)
{
	char *equals = strchr(line, '='), *name = line, *value, *end, *from;
	int i;

	name += strspn(name, " \t");
	if (*name == '\0' || *name == '#')
		return;
	if (equals == NULL)
		options_wrong("%s:%d: %s (wanted long-option = value)", path,
		    number, text_quote(line));
	for (end = equals; end > name && isblank((unsigned char)end[-1]);)
		end--;
	*end = '\0';
	value = equals + 1 + strspn(equals + 1, " \t");
	if (*value == '"') {
		end = unquote(++value);
		if (end == NULL)
			options_wrong("%s:%d: no closing quote", path, number);
		end += strspn(end, " \t");
		if (*end != '\0' && *end != '#')
			options_wrong("%s:%d: %s after the closing quote (wanted a "
			    "comment; a quote in a value is \\\")", path, number,
			    text_quote(end));
	} else {
		/* A comment may follow, after a blank. */
		for (end = value; *end != '\0'; end++)
			if (*end == '#' && isblank((unsigned char)end[-1]))
				break;
		while (end > value && isblank((unsigned char)end[-1]))
			end--;
		*end = '\0';
	}
	if ((i = row_named(name)) < 0 || !is_setting(i))
		options_wrong("%s:%d: no option %s%s", path, number,
		    text_quote(name), meant(name, ""));
	from = xprintf("%s:%d: %s", path, number, name);
	set(i, from, value, FROM_FILE);
	free(from);
}

/* The text stays allocated: options point into it. */
static void
read_config(const char *path)
{
	struct buffer b = { 0 };
	char *line, *next;
	int number = 0;

	if (file_read_text(path, &b) != 0)
		exit(EXIT_USAGE);
	for (line = b.data; *line != '\0'; line = next) {
		next = line + strcspn(line, "\n");
		if (*next == '\n')
			*next++ = '\0';
		number++;
		if (text_chomp(line) != 0)
			options_wrong("%s:%d: a carriage return within the line",
			    path, number);
		config_line(path, number, line);
	}
}

static void
read_environment(void)
{
	for (int i = 0; i < rows; i++) {
		char name[80];
		const char *value = getenv(environ_name(row[i]->name, name));

		if (is_setting(i) && value != NULL)
			set(i, name, value, FROM_ENVIRONMENT);
	}
}

/* Ranks have it from one place: one speaks. */
static void
check_environment(void)
{
	const char *own[MAX_ROWS];
	int quiet = row_named("quiet"), size;
	size_t n = 0;

	for (int i = 0; i < rows; i++)
		if (is_setting(i))
			own[n++] = row[i]->name;
	if (launch_rank(&size) == 0 &&
	    (quiet < 0 || *(int *)row[quiet]->to == 0))
		environ_check(own, n);
}

static int
takes_argument(const struct option_row *r)
{
	if (r->kind == OPTION_FLAG || r->kind == OPTION_COUNT)
		return no_argument;
	return r->optional ? optional_argument : required_argument;
}

/*
 * getopt_long takes any unique beginning of a long name, which would make
 * every new option a breaking change: only whole names are ours.
 */
static void
whole_name(char **argv, const char *name)
{
	/* Its value may have been an argument of its own. */
	const char *given = argv[optind - 1 - (optarg == argv[optind - 1])];

	if (strcspn(given + 2, "=") != strlen(name))
		options_wrong("no option %s (names are not abbreviated; did you "
		    "mean --%s?)", text_quote(given), name);
}

static _Noreturn void
bad_option(char **argv, int missing)
{
	const char *text = argv[optind - 1];
	char name[80];

	if (optopt >= NO)
		optopt -= NO;
	if (missing && optopt > 255)
		options_wrong("--%s: no value (wanted %s)",
		    row[optopt - 256]->name, row[optopt - 256]->arg);
	if (missing)
		options_wrong("-%c: no value (wanted %s)", optopt,
		    row[row_lettered(optopt)]->arg);
	if (optopt > 255)
		options_wrong("--%s takes no value", row[optopt - 256]->name);
	if (optopt != 0)
		options_wrong("no option -%c", optopt);
	snprintf(name, sizeof(name), "%s",
	    text_starts(text, "--") ? text + 2 : text);
	name[strcspn(name, "=")] = '\0';
	options_wrong("no option %s%s", text_quote(text), meant(name, "--"));
}

struct given { int row; const char *value; char *from, *own; };

/* Read the command line into ${given}; its length. */
static size_t
read_command_line(int argc, char **argv, struct given **given)
{
	struct option longs[2 * MAX_ROWS + 1] = { { 0 } };
	char shorts[2 * MAX_ROWS + 2], *s = shorts, *off[MAX_ROWS] = { 0 };
	struct given *g = NULL;
	size_t n = 0, cap = 0;
	int c, nlong = 0;

	*s++ = ':';			/* tell a missing value from a bad name */
	for (int i = 0; i < rows; i++) {
		int arg = takes_argument(row[i]);

		longs[nlong++] = (struct option){ row[i]->name, arg, NULL,
		    256 + i };
		if (row[i]->kind == OPTION_FLAG && row[i]->help != NULL) {
			off[i] = xprintf("no-%s", row[i]->name);
			longs[nlong++] = (struct option){ off[i], no_argument,
			    NULL, 256 + NO + i };
		}
		if (row[i]->letter == 0)
			continue;
		*s++ = (char)row[i]->letter;
		if (arg != no_argument && !row[i]->optional)
			*s++ = ':';
	}
	*s = '\0';
	opterr = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const char *value = optarg;
		char *own = NULL;
		int i, no = 0;

		if (c == '?' || c == ':')
			bad_option(argv, c == ':');
		if (c >= 256 + NO) {
			no = 1;
			c -= NO;
		}
		i = c >= 256 ? c - 256 : row_lettered(c);
		if (c >= 256)
			whole_name(argv, no ? off[i] : row[i]->name);
		if (value == NULL && row[i]->kind == OPTION_CHOICE)
			value = own = xstrndup(row[i]->choices,
			    strcspn(row[i]->choices, "|"));
		else if (value == NULL)
			value = no ? "no" : row[i]->kind == OPTION_FLAG ? "yes" :
			    "";
		g = array_room(g, n, &cap, sizeof(*g));
		g[n++] = (struct given){ i, value, c >= 256 ?
		    xprintf("--%s", row[i]->name) :
		    xprintf("-%c", row[i]->letter), own };
	}
	for (int i = 0; i < rows; i++)
		free(off[i]);
	*given = g;
	return n;
}

/* ---- what is printed ---- */

static void
help_row(const struct option_row *r)
{
	char left[80];
	const char *no = on[row_named(r->name)] ? "[no-]" : "";
	int n = r->letter != 0 ? snprintf(left, sizeof(left), "  -%c, --%s%s",
	    r->letter, no, r->name) : snprintf(left, sizeof(left),
	    "      --%s%s", no, r->name);

	if (r->arg != NULL)
		n += snprintf(left + n, sizeof(left) - (size_t)n,
		    r->optional ? "[=%s]" : "=%s", r->arg);
	if (n > 27)
		printf("%s\n%-28s%s\n", left, "", r->help);
	else
		printf("%-28s%s\n", left, r->help);
}

static void
print_help(void)
{
	printf("usage: %s %s\n%s\n", program_name(), command->usage,
	    command->summary);
	for (const struct option_row *r = command->rows; r->name; r++) {
		if (r->to == NULL)
			printf("\n%s:\n", r->name);
		else if (r->help != NULL)
			help_row(r);
	}
	for (const struct option_row *r = common; r->name; r++)
		if (r->help != NULL)
			help_row(r);
	printf("\nExample:\n  %s\nThe manual is %s(1); vt(7) shows the whole "
	    "pipeline.\n", command->example, program_name());
}

static void
print_version(int verbose)
{
	printf("%s (vt) %s\n", program_name(), VT_VERSION);
	printf("Copyright (c) 2026 the vt authors.  BSD 2-clause licence.\n");
	printf("Built with: %s\n", VT_FEATURES);
	if (*VT_MISSING != '\0')
		printf("Built without: %s\n", VT_MISSING);
	if (verbose && command->versions != NULL)
		command->versions(stdout);
}

static void
print_value(struct buffer *b, const struct option_row *r)
{
	char text[64];

	switch (r->kind) {
	case OPTION_FLAG:
		buffer_text(b, *(int *)r->to ? "yes" : "no");
		break;
	case OPTION_COUNT:
		buffer_printf(b, "%d", *(int *)r->to);
		break;
	case OPTION_INT:
	case OPTION_SIZE:
		buffer_printf(b, "%lld", (long long)*(int64_t *)r->to);
		break;
	case OPTION_TIME:
	case OPTION_REAL:
		buffer_text(b, text_real_write(text, *(double *)r->to));
		break;
	case OPTION_CHOICE:
		buffer_text(b, choice_text(r->choices, *(int *)r->to, text));
		break;
	default:
		break;
	}
}

/* Quoted where something would be lost otherwise; unquote reads it back. */
static void
print_text(struct buffer *b, const char *s)
{
	if (strpbrk(s, " \t\r\n#\"") == NULL) {
		buffer_text(b, s);
		return;
	}
	buffer_text(b, "\"");
	for (; *s != '\0'; s++)
		if (*s == '\n')
			buffer_text(b, "\\n");
		else if (*s == '\r')
			buffer_text(b, "\\r");
		else
			buffer_printf(b, "%s%c", *s == '"' || *s == '\\' ?
			    "\\" : "", *s);
	buffer_text(b, "\"");
}

static void
print_setting(struct buffer *b, int i, int with_origin)
{
	static const char *const names[] = { "default", "file", "environment",
		"command line" };
	const struct option_row *r = row[i];
	const struct option_list *l = r->to;
	const char *text = r->kind == OPTION_TEXT ? *(const char **)r->to : "";
	const char *hash = text == NULL || (r->kind == OPTION_LIST && l->n == 0) ?
	    "# " : "";			/* unset: shown, but not set on reading */
	size_t n = r->kind == OPTION_LIST && l->n > 0 ? l->n : 1;

	for (size_t k = 0; k < n; k++) {
		buffer_printf(b, "%s%s = ", hash, r->name);
		if (r->kind == OPTION_LIST && l->n > 0)
			print_text(b, l->item[k]);
		else if (r->kind == OPTION_TEXT && text != NULL)
			print_text(b, text);
		else
			print_value(b, r);
		if (with_origin)
			buffer_printf(b, "\t# %s", names[origin[i]]);
		buffer_text(b, "\n");
	}
}

static char *
config_text(const char *except, int with_origin)
{
	struct buffer b = { 0 };
	char name[80];

	buffer_add(&b, "", 0);
	for (int i = 0; i < rows; i++) {
		snprintf(name, sizeof(name), " %s ", row[i]->name);
		if (is_setting(i) && strstr(except, name) == NULL)
			print_setting(&b, i, with_origin);
	}
	return b.data;
}

char *
options_config(const char *except)
{
	return config_text(except != NULL ? except : "", 0);
}

const char *
options_defaults(void)
{
	return defaults != NULL ? defaults : "";
}

/* What completes it: values between bars, or a kind of thing, or "-". */
static const char *
completed_by(const struct option_row *r)
{
	if (r->choices != NULL)
		return r->choices;
	if (r->arg != NULL && (strcmp(r->arg, "FILE") == 0 ||
	    strcmp(r->arg, "DIR") == 0 || strcmp(r->arg, "NET") == 0))
		return r->arg;
	return "-";
}

/*
 * One line an option, between tabs: letter, name, whether it takes a value,
 * the value's name, what completes it, whether it may be repeated, help.  A
 * flag that is on also has its --no-.  Then one line an operand.
 */
static void
print_spec(void)
{
	for (int i = 0; i < rows; i++) {
		const struct option_row *r = row[i];

		if (r->help == NULL)
			continue;
		printf("%c\t%s\t%s\t%s\t%s\t%s\t%s\n",
		    r->letter ? r->letter : '-', r->name,
		    takes_argument(r) == no_argument ? "none" :
		    r->optional ? "optional" : "required",
		    r->arg ? r->arg : "-", completed_by(r),
		    r->kind == OPTION_COUNT || r->kind == OPTION_LIST ?
		    "many" : "once", r->help);
		if (on[i])
			printf("-\tno-%s\tnone\t-\t-\tonce\tturn off --%s\n",
			    r->name, r->name);
	}
	for (const char *s = command->operands; s != NULL && *s != '\0';) {
		int n = (int)strcspn(s, " ");

		printf("-\t-\toperand\t-\t%.*s\t%s\t-\n", n, s,
		    s[n] == '\0' ? "many" : "once");
		s += n + (s[n] == ' ');
	}
}

int
options_given(const char *name)
{
	int i = row_named(name);

	return i >= 0 && origin[i] != DEFAULT;
}

int
options_parse(const struct command *c, int argc, char **argv)
{
	struct given *given;
	size_t n;
	int config, verbose;

	command = c;
	rows = 0;
	collect(c->rows);
	collect(common);
	memset(origin, 0, sizeof(origin));
	free(defaults);
	defaults = config_text("", 0);
	n = read_command_line(argc, argv, &given);
	config = row_named("config");
	for (size_t k = 0; k < n; k++)
		if (row[given[k].row]->to == &want_spec) {
			print_spec();	/* whatever else is set */
			exit(stdout_done() == 0 ? EXIT_DONE : EXIT_FAILED);
		}
	for (size_t k = 0; k < n; k++)
		if (given[k].row == config)
			read_config(given[k].value);
	read_environment();
	for (size_t k = 0; k < n; k++) {
		set(given[k].row, given[k].from, given[k].value, FROM_COMMAND);
		free(given[k].from);
		free(given[k].own);
	}
	free(given);
	if (want_help)
		print_help();
	verbose = row_named("verbose");
	if (want_version)
		print_version(verbose >= 0 && *(int *)row[verbose]->to > 0);
	if (want_print) {
		char *text = config_text("", 1);

		fputs(text, stdout);
		free(text);
	}
	if (want_help || want_version || want_print)
		exit(stdout_done() == 0 ? EXIT_DONE : EXIT_FAILED);
	check_environment();
	return optind;
}
