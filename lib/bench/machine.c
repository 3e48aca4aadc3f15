/* Describe the machine that figures were measured on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/cpus.h"
#include "base/host.h"
#include "base/isa.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/version.h"
#include "bench/machine.h"
#include "comm/comm.h"
#include "media/jpeg.h"
#include "media/video.h"

/* Move ${text} to ${f}, and free it. */
static void
machine_put(struct fact *f, const char *key, char *text)
{
	f->key = key;
	snprintf(f->value, sizeof(f->value), "%s", text);
	free(text);
}

/* Append ", libavformat 59.27.100, libavcodec ..." to ${b}. */
static void
machine_video_libraries(struct buffer *b)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (f == NULL)
		return;
	video_versions(f);
	if (fclose(f) == 0)
		for (char *line = strtok(text, "\n"); line != NULL;
		    line = strtok(NULL, "\n"))
			buffer_printf(b, ", %s", line);
	free(text);
}

static void
machine_libraries(char *to, size_t size)
{
	struct buffer b = { 0 };

	buffer_text(&b, jpeg_library());
	for (int i = 0; backends[i] != NULL; i++)
		if (backends[i]->library != NULL)
			buffer_printf(&b, ", %s", backends[i]->library());
	machine_video_libraries(&b);
	buffer_printf(&b, ", %s", comm_library());
	snprintf(to, size, "%s", b.data);
	buffer_free(&b);
}

int
machine_facts(struct fact *f)
{
	double bytes = (double)sysconf(_SC_PHYS_PAGES) *
	    (double)sysconf(_SC_PAGESIZE);
	char text[32], cores[64];
	int n = 0;

	f[n].key = "cores";
	snprintf(f[n].value, sizeof(f[n].value), "%s", cpus_text(cores));
	machine_put(&f[++n], "host", host_facts("."));
	f[++n].key = "isa";
	snprintf(f[n].value, sizeof(f[n].value), "%s", isa_name(isa_best()));
	f[++n].key = "libraries";
	machine_libraries(f[n].value, sizeof(f[n].value));
	f[++n].key = "memory";
	snprintf(f[n].value, sizeof(f[n].value), "%s", text_bytes(text, bytes));
	machine_put(&f[++n], "processor", host_processor());
	f[++n].key = "program";
	snprintf(f[n].value, sizeof(f[n].value), "%s", version_build);
	return n + 1;
}
