/* The kernels of head_body.h on the device. */
#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/stored.h"
#include "backend/cuda/walk.h"
#include "base/rng.h"

#define BODIES "backend/cuda/flat_body.h"
#include "backend/cuda/each_type.h"
#define BODIES "backend/cuda/head_body.h"
#include "backend/cuda/each_type.h"

HEAD_KERNELS(DEVICE_KERNEL)
