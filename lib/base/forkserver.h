#ifndef BASE_FORKSERVER_H
#define BASE_FORKSERVER_H

#include <sys/types.h>

/*
 * A process that starts child processes for a program with threads.  A child
 * that is forked by one of several threads may find locks that another thread
 * held, and that nobody will release.  So the server is forked before there are
 * threads, has none itself, and forks the children.
 *
 * Server and children ignore SIGINT, SIGTERM, SIGHUP and SIGUSR1; their
 * standard input and output are /dev/null.  When the program ends in any way,
 * SIGKILL included, the kernel ends them (PR_SET_PDEATHSIG of prctl(2)).
 *
 * Any thread may call these functions, except forkserver_new and
 * forkserver_free.
 */
struct forkserver;

/*
 * forkserver_new(child, arg):
 * Start a server whose children call ${child}(fd, arg) and then exit.  ${fd} is
 * the end of a stream socket; the children have the memory of this moment.
 * Call it from the main thread, before other threads exist.  Return the server,
 * or NULL after a message.  forkserver_free frees it.
 */
struct forkserver *forkserver_new(void (*child)(int fd, void *arg), void *arg);

/*
 * forkserver_start(f, fd):
 * Start a child.  Set ${*fd} to the other end of its socket, which the caller
 * closes.  Return its process id, or -1 after a message.
 */
pid_t forkserver_start(struct forkserver *f, int *fd);

/*
 * forkserver_wait(f, pid):
 * Wait until child ${pid} has ended, and return its status as waitpid(2) does,
 * or -1 if the server has ended.  Until then, ${pid} is not used again.
 */
int forkserver_wait(struct forkserver *f, pid_t pid);

/*
 * forkserver_free(f):
 * End the server.  All children must have been waited for.  NULL does nothing.
 */
void forkserver_free(struct forkserver *f);

#endif
