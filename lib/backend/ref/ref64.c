/* The reference back end on 64-bit numbers throughout: the answer key. */
#define REAL double
#define BACKEND backend_ref64
#define BACKEND_NAME "ref64"
#include "backend/ref/loops.h"
