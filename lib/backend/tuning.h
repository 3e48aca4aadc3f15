#ifndef BACKEND_TUNING_H
#define BACKEND_TUNING_H

/*
 * Selection rule for algorithms, a sum of flags; see device_tune.
 *
 * - TUNE_MEASURE: take the fastest known algorithm, or measure the candidates.
 *   Without it a fixed rule selects one.
 * - TUNE_UNFUSED: do not fuse norms into convolutions.
 */
enum tune_how { TUNE_MEASURE = 1, TUNE_UNFUSED = 2 };

#endif
