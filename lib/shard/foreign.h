#ifndef SHARD_FOREIGN_H
#define SHARD_FOREIGN_H

/*
 * Samples without KEY.json, from tar archives in the layout of WebDataset and
 * from folders of still pictures.  They become the members that a stream would
 * have, so that the packer knows one layout.
 *
 * An archive has one or more frames per key: KEY.jpg, KEY.jpeg, KEY.png, or
 * several with a number before the extension.  A folder has the pictures
 * CLASS/NAME.jpg and so on, each a sample of one frame, whose key is the path
 * without the extension (shard/key.h).
 */

#include <stddef.h>

#include "shard/stream_read.h"

struct foreign;

/*
 * foreign_archive(r, limits):
 * Take the members of ${r}, which foreign_member_name has named.  ${r} must
 * remain valid, and ${limits} is copied.  The caller frees the result with
 * foreign_free.
 */
struct foreign *foreign_archive(struct stream_reader *r,
    const struct stream_limits *limits);

/*
 * foreign_folder(path, limits, skipped):
 * List the pictures in the subfolders of ${path}, in the order of their bytes.
 * Count files of other kinds in ${*skipped} if ${limits} allows to omit them.
 * Return NULL after a message.  The caller frees the result with foreign_free.
 */
struct foreign *foreign_folder(const char *path,
    const struct stream_limits *limits, uint64_t *skipped);

/* foreign_free(f): Free ${f}.  NULL does nothing. */
void foreign_free(struct foreign *f);

/*
 * foreign_next(f, m), foreign_data(f, to):
 * As stream_next and stream_data: the members of complete samples in the order
 * of vt-shard(5).  Offsets are those of the original members, 0 in a folder.
 */
int foreign_next(struct foreign *f, struct stream_member *m);
int foreign_data(struct foreign *f, void *to);

/*
 * foreign_member_name(name, m):
 * As stream_member_name, for a member of an archive.  The key ends at the first
 * dot of the last component; bytes that a key cannot have become =XX
 * (shard/key.h).  ${m}->frame is the number before the extension, -1 without
 * one.  ${m}->name is truncated to USTAR_NAME bytes.
 */
const char *foreign_member_name(const char *name, struct stream_member *m);

#endif
