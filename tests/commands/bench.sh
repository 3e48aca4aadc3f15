#!/bin/sh
# vt-bench: every sub-test runs, its rows are well-formed, and a wrong result or
# an unmet requirement fails. Wrong usage prints nothing. Speed is never tested.
# tests/run: weight 28
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

"$MAKESET" "$T/train" 12 8 64 48 1 || skip_all "no test set"
device=cpu
built oneDNN || device=ref
have_video=no
if built FFmpeg && command -v ffmpeg >/dev/null; then
	have_video=yes
	ffmpeg -v error -y -nostdin -f lavfi -i testsrc2=s=96x64:r=25:d=1 -c:v libx264 -pix_fmt yuv420p \
	    -movflags +faststart "$T/a.mp4" </dev/null
fi
have_mpi=no
! have_mpi || have_mpi=yes

quick='--runs=3 --warmup=1'
# well_formed FILE NAME: succeed if FILE is a table of rows NAME/..., each once,
# in order.
well_formed() {
	awk -F'\t' -v name="$2" '
		NR == 1 { if ($0 !~ /^# .*host: Linux .*processor: .*program: vt /) bad = "machine line" ; next }
		/^# / { next }
		/^#/ { if ($0 != "#name\tunit\tn\tmin\tmedian\tp99\tnote") bad = "header"; head++; next }
		{ rows++ }
		NF != 7 { bad = NF " cells: " $0 }
		index($1, name "/") != 1 { bad = "name: " $0 }
		seen[$1]++ { bad = "twice: " $1 }
		$2 == "" || $3 !~ /^[0-9]+$/ || $3 < 1 { bad = "unit or n: " $0 }
		$4 + 0 > $5 + 0 || $5 + 0 > $6 + 0 { bad = "order: " $0 }
		$4 !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ || $6 !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ { bad = "number: " $0 }
		END { if (bad) print bad; exit bad != "" || rows == 0 || head != 1 }' "$1" >"$T/why"
}
# names: print the row names of the last check_exit.
names() {
	grep -v '^#' "$T/out" | cut -f1
}
# median NAME: print the median of a row of the last check_exit.
median() {
	awk -F'\t' -v name="$1" '$1 == name { print $5 }' "$T/out"
}

# A vt-bench whose results are wrong (tests/tools/spoil).
spoiled=$BUILD/tests/spoil/vt-bench
# try SUBTEST ARGUMENT...: run it as a table, as JSON, with wrong results, and
# without verification.
try() {
	sub=$1
	shift
	# shellcheck disable=SC2086
	{
	check_message "$sub spoiled: a wrong result ends with 1" 1 'wrong answer: ' "$spoiled" "$sub" $quick "$@"
	check_exit "$sub spoiled, with --no-verify" 0 "$spoiled" "$sub" $quick --no-verify "$@"
	check_exit "$sub as JSON Lines" 0 vt-bench "$sub" $quick --json -v "$@"
	check "$sub: the JSON Lines are valid: machine, figures, summary" jq -se '
	    .[0].type == "machine" and (.[0].processor | length > 0) and
	    .[-1].type == "summary" and .[-1].wrong == 0 and .[-1].checked and
	    (.[1:-1] | length > 0 and all(.type == "figure" and .min <= .median and .median <= .p99 and
	    (.values | length) == .n)) and .[-1].figures == length - 2' "$T/out"
	jq -r 'select(.type == "figure").name' "$T/out" >"$T/json-names"
	check_exit "$sub as a table" 0 vt-bench "$sub" $quick "$@"
	}
	check "$sub: the table is well-formed" well_formed "$T/out" "$sub"
	[ -s "$T/why" ] && diag "$(cat "$T/why")"
	check_same "$sub: table and JSON have the same names" "$(cat "$T/json-names")" "$(names)"
}

# ---- decode ----

if [ $have_video = yes ]; then
	try decode -j2 "$T/a.mp4"
	check_same "decode has a row for decoding and one for extracting" \
		"decode/video/$T/a.mp4 decode/extract/$T/a.mp4" \
	    "$(names | tr '\n' ' ' | sed 's/ $//')"
	check "decode describes the file" grep -q 'h264 yuv420p 96x64, 25 frames' "$T/out"
	head -c "$(($(stat -c%s "$T/a.mp4") * 2 / 3))" "$T/a.mp4" >"$T/cut.mp4"
	check_message "a truncated video ends decode with 1" 1 'cut.mp4: truncated' vt-bench decode --runs=1 "$T/cut.mp4"
	head -c 5000 "$T/train/t-000000.tar" >"$T/none.mp4"
	check_exit "a file that is not a video ends decode with 1" 1 vt-bench decode "$T/none.mp4"
else
	skip "decode of videos" "no FFmpeg"
fi
try decode -j2 --data="$T/train" --images=20 --shape=1x1x32 --shape=1x1x16
check_same "decode has rows for whole pictures and for each side" \
    "decode/jpeg/full decode/jpeg/32 decode/jpeg/32/ratio decode/jpeg/16 decode/jpeg/16/ratio" \
    "$(names | tr '\n' ' ' | sed 's/ $//')"

# ---- loader ----

try loader -j2 --data="$T/train" --shape=4x4x32
check "loader has rows for the stages of its work" sh -c "grep -qP '^loader/4x4x32/resize\tus\t3\t' '$T/out'"
check "loader compares its decoding with libjpeg-turbo" sh -c "grep -q '^loader/4x4x32/jpeg/ratio' '$T/out'"
vt-schedule --policy=long+short --batch=4 --frames=4 --crop=32 --bn-size=2 --epochs=3 --milestones=1 >"$T/s.tsv"
check_exit "loader runs a schedule" 0 \
	vt-bench loader --runs=1 --warmup=0 --data="$T/train" --schedule="$T/s.tsv"
check "loader with a schedule prints a table" well_formed "$T/out" loader
check_same "loader has rows for each stage of the schedule" \
	"$(grep -v '^#' "$T/s.tsv" | cut -f1 | sort -nu | tail -1)" \
    "$(names | sed -n 's|^loader/stage\([0-9]*\)/frames|\1|p' | tail -1)"

# Change a byte in the middle of the first frame, so that its CRC is wrong.
cp -r "$T/train" "$T/bad"
printf '\377' | dd of="$T/bad/t-000000.tar" bs=1 seek=700 conv=notrunc 2>/dev/null
check_message "a damaged frame ends loader with 4" 4 'key s[0-9]*' vt-bench loader --data="$T/bad" --shape=12x8x32
check_exit "a damaged frame ends decode with 4" 4 vt-bench decode --data="$T/bad" --images=100
for place in index footer manifest; do
	damaged_set "$T/train" $place
	check_exit "a damaged $place ends loader with 4" 4 \
		vt-bench loader --data="$T/broken-$place" --shape=12x8x32
done

# ---- op and step ----

try op --device=$device --model=tsm_tiny --shape=1x2x24 --num-classes=5
check "op times forward and backward" \
	sh -c "grep -q '^op/tsm_tiny/1x2x24/layer2.0.conv1/backward/rate	GF/s' '$T/out'"
[ $device = ref ] || check "op names the implementation that oneDNN chose" grep -q 'conv1/forward.*: .*jit' "$T/out"
check_same "the totals of all kinds add up" \
	"$(awk -F'\t' '$1 ~ /\/total\// { s += $5 } END { printf "%.3g", s }' "$T/out")" \
    "$(awk -F'\t' '$1 ~ /\/total$/ { printf "%.3g", $5 }' "$T/out")"
try step --device=$device --model=tsm_tiny --shape=2x2x24 --num-classes=5 --kinds -j2
check "step --kinds has a row for fused operators" \
	[ "$device" = ref -o "$(names | grep -c '/backward/bn+relu$')" = 1 ]
check "convolutions are not the whole step" awk -F'\t' \
    '$1 ~ /\/other$/ { found = $4 > 0 && $6 < 1 } END { exit !found }' "$T/out"
check_same "two clips of two frames are four images" 2 \
    "$(awk -F'\t' '$1 ~ /images$/ { i = $4 } $1 ~ /clips$/ { c = $4 } END { printf "%.5g", i / c }' "$T/out")"
check_exit "a step in bf16" 0 vt-bench step --device=$device --model=tsm_tiny --shape=2x2x24 --num-classes=5 --runs=1 --precision=bf16
check "a step in bf16 is compared with ref64" grep -q "/difference" "$T/out"
check_exit "operators run in bf16" 0 \
	vt-bench op --device=$device --model=tsm_tiny --shape=1x2x24 --num-classes=5 --runs=1 --precision=bf16
check_exit "step --convs times each convolution" 0 \
	vt-bench step --device=$device --model=tsm_tiny --shape=2x2x24 --convs --runs=3
check "step --convs prints a table" well_formed "$T/out" step
# tsm_tiny has a stem, two convolutions in each of six blocks, and two
# projections.
check_same "step --convs times all 15 convolutions within the step and alone" "15 15 15" \
    "$(for row in inside alone ratio; do names | grep -c "^step/tsm_tiny/2x2x24/conv/[^/]*/$row$"; done | tr '\n' ' ' | sed 's/ $//')"
check "the sum over convolutions is that of its parts, run by run" awk -F'\t' '
    $1 ~ /conv\/[^\/]*\/inside$/ { low += $4; high += $6 } $1 ~ /24\/conv\/inside$/ { found = 1; l = $4; h = $6 }
    END { exit !(found && l >= 0.999 * low && h <= 1.001 * high) }' "$T/out"
check_same "the worst convolutions are sorted" "$(names | grep -c '/conv/worst/')" \
    "$(awk -F'\t' '/\/conv\/worst\// { n += NR == 1 || !last || $5 <= last; last = $5 } END { print n }' "$T/out")"
check_exit "a step with the loader" 0 vt-bench step --device=$device --model=tsm_tiny --shape=2x4x24 --runs=3 \
    --data="$T/train"
check "a step with the loader is compared with one without" \
	sh -c "grep -q '^step/tsm_tiny/2x4x24/data/wait' '$T/out' &&
    grep -q '^step/tsm_tiny/2x4x24/data/ratio' '$T/out'"
check_exit "step takes several shapes" 0 \
	vt-bench step --device=$device --model=tsm_tiny --shape=1x2x24 --shape=1x1x32 --runs=1
check "several shapes print one table" well_formed "$T/out" step
check "only the first shape has a peak of memory" sh -c "grep -q '^step/tsm_tiny/1x2x24/peak' '$T/out' &&
    ! grep -q '^step/tsm_tiny/1x1x32/peak' '$T/out'"
check_exit "a step of more and larger clips" 0 \
	vt-bench step --device=$device --model=tsm_tiny --shape=8x4x64 --runs=1 --no-verify
check "the peak of memory includes the activations" \
	test "$(median step/tsm_tiny/8x4x64/peak)" -gt "$(median step/tsm_tiny/8x4x64/activations)"

# Three different microbatches of 2 clips: 2x16, 4x16 and 4x32.
vt-schedule --policy=long+short --batch=4 --frames=4 --crop=32 --bn-size=2 --epochs=3 --milestones=1 >"$T/s.tsv"
try step --device=$device --model=tsm_tiny --schedule="$T/s.tsv"
check_same "step times each microbatch of a schedule once" \
	"$(grep -v '^#' "$T/s.tsv" | awk '{ print $8 "x" $6 "x" $7 }' | sort -u)" \
    "$(names | sed -n 's|^step/tsm_tiny/\(.*\)/cost$|\1|p' | sort -u)"
check_same "the largest microbatch has cost 1" "1" "$(median step/tsm_tiny/2x4x32/cost)"
check "cost is time per work, relative to the largest" awk -F'\t' '
    { split($7, w, " ") } $1 ~ /\/2x4x32\/step$/ { t = $5; g = w[1] } $1 ~ /\/2x2x16\/step$/ { s = $5; m = w[1] }
    $1 ~ /\/2x2x16\/cost$/ { low = $4; high = $6 } END { exit !(low > 0 && low <= high && t > 0 && s > 0 && g > m) }' "$T/out"

# ---- profile ----

try profile --device=$device --model=tsm_tiny --shape=2x2x24 --num-classes=5
check_same "profile: the gradients are those of the parameters of PyTorch" "" \
	"$(names | sed -n 's|.*/gradient/||p' | grep -v '\.weight$\|\.bias$')"
check_same "profile: running statistics are rows of their own" "$(names | grep -c 'ready/.*running_')" \
	"$(names | grep -c '/statistic/.*\.running_\(mean\|var\)$')"
check "profile: gradients are ready in backward order, the last at the end" awk -F'\t' '
	/\/backward\t/ { end = $5 } /\/ready\// { if ($5 < last) bad = 1; last = $5; n++ }
	END { exit bad || n < 20 || last > 1.0001 * end || last < 0.5 * end }' "$T/out"
check_exit "profile of a schedule with a loader" 0 vt-bench profile --device=$device --model=tsm_tiny \
	--schedule="$T/s.tsv" --data="$T/train" --runs=2 --warmup=0
check_same "profile has a loader row for each microbatch" "$(names | grep -c '/step/p90$')" \
	"$(names | grep -c '/loader$')"
check_exit "profile at an assumed rate" 0 vt-bench profile --model=tsm_r50 --shape=8x8x224 --rate=20
check_same "profile: eight clips at 20 clips/s take 0.4 s" 0.4 "$(median profile/tsm_r50/8x8x224/step)"

check_exit "--ranks does not apply to other sub-tests" 2 vt-bench op --ranks=8

# ---- allreduce ----

try allreduce --min=4 --max=40000 --factor=100
check_same "sizes grow from --min by --factor" "4 400 40000" \
    "$(names | sed -n 's|allreduce/exact/\(.*\)/time|\1|p' | tr '\n' ' ' | sed 's/ $//')"
if [ $have_mpi = yes ]; then
	for ranks in 2 3; do
		check_exit "$ranks ranks run allreduce" 0 \
			mpirun -n $ranks vt-bench allreduce --runs=3 --min=68 --max=100K --factor=40
		check "$ranks ranks print one table" well_formed "$T/out" allreduce
		check "$ranks ranks: the table has the MPI library's sum" \
			grep -q '^allreduce/native/68/time' "$T/out"
		check_exit "$ranks ranks, five microbatches" 0 mpirun -n $ranks vt-bench allreduce --runs=1 --max=4K --vectors=5
		check_message "$ranks ranks: a wrong sum ends with 1" 1 'wrong answer: allreduce/exact/4096' \
			mpirun -n $ranks "$spoiled" allreduce --runs=1 --max=4K
	done
	OMPI_MCA_hwloc_base_binding_policy=none check_exit "two ranks that are not bound run allreduce" 0 \
		mpirun -n 2 vt-bench allreduce --runs=1 --max=4K
	check "unbound ranks are reported to share processors" grep -q '^# 2 ranks, .*shared by ranks' "$T/out"
	check "with shared processors there is no ratio to the library's sum" \
		sh -c "! grep -q /ratio '$T/out' && grep -q 'no ratio' '$T/out'"
	if [ "$(nproc)" -gt 1 ]; then
		OMPI_MCA_hwloc_base_binding_policy=core check_exit "two ranks bound to cores run allreduce" 0 \
			mpirun -n 2 vt-bench allreduce --runs=1 --max=4K
		check "bound ranks have a ratio, and a note on how they are bound" \
			grep -q '^allreduce/4096/ratio.*processors* a rank, its own' "$T/out"
	fi
	for type in fp32 bf16 fp16; do
		check_exit "3 ranks, algorithms in $type" 0 mpirun -n 3 vt-bench allreduce --runs=1 --min=68 --max=100K \
			--factor=40 --algorithm=ring --algorithm=torus:3x1 --algorithm=halving --comm-dtype=$type --overlap
		check "3 ranks, algorithms in $type: one table" well_formed "$T/out" allreduce
	done
	check_same "the table has the requested algorithms" \
		"halving hidden,halving sent,ring hidden,ring sent,torus:3x1 hidden,torus:3x1 sent," \
		"$(sed -nE 's|^allreduce/([^/]*)/68/(hidden\|sent)\t.*|\1 \2|p' "$T/out" | LC_ALL=C sort | tr '\n' ',')"
	check_message "a wrong sum of an algorithm ends with 1" 1 'wrong answer: allreduce/torus/4096' \
		mpirun -n 2 "$spoiled" allreduce --runs=1 --max=4K --algorithm=torus
	check_exit "--tune writes a table for vt-train" 0 \
		mpirun -n 2 vt-bench allreduce --runs=1 --max=4K --tune="$T/tune.tsv"
	check_same "the --tune table has a row for each algorithm" \
		"#ranks hosts exchange bytes algorithm,2 1 fp32 4096 native,2 1 fp32 4096 ring,2 1 fp32 4096 torus,2 1 fp32 4096 halving," \
		"$(cut -f1-5 "$T/tune.tsv" | tr '\t\n' ' ,')"
	check_exit "an unmet figure under mpirun" 1 mpirun -n 2 vt-bench allreduce --runs=1 --max=4K \
	    --require='allreduce/exact/4096/time<=0'
	check_exit "fewer microbatches than ranks end with 2" 2 mpirun -n 3 vt-bench allreduce --vectors=2
	check_same "several ranks: the message on microbatches is printed once" 1 \
		"$(grep -c '^vt-bench: ' "$T/err")"
	check_exit "several ranks: a malformed --require ends with 2" 2 \
		mpirun -n 3 vt-bench allreduce --require=fast
	check_same "several ranks: the message on --require is printed once" 1 \
		"$(grep -c '^vt-bench: ' "$T/err")"
	check_exit "step refuses several ranks" 2 mpirun -n 2 vt-bench step --model=tsm_tiny
else
	skip "several ranks" "no Open MPI"
fi

# ---- requirements ----

sizes='--min=4 --max=4 --runs=1'
# shellcheck disable=SC2086
{
check_exit "a figure that is met" 0 vt-bench allreduce $sizes --require='allreduce/exact/4/sent<=0'
check_exit "and one that is not" 1 vt-bench allreduce $sizes --require='allreduce/exact/4/sent>=1'
check_says "is named" 'allreduce/exact/4/sent: 0 bytes \(required >= 1\)'
check_exit "one of a pattern" 1 vt-bench allreduce $sizes --require='allreduce/*<=1e9' --require='*/time<=0'
check_exit "one of which there is no row" 1 vt-bench allreduce $sizes --require='decode/*>=1'
check_says "is a slip" 'decode/\*: no figure matches this name'
check_exit "JSON counts them" 1 vt-bench allreduce $sizes --json --require='*/sent>=1'
check_same "in the summary" "1 0" "$(jq -r 'select(.type == "summary") | "\(.unmet) \(.wrong)"' "$T/out")"
}

# ---- wrong usage: exit 2, one line and a hint, nothing on standard output ----

wrong() {
	says=$1
	shift
	check_message "wrong: $*" 2 "$says" vt-bench "$@"
	check_same "wrong usage prints nothing on standard output" "" "$(cat "$T/out")"
}
wrong "no sub-test"
wrong "no sub-test speed" speed
wrong "nothing to decode" decode
wrong "no dataset" loader
wrong "step takes no operands" step x.mp4
wrong "2x8 \(wanted clips x frames x side" step --shape=2x8
wrong "not a requirement" step --require=fast
wrong "--schedule does not apply to op" op --schedule=s.tsv
wrong "takes neither --kinds, --convs nor --data" step --schedule=s.tsv --kinds
wrong "--model does not apply to decode" decode --model=tsm_tiny a.mp4
wrong "--threads does not apply to allreduce" allreduce -j2
wrong "--schedule and --shape" loader --data="$T/train" --schedule="$T/s.tsv" --shape=1x1x1
wrong "--algorithm=tree \(wanted exact, native, ring, torus, torus:XxY or halving\)" allreduce --algorithm=tree
wrong "--min=8192 is more than --max=4096" allreduce --min=8K --max=4K
wrong "no tsm_huge in models" step --model=tsm_huge
wrong "no back end abacus" step --device=abacus
wrong "--runs: 0" op --runs=0
wrong "no option --spoilt" op --spoilt
check_exit "a missing dataset ends with 1" 1 vt-bench loader --data="$T/nowhere"
check_exit "a missing schedule ends with 2" 2 vt-bench step --model=tsm_tiny --schedule="$T/nowhere.tsv"
check_same "nothing is printed before the error" "" "$(cat "$T/out")"
check_exit "loader with a missing network ends with 2" 2 vt-bench loader --data="$T/train" --model="$T/nowhere.net"
check_same "loader prints nothing before the error" "" "$(cat "$T/out")"
check_same "TEST --help lists the options of TEST" "--images --short-side" \
	"$(vt-bench decode --help | grep -oE -e '--(images|short-side|kinds|min)\>' | paste -s -d ' ')"
printf 'runs = 1\nthreads = 2\nmodel = tsm_tiny\n' >"$T/conf"
check_exit "a configuration file with other sub-tests' options is accepted" 0 \
	vt-bench allreduce -c "$T/conf" --max=4K
wrong "--threads does not apply to allreduce" allreduce -c "$T/conf" -j2
check_exit "a full disk ends with 1" 1 sh -c 'vt-bench allreduce --max=4K --runs=1 >/dev/full'
check "--version --verbose names the libraries" sh -c 'vt-bench -vV | grep -q "^libraries: libjpeg-turbo"'

# ---- the scripts beside and shift-cost ----

check_exit "tests/bench/beside takes no operands" 2 tests/bench/beside tsm_tiny
check_exit "tests/bench/beside wants at least two threads" 2 tests/bench/beside -j 1
check_exit "tests/bench/shift-cost wants a network with shifts" 2 tests/bench/shift-cost -m tsn_r50
if [ $device = cpu ]; then
	check_exit "tests/bench/beside measures a step next to other processes" 0 \
		tests/bench/beside -j 2 -m tsm_tiny -s 2x2x24 -n 2 -r 2
	check "tests/bench/beside prints a table" \
		sh -c "! grep -v '^#' '$T/out' | awk -F'\t' 'NF != 7 || \$3 != 2 || !(\$4 > 0 && \$4 <= \$5 && \$5 <= \$6)' | grep ."
	check_same "tests/bench/beside has all its rows" \
		"all all/ratio busy busy/ratio halves halves/ratio more more/ratio one wholes wholes/ratio" \
	    "$(names | sed 's|^beside/tsm_tiny/2x2x24/2/||' | sort | tr '\n' ' ' | sed 's/ $//')"
	check_exit "tests/bench/shift-cost measures the temporal shift" 0 \
		tests/bench/shift-cost -j 1 -m tsm_tiny -s 2x2x24 -n 2 -r 2
	check_same "tests/bench/shift-cost has rows with and without shifts" \
		"shift/tsm_tiny/2x2x24/1/with shift/tsm_tiny/2x2x24/1/without shift/tsm_tiny/2x2x24/1/cost" \
	    "$(names | tr '\n' ' ' | sed 's/ $//')"
else
	skip "tests/bench/beside" "no oneDNN"
fi
plan
