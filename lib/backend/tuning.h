#ifndef BACKEND_TUNING_H
#define BACKEND_TUNING_H

/*
 * Selection rule for algorithms, a sum of flags; see device_tune.
 *
 * - TUNE_TRY: take the fastest known algorithm, or measure the candidates.
 *   Without it a fixed rule selects one.
 * - TUNE_PLAIN: do not fuse norms into convolutions.
 */
enum tuning { TUNE_TRY = 1, TUNE_PLAIN = 2 };

#endif
