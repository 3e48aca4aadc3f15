/*
 * All bodies, for a driver that runs them on the host: OF(name) of each kernel
 * in kernels.h, a static function of its arguments and its block.
 */
#include "backend/cuda/kernels.h"
#include "backend/cuda/stored.h"

#define BODIES "backend/cuda/flat_body.h"
#include "backend/cuda/each_type.h"
#define BODIES "backend/cuda/pointwise_body.h"
#include "backend/cuda/each_type.h"
