/* Keys of samples, derived from the paths of videos. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "shard/key.h"

#define KEPT 63			/* bytes of a long key before its hash */

/* One component of a path; not terminated. */
struct key_part { const char *s; size_t n; };

static int
key_is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* Return 1 for a component __x__.  WebDataset readers skip such members. */
static int
key_is_reserved(struct key_part p)
{
	return p.n >= 4 && memcmp(p.s, "__", 2) == 0 &&
	    memcmp(p.s + p.n - 2, "__", 2) == 0;
}

/*
 * Set ${*p} to the component at ${*path}, and advance ${*path} past it.  Return
 * 0 if there is none.  Empty and "." components are skipped, because "a//b"
 * and "./a/b" name the same file as "a/b".
 */
static int
key_next_part(const char **path, struct key_part *p)
{
	do {
		*path += strspn(*path, "/");
		p->s = *path;
		p->n = strcspn(*path, "/");
		*path += p->n;
	} while (p->n == 1 && p->s[0] == '.');
	return p->n > 0;
}

/*
 * Only '=' begins an escape, and only bytes that are not plain need one, so the
 * mapping is reversible.  The one plain byte that is ever escaped is the first
 * of a reserved component.
 */
static void
key_escape(struct buffer *b, struct key_part p)
{
	for (size_t i = 0; i < p.n; i++)
		if (key_is_plain(p.s[i]) && !(i == 0 && key_is_reserved(p)))
			buffer_add(b, &p.s[i], 1);
		else
			buffer_printf(b, "=%02X", (unsigned char)p.s[i]);
}

int
key_from_path(const char *path, char *key)
{
	struct buffer b = { 0 };
	const char *rest = path;
	struct key_part p, last = { NULL, 0 };
	size_t n = KEPT;

	while (key_next_part(&rest, &p)) {
		if (last.n > 0) {
			key_escape(&b, last);
			buffer_text(&b, "/");
		}
		last = p;
	}
	/* Omit the extension, except of a name like ".x", which would become
	 * empty. */
	for (size_t i = last.n; i-- > 1;)
		if (last.s[i] == '.') {
			last.n = i;
			break;
		}
	if (last.n == 0)
		return fail("%s: no name remains for a key",
		    text_quote(path));
	key_escape(&b, last);
	if (b.n <= KEY_MAX) {
		strcpy(key, b.data);
	} else {
		/* Do not cut through an escape. */
		if (b.data[n - 1] == '=')
			n -= 1;
		else if (b.data[n - 2] == '=')
			n -= 2;
		sprintf(key, "%.*s-%016llx", (int)n, b.data,
		    (unsigned long long)hash64(b.data, b.n));
	}
	buffer_free(&b);
	return 0;
}

int
key_is_valid(const char *key)
{
	size_t n = strnlen(key, KEY_MAX + 1);
	struct key_part p;

	if (n == 0 || n > KEY_MAX)
		return 0;
	for (;; key++) {
		p = (struct key_part){ key, strcspn(key, "/") };
		if (p.n == 0 || key_is_reserved(p))
			return 0;
		for (; *key != '/' && *key != '\0'; key++)
			if (!key_is_plain(*key) && *key != '=')
				return 0;
		if (*key == '\0')
			return 1;
	}
}
