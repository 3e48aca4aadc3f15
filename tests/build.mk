# Programs that only tests link: the tests themselves, and the commands with a part
# replaced. The Makefile includes this file.

# ---- the programs ----

UNIT      := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/*.c))
GPU       := $(patsubst tests/gpu/%.c,$(BUILD)/tests/%,$(wildcard tests/gpu/*.c))
TEST       = $(UNIT) $(GPU) \
             $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/tools/*.c)) \
             $(patsubst tests/%.c,$(BUILD)/tests/%,$(filter-out %/replay.c,$(wildcard tests/fuzz/*.c))) $(BUILD)/tests/fuzz-networks \
             $(BUILD)/tests/allocs/vt-train $(BUILD)/tests/allocs/vt-extract $(BUILD)/tests/drill/vt-train \
             $(BUILD)/tests/async/vt-train $(BUILD)/tests/spoil/vt-bench $(BUILD)/tests/hang/vt-extract \
             $(if $(filter yes,$(HAVE_MPI)),$(BUILD)/tests/serialized/vt-train) \
             $(DISCRETE:%=$(BUILD)/discrete/%) $(BUILD)/gpu/vt-train $(BUILD)/gpu/vt-eval \
             $(BUILD)/gpu/vt-bench $(BUILD)/gpu/ceilings
# The programs of the quick tests (tests/run -q), and those that quick scripts name.
QUICK     := $(basename $(shell grep -L 'tests/run: weight' tests/unit/*.c tests/gpu/*.c))
QUICK     := $(patsubst %,tests/%,$(notdir $(QUICK))) $(shell grep -L 'tests/run: weight' tests/*/*.sh | xargs grep -ohE 'tests/[a-z/_-]+')
QUICK_TEST = $(filter $(QUICK:%=$(BUILD)/%) $(BUILD)/tests/tools/%,$(TEST))
# The stand-in for a GPU (tests/gpu/standin), and the cuda back end without the files
# that call a vendor's library. This tests the back end on machines without a GPU.
GPU_C      = $(wildcard tests/gpu/standin/*.c) $(call optional,CUDA,tests/gpu/standin/none/runtime.c $(filter-out \
             $(addprefix lib/backend/cuda/,runtime% cudnn% cublas% kernels.c),$(wildcard lib/backend/cuda/*.c)) \
             lib/backend/cuda/without/nccl.c)
GPU_O      = $(patsubst %.c,$(BUILD)/%.o,$(GPU_C))
# The library that tests preload to make system calls fail. Builds with a sanitizer omit
# the heap's part, because a sanitizer has its own allocator. ThreadSanitizer also has
# its own signals. The code that catches system calls depends on the processor.
FAULT_C   := $(if $(findstring -fsanitize=thread,$(CFLAGS)),,$(if $(filter x86_64,$(ARCH)),\
             tests/torture/fault.c $(if $(findstring -fsanitize,$(CFLAGS)),,tests/torture/fault_heap.c)))
FAULT_SO   = $(if $(FAULT_C),$(BUILD)/tests/fault.so)

# ---- how it is linked ----

$(BUILD)/tests/tools/%: $(BUILD)/tests/tools/%.o $(BUILD)/share/demo/scene.o $(BUILD)/libvt.a
	$(LINK) $^ $(LDLIBS)
# Link a fuzz target with our main (replay.c), and with that of libFuzzer.
$(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/tests/fuzz/replay.o $(BUILD)/libvt.a
	$(LINK) $^ $(LDLIBS)
# Random networks and their checks.
$(BUILD)/tests/fuzz-networks: $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/fuzz/networks/*.c)) \
    $(BUILD)/tests/support.a $(BUILD)/libvt.a
	$(LINK) $^ $(LDLIBS)
$(BUILD)/fuzz-%: $(BUILD)/tests/fuzz/%.o $(BUILD)/libvt.a
	$(LINK) -fsanitize=fuzzer $^ $(LDLIBS)
# These also need the object that $(BUILD)/vt-train links.
$(BUILD)/tests/allocs/vt-train $(BUILD)/tests/drill/vt-train $(BUILD)/tests/async/vt-train \
$(BUILD)/tests/serialized/vt-train \
$(BUILD)/discrete/vt-train $(BUILD)/gpu/vt-train: $(BUILD)/cmd/train_options.o
# Commands whose calls of these functions go through tests/tools/allocs/count.c.
WRAPPED    = malloc calloc realloc posix_memalign aligned_alloc mmap watch_phase video_next
$(BUILD)/tests/allocs/%: $(BUILD)/cmd/%.o $(BUILD)/tests/tools/allocs/count.o $(BUILD)/libvt.a
	$(LINK) $(WRAPPED:%=-Wl,--wrap=%) $(filter %.o,$^) $(BUILD)/libvt.a $(LDLIBS)
# A vt-train that flips a bit at the place in VT_FLIP_BIT.
DRILLED    = audit_open audit_looks audit_look optim_step optim_finish
$(BUILD)/tests/drill/%: $(BUILD)/cmd/%.o $(BUILD)/tests/tools/drill/drill.o $(BUILD)/libvt.a
	$(LINK) $(DRILLED:%=-Wl,--wrap=%) $(filter %.o,$^) $(BUILD)/libvt.a $(LDLIBS)
# A vt-train whose learners make asynchronous SGD.
$(BUILD)/tests/async/%: $(BUILD)/cmd/%.o $(BUILD)/tests/tools/async/async.o $(BUILD)/libvt.a
	$(LINK) -Wl,--wrap=learners_step $(filter %.o,$^) $(BUILD)/libvt.a $(LDLIBS)
# A vt-bench whose results are wrong.
SPOILED    = allreduce_run exact_allreduce extract_video loader_next parity_compare fixture_loss stored_compare
$(BUILD)/tests/spoil/%: $(BUILD)/cmd/%.o $(BUILD)/tests/tools/spoil/spoil.o $(BUILD)/libvt.a
	$(LINK) $(SPOILED:%=-Wl,--wrap=%) $(filter %.o,$^) $(BUILD)/libvt.a $(LDLIBS)
# A vt-extract whose decoder crashes, loops or grows.
$(BUILD)/tests/hang/%: $(BUILD)/cmd/%.o $(BUILD)/tests/tools/hang/hang.o $(BUILD)/libvt.a
	$(LINK) -Wl,--wrap=video_open -Wl,--wrap=video_next $(filter %.o,$^) $(BUILD)/libvt.a $(LDLIBS)
# A vt-train whose MPI is limited to MPI_THREAD_SERIALIZED.
ONE_THREAD = MPI_Init_thread MPI_Query_thread MPI_Isend MPI_Irecv MPI_Testall MPI_Comm_split \
             MPI_Comm_free MPI_Allreduce
$(BUILD)/tests/serialized/%: $(BUILD)/cmd/%.o $(BUILD)/tests/tools/serialized/mpi.o $(BUILD)/libvt.a
	$(LINK) $(ONE_THREAD:%=-Wl,--wrap=%) $(filter %.o,$^) $(BUILD)/libvt.a $(LDLIBS)
# Programs that take device_open from tests/tools/discrete/device.c: their ref is a device
# whose memory the host cannot touch. With BUILD=build/discrete, a test of commands runs
# these programs.
DISCRETE      = vt-train vt-eval vt-bench touch tests/checkpoint tests/freeze tests/weights_match tests/optimizers \
             tests/loss_scale tests/sync_bn tests/precise tests/running tests/optimizer_state tests/step
DISCRETE_O    = $(patsubst %,$(BUILD)/tests/tools/discrete/%.o,device memory fabric)
DISCRETE_W    = $(foreach f,device_open fabric_open,-Wl,--wrap=$(f))
$(BUILD)/discrete/vt-%: $(BUILD)/cmd/vt-%.o $(DISCRETE_O) $(BUILD)/libvt.a
	$(LINK) -rdynamic $(DISCRETE_W) $(filter %.o,$^) $(BUILD)/libvt.a $(LDLIBS)
$(BUILD)/discrete/touch: $(BUILD)/tests/tools/discrete/touch.o $(DISCRETE_O) $(BUILD)/libvt.a
	$(LINK) -rdynamic $(DISCRETE_W) $(filter %.o,$^) $(BUILD)/libvt.a $(LDLIBS)
$(BUILD)/discrete/tests/%: $(BUILD)/tests/unit/%.o $(DISCRETE_O) $(BUILD)/tests/support.a $(BUILD)/libvt.a
	$(LINK) -rdynamic $(DISCRETE_W) $(filter %.o,$^) $(filter %.a,$^) $(LDLIBS)
# Commands with the stand-in for a GPU in the place of ref.
$(BUILD)/gpu/vt-%: $(BUILD)/cmd/vt-%.o $(BUILD)/tests/gpu/standin/open.o $(BUILD)/tests/support.a $(BUILD)/libvt.a
	$(LINK) -Wl,--wrap=device_open $(filter %.o,$^) $(filter %.a,$^) $(LDLIBS)
$(BUILD)/gpu/ceilings: $(BUILD)/tests/gpu/contact/ceilings.o $(BUILD)/tests/support.a $(BUILD)/libvt.a
	$(LINK) $^ $(LDLIBS)
# One program with the commands and tests for a machine with a GPU, so that it contains
# the kernels only once (tests/gpu/contact/carry). Each part is linked by itself and
# exports only its main, as main_PART.
GPU_TESTS  = ops aside gpu_nets gpu_graphs gpu_ahead gpu_judge gpu_link gpu_train gpu_whole
GPU_MAINS  = vt-train vt-bench ceilings makeset $(GPU_TESTS)
PARTS_OF_vt-train = cmd/vt-train cmd/train_options
PARTS_OF_vt-bench = cmd/vt-bench
PARTS_OF_ceilings = tests/gpu/contact/ceilings
PARTS_OF_makeset  = tests/tools/makeset share/demo/scene
$(foreach t,$(GPU_TESTS),$(eval PARTS_OF_$(t) = $(basename $(wildcard tests/unit/$(t).c tests/gpu/$(t).c))))
identifier = $(subst -,_,$(1))
$(foreach m,$(GPU_MAINS),$(eval $(BUILD)/gpu/$(m).main.o: $(PARTS_OF_$(m):%=$(BUILD)/%.o)))
$(BUILD)/gpu/%.main.o:
	@mkdir -p $(@D)
	$(LD) -r -o $@ $^
	$(OBJCOPY) --redefine-sym main=main_$(call identifier,$*) --keep-global-symbol=main_$(call identifier,$*) $@
$(BUILD)/tests/gpu/contact/program.o: tests/build.mk
$(BUILD)/tests/gpu/contact/program.o: private FLAGS += '-DMAINS(X)=$(foreach m,$(call identifier,$(GPU_MAINS)),X($(m)))'
$(BUILD)/gpu/program: $(BUILD)/tests/gpu/contact/program.o $(GPU_MAINS:%=$(BUILD)/gpu/%.main.o) $(BUILD)/tests/support.a $(BUILD)/libvt.a
	$(LINK) $^ $(LDLIBS)
# This test checks the size of each allocation.
$(BUILD)/tests/weights_mutated: LINK += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
$(BUILD)/tests/alloc_failures $(BUILD)/tests/video: $(ENCODE_O)
$(foreach t,alloc_failures formats video,$(BUILD)/tests/$(t)): private LDLIBS += $(FFMPEG_LIBS)
$(UNIT): $(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(BUILD)/tests/support.a $(BUILD)/libvt.a
	$(LINK) $(filter %.o,$^) $(filter %.a,$^) $(LDLIBS)
$(GPU): $(BUILD)/tests/%: $(BUILD)/tests/gpu/%.o $(BUILD)/tests/support.a $(BUILD)/libvt.a
	$(LINK) $^ $(LDLIBS)
# A libnccl.so.2 without GPUs.  Its soname is that of NCCL.
$(BUILD)/tests/gpu_link: | $(if $(filter NCCL,$(with)),$(BUILD)/tests/libnccl.so.2)
$(BUILD)/tests/libnccl.so.2: tests/tools/nccl/nccl.c $(wildcard tests/gpu/standin/*.h) lib/backend/cuda/driver.h
	@mkdir -p $(@D)
	$(CC) $(STRICT) -O2 -g -fPIC -shared -Ilib -Itests $(CUDA_CPP) -Wl,-soname,$(@F) -o $@ $<
# Tests include their own headers by path from tests/.  Without private, a prerequisite
# that is made for such an object, the file of flags, would have these flags too.
$(BUILD)/tests/%.o: private FLAGS += -Itests
# The stand-in's reference loops take most of the time of its tests.
$(BUILD)/tests/gpu/standin/loops.o: private CFLAGS += -O3
# The stand-in for a GPU, and threads in the place of rank processes.
$(BUILD)/tests/support.a: $(GPU_O) $(BUILD)/tests/tools/threads/threads.o
	@rm -f $@
	@echo "$(AR) $@"; $(AR) rcs $@ $^

$(BUILD)/tests/fault.so: $(FAULT_C) tests/torture/fault.h
	@mkdir -p $(@D)
	$(CC) $(STRICT) -O2 -g -fPIC -shared -o $@ $(FAULT_C)
