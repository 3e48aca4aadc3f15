#ifndef EVAL_MODEL_H
#define EVAL_MODEL_H

/*
 * A trained network with its protocol: its structure, its classes, its input
 * shape and the views of its test.  They come from a checkpoint, or for weights
 * of another program from the network and the table of published weights.
 */

#include "net/net.h"
#include "shard/classes.h"
#include "train/run/checkpoint.h"
#include "train/weights/init.h"

/* The published test of weights; all 0: none. */
struct model_views {
	int protocol;			/* index in VIEWS_NAMES */
	int clips, crops, full;
};

struct model {
	/* Set before model_read. */
	int ema;			/* 1: use the moving average of the
					 * weights */
	const char *network, *classes;	/* of weights: an installed network or a
					 * file; a list of share/classes or a
					 * file; NULL: not given */
	/* Set by model_read. */
	char *path;			/* path of the file */
	struct safetensors file;	/* a checkpoint; else empty */
	struct init weights;		/* of another program; else empty */
	struct state state;		/* of weights: model, frames, crop and
					 * stride; frames and crop are 0 if
					 * unknown */
	struct model_views views;
	struct class_list class;
	const struct backend *backend;
	struct graph *graph;
	struct device *device;
	struct net *net;
};

/*
 * model_read(m, path, device):
 * Read the checkpoint that ${path} means (rundir_find_checkpoint), and print a
 * note if ${path} is a run directory.  Read it as weights of another program if
 * it is a file of PyTorch or "known:NAME", or if m->network or m->classes is
 * set.  Find the back end called ${device} and build the graph.
 * Return 0, or an exit status after a message.  Call model_close in both cases.
 * ${path} must outlive ${m}.
 */
int model_read(struct model *m, const char *path, const char *device);

/*
 * model_start(m, threads, precision):
 * Open the device with ${threads} threads, and load the weights onto it.
 * Return 0, or an exit status after a message.
 */
int model_start(struct model *m, int threads, enum precision precision);

/* model_bytes(m): Return the content of the file, which ${m} owns. */
const struct buffer *model_bytes(const struct model *m);

/*
 * model_weights_read(m, path):
 * The part of model_read for weights: set all members but ${path} and
 * ${backend}.
 */
int model_weights_read(struct model *m, const char *path);

/* model_close(m): Free everything and leave ${m} empty. */
void model_close(struct model *m);

#endif
