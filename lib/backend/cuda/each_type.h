/*
 * Reads the bodies of the file that BODIES names, once for each type of what is
 * stored; kernel.h.
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
