/* Finds the files that are installed with the commands. */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/share.h"
#include "base/text.h"

/* Names ending with ${suffix} in ${dir}, added to ${names}. */
static void
add_names(struct buffer *names, const char *dir, const char *suffix)
{
	struct dirent **entry;
	int n = scandir(dir, &entry, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		const char *s = entry[i]->d_name;

		if (text_ends(s, suffix))
			buffer_printf(names, "%s%.*s", names->n > 0 ? ", " : "",
			    (int)(strlen(s) - strlen(suffix)), s);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

/* The file, or NULL with the ${names} there are. */
static char *
look(const char *folder, const char *name, const char *suffix,
    struct buffer *names)
{
	const char *env = getenv("VT_SHARE_DIR");
	char exe[PATH_MAX], *dir[4] = { 0 }, *found = NULL;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = '\0';
	exe[path_base(exe) - exe] = '\0';
	if (env != NULL)
		dir[0] = xprintf("%s/%s", env, folder);
	if (*exe != '\0')
		dir[1] = xprintf("%s../share/vt/%s", exe, folder);
	if (*VT_SHARE != '\0')
		dir[2] = xprintf("%s/%s", VT_SHARE, folder);
	if (*exe != '\0')
		dir[3] = xprintf("%s../share/%s", exe, folder);
	for (int i = 0; i < 4 && found == NULL; i++) {
		char *path;

		if (dir[i] == NULL)
			continue;
		path = xprintf("%s/%s%s", dir[i], name, suffix);
		if (file_size(path) >= 0)
			found = path;
		else
			free(path);
		if (found == NULL && names->n == 0)
			add_names(names, dir[i], suffix);
	}
	for (int i = 0; i < 4; i++)
		free(dir[i]);
	return found;
}

int
share_has(const char *folder, const char *name, const char *suffix)
{
	struct buffer names = { 0 };
	char *found = strchr(name, '/') != NULL ? NULL :
	    look(folder, name, suffix, &names);
	int has = found != NULL;

	buffer_free(&names);
	free(found);
	return has;
}

char *
share_find(const char *folder, const char *name, const char *suffix)
{
	struct buffer names = { 0 };
	char *found;

	if (strchr(name, '/') != NULL || text_ends(name, suffix))
		return xstrdup(name);
	found = look(folder, name, suffix, &names);
	if (found == NULL)
		fail("no %s in %s (there are: %s; a path may be given too)",
		    text_quote(name), folder, names.n > 0 ? names.data : "none");
	buffer_free(&names);
	return found;
}
