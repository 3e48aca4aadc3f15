/* The kernels of weights_body.h on the device. */
#include "backend/cuda/device.h"

#define BODIES "backend/cuda/weights_body.h"
#include "backend/cuda/each_type.h"

WEIGHTS_KERNELS(DEVICE_KERNEL)
