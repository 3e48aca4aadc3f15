#!/bin/sh
# make demo, with fewer videos and epochs: it trains and scores both networks, removes
# an earlier demo, and keeps what is not its own.
# tests/run: weight 8
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
for part in FFmpeg oneDNN; do
	built "$part" || skip_all "built without $part"
done
mkdir "$T/few"
for c in "$BUILD"/vt-*; do [ -x "$c" ] && ln -s "$c" "$T/few"; done
cat >"$T/few/motions" <<SHIM
#!/bin/sh
exec "$BUILD/motions" "\$1" 6 2 "\$4"
SHIM
chmod +x "$T/few/motions"
# demo OUT [SETTING...]: run make demo as a user would, but never rebuild vt, because
# other tests run it.
demo() {
	out=$T/$1
	shift
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make --no-print-directory BUILD="$T/few" -o all demo-run OUT="$out" "$@"
}

check_exit "a demo of two epochs" 0 demo "my demo" EPOCHS=2
for net in tsm_tiny tsn_tiny; do
	check "the demo prints top-1 of $net at its end" grep -q "^top-1 of $net: [0-9.]* %" "$T/out"
	check "$net: the table of classes" test -s "$T/my demo/$net-classes.tsv"
done
check "each command is printed" grep -q '^\$ .*vt-schedule --policy=long ' "$T/out"
check_exit "another demo in the same place" 0 demo "my demo" EPOCHS=2
mkdir "$T/mine" && echo keep >"$T/mine/file"
check_exit "a folder of the user" 2 demo mine EPOCHS=2
check_says "the message says so" "OUT=.*/mine is not empty, and no demo made it: give another OUT="
check_same "it stays as it is" keep "$(cat "$T/mine/file")"
for epochs in 0 1 many; do
	check_exit "EPOCHS=$epochs" 2 demo none EPOCHS=$epochs
	check_says "EPOCHS=$epochs: the message" "EPOCHS=$epochs: wanted a number of epochs, from 2"
done
plan
