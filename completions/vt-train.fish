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

complete -c vt-train -s i -l data -r -f -a '(__vt_paths /)' -d 'packed dataset to train on'
complete -c vt-train -s m -l model -r -f -a '(__vt_networks) (__vt_paths / .net)' -d 'network that is installed, or a .net file (tsm_r50)'
complete -c vt-train -l schedule -r -F -d 'shapes and lr by epoch, from vt-schedule; - is stdin'
complete -c vt-train -l loss -r -f -a 'softmax sigmoid' -d 'of a network without one: softmax, sigmoid (softmax)'
complete -c vt-train -l init -r -F -d 'begin from weights: of vt, torchvision, TSM, ...'
complete -c vt-train -l init-partial -d 'although less than half of the backbone is in FILE'
complete -c vt-train -l freeze -r -f -a 'backbone partial-bn PATTERN' -d 'do not train these operators; may be repeated'
complete -c vt-train -s s -l seed -r -f -d 'weights, order, crops and flips follow from it (1)'
complete -c vt-train -l sampler -r -f -a 'tsm tsm-upstream dense ssv2 pyslowfast charades' -d 'choice of frames: tsm, dense, pyslowfast, ... (tsm)'
complete -c vt-train -l augment -r -f -a 'multiscale jitter jitter-upstream resized centre' -d 'choice of crops: jitter, resized, ... (multiscale)'
complete -c vt-train -l jitter-min -r -f -d 'jitter: shortest short side, at crops of 224 (256)'
complete -c vt-train -l jitter-max -r -f -d 'jitter: longest short side, at crops of 224 (320)'
complete -c vt-train -l jitter-inverse -d 'jitter: drawn evenly in 1 / length, not in length'
complete -c vt-train -l crop-area -r -f -d 'resized: smallest part of the frame (0.08)'
complete -c vt-train -l resize -r -f -a 'rule bilinear antialias' -d 'crops: as their rule, bilinear or antialias (rule)'
complete -c vt-train -l flip -d 'flip half of the clips horizontally (yes)'
complete -c vt-train -l no-flip -d 'turn off --flip'
complete -c vt-train -l rand-augment -r -f -d 'RandAugment: operations on a clip (0)'
complete -c vt-train -l rand-level -r -f -d 'RandAugment: how strong they are, of 30 (9)'
complete -c vt-train -l brightness -r -f -d 'vary the brightness by 1 - X to 1 + X (0)'
complete -c vt-train -l contrast -r -f -d 'vary the contrast so (0)'
complete -c vt-train -l saturation -r -f -d 'vary the saturation so (0)'
complete -c vt-train -l hue -r -f -d 'turn the hue by -X to X, of 1 all around (0)'
complete -c vt-train -l erase -r -f -d 'random erasing: the part of the clips that are (0)'
complete -c vt-train -l mixup -r -f -d 'MixUp: mix clips by shares of Beta(A, A) (0)'
complete -c vt-train -l cutmix -r -f -d 'CutMix: swap boxes of shares drawn so (0)'
complete -c vt-train -l repeat -r -f -d 'clips in a row that are of one sample (1)'
complete -c vt-train -l flip-swap -r -F -a 'something' -d 'classes that a flip swaps: something, or a table'
complete -c vt-train -l optimizer -r -f -a 'sgd lars lars-outside adamw lamb' -d 'sgd, lars, lars-outside, adamw or lamb (sgd)'
complete -c vt-train -l momentum -r -f -d 'of sgd and lars (0.9)'
complete -c vt-train -l nesterov -d 'Nesterov momentum, of sgd'
complete -c vt-train -l beta1 -r -f -d 'of adamw, lamb: decay of the gradient\'s mean (0.9)'
complete -c vt-train -l beta2 -r -f -d 'of adamw, lamb: of its mean square (0.999)'
complete -c vt-train -l epsilon -r -f -d 'of adamw, lamb: added to its root (1e-8)'
complete -c vt-train -l trust -r -f -d 'of lars: its trust coefficient (0.001)'
complete -c vt-train -l trust-clip -d 'of lars, lamb: no layer\'s step grows by its trust'
complete -c vt-train -l weight-decay -r -f -d 'of weights; adamw, lamb: beside the moments (0.0001)'
complete -c vt-train -l clip-grad -r -f -d 'clip the gradient to this norm; 0: never (0)'
complete -c vt-train -l clip-value -r -f -d 'clip each of its elements to this; 0: never (0)'
complete -c vt-train -l loss-scale -r -f -a 'dynamic X' -d 'multiply the loss: dynamic, or X (in fp16 dynamic)'
complete -c vt-train -l ema -r -f -d 'keep a moving average of the weights; 0: none (0)'
complete -c vt-train -l use-ema -d 'validate, or with --export write, that average'
complete -c vt-train -l shard-optimizer -d 'keep state where it is updated, as is always done'
complete -c vt-train -l label-smoothing -r -f -d 'share of a label for all classes (as the network)'
complete -c vt-train -l param-groups -r -f -a 'tsm tsm-fine plain' -d 'lr, decay of groups: tsm, tsm-fine, plain (tsm)'
complete -c vt-train -l val -r -f -a '(__vt_paths /)' -d 'packed dataset to validate on'
complete -c vt-train -l val-every -r -f -d 'epochs between validations; 0: at the end only (1)'
complete -c vt-train -l val-frames -r -f -d 'frames of a clip there (as in the last stage)'
complete -c vt-train -l val-crop -r -f -d 'crop size there (as in the last stage)'
complete -c vt-train -s o -l out -r -f -a '(__vt_paths /)' -d 'directory of the run: checkpoints and log'
complete -c vt-train -l resume -r -F -a 'auto never' -d 'from the newest in DIR (auto), from a FILE, or never'
complete -c vt-train -l override -r -f -d 'resume although NAME differs; may be repeated'
complete -c vt-train -l save-every -r -f -d 'between checkpoints, as 30s, 10m, 2h; 0: never (10m)'
complete -c vt-train -l save-steps -r -f -d 'steps between checkpoints; 0: never (0)'
complete -c vt-train -l keep -r -f -d 'newest checkpoints to keep (3)'
complete -c vt-train -l keep-best -r -f -a 'top1 loss none map' -d 'of best.safetensors: top1, map, loss or none (top1)'
complete -c vt-train -l stop-after -r -f -d 'save and stop after this, exit 75; 0: never (0)'
complete -c vt-train -l max-loss -r -f -d 'a larger loss is divergence; 0: only NaN, Inf (0)'
complete -c vt-train -l step-timeout -r -f -d 'to wait for clips, saves, ranks; 0: for ever (10m)'
complete -c vt-train -l log-every -r -f -d 'steps that a line of the log stands for (10)'
complete -c vt-train -l tensorboard -d 'write the log as event files of TensorBoard, too'
complete -c vt-train -l status -r -f -a '(__vt_paths /)' -d 'say how a run stands: exit 0 done, 75 to go on, ...'
complete -c vt-train -l export -r -F -d 'write the weights in DIR for others, and end'
complete -c vt-train -l names -r -f -a 'torchvision tsm pyslowfast mmaction2' -d 'whose names the weights in that file have'
complete -c vt-train -s n -l dry-run -d 'print the plan: shapes, memory, steps, work'
complete -c vt-train -l parity -d 'hold each operator of the run against ref, and end'
complete -c vt-train -l device -r -f -a 'cpu cuda ref ref64' -d 'back end: cpu, cuda, or the slow ref and ref64 (cpu)'
complete -c vt-train -l precision -r -f -a 'fp32 bf16 fp16' -d 'of activations, gradients: fp32, bf16, fp16 (fp32)'
complete -c vt-train -s j -l threads -r -f -d 'to compute in a rank; 0: its share of the cores (0)'
complete -c vt-train -l loader-threads -r -f -d 'to load clips in a rank (2)'
complete -c vt-train -l loader-memory -r -f -d 'pixels loaded ahead in each rank, at most (512M)'
complete -c vt-train -l bucket -r -f -d 'gradient that ranks all-reduce at a time (4M)'
complete -c vt-train -l trace-samples -r -F -d 'list every clip: step, key, frames, crop, flip'
complete -c vt-train -s c -l config -r -F -d 'read settings from FILE: long-option = value'
complete -c vt-train -l progress -r -f -a 'auto always never' -d 'live line: auto (on a terminal), always or never'
complete -c vt-train -s q -l quiet -d 'no warnings; twice: no errors either'
complete -c vt-train -s v -l verbose -d 'say more of what is done'
complete -c vt-train -s h -l help -d 'show this help'
complete -c vt-train -s V -l version -d 'show the version; with -v the libraries too'
complete -c vt-train -l print-config -d 'show all settings in force, as a file for -c'
complete -c vt-train -f
