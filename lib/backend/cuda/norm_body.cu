/* The kernels of norm_body.h on the device. */

/* Two blocks a multiprocessor, at most 128 registers a thread: the loads of one
 * are on their way while the other one computes. */
#define LAUNCH_BOUNDS(count)	__launch_bounds__(count, 2)

#include "backend/cuda/device.h"
#include "backend/cuda/kernels.h"
#include "backend/cuda/stored.h"
#include "backend/cuda/walk.h"

#define BODIES "backend/cuda/flat_body.h"
#include "backend/cuda/each_type.h"
#define BODIES "backend/cuda/norm_body.h"
#include "backend/cuda/each_type.h"

NORM_KERNELS(DEVICE_KERNEL)
