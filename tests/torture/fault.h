/* The interface between the two files of the fault library. */
#ifndef FAULT_H
#define FAULT_H

enum kind {
	OPEN, READ, WRITE, SYNC, RENAME, LINK, UNLINK, MKDIR, TRUNCATE, CLOSE,
	LOCK, LIST, STAT, MMAP, MALLOC, THREAD, KINDS
};

/*
 * fault_hit(k):
 * Count a call of kind ${k}.  Return the errno that it must fail with, -1 if it
 * must transfer half of its bytes, or 0.  May kill the process.
 */
int fault_hit(enum kind k);

#endif
