/* Print the libraries, devices and formats of this build. */
#include <stdlib.h>

#include "backend/backend.h"
#include "base/cpus.h"
#include "base/host.h"
#include "base/isa.h"
#include "base/version.h"
#include "comm/comm.h"
#include "comm/fabric.h"

#include "common.h"

static const char *
common_fabric(void)
{
	for (int i = 0; backends[i] != NULL; i++)
		if (backend_fabric(backends[i]) != NULL)
			return backend_fabric(backends[i])->version();
	return "none";
}

void
common_versions(FILE *f)
{
	char text[64], *processor = host_processor(), *host = host_facts(".");

	fprintf(f, "ranks: %s\nsums between devices: %s\nprocessor: %s, %s, "
	    "%s\nhost: %s\nback ends:", comm_library(), common_fabric(),
	    isa_name(isa_best()), processor, cpus_text(text), host);
	free(processor);
	free(host);
	for (int i = 0; backends[i] != NULL; i++)
		if (backends[i]->library != NULL)
			fprintf(f, " %s (%s)", backends[i]->name,
			    backends[i]->library());
		else
			fprintf(f, " %s", backends[i]->name);
	for (int i = 0; backends[i] != NULL; i++)
		if (backends[i]->ordinal != NULL)
			fprintf(f, "\n%s devices: %s", backends[i]->name,
			    backends[i]->ordinal->names());
	fprintf(f, "\ncheckpoint format 1, shard format 1, results "
	    VERSION_RESULTS "\n");
}
