#!/bin/sh
# The completions ask the commands for their options, and complete command lines
# in bash, zsh and fish.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
root=$PWD
commands='vt-extract vt-pack vt-schedule vt-train vt-eval vt-bench'


# ---- the files ----

for f in vt.bash _vt vt.fish; do
	case $f in
	*.bash) shell=bash ;;
	*.fish) shell=fish ;;
	*) shell=zsh ;;
	esac
	if have $shell; then
		check "$f: $shell can read it" $shell -n "completions/$f"
	else
		skip "$f" "no $shell"
	fi
done
if have shellcheck; then
	check_same "shellcheck reports nothing" "" "$(shellcheck completions/vt.bash)"
else
	skip "shellcheck" "no shellcheck"
fi
# fish finds the file by the name of the command.
mkdir "$T/fish"
for c in $commands; do
	ln -s "$root/completions/vt.fish" "$T/fish/$c.fish"
done

# ---- the time of an answer ----

# Seconds of processors, since other tests run beside this one; the least of ten
# runs.
sanitized=$(settings_of "$BUILD" | grep -c -e -fsanitize)
for c in $commands; do
	ms=$(for i in 1 2 3 4 5 6 7 8 9 10; do
		sh -c '"$0" --complete-spec >/dev/null; times' "$c" | tail -1 | tr -d s |
			awk '{ split($1 "m" $2, t, "m"); print int((60 * (t[1] + t[3]) + t[2] + t[4]) * 1000) }'
	done | sort -n | head -1)
	if [ "$sanitized" = 0 ]; then
		check "$c lists its options in $ms ms (wanted at most 100)" test "$ms" -le 100
	else
		skip "$c lists its options within 100 ms" "a build with sanitizers"
	fi
done

# A folder in which to complete.
mkdir -p "$T/here/videos" "$T/here/models" && cd "$T/here" || exit 2
touch stages.tsv 'two words.tsv' my.net my.txt pre:fix.tsv

# ---- bash, by its function ----

# reply WORD...: print the completions of the last word, sorted, in one line.
# WORDs are split as bash splits them, at = and :.
reply() {
	bash --norc -c '. "$0"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_vt "$1"
		printf "%s\n" "${COMPREPLY[@]}"' "$root/completions/vt.bash" "$@" 2>&1 |
		sort | tr '\n' ' ' | sed 's/ $//'
}
# bash_has WHAT WANTED WORD...
bash_has() {
	what=$1 wanted=$2
	shift 2
	check_same "bash: $what" "$wanted" "$(reply "$@")"
}
nets=$(cd "$root/share/models" && echo tsm_*.net | sed 's/\.net//g')
if have bash; then
	bash_has "long options by prefix" "--save-every= --save-steps=" vt-train --sav
	bash_has "an option without a value" "--nesterov" vt-train --nes
	bash_has "an option with an optional value" "--verify --verify=" vt-pack --verif
	bash_has "a flag that is on by default, by its --no- form" "--no-flip" vt-train --no-fl
	for c in $commands; do
		check_same "bash: all options of $c are completed" \
			"$(options_in_help $c =all)" "$(reply $c - | tr ' ' '\n' | sed 's/=$//' | sort -u)"
	done
	bash_has "values by prefix" "fast full" vt-pack --verify = f
	bash_has "all values" "jpeg png" vt-extract --format =
	bash_has "values as a separate word" "long long+short" vt-schedule --policy l
	bash_has "values if = does not split words" "--policy=long --policy=long+short" vt-schedule --policy=l
	bash_has "no completion for a number" "" vt-train --seed =
	bash_has "no completion for an unknown option" "" vt-train --no-such =
	bash_has "installed networks" "$nets" vt-train --model = tsm
	bash_has "network files and folders" "mc3_18 models my.net" vt-train -m m
	bash_has "networks of the command as it is typed" "$nets" "$BUILD/vt-bench" --model tsm
	bash_has "files after a short option" "-Tstages.tsv" vt-extract -Ts
	bash_has "folders after a short option" "-ivideos" vt-train -iv
	bash_has "values of an option that also takes files" "never" vt-train --resume = nev
	bash_has "files of an option that also takes values" "stages.tsv" vt-train --resume = st
	bash_has "a name with a colon" "fix.tsv" vt-extract pre : f
	bash_has "sub-tests" "allreduce cluster decode guidelines links loader op profile step" vt-bench ""
	bash_has "sub-tests after options" "loader" vt-bench --runs = 3 -q --shape 2x8x112 lo
	bash_has "no second sub-test" "" vt-bench step st
	bash_has "no options after --" "" vt-train -- --sa
	bash_has "operands after --" "step" vt-bench -- st
	bash_has "options if there are no operands" "$(reply vt-train -)" vt-train ""
else
	skip "bash" "no bash"
fi

# ---- bash and zsh, as typed in a terminal ----

for c in vt-extract vt-schedule vt-train vt-bench; do
	printf '%s() { printf "<<%s"; printf " [%%s]" "$@"; echo ">>"; }\n' $c $c
