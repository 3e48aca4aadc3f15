#ifndef BASE_HOST_H
#define BASE_HOST_H

/*
 * host_processor():
 * Return the model name of the processor, or the architecture if the kernel
 * does not tell.
 * host_facts(dir):
 * Return what else of this host changes times, such as "Linux 6.1.0, clock 2445
 * MHz, governor performance, 1 NUMA node, ext4": the kernel, the current clock
 * of the first processor and the governor, if the kernel tells, NUMA nodes, and
 * the file system of ${dir}.
 *
 * The caller frees the texts.
 */
char *host_processor(void);
char *host_facts(const char *dir);

#endif
