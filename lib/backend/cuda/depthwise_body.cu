/* The kernels of depthwise_body.h on the device. */
#include "backend/cuda/device.h"

#define BODIES "backend/cuda/depthwise_body.h"
#include "backend/cuda/each_type.h"

DEPTH_KERNELS(DEVICE_KERNEL)
