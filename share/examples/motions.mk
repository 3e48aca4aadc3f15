# motions.mk: weights that know motion, learned from nothing, for transfer.mk and
# for --init:
#
#   make -f motions.mk MOTIONS=build/motions
#
# Draws the videos of eight camera moves (share/demo), from near, packs them, and
# trains a TSM-ResNet-18 whose classifier sees normalised features: of 512
# features with a mean far from zero, it swings at learning rates that hardly move
# the convolutions.  With these settings the loss leaves ln 8 after some 1,000
# steps of 8 clips; some sixteen others, without the normalisation and on the
# demo's own scenes for the most part, had not in 700 to 2,900.  Which of the
# differences it takes was not separated.  vt-train --init takes all layers but the
# last two.
#
# Interrupt it whenever you like and type the same again.  The training takes
# about 12 minutes of one core of a Zen 4 (34 clips a second).

MOTIONS   = motions
OUT       = motions
SEED      = 7
TRAIN     = 240
TEST      = 40
EPOCHS    = 12
TRAINING  = --no-flip --clip-grad=20 --precision=bf16
THREADS   = 0

models   := $(dir $(lastword $(MAKEFILE_LIST)))../models

$(OUT)/run/final.safetensors: $(OUT)/tsm_r18_neck.net $(OUT)/schedule.tsv | $(OUT)/train/manifest.json $(OUT)/test/manifest.json
	vt-train --data=$(OUT)/train --val=$(OUT)/test --model=$(OUT)/tsm_r18_neck.net --schedule=$(OUT)/schedule.tsv \
	    $(TRAINING) --threads=$(THREADS) --output=$(@D)

$(OUT)/tsm_r18_neck.net: $(models)/tsm_r18.net
	@mkdir -p $(OUT)
	sed -e '/^dropout/d' -e 's/^linear .*/bn       neck     in=avgpool\nlinear   fc       in=neck out=classes/' $< >$@.new && mv $@.new $@
$(OUT)/schedule.tsv:
	@mkdir -p $(OUT)
	vt-schedule --batch=8 --bn-size=8 --frames=8 --crop=48 --lr=0.001 --warmup-epochs=0.5 --epochs=$(EPOCHS) \
	    --milestones=$$(expr $(EPOCHS) \* 5 / 6) -o $@

# Drawn anew as a whole where that was stopped; a pack goes on.
$(OUT)/drawn:
	rm -rf $(OUT)/videos
	$(MOTIONS) $(OUT)/videos $(TRAIN) $(TEST) $(SEED) near
	touch $@
$(OUT)/train/manifest.json $(OUT)/test/manifest.json: %/manifest.json: | $(OUT)/drawn
	find $(OUT)/videos/$(notdir $*) -type f | LC_ALL=C sort >$*.txt
	vt-extract --short-side=72 --label-from=dir --root=$(OUT)/videos/$(notdir $*) --on-error=skip -T $*.txt | vt-pack -o $*
	touch $@
