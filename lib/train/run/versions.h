#ifndef TRAIN_RUN_VERSIONS_H
#define TRAIN_RUN_VERSIONS_H

#include <stdio.h>

/*
 * train_versions(f): what commands that run networks say beside their own
 * version: how ranks talk, the processor, back ends and formats, a line each.
 */
void train_versions(FILE *f);

#endif
