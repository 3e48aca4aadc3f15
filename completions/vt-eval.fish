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

complete -c vt-eval -s m -l model -r -F -d 'folder of a run of vt-train, or a checkpoint'
complete -c vt-eval -s i -l data -r -F -d 'packed dataset, or stream of vt-extract: FILE or -'
complete -c vt-eval -s T -l files-from -r -F -d 'read video paths from the lines of FILE; -: stdin'
complete -c vt-eval -s 0 -l null -d 'end paths of -T with a zero byte, not a newline'
complete -c vt-eval -l use-ema -d 'the moving average of its weights (vt-train --ema)'
complete -c vt-eval -l views -r -f -a 'auto tsm tsm-twice tsm-dense pyslowfast ssv2 charades' -d 'those of a paper, or one as in validation (auto)'
complete -c vt-eval -l clips -r -f -d 'clips of each video (as --views says)'
complete -c vt-eval -l crops -r -f -d 'crops of each clip: 1, 3, 5 or 10 (as --views says)'
complete -c vt-eval -l full -d 'crops take the whole short side, not 224/256 of it'
complete -c vt-eval -l sampler -r -f -a 'tsm tsm-upstream dense ssv2 pyslowfast charades' -d 'choice of frames (as --views says)'
complete -c vt-eval -l stride -r -f -d 'frames between frames (as in the last stage)'
complete -c vt-eval -l crop-rule -r -f -a 'tsm pyslowfast' -d 'crops, resizing: tsm or pyslowfast (as --views says)'
complete -c vt-eval -l ensemble -r -f -a 'scores probabilities max' -d 'mean of scores, of probabilities, or max (--views)'
complete -c vt-eval -l frames -r -f -d 'frames of a clip (as in the last stage of training)'
complete -c vt-eval -l crop -r -f -d 'side of a crop (as in the last stage of training)'
complete -c vt-eval -s o -l output -r -F -d 'write the answer to FILE, not to standard output'
complete -c vt-eval -s f -l force -d '-o may replace a file'
complete -c vt-eval -l top -r -f -d 'likeliest classes of each video, at most (5)'
complete -c vt-eval -l json -d 'JSON Lines on standard output, not a table'
complete -c vt-eval -l scores -r -F -d 'write every class\'s score, averaged over views'
complete -c vt-eval -l per-class -r -F -d 'write a table of classes: top-1, top-5, confusion'
complete -c vt-eval -l matrix -r -F -d 'write the confusion matrix: .png, .svg, .pdf or .tsv'
complete -c vt-eval -l matrix-values -r -f -a 'percent count' -d 'percent of a label\'s samples, or count (percent)'
complete -c vt-eval -l matrix-order -r -f -a 'grouped number' -d 'confused classes grouped, or by number (grouped)'
complete -c vt-eval -l sheet -r -F -d 'draw a contact sheet of samples: .png, .svg or .pdf'
complete -c vt-eval -l sheet-samples -r -f -d 'samples on the contact sheet (24)'
complete -c vt-eval -l sheet-of -r -f -a 'all wrong' -d 'all, or wrong ones, most confident first (all)'
complete -c vt-eval -l curve -r -F -d 'write how runs trained: .png, .svg, .pdf or .tsv'
complete -c vt-eval -l allow-truncated -d 'take the frames there are of a truncated video'
complete -c vt-eval -l max-damage -r -f -d 'take videos damaged in up to N places (0)'
complete -c vt-eval -l max-pixels -r -f -d 'refuse larger frames (64M)'
complete -c vt-eval -l max-frames -r -f -d 'refuse videos of more frames (999999)'
complete -c vt-eval -l device -r -f -a 'cpu cuda ref ref64' -d 'back end: cpu, cuda, or the slow ref and ref64 (cpu)'
complete -c vt-eval -l precision -r -f -a 'fp32 bf16 fp16' -d 'of activations, gradients: fp32, bf16, fp16 (fp32)'
complete -c vt-eval -s j -l threads -r -f -d 'to compute in a rank; 0: its share of the cores (0)'
complete -c vt-eval -l microbatch -r -f -d 'views that run through the network together (8)'
complete -c vt-eval -l loader-threads -r -f -d 'to load clips in a rank (2)'
complete -c vt-eval -l step-timeout -r -f -d 'to wait for clips and ranks; 0: for ever (10m)'
complete -c vt-eval -l loader-memory -r -f -d 'pixels loaded ahead in each rank, at most (512M)'
complete -c vt-eval -s c -l config -r -F -d 'read settings from FILE: long-option = value'
complete -c vt-eval -l progress -r -f -a 'auto always never' -d 'live line: auto (on a terminal), always or never'
complete -c vt-eval -s q -l quiet -d 'no warnings; twice: no errors either'
complete -c vt-eval -s v -l verbose -d 'say more of what is done'
complete -c vt-eval -s h -l help -d 'show this help'
complete -c vt-eval -s V -l version -d 'show the version; with -v the libraries too'
complete -c vt-eval -l print-config -d 'show all settings in force, as a file for -c'
