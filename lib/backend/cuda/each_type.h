/*
 * Include the bodies of the file BODIES once for each storage type (kernel.h).
 */
#define STORED	f32
#include BODIES
#undef STORED
#define STORED	bf16
#include BODIES
#undef STORED
#define STORED	f16
#include BODIES
#undef STORED
#undef BODIES
