/* The kernels of parameters_body.h on the device. */
#include "backend/cuda/device.h"
#include "backend/formulas.h"

#define STORED	f32
#include "backend/cuda/parameters_body.h"

PARAMETERS_KERNELS(DEVICE_FLOATS)
