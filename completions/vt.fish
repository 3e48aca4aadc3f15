# Completions for fish of the command that this file is installed for, as
# vt-train.fish.  The command itself lists its options, with --complete-spec
# (lib/base/option_table.h).

# Print the paths with these endings that the typed value of an option can
# become.
function __vt_paths
    set -l endings (string join '|' -- (string escape --style=regex -- $argv))
    set -l word (string replace -r '^(--[^=]*=|-[^-])' '' -- (commandline -ct))
    complete -C "'' $word" | string match -r ".*(?:$endings)\$"
end

set -l vt (string replace -r '.*/(.*)\.fish$' '$1' -- (status filename))
set -l operands no
command $vt --complete-spec 2>/dev/null | while read -d \t -l letter name takes arg by many help rest
    set -l values (string split '|' -- $by | string match -v -r '^(-|FILE)$' | string replace -r '^DIR$' '(__vt_paths /)' | string replace -r '^NET$' '(__vt_paths / .net)')
    if test $takes = operand
        set operands yes
        # An operand with values precedes those that are files.
        test -n "$values"
        and complete -c $vt -f -n "not __fish_seen_subcommand_from $values" -a "$values"
        continue
    end
    set -l options -l $name -d $help
    test $letter = -; or set -a options -s $letter
    test $takes = required; and set -a options -r
    if test $takes != none
        contains FILE (string split '|' -- $by); and set -a options -F; or set -a options -f
        test -n "$values"; and set -a options -a "$values"
    end
    complete -c $vt $options
end
test $operands = yes; or complete -c $vt -f
