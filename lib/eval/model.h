#ifndef EVAL_MODEL_H
#define EVAL_MODEL_H

/*
 * A trained network: all of it, its classes and its shape come from a
 * checkpoint.
 */

#include "net/net.h"
#include "shard/classes.h"
#include "train/run/checkpoint.h"

struct model {
	int ema;			/* set before: the moving average of the
					 * weights is meant */
	char *path;			/* of the checkpoint */
	struct safetensors file;
	struct state state;
	struct class_list class;
	const struct backend *backend;
	struct graph *graph;
	struct device *device;
	struct net *net;
};

/*
 * model_read(m, path, device):
 * Read the checkpoint that ${path} means (rundir_choose), with a note if that
 * is the directory of a run, find the back end called ${device}, and take the
 * network apart.  0, or an exit status after a message; then model_close all
 * the same.
 */
int model_read(struct model *m, const char *path, const char *device);

/* model_start(m, threads, precision): open the device, and have the weights on
 * it.  Results as above. */
int model_start(struct model *m, int threads, enum precision precision);

void model_close(struct model *m);	/* leaves an empty one */

#endif
