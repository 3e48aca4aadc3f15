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

complete -c vt-bench -s i -l data -r -f -a '(__vt_paths /)' -d 'packed dataset: for decode, loader and step'
complete -c vt-bench -s m -l model -r -f -a '(__vt_networks) (__vt_paths / .net)' -d 'network that is installed, or a .net file (tsm_r50)'
complete -c vt-bench -l shape -r -f -d 'clips, frames, crop size; may be repeated'
complete -c vt-bench -l schedule -r -F -d 'loader, step: what a schedule asks for, not shapes'
complete -c vt-bench -l classes -r -f -d 'op, step: of the network, without --data (400)'
complete -c vt-bench -l kinds -d 'step: also the time of each kind of operator'
complete -c vt-bench -l convs -d 'step: also each convolution, in the step and alone'
complete -c vt-bench -l sheet -r -F -d 'loader: draw the first clips: .png, .svg or .pdf'
complete -c vt-bench -l images -r -f -d 'decode: frames of --data that a run decodes (256)'
complete -c vt-bench -l short-side -r -f -d 'decode: downscale videos to it; 0: do not (256)'
complete -c vt-bench -l min -r -f -d 'allreduce: smallest vector (4K)'
complete -c vt-bench -l max -r -f -d 'allreduce: largest vector (64M)'
complete -c vt-bench -l factor -r -f -d 'allreduce: from one size to the next (4)'
complete -c vt-bench -l vectors -r -f -d 'allreduce: vectors to sum; 0: one a rank (0)'
complete -c vt-bench -l algorithm -r -f -a 'exact native ring torus halving' -d 'allreduce: exact, native, ring, torus[:XxY], halving'
complete -c vt-bench -l exchange -r -f -a 'fp32 bf16 fp16' -d 'allreduce: of all but exact: fp32, bf16, fp16 (fp32)'
complete -c vt-bench -l hidden -d 'allreduce: also its share behind a computation'
complete -c vt-bench -l tune -r -F -d 'allreduce: write what is fastest, for vt-train'
complete -c vt-bench -l step-timeout -r -f -d 'allreduce: to wait for ranks; 0: for ever (10m)'
complete -c vt-bench -l sampler -r -f -a 'tsm tsm-upstream dense ssv2 pyslowfast charades' -d 'choice of frames: tsm, dense, pyslowfast, ... (tsm)'
complete -c vt-bench -l augment -r -f -a 'multiscale jitter jitter-upstream resized centre' -d 'choice of crops: jitter, resized, ... (multiscale)'
complete -c vt-bench -l jitter-min -r -f -d 'jitter: shortest short side, at crops of 224 (256)'
complete -c vt-bench -l jitter-max -r -f -d 'jitter: longest short side, at crops of 224 (320)'
complete -c vt-bench -l jitter-inverse -d 'jitter: drawn evenly in 1 / length, not in length'
complete -c vt-bench -l crop-area -r -f -d 'resized: smallest part of the frame (0.08)'
complete -c vt-bench -l resize -r -f -a 'rule bilinear antialias' -d 'crops: as their rule, bilinear or antialias (rule)'
complete -c vt-bench -l flip -d 'flip half of the clips horizontally (yes)'
complete -c vt-bench -l no-flip -d 'turn off --flip'
complete -c vt-bench -l rand-augment -r -f -d 'RandAugment: operations on a clip (0)'
complete -c vt-bench -l rand-level -r -f -d 'RandAugment: how strong they are, of 30 (9)'
complete -c vt-bench -l brightness -r -f -d 'vary the brightness by 1 - X to 1 + X (0)'
complete -c vt-bench -l contrast -r -f -d 'vary the contrast so (0)'
complete -c vt-bench -l saturation -r -f -d 'vary the saturation so (0)'
complete -c vt-bench -l hue -r -f -d 'turn the hue by -X to X, of 1 all around (0)'
complete -c vt-bench -l erase -r -f -d 'random erasing: the part of the clips that are (0)'
complete -c vt-bench -l mixup -r -f -d 'MixUp: mix clips by shares of Beta(A, A) (0)'
complete -c vt-bench -l cutmix -r -f -d 'CutMix: swap boxes of shares drawn so (0)'
complete -c vt-bench -l repeat -r -f -d 'clips in a row that are of one sample (1)'
complete -c vt-bench -l warmup -r -f -d 'runs before those that count (2)'
complete -c vt-bench -l runs -r -f -d 'runs that count (10)'
complete -c vt-bench -l check -d 'verify answers (yes)'
complete -c vt-bench -l no-check -d 'turn off --check'
complete -c vt-bench -l require -r -f -d 'fail unless the median of NAME is so; or >=X'
complete -c vt-bench -l json -d 'JSON Lines on standard output, not a table'
complete -c vt-bench -l device -r -f -a 'cpu cuda ref ref64' -d 'back end: cpu, cuda, or the slow ref and ref64 (cpu)'
complete -c vt-bench -l precision -r -f -a 'fp32 bf16 fp16' -d 'of activations, gradients: fp32, bf16, fp16 (fp32)'
complete -c vt-bench -l choices -r -f -a 'auto rule fastest' -d 'of algorithms, on a GPU: auto, rule or fastest'
complete -c vt-bench -l fuse -d 'fp16 convolutions with the norms beside them (yes)'
complete -c vt-bench -l no-fuse -d 'turn off --fuse'
complete -c vt-bench -s j -l threads -r -f -d 'threads that work; 0: one for each core (0)'
complete -c vt-bench -s c -l config -r -F -d 'read settings from FILE: long-option = value'
complete -c vt-bench -s q -l quiet -d 'no warnings; twice: no errors either'
complete -c vt-bench -s v -l verbose -d 'say more of what is done'
complete -c vt-bench -s h -l help -d 'show this help'
complete -c vt-bench -s V -l version -d 'show the version; with -v the libraries too'
complete -c vt-bench -l print-config -d 'show all settings in force, as a file for -c'
complete -c vt-bench -f -n 'not __fish_seen_subcommand_from decode loader op step allreduce' -a 'decode loader op step allreduce'
