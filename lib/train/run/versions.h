#ifndef TRAIN_RUN_VERSIONS_H
#define TRAIN_RUN_VERSIONS_H

#include <stdio.h>

/*
 * train_versions(f):
 * Print to ${f}, for --version of commands that run networks, a line each for
 * the MPI library, device collectives, processor, back ends, devices and
 * formats.
 */
void train_versions(FILE *f);

#endif
