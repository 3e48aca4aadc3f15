/* The kernels of head_body.h on the device. */
#include "backend/cuda/device.h"
#include "base/rng.h"

#define BODIES "backend/cuda/head_body.h"
#include "backend/cuda/each_type.h"

HEAD_KERNELS(DEVICE_KERNEL)
