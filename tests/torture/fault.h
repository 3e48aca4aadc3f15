/* Between the two halves of the fault library. */
#ifndef FAULT_H
#define FAULT_H

enum kind {
	OPEN, READ, WRITE, SYNC, RENAME, LINK, UNLINK, MKDIR, TRUNCATE, CLOSE,
	LOCK, LIST, STAT, MMAP, MALLOC, THREAD, KINDS
};

/*
 * fault_hit(k): count a call of kind ${k}; the errno that it is to fail with,
 * -1 if it is to do half of its work, or 0.  May kill the process.
 */
int fault_hit(enum kind k);

#endif
