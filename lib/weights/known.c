/* Published weight files, and their copies in the user's cache. */
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/file.h"
#include "base/names.h"
#include "base/sha256.h"
#include "base/share.h"
#include "base/text.h"
#include "weights/known.h"

#define KNOWN "known:"

static struct table *
known_table(void)
{
	char *path = share_find("weights", "known", ".tsv");
	struct table *t = path != NULL ? table_read(path) : NULL;

	free(path);
	return t;
}

/* Set the members of ${k} from row ${i} of its table. */
static int
known_take(struct known *k, size_t i)
{
	const struct { const char *name; const char **to; } texts[] = {
		{ "name", &k->name }, { "network", &k->network },
		{ "address", &k->address }, { "sha256", &k->sha256 },
		{ "order", &k->classes_file }, { "loss", &k->loss },
		{ "views", &k->views } };
	const struct { const char *name; int64_t *to; } numbers[] = {
		{ "bytes", &k->bytes }, { "classes", &k->classes },
		{ "frames", &k->frames }, { "stride", &k->stride },
		{ "crop", &k->crop }, { "side", &k->side },
		{ "clips", &k->clips }, { "crops", &k->crops } };

	for (size_t j = 0; j < sizeof(texts) / sizeof(texts[0]); j++)
		if ((*texts[j].to = table_text(k->table, i, texts[j].name)) ==
		    NULL)
			return -1;
	for (size_t j = 0; j < sizeof(numbers) / sizeof(numbers[0]); j++) {
		const char *cell = table_text(k->table, i, numbers[j].name);

		*numbers[j].to = 0;
		if (cell == NULL || (*cell != '\0' && table_int(k->table, i,
		    numbers[j].name, 1, INT32_MAX, numbers[j].to) != 0))
			return -1;
	}
	return 0;
}

void
known_close(struct known *k)
{
	table_free(k->table);
	*k = (struct known){ 0 };
}

int
known_is(const char *path)
{
	return text_starts(path, KNOWN);
}

int
known_find(const char *path, struct known *k)
{
	const char *name = path + strlen(KNOWN);
	struct names *names = names_new();
	struct buffer b = { 0 };
	long row = -1;

	*k = (struct known){ .table = known_table() };
	for (size_t i = 0; k->table != NULL && i < k->table->rows; i++) {
		const char *cell = table_text(k->table, i, "name");

		if (cell == NULL)
			goto out;
		names_add(names, cell);
	}
	if (k->table == NULL)
		goto out;
	if ((row = names_find(names, name)) < 0) {
		share_similar(names, name, &b);
		fail(b.n > 0 ? "%s: no published weights of this name "
		    "(similar: %s; vt-eval --known lists all %zu)" :
		    "%s: no published weights of this name (%svt-eval --known "
		    "lists all %zu)", text_quote(path), b.n > 0 ? b.data : "",
		    k->table->rows);
	} else if (known_take(k, (size_t)row) != 0) {
		row = -1;
	}
out:
	names_free(names);
	buffer_free(&b);
	if (row < 0)
		known_close(k);
	return row < 0 ? EXIT_USAGE : 0;
}

int
known_of_network(const char *network, int classes, struct known *k)
{
	size_t first = SIZE_MAX;

	*k = (struct known){ .table = known_table() };
	if (k->table == NULL)
		return EXIT_USAGE;
	for (size_t i = 0; i < k->table->rows; i++) {
		if (known_take(k, i) != 0) {
			known_close(k);
			return EXIT_USAGE;
		}
		if (strcmp(k->network, network) != 0 || k->frames == 0 ||
		    k->crop == 0 || *k->views == '\0')
			continue;
		if (k->classes == classes)
			return 0;
		first = first == SIZE_MAX ? i : first;
	}
	if (first != SIZE_MAX)
		return known_take(k, first) == 0 ? 0 : EXIT_USAGE;
	known_close(k);
	return 0;
}

/* Return the path of the file ${name} in the cache (XDG Base Directory
 * Specification).  The caller frees it. */
static char *
known_cache(const char *name)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache != NULL && *cache == '/')
		return xprintf("%s/vt/%s", cache, name);
	return xprintf("%s/.cache/vt/%s", home != NULL ? home : "", name);
}

char *
known_path(const char *path)
{
	return known_is(path) ? known_cache(path + strlen(KNOWN)) :
	    xstrdup(path);
}

/* Compare the digest with the published digits. */
static int
known_check_digest(const struct known *k, const char *path,
    const struct buffer *b)
{
	size_t n = strlen(k->sha256);
	char text[65];

	if (n == 0 || strncmp(sha256_text(b->data, b->n, text), k->sha256,
	    n) == 0)
		return 0;
	if (n == 64)
		return fail("%s: its SHA-256 is %s (wanted %s): remove it, and "
		    "fetch it again", text_quote(path), text, k->sha256);
	warning("%s: its SHA-256 is %s, and the published one begins with %s",
	    text_quote(path), text, k->sha256);
	return 0;
}

static int
known_check(const struct known *k, const char *path, const struct buffer *b)
{
	if (k->bytes > 0 && (int64_t)b->n != k->bytes)
		return fail("%s: %zu bytes (wanted %lld): remove it, and fetch "
		    "it again", text_quote(path), b->n, (long long)k->bytes);
	return known_check_digest(k, path, b);
}

int
known_read(const char *path, struct buffer *b)
{
	char *file, *dir;
	struct known k;
	int bad = 0;

	if (known_find(path, &k) != 0)
		return -3;
	file = known_cache(k.name);
	dir = path_dir(file);
	if (file_size(file) < 0) {
		fail("%s: no file %s; these commands fetch it: mkdir -p '%s' "
		    "&& curl -fL -o '%s.part' '%s' && mv '%s.part' '%s'",
		    text_quote(path), text_quote(file), dir, file, k.address,
		    file, file);
		bad = -3;
	} else if (file_read(file, b) != 0) {
		bad = -1;
	} else if (known_check(&k, file, b) != 0) {
		bad = -2;
	}
	free(dir);
	free(file);
	known_close(&k);
	return bad;
}

int
known_list(struct buffer *b)
{
	static const char *const columns[] = { "name", "network", "classes",
		"top1", "address" };
	struct table *t = known_table();
	int status = t != NULL ? 0 : EXIT_USAGE;

	buffer_text(b, "#name\tnetwork\tclasses\ttop1\taddress\n");
	for (size_t i = 0; status == 0 && i < t->rows; i++) {
		for (size_t j = 0; status == 0 && j < 5; j++) {
			const char *cell = table_text(t, i, columns[j]);

			status = cell != NULL ? 0 : EXIT_USAGE;
			if (cell != NULL)
				table_put(b, cell);
		}
		buffer_text(b, "\n");
	}
	table_free(t);
	return status;
}
