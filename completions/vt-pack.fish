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

complete -c vt-pack -s o -l output -r -f -a '(__vt_paths /)' -d 'write the dataset to DIR: shards and a manifest'
complete -c vt-pack -l prefix -r -f -d 'name the shards NAME-000000.tar, ... (shard)'
complete -c vt-pack -l shard-size -r -f -d 'limit the size of shards of several samples (512M)'
complete -c vt-pack -l classes -r -F -d 'read class names, one a line; the first is label 0'
complete -c vt-pack -l continue -d 'continue with an input without the packed samples'
complete -c vt-pack -s f -l force -d 'replace an existing dataset'
complete -c vt-pack -l foreign -f -a 'yes webdataset no' -d 'accept other archives: yes or webdataset (yes)'
complete -c vt-pack -l skip-foreign -d 'skip members that belong to no sample'
complete -c vt-pack -l max-member -r -f -d 'refuse larger members of the input (64M)'
complete -c vt-pack -s n -l dry-run -d 'read and check the input, write nothing'
complete -c vt-pack -s i -l data -r -f -a '(__vt_paths /)' -d 'read the dataset DIR'
complete -c vt-pack -l verify -f -a 'full fast decode no' -d 'check the dataset: fast, full or decode (full)'
complete -c vt-pack -s j -l threads -r -f -d 'verify with N threads; 0: one for each processor (0)'
complete -c vt-pack -l list -d 'print a table of the samples'
complete -c vt-pack -l describe -d 'print the classes of sets, and videos in them twice'
complete -c vt-pack -l cat -r -f -d 'print one frame, or with KEY: the clip as a tar'
complete -c vt-pack -l done -d 'print the videos whose shards are finished'
complete -c vt-pack -s 0 -l null -d 'end each path of --done with a zero byte'
complete -c vt-pack -s c -l config -r -F -d 'read settings from FILE: long-option = value'
complete -c vt-pack -s q -l quiet -d 'omit warnings and notes; twice: also errors'
complete -c vt-pack -s v -l verbose -d 'print more details; twice: still more'
complete -c vt-pack -l progress -r -f -a 'auto always never' -d 'show a live line: auto, always or never (auto)'
complete -c vt-pack -s h -l help -f -a 'all' -d 'show the common options, or all'
complete -c vt-pack -s V -l version -d 'show the version; with -v the libraries too'
complete -c vt-pack -l print-config -d 'show all settings in force, as a file for -c'
