#ifndef TRAIN_RUN_EXPORT_RUN_H
#define TRAIN_RUN_EXPORT_RUN_H

/*
 * export_run(run, path, names, ema): the weights of a run, or of a checkpoint,
 * or with ${ema} their moving average, as a safetensors file at ${path} under
 * the ${names} of another program.  An exit status.
 */
int export_run(const char *run, const char *path, const char *names, int ema);

#endif
