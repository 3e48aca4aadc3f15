#ifndef BASE_XML_H
#define BASE_XML_H

/*
 * XML reader: elements, attributes and texts of a whole document.  Namespaces
 * are part of names.  Definitions of a DOCTYPE are refused, so no text is
 * longer than in the file.
 */

/* An element.  It belongs to its document. */
struct xml {
	const char *name;
	const char *text;		/* the last text between its children
					 * that is not blank, trimmed, or "" */
	const struct xml *child, *next;	/* the first child; the next one of the
					 * parent, NULL after the last */
	int line;

	/* Internal. */
	char *attribute;		/* name and value of each, all ended by
					 * zero bytes */
	int attributes;
	struct xml *parent, *last, *older;
};

/*
 * xml_parse(what, text):
 * Parse ${text}, UTF-8, which the document overwrites and points into.  Return
 * the root, or NULL after a message that begins with ${what} and a line.
 */
struct xml *xml_parse(const char *what, char *text);

/* xml_free(root): Free the document, but not its text.  NULL does nothing. */
void xml_free(struct xml *root);

/*
 * xml_get(e, name): Return the value of an attribute of ${e}, NULL if absent.
 * xml_child(e, name): Return the first child called ${name}, NULL if absent.
 * xml_next(e, name): Return the next sibling called ${name}, NULL if absent.
 * For all of them ${e} may be NULL.
 */
const char *xml_get(const struct xml *e, const char *name);
const struct xml *xml_child(const struct xml *e, const char *name);
const struct xml *xml_next(const struct xml *e, const char *name);

#endif
