/* Names of the members of other programs' archives: KEY.jpg, KEY.12.jpg,
 * KEY.frame12.png, KEY.cls, KEY.txt, KEY.json. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "shard/foreign.h"

#define DIGITS 9			/* of a number that fits an int */

/* Parse the part before the extension of a frame, ${n} bytes, which ends with
 * the number of the frame. */
static const char *
foreign_name_number(const char *s, size_t n, struct stream_member *m)
{
	size_t digits = 0;

	while (digits < n && isdigit((unsigned char)s[n - 1 - digits]))
		digits++;
	m->frame = -1;
	if (digits == 0)
		return NULL;
	for (; digits > DIGITS && s[n - digits] == '0'; digits--)
		;
	if (digits > DIGITS)
		return "a frame number of more than 9 digits";
	m->frame = atoi(s + n - digits);
	return NULL;
}

/* Write the key of ${name}, whose first ${n} bytes precede the suffix.  A name
 * remains for key_from_path, because the last component is not empty. */
static void
foreign_name_key(const char *name, size_t n, struct stream_member *m)
{
	char *path = xprintf("%.*s.x", (int)n, name);

	path[n] = '\0';
	if (key_is_valid(path)) {
		strcpy(m->key, path);
	} else {
		path[n] = '.';
		(void)key_from_path(path, m->key);
	}
	free(path);
}

const char *
foreign_member_name(const char *name, struct stream_member *m)
{
	const char *base, *dot, *ext;

	while (text_starts(name, "./"))
		name += 2;
	snprintf(m->name, sizeof(m->name), "%s", name);
	base = strrchr(name, '/') != NULL ? strrchr(name, '/') + 1 : name;
	dot = strchr(base, '.');
	if (dot == NULL || dot == base)
		return "no key and extension (wanted KEY.jpg, KEY.cls, ...)";
	foreign_name_key(name, (size_t)(dot - name), m);
	strcpy(m->tag, STREAM_UNTAGGED);
	m->kind = strcmp(dot, ".cls") == 0 ? MEMBER_LABEL :
	    strcmp(dot, ".txt") == 0 ? MEMBER_TEXT : MEMBER_INFO;
	if (m->kind != MEMBER_INFO || strcmp(dot, ".json") == 0)
		return NULL;
	ext = strrchr(dot, '.');
	m->kind = MEMBER_FRAME;
	strcpy(m->ext, strcasecmp(ext, ".png") == 0 ? "png" : "jpg");
	if (strcasecmp(ext, ".jpg") != 0 && strcasecmp(ext, ".jpeg") != 0 &&
	    strcasecmp(ext, ".png") != 0)
		return "not a kind of member that is packed (wanted .jpg, "
		    ".jpeg, .png, .cls, .txt or .json)";
	return foreign_name_number(dot, (size_t)(ext - dot), m);
}
