#!/bin/sh
# STATIC=yes: the commands need nothing but libc and the libraries of a GPU, and
# run in a root that has only these.
# tests/run: weight 45
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

# What a machine with a GPU has.
given='linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libcudart|libcudnn.*|libcublas.*|libnccl|libnvrtc.*'
# needs PROGRAM: the libraries that it loads, a line each: name, file
needs() {
	ldd "$1" | sed -nE 's/^[[:space:]]*([^ ]*)( => ([^ ]*))? .*/\1 \3/p'
}
# others PROGRAM: those of them that it must not need
others() {
	needs "$1" | sed 's/.*\///' | sed -E 's/^([^ ]*).*/\1/' | grep -vE "^($given)[-.]" || true
}

# This build if it is one; else one of its own.
static=$BUILD
if [ -n "$(others "$BUILD/vt-train")" ]; then
	static=$T/build
	# What nvcc makes is the same for both.
	if built CUDA; then
		mkdir -p "$static/lib/backend/cuda"
		cp -p "$BUILD/nvcc-flags" "$static/"
		cp -p "$BUILD"/lib/backend/cuda/*_body.[do] "$static/lib/backend/cuda/"
	fi
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -j"$(nproc)" STATIC=yes BUILD="$static" CFLAGS=-O0 all \
		>"$T/out" 2>"$T/err" || diag "$(tail -5 "$T/err")"
fi
for command in vt-extract vt-pack vt-schedule vt-train vt-eval vt-bench; do
	check "$command is there" test -x "$static/$command"
	check_same "and needs no other library" '' "$(others "$static/$command")"
done
built oneDNN && [ "$static" != "$BUILD" ] && check "the check sees what a plain build needs" test -n "$(others "$BUILD/vt-train")"

check_exit "devices before sm_70 are refused" 2 env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -n CUDA_ARCHS='60 80' \
	BUILD="$T/none" all
check_says "by number" 'CUDA_ARCHS: 60 \(wanted 70 or more\)'
for part in DNNL MPI FFMPEG CAIRO; do
	check_exit "STATIC=yes with $part=yes is refused" 2 env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make STATIC=yes $part=yes \
		BUILD="$T/none" all
	check_says "with what is missing" "$part=yes has no static archives"
done

# CC=false: no header is found.
check_exit "what no distribution has is named" 1 env CC=false DEPS=no share/deps cuda nccl
check_says "by the packages of its maker" 'libnccl-dev \(nccl\.h\)'

# ---- an empty root ----

# bring FILE DIR: FILE, if it is one, to DIR in the root; linked where it can be
bring() {
	[ -f "$1" ] && [ ! -e "$T/root$2/${1##*/}" ] || return 0
	mkdir -p "$T/root$2"
	cp -Ll "$1" "$T/root$2/" 2>/dev/null || cp -L "$1" "$T/root$2/"
}
# bring_needs PROGRAM DIR: what it loads, to DIR or, without one, where it is here
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
# What is opened when it is needed, and what that needs.
ldconfig -p | sed -nE 's/.*(libcudnn.*|libcublasLt|libnccl)\.so\.[0-9]+ .*=> //p' >"$T/opened"
while read -r file; do
	bring "$file" /usr/lib
	bring_needs "$file" /usr/lib
done <"$T/opened"
inside="chroot $T/root"
[ "$(id -u)" = 0 ] || inside="unshare -r chroot $T/root"
if $inside /vt-train --version >"$T/out" 2>"$T/err" || ! grep -qE 'Operation not permitted|unshare' "$T/err"; then
	check_exit "vt-train runs there" 0 $inside /vt-train --version
	check_same "as the version that it is" "$("$static/vt-train" --version)" "$(cat "$T/out")"
	if built CUDA; then
		check_same "and knows the libraries of a GPU" "$(vt-train --version -v | grep -o 'cuda (.*)')" \
			"$($inside /vt-train --version -v | grep -o 'cuda (CUDA .*, cuDNN .*, cuBLASLt [^)]*)')"
	else
		skip "and knows the libraries of a GPU" "no CUDA in this build"
	fi
	check_exit "and vt-schedule makes a schedule" 0 $inside /vt-schedule --policy=constant --batch=8 --frames=8 --crop=112 \
		--epochs=2
else
	skip "vt-train runs there" "cannot change the root here"
fi

# ---- the archive for a machine with a GPU, in an empty root ----

flags=
[ "$static" = "$BUILD" ] || flags=' -- CFLAGS=-O0'
case $("$static/vt-train" --version) in *'Built with:'*CUDA*NCCL*) cuda=yes ;; *) cuda=no ;; esac
check_exit "carry packs an archive" 0 env -u MAKELEVEL -u MFLAGS MAKEFLAGS="$flags" CUDA=$cuda CUDA_ARCHS='80 90' \
	BUILD="$static" tests/gpu/contact/carry "$T/vt-gpu.tar.gz"
check "of at most 40 MiB" test "$(wc -c <"$T/vt-gpu.tar.gz")" -le $((40 << 20))
rm -rf "$T/root"
mkdir -p "$T/root/tmp" "$T/root/dev"
mknod -m 666 "$T/root/dev/null" c 1 3 2>/dev/null || : >"$T/root/dev/null"
for tool in sh awk basename cat cmp cp cut date find grep head ls mkdir mktemp mv nproc paste rm sed setsid sleep sort tail \
	tee timeout tr uname wc; do
	file=$(command -v $tool)
	bring "$file" /bin
	bring_needs "$file"
done
tar xzf "$T/vt-gpu.tar.gz" -C "$T/root"
inside="env -u BUILD $inside"
bring_needs "$T/root/vt-gpu/build/program"
if $inside /bin/sh -c : 2>/dev/null; then
	check_exit "right runs there" 0 $inside /vt-gpu/tests/gpu/contact/right -d ref -o /right aside exact op
	check_exit "fast runs there" 0 $inside /vt-gpu/tests/gpu/contact/fast -d ref -o /fast
	check_exit "train runs there" 0 $inside /vt-gpu/tests/gpu/contact/train -d ref -o /train
	check_exit "torch asks for PyTorch" 2 $inside /vt-gpu/tests/gpu/contact/torch -d ref -o /torch
	check_says "by name" 'python3 has no PyTorch'
	check_exit "a part of the program is called by name" 0 $inside /vt-gpu/build/program vt-train --version
	check_same "as the version that it is" "$("$static/vt-train" --version)" "$(cat "$T/out")"
	check_exit "unknown parts are refused" 2 $inside /vt-gpu/build/program vt-eval
	check_says "with those that there are" 'NAME one of vt_train vt_bench '
else
	skip "right runs there" "cannot change the root here"
fi
plan
