/*
 * A fabric (comm/fabric.h) between ranks whose devices have discrete memory.
 * It transfers synchronously, by messages, in order of rank.  If DISCRETE_FABRIC
 * is set, the devices have streams; if it is "discrete", their back end has this
 * fabric.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/cuda/stored.h"
#include "base/mem.h"
#include "comm/fabric.h"

#include "discrete.h"

struct link { struct comm *comm; };

static struct comm *all;	/* the ranks that the next link connects */

static int
new_id(void *id)
{
	memset(id, 1, 1);
	return 0;
}

static void *
new_link(struct comm *c)
{
	struct link *l = xcalloc(1, sizeof(*l));

	l->comm = c;
	return l;
}

static void *
open_link(const void *id, int rank, int ranks)
{
	(void)rank, (void)ranks;
	return *(const char *)id == 1 ? new_link(comm_dup(all, COMM_WAITS)) :
	    NULL;
}

static void *
split(void *link, int color, int key)
{
	struct comm *c;

	return comm_split(&c, ((struct link *)link)->comm, color, key,
	    COMM_WAITS) == 0 ? new_link(c) : NULL;
}

static size_t
size_of(int type)
{
	return type == WIRE_FP32 ? sizeof(float) : 2;
}

static float
at(const void *x, size_t i, int type)
{
	float v;

	if (type == WIRE_BF16)
		wires[type].unpack(&v, (const uint16_t *)x + i, 1);
	else
		v = type == WIRE_FP16 ? widen_f16(((const uint16_t *)x)[i]) :
		    ((const float *)x)[i];
	return v;
}

static void
set(void *x, size_t i, int type, float v)
{
	if (type == WIRE_BF16)
		wires[type].pack((uint16_t *)x + i, &v, 1);
	else if (type == WIRE_FP16)
		((uint16_t *)x)[i] = narrow_f16(v);
	else
		((float *)x)[i] = v;
}

/* Sum elements ${first} to ${first} + ${n} - 1 of ${count}. */
static int
sum_some(struct link *l, void *device, size_t count, size_t first, size_t n,
    int type)
{
	struct comm *c = l->comm;
	size_t bytes = count * size_of(type);
	char *x = discrete_here(device), *in = xmalloc(bytes * (size_t)c->size);
	int bad = comm_allgather(c, x, bytes, in);

	for (size_t i = first; i < first + n; i++) {
		float v = at(in, i, type);

		for (int r = 1; r < c->size; r++)
			v += at(in + (size_t)r * bytes, i, type);
		set(x, i, type, v);
	}
	free(in);
	return bad;
}

static int
sum(void *link, void *x, size_t n, int type, void *stream)
{
	(void)stream;
	return sum_some(link, x, n, 0, n, type);
}

static int
scatter(void *link, void *x, int rank, size_t each, int type, void *stream)
{
	struct link *l = link;

	(void)stream;
	return sum_some(l, x, each * (size_t)l->comm->size, (size_t)rank * each,
	    each, type);
}

static int
gather(void *link, void *x, int rank, size_t each, int type, void *stream)
{
	struct link *l = link;
	size_t bytes = each * size_of(type);
	char *part = xmalloc(bytes), *to = discrete_here(x);
	int bad;

	(void)stream;
	memcpy(part, to + (size_t)rank * bytes, bytes);
	bad = comm_allgather(l->comm, part, bytes, to);
	free(part);
	return bad;
}

static int
exchange(void *link, const struct message *send, int sends,
    const struct message *receive, int receives, void *stream)
{
	struct message *m = xcalloc((size_t)(sends + receives) + 1, sizeof(*m));
	int bad;

	(void)stream;
	for (int i = 0; i < sends + receives; i++) {
		m[i] = i < sends ? send[i] : receive[i - sends];
		m[i].data = discrete_here(m[i].data);
	}
	bad = comm_exchange(((struct link *)link)->comm, m, sends, m + sends,
	    receives);
	free(m);
	return bad;
}

static int
done(void *of)
{
	(void)of;
	return 1;
}

static int
finish(void *link)
{
	(void)link;
	return 0;
}

static void
close_link(void *link)
{
	comm_free(((struct link *)link)->comm);
	free(link);
}

static const char *
version(void)
{
	return "discrete";
}

const struct fabric_calls discrete_fabric = { "discrete", 1, new_id, open_link,
	split, sum, scatter, gather, exchange, done, done, close_link, finish, close_link,
	version, 0 };

struct fabric *__real_fabric_open(const struct fabric_calls *k, struct comm *c,
    int columns, const int *host);
struct fabric *__wrap_fabric_open(const struct fabric_calls *k, struct comm *c,
    int columns, const int *host);

struct fabric *
__wrap_fabric_open(const struct fabric_calls *k, struct comm *c, int columns,
    const int *host)
{
	all = c;
	return __real_fabric_open(k, c, columns, host);
}
