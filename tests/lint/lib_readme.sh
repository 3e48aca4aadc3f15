#!/bin/sh
# lib/README.md names only existing files and functions, and every folder of
# lib.
# shellcheck disable=SC2016
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

# lost FILE: print the names in FILE that the tree lacks. `name` with a slash or
# a suffix is a path, from the top, lib or lib/train. `name()` is a function
# that the last file before it, on the same line, defines.
lost() {
	grep -noE '`[A-Za-z0-9_./-]+(\(\))?`' "$1" | tr -d '`' | while IFS=: read -r line name; do
		case $name in
		*'()')
			name=${name%'()'}
			grep -qE "^$name\(" "$file" 2>/dev/null || echo "$line: $name() in ${file:-no file}" ;;
		*.net) ;;
		*/* | *.[ch] | *.sh)
			[ "$line" = "${last-}" ] || file=
			last=$line file=
			for there in "$name" "lib/$name" "lib/train/$name"; do
				[ ! -e "$there" ] || file=$there
			done
			[ -n "$file" ] || echo "$line: $name" ;;
		esac
	done
}
check_same "each file and function that lib/README.md names exists" "" "$(lost lib/README.md)"
check "lib/README.md names at least 40 files" test "$(grep -oE '`[a-z_/]+\.[ch]`' lib/README.md | wc -l)" -ge 40
printf '`base/none.c`: `none()`\n`base/pool.c`: `pool_run()`, `pool_walk()`\n' >"$T/planted.md"
check_same "planted missing files and functions are found" \
	"1: base/none.c|1: none() in no file|2: pool_walk() in lib/base/pool.c" \
	"$(lost "$T/planted.md" | paste -sd '|')"
for d in lib/*/ lib/train/*/; do
	d=${d%/}
	grep -qF "\`${d##*/}/\`" lib/README.md || echo "$d"
done >"$T/unnamed"
check_same "each folder of lib has a row" "" "$(cat "$T/unnamed")"
plan
