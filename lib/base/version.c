/* The version has an object file of its own, so that a new commit recompiles
 * only this one. */
#include "base/version.h"

#ifndef VT_VERSION
#define VT_VERSION "unknown"
#endif

const char version_text[] = VT_VERSION;
const char version_build[] = "vt " VT_VERSION;
