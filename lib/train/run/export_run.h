#ifndef TRAIN_RUN_EXPORT_RUN_H
#define TRAIN_RUN_EXPORT_RUN_H

/*
 * export_run(run, path, names, ema):
 * Write the weights of ${run}, a run directory or a checkpoint, to the
 * safetensors file ${path}, under the tensor names of program ${names}.  With
 * ${ema} write their moving average.  Return 0, or an exit status after a
 * message.
 */
int export_run(const char *run, const char *path, const char *names, int ema);

#endif
