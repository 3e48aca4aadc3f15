# batch-size.mk: measure up to which batch the accuracy of the same number of epochs
# holds.  Two lists of videos become a table and a picture:
#
#   make -f batch-size.mk VIDEOS=actions TRAIN=actions/train.csv TEST=actions/test.csv
#
# A list names a video and its class on each line (vt-extract(1), --annotations).
# Paths are relative to VIDEOS.  All files are made in OUT: report.tsv is the table of
# vt-eval --curve-over=batch, and batch-size.png the accuracy over the batch.
#
# Each rule trains with each batch and each seed.  The learning rate of a batch B is
# lr * (B / BASE)^power.  With the power 1 it follows the linear scaling rule (Goyal et
# al. 2017), with 0 it is that of BASE clips.  It warms up from 0 over WARMUP epochs.
# BASE clips share BN statistics at every batch, so a batch changes the updates only.
# The batches are BASE and its doubles, up to the number of lines of TRAIN.  Choose the
# learning rates at the batch BASE before, on other videos than TEST.  With few epochs,
# a larger batch has few steps, and the curve shows their number more than the rule.
#
# It makes 45 runs for 240 videos.  vt-train prints at the start of each how long it will
# take.
#
# You can interrupt it at any time; the same command resumes it.  "Error 75" of
# make means that a run was stopped and saved, "Error 5" that a run diverged.
#
#   make -f batch-size.mk ... -j4 THREADS=1       four runs at once
#   make -f batch-size.mk ... SEEDS='1 2 3 4 5'   more runs, in addition to the existing ones
#   make -f batch-size.mk ... status              the progress of each run
#
# vt-optimizers(7) has a measurement on the videos of "build/motions made 64 80 1", with
# --no-flip of vt-train added to TRAINING, as flips change the classes.
#
# To change more than that, copy this file and edit it.

VIDEOS    = .
TRAIN     = train.csv
TEST      = test.csv
NET       = tsm_tiny
OUT       = batch-size

# The rules: optimizer, learning rate of BASE clips, and power.  unscaled is a control.
RULES     = lars unscaled sgd
lars      = --optimizer=lars --trust-coefficient=0.01
lars.lr   = 0.2
lars.power = 1
unscaled  = $(lars)
unscaled.lr = $(lars.lr)
unscaled.power = 0
sgd       = --optimizer=sgd
sgd.lr    = 0.03
sgd.power = 1
SEEDS     = 1 2 3
BASE      = 8
BATCHES  := $(shell awk -v b=$(BASE) 'END { for (; b <= NR; b *= 2) print b }' $(TRAIN))

# Clips of 8 frames of 48 x 48 suit a few hundred videos of small pictures.
EXTRACT   = --short-side=72 --on-error=skip
EPOCHS    = 8
WARMUP    = 2
SHAPE     = --frames=8 --crop=48 --lr-policy=cosine
TRAINING  = --param-groups=plain --clip-grad=1

# The threads of a run (0: all cores), and a launcher, such as MPIRUN='mpirun -np 2'.
THREADS   = 0
MPIRUN    =

# ---- nothing below needs to be changed ----

settings  = $(NET) $(EXTRACT) $(TRAINING)
runs     := $(foreach r,$(RULES),$(foreach b,$(BATCHES),$(foreach s,$(SEEDS),$(OUT)/$r-$b-$s)))
$(if $(BATCHES),,$(error $(TRAIN): wanted at least $(BASE) videos, one batch))
comma    := ,
empty    :=
space    := $(empty) $(empty)
# of RULE: its runs, as a curve of vt-eval --curve
of        = $1=$(subst $(space),$(comma),$(filter $(OUT)/$1-%,$(runs)))

all: $(OUT)/report.tsv $(OUT)/batch-size.png
	@cat $(OUT)/report.tsv

# make compares times, not settings.  These files have the settings and are compared
# at each start, so results of different settings are not mixed.
keep = if [ ! -e $@ ]; then mv $@.new $@; elif cmp -s $@.new $@; then rm $@.new; else \
       echo "$@: from other settings; give the new ones another OUT, or remove $(OUT)" >&2; exit 1; fi
$(OUT)/settings: force
	@mkdir -p $(OUT)
	@echo '$(settings)' >$@.new; $(keep)
# A comment of the schedule has the optimizer.
define planned
$(OUT)/$1-$2.tsv: force | $(OUT)/settings
	@lr=$$$$(awk 'BEGIN { printf "%.9g", $($1.lr) * ($2 / $(BASE)) ^ $($1.power) }') && { echo '# $($1)'; \
	    vt-schedule --batch=$2 --bn-size=$(BASE) $(SHAPE) --lr=$$$$lr --epochs=$(EPOCHS) --warmup-epochs=$(WARMUP); } \
	    >$$@.new && $$(call keep)
endef
$(foreach r,$(RULES),$(foreach b,$(BATCHES),$(eval $(call planned,$r,$b))))

# vt-pack resumes a pack that was stopped.
$(OUT)/train/manifest.json: $(TRAIN) | $(OUT)/settings
	vt-extract --annotations=$< --root=$(VIDEOS) $(EXTRACT) | vt-pack -o $(@D)
	touch $@
$(OUT)/test/manifest.json: $(TEST) $(OUT)/train/manifest.json
	vt-extract --annotations=$< --root=$(VIDEOS) $(EXTRACT) --classes=$(OUT)/train/classes.txt | vt-pack -o $(@D)
	touch $@

# final.safetensors exists only when all steps are done.  Validate only then.
define run
$(OUT)/$1-$2-$3/final.safetensors: $(OUT)/$1-$2.tsv | $(OUT)/train/manifest.json $(OUT)/test/manifest.json
	$(MPIRUN) vt-train --model=$(NET) --data=$(OUT)/train --val=$(OUT)/test --val-every=0 --schedule=$$< --seed=$3 \
	    $(TRAINING) $($1) --threads=$(THREADS) --output=$$(@D) >/dev/null
endef
$(foreach r,$(RULES),$(foreach b,$(BATCHES),$(foreach s,$(SEEDS),$(eval $(call run,$r,$b,$s)))))

# One command writes both, but with this rule make also remakes only one of them.
$(OUT)/report.tsv $(OUT)/batch-size.png: $(OUT)/%: $(runs:=/final.safetensors)
	vt-eval --curve=$(OUT)/new-$* --curve-over=batch $(foreach r,$(RULES),-k '$(call of,$r)') && mv $(OUT)/new-$* $@

status:
	@for r in $(runs); do printf '%s\t' $$r; \
	    if [ -e $$r/config ]; then vt-train --status=$$r || :; else echo 'not begun'; fi; done

force:
.PHONY: all status force
.SECONDARY:
# An interrupted make deletes the targets that it is making, even complete ones,
# except these.
.PRECIOUS: $(runs:=/final.safetensors) $(OUT)/train/manifest.json $(OUT)/test/manifest.json
