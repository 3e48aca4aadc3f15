#ifndef CMD_OPTIONS_PACKED_H
#define CMD_OPTIONS_PACKED_H

#include "eval/packed.h"

/* packed_files_check(f): end the program, before any work, if a file cannot be
 * made under its name. */
void packed_files_check(const struct packed_files *f);

#endif
