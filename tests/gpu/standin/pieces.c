/* Execution of one piece of work. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "own.h"

struct message *
piece_new(enum kind kind, const char *name, size_t bytes)
{
	struct message *p = xcalloc(1, sizeof(*p) + bytes);

	p->kind = kind;
	p->name = name;
	p->users = 1;
	return p;
}

void
piece_free(struct message *p)
{
	if (--p->users == 0)
		free(p);
}

void
piece_reads(struct message *p, const void *at, size_t bytes)
{
	p->access.read[p->access.reads++] = (struct span){ at, bytes };
}

void
piece_writes(struct message *p, const void *at, size_t bytes)
{
	p->access.write[p->access.writes++] = (struct span){ at, bytes };
}

/* Clear the last bits of an fp32 output, so that engines other than 0
 * differ. */
static void
lose_bits(const struct memory *m, const struct message *p)
{
	uint32_t *at = memory_near(m, p->access.write[0].at);
	size_t n = p->access.write[0].bytes / sizeof(*at);

	for (size_t i = 0; i < n && p->conv.type == GPU_F32; i++)
		at[i] &= ~(uint32_t)1;
}

/* Spoil the output, or the sums if there are any, of the engines that
 * standin_engines names. */
static void
spoil(struct standin *s, const struct message *p)
{
	const struct span *span = &p->access.write[p->access.writes > 1];
	uint8_t *at = memory_near(&s->memory, span->at);

	if (p->engine == s->wrong)
		memset(at, 0, span->bytes / 2);
	if (p->engine != s->varies)
		return;
	while (*at == 0)
		at++;
	*at ^= s->runs++ & 1;
}

void
piece_run(struct standin *s, const struct message *p)
{
	const struct memory *m = &s->memory;

	switch (p->kind) {
	case PIECE_LAUNCH:
		guard_run(s, p);
		break;
	case PIECE_COPY:
		memmove(memory_near(m, p->to), memory_near(m, p->from),
		    p->bytes);
		break;
	case PIECE_FILL:
		memset(memory_near(m, p->to), p->byte, p->bytes);
		break;
	case PIECE_CONV:
		loops_conv(&p->conv, memory_near(m, p->x),
		    memory_near(m, p->w), memory_near(m, p->y));
		if (p->engine != 0) {
			lose_bits(m, p);
			spoil(s, p);
		}
		break;
	case PIECE_PRODUCT:
		loops_product(&p->product, memory_near(m, p->a),
		    memory_near(m, p->b), memory_near(m, p->c));
		break;
	case PIECE_FOLLOW:
	case PIECE_RECORD:
		break;
	}
	if (p->scratch.bytes > 0)
		memset(memory_near(m, p->scratch.at), 0xff, p->scratch.bytes);
}
