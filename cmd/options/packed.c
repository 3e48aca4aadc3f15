/* Check the names of the files that vt-eval writes besides its table. */
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "draw/plot.h"

#include "packed.h"

/* Refuse standard output, which has the table. */
static void
packed_refuse_stdout(const char *option, const char *path)
{
	if (path != NULL && strcmp(path, "-") == 0)
		options_wrong("--%s=-: standard output has the table (wanted a "
		    "file)", option);
}

void
packed_files_check(const struct results_files *f)
{
	packed_refuse_stdout("scores", f->scores);
	packed_refuse_stdout("per-class", f->per_class);
	packed_refuse_stdout("sheet", f->sheet);
	for (size_t i = 0; i < f->matrix.n; i++) {
		packed_refuse_stdout("matrix", f->matrix.item[i]);
		if (results_matrix_ready(f->matrix.item[i], 0) != 0)
			exit(EXIT_USAGE);
	}
	if (f->sheet != NULL && plot_ready(f->sheet) != 0)
		exit(EXIT_USAGE);
}
