# vt: commands that train video action-recognition networks.
#
#   make              build everything into build/: 3 minutes on two processors
#   make check        build and run the tests: 10 to 20 minutes
#   make check-quick  run the tests of at most three seconds each: 2 minutes
#   make lint         check the text and the tools of the repository
#   make demo         train and evaluate networks on generated videos: 8 minutes
#   make help         show the other targets and the settings

RELEASE = 0.3.0

PREFIX  = /usr/local
BINDIR  = $(PREFIX)/bin
DATADIR = $(PREFIX)/share
MANDIR  = $(DATADIR)/man
BASHDIR = $(DATADIR)/bash-completion/completions
ZSHDIR  = $(DATADIR)/zsh/site-functions
FISHDIR = $(DATADIR)/fish/vendor_completions.d
DESTDIR =
BUILD   = build

CC      = cc
NVCC    = $(or $(shell command -v nvcc 2>/dev/null),$(wildcard /usr/local/cuda/bin/nvcc))
AR      = ar
LD      = ld
OBJCOPY = objcopy
PKG_CONFIG = pkg-config
CFLAGS  = -O2 -g
CPPFLAGS =
LDFLAGS =

# Optional parts: auto builds a part if its libraries are installed, yes requires
# them, no leaves the part out.  A part is a folder.  If a build lacks a part, its
# functions fail with a message.
FFMPEG  = auto
CAIRO   = auto
MPI     = auto
DNNL    = auto
CUDA    = auto
NCCL    = auto

# Compute capabilities of the compiled kernels, without the dot.
CUDA_ARCHS = 80 90

# Builds for machines without the libraries: yes links static archives, except libc,
# CUDA, cuDNN, cuBLASLt and NCCL.  It leaves out parts without an archive, for
# themselves or for a library that they need.
STATIC  = no

-include config.mk

# Build with one job per processor unless -j is given.  Build several goals, as in
# "make clean all", one after the other.
ifeq ($(MAKELEVEL)$(filter-out all install,$(MAKECMDGOALS))$(word 2,$(MAKECMDGOALS)),0)
ifeq ($(filter -j% --jobs%,$(shell echo "$$MAKEFLAGS")),)
MAKEFLAGS += -j$(shell nproc)
endif
endif

NO_ARCHIVE = FFMPEG CAIRO MPI DNNL
ifeq ($(STATIC),yes)
$(foreach p,$(NO_ARCHIVE),$(if $(filter yes,$($(p))),$(error STATIC=yes: $(p)=yes has no static archives)))
$(foreach p,$(NO_ARCHIVE),$(eval override $(p) := no))
endif

# ---- installed libraries ----

has     = $(shell $(PKG_CONFIG) --exists $(1) 2>/dev/null && echo yes)
header  = $(shell printf '\#include <$(1)>\n' | $(CC) $(CPPFLAGS) -E -x c - >/dev/null 2>&1 && echo yes)
# decide(NAME, found, package): turn the setting NAME into yes or no; if it is yes and
# the library was not found, stop and name the package
decide  = $(if $(filter no,$($(1))),no,$(if $(2),yes,$(if $(filter yes,$($(1))),\
          $(error $(1)=yes, but $(3) is not installed),no)))

# The path of nvcc shows the directory of its toolkit.  The headers of the libraries are
# there, or in the default directories of the compiler.
CUDA_HOME := $(patsubst %/bin/,%,$(dir $(realpath $(if $(NVCC),$(shell command -v $(NVCC) 2>/dev/null)))))
CUDA_CPP   = $(if $(CUDA_HOME),-isystem $(CUDA_HOME)/include)
toolkit    = $(shell printf '\#include <$(1)>\n' | $(CC) $(CPPFLAGS) $(CUDA_CPP) -E -x c - >/dev/null 2>&1 && echo yes)
# Compile code for CUDA_ARCHS, and PTX, which later devices compile themselves.
# A kernel has up to 4,128 bytes of arguments (struct input of cuda/args.h).  They
# require a device of at least sm_70 and a toolkit of at least 12.1 (runtime.h).
old_archs := $(shell for a in $(CUDA_ARCHS); do [ "$${a%%[a-z]*}" -ge 70 ] || echo $$a; done)
$(if $(old_archs),$(error CUDA_ARCHS: $(old_archs) (wanted 70 or more)))

