/* XML is read: elements, attributes, texts, entities; what is broken is refused
 * with its line. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/xml.h"
#include "said.h"
#include "tap.h"

static char why[512];

/* Write ${e}, its attributes "name=value", its text and its children to ${b}. */
static void
dump(const struct xml *e, struct buffer *b)
{
	const char *s = e->attribute;

	buffer_text(b, e->name);
	for (int i = 0; i < e->attributes; i++) {
		buffer_printf(b, " %s=", s);
		s += strlen(s) + 1;
		buffer_printf(b, "%s", s);
		s += strlen(s) + 1;
	}
	if (*e->text != '\0')
		buffer_printf(b, " '%s'", e->text);
	if (e->child == NULL)
		return;
	buffer_text(b, "(");
	for (const struct xml *c = e->child; c != NULL; c = c->next) {
		dump(c, b);
		if (c->next != NULL)
			buffer_text(b, " ");
	}
	buffer_text(b, ")");
}

static void
reads(const char *what, const char *text, const char *want)
{
	struct buffer b = { 0 };
	char *copy = xstrdup(text);
	struct xml *root;

	said_begin(why, sizeof(why));
	root = xml_parse("file", copy);
	said_end();
	if (root != NULL)
		dump(root, &b);
	is_text(root != NULL ? b.data : why, want, what);
	xml_free(root);
	buffer_free(&b);
	free(copy);
}

static void
test_broken(void)
{
	static const struct { const char *text, *says; } bad[] = {
		{ "", "line 1: not valid XML (wanted an element)" },
		{ "<a>\n<b>\n</a>", "line 3: </a> (wanted the end of b)" },
		{ "<a/>\n</a>", "line 2: </a> (wanted the end of the document)" },
		{ "<a>", "(wanted the end of each element)" },
		{ "<a/><b/>", "(wanted one root element)" },
		{ "<a>\n<b x=1/></a>", "line 2: not valid XML (wanted NAME=" },
		{ "<a x='1", "wanted NAME=" },
		{ "<a x", "wanted NAME=" },
		{ "<a b=\"1\"", "wanted a name" },
		{ "<a", "wanted a name" },
		{ "<a<b/>", "wanted a blank" },
		{ "<a/", "wanted />" },
		{ "<", "wanted a name" },
		{ "</", "wanted a name" },
		{ "<a>&nbsp;</a>", "wanted &lt;, &gt;, &amp;" },
		{ "<a>&#0;</a>", "wanted a character as &#65;" },
		{ "<a>&#xd800;</a>", "wanted a character" },
		{ "<a>&#-5;</a>", "wanted a character" },
		{ "<a>&#", "wanted a character" },
		{ "<a>&", "wanted &lt;" },
		{ "text<a/>", "wanted elements only" },
		{ "<a/>text", "wanted elements only" },
		{ "<a><!-- b", "wanted -->" },
		{ "<a><![CDATA[ b", "wanted ]]>" },
		{ "<![CDATA[b]]>", "wanted elements only" },
		{ "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
		    "wanted a DOCTYPE without definitions" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char *copy = xstrdup(bad[i].text);
		struct xml *root;

		said_begin(why, sizeof(why));
		root = xml_parse("file", copy);
		said_end();
		if (!ok(root == NULL && strstr(why, bad[i].says) != NULL,
		    "refused: %s", bad[i].says))
			diag("said: %s", why);
		xml_free(root);
		free(copy);
	}
}

int
main(void)
{
	char text[] = "<r>\n<a id='1'/><b/>\n<a id='2' x=''/></r>";
	struct xml *root;

	reads("elements, attributes and texts",
	    "\n<?xml version=\"1.0\"?>\n<!DOCTYPE r SYSTEM \"r.dtd\">\n"
	    "<r a=\"1\" bb = '\"2>'>\n <!-- <x> --><a>one</a ><b/><c k='' />"
	    "<d\n>  two\nlines </d>\n</r>\n",
	    "r a=1 bb=\"2>(a 'one' b c k= d 'two\nlines')");
	reads("entities, characters and CDATA",
	    "<r x='&lt;&amp;&#65;&#x20AC;&#x1f600;'><a>&quot;&apos;&gt;&amp;lt;"
	    "</a><b><![CDATA[<&amp;> ]]></b></r>",
	    "r x=<&A\xe2\x82\xac\xf0\x9f\x98\x80(a '\"'>&lt;' b '<&amp;>')");
	test_broken();
	root = xml_parse("file", text);
	if (!ok(root != NULL, "a document is read"))
		return done();
	is_text(xml_get(xml_next(xml_child(root, "a"), "a"), "id"), "2",
	    "the next child of a name, and its attribute");
	ok(root->child->next->line == 2 && xml_child(root, "c") == NULL &&
	    xml_get(root->child, "x") == NULL && xml_next(NULL, "a") == NULL &&
	    xml_child(NULL, "a") == NULL && xml_get(NULL, "a") == NULL,
	    "lines are known, and what is absent is NULL");
	xml_free(root);
	xml_free(NULL);
	return done();
}
