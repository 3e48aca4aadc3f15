#ifndef SHARD_STAGE_H
#define SHARD_STAGE_H

/*
 * Staging: verified copies of packed datasets on a disk of this host.  The copy
 * of a set is a packed set in a folder that is named by the set's identity, so
 * that copies of two sets never mix.  Each shard is verified before it has its
 * name, and the manifest is written last.  A lock lets one process copy; others
 * that want the same set wait for it.
 */

#include <stdatomic.h>

/* Where copies are, and how shards get there. */
struct stage_folder {
	const char *dir;		/* folder of all copies */
	/*
	 * A shell command that writes one shard to its standard output.  "{}"
	 * in it is replaced by the name of the shard, "{dir}" by the folder of
	 * the set.  NULL: copy the file.
	 */
	const char *command;
	atomic_int stop;		/* another thread sets it: stop early */
	atomic_uint_fast64_t bytes, of;	/* copied, and to be copied by
					 * stage_set; for progress */
};

/*
 * stage_path(dir, set):
 * Return the folder of the copy of the packed dataset ${set} below ${dir},
 * whether it exists or not.  The caller frees it.  Return NULL after a message,
 * with ${*bad} -1 if the manifest of ${set} is missing or cannot be read, or -2
 * if it is damaged.
 */
char *stage_path(const char *dir, const char *set, int *bad);

/*
 * stage_set(s, set):
 * Copy the shards of ${set} that its copy lacks, and verify each
 * (VERIFY_FULL).  With s->command, ${set} needs a manifest only.
 * Return 0.  Return -1 after a message if a file could not be read or written
 * or the command failed, or -2 if a copy has not the bytes that the manifest
 * states.  Return -1 without a message if s->stop is set.  Shards that were
 * copied stay, and the next call continues after them.
 */
int stage_set(struct stage_folder *s, const char *set);

#endif
