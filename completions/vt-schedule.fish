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

complete -c vt-schedule -l policy -r -f -a 'constant long short long+short' -d 'choose cycles: long, short, long+short (constant)'
complete -c vt-schedule -l batch -r -f -d 'set the clips of a base batch, over all ranks (64)'
complete -c vt-schedule -l frames -r -f -d 'set the frames of a clip at the base shape (8)'
complete -c vt-schedule -l crop -r -f -d 'set the crop size at the base shape (224)'
complete -c vt-schedule -l stride -r -f -d 'set the temporal stride (0: a frame of each segment)'
complete -c vt-schedule -l lr -r -f -d 'set the learning rate of the base batch (0.01)'
complete -c vt-schedule -l epochs -r -f -d 'set the epochs of a schedule without cycles (50)'
complete -c vt-schedule -l milestones -r -f -d 'decay the lr after these epochs, or none (2/5, 4/5)'
complete -c vt-schedule -l gamma -r -f -d 'multiply the lr by X at each milestone (0.1)'
complete -c vt-schedule -l lr-factors -r -f -d 'list the factors of --lr: 1, then each milestone\'s'
complete -c vt-schedule -l lr-policy -r -f -a 'step cosine linear power' -d 'choose the decay: step, cosine, linear, power (step)'
complete -c vt-schedule -l lr-power -r -f -d 'set the exponent of --lr-policy=power (2)'
complete -c vt-schedule -l lr-end -r -f -d 'set the last lr of cosine, linear, power (0)'
complete -c vt-schedule -l warmup-epochs -r -f -d 'warm up linearly over N epochs, not stretched (0)'
complete -c vt-schedule -l warmup-lr -r -f -d 'set the learning rate at which warm-up starts (0)'
complete -c vt-schedule -l batch-at -r -f -d 'grow the base batch at each epoch:clips in LIST'
complete -c vt-schedule -l batch-scaling -r -f -a 'lr momentum none' -d 'scale lr, momentum or none with --batch-at (lr)'
complete -c vt-schedule -l momentum -r -f -d 'set the initial momentum of --batch-scaling (0.9)'
complete -c vt-schedule -l epoch-factor -r -f -d 'stretch the epochs; 0: 1.5 with cycles, else 1 (0)'
complete -c vt-schedule -l long-factors -r -f -d 'set the long cycle: factors of frames x crop'
complete -c vt-schedule -l short-factors -r -f -d 'set the short cycle: factors of the crop'
complete -c vt-schedule -l fine-tune -d 'use the last long shape after the milestones (yes)'
complete -c vt-schedule -l no-fine-tune -d 'turn off --fine-tune'
complete -c vt-schedule -l bn -r -f -a 'constant pyslowfast' -d 'choose BN groups: constant or pyslowfast (constant)'
complete -c vt-schedule -l bn-size -r -f -d 'set the BN group size (0: 8, or half the batch)'
complete -c vt-schedule -l ranks -r -f -d 'set the ranks for --check and --bn=pyslowfast (1)'
complete -c vt-schedule -l check -d 'print the plan of a run by TABLE, or refuse it'
complete -c vt-schedule -s m -l model -r -f -a '(__vt_networks) (__vt_paths / .net)' -d 'check with NET, or compare by the work of NET'
complete -c vt-schedule -s i -l data -r -f -a '(__vt_paths /)' -d 'check with this dataset, or use its sample count'
complete -c vt-schedule -l num-classes -r -f -d 'check with --samples of N classes, without data'
complete -c vt-schedule -l device -r -f -a 'cpu cuda ref ref64' -d 'choose the back end: cpu, cuda, ref, ref64 (cpu)'
complete -c vt-schedule -l precision -r -f -a 'fp32 bf16 fp16' -d 'store activations as fp32, bf16 or fp16 (fp32)'
complete -c vt-schedule -s j -l threads -r -f -d 'compute with N threads in a rank (0: all its cores)'
complete -c vt-schedule -l deterministic -r -f -a 'exact fast' -d 'check a run with exact or fast sums (exact)'
complete -c vt-schedule -l memory -r -f -d 'refuse a run whose ranks need more memory (0: off)'
complete -c vt-schedule -l time -d 'time each shape with --check and estimate the run'
complete -c vt-schedule -l compare -d 'compare several TABLEs at equal work'
complete -c vt-schedule -l locate -r -f -d 'locate step:N, epoch:X or sample:N in the schedule'
complete -c vt-schedule -s o -l output -r -F -d 'write the table to FILE (standard output)'
complete -c vt-schedule -l samples -r -f -d 'count the steps and clips of N training samples'
complete -c vt-schedule -l summary -d 'print stages, work and speed-up'
complete -c vt-schedule -l plot -r -F -d 'draw shapes, batch and lr as a PNG, SVG or PDF'
complete -c vt-schedule -s f -l force -d 'replace existing files'
complete -c vt-schedule -s c -l config -r -F -d 'read settings from FILE: long-option = value'
complete -c vt-schedule -s q -l quiet -d 'omit warnings and notes; twice: also errors'
complete -c vt-schedule -s v -l verbose -d 'print more details; twice: still more'
complete -c vt-schedule -s h -l help -f -a 'all' -d 'show the common options, or all'
complete -c vt-schedule -s V -l version -d 'show the version; with -v the libraries too'
complete -c vt-schedule -l print-config -d 'show all settings in force, as a file for -c'
