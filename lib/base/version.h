#ifndef BASE_VERSION_H
#define BASE_VERSION_H

/*
 * The release, from the Makefile; then "+" and the commit, with "-dirty" if
 * files differed from it, where the build was made from a repository:
 * "0.2.0+86a0a4f12345-dirty".  version_build is the same behind "vt ", as logs
 * and checkpoints have it.
 */
extern const char version_text[], version_build[];

/*
 * The results number, which checkpoints keep and a resumed run must have.  A
 * commit adds 1 to it if it changes the weights of runs that exist: if a run
 * with the same options, data, library and instruction set, begun by the
 * commit before, would go on to other bits.  It adds nothing for new options
 * and defaults if older checkpoints keep their rule (fact_before), for another
 * speed, or for runs that failed.  Everything since 0.1.0 is 1.  Two repairs
 * between 0.1.0 and 0.2.0 did not raise it, because no network of share/models
 * is concerned: masks of dropout beyond 2^22 values of a clip, which repeated,
 * and frames of a convolution in its padding alone, which were undefined.
 */
#define VERSION_RESULTS "1"

/* The Makefile says what this build has and lacks. */
#ifndef VT_FEATURES
#define VT_FEATURES "nothing said"
#endif
#ifndef VT_MISSING
#define VT_MISSING ""
#endif

#endif
