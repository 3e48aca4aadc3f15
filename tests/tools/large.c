/* large MIB COMMAND...: make MIB of memory resident, then become COMMAND, whose
 * ru_maxrss begins with them. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	size_t n = argc > 1 ? (size_t)atol(argv[1]) << 20 : 0;

	if (argc < 3 || mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_POPULATE, -1, 0) == MAP_FAILED)
		return 125;
	execvp(argv[2], argv + 2);
	return 127;
}
