# time-to-accuracy.mk: measure how much sooner one schedule reaches the accuracy of
# another on your videos.  Three lists of videos become a table:
#
#   make -f time-to-accuracy.mk VIDEOS=actions TRAIN=actions/train.csv \
#       VAL=actions/val.csv TEST=actions/test.csv
#
# A list names a video and its class on each line (vt-extract(1), --annotations).
# Paths are relative to VIDEOS.  All files are made in OUT: report.tsv is the table,
# tune.tsv has the results of the trials, and curves.png the accuracy over time.
#
# Each schedule has the same number of TRIALS, which train on TRAIN and validate on
# VAL.  The chosen trial of a schedule is trained with each seed, and validated on TEST
# 30 times per run.  The goal is the mean final accuracy of the first schedule minus
# one standard error.  A run reaches the goal at the first of two successive
# validations that are not below it.  The chosen trial of the first schedule is the
# best one; that of another schedule is the first that reaches the goal.
#
# Times are those of training without validations.  To exclude the influence of other
# work on the machine, a step is charged a price: the fastest tenth percentile over all
# steps of its shape in all runs (prices.tsv).  The table and the curves use these
# prices.  All runs must be on the same machine.
#
# It makes 12 runs.  vt-train prints at the start of each how long it will
# take.
#
# You can interrupt it at any time; the same command resumes it.  "Error 75" of
# make means that a run was stopped and saved.
#
#   make -f time-to-accuracy.mk ... -j2 THREADS=1   two runs at once
#   make -f time-to-accuracy.mk ... status          the progress of each run
#
# To change more than that, copy this file and edit it.

VIDEOS    = .
TRAIN     = train.csv
VAL       = val.csv
TEST      = test.csv
NET       = tsm_tiny
OUT       = time-to-accuracy

# The schedules, and the settings of their trials.  Multigrid trains on more clips in
# the same time, because its coarse cells are cheap.
SCHEDULES = fixed multigrid
TRIALS    = 1 2 3
SEEDS     = 1 2 3
fixed     = --policy=constant
fixed1    = --lr=0.0025 --epochs=60 --milestones=40,55
fixed2    = --lr=0.005 --epochs=60 --milestones=40,55
fixed3    = --lr=0.01 --epochs=60 --milestones=40,55
multigrid = --policy=long --long-factors=0.5x0.7071,0.5x1,1x1 --epoch-factor=1
multigrid1 = --lr=0.005 --epochs=40 --milestones=27,36
multigrid2 = --lr=0.005 --epochs=60 --milestones=40,55
multigrid3 = --lr=0.01 --epochs=60 --milestones=40,55

# Clips of 8 frames of 48 x 48 suit small pictures.
EXTRACT   = --short-side=72 --on-error=skip
SHAPE     = --batch=8 --frames=8 --crop=48 --warmup-epochs=1
TRAINING  = --clip-grad=20 --precise-bn=256

# The threads of a run (0: all cores), and a launcher, such as MPIRUN='mpirun -np 2'.
THREADS   = 0
MPIRUN    =

# ---- nothing below needs to be changed ----

trials   := $(foreach a,$(SCHEDULES),$(TRIALS:%=$(OUT)/tune/$a-%))
runs     := $(foreach a,$(SCHEDULES),$(SEEDS:%=$(OUT)/$a-%))
first    := $(firstword $(SCHEDULES))
settings  = $(NET) $(EXTRACT) $(TRAINING)
comma    := ,
empty    :=
space    := $(empty) $(empty)
# of SCHEDULE: the logs of its runs with these prices, as a group of vt-eval --curve
of        = $1=$(subst $(space),$(comma),$(patsubst $(OUT)/%,$(OUT)/priced/%,$(filter $(OUT)/$1-%,$(runs))))

all: $(OUT)/report.tsv $(OUT)/curves.png
	@cat $(OUT)/report.tsv

# make compares times, not settings.  These files have the settings and are compared
# at each start, so results of different settings are not mixed.
keep = if [ ! -e $@ ]; then mv $@.new $@; elif cmp -s $@.new $@; then rm $@.new; else \
       echo "$@: from other settings; give the new ones another OUT, or remove $(OUT)" >&2; exit 1; fi
$(OUT)/settings: force
	@mkdir -p $(OUT)/tune
	@echo '$(settings)' >$@.new; $(keep)
define planned
$(OUT)/tune/$1-$2.tsv: force | $(OUT)/settings
	@vt-schedule $(SHAPE) $($1) $($1$2) >$$@.new && $$(call keep)
