#ifndef TRAIN_RUN_EXPORT_RUN_H
#define TRAIN_RUN_EXPORT_RUN_H

/* The beginning of an exported file (base/options.h), after the length of its
 * header.  A checkpoint differs. */
#define EXPORT_BEGINS "????????{\"__metadata__\":{\"format\":\"pt\",\"vt.build"

/*
 * export_run(run, path, names, ema):
 * Write the weights of ${run}, a run directory or a checkpoint, to the
 * safetensors file ${path}, under the tensor names of program ${names}.  With
 * ${ema} write their moving average.  Return 0, or an exit status after a
 * message.
 */
int export_run(const char *run, const char *path, const char *names, int ema);

#endif
