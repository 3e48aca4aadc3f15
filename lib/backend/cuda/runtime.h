#ifndef BACKEND_CUDA_RUNTIME_H
#define BACKEND_CUDA_RUNTIME_H

/*
 * Declarations shared by the files that call the CUDA runtime and its
 * libraries: runtime*.c, cudnn*.c and cublas*.c.
 *
 * Opening a device loads cuDNN and cuBLASLt by name.  Until then they are not
 * loaded: loading libcublasLt would add 0.1 s to each start, and a program
 * built with CUDA must run on hosts without it.
 */

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <pthread.h>

/* Older toolkits limit a kernel's arguments to 4,096 bytes.  struct input
 * (args.h) is larger. */
_Static_assert(CUDART_VERSION >= 12010,
    "the CUDA Toolkit is too old (wanted 12.1 or newer)");

#include "backend/cuda/conv_select.h"
#include "backend/cuda/driver.h"
#include "base/fail.h"

/* The library functions in use. */
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
struct cudnn { CUDNN_CALLS(CALL) };
struct cublas { CUBLAS_CALLS(CALL) };
#undef CALL

/*
 * cudnn_load(c, why), cublas_load(c, why):
 * Load the library and its functions.  Return 0, or -1 with the message in
 * ${why} (error_set).  The library stays loaded until the program ends, because
 * the CUDA context keeps its kernels.
 */
int cudnn_load(struct cudnn *c, struct error *why);
/*
 * cudnn_keep_compiler():
 * Keep NVRTC loaded until the program ends.  cuDNN loads and unloads it for
 * each plan it compiles, which takes three quarters of the planning time.
 */
void cudnn_keep_compiler(void);
int cublas_load(struct cublas *c, struct error *why);

struct gpu_stream { cudaStream_t at; };
struct gpu_event { cudaEvent_t at; };

struct runtime {
	struct driver driver;		/* first */
	int ordinal;			/* device number; -1:
					 * runtime_open_described */
	char name[256];			/* name of the device */
	struct cudnn dnn;
	cudnnHandle_t handle;
	int with_handle;		/* build plans with a handle */
	struct cudnn_builder *about_maker;	/* owns the descriptor below */
	cudnnBackendDescriptor_t device_props;	/* cuDNN's description of the
						 * device */
	struct conv_algorithms algorithms;	/* selection of convolution
						 * algorithms */
	struct cublas blas;
	cublasLtHandle_t blas_handle;
	pthread_mutex_t lock;		/* protects the fields below */
	char error[512];		/* first error, or empty */
	int captures;			/* 1: a thread captures a graph */
	pthread_t capturer;		/* that thread */
	char capture_error[512];	/* first error of the capture */
};

/*
 * runtime_make_current(d):
 * Make the device of ${d} current for the calling thread.  A new thread begins
 * with device 0.  Return ${d} as its runtime structure.
 *
 * runtime_record_error(r, what, why):
 * Record an error: operation ${what} failed because of ${why}.  The first error
 * is reported by the next wait and by each later wait.  While the calling
 * thread captures a graph, record it for runtime_captured instead.  Any thread
 * may call it.
 *
 * runtime_check(r, what, e):
 * Record ${e} by runtime_record_error, unless it is cudaSuccess.
 */
struct runtime *runtime_make_current(struct driver *d);
void runtime_record_error(struct runtime *r, const char *what, const char *why);
void runtime_check(struct runtime *r, const char *what, cudaError_t e);

/*
 * cudnn_open(r), cublas_open(r):
 * Load the library and create its handle for the device.  Return 0, or -1 after
 * a message.
 *
 * cudnn_describe(r, json):
 * Load cuDNN for plans of the device that ${json} describes
 * (runtime_open_described).  Return 0, or -1 after a message.
 *
 * cudnn_choose_device(r):
 * Set r->with_handle: 1 if cuDNN makes a small plan with the handle, as
 * NVIDIA's own programs do; otherwise 0, after a detail message.  Return 0, or
 * -1 after a message if cuDNN also refused to describe the device.  cudnn_open
 * calls it.
 *
 * cudnn_close(r), cublas_close(r):
 * Free what they created, also after a failure or without an open.
 */
int cudnn_open(struct runtime *r);
int cudnn_describe(struct runtime *r, const char *json);
int cudnn_choose_device(struct runtime *r);
void cudnn_close(struct runtime *r);
int cublas_open(struct runtime *r);
void cublas_close(struct runtime *r);

/*
 * Functions of struct driver_calls that cudnn_conv.c, cublas.c and
 * runtime_graph.c implement.
 */
struct conv_plan *cudnn_conv_new(struct driver *d, const struct conv_shape *s);
void cudnn_conv_free(struct driver *d, struct conv_plan *p);
size_t cudnn_conv_workspace(struct driver *d, const struct conv_plan *p);
void cudnn_conv_describe(struct driver *d, const struct conv_plan *p,
    char *text, size_t size);
void cudnn_conv(struct driver *d, struct gpu_stream *s,
    const struct conv_plan *p, void *const at[4]);
struct gemm_plan *cublas_gemm_new(struct driver *d,
    const struct gemm_shape *s);
void cublas_gemm_free(struct driver *d, struct gemm_plan *p);
size_t cublas_gemm_workspace(struct driver *d,
    const struct gemm_plan *p);
void cublas_gemm(struct driver *d, struct gpu_stream *s,
    const struct gemm_plan *p, const void *a, const void *b, void *c,
    void *workspace);
int runtime_capture(struct driver *d, struct gpu_stream *s);
struct gpu_graph *runtime_captured(struct driver *d, struct gpu_stream *s);
void runtime_record_inside(struct driver *d, struct gpu_event *v,
    struct gpu_stream *s);
void runtime_graph_run(struct driver *d, struct gpu_stream *s,
    struct gpu_graph *g);
void runtime_graph_free(struct driver *d, struct gpu_graph *g);

#endif
