#ifndef COMM_MPI_MPI_H
#define COMM_MPI_MPI_H

#include "comm/comm.h"

/* The ranks of MPI_COMM_WORLD; NULL after a message. */
struct comm *comm_mpi_open(int *argc, char ***argv);

/* Wait for all ranks and end MPI; 0 if ${c} is not MPI's. */
int comm_mpi_close(struct comm *c);

const char *comm_mpi_library(void);

#endif
