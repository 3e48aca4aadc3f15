/*
 * Compare run fingerprints: between the ranks of a run, and of a run with the
 * checkpoint it resumes from.  Ranks first exchange hashes; only if these
 * differ do they exchange the texts, to name the difference.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/text.h"
#include "train/run/agree.h"

/*
 * Hash the program in pieces.  With GPU code it is large, and freeing one large
 * block raises the mmap threshold of malloc(3): later blocks of that size would
 * come from the heap and stay resident.
 */
const char *
agree_program(char text[33])
{
	FILE *f = fopen("/proc/self/exe", "rb");
	struct hasher *h = hasher_new();
	char piece[32768];
	size_t n;

	while (f != NULL && (n = fread(piece, 1, sizeof(piece), f)) > 0)
		hasher_add(h, piece, n);
	if (f != NULL && !ferror(f))
		hash128_text(hasher_128(h), text);
	else
		strcpy(text, "unknown");
	if (f != NULL)
		fclose(f);
	hasher_free(h);
	return text;
}

/* ---- between ranks ---- */

struct agree_card { struct hash128 hash; uint64_t bytes; char host[64]; };

/* Append to ${b} the values of ${name} and their ranks, as "7 on rank 0 (node1)
 * and 62 more, 8 on rank 17 (node5)". ${fingerprint} is [ranks][largest] bytes.
 */
static void
agree_who_has_what(struct buffer *b, const char *name,
    const struct agree_card *card, const char *fingerprint, size_t largest,
    int ranks)
{
	char **value = xcalloc((size_t)ranks, sizeof(*value));

	for (int r = 0; r < ranks; r++) {
		value[r] = fingerprint_value(fingerprint + (size_t)r * largest,
		    name);
		if (value[r] == NULL)
			value[r] = xstrdup("unset");
	}
	for (int r = 0; r < ranks; r++) {
		int known = 0, more = 0;

		for (int k = 0; k < r && !known; k++)
			known = strcmp(value[k], value[r]) == 0;
		if (known)
			continue;
		for (int k = r + 1; k < ranks; k++)
			more += strcmp(value[k], value[r]) == 0;
		buffer_printf(b, "%s%s on rank %d (%s)", r > 0 ? ", " : "",
		    text_quote(value[r]), r, card[r].host);
		if (more > 0)
			buffer_printf(b, " and %d more", more);
	}
	for (int r = 0; r < ranks; r++)
		free(value[r]);
	free(value);
}

/* Set ${name} to the first fact of ${mine} that ${other} lacks or has with
 * another value, or else the reverse.  Return 1, or 0 if they agree. */
static int
agree_first_difference(const char *mine, const char *other,
    char name[FINGERPRINT_NAME])
{
	for (int side = 0; side < 2; side++) {
		const char *these = side == 0 ? mine : other;
		const char *those = side == 0 ? other : mine;

		for (const char *at = these; *at != '\0';
		    at = fingerprint_next(at)) {
			char *a, *b;
			int same;

			if (!fingerprint_name(at, name))
				continue;
			a = fingerprint_value(these, name);
			b = fingerprint_value(those, name);
			same = b != NULL && strcmp(a, b) == 0;
			free(a);
			free(b);
			if (!same)
				return 1;
		}
	}
	return 0;
}

/*
 * Print the first fact in which the ranks differ.  ${fingerprint} is
 * [ranks][largest] bytes.  One difference is enough: others often follow from
 * it.
 */
static void
agree_say_difference(const struct agree_card *card, const char *fingerprint,
    size_t largest, int ranks)
{
	struct buffer b = { 0 };
	char name[FINGERPRINT_NAME];
	const char *hint;
	int r = 1;

	while (hash128_equal(card[r].hash, card[0].hash))
		r++;
	if (!agree_first_difference(fingerprint,
	    fingerprint + (size_t)r * largest, name))
		strcpy(name, "settings");
	agree_who_has_what(&b, name, card, fingerprint, largest, ranks);
	hint = fingerprint_hint(name);
	fail("the ranks differ in %s: %s%s%s%s", name, b.data,
	    hint ? " (" : "", hint ? hint : "", hint ? ")" : "");
	buffer_free(&b);
}

