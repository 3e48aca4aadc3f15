#ifndef BASE_EXIT_H
#define BASE_EXIT_H

/*
 * Exit codes.  The six commands share them, every manual page lists them, and
 * scripts may rely on them.  128 + N is death by signal N.
 */
enum {
	EXIT_DONE = 0,		/* everything asked for is done and durable */
	EXIT_FAILED = 1,	/* I/O error, damaged input, out of memory */
	EXIT_USAGE = 2,		/* wrong use; nothing was touched */
	EXIT_SKIPPED = 3,	/* done, but inputs were skipped as allowed */
	EXIT_DAMAGE = 4,	/* verification or use found damaged data */
	EXIT_DIVERGED = 5,	/* the loss became NaN or infinite */
	EXIT_RANKS = 6,		/* ranks disagree, or one is lost */
	EXIT_AGAIN = 75		/* stopped with its state saved: run it again */
};

#endif
