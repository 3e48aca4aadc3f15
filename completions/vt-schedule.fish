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

complete -c vt-schedule -l policy -r -f -a 'constant long short long+short' -d 'cycles: constant (none), long, short or long+short'
complete -c vt-schedule -l batch -r -f -d 'clips a step at the base shape, over all ranks (64)'
complete -c vt-schedule -l frames -r -f -d 'frames a clip at the base shape (8)'
complete -c vt-schedule -l crop -r -f -d 'crop size at the base shape (224)'
complete -c vt-schedule -l stride -r -f -d 'temporal stride; 0: one frame of each segment (0)'
complete -c vt-schedule -l lr -r -f -d 'learning rate for the base batch (0.01)'
complete -c vt-schedule -l epochs -r -f -d 'epochs without cycles (50)'
complete -c vt-schedule -l milestones -r -f -d 'epochs after which the lr decays; none (2/5, 4/5)'
complete -c vt-schedule -l gamma -r -f -d 'factor of the lr at each milestone (0.1)'
complete -c vt-schedule -l lr-factors -r -f -d 'or all factors of --lr: 1, and one a milestone'
complete -c vt-schedule -l lr-policy -r -f -a 'step cosine linear power' -d 'step; cosine, linear or power to --lr-end (step)'
complete -c vt-schedule -l lr-power -r -f -d 'of --lr-policy=power (2)'
complete -c vt-schedule -l lr-end -r -f -d 'learning rate that it ends at (0)'
complete -c vt-schedule -l warmup-epochs -r -f -d 'linear warm-up over N epochs, not stretched (0)'
complete -c vt-schedule -l warmup-lr -r -f -d 'from this learning rate (0)'
complete -c vt-schedule -l batch-at -r -f -d 'epoch:clips, ...: the base batch grows there'
complete -c vt-schedule -l follow -r -f -a 'lr momentum none' -d 'what follows it: lr, momentum or none (lr)'
complete -c vt-schedule -l momentum -r -f -d 'of the first stage, for --follow=momentum (0.9)'
complete -c vt-schedule -l epoch-factor -r -f -d 'stretch the epochs; 0: 1.5 with cycles, else 1 (0)'
complete -c vt-schedule -l long-factors -r -f -d 'long cycle: frames x crop, over the base shape'
complete -c vt-schedule -l short-factors -r -f -d 'short cycle: crops, over the base crop'
complete -c vt-schedule -l fine-tune -d 'after the last milestone, the last long shape (yes)'
complete -c vt-schedule -l no-fine-tune -d 'turn off --fine-tune'
complete -c vt-schedule -l bn -r -f -a 'constant pyslowfast' -d 'groups: constant, or those of pyslowfast (constant)'
complete -c vt-schedule -l bn-size -r -f -d 'clips in a BN group; 0: 8, or half the batch (0)'
complete -c vt-schedule -l ranks -r -f -d 'of the run, for --check and --bn=pyslowfast (1)'
complete -c vt-schedule -l check -d 'the whole plan of a run by TABLE, or a refusal'
complete -c vt-schedule -s m -l model -r -f -a '(__vt_networks) (__vt_paths / .net)' -d 'its network; of --compare, what work is measured by'
complete -c vt-schedule -s i -l data -r -f -a '(__vt_paths /)' -d 'its packed dataset, which has so many samples'
complete -c vt-schedule -l device -r -f -a 'cpu cuda ref ref64' -d 'back end: cpu, cuda, or the slow ref and ref64 (cpu)'
complete -c vt-schedule -l precision -r -f -a 'fp32 bf16 fp16' -d 'of activations, gradients: fp32, bf16, fp16 (fp32)'
complete -c vt-schedule -s j -l threads -r -f -d 'to compute in a rank; 0: its share of the cores (0)'
complete -c vt-schedule -l deterministic -r -f -a 'exact fast' -d 'of the run: exact, or fast, which can spread groups'
complete -c vt-schedule -l memory -r -f -d 'the most that a rank may need; 0: any (0)'
complete -c vt-schedule -l time -d 'time each shape with --check, and the whole run'
complete -c vt-schedule -l compare -d 'several TABLEs side by side at equal work'
complete -c vt-schedule -l at -r -f -d 'say where step:N, epoch:X or sample:N is'
complete -c vt-schedule -s o -l output -r -F -d 'write the table there (standard output)'
complete -c vt-schedule -l samples -r -f -d 'of the training set: count steps and clips'
complete -c vt-schedule -l summary -d 'print stages, work and speed-up'
complete -c vt-schedule -l plot -r -F -d 'draw shapes, batch and lr as a PNG, SVG or PDF'
complete -c vt-schedule -s f -l force -d 'replace files that exist'
complete -c vt-schedule -s c -l config -r -F -d 'read settings from FILE: long-option = value'
complete -c vt-schedule -s q -l quiet -d 'no warnings; twice: no errors either'
complete -c vt-schedule -s v -l verbose -d 'say more of what is done'
complete -c vt-schedule -s h -l help -d 'show this help'
complete -c vt-schedule -s V -l version -d 'show the version; with -v the libraries too'
complete -c vt-schedule -l print-config -d 'show all settings in force, as a file for -c'
