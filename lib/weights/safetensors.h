#ifndef WEIGHTS_SAFETENSORS_H
#define WEIGHTS_SAFETENSORS_H

/*
 * safetensors files: named tensors after a JSON header, read by many
 * programs, executing nothing.  Ours are strict about what they write and
 * read: tensors sorted, data at a multiple of 64 bytes, and a last tensor,
 * ~vt.footer, that holds a hash of everything before it (vt-checkpoint(5)).
 */

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/names.h"
#include "weights/dtype.h"

struct tensor {
	const char *name;
	enum dtype type;
	int ndim;
	int64_t dim[8];
	const void *data;		/* little-endian, C order; aligned as
					 * its type wants it */
	size_t bytes;
};

/* A pair of texts of the file's metadata. */
struct meta { const char *key, *value; };

/*
 * safetensors_write(path, tensor, n, meta, m, hash):
 * Commit a file.  Tensors may come in any order; metadata keys must be in
 * byte order.  ${*hash} is that of the whole file, as xxh128sum prints it.
 * -1 after a message.  safetensors_export does the same for other programs,
 * which know of no footer.
 */
int safetensors_write(const char *path, const struct tensor *tensor, size_t n,
    const struct meta *meta, size_t m, struct hash128 *hash);
int safetensors_export(const char *path, const struct tensor *tensor, size_t n,
    const struct meta *meta, size_t m, struct hash128 *hash);

/* A file that was read: everything belongs to it. */
struct safetensors {
	struct buffer file;
	size_t tensors, metas;
	struct tensor *tensor;
	struct meta *meta;
	struct names *names;		/* of the tensors, by their numbers */
	char *moved;			/* copies of those that lay unaligned */
	void *document;
	char *owned;			/* a text that safetensors_free frees; of
					 * the reader of this format, or NULL */
};

/*
 * safetensors_read(path, ours, s): read and check a whole file: sizes, offsets,
 * holes, and with ${ours} the footer's hash, and that its types are those of a
 * checkpoint: U8, F32 and F64.  Without, a footer is only checked if there is
 * one.  The format lets tensors begin at
 * any byte; those are moved to where their values can be read.  0; -1 after a
 * message if it cannot be read, -2 if what is in it is damaged.
 */
int safetensors_read(const char *path, int ours, struct safetensors *s);
/* safetensors_take(name, file, ours, s): the same of what was read already from
 * what messages call ${name}; takes ${file}, in any case. */
int safetensors_take(const char *name, struct buffer *file, int ours,
    struct safetensors *s);
void safetensors_free(struct safetensors *s);

/* NULL without a message if there is none of that name. */
const struct tensor *safetensors_tensor(const struct safetensors *s,
    const char *name);
const char *safetensors_meta(const struct safetensors *s, const char *key);

#endif
