# experiment.mk: measure the accuracy that temporal shifts and multigrid training
# give on your videos.  Two lists of videos become a table:
#
#   make -f experiment.mk VIDEOS=actions TRAIN=actions/train.csv TEST=actions/test.csv
#
# A list names a video and its class on each line (vt-extract(1), --annotations).
# Paths are relative to VIDEOS.  All files are made in OUT; the table is
# OUT/report.tsv.
#
# It makes 12 runs.  vt-train prints at the start of each how long it will
# take.
#
# You can interrupt it at any time; the same command resumes it.  "Error 75" of
# make means that a run was stopped and saved.
#
#   make -f experiment.mk ... -j4 THREADS=1       four runs at once
#   make -f experiment.mk ... SEEDS='1 2 3 4 5'   more runs, in addition to the existing ones
#   make -f experiment.mk ... status              the progress of each run
#
# To change more than that, copy this file and edit it.

VIDEOS    = .
TRAIN     = train.csv
TEST      = test.csv
OUT       = experiment

# The comparison: networks (names or paths of files), schedules by the names below,
# and seeds, which show the random variation.
NETS      = tsm_tiny tsn_tiny
SCHEDULES = constant multigrid
SEEDS     = 1 2 3

# Clips of 8 frames of 80 x 80 suit a few hundred videos of small pictures.
# With thousands, use tsm_r18 or tsm_r50, --short-side=256 and --crop=224.
EXTRACT   = --short-side=144 --on-error=skip
SHAPE     = --batch=8 --frames=8 --crop=80 --lr=0.005 --epochs=40 --milestones=28 --warmup-epochs=2
constant  = --policy=constant
multigrid = --policy=long --long-factors=0.5x0.7071,0.5x1,1x1 --epoch-factor=1
TRAINING  = --clip-grad=20
EVAL      = --clips=2 --crops=3

# The threads of a run (0: all cores), and a launcher, such as MPIRUN='mpirun -np 2'.
THREADS   = 0
MPIRUN    =

# ---- nothing below needs to be changed ----

run       = $(OUT)/$(basename $(notdir $1))-$2-$3
runs     := $(foreach n,$(NETS),$(foreach s,$(SCHEDULES),$(foreach i,$(SEEDS),$(call run,$n,$s,$i))))
settings  = $(EXTRACT) $(TRAINING) $(EVAL)

all: $(OUT)/report.tsv
	@cat $(OUT)/report.tsv

# vt-pack resumes a pack that was stopped.  If a list is newer than its dataset,
# vt-pack compares the two, and refuses a list that differs.
$(OUT)/train/manifest.json: $(TRAIN) | $(OUT)/settings
	vt-extract --annotations=$(TRAIN) --root=$(VIDEOS) $(EXTRACT) | vt-pack -o $(@D)
	touch $@
$(OUT)/test/manifest.json: $(TEST) $(OUT)/train/manifest.json
	vt-extract --annotations=$(TEST) --root=$(VIDEOS) $(EXTRACT) --classes=$(OUT)/train/classes.txt | \
	    vt-pack -o $(@D)
	touch $@

# make compares times, not settings.  These files have the settings and are compared
# at each start, so results of different settings are not mixed.
keep = if [ ! -e $@ ]; then mv $@.new $@; elif cmp -s $@.new $@; then rm $@.new; else \
       echo "$@: from other settings; give the new ones another OUT, or remove $(OUT)" >&2; exit 1; fi
$(OUT)/settings: force
	@mkdir -p $(OUT)
	@echo '$(settings)' >$@.new; $(keep)
$(SCHEDULES:%=$(OUT)/%.tsv): $(OUT)/%.tsv: force | $(OUT)/settings
	@vt-schedule $(SHAPE) $($*) >$@.new && $(keep)

# final.safetensors exists only when all steps are done.
define rules
$(call run,$1,$2,$3)/final.safetensors: $(OUT)/$2.tsv | $(OUT)/train/manifest.json
	$(MPIRUN) vt-train --data=$(OUT)/train --model=$1 --schedule=$(OUT)/$2.tsv --seed=$3 \
	    $(TRAINING) --threads=$(THREADS) --output=$$(@D) >/dev/null
endef
$(foreach n,$(NETS),$(foreach s,$(SCHEDULES),$(foreach i,$(SEEDS),$(eval $(call rules,$n,$s,$i)))))

# Score the last weights, not the best: the test set must not select weights.
%/test.tsv: %/final.safetensors | $(OUT)/test/manifest.json
	vt-eval --checkpoint=$< --data=$(OUT)/test $(EVAL) --threads=$(THREADS) \
	    --matrix=$(@D)/confusion.png >$@.new
	mv $@.new $@

# A line for each setting, with means over its seeds; minutes are those of one run.
$(OUT)/report.tsv: $(runs:=/test.tsv) force
	@awk -F '\t' '!/^#/ { all++; if (n[$$2]++ == 0) k++; if (n[$$2] > max) max = n[$$2] } END { \
	    printf "# %d clips of %d classes; chance is %.3f, the commonest class %.3f\n", \
	    all, k, 1 / k, max / all }' $< >$@.new
	@for r in $(runs); do \
	    awk '/"type":"step"/ { match($$0, /"seconds":[^,]*/); t += substr($$0, RSTART + 10) } \
	        END { printf "%f\t", t / 60 }' $$r/log.jsonl; \
	    sed -n 's/^#summary.top1 \([0-9.]*\).*/\1/p' $$r/test.tsv | sed "s|^|$${r%-*}	|"; \
	done | awk -F '\t' '{ sub(/.*\//, "", $$2); if (n[$$2]++ == 0) { name[++k] = $$2; low[$$2] = $$3 } \
	    t[$$2] += $$1; s[$$2] += $$3; if ($$3 < low[$$2]) low[$$2] = $$3; if ($$3 > high[$$2]) high[$$2] = $$3 } \
	    END { print "#setting\truns\ttop1\tlowest\thighest\tminutes"; for (i = 1; i <= k; i++) { x = name[i]; \
	    printf "%s\t%d\t%.3f\t%.3f\t%.3f\t%.1f\n", x, n[x], s[x] / n[x], low[x], high[x], t[x] / n[x] } }' >>$@.new
	@mv $@.new $@

status:
	@for r in $(runs); do printf '%s\t' $$r; \
	    if [ -e $$r/config ]; then vt-train --status=$$r || :; else echo 'not begun'; fi; done

force:
.PHONY: all status force
.SECONDARY:
# An interrupted make deletes the targets that it is making, even complete ones,
# except these.
.PRECIOUS: %/test.tsv $(OUT)/train/manifest.json \
    $(OUT)/test/manifest.json $(runs:=/final.safetensors)
