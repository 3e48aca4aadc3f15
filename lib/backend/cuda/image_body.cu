/* The kernels of image_body.h on the device. */
#include "backend/cuda/device.h"

#define BODIES "backend/cuda/image_body.h"
#include "backend/cuda/each_type.h"

IMAGE_KERNELS(DEVICE_KERNEL)
