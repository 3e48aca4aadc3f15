# transfer.mk: measure on your videos what pretrained weights gain over training from
# scratch.  A list of videos and a file of weights become a table:
#
#   make -f transfer.mk VIDEOS=actions LIST=actions/all.csv GROUP=recording \
#       NET=tsm_r18 INIT=motions/final.safetensors
#
# The list names a video and its class on each line (vt-extract(1), --annotations) below
# a header with the columns path and label.  The column GROUP names videos that
# belong together, such as parts of one recording.  A group is never in both the
# training and the test of a fold.  Without GROUP, each video is a group.
#
# Each fold is tested once.  The other videos are trained on, from INIT and from
# scratch, with each seed.  The learning rate of both is chosen before, among the same
# RATES, by runs for the folds TUNED.  These runs neither train nor validate on the
# fold that they are for.  All files are made in OUT: report.tsv is the table, and
# curves.png has the accuracy of both over time.
#
# It makes 62 runs, 12 of them for the learning rates.  vt-train prints at the start of each how long it will
# take.
#
# You can interrupt it at any time; the same command resumes it.  "Error 75" of
# make means that a run was stopped and saved.
#
#   make -f transfer.mk ... -j4 THREADS=1       four runs at once
#   make -f transfer.mk ... status              the progress of each run
#
# To change more than that, copy this file and folds.awk, and edit them.

VIDEOS    = .
LIST      = all.csv
GROUP     =
NET       = tsm_r18
INIT      = init.safetensors
OUT       = transfer

FOLDS     = 1 2 3 4 5
SEEDS     = 1 2 3 4 5
RATES     = 0.001 0.003 0.01
TUNED     = 1 2

# Clips of 8 frames of 48 x 48 suit a few hundred videos of small pictures.
# With thousands, use --short-side=256 and --crop=224.
EXTRACT   = --short-side=72 --on-error=skip
EPOCHS    = 16
SHAPE     = --batch=8 --frames=8 --crop=48 --epochs=$(EPOCHS) --milestones=12 --warmup-epochs=1
TRAINING  = --clip-grad=20
VAL_EVERY = 2

# The threads of a run (0: all cores), and a launcher, such as MPIRUN='mpirun -np 2'.
THREADS   = 0
MPIRUN    =

# ---- nothing below needs to be changed ----

here     := $(dir $(lastword $(MAKEFILE_LIST)))
settings  = $(NET) $(INIT) $(GROUP) $(FOLDS) $(EXTRACT) $(SHAPE) $(RATES) $(TUNED) $(TRAINING) $(VAL_EVERY)
ARMS      = scratch finetuned
kinds     = train test rest
tuning   := $(foreach a,$(ARMS),$(foreach r,$(RATES),$(foreach k,$(TUNED),$(OUT)/tune/$a-$r-$k)))
runs     := $(foreach a,$(ARMS),$(foreach k,$(FOLDS),$(foreach s,$(SEEDS),$(OUT)/$a-$k-$s)))
comma    := ,
empty    :=
space    := $(empty) $(empty)
# of ARM: its runs, as a group of vt-eval --curve
of        = $1=$(subst $(space),$(comma),$(filter $(OUT)/$1-%,$(runs)))

all: $(OUT)/report.tsv $(OUT)/curves.png
	@cat $(OUT)/report.tsv

# make compares times, not settings.  These files have the settings and are compared
# at each start, so results of different settings are not mixed.
keep = if [ ! -e $@ ]; then mv $@.new $@; elif cmp -s $@.new $@; then rm $@.new; else \
       echo "$@: from other settings; give the new ones another OUT, or remove $(OUT)" >&2; exit 1; fi
$(OUT)/settings: force
	@mkdir -p $(OUT)/tune
	@echo '$(settings)' >$@.new; $(keep)
$(OUT)/lr-%.tsv: | $(OUT)/settings
	vt-schedule $(SHAPE) --lr=$* -o $@

$(OUT)/folds.csv: $(LIST) | $(OUT)/settings
	@awk -f $(here)folds.awk -v group='$(GROUP)' -v folds=$(words $(FOLDS)) $< >$@.new && $(keep)
$(OUT)/classes.txt: $(OUT)/folds.csv
	@sed 1d $< | cut -d , -f 2 | LC_ALL=C sort -u >$@.new && $(keep)

# For fold K, test is the fold, and train is the other folds.  rest is train without
# the fold after K, on which the tuning for K validates.
in_test   = $$3 == k
in_train  = $$3 != k
in_rest   = $$3 != k && $$3 != k % n + 1
define packed
$(OUT)/$1-$2/manifest.json: $(OUT)/folds.csv $(OUT)/classes.txt
	@awk -F , -v OFS=, -v k=$2 -v n=$(words $(FOLDS)) 'NR == 1 || ($(value in_$1)) { print $$$$1, $$$$2 }' $$< >$(OUT)/$1-$2.csv
	vt-extract --annotations=$(OUT)/$1-$2.csv --root=$(VIDEOS) $(EXTRACT) --classes=$(OUT)/classes.txt | vt-pack -o $$(@D)
	touch $$@
endef
$(foreach i,$(kinds),$(foreach k,$(FOLDS),$(eval $(call packed,$i,$k))))

