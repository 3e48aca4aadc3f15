#ifndef WEIGHTS_TORCH_H
#define WEIGHTS_TORCH_H

/* Files of torch.save and caffe2: where the tensors of their state dict lie. */

#include "weights/weights.h"

/* torch_is_zip(file), torch_is_legacy(file), torch_is_pickle(file): 1 if the
 * file begins as such; a legacy file is a pickle, too. */
int torch_is_zip(const struct buffer *file);
int torch_is_legacy(const struct buffer *file);
int torch_is_pickle(const struct buffer *file);

/*
 * torch_zip(path, w), torch_legacy(path, w), torch_pickle(path, w): list the
 * tensors of w->file, which is called ${path} in messages, in w->tensor.  0;
 * -2 after a message.
 */
int torch_zip(const char *path, struct weights *w);
int torch_legacy(const char *path, struct weights *w);
int torch_pickle(const char *path, struct weights *w);

#endif
