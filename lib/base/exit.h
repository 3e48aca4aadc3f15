#ifndef BASE_EXIT_H
#define BASE_EXIT_H

/*
 * Exit codes.  All commands share them, every manual page lists them, and
 * scripts may rely on them.  128 + N means death by signal N.
 */
enum {
	EXIT_DONE = 0,		/* all requested work is done and durable */
	EXIT_FAILED = 1,	/* I/O error, damaged input, out of memory */
	EXIT_USAGE = 2,		/* wrong usage, or a file of settings that is
				 * missing, unreadable or wrong; nothing was
				 * changed */
	EXIT_SKIPPED = 3,	/* done, but some inputs were skipped */
	EXIT_DAMAGE = 4,	/* verification or use found damaged data */
	EXIT_DIVERGED = 5,	/* the loss became NaN or infinite */
	EXIT_RANKS = 6,		/* ranks disagree, or a rank failed */
	EXIT_AGAIN = 75		/* stopped, state saved: run it again */
};

/*
 * exit_of(bad):
 * Return the exit code of a reader's result: 0, -2 for damaged data, or
 * another number for other errors.
 */
static inline int
exit_of(int bad)
{
	return bad == 0 ? EXIT_DONE : bad == -2 ? EXIT_DAMAGE : EXIT_FAILED;
}

#endif
