/* The reference back end on 32-bit numbers; sums are kept in double. */
#define REAL float
#define BACKEND backend_ref
#define BACKEND_NAME "ref"
#include "backend/ref/loops.h"
