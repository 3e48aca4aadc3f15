#ifndef WEIGHTS_TORCH_DICT_H
#define WEIGHTS_TORCH_DICT_H

/* Find the state dict in the object of a file of torch.save or caffe2. */

#include "weights/pickle.h"
#include "weights/weights.h"

/* The data of a storage: ${count} elements; NULL if absent. */
struct numbers { const unsigned char *data; uint64_t count; };

/*
 * torch_dict(p, root, find, from, w):
 * List the tensors of the state dict in ${root}, the object of pickle ${p}, in
 * w->tensor.  find(from, s) returns the data of a storage ${s} whose s->data is
 * NULL.
 * Return 0, or -2 after a message: no state dict, or a tensor that exceeds its
 * storage or the limit of the arena.
 */
int torch_dict(const struct pickle *p, const struct value *root,
    struct numbers (*find)(const void *from, const struct storage *s),
    const void *from, struct weights_file *w);

#endif
