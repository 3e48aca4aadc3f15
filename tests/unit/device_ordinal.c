/*
 * Each rank of a host gets a device by the devices that the ranks see; ranks
 * that would share one are refused.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "backend/ordinal.h"

#include "said.h"
#include "tap.h"
#include "tools/threads/threads.h"

enum { RANKS = 8 };

static struct ordinal_view view[RANKS];
static char said[512];

/* Let rank ${rank} see ${n} devices of ${host}, from number ${first}. */
static void
sees(int rank, const char *host, int n, int first)
{
	struct ordinal_view *v = &view[rank];

	memset(v, 0, sizeof(*v));
	snprintf(v->host, sizeof(v->host), "%s", host);
	v->devices = n;
	for (int i = 0; i < n; i++)
		snprintf((char *)v->uuid[i], DEVICE_UUID, "%.8s/%d", host,
		    first + i);
}

/*
 * Return the ordinals of all ranks as text, "-" for a refused rank.  Valid
 * until the next call.
 */
static const char *
picks(int ranks)
{
	static char text[64];

	*text = *said = '\0';
	for (int r = 0; r < ranks; r++) {
		int pick;

		said_begin(said, sizeof(said));
		pick = ordinal_pick(view, ranks, r);
		said_end();
		if (pick < 0)
			strcat(text, "-");
		else
			sprintf(text + strlen(text), "%d", pick);
	}
	return text;
}

/* If the back end lists no devices, ranks exchange no messages. */
static void
none(struct comm *c, void *right)
{
	const struct backend b = { .ordinal = NULL };

	((int *)right)[c->rank] = ordinal_of(c, &b) == 0;
}

/* Each rank sees one device, its own, as number 0. */
static int
own(unsigned char (*uuid)[DEVICE_UUID], int max)
{
	static _Thread_local int here;

	(void)max;
	memcpy(uuid[0], &(int *){ &here }, sizeof(int *));
	return 1;
}

static void
one(struct comm *c, void *right)
{
	const struct backend b = {
	    .ordinal = &(const struct ordinal_ops){ .uuids = own } };

	((int *)right)[c->rank] = ordinal_of(c, &b) == 0;
}

int
main(void)
{
	int right[3];

	for (int r = 0; r < 4; r++)
		sees(r, "a", 4, 0);
	is_text(picks(4), "0123", "ranks that see all devices take one each");
	for (int r = 4; r < 8; r++)
		sees(r, "b", 4, 0);
	is_text(picks(8), "01230123",
	    "ranks on two hosts take one each on their host");
	for (int r = 0; r < 4; r++)
		sees(r, "a", 1, r);
	is_text(picks(4), "0000", "a rank that sees one device takes it");
	sees(0, "a", 2, 0);
	sees(1, "a", 2, 2);
	sees(2, "a", 2, 4);
	is_text(picks(3), "000",
	    "ranks that see separate pairs take the first of their pair");
	sees(0, "a", 1, 0);
	is_text(picks(1), "0", "one rank takes the one device");
	sees(0, "a", 0, 0);
	sees(1, "a", 0, 0);
	is_text(picks(2), "00", "without devices, ranks get ordinal 0");

	sees(0, "a", 1, 0);
	sees(1, "a", 1, 0);
	is_text(picks(2), "--",
	    "two ranks that see the same device are refused");
	ok(strstr(said, "ranks 0 and 1") != NULL && strstr(said,
	    "CUDA_VISIBLE_DEVICES") != NULL,
	    "the message names both ranks: %s", said);
	for (int r = 0; r < 3; r++)
		sees(r, "a", 2, 0);
	is_text(picks(3), "01-", "a rank beyond the last device is refused");
	ok(strstr(said, "rank 2: 2 devices of host a") != NULL,
	    "the message names the rank: %s", said);

	comm_threads(3, none, right);
	ok(right[0] && right[1] && right[2],
	    "a back end without a device list gives ordinal 0");
	comm_threads(3, one, right);
	ok(right[0] && right[1] && right[2],
	    "ranks exchange the devices that they see");
	return done();
}
