/* The choice of a device for each rank of a host, by the devices that the ranks see. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "train/run/ordinal.h"

#include "said.h"
#include "tap.h"
#include "tools/threads/threads.h"

enum { RANKS = 8 };

static struct ordinal_view view[RANKS];
static char said[512];

/* Rank ${rank} sees ${n} devices of ${host}, starting with number ${first}. */
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

/* The ordinals of all ranks, as text; "-" for a rank without a device. */
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
	is_text(picks(8), "01230123", "so do those of each host");
	for (int r = 0; r < 4; r++)
		sees(r, "a", 1, r);
	is_text(picks(4), "0000", "a rank that sees one takes that");
	sees(0, "a", 2, 0);
	sees(1, "a", 2, 2);
	sees(2, "a", 2, 4);
	is_text(picks(3), "000", "each that is shown a pair of its own, the first");
	sees(0, "a", 1, 0);
	is_text(picks(1), "0", "one rank, one device");
	sees(0, "a", 0, 0);
	sees(1, "a", 0, 0);
	is_text(picks(2), "00", "no device at all is not an error here");

	sees(0, "a", 1, 0);
	sees(1, "a", 1, 0);
	is_text(picks(2), "--", "two ranks that are shown the same are refused");
	ok(strstr(said, "ranks 0 and 1") != NULL && strstr(said,
	    "CUDA_VISIBLE_DEVICES") != NULL, "by name: %s", said);
	for (int r = 0; r < 3; r++)
		sees(r, "a", 2, 0);
	is_text(picks(3), "01-", "so is a rank beyond the last device");
	ok(strstr(said, "rank 2: 2 devices of host a") != NULL, "which is "
	    "said: %s", said);

	comm_threads(3, none, right);
	ok(right[0] && right[1] && right[2], "a back end without devices");
	comm_threads(3, one, right);
	ok(right[0] && right[1] && right[2], "ranks exchange the devices that they "
	    "see");
	return done();
}
