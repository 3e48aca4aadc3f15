/* The table of choices in the user's cache. */
#include <stdlib.h>
#include <string.h>

#include "backend/choice_cache.h"
#include "backend/tuning.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

/* Return the path of the file, which the caller frees; NULL if it has no folder. */
static char *
choice_cache_path(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache != NULL && *cache == '/')
		return xprintf("%s/vt/choices.tsv", cache);
	return home != NULL && *home == '/' ?
	    xprintf("%s/.cache/vt/choices.tsv", home) : NULL;
}

/*
 * Read the file at ${path} into ${text} and make its choices known to ${d}.  Return
 * 0, also if there is no file, or -1 after writing the reason to ${why}.
 */
static int
choice_cache_read(struct device *d, const char *path, struct buffer *text,
    char *why, size_t size)
{
	*why = '\0';
	if (file_size(path) < 0)
		return 0;
	fail_capture(why, size);
	if (file_read_text(path, text) == 0)
		device_choose(d, CHOICES_KNOWN, text_quote(path), text->data);
	fail_capture(NULL, 0);
	return *why == '\0' ? 0 : -1;
}

void
choice_cache_load(struct device *d)
{
	char *path = choice_cache_path(), why[512];
	char *any = device_choices(d, CHOICES_KNOWN);
	struct buffer text = { 0 };

	if (any != NULL && path != NULL && choice_cache_read(d, path, &text,
	    why, sizeof(why)) != 0)
		warning("%s: the fastest algorithms are searched again", why);
	buffer_free(&text);
	free(any);
	free(path);
}

void
choice_cache_save(struct device *d)
{
	char *path = choice_cache_path(), *now, *dir, why[512];
	struct buffer was = { 0 };

	if (path == NULL)
		return;
	/* Another process may have written it since choice_cache_load. */
	if (choice_cache_read(d, path, &was, why, sizeof(why)) != 0)
		buffer_free(&was);
	now = device_choices(d, CHOICES_KNOWN);
	if (now != NULL && (was.n == 0 || strcmp(was.data, now) != 0)) {
		dir = path_dir(path);
		*why = '\0';
		fail_capture(why, sizeof(why));
		if (file_make_dir(dir) == 0)
			commit_text(path, now);
		fail_capture(NULL, 0);
		if (*why != '\0')
			warning("%s: other runs will search the fastest "
			    "algorithms again", why);
		free(dir);
	}
	buffer_free(&was);
	free(now);
	free(path);
}
