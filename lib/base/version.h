#ifndef BASE_VERSION_H
#define BASE_VERSION_H

/*
 * version_text:
 * The release from the Makefile.  A build from a git repository adds "+" and
 * the commit, and "-dirty" if files differ from the commit:
 * "0.2.0+86a0a4f12345-dirty".
 * version_build:
 * "vt " and the same text, as logs and checkpoints store it.
 */
extern const char version_text[], version_build[];

/*
 * The results number.  A checkpoint stores it, and a run resumes only from a
 * checkpoint with the same number.
 *
 * A commit increases it if it changes the weights of existing runs.  That is, a
 * run that the previous commit started would end with other weights, at the
 * same options, data, libraries and instruction set.  A commit does not
 * increase it for:
 * - new options whose default changes nothing;
 * - a change of speed;
 * - runs that failed.
 *
 * All versions since 0.1.0 have number 1.  Two fixes between 0.1.0 and 0.2.0
 * did not increase it, because they affect no network of share/models.  Dropout
 * masks repeated beyond 2^22 values of a clip.  Output frames of a convolution
 * that lie entirely in its padding were undefined.  Neither did the fixes of
 * the cpu back end after 0.2.0: networks of share/models had wrong gradients
 * only where they read fewer frames than a kernel over time, in bf16 or without
 * AVX2.  Such a run is not worth continuing with equal bits.
 */
#define VERSION_RESULTS "1"

/* The Makefile defines the features that this build has and lacks, as text
 * for --version. */
#ifndef VT_FEATURES
#define VT_FEATURES "unknown"
#endif
#ifndef VT_MISSING
#define VT_MISSING ""
#endif

#endif
