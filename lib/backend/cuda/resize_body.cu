/* The kernels of resize_body.h on the device. */
#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/stored.h"

#define STORED	f32
#include "backend/cuda/resize_body.h"

RESIZE_KERNELS(DEVICE_FLOATS)
