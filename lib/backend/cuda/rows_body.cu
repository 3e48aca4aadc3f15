/* The kernels of rows_body.h on the device. */
#include "backend/cuda/device.h"

#define BODIES "backend/cuda/rows_body.h"
#include "backend/cuda/each_type.h"

ROWS_KERNELS(DEVICE_KERNEL)
