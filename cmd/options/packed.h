#ifndef CMD_OPTIONS_PACKED_H
#define CMD_OPTIONS_PACKED_H

/* Options of vt-eval for the files of a packed dataset; vt-eval(1) explains
 * them. */

#include "eval/packed.h"

/* packed_files_check(f): end the program after a message if a file cannot be
 * written, by its name: standard output, or an unknown picture format. */
void packed_files_check(const struct results_files *f);

#endif
