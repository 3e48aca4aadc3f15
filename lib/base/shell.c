/* Commands of the user, started by posix_spawn: a fork would copy the page
 * tables of a program that may hold hundreds of gigabytes. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/shell.h"

extern char **environ;

struct shell {
	pid_t pid;			/* also the number of its group */
	int fd;				/* its standard output */
	int exited;
};

/* Start "sh -c ${text}" with standard output ${fd}.  Return 0 or an errno. */
static int
shell_spawn(pid_t *pid, const char *text, int fd)
{
	char *const argument[] = { "sh", "-c", (char *)(uintptr_t)text, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t usual;
	int error;

	/* This program ignores some signals, which a child would inherit. */
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	sigaddset(&usual, SIGXFSZ);
	posix_spawnattr_init(&how);
	posix_spawnattr_setsigdefault(&how, &usual);
	posix_spawnattr_setpgroup(&how, 0);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP |
	    POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
	    O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, fd, STDOUT_FILENO);
	error = posix_spawn(pid, "/bin/sh", &files, &how, argument, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	return error;
}

struct shell *
shell_start(const char *text)
{
	struct shell *s = xcalloc(1, sizeof(*s));
	int fd[2], error;

	if (pipe2(fd, O_CLOEXEC) != 0) {
		fail_errno("cannot create a pipe");
		free(s);
		return NULL;
	}
	error = shell_spawn(&s->pid, text, fd[1]);
	close(fd[1]);
	s->fd = fd[0];
	if (error == 0)
		return s;
	close(s->fd);
	free(s);
	return fail_null("/bin/sh: cannot start: %s", strerror(error));
}

ssize_t
shell_read(struct shell *s, void *to, size_t n, double seconds)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	int ready = poll(&p, 1, (int)(1000 * seconds));

	if (ready == 0 || (ready < 0 && errno == EINTR))
		return errno = EAGAIN, -1;
	return ready < 0 ? -1 : TEMP_FAILURE_RETRY(read(s->fd, to, n));
}

int
shell_exited(struct shell *s)
{
	siginfo_t i = { 0 };

	/* Leave the zombie: no other group has its number while it exists. */
	if (!s->exited)
		s->exited = waitid(P_PID, (id_t)s->pid, &i, WEXITED | WNOHANG |
		    WNOWAIT) == 0 && i.si_pid == s->pid;
	return s->exited;
}

int
shell_end(struct shell *s, struct error *e)
{
	int result = 0, status = 0;

	if (s == NULL)
		return 0;
	/* End also what the shell has left in the background: it would hold our
	 * standard error open. */
	kill(-s->pid, SIGKILL);
	(void)TEMP_FAILURE_RETRY(waitpid(s->pid, &status, 0));
	close(s->fd);
	if (WIFSIGNALED(status))
		result = error_set(e, "signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		result = error_set(e, "exit status %d", WEXITSTATUS(status));
	free(s);
	return result;
}
