/* The version, in an object of its own: a commit compiles nothing else. */
#include "base/version.h"

#ifndef VT_VERSION
#define VT_VERSION "unknown"
#endif

const char version_text[] = VT_VERSION;
const char version_build[] = "vt " VT_VERSION;
