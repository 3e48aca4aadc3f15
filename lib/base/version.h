#ifndef BASE_VERSION_H
#define BASE_VERSION_H

/* The Makefile says what this build has and lacks. */
#define VT_VERSION "0.1.0"

#ifndef VT_FEATURES
#define VT_FEATURES "nothing said"
#endif
#ifndef VT_MISSING
#define VT_MISSING ""
#endif

#endif
