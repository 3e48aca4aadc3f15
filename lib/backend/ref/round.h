#ifndef BACKEND_REF_ROUND_H
#define BACKEND_REF_ROUND_H

#include "backend/backend.h"

/*
 * round_to(v, p): the number nearest to ${v} that precision ${p} has, of two
 * the even one; too large ones become infinite, as IEEE 754 has it.  Numbers
 * too small for a full mantissa keep what bits are left, which the bf16
 * instructions of processors do not do: they give 0.
 */
double round_to(double v, enum precision p);

#endif
