/* Facts of the host, as the kernel tells them. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>

#include "base/host.h"
#include "base/mem.h"
#include "base/text.h"

/* Return the value of the first line "${key} : value" of /proc/cpuinfo, NULL if
 * there is none.  The caller frees it. */
static char *
host_cpuinfo(const char *key)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[512], *found = NULL;

	while (f != NULL && found == NULL &&
	    fgets(line, sizeof(line), f) != NULL) {
		char *value = strchr(line, ':');

		if (value == NULL || !text_starts(line, key))
			continue;
		value += 1 + strspn(value + 1, " \t");
		value[strcspn(value, "\n")] = '\0';
		found = xstrdup(value);
	}
	if (f != NULL)
		fclose(f);
	return found;
}

char *
host_processor(void)
{
	char *name = host_cpuinfo("model name");
	struct utsname u;

	return name != NULL ? name : xstrdup(uname(&u) == 0 ? u.machine :
	    "unknown");
}

static int
host_nodes(void)
{
	DIR *d = opendir("/sys/devices/system/node");
	struct dirent *e;
	int n = 0, id;

	while (d != NULL && (e = readdir(d)) != NULL)
		n += sscanf(e->d_name, "node%d", &id) == 1;
	if (d != NULL)
		closedir(d);
	return n > 0 ? n : 1;
}

/* Append the type of the file system of ${dir}: that of the mount with its
 * device, or, as for some network and overlay file systems, of the longest
 * mount point on its path. */
static void
host_add_file_system(struct buffer *b, const char *dir)
{
	FILE *f = fopen("/proc/self/mountinfo", "r");
	char line[4096], point[2048], type[64], best[64] = "";
	char *path = realpath(dir, NULL);
	size_t length = 0;
	unsigned major, minor;
	struct stat st;
	int same = 0, known = stat(dir, &st) == 0;

	while (f != NULL && known && path != NULL &&
	    fgets(line, sizeof(line), f) != NULL) {
		const char *rest = strstr(line, " - ");
		size_t n;
		int device;

		if (rest == NULL || sscanf(line, "%*d %*d %u:%u %*s %2047s",
		    &major, &minor, point) != 3 ||
		    sscanf(rest, " - %63s", type) != 1)
			continue;
		n = strcmp(point, "/") == 0 ? 0 : strlen(point);
		device = st.st_dev == makedev(major, minor);
		if (strncmp(path, point, n) != 0 || (path[n] != '/' &&
		    path[n] != '\0') || device < same ||
		    (device == same && n < length))
			continue;
		same = device;
		length = n;
		snprintf(best, sizeof(best), "%s", type);
	}
	if (*best != '\0')
		buffer_printf(b, ", %s", best);
	free(path);
	if (f != NULL)
		fclose(f);
}

char *
host_facts(const char *dir)
{
	FILE *f = fopen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
	    "r");
	char *mhz = host_cpuinfo("cpu MHz"), governor[64];
	struct buffer b = { 0 };
	struct utsname u;
	int nodes = host_nodes();

	if (uname(&u) == 0)
		buffer_printf(&b, "%s %s", u.sysname, u.release);
	if (mhz != NULL)
		buffer_printf(&b, ", clock %.0f MHz", strtod(mhz, NULL));
	if (f != NULL && fscanf(f, "%63s", governor) == 1)
		buffer_printf(&b, ", governor %s", governor);
	buffer_printf(&b, ", %d NUMA node%s", nodes, nodes == 1 ? "" : "s");
	host_add_file_system(&b, dir);
	if (f != NULL)
		fclose(f);
	free(mhz);
	return b.data;
}
