#ifndef WEIGHTS_TORCH_DICT_H
#define WEIGHTS_TORCH_DICT_H

/* The state dict in what a file of torch.save, or of caffe2, holds. */

#include "weights/pickle.h"
#include "weights/weights.h"

/* The numbers of a storage: ${count} of them, or NULL. */
struct numbers { const unsigned char *data; uint64_t count; };

/*
 * torch_dict(p, root, find, from, w): list the tensors of the state dict of
 * ${root}, which was read as ${p}, in w->tensor; find(from, s) says where the
 * numbers of storage ${s} lie that has none of its own.  0; -2 after a message.
 */
int torch_dict(const struct pickle *p, const struct value *root,
    struct numbers (*find)(const void *from, const struct storage *s),
    const void *from, struct weights *w);

#endif
