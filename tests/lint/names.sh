#!/bin/sh
# Comments of lib and cmd name what exists, each struct has its own tag, functions have the
# prefix of their module, and lines of lib have 80 columns; planted violations are found.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
command -v perl >/dev/null || skip_all "no perl command"

check_exit "all names are true" 0 tests/tools/names lib cmd
check_same "no other name is found" "" "$(cat "$T/out")"

# A module without violations: names that only resemble one are accepted.
mkdir -p "$T/lib/wheel"
cat >"$T/lib/wheel/wheel.h" <<'C'
/* Wheels (lib/base/text.c cites *.isa.c, too). */
struct hub { int bolts; };
/* The count ${spokes} of the struct that describes it. */
struct wheel { struct hub hub; int spokes; };

/*
 * wheel_turn(w, by): turn ${w}, which has ${bolts}, by ${by}.
 * wheel_free is described in wheel/wheel.h; w->spokes are counted.
 */
void wheel_turn(struct wheel *w, int by);
#define WHEEL_MAX 3
C
cat >"$T/lib/wheel/wheel.c" <<'C'
#include "wheel.h"

static int wheel_count;

/* Count in ${wheel_count}. */
void
wheel_turn(struct wheel *w, int by)
{
	for (int i = 0; i < by; i++)		/* ${i} of ${by} */
		wheel_count += w->spokes;
}

static void
hub_free(struct hub *h)
{
	h->bolts = 0;
}
C
check_exit "names that only look wrong are accepted" 0 tests/tools/names "$T/lib"
check_same "nothing is found" "" "$(cat "$T/out")"

# planted KIND TEXT CODE: the violation TEXT of KIND is found in CODE, and nothing else
planted() {
	printf '%s\n' "$3" >"$T/lib/wheel/rim.c"
	check_exit "$1: \"$2\" is found" 1 tests/tools/names "$T/lib"
	check_same "$1: nothing else than \"$2\" is found" "$1: $2" "$(sed 's/^[^ ]* //' "$T/out")"
	check_exit "$1: \"$2\" is found alone" 1 tests/tools/names -k "$1" "$T/lib"
}
planted comment '${torn}' '/* Mend ${torn} of ${w}. */
void wheel_mend(struct wheel *w);'
planted comment '${spokes}' '/* Mend ${h} without ${spokes}. */
void wheel_mend(struct hub *h);'
planted comment '${left}' '/* Set ${left} to 0. */
static int
wheel_mend(struct wheel *w)
{
	int left = 0;

	return left;
}'
planted comment '${spikes}' 'struct wheel_rim {
	int width;		/* of ${spikes} */
};'
planted member 'w->spikes' '/* Mend w->spikes. */
void wheel_mend(struct wheel *w);'
planted member 'h->spokes' '/* Mend h->spokes. */
void wheel_mend(struct hub *h);'
planted file 'wheel/spoke.c' '/* As in wheel/spoke.c. */'
planted struct 'struct spoke' '/* A struct spoke is thin. */'
planted prefix 'run' 'static void
run(void)
{
}'
planted prefix 'spoke_run' 'void
spoke_run(int n)
{
}'
planted columns 81 "/*	$(printf '%70s' '' | tr ' ' x) */"

printf 'struct hub { int n; };\n' >"$T/lib/wheel/rim.c"
check_exit "tag: two definitions are found" 1 tests/tools/names "$T/lib"
check_same "tag: both are printed" 2 "$(grep -c ': tag: hub$' "$T/out")"
plan
