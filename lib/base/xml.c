/* XML reader.  Names and decoded values are written over the text in place:
 * none is longer than its markup. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/xml.h"

#define BLANKS " \t\r\n"
#define MARKS BLANKS "/>=<'\"&"	/* not in names */

struct xml_reader {
	const char *what;
	char *p;
	int line;
	struct xml *newest, *open;	/* elements that are read, and the
					 * innermost that has not ended */
};

static int
xml_broken(const struct xml_reader *x, const char *wanted)
{
	return fail("%s: line %d: not valid XML (wanted %s)", x->what, x->line,
	    wanted);
}

/* Advance to ${end}, and count the lines. */
static void
xml_skip(struct xml_reader *x, char *end)
{
	for (; x->p < end; x->p++)
		x->line += *x->p == '\n';
}

static void
xml_skip_blanks(struct xml_reader *x)
{
	xml_skip(x, x->p + strspn(x->p, BLANKS));
}

/* Write the character ${code} to ${to} as UTF-8.  Return its end. */
static char *
xml_put(char *to, unsigned long code)
{
	int n = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
	static const unsigned char first[] = { 0, 0xc0, 0xe0, 0xf0 };

	*to++ = (char)(first[n] | code >> 6 * n);
	while (n-- > 0)
		*to++ = (char)(0x80 | (code >> 6 * n & 0x3f));
	return to;
}

/* Decode the entities of ${text} in place.  Return 0, or -1 after a message. */
static int
xml_decode(const struct xml_reader *x, char *text)
{
	static const char *const entity[] = { "<lt;", ">gt;", "&amp;",
		"\"quot;", "'apos;" };
	char *to = text;

	while (*text != '\0') {
		char *end = text;
		unsigned long code = 0;

		if (*text != '&') {
			*to++ = *text++;
			continue;
		}
		text++;
		if (*text == '#') {
			int hex = text[1] == 'x';

			text += 1 + hex;
			code = strchr("+- \t\r\n", *text) == NULL ?
			    strtoul(text, &end, hex ? 16 : 10) : 0;
			if (code == 0 || *end != ';' || code > 0x10ffff ||
			    (code >= 0xd800 && code < 0xe000))
				return xml_broken(x, "a character as &#65; "
				    "or &#x41;");
			text = end + 1;
		}
		for (int i = 0; i < 5 && code == 0; i++)
			if (text_starts(text, entity[i] + 1)) {
				code = (unsigned char)entity[i][0];
				text += strlen(entity[i] + 1);
			}
		if (code == 0)
			return xml_broken(x, "&lt;, &gt;, &amp;, &quot; or "
			    "&apos;");
		to = xml_put(to, code);
	}
	*to = '\0';
	return 0;
}

/* Cut the name at x->p.  Set ${*after} to the character after it, which a zero
 * byte replaces.  Return NULL after a message if there is none. */
static char *
xml_name(struct xml_reader *x, char *after)
{
	char *name = x->p;

	x->p += strcspn(x->p, MARKS);
	if (x->p == name) {
		xml_broken(x, "a name");
		return NULL;
	}
	*after = *x->p;
	x->line += *after == '\n';
	if (*after != '\0')
		*x->p++ = '\0';
	return name;
}

/* Read an attribute behind those of ${e}. */
static int
xml_attribute(struct xml_reader *x, struct xml *e, char **to)
{
	char after, quote, *end, *name = xml_name(x, &after), *value;

	if (name == NULL)
		return -1;
	if (strchr(BLANKS, after) != NULL && after != '\0') {
		xml_skip_blanks(x);
		after = *x->p;
		x->p += after == '=';
	}
	if (after == '=')
		xml_skip_blanks(x);
	quote = *x->p;
	if (after != '=' || (quote != '"' && quote != '\'') ||
	    (end = strchr(value = x->p + 1, quote)) == NULL)
		return xml_broken(x, "NAME=\"VALUE\"");
	xml_skip(x, end + 1);
	*end = '\0';
	if (xml_decode(x, value) != 0)
		return -1;
	/* They move towards the beginning, so that all are in one piece. */
	memmove(*to, name, strlen(name) + 1);
	*to += strlen(*to) + 1;
	memmove(*to, value, strlen(value) + 1);
	*to += strlen(*to) + 1;
	e->attributes++;
	return 0;
}

/* Read the element whose name begins at x->p. */
static int
xml_open(struct xml_reader *x)
{
	struct xml *e, *parent = x->open;
	int line = x->line;
	char after, *name = xml_name(x, &after), *to = x->p;

	if (name == NULL)
		return -1;
	e = xcalloc(1, sizeof(*e));
	*e = (struct xml){ .name = name, .text = "", .line = line,
		.attribute = to, .parent = parent, .older = x->newest };
	x->newest = e;
	if (parent != NULL && parent->last != NULL)
		parent->last->next = e;
	else if (parent != NULL)
		parent->child = e;
	if (parent != NULL)
		parent->last = e;
	while (after != '>' && after != '/') {
		if (strchr(BLANKS, after) == NULL)
			return xml_broken(x, "a blank before each attribute");
		xml_skip_blanks(x);
		after = *x->p;
		if (after == '>' || after == '/')
			x->p++;
		else if (xml_attribute(x, e, &to) != 0)
			return -1;
		else
			after = ' ';
	}
	if (after == '>')
		x->open = e;
	else if (*x->p++ != '>')
		return xml_broken(x, "/>");
	return 0;
}

