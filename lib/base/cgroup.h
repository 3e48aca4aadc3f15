#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

#include <stdint.h>

/*
 * cgroup_least(root, controller, limit, group):
 * Return the least of ${limit}(folder) over the control groups of this process
 * and all their ancestors: those of version 2, and those of version 1 that have
 * ${controller}, such as "cpu".  ${limit} returns -1 for no limit.
 * Return -1 if no group has one.  Otherwise, set ${*group}, which may be NULL,
 * to a number that identifies the group on this host.
 * Files are searched below ${root}, "" for the system.
 */
double cgroup_least(const char *root, const char *controller,
    double (*limit)(const char *folder), uint64_t *group);

/*
 * cgroup_number(folder, file, name):
 * Return the number after ${name} in a file of lines "NAME NUMBER".  Return -1
 * if the file, the line or the number is missing.
 */
double cgroup_number(const char *folder, const char *file, const char *name);

#endif
