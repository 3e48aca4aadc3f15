/*
 * Video containers: a report has a text exactly if the container is not whole.
 * The first byte selects the format and the second the stream id; 255 selects
 * 256, the first id of MPEG transport streams.
 */
#include <fcntl.h>

#include "media/container.h"

#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct container_report report;
	int fd, n = 0;

	if (size < 3)
		return 0;
	fd = open(fuzz_file(data + 2, size - 2), O_RDONLY | O_CLOEXEC);
	MUST(fd >= 0);
	while (containers[n].check != NULL)
		n++;
	container_check(&containers[data[0] % n], fd, (int64_t)size - 2, NULL,
	    data[1] == 255 ? 256 : data[1], &report);
	MUST((report.state == CONTAINER_WHOLE) == (report.text[0] == '\0'));
	close(fd);
	return 0;
}