endef
$(foreach a,$(SCHEDULES),$(foreach t,$(TRIALS),$(eval $(call planned,$a,$t))))

# vt-pack resumes a pack that was stopped.
$(OUT)/train/manifest.json: $(TRAIN) | $(OUT)/settings
	vt-extract --annotations=$< --root=$(VIDEOS) $(EXTRACT) | vt-pack -o $(@D)
	touch $@
$(OUT)/val/manifest.json: $(VAL)
$(OUT)/test/manifest.json: $(TEST)
$(OUT)/val/manifest.json $(OUT)/test/manifest.json: $(OUT)/train/manifest.json
	vt-extract --annotations=$(word 2,$^) --root=$(VIDEOS) $(EXTRACT) --classes=$(OUT)/train/classes.txt | vt-pack -o $(@D)
	touch $@

# looks FILE: the interval of validations, a thirtieth of the epochs of the schedule
looks     = $$(awk -F '\t' '!/^\#/ { e = $$3 } END { print e / 30 }' $1)
# Log each step, because the shapes of short cycles change with every step.
learn     = $(MPIRUN) vt-train --model=$(NET) --data=$(OUT)/train $(TRAINING) --log-every=1 --threads=$(THREADS) --output=$(@D)
# final.safetensors exists only when all steps are done.
$(trials:=/final.safetensors): $(OUT)/tune/%/final.safetensors: $(OUT)/tune/%.tsv | $(OUT)/train/manifest.json $(OUT)/val/manifest.json
	$(learn) --val=$(OUT)/val --val-every=$(call looks,$<) --schedule=$< >/dev/null
define run
$(OUT)/$1-$2/final.safetensors: $(OUT)/$1.trial | $(OUT)/test/manifest.json
	s=$(OUT)/tune/$1-$$$$(cat $$<).tsv && $$(learn) --val=$(OUT)/test --val-every=$$(call looks,$$$$s) --schedule=$$$$s --seed=$2 >/dev/null
endef
$(foreach a,$(SCHEDULES),$(foreach s,$(SEEDS),$(eval $(call run,$a,$s))))

