/* Memory of the machine and of this process, from /proc and the control
 * groups. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/mem.h"
#include "base/ram.h"

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
	double kib = cgroup_number("/proc/self", "status", "VmHWM:");

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
ram_left_in_group(const char *folder)
{
	double limit = cgroup_number(folder, "memory.max", "");
	double used = cgroup_number(folder, "memory.stat", "anon ");

	return limit < 0 ? -1 : used < 0 ? limit : limit > used ? limit - used :
	    0;
}

size_t
ram_available(void)
{
	double least = 1024 * cgroup_number("/proc", "meminfo",
	    "MemAvailable:");
	double left = cgroup_least("", "memory", ram_left_in_group, NULL);

	if (left >= 0 && (least < 0 || left < least))
		least = left;
	return least < 0 ? SIZE_MAX : (size_t)least;
}
