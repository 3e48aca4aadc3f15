/* The kernels of depthwise_body.h on the device. */
#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/stored.h"
#include "backend/cuda/walk.h"

#define BODIES "backend/cuda/flat_body.h"
#include "backend/cuda/each_type.h"
#define BODIES "backend/cuda/depthwise_body.h"
#include "backend/cuda/each_type.h"

DEPTH_KERNELS(DEVICE_KERNEL)
