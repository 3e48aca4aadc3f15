#ifndef TRAIN_EXPORT_RUN_H
#define TRAIN_EXPORT_RUN_H

/*
 * export_run(run, path, names): the weights of a run, or of a checkpoint, as a
 * safetensors file at ${path} under the ${names} of another program.  An exit
 * status.
 */
int export_run(const char *run, const char *path, const char *names);

#endif