CORE_PC    = libarchive libjpeg libpng libxxhash jansson
FFMPEG_PC  = libavformat libavcodec libswscale libavutil
CAIRO_PC   = cairo cairo-ft cairo-pdf cairo-svg fontconfig
MPI_PC     = ompi-c

# Goals that do not build must not require the libraries: deps installs them.
building   = $(filter-out clean help deps demo check check-quick lint uninstall fuzz,$(or $(MAKECMDGOALS),all))
ifneq ($(building),)
missing    := $(strip $(foreach p,$(CORE_PC),$(if $(call has,$(p)),,$(p))))
ifneq ($(missing),)
$(error not installed: $(missing).  'make deps' installs what a Debian system lacks)
endif
HAVE_FFMPEG := $(call decide,FFMPEG,$(call has,$(FFMPEG_PC)),FFmpeg ($(FFMPEG_PC)))
HAVE_CAIRO  := $(call decide,CAIRO,$(call has,$(CAIRO_PC)),cairo ($(CAIRO_PC)))
HAVE_MPI    := $(call decide,MPI,$(call has,$(MPI_PC)),Open MPI ($(MPI_PC)))
HAVE_DNNL   := $(call decide,DNNL,$(call header,oneapi/dnnl/dnnl.h),oneDNN (oneapi/dnnl/dnnl.h))
HAVE_CUDA   := $(call decide,CUDA,$(and $(NVCC),$(call toolkit,cuda_runtime_api.h),$(call toolkit,cudnn.h),$(call toolkit,cublasLt.h)),the CUDA Toolkit with cuDNN and cuBLASLt (nvcc, cudnn.h, cublasLt.h))
HAVE_NCCL   := $(call decide,NCCL,$(and $(filter yes,$(HAVE_CUDA)),$(call toolkit,nccl.h)),the CUDA back end or NCCL (nccl.h))
endif

parts      = FFMPEG CAIRO MPI DNNL CUDA NCCL
label      = $(subst FFMPEG,FFmpeg,$(subst CAIRO,cairo,$(subst MPI,Open MPI,$(subst DNNL,oneDNN,$(1)))))
with       = $(foreach p,$(parts),$(if $(filter yes,$(HAVE_$(p))),$(p)))
without    = $(foreach p,$(parts),$(if $(filter yes,$(HAVE_$(p))),,$(p)))
comma      := ,
empty      :=
list       = $(call label,$(subst $(empty) ,$(comma) ,$(strip $(1))))

# ---- sources ----

optional   = $(if $(filter yes,$(HAVE_$(1))),,$(2))
SKIP       = $(call optional,FFMPEG,lib/media/ffmpeg/%) \
             $(call optional,CAIRO,lib/draw/cairo/%) \
             $(call optional,MPI,lib/comm/mpi/%) \
             $(call optional,DNNL,lib/backend/cpu/%) \
             $(call optional,CUDA,lib/backend/cuda/%) \
             $(call optional,NCCL,lib/backend/cuda/nccl/%)
# The folder "without" replaces a part: its functions fail with a message.
SKIP      += $(if $(filter yes,$(HAVE_FFMPEG)),lib/media/without/%) \
             $(if $(filter yes,$(HAVE_CAIRO)),lib/draw/without/%) \
             $(if $(filter yes,$(HAVE_MPI)),lib/comm/without/mpi.c) \
             $(if $(filter yes,$(HAVE_NCCL)),lib/backend/cuda/without/%)

ARCH      := $(shell uname -m)
ISAS       = base $(if $(filter x86_64,$(ARCH)),avx2 avx512)
ISA_base   =
ISA_avx2   = -mavx2 -mfma
ISA_amx    = $(ISA_avx512) -mavx512bf16 -mamx-tile -mamx-bf16
ISA_vbmi   = $(ISA_avx512) -mavx512vbmi -mavx512vnni
ISA_avx512 = -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512