# final.safetensors exists only when all steps are done.
scratch   =
finetuned = --init=$(INIT)
learn     = $(MPIRUN) vt-train --model=$(NET) $(TRAINING) --threads=$(THREADS) --val-every=$(VAL_EVERY) --output=$(@D)
next      = $(shell expr $1 % $(words $(FOLDS)) + 1)
define tuned
$(OUT)/tune/$1-$2-$3/final.safetensors: $(OUT)/lr-$2.tsv | $(OUT)/rest-$3/manifest.json $(OUT)/test-$(call next,$3)/manifest.json
	$$(learn) --data=$(OUT)/rest-$3 --val=$(OUT)/test-$(call next,$3) --schedule=$$< $($1) >/dev/null
endef
define run
$(OUT)/$1-$2-$3/final.safetensors: $(OUT)/$1.lr | $(OUT)/train-$2/manifest.json $(OUT)/test-$2/manifest.json
	$$(learn) --data=$(OUT)/train-$2 --val=$(OUT)/test-$2 --schedule=$(OUT)/lr-$$$$(cat $$<).tsv --seed=$3 $($1) >/dev/null
endef
$(foreach a,$(ARMS),$(foreach r,$(RATES),$(foreach k,$(TUNED),$(eval $(call tuned,$a,$r,$k)))))
$(foreach a,$(ARMS),$(foreach k,$(FOLDS),$(foreach s,$(SEEDS),$(eval $(call run,$a,$k,$s)))))

# last RUN: top-1 after the last step, and minutes of training
last      = awk '/"type":"step"/ { match($$0, /"seconds":[^,]*/); t += substr($$0, RSTART + 10) } \
            /"type":"validation"/ { match($$0, /"top1":[^,]*/); top = substr($$0, RSTART + 7) } \
            END { print top "\t" t / 60 }' $$r/log.jsonl
$(OUT)/tune.tsv: $(tuning:=/final.safetensors)
	@for r in $(tuning); do echo "$${r##*/}	$$($(last))"; done | \
	    awk -F '\t' '{ sub(/-[^-]*$$/, "", $$1); if (!n[$$1]++) name[++k] = $$1; s[$$1] += $$2 } \
	    END { print "#arm\tlr\ttop1"; for (i = 1; i <= k; i++) { x = name[i]; arm = x; sub(/-.*/, "", arm); \
	    lr = x; sub(/^[^-]*-/, "", lr); printf "%s\t%s\t%.4f\n", arm, lr, s[x] / n[x] } }' >$@.new && mv $@.new $@
$(ARMS:%=$(OUT)/%.lr): $(OUT)/%.lr: $(OUT)/tune.tsv $(RATES:%=$(OUT)/lr-%.tsv)
	@awk '$$1 == "$*" && $$3 > best + 0 { best = $$3; lr = $$2 } END { print lr }' $< >$@.new && $(keep)

# Average over the seeds of a fold; the standard error is over the folds.
$(OUT)/report.tsv: $(runs:=/final.safetensors) $(ARMS:%=$(OUT)/%.lr) force
	@for r in $(runs); do echo "$${r##*/}	$$($(last))"; done | tr - '\t' | \
	    awk -F '\t' -v OFS='\t' -v lrs="$$(cat $(ARMS:%=$(OUT)/%.lr))" ' \
	    { split(lrs, rate, /[ \n]/); n[$$1]++; s[$$1] += $$4; t[$$1] += $$5; \
	      if (n[$$1] == 1 || $$4 < low[$$1]) low[$$1] = $$4; if ($$4 > high[$$1]) high[$$1] = $$4; \
	      if (!seen[$$2]++) fold[++folds] = $$2; m[$$1, $$2]++; f[$$1, $$2] += $$4 } \
	    END { split("$(ARMS)", arm, " "); print "#arm", "runs", "lr", "top1", "lowest", "highest", "minutes"; \
	      for (i = 1; i <= 2; i++) { x = arm[i]; printf "%s\t%d\t%s\t%.3f\t%.3f\t%.3f\t%.1f\n", \
	          x, n[x], rate[i], s[x] / n[x], low[x], high[x], t[x] / n[x] } \
	      print "#fold", arm[1], arm[2], "difference"; \
	      for (j = 1; j <= folds; j++) { k = fold[j]; a = f[arm[1], k] / m[arm[1], k]; b = f[arm[2], k] / m[arm[2], k]; \
	          printf "%s\t%.3f\t%.3f\t%.3f\n", k, a, b, b - a; sum += b - a; square += (b - a) ^ 2 } \
	      mean = sum / folds; error = sqrt((square - folds * mean ^ 2) / (folds - 1) / folds); \
	      print "#difference", "standard_error", "ratio"; \
	      printf "%.4f\t%.4f\t%.1f\n", mean, error, (error > 0 ? mean / error : 0) }' >$@.new && mv $@.new $@
$(OUT)/curves.png: $(runs:=/final.safetensors)
	vt-eval --curve=$(@D)/new.png $(foreach a,$(ARMS),-k '$(call of,$a)') && mv $(@D)/new.png $@

status:
	@for r in $(tuning) $(runs); do printf '%s\t' $$r; \
	    if [ -e $$r/config ]; then vt-train --status=$$r || :; else echo 'not begun'; fi; done

force:
.PHONY: all status force
.SECONDARY:
# An interrupted make deletes the targets that it is making, even complete ones,
# except these.
.PRECIOUS: $(runs:=/final.safetensors) $(tuning:=/final.safetensors) $(OUT)/report.tsv \
    $(foreach i,$(kinds),$(FOLDS:%=$(OUT)/$i-%/manifest.json))
