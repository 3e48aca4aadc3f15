/* The path of a file relative to a directory, for any spelling of the two. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "ingest/relative.h"

/* One component of a path. */
struct relative_part { const char *s; size_t n; };

static int
relative_is_part(struct relative_part p, const char *name)
{
	return p.n == strlen(name) && memcmp(p.s, name, p.n) == 0;
}

/*
 * Read the component at ${*path} and move past it.  Skip "." and repeated
 * slashes.  Return 0 at the end.
 */
static int
relative_next_part(const char **path, struct relative_part *p)
{
	do {
		*path += strspn(*path, "/");
		p->s = *path;
		p->n = strcspn(*path, "/");
		*path += p->n;
	} while (relative_is_part(*p, "."));
	return p->n > 0;
}

/*
 * Normalize ${rest}: remove "." and repeated slashes.  Return NULL if it
 * contains "..", whose meaning depends on symbolic links.
 */
static char *
relative_plain(const char *rest)
{
	struct buffer b = { 0 };
	struct relative_part p;

	while (relative_next_part(&rest, &p)) {
		if (relative_is_part(p, "..")) {
			buffer_free(&b);
			return NULL;
		}
		buffer_printf(&b, "%s%.*s", b.n > 0 ? "/" : "", (int)p.n, p.s);
	}
	return b.data;
}

/*
 * Compare the two as text, without access to the disk.  Return NULL if the text
 * does not decide.
 */
static char *
relative_as_written(const char *path, const char *root)
{
	struct relative_part want, got;

	if ((root[0] == '/') != (*path == '/'))
		return NULL;
	while (relative_next_part(&root, &want))
		if (relative_is_part(want, "..") ||
		    !relative_next_part(&path, &got) || got.n != want.n ||
		    memcmp(got.s, want.s, want.n) != 0)
			return NULL;
	return relative_plain(path);
}

static int
relative_is_root(const char *path, const struct stat *root)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_dev == root->st_dev &&
	    st.st_ino == root->st_ino;
}

/*
 * Return the part of ${path} after its longest prefix that is the directory
 * ${root}, compared by device and inode.
 */
static char *
relative_on_disk(const char *path, const struct stat *root)
{
	char *start = xstrdup(path);
	const char *rest = relative_is_root(*path == '/' ? "/" : ".", root) ?
	    path : NULL;

	for (size_t i = 1; path[i] != '\0'; i++) {
		if (path[i] != '/')
			continue;
		start[i] = '\0';
		if (relative_is_root(start, root))
			rest = path + i;
		start[i] = '/';
	}
	free(start);
	return rest != NULL ? relative_plain(rest) : NULL;
}

/*
 * Replace the file's directory by its real path.  Keep the last component,
 * which may itself be a symbolic link.  Return NULL if the directory does not
 * exist.
 */
static char *
relative_real_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash == NULL ? xstrdup(".") :
	    xstrndup(path, (size_t)(slash - path) + 1);
	char *real = realpath(folder, NULL), *joined = NULL;

	if (real != NULL)
		joined = path_join(real, slash != NULL ? slash + 1 : path);
	free(real);
	free(folder);
	return joined;
}

char *
relative_path(const char *path, const char *root)
{
	char *below = relative_as_written(path, root), *real;
	struct stat st;

	if (below != NULL || stat(root, &st) != 0)
		return below;
	if ((below = relative_on_disk(path, &st)) != NULL ||
	    (real = relative_real_path(path)) == NULL)
		return below;
	below = relative_on_disk(real, &st);
	free(real);
	return below;
}
