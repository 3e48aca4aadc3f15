#!/bin/sh
# make install and uninstall: all there, in its place; the commands run from
# wherever they were put; nothing is left.
# tests/run: weight 2
cd "${0%/*}/.." || exit 2
. tests/lib.sh
root=$PWD
unset VT_SHARE_DIR
d="$T/a root"

# What is built is not built again (-o all): others may be running it.
quiet_make() {
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make --no-print-directory BUILD="$BUILD" -o all "$@"
}
files() {
	(cd "$1" && find . ! -type d | sort)
}

# ---- install ----

for c in cmd/vt-*.c; do
	c=$(basename "$c" .c)
	echo "./usr/bin/$c"
	echo "./usr/share/bash-completion/completions/$c"
	echo "./usr/share/fish/vendor_completions.d/$c.fish"
done >"$T/wanted"
for f in man/*.[1-9]; do echo "./usr/share/man/man${f##*.}/${f##*/}"; done >>"$T/wanted"
for f in share/models/*.net share/schedules/*.tsv share/weights/*.tsv share/flips/*.tsv share/examples/*; do
	[ -f "$f" ] && echo "./usr/share/vt/${f#share/}"
done >>"$T/wanted"
echo ./usr/share/zsh/site-functions/_vt >>"$T/wanted"

check_same "there are six commands" 6 "$(grep -c usr/bin/ "$T/wanted")"
check_exit "make install" 0 quiet_make install DESTDIR="$d" PREFIX=/usr
check_same "all is there, and nothing else" "$(sort "$T/wanted")" "$(files "$d")"
check_same "only the commands can be run" "$(grep usr/bin/ "$T/wanted" | sort)" \
	"$(cd "$d" && find . -type f -perm -u+x | sort)"
check_same "and all can be read" "" "$(find "$d" -type f ! -perm 644 ! -perm 755; find "$d" -type d ! -perm 755)"
check "whole" sh -c 'for f in "$1"/usr/share/vt/*/*; do cmp "$f" "share/${f#*/usr/share/vt/}" || exit 1; done' sh "$d"
check_exit "make install again" 0 quiet_make install DESTDIR="$d" PREFIX=/usr
check_same "changes nothing" "$(sort "$T/wanted")" "$(files "$d")"

# ---- run ----

networks=$(cd share/models && ls -- *.net | LC_ALL=C sort | sed 's/\.net$//' | tr '\n' ' ' | sed 's/ $//')

# runs WHERE BIN: the commands there find what was installed with them
runs() {
	cd / || exit 2
	for c in "$2"/vt-*; do
		check_exit "$1: ${c##*/} runs" 0 "$c" --version
	done
	check_exit "$1: a network is found" 0 "$2/vt-bench" op --model=tsm_tiny --device=ref --shape=1x2x32 --warmup=0 --runs=1
	check_exit "$1: one that is not there" 2 "$2/vt-bench" op --model=none
	check_says "$1: those that are, are told" "there are: $(echo $networks | sed 's/ /, /g')"
	check_exit "$1: VT_SHARE_DIR goes first" 2 env VT_SHARE_DIR="$T/share" "$2/vt-bench" op --model=tsm_tiny
	check_says "$1: which was read" "share/models/tsm_tiny.net:"
	if command -v bash >/dev/null; then
		check_same "$1: bash completes networks" "$(printf '%s\n' $networks | grep '^tsm' | tr '\n' ' ')" "$(
			bash --norc -c '. "$1"; COMP_WORDS=(vt-train --model = tsm) COMP_CWORD=3; _vt "$2/vt-train"
			printf "%s " "${COMPREPLY[@]}"' bash "${2%/bin}/share/bash-completion/completions/vt-train" "$2")"
	fi
	cd "$root" || exit 2
}
mkdir -p "$T/share/models"
echo 'nonsense' >"$T/share/models/tsm_tiny.net"
runs "installed" "$d/usr/bin"
mkdir "$T/moved" && mv "$d/usr" "$T/moved/there"
runs "moved" "$T/moved/there/bin"
ln -s "$T/moved/there/bin/vt-bench" "$T/vt-bench"
check_exit "by a symbolic link" 0 "$T/vt-bench" op --model=tsm_tiny --device=ref --shape=1x2x32 --warmup=0 --runs=1
mv "$T/moved/there" "$d/usr"

# ---- uninstall ----

mkdir -p "$d/usr/lib/empty" "$d/usr/share/vt/models"
echo mine >"$d/usr/share/vt/models/mine.net"
check_exit "make uninstall" 0 quiet_make uninstall DESTDIR="$d" PREFIX=/usr
check_same "leaves what is not vt's" "./usr/lib/empty ./usr/share/vt/models/mine.net " \
	"$(cd "$d" && find . ! -type d -o -type d -empty | sort | tr '\n' ' ')"
rm -r "${d:?}/usr"
check_exit "make install, elsewhere" 0 quiet_make install DESTDIR="$d" PREFIX=/opt/vt BINDIR=/opt/bin MANDIR=/man
check "there" test -x "$d/opt/bin/vt-train" -a -f "$d/man/man1/vt-train.1" -a -f "$d/opt/vt/share/vt/models/tsm_r50.net"
check_exit "make uninstall, elsewhere" 0 quiet_make uninstall DESTDIR="$d" PREFIX=/opt/vt BINDIR=/opt/bin MANDIR=/man
check_same "leaves nothing" "" "$(ls -A "$d")"

# ---- another PREFIX builds nothing anew ----

# flags SETTING...: what objects depend on, under these settings
flags() {
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s BUILD="$T/build" "$@" "$T/build/flags" 2>/dev/null
	cat "$T/build/flags"
}
plain=$(flags PREFIX=/usr/local)
check_same "another PREFIX compiles as before" "$plain" "$(flags PREFIX=/usr)"
check_same "with its folders given too" "$plain" "$(flags PREFIX=/x BINDIR=/y/bin DATADIR=/y/share)"
check "but a DATADIR elsewhere is compiled in" sh -c \
	'case $1 in *\"/usr/share/vt\"*) ;; *) exit 1 ;; esac' sh "$(flags PREFIX=/opt/vt DATADIR=/usr/share)"
plan
