/*
 * ELAN annotations in XML.  Times are milliseconds; those of an annotation that
 * refers to another one are those of that one.  The first medium is the video.
 * It begins TIME_ORIGIN before time 0.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "base/xml.h"
#include "ingest/list_format.h"

#define Q text_quote
#define TIME 1000000000		/* in ms, longer than any video */
#define REFERENCES 16		/* from tier to tier */

struct elan {
	struct list_reading *r;
	struct names *ids;		/* of slots and annotations */
	const struct xml **element;	/* [ids] */
	size_t cap;
};

int
elan_detect(struct list_reading *r)
{
	return list_is_xml(r->text.data, "<ANNOTATION_DOCUMENT");
}

/* Return 1 if ${tier} has annotations with times of their own. */
static int
elan_has_times(const struct xml *tier)
{
	return xml_child(xml_child(tier, "ANNOTATION"),
	    "ALIGNABLE_ANNOTATION") != NULL;
}

/* Return the tier with the labels, or NULL after a message. */
static const struct xml *
elan_tier(const struct list_reading *r, const struct xml *root)
{
	const char *want = r->how->tier;
	const struct xml *tier = NULL, *e = xml_child(root, "TIER");
	struct buffer names = { 0 };
	int n = 0;

	for (; e != NULL; e = xml_next(e, "TIER")) {
		const char *name = xml_get(e, "TIER_ID");

		if (name == NULL)
			continue;
		buffer_printf(&names, "%s%s", names.n > 0 ? ", " : "", Q(name));
		if (want != NULL ? strcmp(name, want) == 0 :
		    elan_has_times(e)) {
			tier = e;
			n++;
		}
	}
	if (n != 1)
		fail("%s: %d tiers %s (wanted --tier=NAME, one of %s)",
		    r->name, n, want != NULL ? Q(want) : "with times",
		    names.n > 0 ? names.data : "none");
	buffer_free(&names);
	return n == 1 ? tier : NULL;
}

/* Index ${e} by its attribute ${name}. */
static void
elan_add(struct elan *n, const struct xml *e, const char *name)
{
	const char *id = xml_get(e, name);
	size_t k = names_count(n->ids);

	if (id == NULL || names_add(n->ids, id) < 0)
		return;
	n->element = array_reserve(n->element, k, &n->cap,
	    sizeof(*n->element));
	n->element[k] = e;
}

static void
elan_index(struct elan *n, const struct xml *root)
{
	const struct xml *e = xml_child(xml_child(root, "TIME_ORDER"),
	    "TIME_SLOT"), *tier = xml_child(root, "TIER");

	for (; e != NULL; e = xml_next(e, "TIME_SLOT"))
		elan_add(n, e, "TIME_SLOT_ID");
	for (; tier != NULL; tier = xml_next(tier, "TIER"))
		for (e = tier->child; e != NULL; e = e->next)
			elan_add(n, e->child, "ANNOTATION_ID");
}

/* Return the element whose id is attribute ${name} of ${e}, or NULL. */
static const struct xml *
elan_find(const struct elan *n, const struct xml *e, const char *name)
{
	const char *id = xml_get(e, name);
	long k = id != NULL ? names_find(n->ids, id) : -1;

	return k >= 0 ? n->element[k] : NULL;
}

/* Set ${*seconds} to the time of the slot that ${reference} of ${e} names.
 * Return 0, or -1 without a message if it has none. */
static int
elan_time(const struct elan *n, const struct xml *e, const char *reference,
    double *seconds)
{
	const char *text = xml_get(elan_find(n, e, reference), "TIME_VALUE");
	int64_t ms = 0;

	if (text == NULL || text_int(text, 0, TIME, &ms) != 0)
		return -1;
	*seconds = (double)ms;
	return 0;
}

/* Append annotation ${e} of ${video}, which begins ${origin} ms before 0. */
static int
elan_append(const struct elan *n, const struct xml *e, const char *video,
    int64_t origin)
{
	struct list_reading *r = n->r;
	const struct xml *value = xml_child(e, "ANNOTATION_VALUE"), *of = e;
	struct list_part part = { .unit = LIST_SECONDS };
	struct list_row *row;

	for (int i = 0; i < REFERENCES &&
	    xml_get(of, "ANNOTATION_REF") != NULL; i++)
		of = elan_find(n, of, "ANNOTATION_REF");
	if (elan_time(n, of, "TIME_SLOT_REF1", &part.begin) != 0 ||
	    elan_time(n, of, "TIME_SLOT_REF2", &part.end) != 0 ||
	    part.begin + (double)origin < 0 || part.end <= part.begin)
		return fail("%s: line %d: annotation %s (wanted slots with "
		    "TIME_VALUE, the second one later)", r->name, e->line,
		    Q(value->text));
	part.begin = (part.begin + (double)origin) / 1e3;
	part.end = (part.end + (double)origin) / 1e3;
	r->line = e->line;
	row = list_find_media(r, video);
	list_select(r, row, &part);
	list_row_label(row, value->text);
	return 0;
}

/* Append the annotations of the tier. */
static int
elan_read_tier(const struct elan *n, const struct xml *root,
    const struct xml *tier)
{
	const struct list_reading *r = n->r;
	const struct xml *media = xml_child(xml_child(root, "HEADER"),
	    "MEDIA_DESCRIPTOR"), *a = xml_child(tier, "ANNOTATION");
	const char *path = xml_get(media, "RELATIVE_MEDIA_URL");
	const char *text = xml_get(media, "TIME_ORIGIN");
	int64_t origin = 0;
	int result = 0, empty = 0;
	char *video;

	if (path == NULL || *path == '\0')
		path = xml_get(media, "MEDIA_URL");
	if (path == NULL || *path == '\0')
		return fail("%s: no video (wanted %s)", r->name,
		    r->format->wanted);
	if (text != NULL && text_int(text, -TIME, TIME, &origin) != 0)
		return fail("%s: line %d: TIME_ORIGIN %s (wanted "
		    "milliseconds)", r->name, media->line, Q(text));
	path += text_starts(path, "file://") ? strlen("file://") : 0;
	path += text_starts(path, "./") ? strlen("./") : 0;
	video = xstrdup(path);
	list_decode(video);
	for (; a != NULL && result == 0; a = xml_next(a, "ANNOTATION")) {
		const struct xml *value = xml_child(a->child,
		    "ANNOTATION_VALUE");

		if (value == NULL || *value->text == '\0')
			empty++;
		else
			result = elan_append(n, a->child, video, origin);
	}
	free(video);
	if (result == 0 && empty > 0)
		warning("%s: annotations without a value, left out: %d",
		    r->name, empty);
	return result;
}

int
elan_read(struct list_reading *r)
{
	struct xml *root = xml_parse(r->name, r->text.data);
	struct elan n = { .r = r, .ids = names_new() };
	const struct xml *tier = NULL;
	int result = -1;

	if (root != NULL && strcmp(root->name, "ANNOTATION_DOCUMENT") != 0)
		fail("%s: line %d: <%s> (wanted %s)", r->name, root->line,
		    root->name, r->format->wanted);
	else if (root != NULL)
		tier = elan_tier(r, root);
	if (tier != NULL) {
		elan_index(&n, root);
		result = elan_read_tier(&n, root, tier);
	}
	names_free(n.ids);
	free(n.element);
	xml_free(root);
	return result;
}