# In awk: number(NAME) returns a field of a line of log.jsonl.
number    = function number(name) { return match($$0, "\"" name "\":[^,}]*") ? substr($$0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0 : 0 }
shape     = number("batch") "x" number("frames") "x" number("crop")
priced    = for r in $1; do awk '$(number) /"type":"step"/ { print $(shape) "\t" number("seconds") }' \
    $$r/log.jsonl; done | LC_ALL=C sort -t '	' -k 1,1 -k 2,2g | awk -F '\t' -v OFS='\t' 'function out() { if (n) print was, v[int((n + 9) / 10)] } \
    $$1 != was { out(); n = 0; was = $$1 } { v[++n] = $$2 } END { out() }'
# looked: for each validation, the name of the run, the seconds and the top-1
looked    = for r in $1; do awk -F '\t' -v name="$${r\#\#*/}" '$(number) FNR == NR { price[$$1] = $$2; next } \
    /"type":"step"/ { t += price[$(shape)] } \
    /"type":"validation"/ { print name "\t" t "\t" number("top1") "\t" number("samples") }' $@.prices $$r/log.jsonl; done
# In awk: collect these lines; there() returns the time at which a run reaches a goal.
collect   = { if ($$1 in n == 0) { name[++runs] = $$1; group = $$1; sub(/-[^-]*$$/, "", group); of[$$1] = group; \
    if (!(group in size)) groups[++kinds] = group; size[group]++ } \
    n[$$1]++; at[$$1, n[$$1]] = $$2; top[$$1, n[$$1]] = $$3; samples = $$4 } \
    function there(r, goal, i) { for (i = 1; i <= n[r]; i++) if (top[r, i] >= goal && (i == n[r] || top[r, i + 1] >= goal)) return at[r, i]; return -1 }

$(OUT)/tune.tsv: $(trials:=/final.safetensors)
	@$(call priced,$(trials)) >$@.prices; $(call looked,$(trials)) | awk -F '\t' -v OFS='\t' -v first=$(first) '$(collect) \
	    END { for (i = 1; i <= runs; i++) { r = name[i]; p = top[r, n[r]]; if (of[r] == first && p > best) best = p } \
	        goal = best - sqrt(best * (1 - best) / samples); \
	        print "#trial", "top1", "seconds", "until_" sprintf("%.4f", goal); \
	        for (i = 1; i <= runs; i++) { r = name[i]; printf "%s\t%.4f\t%.3f\t%.3f\n", r, top[r, n[r]], at[r, n[r]], there(r, goal) } }' >$@.new
	@rm $@.prices && mv $@.new $@
# Choose the best trial of the first schedule.  For another schedule, choose the trial
# that reaches the goal first, or the best if none does.
$(SCHEDULES:%=$(OUT)/%.trial): $(OUT)/%.trial: $(OUT)/tune.tsv
	@awk -F '\t' '{ arm = $$1; sub(/-[^-]*$$/, "", arm) } arm == "$*" { t = $$1; sub(/.*-/, "", t); \
	    key = "$*" == "$(first)" || $$4 < 0 ? $$2 : 1e9 - $$4; if (!chosen || key > most) { most = key; chosen = t } } \
	    END { print chosen }' $< >$@.new && $(keep)

$(OUT)/prices.tsv: $(runs:=/final.safetensors)
	@$(call priced,$(runs)) | { echo '#shape	seconds'; cat; } >$@.new && mv $@.new $@
$(OUT)/report.tsv: $(OUT)/prices.tsv $(SCHEDULES:%=$(OUT)/%.trial) force
	@cp $(OUT)/prices.tsv $@.prices; $(call looked,$(runs)) | awk -F '\t' -v OFS='\t' -v trials="$$(cat $(SCHEDULES:%=$(OUT)/%.trial))" '$(collect) \
	    END { split(trials, trial, /[ \n]/); \
	        for (i = 1; i <= runs; i++) { r = name[i]; g = of[r]; p = top[r, n[r]]; s[g] += p; q[g] += p * p; all[g] += at[r, n[r]] } \
	        g = groups[1]; mean = s[g] / size[g]; \
	        error = size[g] > 1 ? sqrt((q[g] - size[g] * mean * mean) / (size[g] - 1) / size[g]) : 0; goal = mean - error; \
	        for (i = 1; i <= runs; i++) { r = name[i]; t = there(r, goal); if (t >= 0) { met[of[r]]++; sum[of[r]] += t } } \
	        print "#schedule", "trial", "runs", "top1", "seconds", "reached_" sprintf("%.4f", goal), "after", "ratio"; \
	        for (k = 1; k <= kinds; k++) { x = groups[k]; a = met[x] ? sum[x] / met[x] : -1; if (k == 1) base = a; \
	            printf "%s\t%s\t%d\t%.4f\t%.3f\t%d\t%.3f\t%s\n", x, trial[k], size[x], s[x] / size[x], all[x] / size[x], met[x], a, \
	                (a < 0 || base <= 0 ? "-" : sprintf("%.2f", a / base)) } \
	        print "#run", "top1", "after"; \
	        for (i = 1; i <= runs; i++) printf "%s\t%.4f\t%.3f\n", name[i], top[name[i], n[name[i]]], there(name[i], goal) }' >$@.new
	@rm $@.prices && mv $@.new $@
# goal REPORT: the accuracy that it counts until, in percent
goal      = $$(sed -n '1s/.*reached_\([0-9.]*\).*/\1/p' $1 | awk '{ print 100 * $$1 }')
$(OUT)/curves.png: $(OUT)/prices.tsv | $(OUT)/report.tsv
	@for r in $(runs); do p=$(OUT)/priced/$${r##*/}; mkdir -p $$p; cp $$r/schedule.tsv $$p; awk -F '\t' '$(number) FNR == NR { price[$$1] = $$2; next } \
	    /"type":"step"/ { s = price[$(shape)]; sub(/"seconds":[^,}]*/, "\"seconds\":" s); \
	        sub(/"clips_per_s":[^,}]*/, "\"clips_per_s\":" number("batch") / s) } { print }' $< $$r/log.jsonl >$$p/log.jsonl; done
	vt-eval --curve=$(@D)/new.png --curve-target=$(call goal,$(@D)/report.tsv) $(foreach a,$(SCHEDULES),-k '$(call of,$a)') && mv $(@D)/new.png $@

status:
	@for r in $(trials) $(runs); do printf '%s\t' $$r; \
	    if [ -e $$r/config ]; then vt-train --status=$$r || :; else echo 'not begun'; fi; done

force:
.PHONY: all status force
.SECONDARY:
# An interrupted make deletes the targets that it is making, even complete ones,
# except these.
.PRECIOUS: $(runs:=/final.safetensors) $(trials:=/final.safetensors) $(OUT)/report.tsv \
    $(OUT)/train/manifest.json $(OUT)/val/manifest.json $(OUT)/test/manifest.json
