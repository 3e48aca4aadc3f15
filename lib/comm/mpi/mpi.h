#ifndef COMM_MPI_MPI_H
#define COMM_MPI_MPI_H

#include "comm/comm.h"

/*
 * comm_mpi_open(argc, argv): initialize MPI and return the communicator of
 * MPI_COMM_WORLD, or NULL after a message if MPI_Init_thread fails.  Exit after
 * a message if MPI does not work or lacks MPI_THREAD_SERIALIZED.
 * comm_mpi_close frees the communicator.
 */
struct comm *comm_mpi_open(int *argc, char ***argv);

/*
 * comm_mpi_close(c): wait for all ranks, finalize MPI, free ${c} and return 1.
 * Return 0 and do nothing if ${c} is not an MPI communicator.  End all ranks
 * with EXIT_RANKS if an exchange of ${c} has failed.  Collective: all ranks
 * call it.
 */
int comm_mpi_close(struct comm *c);

/*
 * comm_mpi_library(): return the name and version of the MPI library.  Valid
 * until the thread's next call.
 */
const char *comm_mpi_library(void);

#endif
