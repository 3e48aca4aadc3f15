/* Memory of the machine and of this process, from /proc and the control
 * groups. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/ram.h"

/* Return the number after ${name} in a file of lines "NAME NUMBER".  Return
 * -1 if the file, the line or the number is missing. */
static double
ram_number_in(const char *path, const char *name)
{
	char line[256];
	double v = -1;
	size_t n = strlen(name);
	FILE *f = fopen(path, "r");

	while (f != NULL && v < 0 && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, name, n) == 0 && sscanf(line + n, "%lf",
		    &v) != 1)
			v = -1;
	if (f != NULL)
		fclose(f);
	return v;
}

size_t
ram_resident(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long all, resident = 0;

	if (f != NULL && fscanf(f, "%lu %lu", &all, &resident) != 2)
		resident = 0;
	if (f != NULL)
		fclose(f);
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* VmHWM is in KiB. */
size_t
ram_peak(void)
{
	double kib = ram_number_in("/proc/self/status", "VmHWM:");

	return kib > 0 ? (size_t)kib * 1024 : 0;
}

size_t
ram_resident_of(const void *p, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 0;
	uintptr_t from = (uintptr_t)p / page * page;
	size_t pages = ((uintptr_t)p + bytes - from + page - 1) / page;
	unsigned char *in = xcalloc(pages, 1);

	if (mincore((void *)from, pages * page, in) == 0)
		for (size_t i = 0; i < pages; i++)
			count += in[i] & 1;
	free(in);
	return count * page < bytes ? count * page : bytes;
}

/*
 * Return the bytes that a control group still allows, or -1 if it has no limit.
 * Only anonymous memory counts as used, because the kernel can reclaim the page
 * cache.  "max" in memory.max means no limit and is not a number.
 */
static double
ram_left_in_group(const char *group)
{
	char *max = xprintf("/sys/fs/cgroup%s/memory.max", group);
	char *stat = xprintf("/sys/fs/cgroup%s/memory.stat", group);
	double limit = ram_number_in(max, ""),
	    used = ram_number_in(stat, "anon ");

	free(max);
	free(stat);
	return limit < 0 ? -1 : used < 0 ? limit : limit > used ? limit - used :
	    0;
}

/* Set ${group}[size] to the control group of this process in the unified
 * hierarchy, the line "0::PATH"; "" if there is none. */
static void
ram_group(char *group, size_t size)
{
	FILE *f = fopen("/proc/self/cgroup", "r");
	char *line = NULL;
	size_t cap = 0;

	group[0] = '\0';
	while (f != NULL && getline(&line, &cap, f) > 0)
		if (strncmp(line, "0::", 3) == 0 && strlen(line) - 3 < size) {
			strcpy(group, line + 3);
			group[strcspn(group, "\n")] = '\0';
		}
	free(line);
	if (f != NULL)
		fclose(f);
}

size_t
ram_available(void)
{
	double least = 1024 * ram_number_in("/proc/meminfo", "MemAvailable:");
	char group[4096];

	ram_group(group, sizeof(group));
	/* Check the group and its ancestors: each may have a limit.  The
	 * path of the root group, "/", becomes "". */
	for (;;) {
		char *slash = strrchr(group, '/');
		double left;

		if (slash != NULL && slash[1] == '\0')
			*slash = '\0';
		left = ram_left_in_group(group);
		if (left >= 0 && (least < 0 || left < least))
			least = left;
		if ((slash = strrchr(group, '/')) == NULL)
			break;
		*slash = '\0';
	}
	return least < 0 ? SIZE_MAX : (size_t)least;
}
