# time-to-accuracy.mk: how much sooner is one schedule as good as another, on your
# videos?  From three lists of videos to a table that says so:
#
#   make -f time-to-accuracy.mk VIDEOS=actions TRAIN=actions/train.csv \
#       VAL=actions/val.csv TEST=actions/test.csv
#
# A list names a video and its class on each line (vt-extract(1), --annotations); the
# paths begin at VIDEOS.  Everything is made in OUT: report.tsv is the table,
# tune.tsv what the trials gave, and curves.png the accuracy over time.
#
# Each schedule is tried with its TRIALS, as many for one as for the other, on
# TRAIN and VAL; what was chosen is trained with each seed and looked at on TEST,
# 30 times a run.  The first schedule says how good is good enough: its mean at
# the end less one standard error.  A run is there at the first of two looks one
# after another that are no worse.  Of the first schedule the best trial is taken,
# of the others the one that is there first.
#
# Times are those of training without the looks.  So that other work on the
# machine does not count, a step of a shape costs what the fastest tenth of all
# such steps of all runs took (prices.tsv), in the table as in the curves; all must
# have run on one machine.
#
# Interrupt it whenever you like and type the same again: it goes on where it
# was.  What make calls "Error 75" is a run that was stopped and saved.
#
#   make -f time-to-accuracy.mk ... -j2 THREADS=1   two runs at once
#   make -f time-to-accuracy.mk ... status          how far each run is
#
# To change more than that, copy this file and edit it.

VIDEOS    = .
TRAIN     = train.csv
VAL       = val.csv
TEST      = test.csv
NET       = tsm_tiny
OUT       = time-to-accuracy

# What is compared, and what each is tried with.  Multigrid sees the clips more
# often in the same time: its coarse cells are cheap.
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
EXTRACT   = --short-side=72
SHAPE     = --batch=8 --frames=8 --crop=48 --warmup-epochs=1
TRAINING  = --clip-grad=20 --precise-bn=256

# Threads of a run, 0 for all cores; and what starts it, as MPIRUN='mpirun -np 2'.
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
# of SCHEDULE: logs of its runs at these prices, as vt-eval --curve names a group
of        = $1=$(subst $(space),$(comma),$(patsubst $(OUT)/%,$(OUT)/priced/%,$(filter $(OUT)/$1-%,$(runs))))

all: $(OUT)/report.tsv $(OUT)/curves.png
	@cat $(OUT)/report.tsv

# make compares times and not settings, so they are written at each start and
# compared: what was made by other settings is not mixed with these.
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

# A pack that was stopped goes on.
$(OUT)/train/manifest.json: $(TRAIN) | $(OUT)/settings
	vt-extract --annotations=$< --root=$(VIDEOS) $(EXTRACT) | vt-pack -o $(@D)
	touch $@
$(OUT)/val/manifest.json: $(VAL)
$(OUT)/test/manifest.json: $(TEST)
$(OUT)/val/manifest.json $(OUT)/test/manifest.json: $(OUT)/train/manifest.json
	vt-extract --annotations=$(word 2,$^) --root=$(VIDEOS) $(EXTRACT) --classes=$(OUT)/train/classes.txt | vt-pack -o $(@D)
	touch $@

# looks FILE: a thirtieth of the epochs of a schedule
looks     = $$(awk -F '\t' '!/^\#/ { e = $$3 } END { print e / 30 }' $1)
# A line a step, since the shapes of short cycles change with every step.
learn     = $(MPIRUN) vt-train --model=$(NET) --data=$(OUT)/train $(TRAINING) --log-every=1 --threads=$(THREADS) --output=$(@D)
# final.safetensors has its name once all steps are done, and not before.
$(trials:=/final.safetensors): $(OUT)/tune/%/final.safetensors: $(OUT)/tune/%.tsv | $(OUT)/train/manifest.json $(OUT)/val/manifest.json
	$(learn) --val=$(OUT)/val --val-every=$(call looks,$<) --schedule=$< >/dev/null
define run
$(OUT)/$1-$2/final.safetensors: $(OUT)/$1.trial | $(OUT)/test/manifest.json
	s=$(OUT)/tune/$1-$$$$(cat $$<).tsv && $$(learn) --val=$(OUT)/test --val-every=$$(call looks,$$$$s) --schedule=$$$$s --seed=$2 >/dev/null
endef
$(foreach a,$(SCHEDULES),$(foreach s,$(SEEDS),$(eval $(call run,$a,$s))))

# field NAME: of a line of log.jsonl, in awk
number    = function number(name) { return match($$0, "\"" name "\":[^,}]*") ? substr($$0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0 : 0 }
shape     = number("batch") "x" number("frames") "x" number("crop")
priced    = for r in $1; do awk '$(number) /"type":"step"/ { print $(shape) "\t" number("seconds") }' \
    $$r/log.jsonl; done | LC_ALL=C sort -t '	' -k 1,1 -k 2,2g | awk -F '\t' -v OFS='\t' 'function out() { if (n) print was, v[int((n + 9) / 10)] } \
    $$1 != was { out(); n = 0; was = $$1 } { v[++n] = $$2 } END { out() }'
# looked: of each run its name, and the seconds and top-1 at each look
looked    = for r in $1; do awk -F '\t' -v name="$${r\#\#*/}" '$(number) FNR == NR { price[$$1] = $$2; next } \
    /"type":"step"/ { t += price[$(shape)] } \
    /"type":"validation"/ { print name "\t" t "\t" number("top1") "\t" number("samples") }' $@.prices $$r/log.jsonl; done
# in awk: what is known of runs, from such lines
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
# The best of the first; of the others the one that is there first, or the best.
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
# make would remove what is finished when it is interrupted a moment later.
.PRECIOUS: $(runs:=/final.safetensors) $(trials:=/final.safetensors) $(OUT)/report.tsv \
    $(OUT)/train/manifest.json $(OUT)/val/manifest.json $(OUT)/test/manifest.json
