# two-stream.mk: measure what optical flow adds to RGB on your videos.  The official
# splits of UCF101 or HMDB51, or folds of one list, become a table with the accuracy of
# RGB, of flow, and of both:
#
#   make -f two-stream.mk VIDEOS=UCF-101 DATASET=ucf101 LISTS=ucfTrainTestlist
#   make -f two-stream.mk VIDEOS=hmdb51 DATASET=hmdb51 LISTS=testTrainMulti_7030_splits
#   make -f two-stream.mk VIDEOS=actions DATASET=folds LISTS=actions/all.csv GROUP=recording \
#       SPLITS='1 2 3 4 5'
#
# A list of folds names a video and its class on each line below a header with the
# columns path and label.  The column GROUP names videos that belong together, such as
# parts of one recording, which are never in both parts of a fold.  Without GROUP, each
# video is a group.
#
# Each split trains a network on RGB and one on flow with each seed, from INIT if it is
# given.  The scores of both are fused with the weights FUSION (vt-eval(1), --rescore).
# All files are made in OUT; the table is OUT/report.tsv.
#
# The weights of the papers favor flow, which suits two equally good networks.  For
# others, choose FUSION on a validation set (vt-eval --fusion-fit).  We measured 294
# clips of six actions, five folds by recording, two seeds, TSM-ResNet-18 from weights
# of motions.mk, which are of RGB, and flow of 10 pairs of frames (tsm_r18_flow10);
# top-1 in % with the standard error over folds:
#
#   RGB 74.9 (3.0)   flow 59.3 (3.4)   1:1.5 72.7 (4.3)   2:1 76.3 (3.8)
#   weights chosen on the other four folds 74.9 (3.6): flow adds 0.0 (1.3) to RGB
#
# It makes 6 runs.  vt-train prints at the start of each how long it will
# take.
#
# You can interrupt it at any time; the same command resumes it.  "Error 75" of
# make means that a run was stopped and saved.
#
#   make -f two-stream.mk ... -j4 THREADS=1       four runs at once
#   make -f two-stream.mk ... status              the progress of each run
#
# To change more than that, copy this file and folds.awk, and edit them.

VIDEOS    = .
DATASET   = ucf101
LISTS     = ucfTrainTestlist
GROUP     =
OUT       = two-stream

SPLITS    = 1 2 3
SEEDS     = 1
rgb       = tsn_r18
flow      = tsn_r18_flow
INIT      =
FUSION    = 1:1.5

# Clips of 8 frames of 48 x 48 suit a few hundred videos of small pictures.
# With thousands, use tsn_r50, --short-side=256 and --crop=224.
EXTRACT   = --short-side=72 --on-error=skip
SHAPE     = --batch=8 --frames=8 --crop=48 --lr=0.003 --epochs=16 --milestones=12 --warmup-epochs=1
TRAINING  = --clip-grad=20
EVAL      = --crops=3

# The threads of a run (0: all cores), and a launcher, such as MPIRUN='mpirun -np 2'.
THREADS   = 0
MPIRUN    =

# ---- nothing below needs to be changed ----

here     := $(dir $(lastword $(MAKEFILE_LIST)))
settings  = $(DATASET) $(LISTS) $(GROUP) $(SPLITS) $(rgb) $(flow) $(INIT) $(EXTRACT) $(SHAPE) $(TRAINING) $(EVAL)
STREAMS   = rgb flow
pairs    := $(foreach k,$(SPLITS),$(foreach s,$(SEEDS),$k-$s))
runs     := $(foreach x,$(STREAMS),$(pairs:%=$(OUT)/$x-%))

all: $(OUT)/report.tsv
	@cat $(OUT)/report.tsv

# make compares times, not settings.  These files have the settings and are compared
# at each start, so results of different settings are not mixed.
keep = if [ ! -e $@ ]; then mv $@.new $@; elif cmp -s $@.new $@; then rm $@.new; else \
       echo "$@: from other settings; give the new ones another OUT, or remove $(OUT)" >&2; exit 1; fi
$(OUT)/settings: force
	@mkdir -p $(OUT)
	@echo '$(settings)' >$@.new; $(keep)
$(OUT)/schedule.tsv: | $(OUT)/settings
	vt-schedule $(SHAPE) -o $@

# The list of part PART, train or test, of split K, as options of vt-extract.
ucf101    = --annotations=$(LISTS)/$2list0$1.txt --annotations-format=ucf101 --classes=$(LISTS)/classInd.txt
hmdb51    = --annotations='$(LISTS)/*_test_split$1.txt' --subset=$2 $(if $(filter test,$2),--classes=$(OUT)/train-$1/classes.txt)
folds     = --annotations=$(OUT)/$2-$1.csv --classes=$(OUT)/classes.txt
split_by  = $(if $(filter folds,$(DATASET)),$(OUT)/folds.csv $(OUT)/classes.txt)

