/* Names of a stream's members: KEY.cls, KEY.json, KEY.FFFFFF.EXT, ... */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "shard/stream.h"
#include "shard/stream_read.h"

static int
stream_is_tag(const char *s, size_t n)
{
	return n >= 1 && n <= 8 &&
	    strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789") >= n;
}

/* Parse the part after the key and its dot: FFFFFF.EXT or FFFFFF.TAG.EXT.
 * Return NULL, or the error. */
static const char *
stream_parse_frame(const char *s, struct stream_member *m)
{
	const char *dot;

	if (strspn(s, "0123456789") != 6 || s[6] != '.')
		return "not the name of a frame, a .cls or a .json";
	m->frame = atoi(s);
	s += 7;
	dot = strchr(s, '.');
	strcpy(m->tag, STREAM_UNTAGGED);
	if (dot != NULL) {
		size_t n = (size_t)(dot - s);

		if (!stream_is_tag(s, n))
			return "the tag is not 1 to 8 of a-z and 0-9";
		snprintf(m->tag, sizeof(m->tag), "%.*s", (int)n, s);
		if (strcmp(m->tag, STREAM_UNTAGGED) == 0)
			return "the tag rgb is implied (wanted a name "
			    "without it)";
		s = dot + 1;
	}
	if (!sample_ext_known(s))
		return "not a kind of frame vt knows (wanted .jpg or .png)";
	strcpy(m->ext, s);
	m->kind = MEMBER_FRAME;
	return NULL;
}

void
stream_frame_name(const char *key, unsigned frame,
    const struct stream_kind *kind, char name[USTAR_NAME + 1])
{
	int tagged = strcmp(kind->tag, STREAM_UNTAGGED) != 0;
	int length = snprintf(name, USTAR_NAME + 1, "%s.%06u%s%s.%s", key,
	    frame, tagged ? "." : "", tagged ? kind->tag : "", kind->ext);

	assert(length <= USTAR_NAME);	/* KEY_MAX and FRAME_MAX ensure it */
}

const char *
stream_member_name(const char *name, struct stream_member *m)
{
	const char *dot;
	size_t n;

	while (text_starts(name, "./"))		/* as from tar -cf x.tar . */
		name += 2;
	/* A key has no dot, so the first dot ends it. */
	dot = strchr(name, '.');
	if (strlen(name) > USTAR_NAME)
		return "a name longer than 100 bytes";
	strcpy(m->name, name);
	if (strcmp(name, STREAM_HEAD) == 0 || strcmp(name, STREAM_END) == 0) {
		m->kind = strcmp(name, STREAM_END) == 0 ? MEMBER_END :
		    MEMBER_HEAD;
		return NULL;
	}
	n = dot != NULL ? (size_t)(dot - name) : 0;
	if (n == 0 || n > KEY_MAX)
		return "not the name of a frame, a .cls or a .json";
	memcpy(m->key, name, n);
	m->key[n] = '\0';
	if (!key_is_valid(m->key))
		return "its key is not valid (wanted [A-Za-z0-9_=-] and /, no "
		    "component empty or __x__)";
	m->kind = strcmp(dot, ".cls") == 0 ? MEMBER_LABEL : MEMBER_INFO;
	if (m->kind == MEMBER_LABEL || strcmp(dot, ".json") == 0)
		return NULL;
	return stream_parse_frame(dot + 1, m);
}
