#!/bin/sh
# make install puts every file in its place, the commands run from wherever they
# were put, and make uninstall leaves nothing.
# tests/run: weight 12
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
root=$PWD
unset VT_SHARE_DIR
d="$T/a root"

# Never rebuild vt (-o all), because other tests run it.
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
for f in share/models/*.net share/recipes/*.recipe share/schedules/*.tsv share/weights/*.tsv share/flips/*.tsv share/clusters/*.tsv \
	share/classes/*.txt share/examples/* share/python/*.py; do
	[ -f "$f" ] && echo "./usr/share/vt/${f#share/}"
done >>"$T/wanted"
echo ./usr/share/vt/NEWS.md >>"$T/wanted"
echo ./usr/share/zsh/site-functions/_vt >>"$T/wanted"

check_same "six commands are installed" 6 "$(grep -c usr/bin/ "$T/wanted")"
check_exit "make install" 0 quiet_make install DESTDIR="$d" PREFIX=/usr
check_same "exactly the expected files are installed" "$(sort "$T/wanted")" "$(files "$d")"
check_same "only the commands are executable" "$(grep usr/bin/ "$T/wanted" | sort)" \
	"$(cd "$d" && find . -type f -perm -u+x | sort)"
check_same "all users can read the files and folders" \
	"" "$(find "$d" -type f ! -perm 644 ! -perm 755; find "$d" -type d ! -perm 755)"
check "the installed shared files equal those of the tree" \
	sh -c 'for f in "$1"/usr/share/vt/NEWS.md "$1"/usr/share/vt/*/*; do cmp "$f" "share/${f#*/usr/share/vt/}" || exit 1; done' sh "$d"
check_exit "make install again" 0 quiet_make install DESTDIR="$d" PREFIX=/usr
check_same "make install again changes no file" "$(sort "$T/wanted")" "$(files "$d")"

# named: print the files and folders of vt that the installed pages name, each
# once.
named() {
	sed -n 's/^\.\(It \)\{0,1\}Pa \(\/[^ ]*\/vt\/[^ ]*\).*/\2/p' "$d"/usr/share/man/man*/* | sort -u
}
check_same "the installed manual names no other prefix" \
	"" "$(grep -l /usr/local/share "$d"/usr/share/man/man*/*)"
check "the installed manual names files below its prefix" test "$(named | grep -c '^/usr/share/vt/')" -ge 8
check_same "the files that the installed manual names exist" \
	"" "$(named | while read -r f; do [ -e "$d$f" ] || echo "$f"; done)"

if command -v dpkg-query >/dev/null; then
	check_exit "make deps with nothing missing" 0 env DEPS=no DEPS_TELL=yes share/deps
	check_same "make deps says that nothing is missing" "Nothing is missing." "$(cat "$T/out")"
fi

# ---- number of parallel jobs ----

# told [GOAL]...: print the -j that make received or set itself.
told() {
	printf 'all:\n\t+@echo "jobs: $(MAKEFLAGS)"\nclean install: all\n' |
		env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -n -f Makefile -f - BUILD="$BUILD" "$@" 2>/dev/null |
		sed -n 's/^jobs: [^-]*\(-j[0-9]*\).*/\1/p'
}
check_same "make alone runs as many jobs as processors" "-j$(nproc)" "$(told)"
check_same "make install runs as many jobs as processors" "-j$(nproc)" "$(told install)"
check_same "-j on the command line overrides the number of jobs" -j3 "$(told -j3)"
check_same "MAKEFLAGS in the environment overrides the number of jobs" -j3 "$(MAKEFLAGS=-j3; export MAKEFLAGS
	printf 'all:\n\t+@echo "jobs: $(MAKEFLAGS)"\n' | env -u MAKELEVEL make -n -f Makefile -f - BUILD="$BUILD" 2>/dev/null |
	sed -n 's/^jobs: [^-]*\(-j[0-9]*\).*/\1/p')"
check_same "several goals are made one after the other" "" "$(told clean install)"

# ---- run ----

networks=$(cd share/models && ls -- *.net | LC_ALL=C sort | sed 's/\.net$//' | tr '\n' ' ' | sed 's/ $//')

