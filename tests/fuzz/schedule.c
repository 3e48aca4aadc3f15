/* Schedules: an accepted schedule prints as a table that reads back the
 * same. */
#include "sched/schedule.h"

#include "fuzz.h"
#include "../schedule_lr.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct schedule *s, *again;
	struct table *t;
	char *text, *twice;

	FUZZ_QUIET();
	if ((s = schedule_read(fuzz_file(data, size))) == NULL)
		return 0;
	MUST(s->stages >= 1 && s->stages <= SCHEDULE_STAGES);
	for (int i = 0; i < s->stages; i++) {
		const struct stage *g = &s->stage[i];
		double lr = schedule_lr(s, g->epoch_begin);

		MUST(g->cells >= 1 && g->cells <= SCHEDULE_CYCLE);
		MUST(lr >= 0 && lr <= LR_MAX);
	}
	text = schedule_text(s);
	MUST((t = table_parse("again", text)) != NULL);
	MUST((again = schedule_from_table(t)) != NULL);
	twice = schedule_text(again);
	MUST(strcmp(text, twice) == 0);
	free(text);
	free(twice);
	schedule_free(again);
	schedule_free(s);
	table_free(t);
	return 0;
}
