# Completions of all commands of vt for bash.  The command itself lists its
# options, with --complete-spec (lib/base/option_table.h).
# shellcheck shell=bash

# _vt_candidates WHAT TEXT: print the completions of TEXT, one a line.  WHAT has
# values between bars; FILE, DIR and NET stand for paths.
_vt_candidates() {
	local kind
	local -a kinds
	IFS='|' read -ra kinds <<<"$1"
	for kind in "${kinds[@]}"; do
		case $kind in
		FILE) compgen -f -- "$2" ;;
		DIR) compgen -d -- "$2" ;;
		NET) compgen -f -X '!*.net' -- "$2"; compgen -d -- "$2" ;;
		-) ;;
		*) [[ $kind == "$2"* ]] && printf '%s\n' "$kind" ;;
		esac
	done
}

# _vt_value WHAT WORD HEAD: complete WORD, whose first part HEAD bash regards as
# another word.  WORD may begin with an option, --name=.
_vt_value() {
	local option='' text=$2 line
	case $2 in
	--*=*) option=${2%%=*}= text=${2#*=} ;;
	-[!-]?*) [[ $1 != - ]] && option=${2:0:2} text=${2:2} ;;
	esac
	# readline itself quotes names best, if it regards them as a whole word.
	if [[ $option == "$3" ]]; then
		case $1 in
		FILE) compopt -o default 2>/dev/null; return ;;
		DIR) compopt -o dirnames -o filenames 2>/dev/null; return ;;
		esac
	fi
	while IFS= read -r line; do
		line=$option$line
		COMPREPLY+=("${line#"$3"}")
	done < <(_vt_candidates "$1" "$text")
	[[ $1 == *[A-Z]* ]] && compopt -o filenames 2>/dev/null
}

_vt() {
	local letter name value what word head option='' operands=0 ended='' i
	local -A value_of=() what_of=()
	local -a offered=() operand=() words=()

	COMPREPLY=()
	while IFS=$'\t' read -r letter name value _ what _; do
		if [[ $name == - ]]; then
			operand+=("$what")
			continue
		fi
		[[ $letter != - ]] && offered+=("-$letter") &&
			value_of[-$letter]=$value what_of[-$letter]=$what
		value_of[--$name]=$value what_of[--$name]=$what
		[[ $value != required ]] && offered+=("--$name")
		[[ $value != none ]] && offered+=("--$name=")
	done < <(command "${1/#\~/$HOME}" --complete-spec 2>/dev/null)

	# Bash cuts words at = and :; put them together again.
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((${#words[@]})) && [[ $word == [=:]* || ${words[-1]} == *[=:] && ${COMP_WORDS[i - 1]} == [=:]* ]]; then
			words[-1]+=$word
		else
			words+=("$word")
		fi
	done
	word=${words[-1]} head=''
	case ${COMP_WORDS[COMP_CWORD]} in
	[=:]*) head=$word ;;
	*) head=${word%"${COMP_WORDS[COMP_CWORD]}"} ;;
	esac

	# Find the option before the word that lacks its value, and count operands.
	for name in "${words[@]:0:${#words[@]}-1}"; do
		if [[ -n $option ]]; then
			option=
		elif [[ -n $ended || $name != -?* ]]; then
			((operands++))
		elif [[ $name == -- ]]; then
			ended=yes
		elif [[ $name == --* ]]; then
			[[ ${value_of[$name]} == required ]] && option=$name
		else
			for ((i = 1; i < ${#name}; i++)); do
				[[ ${value_of[-${name:i:1}]} == required ]] || continue
				((i == ${#name} - 1)) && option=-${name:i:1}
				break
			done
		fi
	done

	if [[ -n $option ]]; then
		_vt_value "${what_of[$option]}" "$word" "$head"
	elif [[ -z $ended && $word == --*=* ]]; then
		_vt_value "${what_of[${word%%=*}]:--}" "$word" "$head"
	elif [[ -z $ended && $word == -[!-]?* && ${value_of[${word:0:2}]} == required ]]; then
		_vt_value "${what_of[${word:0:2}]}" "$word" "$head"
	elif [[ -z $ended && ($word == -* || ${#operand[@]} == 0) ]]; then
		for name in "${offered[@]}"; do
			[[ $name == "$word"* ]] && COMPREPLY+=("$name")
		done
		[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
	elif ((${#operand[@]})); then
		((operands < ${#operand[@]})) || operands=$((${#operand[@]} - 1))
		_vt_value "${operand[operands]}" "$word" "$head"
	fi
	return 0
}

complete -F _vt vt-extract vt-pack vt-schedule vt-train vt-eval vt-bench
