#ifndef WEIGHTS_WEIGHTS_H
#define WEIGHTS_WEIGHTS_H

/*
 * Files of weights: named tensors, read as fp32.  Supported are safetensors,
 * PyTorch's zip archives (.pth, .pyth, .pt), its format before version 1.6, and
 * pickles of numpy arrays such as caffe2's (.pkl).  Nothing in them is
 * executed.
 * Reading takes at most ten times the file plus 16 MiB, whatever the file
 * declares.
 */

#include "weights/arena.h"
#include "weights/safetensors.h"

enum { WEIGHT_DIMS = 8 };		/* at most */

struct weight {
	const char *name;
	enum dtype type;		/* element type in the file */
	const char *other;		/* its name if it is DTYPE_OTHER: such a
					 * tensor must not be used */
	int ndim;
	int64_t dim[WEIGHT_DIMS];
	size_t count;			/* number of elements */
	const unsigned char *first;	/* element [0]...[0], inside the file's
					 * buffer */
	int64_t stride[WEIGHT_DIMS];	/* in elements; not always C order */
};

struct weights_file {
	const char *container;		/* "safetensors", "PyTorch's zip",
					 * "PyTorch's legacy format", or "a
					 * pickle" */
	struct weight *tensor;		/* in file order */
	size_t tensors;
	struct names *names;		/* tensor names; index: position in
					 * ${tensor} */
	struct safetensors s;		/* a safetensors file, with its
					 * metadata */
	struct buffer file;		/* any other file */
	struct arena *arena;
};

/*
 * weights_open(path, w):
 * Read the file ${path} and list its tensors; "-" is standard input, and
 * "known:NAME" a published file (weights/known.h).  In a
 * pickle these are the tensors of the state dict: the file's object itself, or
 * the value of a key of torch_dict.c, such as "state_dict".  Objects of unknown
 * classes are skipped, and one note names the classes.
 * Return 0, or after a message: -1 if the file cannot be read, -2 if it is
 * damaged, -3 if it is intact but not of a kind that vt reads, or if a
 * published file is absent.
 * The caller frees ${w} with weights_close; after a failure it is empty.
 */
int weights_open(const char *path, struct weights_file *w);

/* weights_close(w): Free what weights_open read, tensors included. */
void weights_close(struct weights_file *w);


/*
 * weights_floats(t, to):
 * Convert all elements to fp32, in C order, into ${to}[t->count].  Doubles and
 * large integers are rounded to the nearest value.
 */
void weights_floats(const struct weight *t, float *to);

#endif
