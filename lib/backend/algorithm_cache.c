/* Loads and saves the algorithm cache in the user's cache folder. */
#include <stdlib.h>
#include <string.h>

#include "backend/algorithm_cache.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

/* The last device of algorithm_cache_load: a process autotunes on one. */
static const struct device *algorithm_cache_device;

/*
 * Return the path of the file, or NULL if neither folder is set.  The caller
 * frees it.
 */
static char *
algorithm_cache_path(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache != NULL && *cache == '/')
		return xprintf("%s/vt/choices.tsv", cache);
	return home != NULL && *home == '/' ?
	    xprintf("%s/.cache/vt/choices.tsv", home) : NULL;
}

/*
 * Read the file at ${path} into ${text} and add its choices to ${d}.  Return 0,
 * also if there is no file, or -1 after writing the reason to ${why}.
 */
static int
algorithm_cache_read(struct device *d, const char *path, struct buffer *text,
    struct error *why)
{
	if (file_size(path) < 0)
		return 0;
	return file_try(path, text, why) != 0 ? -1 : device_algorithms_read(d,
	    ALGORITHMS_MEASURED, text_quote(path), text->data, why);
}

void
algorithm_cache_load(struct device *d)
{
	char *path = algorithm_cache_path();
	struct error why = { "" };
	char *any = device_algorithms_text(d, ALGORITHMS_MEASURED);
	struct buffer text = { 0 };

	algorithm_cache_device = d;
	if (any != NULL && path != NULL && algorithm_cache_read(d, path, &text,
	    &why) != 0)
		warning("%s: the fastest algorithms are searched again",
		    why.text);
	buffer_free(&text);
	free(any);
	free(path);
}

void
algorithm_cache_save(struct device *d)
{
	char *path = d == algorithm_cache_device ? algorithm_cache_path() :
	    NULL;
	struct error read = { "" }, why = { "" };
	struct buffer was = { 0 };
	char *now, *dir;

	if (path == NULL)
		return;
	/*
	 * Merge first: another process may have written since
	 * algorithm_cache_load.
	 */
	if (algorithm_cache_read(d, path, &was, &read) != 0)
		buffer_free(&was);
	now = device_algorithms_text(d, ALGORITHMS_MEASURED);
	if (now != NULL && (was.n == 0 || strcmp(was.data, now) != 0)) {
		dir = path_dir(path);
		if (file_make_dir(dir, &why) != 0 || commit_try(path, now,
		    strlen(now), &why) != 0)
			warning("%s: other runs will search the fastest "
			    "algorithms again", why.text);
		free(dir);
	}
	buffer_free(&was);
	free(now);
	free(path);
}
