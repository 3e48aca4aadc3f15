# Made by completions/make.

# The networks that are installed with the command.
function __vt_networks
    set -l program (command -s (commandline -opc)[1])
    set program (dirname (realpath "$program"))
    for file in $VT_SHARE_DIR/models/*.net $program/../share/vt/models/*.net $program/../share/models/*.net
        string replace -r '.*/(.*)\.net$' '$1' $file
    end
end

# What the typed value of an option can become, of paths with these endings.
function __vt_paths
    set -l endings (string join '|' -- (string escape --style=regex -- $argv))
    set -l word (string replace -r '^(--[^=]*=|-[^-])' '' -- (commandline -ct))
    complete -C "'' $word" | string match -r ".*(?:$endings)\$"
end

complete -c vt-bench -s i -l data -r -f -a '(__vt_paths /)' -d 'decode, loader, step, profile: read this dataset'
complete -c vt-bench -s m -l model -r -f -a '(__vt_networks) (__vt_paths / .net)' -d 'choose an installed network or a .net file (tsm_r50)'
complete -c vt-bench -l shape -r -f -d 'set clips, frames and crop size; may be repeated'
complete -c vt-bench -l schedule -r -F -d 'loader, step, profile, cluster, ...: use its shapes'
complete -c vt-bench -l num-classes -r -f -d 'set the number of classes without --data (400)'
complete -c vt-bench -l kinds -d 'step: also time each kind of operator'
complete -c vt-bench -l convs -d 'step: also time each convolution, in it and alone'
complete -c vt-bench -l sheet -r -F -d 'loader: draw the first clips: .png, .svg or .pdf'
complete -c vt-bench -l images -r -f -d 'decode: decode N frames of --data in a run (256)'
complete -c vt-bench -l short-side -r -f -d 'decode: downscale the short side to N; 0: off (256)'
complete -c vt-bench -l min -r -f -d 'allreduce: set the smallest vector (4K)'
complete -c vt-bench -l max -r -f -d 'allreduce: set the largest vector (64M)'
complete -c vt-bench -l factor -r -f -d 'allreduce: multiply each size by N for the next (4)'
complete -c vt-bench -l vectors -r -f -d 'allreduce: sum N vectors (0: one for each rank)'
complete -c vt-bench -l algorithm -r -f -a 'exact native ring torus halving' -d 'allreduce, count: exact, native, ring, torus, ...'
complete -c vt-bench -l comm-dtype -r -f -a 'fp32 bf16 fp16' -d 'allreduce, count: send fp32, bf16 or fp16 (fp32)'
complete -c vt-bench -l overlap -d 'allreduce: also time its overlap with computation'
complete -c vt-bench -l tune -r -F -d 'allreduce: write the fastest choices for vt-train'
complete -c vt-bench -l step-timeout -r -f -d 'allreduce: limit waits for ranks; 0: off (10m)'
complete -c vt-bench -l rate -r -f -d 'profile: assume this rate; 0: measure (0)'
complete -c vt-bench -l profile -r -F -d 'cluster, guidelines: read this table of profile'
complete -c vt-bench -l links -r -f -d 'cluster, guidelines: choose a cluster or a file'
complete -c vt-bench -l set -r -f -d 'cluster, guidelines: set a property; may be repeated'
complete -c vt-bench -l samples -r -f -d 'cluster, guidelines: set the samples of an epoch'
complete -c vt-bench -l hosts -r -f -d 'cluster, guidelines: set the hosts (--links)'
complete -c vt-bench -l ranks-per-host -r -f -d 'count, cluster, guidelines: set ranks of a host (8)'
complete -c vt-bench -l ranks -r -f -d 'count, cluster, guidelines: use these numbers'
complete -c vt-bench -l base-ranks -r -f -d 'cluster, guidelines: compare with N ranks (1)'
complete -c vt-bench -l price -r -f -d 'cluster: set the price of a rank and hour'
complete -c vt-bench -l plot -r -F -d 'cluster: draw efficiency and time: .png, .svg, .pdf'
complete -c vt-bench -l sampler -r -f -a 'tsm tsm-upstream dense ssv2 pyslowfast charades' -d 'choose frames: tsm, dense, pyslowfast, ... (tsm)'
complete -c vt-bench -l crop-rule -r -f -a 'multiscale jitter jitter-upstream resized centre' -d 'choose crops: jitter, resized, ... (multiscale)'
complete -c vt-bench -l jitter-min -r -f -d 'jitter: set the minimal short side, crop 224 (256)'
complete -c vt-bench -l jitter-max -r -f -d 'jitter: set the maximal short side, crop 224 (320)'
complete -c vt-bench -l jitter-inverse -d 'jitter: draw 1 / length uniformly, not the length'
complete -c vt-bench -l crop-area -r -f -d 'resized: set the smallest part of the frame (0.08)'
complete -c vt-bench -l resize -r -f -a 'rule bilinear antialias' -d 'resize crops by rule, bilinear or antialias (rule)'
complete -c vt-bench -l level -r -f -a 'auto largest' -d 'read levels by crop size, or only the largest (auto)'
complete -c vt-bench -l flip -d 'flip half of the clips horizontally (yes)'
complete -c vt-bench -l no-flip -d 'turn off --flip'
complete -c vt-bench -l rand-augment -r -f -d 'apply N operations of RandAugment to a clip (0)'
complete -c vt-bench -l rand-level -r -f -d 'set the strength of RandAugment, of 30 (9)'
complete -c vt-bench -l brightness -r -f -d 'vary the brightness by 1 - X to 1 + X (0)'
complete -c vt-bench -l contrast -r -f -d 'vary the contrast by 1 - X to 1 + X (0)'
complete -c vt-bench -l saturation -r -f -d 'vary the saturation by 1 - X to 1 + X (0)'
complete -c vt-bench -l hue -r -f -d 'shift the hue by -X to X of a full circle (0)'
complete -c vt-bench -l random-erase -r -f -d 'erase a random box in this part of the clips (0)'
complete -c vt-bench -l mixup -r -f -d 'mix clips by MixUp, lambda of Beta(A, A) (0: off)'
complete -c vt-bench -l cutmix -r -f -d 'swap boxes by CutMix, lambda of Beta(A, A) (0: off)'
complete -c vt-bench -l repeat -r -f -d 'use each sample for N clips in a row (1)'
complete -c vt-bench -l warmup -r -f -d 'run N times before the timed runs (2)'
complete -c vt-bench -l runs -r -f -d 'time N runs (10)'
complete -c vt-bench -l verify -d 'verify the results (yes)'
complete -c vt-bench -l no-verify -d 'turn off --verify'
complete -c vt-bench -l require -r -f -d 'fail unless the median of NAME is <=X, or >=X'
complete -c vt-bench -l json -d 'print JSON Lines, not a table'
complete -c vt-bench -l device -r -f -a 'cpu cuda ref ref64' -d 'choose the back end: cpu, cuda, ref, ref64 (cpu)'
complete -c vt-bench -l precision -r -f -a 'fp32 bf16 fp16' -d 'store activations as fp32, bf16 or fp16 (fp32)'
complete -c vt-bench -l autotune -r -f -a 'auto rule fastest' -d 'choose GPU algorithms: auto, rule, fastest (auto)'
complete -c vt-bench -l fuse -d 'fuse norms into fp16 convolutions on a GPU (yes)'
complete -c vt-bench -l no-fuse -d 'turn off --fuse'
complete -c vt-bench -s j -l threads -r -f -d 'work with N threads; 0: one for each core (0)'
complete -c vt-bench -s c -l config -r -F -d 'read settings from FILE: long-option = value'
complete -c vt-bench -s q -l quiet -d 'omit warnings and notes; twice: also errors'
complete -c vt-bench -s v -l verbose -d 'print more details; twice: still more'
complete -c vt-bench -s h -l help -f -a 'all' -d 'show the common options, or all'
complete -c vt-bench -s V -l version -d 'show the version; with -v the libraries too'
complete -c vt-bench -l print-config -d 'show all settings in force, as a file for -c'
complete -c vt-bench -f -n 'not __fish_seen_subcommand_from decode loader op step profile allreduce links count cluster guidelines' -a 'decode loader op step profile allreduce links count cluster guidelines'
