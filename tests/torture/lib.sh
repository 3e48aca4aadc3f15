# Functions for the long tests of tests/torture, in addition to those of
# tests/lib.sh.  COUNT= sets the number of cases, and SEED= selects them.
COUNT=${COUNT:-200} SEED=${SEED:-1}
FAULT_SO=$BUILD/tests/fault.so
# The fault library must be loaded before a sanitizer's.  The leak checker
# cannot run in a process that is killed.
ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS

# lines <LOG: print the fields of a log or a report that must not differ
lines() {
	jq -c 'if .type == "step" then
			{ type, step, epoch, clips, batch, frames, crop, lr, loss, top1, grad_norm }
		elif .type == "validation" then
			{ type, step, epoch, loss, top1, top5, samples, best }
		elif .type == "start" or .type == "end" then empty
		else del(.seconds, .spent, .cpu) end'
}
# contents DIR: print all names, with a hash of each content
contents() (
	cd "$1" && find . ! -name '.?*' \( -type d -print -o -name '*.jsonl' -o -exec md5sum {} + \)
	for f in *.jsonl */*.jsonl; do
		[ ! -e "$f" ] || echo "$(lines <"$f" 2>&1 | md5sum | cut -d' ' -f1)  ./$f"
	done
)
# result DIR: print what must not differ at the end.  Failed saves may change
# which older checkpoints are left, but not how many.
result() {
	contents "$1" >"$T/contents"
	grep -v '/ckpt-' "$T/contents" | LC_ALL=C sort -k2
	[ "$(grep -c '/ckpt-' "$T/contents")" -le 3 ] || echo "too many checkpoints"
}
# small_run DIR: make sets, a network and schedules for a run of a few steps
small_run() {
	"$BUILD/tests/tools/makeset" "$1/train" 24 6 24 20 1
	"$BUILD/tests/tools/makeset" "$1/val" 8 6 24 20 2
	for n in 8 12 40; do
		vt-schedule --batch=16 --frames=2 --crop=16 --bn-size=4 --epochs=$n --milestones=none -o "$1/s$n.tsv"
	done
	small_net 4 8 0.3 >"$1/net.net"
}
