/* Find files that are installed with the commands, and suggest similar names
 * for those that are missing. */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/share.h"
#include "base/text.h"

enum { LISTED = 8, MEANT = 4 };		/* maximum numbers of names in a
					 * message */

/* The folders whose files have names, and a file in them of another kind. */
static const struct share_folder { const char *folder, *kind, *other; }
share_folders[] = {
	{ "models", "a .net file", NULL },
	{ "classes", "a list of class names", NULL },
	{ "clusters", "a table of vt-bench links", NULL },
	{ "flips", "a table of classes that flips swap", NULL },
	{ "recipes", "a recipe", NULL },
	{ "weights", "a table of tensor names", "known" },
	{ NULL, "a file", NULL }
};

static const struct share_folder *
share_folder_of(const char *folder)
{
	const struct share_folder *f = share_folders;

	while (f->folder != NULL && strcmp(f->folder, folder) != 0)
		f++;
	return f;
}

/* Add the names in ${dir} that end with ${suffix}, without ${other}, to
 * ${names}. */
static void
share_names_add(struct names *names, const char *dir, const char *suffix,
    const char *other)
{
	struct dirent **entry;
	int n = scandir(dir, &entry, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		const char *s = entry[i]->d_name;

		if (text_ends(s, suffix)) {
			entry[i]->d_name[strlen(s) - strlen(suffix)] = '\0';
			if (other == NULL || strcmp(s, other) != 0)
				names_add(names, s);
		}
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

char *
share_program_dir(void)
{
	char exe[PATH_MAX];
	/* /proc/self/exe also works if the program was started by PATH or a
	 * link. */
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = '\0';
	exe[path_base(exe) - exe] = '\0';
	return xstrdup(exe);
}

/*
 * Search the four directories of share_find.  Return the path of the file, or
 * NULL if no directory has it.  Then add to ${names} the names in the first
 * directory that has any, and set ${*where} to that directory, NULL if none
 * has.  The caller frees both.
 */
static char *
share_search(const char *folder, const char *name, const char *suffix,
    struct names *names, char **where)
{
	const char *env = getenv("VT_SHARE_DIR");
	char *exe = share_program_dir(), *dir[4] = { 0 }, *found = NULL;

	if (env != NULL)
		dir[0] = xprintf("%s/%s", env, folder);
	if (*exe != '\0')
		dir[1] = xprintf("%s../share/vt/%s", exe, folder);
	if (*VT_SHARE != '\0')
		dir[2] = xprintf("%s/%s", VT_SHARE, folder);
	if (*exe != '\0')
		dir[3] = xprintf("%s../share/%s", exe, folder);
	*where = NULL;
	for (int i = 0; i < 4 && found == NULL; i++) {
		char *path;

		if (dir[i] == NULL)
			continue;
		path = xprintf("%s/%s%s", dir[i], name, suffix);
		if (file_size(path) >= 0)
			found = path;
		else
			free(path);
		if (found != NULL || names_count(names) > 0)
			continue;
		share_names_add(names, dir[i], suffix,
		    share_folder_of(folder)->other);
		if (names_count(names) > 0)
			*where = xstrdup(dir[i]);
	}
	for (int i = 0; i < 4; i++)
		free(dir[i]);
	free(exe);
	return found;
}

/*
 * Return the distance between ${name} and the name ${typed}: the number of
 * edits.  Subtract 2 if both end in the same number, as resnet18 and tsm_r18.
 * Return 0 if one is a prefix of the other.
 */
static int
share_name_distance(const char *typed, const char *name)
{
	size_t a = strlen(typed), b = strlen(name), digits = 0;

	if (a > 1 && (text_starts(name, typed) || text_starts(typed, name)))
		return 0;
	while (digits < a && digits < b && typed[a - digits - 1] ==
	    name[b - digits - 1] && isdigit((unsigned char)
	    typed[a - digits - 1]))
		digits++;
	return text_distance(typed, name) - (digits > 0 ? 2 : 0);
}

void
share_similar(const struct names *names, const char *typed,
    struct buffer *to)
{
	int largest = (int)strlen(typed) / 2, least = largest, of = 0,
	    shown = 0;

	for (size_t i = 0; i < names_count(names); i++) {
		int d = share_name_distance(typed, names_text(names, i));

		least = d < least ? d : least;
	}
	largest = least + 1 < largest ? least + 1 : largest;
	for (size_t i = 0; i < names_count(names); i++)
		of += share_name_distance(typed, names_text(names, i)) <=
		    largest;
	of = of < MEANT ? of : MEANT;
	for (int d = least; d <= largest; d++)
		for (size_t i = 0; i < names_count(names) && shown < of; i++)
			if (share_name_distance(typed, names_text(names, i)) ==
			    d)
				buffer_printf(to, "%s%s", ++shown == 1 ? "" :
				    shown == of ? " or " : ", ",
				    names_text(names, i));
}

/* Report the missing file.  List all names if they are few.  Otherwise
 * suggest similar ones and name the folder. */
static void
share_say_missing(const char *folder, const char *name, const char *where,
    const struct names *names)
{
	const char *kind = share_folder_of(folder)->kind;
	size_t n = names_count(names);
	struct buffer b = { 0 };

	share_similar(names, name, &b);
	if (n == 0)
		fail("no %s in %s, which has no files (wanted the path of %s)",
		    text_quote(name), folder, kind);
	else if (n > LISTED && b.n > 0)
		fail("no %s in %s (similar: %s; %s has all %zu; wanted one "
		    "of them, or the path of %s)", text_quote(name), folder,
		    b.data, text_quote(where), n, kind);
	else if (n > LISTED)
		fail("no %s in %s (%s has all %zu; wanted one of them, or the "
		    "path of %s)", text_quote(name), folder,
		    text_quote(where), n, kind);
	else {
		buffer_free(&b);
		for (size_t i = 0; i < n; i++)
			buffer_printf(&b, "%s%s", i > 0 ? ", " : "",
			    names_text(names, i));
		fail("no %s in %s (there are: %s; wanted one of them, or the "
		    "path of %s)", text_quote(name), folder, b.data, kind);
	}
	buffer_free(&b);
}

char **
share_list(const char *folder, const char *suffix, size_t *n)
{
	struct names *names = names_new();
	char *where, **path;

	/* No file has an empty name: all directories are searched. */
	free(share_search(folder, "", suffix, names, &where));
	*n = names_count(names);
	path = xcalloc(*n + 1, sizeof(*path));
	for (size_t i = 0; i < *n; i++)
		path[i] = xprintf("%s/%s%s", where, names_text(names, i),
		    suffix);
	names_free(names);
	free(where);
	return path;
}

int
share_has(const char *folder, const char *name, const char *suffix)
{
	struct names *names = names_new();
	char *where = NULL, *found = strchr(name, '/') != NULL ? NULL :
	    share_search(folder, name, suffix, names, &where);
	int has = found != NULL;

	names_free(names);
	free(where);
	free(found);
	return has;
}

char *
share_find(const char *folder, const char *name, const char *suffix)
{
	struct names *names;
	char *found, *where;

	if (strchr(name, '/') != NULL ||
	    (*suffix != '\0' && text_ends(name, suffix)))
		return xstrdup(name);
	names = names_new();
	found = share_search(folder, name, suffix, names, &where);
	if (found == NULL)
		share_say_missing(folder, name, where, names);
	names_free(names);
	free(where);
	return found;
}
