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

complete -c vt-extract -s T -l files-from -r -F -d 'read video paths from the lines of FILE; -: stdin'
complete -c vt-extract -s 0 -l null -d 'end paths of -T with a zero byte, not a newline'
complete -c vt-extract -l annotations -r -F -d 'read videos and labels from an annotation list'
complete -c vt-extract -l annotations-format -r -f -a 'auto path-label csv kinetics hacs ucf101 hmdb51 ssv1 ssv2 charades charades-frames mmaction2 mmaction2-frames mmaction2-offset pyslowfast tsm' -d 'set the format of the list: tsm, ... (detected)'
complete -c vt-extract -l subset -r -f -d 'use only annotations of train, test, ...'
complete -c vt-extract -l split -r -f -d 'divide the videos: train:val:test or train:test'
complete -c vt-extract -l group -r -f -d 'keep rows with one value of COLUMN in one subset'
complete -c vt-extract -l stratify -d 'give each class the proportions of --split'
complete -c vt-extract -l split-seed -r -f -d 'set the seed of --split (0)'
complete -c vt-extract -l print-list -d 'print the list of videos as CSV, and stop'
complete -c vt-extract -l root -r -f -a '(__vt_paths /)' -d 'start paths of lists, keys and labels at DIR'
complete -c vt-extract -l classes -r -F -d 'read class names, one a line (those that occur)'
complete -c vt-extract -l class-order -r -f -a 'file sorted' -d 'number --classes as in the file, or sorted (file)'
complete -c vt-extract -l label-from -r -f -a 'list dir' -d 'take labels from list, or dir: from folders (list)'
complete -c vt-extract -l short-side -r -f -d 'downscale the short side to N (256; 0: do not)'
complete -c vt-extract -l size -r -f -d 'scale every frame to W by H pixels instead'
complete -c vt-extract -l enlarge -d 'also upscale smaller videos to --short-side'
complete -c vt-extract -l levels -r -f -d 'store frames at these short sides, such as 256,128'
complete -c vt-extract -l fps -r -f -d 'resample to RATE frames a second, 30 or 30000/1001'
complete -c vt-extract -l format -r -f -a 'jpeg png' -d 'store frames as jpeg or png (jpeg)'
complete -c vt-extract -l quality -r -f -d 'set the JPEG quality, 1 to 100 (90)'
complete -c vt-extract -l flow -r -f -a 'none tvl1' -d 'store flow instead of frames: tvl1 (none)'
complete -c vt-extract -l rgb -d 'store frames besides the flow of --flow'
complete -c vt-extract -s o -l output -r -F -d 'write the stream to FILE, not to standard output'
complete -c vt-extract -s f -l force -d 'replace existing files'
complete -c vt-extract -l report -r -F -d 'write a report of each video as JSON Lines'
complete -c vt-extract -l on-error -r -f -a 'stop skip' -d 'stop at a refused video, or skip it (stop)'
complete -c vt-extract -l allow-truncated -d 'keep the complete frames of a truncated video'
complete -c vt-extract -l max-damage -r -f -d 'keep videos damaged in up to N places (0)'
complete -c vt-extract -l strict-rate -d 'count gaps in a constant frame rate as damage'
complete -c vt-extract -l max-pixels -r -f -d 'refuse larger frames (64M)'
complete -c vt-extract -l max-frames -r -f -d 'refuse videos with more stored frames (999999)'
complete -c vt-extract -l budget -r -f -d 'limit a video: cpu:60s,wall:5m,memory:2G (none)'
complete -c vt-extract -s j -l threads -r -f -d 'decode N videos at once (one for each processor)'
complete -c vt-extract -l spool-memory -r -f -d 'hold at most BYTES of coded frames in memory (256M)'
complete -c vt-extract -s n -l dry-run -d 'list what would be stored, and write nothing'
complete -c vt-extract -l estimate -f -d 'estimate bytes and hours from N videos (200)'
complete -c vt-extract -s c -l config -r -F -d 'read settings from FILE: long-option = value'
complete -c vt-extract -s q -l quiet -d 'omit warnings and notes; twice: also errors'
complete -c vt-extract -s v -l verbose -d 'print more details; twice: still more'
complete -c vt-extract -l progress -r -f -a 'auto always never' -d 'show a live line: auto, always or never (auto)'
complete -c vt-extract -s h -l help -f -a 'all' -d 'show the common options, or all'
complete -c vt-extract -s V -l version -d 'show the version; with -v the libraries too'
complete -c vt-extract -l print-config -d 'show all settings in force, as a file for -c'
