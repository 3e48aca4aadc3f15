#ifndef BACKEND_REF_ROUND_H
#define BACKEND_REF_ROUND_H

#include "backend/backend.h"

/*
 * round_to(v, p):
 * Return ${v} rounded to precision ${p}, ties to even.  Numbers that are too
 * large become infinite, as in IEEE 754.  Subnormal results are kept, although
 * the bf16 instructions of processors flush them to 0.
 */
double round_to(double v, enum precision p);

#endif
