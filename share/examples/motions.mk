# motions.mk: train weights on generated videos of motion, from scratch, for
# transfer.mk and for --init:
#
#   make -f motions.mk MOTIONS=build/motions
#
# It draws videos of eight camera moves (share/demo, setting near), packs them, and
# trains a TSM-ResNet-18 with a norm before its classifier.  Without this norm, the 512
# features have means far from zero, and the classifier oscillates at learning rates
# that hardly change the convolutions.
#
# With these settings the loss falls below ln 8 after about 1,000 steps of 8 clips.
# About 16 other settings, without the norm and mostly on the scenes of the demo, did
# not get there in 700 to 2,900 steps.  We did not measure which of the differences is
# needed.  vt-train --init loads all layers except the last two.
#
# You can interrupt it at any time; the same command resumes it.  The training takes
# about 12 minutes on one core of a Zen 4 (34 clips per second).

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

# If the drawing was stopped, all videos are drawn again.  vt-pack resumes.
$(OUT)/drawn:
	rm -rf $(OUT)/videos
	$(MOTIONS) $(OUT)/videos $(TRAIN) $(TEST) $(SEED) near
	touch $@
$(OUT)/train/manifest.json $(OUT)/test/manifest.json: %/manifest.json: | $(OUT)/drawn
	find $(OUT)/videos/$(notdir $*) -type f | LC_ALL=C sort >$*.txt
	vt-extract --short-side=72 --label-from=dir --root=$(OUT)/videos/$(notdir $*) --on-error=skip -T $*.txt | vt-pack -o $*
	touch $@
