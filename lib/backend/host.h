#ifndef BACKEND_HOST_H
#define BACKEND_HOST_H

/*
 * Groups of a back end (backend/backend.h) whose memory is the host's and whose
 * work is done when the call returns.  Parameters are float or double, as
 * struct backend's elem says.
 */

#include "backend/backend.h"

extern const struct memory_ops host_memory;
extern const struct event_ops host_event;

#endif
