#ifndef EVAL_MODEL_H
#define EVAL_MODEL_H

/*
 * A trained network.  Its structure, its classes and its input shape come from
 * a checkpoint.
 */

#include "net/net.h"
#include "shard/classes.h"
#include "train/run/checkpoint.h"

struct model {
	int ema;			/* set before model_read; 1: use the
					 * moving average of the weights */
	char *path;			/* path of the checkpoint */
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
 * Read the checkpoint that ${path} means (rundir_find_checkpoint), and print a
 * note if ${path} is a run directory. Find the back end called ${device} and
 * build the graph. Return 0, or an exit status after a message. Call
 * model_close in both cases.
 */
int model_read(struct model *m, const char *path, const char *device);

/*
 * model_start(m, threads, precision):
 * Open the device with ${threads} threads, and load the weights onto it.
 * Return 0, or an exit status after a message.
 */
int model_start(struct model *m, int threads, enum precision precision);

/* model_close(m): Free everything and leave ${m} empty. */
void model_close(struct model *m);

#endif
