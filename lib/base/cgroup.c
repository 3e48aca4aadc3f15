/*
 * Limits of control groups.  In a container, /proc/self/cgroup may have the
 * path of the host, whose first folders the container does not see.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/mem.h"

struct cgroup_walk {
	double (*limit)(const char *folder);
	double least;
	uint64_t *group;
};

double
cgroup_number(const char *folder, const char *file, const char *name)
{
	char *path = xprintf("%s/%s", folder, file), line[256];
	double v = -1;
	size_t n = strlen(name);
	FILE *f = fopen(path, "r");

	while (f != NULL && v < 0 && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, name, n) == 0 && sscanf(line + n, "%lf",
		    &v) != 1)
			v = -1;
	if (f != NULL)
		fclose(f);
	free(path);
	return v;
}

/* Check ${group}, below the folder ${mount}, and its ancestors. */
static void
cgroup_climb(struct cgroup_walk *w, const char *root, const char *mount,
    const char *group)
{
	char *top = xprintf("%s/sys/fs/cgroup%s%s", root, *mount != '\0' ? "/" :
	    "", mount), *folder = NULL, *slash;
	struct stat st;

	/* The visible end of the path is below the mount. */
	do {
		free(folder);
		folder = xprintf("%s%s", top, group);
		group += *group == '/';
		group += strcspn(group, "/");
	} while (stat(folder, &st) != 0 && strlen(folder) > strlen(top));
	for (;;) {
		double v = w->limit(folder);

		if (v >= 0 && (w->least < 0 || v < w->least)) {
			w->least = v;
			if (w->group != NULL && stat(folder, &st) == 0)
				*w->group = (uint64_t)st.st_ino;
		}
		if (strlen(folder) <= strlen(top) ||
		    (slash = strrchr(folder, '/')) == NULL)
			break;
		*slash = '\0';
	}
	free(folder);
	free(top);
}

/* Return 1 if the list "cpu,cpuacct" has ${controller}. */
static int
cgroup_lists(const char *list, const char *controller)
{
	size_t n = strlen(controller);

	while (strncmp(list, controller, n) != 0 ||
	    (list[n] != ',' && list[n] != '\0')) {
		list += strcspn(list, ",");
		if (*list++ == '\0')
			return 0;
	}
	return 1;
}

double
cgroup_least(const char *root, const char *controller,
    double (*limit)(const char *folder), uint64_t *group)
{
	struct cgroup_walk w = { .limit = limit, .least = -1, .group = group };
	char *path = xprintf("%s/proc/self/cgroup", root), *line = NULL, *at;
	FILE *f = fopen(path, "r");
	size_t cap = 0;

	/* Lines "4:cpu,cpuacct:/GROUP"; version 2 has "0::/GROUP". */
	while (f != NULL && getline(&line, &cap, f) > 0) {
		char *list = strchr(line, ':');

		if (list == NULL || (at = strchr(++list, ':')) == NULL)
			continue;
		*at++ = '\0';
		at[strcspn(at, "\n")] = '\0';
		if (*list == '\0') {
			cgroup_climb(&w, root, "", at);
			cgroup_climb(&w, root, "unified", at);
		} else if (cgroup_lists(list, controller)) {
			cgroup_climb(&w, root, list, at);
			cgroup_climb(&w, root, controller, at);
		}
	}
	if (f != NULL)
		fclose(f);
	free(line);
	free(path);
	return w.least;
}
