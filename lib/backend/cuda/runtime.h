#ifndef BACKEND_CUDA_RUNTIME_H
#define BACKEND_CUDA_RUNTIME_H

/*
 * What the files share that speak to the CUDA runtime and its libraries:
 * runtime*.c, cudnn*.c and cublas*.c.
 *
 * cuDNN and cuBLASLt are opened with a device, by their names, and not before:
 * loading libcublasLt takes a tenth of a second of every start, and a program
 * that was built with CUDA runs where there is none.
 */

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <pthread.h>

/* Older toolkits limit a kernel's arguments to 4,096 bytes.  struct input
 * (args.h) is larger. */
_Static_assert(CUDART_VERSION >= 12010,
    "the CUDA Toolkit is too old (wanted 12.1 or newer)");

#include "backend/cuda/choose.h"
#include "backend/cuda/driver.h"
#include "base/fail.h"

/* The functions of theirs that are used. */
#define CUDNN_CALLS(CALL) \
	CALL(cudnnGetVersion) CALL(cudnnGetErrorString) \
	CALL(cudnnGetLastErrorString) CALL(cudnnCreate) CALL(cudnnDestroy) \
	CALL(cudnnSetStream) CALL(cudnnBackendCreateDescriptor) \
	CALL(cudnnBackendDestroyDescriptor) CALL(cudnnBackendFinalize) \
	CALL(cudnnBackendSetAttribute) CALL(cudnnBackendGetAttribute) \
	CALL(cudnnBackendExecute)
#define CUBLAS_CALLS(CALL) \
	CALL(cublasLtGetVersion) CALL(cublasLtGetStatusString) \
	CALL(cublasLtCreate) CALL(cublasLtDestroy) CALL(cublasLtMatmul) \
	CALL(cublasLtMatmulDescCreate) CALL(cublasLtMatmulDescDestroy) \
	CALL(cublasLtMatmulDescSetAttribute) \
	CALL(cublasLtMatrixLayoutCreate) CALL(cublasLtMatrixLayoutDestroy) \
	CALL(cublasLtMatrixLayoutSetAttribute) \
	CALL(cublasLtMatmulPreferenceCreate) \
	CALL(cublasLtMatmulPreferenceDestroy) \
	CALL(cublasLtMatmulPreferenceSetAttribute) \
	CALL(cublasLtMatmulAlgoGetHeuristic)

#define CALL(name)	__typeof__(name) *name;
struct cudnn { void *library; CUDNN_CALLS(CALL) };
struct cublas { void *library; CUBLAS_CALLS(CALL) };
#undef CALL

/* Open them; -1 after a message (error_set).  Close: fine where it was not
 * opened. */
int cudnn_load(struct cudnn *c, struct error *why);
void cudnn_unload(struct cudnn *c);
/* What cuDNN compiles plans with, it opens and closes for each of them, which takes
 * three quarters of the time that planning takes. */
void cudnn_keep_compiler(void);
int cublas_load(struct cublas *c, struct error *why);
void cublas_unload(struct cublas *c);

struct gpu_stream { cudaStream_t at; };
struct gpu_event { cudaEvent_t at; };

struct runtime {
	struct driver driver;		/* first */
	int ordinal;			/* of the device; -1: it is described */
	char name[256];			/* the device's */
	struct cudnn dnn;
	cudnnHandle_t handle;
	int with_handle;		/* build plans with a handle */
	struct maker *about_maker;	/* of what follows */
	cudnnBackendDescriptor_t about;	/* the device, as cuDNN sees it */
	struct ways ways;		/* how convolutions are done */
	struct cublas blas;
	cublasLtHandle_t products;
	pthread_mutex_t lock;		/* of what follows */
	char wrong[512];		/* the first thing that went wrong */
	int captures;			/* a thread captures work, */
	pthread_t capturer;		/* this one, */
	char spoiled[512];		/* and what was wrong in that */
};

/*
 * runtime_on(d): the device is the calling thread's, which begins with device 0.
 * runtime_wrong(r, what, why): remember it for the next wait; of work that is
 * captured, for the end of that.  runtime_put(r, what, e): if that is an error.
 */
struct runtime *runtime_on(struct driver *d);
void runtime_wrong(struct runtime *r, const char *what, const char *why);
void runtime_put(struct runtime *r, const char *what, cudaError_t e);

/* The stream, as CUDA knows it. */
cudaStream_t runtime_stream(struct gpu_stream *s);

/* cudnn_open(r), cublas_open(r): what the library needs for the device;
 * -1 after a message. */
int cudnn_open(struct runtime *r);
int cudnn_describe(struct runtime *r, const char *json);
void cudnn_close(struct runtime *r);
int cublas_open(struct runtime *r);
void cublas_close(struct runtime *r);

/* The functions of the table that these files have. */
struct conv_plan *cudnn_conv_new(struct driver *d, const struct conv_shape *s);
void cudnn_conv_free(struct driver *d, struct conv_plan *p);
size_t cudnn_conv_workspace(struct driver *d, const struct conv_plan *p);
void cudnn_conv_describe(struct driver *d, const struct conv_plan *p,
    char *text, size_t size);
void cudnn_conv(struct driver *d, struct gpu_stream *s,
    const struct conv_plan *p, void *x, void *w, void *y, void *workspace,
    const struct conv_beside *beside);
struct product_plan *cublas_product_new(struct driver *d,
    const struct product_shape *s);
void cublas_product_free(struct driver *d, struct product_plan *p);
size_t cublas_product_workspace(struct driver *d,
    const struct product_plan *p);
void cublas_product(struct driver *d, struct gpu_stream *s,
    const struct product_plan *p, const void *a, const void *b, void *c,
    void *workspace);
int runtime_capture(struct driver *d, struct gpu_stream *s);
struct gpu_graph *runtime_captured(struct driver *d, struct gpu_stream *s);
void runtime_record_inside(struct driver *d, struct gpu_event *v,
    struct gpu_stream *s);
void runtime_graph_run(struct driver *d, struct gpu_stream *s,
    struct gpu_graph *g);
void runtime_graph_free(struct driver *d, struct gpu_graph *g);

#endif
