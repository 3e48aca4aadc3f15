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

complete -c vt-eval -s k -l checkpoint -r -F -d 'use a checkpoint, or that of a run of vt-train'
complete -c vt-eval -s i -l data -r -F -d 'score a packed dataset, or a stream: FILE or -'
complete -c vt-eval -s T -l files-from -r -F -d 'read video paths from the lines of FILE; -: stdin'
complete -c vt-eval -s 0 -l null -d 'end paths of -T with a zero byte, not a newline'
complete -c vt-eval -l use-ema -d 'use the moving average of vt-train --ema'
complete -c vt-eval -l rescore -r -F -d 'read scores from FILE, which --scores wrote'
complete -c vt-eval -l views -r -f -a 'auto tsm tsm-twice tsm-dense pyslowfast ssv2 charades' -d 'use the views of a paper, or of validation (auto)'
complete -c vt-eval -l clips -r -f -d 'score N clips of each video (by --views)'
complete -c vt-eval -l crops -r -f -d 'score 1, 3, 5 or 10 crops of each clip (by --views)'
complete -c vt-eval -l full-short-side -d 'crop the whole short side, not 224/256 of it'
complete -c vt-eval -l sampler -r -f -a 'tsm tsm-upstream dense ssv2 pyslowfast charades' -d 'choose frames by RULE (by --views)'
complete -c vt-eval -l stride -r -f -d 'set the temporal stride (last stage\'s)'
complete -c vt-eval -l crop-rule -r -f -a 'tsm pyslowfast' -d 'crop and resize as tsm or pyslowfast (by --views)'
complete -c vt-eval -l level -r -f -a 'auto largest' -d 'read levels by crop size, or only the largest (auto)'
complete -c vt-eval -l ensemble -r -f -a 'scores probabilities max' -d 'combine scores, probabilities or max (by --views)'
complete -c vt-eval -l frames -r -f -d 'set the frames of a clip (last stage\'s)'
complete -c vt-eval -l crop -r -f -d 'set the crop size (last stage\'s)'
complete -c vt-eval -s o -l output -r -F -d 'write the results to FILE, not to standard output'
complete -c vt-eval -s f -l force -d 'replace existing files'
complete -c vt-eval -l top -r -f -d 'print at most N likely classes of each video (5)'
complete -c vt-eval -l json -d 'print JSON Lines, not a table'
complete -c vt-eval -l scores -r -F -d 'write every class\'s score, averaged over views'
complete -c vt-eval -l per-class -r -F -d 'write a table of classes: top-1, top-5, confusion'
complete -c vt-eval -l matrix -r -F -d 'write the confusion matrix: .png, .svg, .pdf or .tsv'
complete -c vt-eval -l matrix-values -r -f -a 'percent count' -d 'show percent of the label, or count (percent)'
complete -c vt-eval -l matrix-order -r -f -a 'grouped number' -d 'order classes grouped, or by number (grouped)'
complete -c vt-eval -l sheet -r -F -d 'draw a contact sheet of samples: .png, .svg or .pdf'
complete -c vt-eval -l sheet-samples -r -f -d 'draw N samples on the contact sheet (24)'
complete -c vt-eval -l sheet-of -r -f -a 'all wrong' -d 'draw all, or wrong ones, most confident first (all)'
complete -c vt-eval -l fusion -r -f -a 'probabilities logits' -d 'combine by probabilities or logits (probabilities)'
complete -c vt-eval -l fusion-weights -r -f -d 'set the weight of each score file (equal)'
complete -c vt-eval -l fusion-fit -d 'print the best weights for these score files'
complete -c vt-eval -l curve -r -F -d 'write training curves: .png, .svg, .pdf or .tsv'
complete -c vt-eval -l curve-over -r -f -a 'time batch' -d 'draw over time, or accuracy over the batch (time)'
complete -c vt-eval -l curve-target -r -f -d 'mark when runs reach an accuracy (none)'
complete -c vt-eval -l allow-truncated -d 'use the complete frames of a truncated video'
complete -c vt-eval -l max-damage -r -f -d 'use videos damaged in up to N places (0)'
complete -c vt-eval -l max-pixels -r -f -d 'refuse larger frames (64M)'
complete -c vt-eval -l max-frames -r -f -d 'refuse videos with more frames (999999)'
complete -c vt-eval -l device -r -f -a 'cpu cuda ref ref64' -d 'choose the back end: cpu, cuda, ref, ref64 (cpu)'
complete -c vt-eval -l precision -r -f -a 'fp32 bf16 fp16' -d 'store activations as fp32, bf16 or fp16 (fp32)'
complete -c vt-eval -s j -l threads -r -f -d 'compute with N threads in a rank (0: all its cores)'
complete -c vt-eval -l microbatch -r -f -d 'compute N views together (8)'
complete -c vt-eval -l loader-threads -r -f -d 'load clips with N threads in a rank (2)'
complete -c vt-eval -l step-timeout -r -f -d 'limit waits for clips and ranks; 0: off (10m)'
complete -c vt-eval -l loader-memory -r -f -d 'prefetch at most BYTES of pixels in a rank (512M)'
complete -c vt-eval -s c -l config -r -F -d 'read settings from FILE: long-option = value'
complete -c vt-eval -l progress -r -f -a 'auto always never' -d 'show a live line: auto, always or never (auto)'
complete -c vt-eval -s q -l quiet -d 'omit warnings and notes; twice: also errors'
complete -c vt-eval -s v -l verbose -d 'print more details; twice: still more'
complete -c vt-eval -s h -l help -f -a 'all' -d 'show the common options, or all'
complete -c vt-eval -s V -l version -d 'show the version; with -v the libraries too'
complete -c vt-eval -l print-config -d 'show all settings in force, as a file for -c'
