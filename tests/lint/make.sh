#!/bin/sh
# make help: each target runs from a clean tree as far as make -n shows. It builds
# the programs that its tests and scripts name, and runs only files of the repository.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
unset MAKEFLAGS MFLAGS MAKELEVEL

# programs: of the plan in standard input, print the programs that it links, relative
# to the build directory.
programs() {
	grep -oE ' -o [^ ]+' | sed -n "s|^ -o $T/none/||p" | grep -v '\.o$' | sort -u
}
make -n BUILD="$T/none" check 2>/dev/null | programs >"$T/all"
check "make check builds test programs" grep -qx tests/shard "$T/all"

tests=$(ls tests/commands/*.sh tests/ranks/*.sh tests/gpu/*.sh tests/parity/*.sh tests/lib.sh)
# scripts TARGET: print the scripts that TARGET runs.
scripts() {
	case $1 in
	check) echo "$tests" ;;
	check-quick) echo "$tests" | xargs grep -L 'tests/run: weight' ;;
	lint) ls tests/lint/*.sh tests/lib.sh ;;
	check-gpu) ls tests/gpu/contact/* ;;
	torture) find tests/torture tests/lib.sh -type f ! -name '*.[ch]' ;;
	bench) find tests/bench/run ;;
	demo) echo share/demo/run ;;
	esac
}
# units TARGET: print the C tests that TARGET runs.
units() {
	case $1 in
	check) ls tests/unit/*.c tests/gpu/*.c ;;
	check-quick) grep -L 'tests/run: weight' tests/unit/*.c tests/gpu/*.c ;;
	esac | sed 's|.*/|tests/|; s|\.c$||'
}
for target in $(make help | sed -n 's/^  make \([a-z-]*\) .*/\1/p'); do
	check_exit "make -n $target succeeds from a clean tree" 0 make -n BUILD="$T/none" "$target"
	mv "$T/out" "$T/plan"
	if [ -e .git ]; then
		check_same "make $target runs only files of the repository" "" \
			"$(grep -oE '(^|[ @])(tests|share|completions)/[a-z/-]+( |$)' "$T/plan" | tr -d ' @' | sort -u |
				while read -r f; do [ -x "$f" ] && git -c safe.directory="$PWD" ls-files --error-unmatch "$f" 2>&1 >/dev/null || echo "$f"; done)"
	fi
	programs <"$T/plan" >"$T/made"
	# A script names a program or its folder.
	check_same "make $target builds what its scripts and tests name" "" \
		"$({ units "$target"
			scripts "$target" | xargs -r grep -ohE '(build|BUILD[}"]*|[ "=(]tests)/[a-z/_-]+(\.so)?' |
				sed -E 's,^[^/]*(build|BUILD[}"]*)/|^[ "=(],,'; } | sort -u |
			while read -r p; do grep -E "^$p(/|\$)" "$T/all" | grep -vxF -f "$T/made"; done)"
done
plan
