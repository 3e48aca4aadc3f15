/* A server that forks, with requests and answers on a socket. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/forkserver.h"
#include "base/mem.h"

struct forkserver {
	int fd;				/* to the server */
	pid_t pid;
	pthread_mutex_t lock;		/* from a request to its answer */
};

/* A request: wait for ${pid}, or start a child if it is 0.  The answer is a
 * process id or a status. */
struct forkserver_request { pid_t pid; };

/* ---- in the server ---- */

/* The parent may have ended before prctl took effect. */
static void
forkserver_end_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

static void
forkserver_ignore_signals(void)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1 };

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
}

/* Close all descriptors but standard error and ${keep}, which becomes 3, so
 * that no pipe stays open when the program closes it. */
static void
forkserver_close_others(int keep)
{
	int null = open("/dev/null", O_RDWR);

	if (dup2(keep, 3) != 3 || null < 0)
		_exit(1);
	dup2(null, 0);
	dup2(null, 1);
	close_range(4, ~0U, 0);
}

/* Receive a request, and the socket of a child or -1.  Return 0 at the end. */
static int
forkserver_receive(int fd, struct forkserver_request *r, int *child)
{
	union { char space[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } u;
	struct iovec v = { r, sizeof(*r) };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1,
		.msg_control = u.space, .msg_controllen = sizeof(u.space) };
	struct cmsghdr *c;
	ssize_t n;

	while ((n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
		;
	*child = -1;
	c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c != NULL && c->cmsg_type == SCM_RIGHTS)
		memcpy(child, CMSG_DATA(c), sizeof(*child));
	return n == (ssize_t)sizeof(*r);
}

static int
forkserver_fork(int fd, void (*child)(int fd, void *arg), void *arg)
{
	pid_t server = getpid(), pid = fork();

	if (pid == 0) {
		forkserver_end_with(server);
		close(3);
		child(fd, arg);
		_exit(0);
	}
	close(fd);
	return pid;
}

static _Noreturn void
forkserver_serve(int fd, void (*child)(int fd, void *arg), void *arg)
{
	struct forkserver_request r;
	int with;

	forkserver_ignore_signals();
	forkserver_close_others(fd);
	while (forkserver_receive(3, &r, &with)) {
		int answer = -1;

		if (with >= 0)
			answer = forkserver_fork(with, child, arg);
		else
			while (waitpid(r.pid, &answer, 0) < 0 && errno == EINTR)
				;
		if (send(3, &answer, sizeof(answer), 0) < 0)
			break;
	}
	_exit(0);
}

/* ---- in the program ---- */

struct forkserver *
forkserver_new(void (*child)(int fd, void *arg), void *arg)
{
	struct forkserver *f;
	pid_t program = getpid(), pid;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) != 0) {
		fail_errno("cannot make a socket");
		return NULL;
	}
	if ((pid = fork()) == 0) {
		forkserver_end_with(program);
		forkserver_serve(fd[1], child, arg);
	}
	close(fd[1]);
	if (pid < 0) {
		fail_errno("cannot start a process");
		close(fd[0]);
		return NULL;
	}
	f = xcalloc(1, sizeof(*f));
	f->fd = fd[0];
	f->pid = pid;
	pthread_mutex_init(&f->lock, NULL);
	return f;
}

/* Send a request with the socket ${with}, or -1 for none, and return the
 * answer, or -1. */
static int
forkserver_ask(struct forkserver *f, struct forkserver_request r, int with)
{
	union { char space[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } u;
	struct iovec v = { &r, sizeof(r) };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	int answer = -1;
	ssize_t n;

	if (with >= 0) {
		memset(&u, 0, sizeof(u));
		m.msg_control = u.space;
		m.msg_controllen = sizeof(u.space);
		CMSG_FIRSTHDR(&m)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&m)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&m)->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &with, sizeof(with));
	}
	pthread_mutex_lock(&f->lock);
	while ((n = sendmsg(f->fd, &m, MSG_NOSIGNAL)) < 0 && errno == EINTR)
		;
	while (n >= 0 && (n = recv(f->fd, &answer, sizeof(answer), 0)) < 0 &&
	    errno == EINTR)
		n = 0;
	pthread_mutex_unlock(&f->lock);
	return n == (ssize_t)sizeof(answer) ? answer : -1;
}

pid_t
forkserver_start(struct forkserver *f, int *fd)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return fail_errno("cannot make a socket");
	pid = forkserver_ask(f, (struct forkserver_request){ 0 }, pair[1]);
	close(pair[1]);
	if (pid <= 0) {
		close(pair[0]);
		return fail("cannot start a process");
	}
	*fd = pair[0];
	return pid;
}

int
forkserver_wait(struct forkserver *f, pid_t pid)
{
	return forkserver_ask(f, (struct forkserver_request){ pid }, -1);
}

void
forkserver_free(struct forkserver *f)
{
	if (f == NULL)
		return;
	close(f->fd);
	while (waitpid(f->pid, NULL, 0) < 0 && errno == EINTR)
		;
	pthread_mutex_destroy(&f->lock);
	free(f);
}