$(OUT)/folds.csv: $(LISTS) | $(OUT)/settings
	@awk -f $(here)folds.awk -v group='$(GROUP)' -v folds=$(words $(SPLITS)) $< >$@.new && $(keep)

$(OUT)/classes.txt: $(OUT)/folds.csv
	@sed 1d $< | cut -d , -f 2 | LC_ALL=C sort -u >$@.new && $(keep)

# The videos of part $2 of fold $1: $3 is == or !=.
choose    = @awk -F , -v OFS=, 'NR == 1 || $$$$3 $3 $1 { print $$$$1, $$$$2 }' $(OUT)/folds.csv >$(OUT)/$2-$1.csv

# Frames and flow are streams of the same samples; a network reads those that it names.
extract   = vt-extract $(call $(DATASET),$1,$2) --root=$(VIDEOS) $(EXTRACT) --rgb --flow=tvl1
define packed
$(OUT)/train-$1/manifest.json: $(split_by) | $(OUT)/settings
	$(if $(split_by),$(call choose,$1,train,!=))
	$(call extract,$1,train) | vt-pack -o $$(@D)
	touch $$@
$(OUT)/test-$1/manifest.json: $(OUT)/train-$1/manifest.json
	$(if $(split_by),$(call choose,$1,test,==))
	$(call extract,$1,test) | vt-pack -o $$(@D)
	touch $$@
endef
$(foreach k,$(SPLITS),$(eval $(call packed,$k)))

# final.safetensors exists only when all steps are done.
define run
$(OUT)/$1-$2-$3/final.safetensors: $(OUT)/schedule.tsv | $(OUT)/train-$2/manifest.json
	$(MPIRUN) vt-train --data=$(OUT)/train-$2 --model=$($1) --schedule=$$< --seed=$3 \
	    $(TRAINING) $(INIT:%=--init=%) --threads=$(THREADS) --output=$$(@D) >/dev/null
$(OUT)/$1-$2-$3/scores.tsv: $(OUT)/$1-$2-$3/final.safetensors | $(OUT)/test-$2/manifest.json
	vt-eval --checkpoint=$$< --data=$(OUT)/test-$2 $(EVAL) --threads=$(THREADS) --scores=$$@ >$$(@D)/test.tsv
endef
$(foreach x,$(STREAMS),$(foreach k,$(SPLITS),$(foreach s,$(SEEDS),$(eval $(call run,$x,$k,$s)))))
$(OUT)/fused-%.tsv: $(OUT)/rgb-%/scores.tsv $(OUT)/flow-%/scores.tsv
	vt-eval --rescore=$(OUT)/rgb-$*/scores.tsv $(OUT)/flow-$*/scores.tsv --fusion-weights=$(FUSION) >$@.new
	mv $@.new $@

# Average over the seeds of a split; the standard error is over the splits.
top1      = sed -n 's/^\#summary.top1 \([0-9.]*\).*/\1/p'
$(OUT)/report.tsv: $(pairs:%=$(OUT)/fused-%.tsv) force
	@for p in $(pairs); do for x in $(STREAMS); do \
	    echo "$$x-$$p-$$($(top1) $(OUT)/$$x-$$p/test.tsv)"; done; \
	    echo "fused-$$p-$$($(top1) $(OUT)/fused-$$p.tsv)"; done | tr - '\t' | awk -F '\t' ' \
	    { n[$$1]++; m[$$1, $$2]++; f[$$1, $$2] += $$4; if (!seen[$$2]++) split_[++splits] = $$2 } \
	    END { print "#stream\truns\ttop1\tstandard_error"; \
	      for (i = 1; i <= 3; i++) { x = i == 1 ? "rgb" : i == 2 ? "flow" : "fused"; sum = square = 0; \
	          for (j = 1; j <= splits; j++) { v[x, j] = f[x, split_[j]] / m[x, split_[j]]; \
	              sum += v[x, j]; square += v[x, j] ^ 2 } \
	          mean = sum / splits; left = square - splits * mean ^ 2; \
	          printf "%s\t%d\t%.4f\t%.4f\n", x, n[x], mean, \
	              (splits > 1 && left > 0 ? sqrt(left / (splits - 1) / splits) : 0) } \
	      print "#split\trgb\tflow\tfused"; \
	      for (j = 1; j <= splits; j++) printf "%s\t%.4f\t%.4f\t%.4f\n", split_[j], v["rgb", j], v["flow", j], \
	          v["fused", j] }' >$@.new && mv $@.new $@

status:
	@for r in $(runs); do printf '%s\t' $$r; \
	    if [ -e $$r/config ]; then vt-train --status=$$r || :; else echo 'not begun'; fi; done

force:
.PHONY: all status force
.SECONDARY:
# An interrupted make deletes the targets that it is making, even complete ones,
# except these.
.PRECIOUS: $(runs:=/final.safetensors) $(OUT)/report.tsv \
    $(foreach i,train test,$(SPLITS:%=$(OUT)/$i-%/manifest.json))