done >"$T/setup"
{
	cat "$T/setup"
	echo ". '$root/completions/vt.bash'"
} >"$T/setup.bash"
{
	cat "$T/setup"
	# Tab keys that arrive before the shell is ready still complete.
	echo "fpath=('$root/completions' \$fpath)
autoload -Uz compinit && compinit -u -D
zstyle ':completion:*' insert-tab false"
} >"$T/setup.zsh"
# Each line as typed, and the words that the command gets.
cat >"$T/typed" <<'END'
vt-train --sched\tst\t
vt-train [--schedule=stages.tsv]
vt-train --save-e\t10m --nest\t
vt-train [--save-every=10m] [--nesterov]
vt-train --schedule tw\t
vt-train [--schedule] [two words.tsv]
vt-train --data=vi\t
vt-train [--data=videos]
vt-train -i vi\t
vt-train [-i] [videos]
vt-train --model=tsm_t\t
vt-train [--model=tsm_tiny]
vt-train --model tsn_t\t
vt-train [--model] [tsn_tiny]
vt-train -m my\t
vt-train [-m] [my.net]
vt-schedule --pol\tlong+\t st\t
vt-schedule [--policy=long+short] [stages.tsv]
vt-bench al\t --runs=3
vt-bench [allreduce] [--runs=3]
vt-bench de\t tw\t
vt-bench [decode] [two words.tsv]
vt-extract -T st\t tw\t
vt-extract [-T] [stages.tsv] [two words.tsv]
vt-train --resume=nev\t --no-fl\t --device=ref6\t
vt-train [--resume=never] [--no-flip] [--device=ref64]
END
sed -n 'p;n' "$T/typed" >"$T/lines"
# typed SHELL COMMAND...: type the lines into an interactive SHELL.
typed() {
	shell=$1
	shift
	if ! have "$shell" || ! have python3; then
		skip "$shell, as typed" "no $shell or no python3"
		return
	fi
	python3 "$root/tests/lint/typed.py" "$T/setup.$shell" "$@" <"$T/lines" |
		sed 's/\/]/]/g' >"$T/got"	# zsh removes a last slash again
	n=0
	while read -r line; do
		n=$((n + 1))
		check_same "$shell, as typed: $line" "$(sed -n "$((2 * n))p" "$T/typed")" "$(sed -n "${n}p" "$T/got")"
	done <"$T/lines"
}
# The arguments of _arguments, for all options.
if have zsh; then
	for c in $commands; do
		check_same "zsh: all options of $c are completed" "$(options_in_help $c =all)" \
			"$(zsh -f -c 'setopt extendedglob
				_call_program() { shift; eval "$@" }
				_arguments() { print -rl -- ${@[4,-1]} }
				words=($1)
				. $2' zsh "$c" "$root/completions/_vt" | grep -v '^[*0-9]*:' |
			sed 's/^([^)]*)//; s/^[*]//; s/\[.*//; s/[-+=]*$//' | sort)"
	done
fi
typed bash bash --norc --noprofile -i
typed zsh zsh -f -i

# ---- fish ----

# fish_completes LINE: print the completions at the end of LINE, one a line.
fish_completes() {
	HOME=$T fish --no-config -c '
		source $argv[1]/(string split " " $argv[2])[1].fish
		complete -C $argv[2]' "$T/fish" "$1" 2>&1 | cut -f1 | sort
}
# fish_has WHAT WANTED LINE: check the completions at the end of LINE.
fish_has() {
	check_same "fish: $1" "$2" "$(fish_completes "$3" | tr '\n' ' ' | sed 's/ $//')"
}
if have fish; then
	for c in $commands; do
		check_same "fish: all options of $c are completed" "$(options_in_help $c =all)" \
			"$(for begin in - --; do fish_completes "$c $begin"; done | sed 's/=$//' | sort -u)"
	done
	fish_has "long options by their beginning" "--save-every --save-steps" "vt-train --sav"
	fish_has "a flag that is on" "--no-flip" "vt-train --no-fl"
	fish_has "values" "--verify=fast --verify=full" "vt-pack --verify=f"
	fish_has "values in a word of their own" "long long+short" "vt-schedule --policy l"
	fish_has "none of a number" "" "vt-train --seed "
	fish_has "networks that are installed" "$nets" "vt-train --model tsm"
	fish_has "networks after =" "$(for n in $nets; do printf '%s ' "--model=$n"; done | sed 's/ $//')" "vt-train --model=tsm"
	fish_has "networks in files" "mc3_18 models/ my.net" "vt-train -m m"
	fish_has "folders" "--data=models/ --data=videos/" "vt-train --data="
	fish_has "folders after a short option" "videos/" "vt-train -i v"
	fish_has "files" "stages.tsv" "vt-train --schedule s"
	fish_has "values and files" "never" "vt-train --resume nev"
	fish_has "sub-tests" "allreduce cluster decode guidelines links loader op profile step" "vt-bench "
	fish_has "operands" "stages.tsv" "vt-bench decode st"
	fish_has "no operands" "" "vt-train st"
	fish_has "files as operands" "stages.tsv" "vt-schedule st"
else
	skip "fish" "no fish"
fi
plan
