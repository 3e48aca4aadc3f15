#!/bin/sh
# STATIC=yes: the commands need only libc and the libraries of a GPU, and run in
# a root directory that contains nothing else.
# tests/run: weight 14
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

# Libraries that a machine with a GPU provides.
given='linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libcudart|libcudnn.*|libcublas.*|libnccl|libnvrtc.*'
# needs PROGRAM: print name and file of each library that it loads.
needs() {
	ldd "$1" | sed -nE 's/^[[:space:]]*([^ ]*)( => ([^ ]*))? .*/\1 \3/p'
}
# others PROGRAM: print the libraries that it must not need.
others() {
	needs "$1" | sed 's/.*\///' | sed -E 's/^([^ ]*).*/\1/' | grep -vE "^($given)[-.]" || true
}

# Use this build if it is static, else make a static one.
static=$BUILD
if [ -n "$(others "$BUILD/vt-train")" ]; then
	static=$T/build
	# Most objects are the same in both builds.
	mkdir "$static"
	cp -Rp "$BUILD/lib" "$BUILD/cmd" "$BUILD/share" "$BUILD/flags" "$BUILD/parts" "$static/"
	[ ! -f "$BUILD/nvcc-flags" ] || cp -p "$BUILD/nvcc-flags" "$static/"
	mkdir "$static/tests" && cp -Rp "$BUILD/tests/gpu" "$BUILD/tests/unit" "$static/tests/"
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -j"$(nproc)" STATIC=yes BUILD="$static" all \
		>"$T/out" 2>"$T/err" || diag "$(tail -5 "$T/err")"
	! cmp -s "$BUILD/flags" "$static/flags" ||
		check "the static build compiles few objects again" test "$(grep -c "^[a-z]* $static/.*\.o\$" "$T/out")" -lt 20
fi
for command in vt-extract vt-pack vt-schedule vt-train vt-eval vt-bench; do
	check "the static build has $command" test -x "$static/$command"
	check_same "$command needs no other library" '' "$(others "$static/$command")"
done
built oneDNN && [ "$static" != "$BUILD" ] && check "a plain build needs other libraries, so the check can fail" test -n "$(others "$BUILD/vt-train")"

check_message "CUDA_ARCHS below 70 ends with 2" 2 'CUDA_ARCHS: 60 \(wanted 70 or more\)' \
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -n CUDA_ARCHS='60 80' BUILD="$T/none" all
for part in DNNL MPI FFMPEG CAIRO; do
	check_message "STATIC=yes with $part=yes is refused" 2 "$part=yes has no static archives" \
		env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make STATIC=yes $part=yes BUILD="$T/none" all
done

# CC=false: no header is found.
check_exit "make deps with cuda and nccl missing ends with 1" 1 env CC=false DEPS=no share/deps cuda nccl
check_says "make deps with cuda and nccl missing: the message names NVIDIA's package" 'libnccl-dev \(nccl\.h\)'

# ---- an empty root directory ----

# bring FILE DIR: put FILE, if it exists, into DIR of the root, as a hard link
# if possible.
bring() {
	[ -f "$1" ] && [ ! -e "$T/root$2/${1##*/}" ] || return 0
	mkdir -p "$T/root$2"
	cp -Ll "$1" "$T/root$2/" 2>/dev/null || cp -L "$1" "$T/root$2/"
}
# bring_needs PROGRAM DIR: put its libraries into DIR of the root, or without
# DIR into their own folders.
bring_needs() {
	needs "$1" | while read -r name file; do
		case $name in /*) file=$name ;; esac
		bring "$file" "${2:-${file%/*}}"
	done
}
mkdir "$T/root"
for command in "$static"/vt-*; do
	[ -f "$command" ] || continue
	cp "$command" "$T/root/"
	bring_needs "$command"
done
# Libraries that are opened at run time, and their own libraries.
ldconfig -p | sed -nE 's/.*(libcudnn.*|libcublasLt|libnccl)\.so\.[0-9]+ .*=> //p' >"$T/opened"
while read -r file; do
	bring "$file" /usr/lib
	bring_needs "$file" /usr/lib
done <"$T/opened"
inside="chroot $T/root"
[ "$(id -u)" = 0 ] || inside="unshare -r chroot $T/root"
if $inside /vt-train --version >"$T/out" 2>"$T/err" || ! grep -qE 'Operation not permitted|unshare' "$T/err"; then
	check_exit "vt-train runs in the empty root" 0 $inside /vt-train --version
	check_same "vt-train in the empty root prints its version" \
		"$("$static/vt-train" --version)" "$(cat "$T/out")"
	if built CUDA; then
		check_same "vt-train in the empty root has the libraries of a GPU" \
			"$(vt-train --version -v | grep -o 'cuda (.*)')" \
			"$($inside /vt-train --version -v | grep -o 'cuda (CUDA .*, cuDNN .*, cuBLASLt [^)]*)')"
	else
		skip "vt-train in the empty root has the libraries of a GPU" "no CUDA in this build"
	fi
	check_exit "vt-schedule makes a schedule in the empty root" 0 \
		$inside /vt-schedule --policy=constant --batch=8 --frames=8 --crop=112 \
		--epochs=2
else
	skip "vt-train runs in the empty root" "cannot change the root here"
fi

# ---- the archive for a machine with a GPU, in an empty root directory ----

case $("$static/vt-train" --version) in *'Built with:'*CUDA*NCCL*) cuda=yes ;; *) cuda=no ;; esac
check_exit "carry packs an archive" 0 env -u MAKELEVEL -u MFLAGS -u MAKEFLAGS CUDA=$cuda CUDA_ARCHS='80 90' \
	BUILD="$static" tests/gpu/contact/carry "$T/vt-gpu.tar.gz"
check "the archive has at most 40 MiB" test "$(wc -c <"$T/vt-gpu.tar.gz")" -le $((40 << 20))
rm -rf "$T/root"
mkdir -p "$T/root/tmp" "$T/root/dev"
mknod -m 666 "$T/root/dev/null" c 1 3 2>/dev/null || : >"$T/root/dev/null"
for tool in sh awk basename cat cmp cp cut date find grep head ls mkdir mktemp mv nproc paste rm sed setsid sleep sort tail \
	tee tr uname wc; do
	file=$(command -v $tool)
	bring "$file" /bin
	bring_needs "$file"
done
tar xzf "$T/vt-gpu.tar.gz" -C "$T/root"
inside="env -u BUILD $inside"
bring_needs "$T/root/vt-gpu/build/program"
if $inside /bin/sh -c : 2>/dev/null; then
	check_exit "tests/gpu/contact/lease runs in the empty root" 0 \
		$inside /vt-gpu/tests/gpu/contact/lease -d ref -o /results aside exact op fast train
	check_exit "a mode of PyTorch fails without python3" 1 $inside /vt-gpu/tests/gpu/contact/lease -d ref -o /results torch
	check_says "the message names python3" 'FAILED: tsm_tiny at 2x2x24 in fp32/eager: .*python3'
	check_exit "the program runs a part by its name" 0 $inside /vt-gpu/build/program vt-train --version
	check_same "the part prints its version" "$("$static/vt-train" --version)" "$(cat "$T/out")"
	check_exit "the program refuses an unknown part" 2 $inside /vt-gpu/build/program vt-eval
	check_says "the message lists the parts of the program" 'NAME one of vt_train vt_bench '
else
	skip "tests/gpu/contact/lease runs in the empty root" "cannot change the root here"
fi
plan
