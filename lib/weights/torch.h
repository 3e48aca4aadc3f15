#ifndef WEIGHTS_TORCH_H
#define WEIGHTS_TORCH_H

/* Files of torch.save and caffe2: find the tensors of their state dict. */

#include "weights/weights.h"

/* torch_is_zip(file): Return 1 if ${file} begins like a zip archive. */
int torch_is_zip(const struct buffer *file);

/*
 * torch_is_legacy(file):
 * Return 1 if ${file} begins like a file that torch.save wrote before version
 * 1.6.
 */
int torch_is_legacy(const struct buffer *file);

/*
 * torch_is_pickle(file):
 * Return 1 if ${file} begins like a pickle of protocol 0 to 5 with a PROTO
 * opcode.  This holds for a legacy file too, so ask torch_is_legacy first.
 */
int torch_is_pickle(const struct buffer *file);

/*
 * torch_zip(path, w), torch_legacy(path, w), torch_pickle(path, w):
 * List the tensors of w->file, a file of this kind, in w->tensor.  Messages
 * call the file ${path}.  The tensors point into w->file.
 * Return 0, or -2 after a message.
 */
int torch_zip(const char *path, struct weights_file *w);
int torch_legacy(const char *path, struct weights_file *w);
int torch_pickle(const char *path, struct weights_file *w);

#endif
