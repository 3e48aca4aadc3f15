/* peak FILE COMMAND...: run COMMAND, and write its peak memory in KiB to
 * FILE. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	struct rusage used;
	int status;
	pid_t child;
	FILE *f;

	if (argc < 3 || (child = fork()) < 0)
		return 125;
	if (child == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (wait4(child, &status, 0, &used) != child ||
	    (f = fopen(argv[1], "w")) == NULL)
		return 125;
	fprintf(f, "%ld\n", used.ru_maxrss);
	fclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
