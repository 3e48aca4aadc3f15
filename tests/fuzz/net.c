/* Network files: an accepted network has shapes and sizes that do not
 * overflow. */
#include "graph/graph.h"

#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct graph *g;

	FUZZ_QUIET();
	if ((g = graph_parse("fuzz.net", text, 10)) != NULL) {
		struct dims *out = xcalloc((size_t)g->nop, sizeof(*out));
		struct dims *input = graph_inputs(g, 2, 8, 56);
		size_t end = 0;

		for (int i = 0; i < g->nparam; i++) {
			const struct param *p = &g->param[i];

			MUST(p->offset == end && p->count > 0);
			end += (p->count + PARAM_ALIGN - 1) / PARAM_ALIGN *
			    PARAM_ALIGN;
		}
		MUST(end == g->elements && end <= GRAPH_VALUES);
		if (graph_shapes(g, input, out, NULL) == 0) {
			for (int i = 0; i < g->nop; i++)
				MUST(out[i].t > 0 && out[i].h > 0 &&
				    out[i].w > 0 && out[i].c > 0);
			MUST(graph_macs(g, input) >= 0);
		}
		MUST(g->heads > 0 && g->needs.targets > 0);
		for (int i = 0; i < g->heads; i++)
			MUST(g->op[g->head[i].loss].kind == OP_LOSS &&
			    g->op[g->head[i].loss].in[0] ==
			    g->head[i].scores);
		free(input);
		free(out);
	}
	graph_free(g);
	free(text);
	return 0;
}
