/* The kernels of pointwise_body.h on the device. */
#include "backend/cuda/device.h"

#define BODIES "backend/cuda/pointwise_body.h"
#include "backend/cuda/each_type.h"

POINTWISE_KERNELS(DEVICE_KERNEL)
