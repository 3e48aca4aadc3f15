/* The kernels of norm_body.h on the device. */

/* Require two blocks per multiprocessor, which allows 128 registers a thread.
 * The loads of one block then overlap the arithmetic of the other. */
#define LAUNCH_BOUNDS(count)	__launch_bounds__(count, 2)

#include "backend/cuda/device.h"

#define BODIES "backend/cuda/norm_body.h"
#include "backend/cuda/each_type.h"

NORM_KERNELS(DEVICE_KERNEL)