# cmd/options is in the archive, so a program is linked only with the options it uses.
LIB_C     := $(filter-out $(SKIP),$(wildcard lib/*/*.c lib/*/*/*.c lib/*/*/*/*.c cmd/options/*.c))
LIB_ISA   := $(filter %.isa.c,$(LIB_C))
# Compiled for AMX, or for AVX-512 with VBMI and VNNI, on x86-64 only.
LIB_AMX   := $(filter %.amx.c,$(LIB_C))
LIB_VBMI  := $(filter %.vbmi.c,$(LIB_C))
# Compiled once for each type of the stored values.
REALS      = float double
LIB_REAL  := $(filter %.real.c,$(LIB_C))
LIB_CU    := $(filter-out $(SKIP),$(wildcard lib/*/*/*.cu))
# Kept out of the library, so that a new commit recompiles only this object.
VERSION_O  = $(BUILD)/lib/base/version.o
LIB_O      = $(patsubst %.c,$(BUILD)/%.o,$(filter-out %.isa.c %.amx.c %.vbmi.c %.real.c lib/base/version.c,$(LIB_C))) \
             $(foreach i,$(ISAS),$(patsubst %.isa.c,$(BUILD)/%.$(i).o,$(LIB_ISA))) \
             $(if $(filter x86_64,$(ARCH)),$(patsubst %.amx.c,$(BUILD)/%.amx.o,$(LIB_AMX)) \
             $(patsubst %.vbmi.c,$(BUILD)/%.vbmi.o,$(LIB_VBMI))) \
             $(foreach r,$(REALS),$(patsubst %.real.c,$(BUILD)/%.$(r).o,$(LIB_REAL))) \
             $(patsubst %.cu,$(BUILD)/%.o,$(LIB_CU))
CMD        = $(patsubst cmd/%.c,$(BUILD)/%,$(wildcard cmd/vt-*.c))
MAN        = $(wildcard man/*.[1-9])
SHARE      = share/NEWS.md $(wildcard share/models/*.net share/recipes/*.recipe share/schedules/*.tsv share/weights/*.tsv \
             share/classes/*.txt share/flips/*.tsv share/clusters/*.tsv share/examples/* share/python/*.py)
# Programs find these files in ../share/vt, relative to their own directory.  They can
# therefore be moved, and another PREFIX does not rebuild them.  Only for another
# DATADIR, the path is compiled in.
ELSEWHERE  = $(if $(filter $(patsubst %/bin,%/share,$(BINDIR)),$(DATADIR)),,$(DATADIR)/vt)

# Forbid contraction, which would round differently from file to file.
STRICT     = -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wstrict-prototypes -Wvla \
             -Wmissing-prototypes -ffp-contract=off -fno-math-errno -pthread
DEFINES    = '-DVT_FEATURES="$(call list,$(with))"' '-DVT_MISSING="$(call list,$(without))"' \
             '-DVT_SHARE="$(ELSEWHERE)"' $(foreach p,$(with),-DVT_HAVE_$(p))
PACKAGES   = $(CORE_PC) $(foreach p,$(filter CAIRO MPI,$(with)),$($(p)_PC))
pkg_config = $(if $(building),$(shell $(PKG_CONFIG) $(1)))
FLAGS     := $(STRICT) -Ilib $(call pkg_config,--cflags $(CORE_PC)) -MMD -MP
# Only the folder of a part finds the headers of its libraries, and only PARTS_O read
# which parts there are.  Another choice of parts compiles only these files again.
headers    = $(if $(filter $(1),$(with)),$(call pkg_config,--cflags $($(1)_PC)))
PART_FLAGS =
PARTS_O    = $(patsubst %,$(BUILD)/%.o,lib/base/share lib/base/option_print lib/backend/backends tests/unit/draw tests/unit/formats \
             tests/gpu/cudnn)
$(PARTS_O): PART_FLAGS = $(DEFINES)
$(BUILD)/tests/unit/draw.o: PART_FLAGS += $(call headers,CAIRO)
$(BUILD)/tests/unit/formats.o: PART_FLAGS += $(call headers,FFMPEG)
$(BUILD)/tests/gpu/cudnn.o: PART_FLAGS += $(if $(filter CUDA,$(with)),$(CUDA_CPP))
$(BUILD)/lib/media/ffmpeg/%.o: PART_FLAGS := $(call headers,FFMPEG)
$(BUILD)/lib/draw/cairo/%.o: PART_FLAGS := $(call headers,CAIRO)
$(BUILD)/lib/comm/mpi/%.o $(BUILD)/tests/tools/serialized/%.o: PART_FLAGS := $(call headers,MPI)
$(BUILD)/lib/backend/cuda/%.o $(BUILD)/tests/gpu/%.o: PART_FLAGS := $(if $(filter CUDA,$(with)),$(CUDA_CPP))
# FFmpeg, cuDNN, cuBLASLt and NCCL are loaded at run time (base/library.h); the CUDA runtime is
# linked statically.
# Link all archives that exist of those that the libraries list.  vt uses only a part
# of them; the linker reports a missing one that is needed.
archive    = $(filter /%,$(shell $(CC) -print-file-name=lib$(1).a))
archives   = $(foreach l,$(filter-out -lm -lpthread -ldl,$(call pkg_config,--static --libs $(PACKAGES))),\
             $(if $(filter -l%,$(l)),$(if $(call archive,$(l:-l%=%)),$(l)),$(l)))
LDLIBS    := $(VERSION_O) $(if $(filter yes,$(STATIC)),-static-libgcc -Wl$(comma)-Bstatic $(archives) -Wl$(comma)-Bdynamic,$(call pkg_config,--libs $(PACKAGES))) \
             $(if $(filter DNNL,$(with)),-ldnnl -lgomp) \
             $(if $(filter CUDA,$(with)),-L$(CUDA_HOME)/lib64 -lcudart_static -lrt) -lm -ldl
# Kernels write fused multiply-adds explicitly; the compiler must not contract (kernel.h).
NVCCFLAGS  = -O2 -std=c++17 -Ilib -fmad=false -lineinfo -Xcompiler -Wall,-Wextra,-fno-exceptions,-fno-threadsafe-statics \
             $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) \
             -gencode arch=compute_$(lastword $(CUDA_ARCHS)),code=compute_$(lastword $(CUDA_ARCHS))
LINK       = @mkdir -p $(@D); echo "$(CC) $@"; $(CC) $(CFLAGS) -pthread -Wl,--as-needed $(LDFLAGS) -o $@

# The release, and the commit if this directory is the top of a git repository.
# safe.directory lets root build in the repository of another user.
COMMIT     = $(shell [ ! -e .git ] || GIT_OPTIONAL_LOCKS=0 git -c safe.directory='$(CURDIR)' \
             describe --always --exclude='*' --abbrev=12 --dirty 2>/dev/null)
VERSION   := $(RELEASE)$(if $(building),$(addprefix +,$(COMMIT)))

# ---- building ----

all: $(CMD) $(BUILD)/motions

$(CMD): $(BUILD)/version
$(BUILD)/libvt.a: $(LIB_O) | $(VERSION_O)
	@rm -f $@; echo "$(AR) $@"; $(AR) rcs $@ $^
$(BUILD)/vt-%: $(BUILD)/cmd/vt-%.o $(BUILD)/libvt.a
	$(LINK) $(filter %.o,$^) $(BUILD)/libvt.a $(LDLIBS)
# Only the demo and the tests write videos, for which they link with FFmpeg.
FFMPEG_LIBS = $(if $(filter FFMPEG,$(with)),$(call pkg_config,--libs $(FFMPEG_PC)))
$(BUILD)/motions: private LDLIBS += $(FFMPEG_LIBS)
ENCODE_O   = $(BUILD)/share/demo/encode$(call optional,FFMPEG,_without).o
$(BUILD)/motions: $(BUILD)/share/demo/motions.o $(BUILD)/share/demo/scene.o $(ENCODE_O) $(BUILD)/libvt.a
	$(LINK) $^ $(LDLIBS)
# Commands of more than one file.
$(BUILD)/vt-train: $(BUILD)/cmd/train_options.o
$(BUILD)/vt-schedule: $(BUILD)/cmd/schedule_draw.o
include tests/build.mk

# A file of settings is written again only if they change.  Every object depends on the
# flags; those that depend on the choice of parts also depend on the file parts.
settings   = @mkdir -p $(@D); echo '$(subst ','\'',$(1))' | cmp -s - $@ || echo '$(subst ','\'',$(1))' >$@
$(BUILD)/flags: force
	$(call settings,$(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS))
$(BUILD)/parts: force
	$(call settings,$(DEFINES) $(foreach p,FFMPEG CAIRO MPI,$(call headers,$(p))) $(LDLIBS))
$(PARTS_O) $(filter $(foreach p,media/ffmpeg draw/cairo comm/mpi,$(BUILD)/lib/$(p)/%),$(LIB_O)): $(BUILD)/parts
$(filter $(BUILD)/lib/backend/cuda/%,$(LIB_O)): $(BUILD)/nvcc-flags

$(BUILD)/version: force
	$(call settings,$(VERSION))

$(BUILD)/nvcc-flags: force
	$(call settings,$(NVCC) $(CUDA_CPP) $(NVCCFLAGS))

COMPILE    = @mkdir -p $(@D); echo "$(CC) $@"; $(CC) $(FLAGS) $(PART_FLAGS) $(CPPFLAGS) $(CFLAGS)
$(BUILD)/%.o: %.c $(BUILD)/flags
	$(COMPILE) -c -o $@ $<
$(VERSION_O): lib/base/version.c $(BUILD)/flags $(BUILD)/version
	$(COMPILE) '-DVT_VERSION="$(VERSION)"' -c -o $@ $<
$(foreach i,$(ISAS),$(eval \
$(BUILD)/%.$(i).o: %.isa.c $(BUILD)/flags ; \
	$$(COMPILE) -O3 $$(ISA_$(i)) -DVT_ISA=$(i) -c -o $$@ $$<))
# Without AVX, GCC 12 takes 25 s for this file at -O3, and 9 at -O1.
$(BUILD)/lib/backend/cpu/bf16/norm.base.o: private ISA_base += $(if $(filter x86_64,$(ARCH)),-O1)
$(BUILD)/%.amx.o: %.amx.c $(BUILD)/flags
	$(COMPILE) -O3 $(ISA_amx) -c -o $@ $<
$(BUILD)/%.vbmi.o: %.vbmi.c $(BUILD)/flags
	$(COMPILE) -O3 $(ISA_vbmi) -c -o $@ $<
$(foreach r,$(REALS),$(eval \
$(BUILD)/%.$(r).o: %.real.c $(BUILD)/flags ; \
	$$(COMPILE) -O3 -DREAL=$(r) -c -o $$@ $$<))
$(BUILD)/%.o: %.cu $(BUILD)/nvcc-flags
	@mkdir -p $(@D); echo "nvcc $@"; $(NVCC) $(NVCCFLAGS) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

# ---- using ----

# Without -j, goals that build first use all processors for it.
ALL_CORES  = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

# Install missing packages, then call make again.
deps:
	@DEPS_TELL=yes share/deps build $(if $(filter yes,$(CUDA)),cuda) $(if $(filter yes,$(NCCL)),nccl)
check:
	@share/deps build check
	@$(MAKE) --no-print-directory $(ALL_CORES) check-run
check-quick:
	@share/deps build check
	@$(MAKE) --no-print-directory $(ALL_CORES) check-quick-run
lint:
	@share/deps build check
	@$(MAKE) --no-print-directory $(ALL_CORES) lint-run
demo:
	@share/deps build demo
	@$(MAKE) --no-print-directory $(ALL_CORES) demo-run

check-run: all $(TEST) $(FAULT_SO)
	@BUILD=$(BUILD) tests/run $(TESTS)
# Run the tests without a weight, and build only their programs.
check-quick-run: all $(QUICK_TEST)
	@BUILD=$(BUILD) tests/run -q $(TESTS)
# Check the repository.
lint-run: all $(TEST)
	@BUILD=$(BUILD) tests/run -l $(TESTS)
# Run the tests, or the parts of lease in TESTS, on the GPU of this machine; exit 2
# without one.
check-gpu: all $(TEST)
	@BUILD=$(BUILD) tests/gpu/contact/lease -t 900 $(or $(TESTS),right)
# Run the programs in tests/torture: long tests that print their actions.
torture: all $(TEST) $(FAULT_SO)
	@BUILD=$(BUILD) LIMIT=10800 SHOW=yes SEED='$(SEED)' COUNT='$(COUNT)' tests/run \
	    $(or $(TESTS),$(patsubst tests/%,%,$(shell find tests/torture -type f -perm -u+x)))
demo-run: all
	@BUILD=$(BUILD) OUT='$(OUT)' SEED='$(SEED)' share/demo/run
# Run each fuzzer in tests/fuzz, or those in TARGETS, for TIME seconds.
TIME = 60
fuzz:
	@BUILD=$(BUILD) tests/fuzz/run $(TIME) $(TARGETS)
# Check random networks from number SEED on, until stopped, or COUNT of them.
fuzz-nets: $(BUILD)/tests/fuzz-networks
	@$< -n '$(or $(COUNT),0)' -s '$(or $(SEED),1)' -j $(shell nproc)
bench: all
	@BUILD=$(BUILD) tests/bench/run

# Installed files: mode, source and destination, separated by colons.
INSTALLED  = $(foreach f,$(CMD),755:$(f):$(BINDIR)/$(notdir $(f))) \
             $(foreach f,$(SHARE),644:$(f):$(DATADIR)/vt/$(f:share/%=%)) \
             $(foreach f,$(MAN),644:$(f):$(MANDIR)/man$(subst .,,$(suffix $(f)))/$(notdir $(f))) \
             $(foreach f,$(notdir $(CMD)),644:completions/vt.bash:$(BASHDIR)/$(f) \
                 644:completions/vt.fish:$(FISHDIR)/$(f).fish) \
             644:completions/_vt:$(ZSHDIR)/_vt
PLACES     = $(foreach i,$(INSTALLED),$(lastword $(subst :, ,$(i))))

install: all
	@for i in $(INSTALLED); do \
	    mode=$${i%%:*} to="$(DESTDIR)$${i##*:}" i=$${i#*:} && echo "install $$to" && \
	    install -D -m $$mode $${i%:*} "$$to" && case $$i in man/*) \
	    sed -i 's|/usr/local/share/vt|$(DATADIR)/vt|g' "$$to" ;; esac || exit 1; done

# Also remove empty folders: all of them under DESTDIR, otherwise only those of vt.
uninstall:
	@for i in $(PLACES); do echo "remove $(DESTDIR)$$i" && rm -f "$(DESTDIR)$$i" || exit 1; done
	@cd "$(DESTDIR)/" && for i in $(patsubst %/,%,$(sort $(dir $(PLACES)))); do case $$i in \
	    $(DATADIR)/vt/*) rmdir ".$$i" ".$${i%/*}" ;; esac; \
	    [ -z "$(DESTDIR)" ] || rmdir -p ".$$i"; done 2>/dev/null || :

clean:
	rm -rf $(BUILD)

help:
	@sed -n 's/^#   make/  make/p' Makefile
	@echo '  make check-gpu    test --device=cuda on the GPU of this machine'
	@echo '  make bench        measure this machine by vt-bench: some minutes'
	@echo '  make fuzz         fuzz each of the readers for TIME=60 seconds (needs clang)'
	@echo '  make fuzz-nets    check random networks against ref until stopped'
	@echo '  make torture      inject thousands of faults, kills and damages: an hour;'
	@echo '                    SEED= and COUNT= choose which and how many'
	@echo '  make install      install into PREFIX=$(PREFIX), below DESTDIR= if given; see uninstall'
	@echo '  make deps         install the Debian packages of a build; DEPS=no only prints them'
	@echo '  make clean        remove $(BUILD)/'
	@echo 'Settings: CC CFLAGS CPPFLAGS LDFLAGS BUILD, and auto, yes or no for'
	@echo 'FFMPEG CAIRO MPI DNNL CUDA NCCL; STATIC=yes links archives.  make check TESTS="ops shard" runs only these tests;'

force:
.PHONY: all deps check check-quick lint check-run check-quick-run lint-run check-gpu demo demo-run fuzz fuzz-nets torture bench install uninstall clean help force
.SECONDARY:
.DELETE_ON_ERROR:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