/* Read the end of an element, whose name begins at x->p. */
static int
xml_close(struct xml_reader *x)
{
	char after, *name = xml_name(x, &after);

	if (name == NULL)
		return -1;
	if (after != '>') {
		xml_skip_blanks(x);
		after = *x->p;
		x->p += after == '>';
	}
	if (after != '>' || x->open == NULL || strcmp(x->open->name, name) != 0)
		return fail("%s: line %d: </%s> (wanted the end of %s)",
		    x->what, x->line, name, x->open != NULL ? x->open->name :
		    "the document");
	x->open = x->open->parent;
	return 0;
}

/* Skip to the end of ${end}.  Return where it begins, or NULL after a
 * message. */
static char *
xml_skip_to(struct xml_reader *x, const char *end)
{
	char *at = strstr(x->p, end);

	if (at == NULL)
		xml_broken(x, end);
	else
		xml_skip(x, at + strlen(end));
	return at;
}

/* Read the text at x->p.  Return 1 and skip the '<' after it, 0 if there is
 * none, or -1 after a message. */
static int
xml_text(struct xml_reader *x)
{
	char *text = x->p, *end = text + strcspn(text, "<");
	int more = *end != '\0';

	xml_skip(x, end);
	x->p += more;
	if (strspn(text, BLANKS) >= (size_t)(end - text))
		return more;
	if (x->open == NULL)
		return xml_broken(x, "elements only");
	*end = '\0';
	if (xml_decode(x, text) != 0)
		return -1;
	x->open->text = text_trim(text);
	return more;
}

/* Read the markup behind a '<'. */
static int
xml_markup(struct xml_reader *x)
{
	char *text, *end;

	if (text_starts(x->p, "!--"))
		return xml_skip_to(x, "-->") != NULL ? 0 : -1;
	if (text_starts(x->p, "![CDATA[")) {
		text = x->p + strlen("![CDATA[");
		if (x->open == NULL)
			return xml_broken(x, "elements only");
		if ((end = xml_skip_to(x, "]]>")) == NULL)
			return -1;
		*end = '\0';
		x->open->text = text_trim(text);
		return 0;
	}
	if (*x->p == '?')
		return xml_skip_to(x, "?>") != NULL ? 0 : -1;
	if (*x->p == '!') {
		text = x->p;
		if ((end = xml_skip_to(x, ">")) == NULL)
			return -1;
		return memchr(text, '[', (size_t)(end - text)) == NULL ? 0 :
		    xml_broken(x, "a DOCTYPE without definitions");
	}
	if (*x->p == '/') {
		x->p++;
		return xml_close(x);
	}
	if (x->open == NULL && x->newest != NULL)
		return xml_broken(x, "one root element");
	return xml_open(x);
}

struct xml *
xml_parse(const char *what, char *text)
{
	struct xml_reader x = { .what = what, .p = text, .line = 1 };
	struct xml *root;
	int result;

	while ((result = xml_text(&x)) > 0 && (result = xml_markup(&x)) == 0)
		;
	if (result == 0 && (x.newest == NULL || x.open != NULL))
		result = xml_broken(&x, x.open != NULL ?
		    "the end of each element" : "an element");
	for (root = x.newest; root != NULL && root->parent != NULL;)
		root = root->parent;
	/* xml_free begins with the newest one. */
	if (root != NULL)
		root->last = x.newest;
	if (result == 0)
		return root;
	xml_free(root);
	return NULL;
}

void
xml_free(struct xml *root)
{
	struct xml *e = root != NULL ? root->last : NULL, *older;

	for (; e != NULL; e = older) {
		older = e->older;
		free(e);
	}
}

const char *
xml_get(const struct xml *e, const char *name)
{
	const char *s = e != NULL ? e->attribute : NULL;

	for (int i = 0; e != NULL && i < e->attributes; i++) {
		const char *value = s + strlen(s) + 1;

		if (strcmp(s, name) == 0)
			return value;
		s = value + strlen(value) + 1;
	}
	return NULL;
}

/* Return ${e} or the first element after it that is called ${name}. */
static const struct xml *
xml_find(const struct xml *e, const char *name)
{
	while (e != NULL && strcmp(e->name, name) != 0)
		e = e->next;
	return e;
}

const struct xml *
xml_child(const struct xml *e, const char *name)
{
	return e != NULL ? xml_find(e->child, name) : NULL;
}

const struct xml *
xml_next(const struct xml *e, const char *name)
{
	return e != NULL ? xml_find(e->next, name) : NULL;
}
