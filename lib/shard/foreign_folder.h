#ifndef SHARD_FOREIGN_FOLDER_H
#define SHARD_FOREIGN_FOLDER_H

/* The pictures of a folder with one subfolder per class. */

#include "shard/classes.h"
#include "shard/stream_read.h"

/* A picture: ${name} is relative to the folder, ${class} its label. */
struct foreign_file { char *name; int class; };

struct foreign_files {
	struct class_list classes;	/* the names of the subfolders */
	struct foreign_file *file;
	size_t n, cap;
};

/*
 * foreign_files_list(path, limits, to, skipped):
 * List the pictures ${path}/CLASS/NAME, sorted by the bytes of their names.
 * ${to} is { 0 }.  Labels are the positions of the subfolders, or of their
 * names in ${limits}->classes if that is not NULL.  Ignore hidden files.  Other
 * files are an error, or are counted in ${*skipped} after a warning if
 * ${limits}->skip is set.  Return 0, or -1 after a message.  The caller frees
 * ${to} with foreign_files_free in any case.
 */
int foreign_files_list(const char *path, const struct stream_limits *limits,
    struct foreign_files *to, uint64_t *skipped);

/* foreign_files_free(f): Free the list and leave it empty. */
void foreign_files_free(struct foreign_files *f);

#endif
