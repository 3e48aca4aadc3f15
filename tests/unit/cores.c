/*
 * The number of threads of a rank is its share of the processors that the
 * launcher bound it to.
 */
#include "comm/cores.h"

#include "tap.h"

enum { MAX = 8 };

/*
 * Return the place of a rank on ${host} bound to processors ${first} to
 * ${last}.
 */
static struct rank_place
at(const char *host, int first, int last)
{
	struct rank_place p = { 0 };

	snprintf(p.host, sizeof(p.host), "%s", host);
	for (int i = first; i <= last; i++)
		CPU_SET(i, &p.cpus);
	return p;
}

int
main(void)
{
	struct rank_place p[MAX];
	struct comm *self = comm_self();

	for (int r = 0; r < MAX; r++)
		p[r] = at("a", 0, 63);
	is(cores_share(p, 1, 0), 64, "one rank alone has all 64 processors");
	is(cores_share(p, 8, 3), 8, "eight unbound ranks have an eighth each");
	is(cores_share(p, 3, 2), 21,
	    "three unbound ranks have a third each, rounded down");
	for (int r = 0; r < 4; r++)
		p[r] = at("a", r / 2 * 32, r / 2 * 32 + 31);
	is(cores_share(p, 4, 1), 16,
	    "two ranks bound to one socket have half of it each");
	for (int r = 0; r < 4; r++)
		p[r] = at("a", r * 8, r * 8 + 7);
	is(cores_share(p, 4, 3), 8,
	    "ranks bound to separate processors have all of them");
	p[0] = at("a", 0, 3);
	p[1] = at("a", 0, 11);
	is(cores_share(p, 2, 1), 10,
	    "ranks that overlap share the common processors");
	p[1] = at("b", 0, 3);
	is(cores_share(p, 2, 1), 4, "ranks on other hosts do not count");
	for (int r = 0; r < MAX; r++)
		p[r] = at("a", 0, 1);
	is(cores_share(p, 8, 7), 1, "a rank has at least one thread");
	ok(cores_threads(self) >= 1, "this process has at least one thread");
	comm_free(self);
	return done();
}