# runs WHERE BIN: check that the commands in BIN find the files installed with
# them.
runs() {
	cd / || exit 2
	for c in "$2"/vt-*; do
		check_exit "$1: ${c##*/} runs" 0 "$c" --version
	done
	check_exit "$1: a network is found" 0 "$2/vt-bench" op --model=tsm_tiny --device=ref --shape=1x2x32 --warmup=0 --runs=1
	check_exit "$1: an unknown network ends with 2" 2 "$2/vt-bench" op --model=none
	check_says "$1: the message shows where networks are installed" \
		"no none in models \(.*/models\"? has all $(echo $networks | wc -w)"
	check_message "$1: VT_SHARE_DIR has precedence" 2 "share/models/tsm_tiny.net:" \
		env VT_SHARE_DIR="$T/share" "$2/vt-bench" op --model=tsm_tiny
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
check_exit "a command runs through a symbolic link" 0 \
	"$T/vt-bench" op --model=tsm_tiny --device=ref --shape=1x2x32 --warmup=0 --runs=1
mv "$T/moved/there" "$d/usr"

# ---- uninstall ----

mkdir -p "$d/usr/lib/empty" "$d/usr/share/vt/models"
echo mine >"$d/usr/share/vt/models/mine.net"
check_exit "make uninstall" 0 quiet_make uninstall DESTDIR="$d" PREFIX=/usr
check_same "make uninstall leaves files and folders that are not vt's" \
	"./usr/lib/empty ./usr/share/vt/models/mine.net " \
	"$(cd "$d" && find . ! -type d -o -type d -empty | sort | tr '\n' ' ')"
rm -r "${d:?}/usr"
check_exit "make install with PREFIX, BINDIR and MANDIR" 0 \
	quiet_make install DESTDIR="$d" PREFIX=/opt/vt BINDIR=/opt/bin MANDIR=/man
check "files are in PREFIX, BINDIR and MANDIR" \
	test -x "$d/opt/bin/vt-train" -a -f "$d/man/man1/vt-train.1" -a -f "$d/opt/vt/share/vt/models/tsm_r50.net"
check_exit "make uninstall with PREFIX, BINDIR and MANDIR" 0 \
	quiet_make uninstall DESTDIR="$d" PREFIX=/opt/vt BINDIR=/opt/bin MANDIR=/man
check_same "make uninstall leaves nothing there" "" "$(ls -A "$d")"

# ---- another PREFIX compiles nothing again ----

# settings SETTING...: print the files of settings, on which objects depend, with these
# settings of make.
settings() {
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s BUILD="$T/build" "$@" "$T/build/flags" "$T/build/parts" 2>/dev/null
	settings_of "$T/build"
}
plain=$(settings PREFIX=/usr/local)
check_same "another PREFIX does not change the flags" "$plain" "$(settings PREFIX=/usr)"
check_same "BINDIR and DATADIR below one prefix do not change the flags" \
	"$plain" "$(settings PREFIX=/x BINDIR=/y/bin DATADIR=/y/share)"
check "a DATADIR elsewhere is compiled in" sh -c \
	'case $1 in *\"/usr/share/vt\"*) ;; *) exit 1 ;; esac' sh "$(settings PREFIX=/opt/vt DATADIR=/usr/share)"

# ---- the version ----

# A small copy of the tree, and a fake compiler that records its outputs.
tree=$T/tree
mkdir -p "$tree/lib" "$tree/tests" && cp Makefile "$tree" && cp tests/build.mk "$tree/tests" && cp -r lib/base "$tree/lib"
cat >"$T/cc" <<-'CC'
	#!/bin/sh
	for a; do
		[ "$last" != -o ] || { echo "$a" >>"${0%/*}/compiled" && : >"$a"; }
		last=$a
	done
CC
chmod +x "$T/cc"
# builds [SETTING...]: build it, and list the new objects in $T/compiled.
builds() {
	rm -f "$T/compiled"
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u GIT_DIR make -s -C "$tree" BUILD=b CC="$T/cc" FFMPEG=no CAIRO=no \
		MPI=no DNNL=no CUDA=no NCCL=no "$@" b/libvt.a >/dev/null 2>"$T/err" || diag "$(head -5 "$T/err")"
}
release=$(sed -n 's/^RELEASE = //p' Makefile)
builds
check_same "without a repository the version is the release" "$release" "$(cat "$tree/b/version")"
check "the first build compiles all objects" test "$(wc -l <"$T/compiled")" -gt 20
builds DNNL=yes
check_same "another part compiles only the objects that read which parts there are" \
	"b/lib/base/option_print.o b/lib/base/share.o" "$(LC_ALL=C sort "$T/compiled" | xargs)"
builds CFLAGS=-O1
check "other flags compile all objects" test "$(wc -l <"$T/compiled")" -gt 20
builds
if command -v git >/dev/null; then
	commit() {
		git -C "$tree" -c user.name=t -c user.email=t@localhost -c commit.gpgsign=false commit -qam "$1"
	}
	mkdir "$T/above" && mv "$tree" "$T/above" && git -C "$T/above" init -q && tree=$T/above/tree
	builds
	check_same "a repository above the tree does not change the version" \
		"$release" "$(cat "$tree/b/version")"
	check "a repository above the tree compiles nothing again" test ! -e "$T/compiled"
	echo b >"$tree/.gitignore"
	git -C "$tree" init -q && git -C "$tree" add . && commit one
	builds
	check_same "in a repository the version has the commit" \
		"$release+$(git -C "$tree" rev-parse --short=12 HEAD)" \
		"$(cat "$tree/b/version")"
	check_same "a new version compiles one object" b/lib/base/version.o "$(cat "$T/compiled")"
	builds
	check "a second build compiles nothing" test ! -e "$T/compiled"
	echo "# changed" >>"$tree/Makefile"
	builds
	check_same "a changed file adds -dirty to the version" \
		"$release+$(git -C "$tree" rev-parse --short=12 HEAD)-dirty" \
		"$(cat "$tree/b/version")"
	commit two
	builds
	check_same "another commit changes the version and compiles one object" \
		"$release+$(git -C "$tree" rev-parse --short=12 HEAD) b/lib/base/version.o" \
		"$(cat "$tree/b/version" "$T/compiled" | tr '\n' ' ' | sed 's/ $//')"
else
	skip "the version in a repository" "no git"
fi
plan
