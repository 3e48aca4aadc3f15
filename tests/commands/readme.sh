#!/bin/sh
# README.md: each block that a reader would paste runs unchanged, in order, in
# one folder next to a few small videos. make install installs below DESTDIR.
# tests/run: weight 20
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
root=$PWD
unset VT_SHARE_DIR

# ---- the blocks ----

# A block is a sequence of lines that are indented by four spaces.
awk -v to="$T/block." '
	/^    / { if (!inside) f = to sprintf("%02d", ++n); inside = 1; print substr($0, 5) >f; next }
	{ inside = 0 }' README.md
ls "$T"/block.* >"$T/blocks"
check "README has at least 6 blocks" test "$(wc -l <"$T/blocks")" -ge 6
check_same "no line of README is wider than 80 columns" "" "$(awk 'length > 80' README.md | grep -v '^|')"

# Small pictures, because a README is read on slow lines, too.
for f in $(sed -n 's/^!\[.*](\(.*\))$/\1/p' README.md); do
	check "$f: is a PNG below 60 KB" sh -c "head -c 4 '$f' | grep -q PNG && [ \$(wc -c <'$f') -lt 60000 ]"
done
check "README has at least one picture" test -n "${f:-}"

# Blocks with make check or make demo are tested elsewhere, or take too long.
elsewhere() {
	grep -qE 'make (.*[ ])?(check|demo)' "$1"
}
blocks=
for b in "$T"/block.*; do
	elsewhere "$b" || blocks="$blocks $b"
done

# ---- the environment of the blocks ----

for part in FFmpeg oneDNN 'Open MPI' cairo; do
	built "$part" || skip_all "built without $part"
done
"$BUILD/motions" "$T/made" 5 1 1 || skip_all "no videos"
mkdir "$T/home" "$T/bin" && ln -s ../made/train "$T/home/videos" && ln -s "$root/man" "$T/home/man"
set -- "$T"/made/test/*/* && ln -s "$1" "$T/home/new.mp4"
# Never rebuild vt. Install below DESTDIR, and run the installed commands.
cat >"$T/bin/make" <<WRAPPER
#!/bin/sh
exec env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS DEPS=no "$(command -v make)" --no-print-directory \\
	-C "$root" BUILD="$BUILD" DESTDIR="$T/dest" -o all "\$@"
WRAPPER
# Make fewer videos than README does.
mkdir "$T/home/build"
cat >"$T/home/build/motions" <<WRAPPER
#!/bin/sh
exec "$BUILD/motions" "\$1" 3 1 1
WRAPPER
chmod +x "$T/bin/make" "$T/home/build/motions"
PATH="$T/bin:$T/dest/usr/local/bin:$(echo "$PATH" | sed "s|^$BUILD:||")"
# Three epochs of small crops suffice, and a pager would wait for a key.
cat >"$T/bin/vt-schedule" <<WRAPPER
#!/bin/sh
exec "$T/dest/usr/local/bin/vt-schedule" "\$@" --epochs=3 --milestones=2 --frames=4 --crop=32
WRAPPER
cat >"$T/bin/vt-train" <<WRAPPER
#!/bin/sh
case " \$* " in *" --schedule"* | *" --export"*) ;; *) set -- "\$@" --epochs=1 --frames=4 --crop=32 ;; esac
exec "$T/dest/usr/local/bin/vt-train" "\$@"
WRAPPER
chmod +x "$T/bin/vt-schedule" "$T/bin/vt-train"
MANPAGER=cat
export PATH MANPAGER

# ---- run the blocks ----

cd "$T/home" || exit 2
# The first block shows the use, before the one that installs.
check_exit "make install" 0 make install
for b in $blocks; do
	if grep -q '^man ' "$b" && ! command -v man >/dev/null; then
		skip "$(cat "$b")" "no man"
		continue
	fi
	check_exit "$(head -1 "$b" | tr '#' ' ')..." 0 bash -euo pipefail "$b" </dev/null
done

for made in quick-run/final.safetensors quick.png run/data/manifest.json run/final.safetensors confusion.png runs.png; do
	check "the blocks made $made" test -s $made
done
check_same "the blocks ran the installed commands" "$T/dest/usr/local/bin/vt-eval" \
	"$(command -v vt-eval)"
plan
