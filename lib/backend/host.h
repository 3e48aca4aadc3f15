#ifndef BACKEND_HOST_H
#define BACKEND_HOST_H

/*
 * Function groups (backend/backend.h) for back ends that use host memory and
 * complete all work before a call returns.  Parameters are float or double,
 * according to struct backend's elem.
 */

#include "backend/backend.h"

extern const struct memory_ops host_memory;
extern const struct event_ops host_event;

#endif
