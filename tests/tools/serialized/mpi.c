/*
 * An MPI library that provides MPI_THREAD_SERIALIZED.  tests/build.mk links a
 * command with --wrap for these calls.  The command aborts if two threads are
 * in such calls at the same time.  Each call sleeps, so that concurrent calls
 * would overlap.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include <mpi.h>

static atomic_int inside;

static void
enter(const char *call)
{
	if (atomic_fetch_add(&inside, 1) > 0) {
		fprintf(stderr, "%s while another thread is in MPI\n", call);
		_exit(99);
	}
	usleep(20);
}

#define WRAP(call, declared, given) \
	int __real_ ## call declared; \
	int __wrap_ ## call declared; \
	int \
	__wrap_ ## call declared \
	{ \
		int code; \
	\
		enter(#call); \
		code = __real_ ## call given; \
		atomic_fetch_sub(&inside, 1); \
		return code; \
	}

WRAP(MPI_Isend, (const void *x, int n, MPI_Datatype t, int to, int tag,
    MPI_Comm c, MPI_Request *r), (x, n, t, to, tag, c, r))
WRAP(MPI_Irecv, (void *x, int n, MPI_Datatype t, int from, int tag, MPI_Comm c,
    MPI_Request *r), (x, n, t, from, tag, c, r))
WRAP(MPI_Testall, (int n, MPI_Request *r, int *done, MPI_Status *s),
    (n, r, done, s))
WRAP(MPI_Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *to),
    (c, color, key, to))
WRAP(MPI_Comm_free, (MPI_Comm *c), (c))
WRAP(MPI_Allreduce, (const void *x, void *y, int n, MPI_Datatype t, MPI_Op op,
    MPI_Comm c), (x, y, n, t, op, c))

int __real_MPI_Init_thread(int *argc, char ***argv, int wanted, int *level);
int __wrap_MPI_Init_thread(int *argc, char ***argv, int wanted, int *level);
int __wrap_MPI_Query_thread(int *level);

int
__wrap_MPI_Init_thread(int *argc, char ***argv, int wanted, int *level)
{
	int code = __real_MPI_Init_thread(argc, argv, wanted, level);

	*level = MPI_THREAD_SERIALIZED;
	return code;
}

int
__wrap_MPI_Query_thread(int *level)
{
	*level = MPI_THREAD_SERIALIZED;
	return MPI_SUCCESS;
}
