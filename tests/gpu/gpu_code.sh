#!/bin/sh
# The machine code of the kernels bound by memory bandwidth, compiled for sm_90:
# registers, spills, 16-byte stores and instructions must stay within the bounds of
# tests/gpu/code.tsv.  The test needs nvcc but no GPU; counting instructions also
# needs cuobjdump.
# tests/run: weight 12
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || skip_all "no CUDA compiler here"
# Compile them like the Makefile does.
flags=$(sed -n 's/^NVCCFLAGS *=\(.*\) -lineinfo.*/\1/p' Makefile)
[ -n "$flags" ] || skip_all "no flags in the Makefile"
# shellcheck disable=SC2016
printf '%s\n' norm rows image | FLAGS=$flags T=$T xargs -P 2 -I{} sh -c 'mkdir "$T/{}" &&
	nvcc $FLAGS -arch=sm_90 -Xptxas -v --keep --keep-dir "$T/{}" -cubin -o "$T/{}.cubin" \
	    lib/backend/cuda/{}_body.cu 2>"$T/{}.log" || { cat "$T/{}.log" >&2; rm -f "$T/{}.cubin"; }'
for f in norm rows image; do
	check "${f}_body.cu is compiled" test -s "$T/$f.cubin"
done

# kernel registers spilled: the maximum over all types
awk '/Compiling entry function/ { n = $0; sub(/.*_Z[0-9]+run_/, "", n)
		n = match(n, /_(f32|bf16|f16)[0-9]/) ? substr(n, 1, RSTART - 1) : n }
	/spill stores/ { for (i = 1; i <= NF; i++) if ($(i + 1) == "bytes" && $(i + 2) == "spill" && $i > s[n]) s[n] = $i + 0 }
	/Used [0-9]+ registers/ { for (i = 1; i < NF; i++) if ($i == "Used" && $(i + 1) > r[n]) r[n] = $(i + 1) + 0 }
	END { for (n in r) print n, r[n], s[n] + 0 }' "$T"/*.log | sort >"$T/registers"
# kernel stores: the minimum over all types of the 16-byte stores
awk '/\.entry/ { n = $0; sub(/.*_Z[0-9]+run_/, "", n); match(n, /_(f32|bf16|f16)[0-9]/)
		t = substr(n, RSTART, RLENGTH); n = substr(n, 1, RSTART - 1); c[n t] += 0; of[n t] = n }
	/st\.global\.v4/ { c[n t]++ }
	END { for (k in c) if (!(of[k] in few) || c[k] < few[of[k]]) few[of[k]] = c[k]
		for (n in few) print n, few[n] }' "$T"/*/*.ptx | sort >"$T/stores"

# above FILE COLUMN: print the kernels whose value exceeds that of the table
above() {
	grep -v '^#' tests/gpu/code.tsv | awk -v c="$2" 'NR == FNR { v[$1] = $2; if (c == 3) v[$1] = $3; next }
		!($1 in v) { print $1 " is missing" } v[$1] > $c { print $1 ": " v[$1] " (at most " $c ")" }' "$1" -
}
check_same "no kernel uses more registers than the table allows" "" "$(above "$T/registers" 2)"
check_same "no kernel spills more bytes than the table allows" "" "$(above "$T/registers" 3)"
check_same "each kernel that writes vectors has the 16-byte stores of the table" "" \
	"$(grep -v '^#' tests/gpu/code.tsv | awk 'NR == FNR { v[$1] = $2; next }
		v[$1] < $4 { print $1 ": " v[$1] + 0 " (at least " $4 ")" }' "$T/stores" -)"
if command -v cuobjdump >/dev/null; then
	for f in norm rows image; do
		cuobjdump --dump-sass "$T/$f.cubin"
	done | awk '/Function :/ { n = $0; sub(/.*_Z[0-9]+run_/, "", n); match(n, /_(f32|bf16|f16)[0-9]/)
			t = substr(n, RSTART, RLENGTH); n = substr(n, 1, RSTART - 1); of[n t] = n }
		/^ +\/\*[0-9a-f]+\*\/ / { c[n t]++ }
		END { for (k in c) if (c[k] > m[of[k]]) m[of[k]] = c[k]
			for (n in m) print n, m[n] }' | sort >"$T/instructions"
	check_same "no kernel has more instructions than the table allows" "" "$(above "$T/instructions" 5 | sed 's/ is missing//')"
else
	skip "no kernel has more instructions than the table allows" "no CUDA disassembler here"
fi
plan
