#ifndef WEIGHTS_SAFETENSORS_H
#define WEIGHTS_SAFETENSORS_H

/*
 * safetensors files: a JSON header, then named tensors.  Many programs read
 * them, and reading executes nothing.
 * Files of vt are stricter: tensors are sorted, data begin at a multiple of 64
 * bytes, and a last tensor, ~vt.footer, holds a hash of everything before it
 * (vt-checkpoint(5)).
 */

#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "base/names.h"
#include "weights/dtype.h"

struct tensor {
	const char *name;
	enum dtype type;
	int ndim;
	int64_t dim[8];
	const void *data;		/* little-endian, C order, aligned to
					 * the element size */
	size_t bytes;
	const char *other;		/* name of the type if it is
					 * DTYPE_OTHER */
};

/* One key and value of the metadata. */
struct meta { const char *key, *value; };

/*
 * safetensors_write(c, tensor, n, meta, m, hash):
 * Write a file with ${n} tensors, in any order, and ${m} metadata pairs, whose
 * keys must be in byte order, to ${c}, and end the commit (base/file.h).
 * End the file with the footer, and set ${*hash} to the hash of the whole file,
 * as xxh128sum prints it.  If ${hash} is NULL, write a file for other programs,
 * without the footer.
 * Return 0, or -1 after a message; if ${c} is NULL, commit_open has given it.
 */
int safetensors_write(struct commit *c, const struct tensor *tensor, size_t n,
    const struct meta *meta, size_t m, struct hash128 *hash);

/* A file that was read.  safetensors_free frees all of it. */
struct safetensors {
	struct buffer file;
	size_t tensors, metas;
	struct tensor *tensor;
	struct meta *meta;
	struct names *names;		/* tensor names; index: position in
					 * ${tensor} */
	char *moved;			/* copies of tensors that were not
					 * aligned */
	void *document;			/* the parsed header */
};

/*
 * safetensors_read(path, ours, s):
 * Read a whole file into memory and check it: sizes, offsets and gaps.  With
 * ${ours}, require the footer, verify its hash, and accept only the types of a
 * checkpoint: U8, F32 and F64.  Without ${ours}, verify the footer if there is
 * one, and list tensors of types that vt does not know as DTYPE_OTHER.
 * Unaligned tensors are copied, so that tensor.data is always aligned.
 * Return 0, -1 after a message if the file cannot be read, or -2 after a
 * message if its content is damaged.  The caller frees ${s} with
 * safetensors_free; after a failure it is empty.
 */
int safetensors_read(const char *path, int ours, struct safetensors *s);
/*
 * safetensors_take(name, file, ours, s):
 * Check and parse ${file}, the content of a file that was read already, as
 * safetensors_read does.  Messages call it ${name}.  Take ownership of ${file},
 * also on failure.
 */
int safetensors_take(const char *name, struct buffer *file, int ours,
    struct safetensors *s);

/* safetensors_free(s): Free what was read and leave ${s} empty. */
void safetensors_free(struct safetensors *s);

/*
 * safetensors_tensor(s, name):
 * Return the tensor called ${name}, or NULL without a message.
 */
const struct tensor *safetensors_tensor(const struct safetensors *s,
    const char *name);

/*
 * safetensors_meta(s, key):
 * Return the metadata value of ${key}, or NULL without a message.
 */
const char *safetensors_meta(const struct safetensors *s, const char *key);

#endif
