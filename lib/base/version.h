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
