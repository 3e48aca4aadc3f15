/* The CUDA runtime as a driver. */
#include <cuda_runtime_api.h>
#include <stdio.h>

#include "backend/cuda/driver.h"
#include "base/fail.h"

const char *
runtime_library(void)
{
	static char text[64];

	snprintf(text, sizeof(text), "CUDA %d.%d", CUDART_VERSION / 1000,
	    CUDART_VERSION % 1000 / 10);
	return text;
}

struct driver *
runtime_open(int ordinal)
{
	int n = 0;

	if (cudaGetDeviceCount(&n) != cudaSuccess || ordinal >= n)
		return fail_null("no CUDA device %d here: %s", ordinal,
		    cudaGetErrorString(cudaGetLastError()));
	return fail_null("CUDA device %d: there is no driver for it yet",
	    ordinal);
}
