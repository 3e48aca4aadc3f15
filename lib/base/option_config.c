/* Settings as a file with lines "long-option = value", and the recipes of
 * several commands, with lines "command.long-option = value". */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/option_table.h"
#include "base/text.h"

/*
 * Unquote the value at ${s}, which begins after the opening quote, in place.
 * \" and \\ mean a quote and a backslash, \n and \r ends of lines.  Return the
 * text after the closing quote, NULL if there is none.
 */
static char *
option_config_unquote(char *s)
{
	char *to = s;

	for (; *s != '"'; s++) {
		if (*s == '\\' && s[1] != '\0' && strchr("\"\\nr",
		    s[1]) != NULL)
			*to++ = *++s == 'n' ? '\n' : *s == 'r' ? '\r' : *s;
		else if (*s != '\0')
			*to++ = *s;
		else
			return NULL;
	}
	*to = '\0';
	return s + 1;
}

/*
 * Return the option in the name ${name} of a recipe, such as train.lr, NULL if
 * it is an option of another command than ${own}.  ${from} names the place of
 * the line.
 */
static char *
option_config_recipe_name(const char *from, char *name, const char *own)
{
	static const char *const commands[] = { "schedule", "train", "eval" };
	char *dot = strchr(name, '.');
	size_t n = dot != NULL ? (size_t)(dot - name) : 0;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (n == strlen(commands[i]) &&
		    strncmp(name, commands[i], n) == 0)
			return strcmp(own, commands[i]) == 0 ? dot + 1 : NULL;
	options_wrong("%s: %s (wanted schedule.NAME, train.NAME or eval.NAME, "
	    "an option of that command)", from, text_quote(name));
}

/* Apply one line of a configuration file. */
static void
option_config_line(struct option_table *t, const char *path, int number,
    char *line, enum option_origin origin)
{
	char *equals = strchr(line, '='), *name = line, *value, *end, *from;
	const char *removed;
	int i;

	name += strspn(name, " \t");
	if (*name == '\0' || *name == '#')
		return;
	if (equals == NULL)
		options_wrong("%s:%d: %s (wanted %slong-option = value)", path,
		    number, text_quote(line), origin == OPTION_OF_RECIPE ?
		    "command." : "");
	for (end = equals; end > name && isblank((unsigned char)end[-1]);)
		end--;
	*end = '\0';
	value = equals + 1 + strspn(equals + 1, " \t");
	if (*value == '"') {
		end = option_config_unquote(++value);
		if (end == NULL)
			options_wrong("%s:%d: no closing quote", path, number);
		end += strspn(end, " \t");
		if (*end != '\0' && *end != '#')
			options_wrong("%s:%d: %s after the closing quote "
			    "(wanted a comment; a quote in a value is \\\")",
			    path, number, text_quote(end));
	} else {
		/* A '#' after a blank begins a comment. */
		for (end = value; *end != '\0'; end++)
			if (*end == '#' && isblank((unsigned char)end[-1]))
				break;
		while (end > value && isblank((unsigned char)end[-1]))
			end--;
		*end = '\0';
	}
	if (origin == OPTION_OF_RECIPE) {
		from = xprintf("%s:%d", path, number);
		name = option_config_recipe_name(from, name, t->lines);
		free(from);
		if (name == NULL)
			return;
	}
	if ((removed = option_removed(t, name)) != NULL) {
		if (strcmp(value, removed) != 0)
			options_wrong("%s:%d: %s = %s: this version does not "
			    "have the option (wanted %s, its default)", path,
			    number, name, text_quote(value),
			    text_quote(removed));
		return;
	}
	if ((i = option_named(t, name)) < 0 || !option_is_setting(t, i))
		options_wrong("%s:%d: no option %s%s", path, number,
		    text_quote(name), option_hint(t, name, ""));
	from = xprintf("%s:%d: %s", path, number, name);
	option_set(t, i, from, value, origin);
	free(from);
}

char *
option_read_config(struct option_table *t, const char *path,
    enum option_origin origin)
{
	struct buffer b = { 0 };
	char *line, *next, *text;

	if (file_read_text(path, &b) != 0)
		exit(EXIT_USAGE);
	text = xstrdup(b.data);
	next = b.data;		/* never freed: options point into it */
	for (int number = 1; (line = strsep(&next, "\n")) != NULL; number++) {
		if (text_chomp(line) != 0)
			options_wrong("%s:%d: a carriage return within the "
			    "line", path, number);
		option_config_line(t, path, number, line, origin);
	}
	return text;
}

/* Append a text, in quotes if it would not be read back the same otherwise. */
static void
option_config_print_text(struct buffer *b, const char *s)
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

/* A list takes one line per value. */
void
option_config_add(struct buffer *b, const struct option_table *t, int i,
    int with_origin)
{
	static const char *const names[] = { "default", "rule", "recipe",
		"file", "command line" };
	const struct option_row *r = t->row[i];
	int text = r->kind == OPTION_TEXT || r->kind == OPTION_LIST;
	const char *value = text ? option_file_value(r, 0) : "";
	size_t k = 0;

	do {
		/* An unset one is a comment. */
		buffer_printf(b, "%s%s = ", value == NULL ? "# " : "", r->name);
		if (text && value != NULL)
			option_config_print_text(b, value);
		else
			option_print(b, r);
		if (with_origin)
			buffer_printf(b, "\t# %s", names[t->origin[i]]);
		buffer_text(b, "\n");
	} while (text && value != NULL &&
	    (value = option_file_value(r, ++k)) != NULL);
}

char *
option_config(const struct option_table *t, unsigned except, int with_origin)
{
	struct buffer b = { 0 };

	buffer_add(&b, "", 0);
	for (int i = 0; i < t->rows; i++)
		if (option_is_setting(t, i) && !(t->row[i]->flags & except))
			option_config_add(&b, t, i, with_origin);
	return b.data;
}
