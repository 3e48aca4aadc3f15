/*
 * All kernel bodies, for a driver that runs them on the host: OF(name) of each
 * kernel in kernels.h, a static function of its arguments and its block.
 */
#include "backend/cuda/kernels.h"
#include "backend/cuda/stored.h"
#include "backend/cuda/walk.h"
#include "backend/formulas.h"
#include "base/rng.h"

#define BODIES "backend/cuda/flat_body.h"
#include "backend/cuda/each_type.h"
#define BODIES "backend/cuda/pointwise_body.h"
#include "backend/cuda/each_type.h"
#define BODIES "backend/cuda/rows_body.h"
#include "backend/cuda/each_type.h"
#define BODIES "backend/cuda/norm_body.h"
#include "backend/cuda/each_type.h"
#define BODIES "backend/cuda/image_body.h"
#include "backend/cuda/each_type.h"
#define BODIES "backend/cuda/depthwise_body.h"
#include "backend/cuda/each_type.h"
#define BODIES "backend/cuda/head_body.h"
#include "backend/cuda/each_type.h"
#define BODIES "backend/cuda/weights_body.h"
#include "backend/cuda/each_type.h"
#define STORED	f32
#include "backend/cuda/parameters_body.h"
#undef STORED

#undef S
#undef LANES