int
agree_ranks(struct comm *c, const struct fingerprint *mine)
{
	char *fingerprint = fingerprint_text(mine, FINGERPRINT_RANKS);
	char *all_fingerprints = NULL, *padded = NULL;
	struct agree_card card, *all = xcalloc((size_t)c->size, sizeof(*all));
	size_t largest = 0;
	int same = 1, result = -1;

	memset(&card, 0, sizeof(card));		/* padding is sent, too */
	card.bytes = strlen(fingerprint) + 1;
	card.hash = hash128(fingerprint, card.bytes);
	gethostname(card.host, sizeof(card.host) - 1);
	if (comm_allgather(c, &card, sizeof(card), all) != 0)
		goto out;
	for (int r = 0; r < c->size; r++) {
		same &= hash128_equal(all[r].hash, all[0].hash);
		largest = all[r].bytes > largest ? all[r].bytes : largest;
	}
	if (same) {
		result = 0;
		goto out;
	}
	padded = xcalloc(largest, 1);
	memcpy(padded, fingerprint, card.bytes);
	all_fingerprints = xcalloc((size_t)c->size, largest);
	if (comm_allgather(c, padded, largest, all_fingerprints) == 0 &&
	    c->rank == 0)
		agree_say_difference(all, all_fingerprints, largest, c->size);
out:
	free(padded);
	free(all_fingerprints);
	free(all);
	free(fingerprint);
	return result;
}

/* ---- with a checkpoint ---- */

static int
agree_is_overridden(const char *name, const struct option_list *override)
{
	for (size_t i = 0; i < override->n; i++)
		if (strcmp(override->item[i], name) == 0)
			return 1;
	return 0;
}

struct agree_resuming {
	const char *path;
	const struct option_list *override;
	char *(*say)(const void *of, const char *name);
	const void *of;
};

/* Return 0 if ${name} has the same value in both or may differ, else 1 after a
 * message. */
static int
agree_differs(const struct agree_resuming *r, const char *name, const char *was,
    const char *is)
{
	const char *hint = fingerprint_hint(name);
	char *how;

	name = fingerprint_option_name(name);
	if (strcmp(was, is) == 0 || agree_is_overridden(name, r->override))
		return 0;
	if ((how = r->say(r->of, name)) == NULL)
		how = xprintf("%s was %s and is %s now", name, text_quote(was),
		    text_quote(is));
	fail("%s: %s (%s%s--override=%s allows it)", text_quote(r->path), how,
	    hint ? hint : "", hint ? "; " : "", name);
	free(how);
	return 1;
}

/* Return 0 if the removed option ${name} had its default, else 1 after a
 * message. */
static int
agree_removed_differs(const struct agree_resuming *r, const char *name,
    const char *was)
{
	const char *removed = options_removed(name);

	if (strcmp(was, removed) == 0)
		return 0;
	fail("%s: %s was %s, and this version does not have the option (wanted "
	    "%s, its default)", text_quote(r->path), name, text_quote(was),
	    removed);
	return 1;
}

/*
 * Compare each fact that both fingerprints have.  If the checkpoint lacks an
 * option, the option is newer than the checkpoint: its value was the default.
 */
int
agree_resume(const char *path, const struct fingerprint *was,
    const struct fingerprint *now, const struct option_list *override,
    char *(*say)(const void *of, const char *name), const void *of)
{
	const struct agree_resuming r = { path, override, say, of };
	char *then = fingerprint_text(was, FINGERPRINT_RESUME);
	char *today = fingerprint_text(now, FINGERPRINT_RESUME);
	const struct fingerprint defaults = { .settings = options_defaults() };
	char *unset = fingerprint_text(&defaults, FINGERPRINT_RESUME),
	    name[FINGERPRINT_NAME];
	int bad = 0;

	for (const char *at = today; *at != '\0'; at = fingerprint_next(at)) {
		char *a, *b;

		if (!fingerprint_name(at, name))
			continue;
		a = fingerprint_value(then, name);
		b = fingerprint_value(today, name);
		if (a == NULL && text_starts(name, "--") &&
		    (a = fingerprint_value(unset, name)) == NULL)
			a = xstrdup("unset");
		if (a != NULL)
			bad |= agree_differs(&r, name, a, b);
		free(a);
		free(b);
	}
	/* Options of the checkpoint that are unset now. */
	for (const char *at = then; *at != '\0'; at = fingerprint_next(at)) {
		const char *option = fingerprint_option_name(name);
		char *a, *b;

		if (!fingerprint_name(at, name) || !text_starts(name, "--"))
			continue;
		a = fingerprint_value(then, name);
		b = fingerprint_value(today, name);
		if (options_removed(option) != NULL)
			bad |= agree_removed_differs(&r, option, a);
		else if (b == NULL)
			bad |= agree_differs(&r, name, a, "unset");
		free(a);
		free(b);
	}
	free(then);
	free(today);
	free(unset);
	return bad ? -1 : 0;
}
