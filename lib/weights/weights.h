#ifndef WEIGHTS_WEIGHTS_H
#define WEIGHTS_WEIGHTS_H

/*
 * Files of weights, whoever wrote them: named tensors whose numbers are read
 * as floats.  Of safetensors, of PyTorch's zip archives (.pth, .pyth, .pt), of
 * the files it wrote before version 1.6, and of pickles of numpy's arrays, as
 * caffe2's (.pkl); nothing in them is executed.
 * Reading takes no more memory than ten times the file and 16 MiB, whatever
 * the file says.
 */

#include "weights/heap.h"
#include "weights/safetensors.h"

enum { WEIGHT_DIMS = 8 };		/* at most */

struct weight {
	const char *name;
	enum dtype type;		/* in the file */
	int ndim;
	int64_t dim[WEIGHT_DIMS];
	size_t count;
	const unsigned char *first;	/* its first number, in the file */
	int64_t stride[WEIGHT_DIMS];	/* numbers; not always in C order */
};

struct weights {
	const char *container;		/* "safetensors", "PyTorch's zip",
					 * "PyTorch's legacy format", or
					 * "a pickle" */
	struct weight *tensor;		/* in the order of the file */
	size_t tensors;
	struct names *names;		/* of the tensors, by their numbers */
	struct safetensors s;		/* with metadata, where it is one */
	struct buffer file;		/* where it is none */
	struct heap *heap;
};

/*
 * weights_open(path, w): read the file and list its tensors.  Of a pickle these
 * are those of the state dict: the file's whole object, or what it has under
 * "state_dict", "model_state", "model_state_dict", "model" or "blobs".
 * Objects of classes that are not known are passed over; a note names the
 * classes.  0; -1 after a message if the file cannot be read, -2 if it is
 * damaged, or no file of weights.
 */
int weights_open(const char *path, struct weights *w);
void weights_close(struct weights *w);


/*
 * weights_floats(t, to): all numbers in C order into ${to}[t->count].  Those of
 * doubles and large integers are rounded.
 */
void weights_floats(const struct weight *t, float *to);

#endif
