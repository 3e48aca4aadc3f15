#ifndef BACKEND_TUNING_H
#define BACKEND_TUNING_H

/*
 * What device_tune is told: how tasks are done that were not chosen for yet, a sum
 * of these.
 * TUNE_TRY: by what is known, else by trying; without it by rule.
 * TUNE_PLAIN: a convolution does no work of the norms beside it.
 */
enum tuning { TUNE_TRY = 1, TUNE_PLAIN = 2 };

#endif
