# Completions of vt-extract vt-pack vt-schedule vt-train vt-eval vt-bench
# for bash.  Made by completions/make.
# shellcheck shell=bash

# _vt_spec COMMAND: set spec to a line an option, letter, name, whether it takes
# a value, what completes that; and a line an operand.
_vt_spec() {
	case $1 in
	vt-extract)
		spec='T files-from required FILE
0 null none -
- annotations required FILE
- annotations-format required auto|path-label|csv|kinetics|hacs|ucf101|hmdb51|ssv1|ssv2|charades|charades-frames|mmaction2|mmaction2-frames|mmaction2-offset|pyslowfast|tsm
- subset required -
- split required -
- group required -
- stratify none -
- split-seed required -
- print-list none -
- root required DIR
- classes required FILE
- class-order required file|sorted
- label-from required list|dir
- short-side required -
- size required -
- enlarge none -
- levels required -
- fps required -
- format required jpeg|png
- quality required -
- flow required none|tvl1
- rgb none -
o output required FILE
f force none -
- report required FILE
- on-error required stop|skip
- allow-truncated none -
- max-damage required -
- strict-rate none -
- max-pixels required -
- max-frames required -
- budget required -
j threads required -
- spool-memory required -
n dry-run none -
- estimate optional -
c config required FILE
q quiet none -
v verbose none -
- progress required auto|always|never
h help optional all
V version none -
- print-config none -
- - operand FILE' ;;
	vt-pack)
		spec='o output required DIR
- prefix required -
- shard-size required -
- classes required FILE
- continue none -
f force none -
- foreign optional yes|webdataset|no
- skip-foreign none -
- max-member required -
n dry-run none -
i data required DIR
- verify optional full|fast|decode|no
j threads required -
- list none -
- describe none -
- cat required -
- done none -
0 null none -
c config required FILE
q quiet none -
v verbose none -
- progress required auto|always|never
h help optional all
V version none -
- print-config none -
- - operand FILE' ;;
	vt-schedule)
		spec='- policy required constant|long|short|long+short
- batch required -
- frames required -
- crop required -
- stride required -
- lr required -
- epochs required -
- milestones required -
- gamma required -
- lr-factors required -
- lr-policy required step|cosine|linear|power
- lr-power required -
- lr-end required -
- warmup-epochs required -
- warmup-lr required -
- batch-at required -
- batch-scaling required lr|momentum|none
- momentum required -
- epoch-factor required -
- long-factors required -
- short-factors required -
- fine-tune none -
- no-fine-tune none -
- bn required constant|pyslowfast
- bn-size required -
- ranks required -
- check none -
m model required NET
i data required DIR
- num-classes required -
- device required cpu|cuda|ref|ref64
- precision required fp32|bf16|fp16
j threads required -
- deterministic required exact|fast
- memory required -
- time none -
- compare none -
- locate required -
o output required FILE
- samples required -
- summary none -
- plot required FILE
f force none -
c config required FILE
q quiet none -
v verbose none -
h help optional all
V version none -
- print-config none -
- - operand FILE' ;;
	vt-train)
		spec='i data required DIR
- root required DIR
- short-side required -
- fps required -
- on-error required stop|skip
m model required NET
- schedule required FILE
- loss required softmax|sigmoid|focal
- focal-gamma required -
- class-weight required inverse:P|FILE
- init required FILE
- init-partial none -
- freeze required backbone|partial-bn|PATTERN
s seed required -
- sampler required tsm|tsm-upstream|dense|ssv2|pyslowfast|charades
- crop-rule required multiscale|jitter|jitter-upstream|resized|centre
- jitter-min required -
- jitter-max required -
- jitter-inverse none -
- crop-area required -
- resize required rule|bilinear|antialias
- level required auto|largest
- flip none -
- no-flip none -
- rand-augment required -
- rand-level required -
- brightness required -
- contrast required -
- saturation required -
- hue required -
- random-erase required -
- mixup required -
- cutmix required -
- repeat required -
- flip-swap required something|FILE
- balance required -
- optimizer required sgd|lars|lars-outside|adamw|lamb
- momentum required -
- nesterov none -
- beta1 required -
- beta2 required -
- epsilon required -
- trust-coefficient required -
- trust-clip none -
- weight-decay required -
- clip-grad required -
- clip-value required -
- loss-scale required dynamic|X
- ema required -
- use-ema none -
- shard-optimizer none -
- label-smoothing required -
- param-groups required tsm|tsm-fine|plain
- bn-running required mean|aggregate
- learners required -
- average-every required -
- average-state required average|reset|keep
- noise-scale none -
- batch-growth-max required -
- batch-growth-factor required -
- batch-growth-threshold required -
- batch-growth-patience required -
- val required DIR
- val-every required -
- val-frames required -
- val-crop required -
- precise-bn required auto|off|CLIPS
o output required DIR
- resume required auto|never|FILE
- override required -
- save-every required -
- save-steps required -
- keep required -
- keep-best required top1|loss|none|map
- stop-after required -
- max-loss required -
- on-nan required fail|skip:K
- on-corrupt required fail|skip:RATE
- step-timeout required -
- log-every required -
- tensorboard none -
- audit required -
- audit-report none -
- replay required -
- replay-steps required -
- status required DIR
- export required FILE
- names required torchvision|tsm|pyslowfast|mmaction2
n dry-run none -
- time none -
- parity none -
- device required cpu|cuda|ref|ref64
- precision required fp32|bf16|fp16
- autotune required auto|rule|fastest
- fuse none -
- no-fuse none -
j threads required -
- loader-threads required auto|N
- loader-memory required -
- stage required DIR
- stage-command required -
- trace-samples required FILE
- deterministic required exact|fast
- allreduce required auto|native|ring|torus|halving
- allreduce-table required FILE
- comm-dtype required fp32|bf16|fp16
- bucket required -
c config required FILE
- progress required auto|always|never
q quiet none -
v verbose none -
h help optional all
V version none -
- print-config none -' ;;
	vt-eval)
		spec='k checkpoint required FILE
i data required FILE|-
T files-from required FILE
0 null none -
- use-ema none -
- rescore required FILE
- views required auto|tsm|tsm-twice|tsm-dense|pyslowfast|ssv2|charades
- clips required -
- crops required -
- full-short-side none -
- sampler required tsm|tsm-upstream|dense|ssv2|pyslowfast|charades
- stride required -
- crop-rule required tsm|pyslowfast
- level required auto|largest
- ensemble required scores|probabilities|max
- frames required -
- crop required -
o output required FILE
f force none -
- top required -
- json none -
- scores required FILE
- per-class required FILE
- matrix required FILE
- matrix-values required percent|count
- matrix-order required grouped|number
- sheet required FILE
- sheet-samples required -
- sheet-of required all|wrong
- fusion required probabilities|logits
- fusion-weights required -
- fusion-fit none -
- curve required FILE
- curve-over required time|batch
- curve-target required -
- allow-truncated none -
- max-damage required -
- max-pixels required -
- max-frames required -
- device required cpu|cuda|ref|ref64
- precision required fp32|bf16|fp16
j threads required -
- microbatch required -
- loader-threads required -
- step-timeout required -
- loader-memory required -
c config required FILE
- progress required auto|always|never
q quiet none -
v verbose none -
h help optional all
V version none -
- print-config none -
- - operand FILE' ;;
	vt-bench)
		spec='i data required DIR
m model required NET
- shape required -
- schedule required FILE
- num-classes required -
- kinds none -
- convs none -
- sheet required FILE
- images required -
- short-side required -
- min required -
- max required -
- factor required -
- vectors required -
- algorithm required exact|native|ring|torus|halving
- comm-dtype required fp32|bf16|fp16
- overlap none -
- tune required FILE
- step-timeout required -
- rate required -
- profile required FILE
- links required -
- set required -
- samples required -
- hosts required -
- ranks-per-host required -
- ranks required -
- base-ranks required -
- price required -
- plot required FILE
- sampler required tsm|tsm-upstream|dense|ssv2|pyslowfast|charades
- crop-rule required multiscale|jitter|jitter-upstream|resized|centre
- jitter-min required -
- jitter-max required -
- jitter-inverse none -
- crop-area required -
- resize required rule|bilinear|antialias
- level required auto|largest
- flip none -
- no-flip none -
- rand-augment required -
- rand-level required -
- brightness required -
- contrast required -
- saturation required -
- hue required -
- random-erase required -
- mixup required -
- cutmix required -
- repeat required -
- warmup required -
- runs required -
- verify none -
- no-verify none -
- require required -
- json none -
- device required cpu|cuda|ref|ref64
- precision required fp32|bf16|fp16
- autotune required auto|rule|fastest
- fuse none -
- no-fuse none -
j threads required -
c config required FILE
q quiet none -
v verbose none -
h help optional all
V version none -
- print-config none -
- - operand decode|loader|op|step|profile|allreduce|links|count|cluster|guidelines
- - operand FILE' ;;
	esac
}

# _vt_networks COMMAND: the names of those that are installed with it.
_vt_networks() {
	local program dir file
	program=$(type -P -- "${1/#\~/$HOME}") && program=$(readlink -f -- "$program")
	program=${program%/*}
	for dir in "$VT_SHARE_DIR" "$program/../share/vt" "$program/../share"; do
		for file in "$dir"/models/*.net; do
			[[ -f $file ]] && file=${file##*/} && printf '%s\n' "${file%.net}"
		done
	done
}

# _vt_candidates COMMAND WHAT TEXT: what can become of TEXT, one a line.
_vt_candidates() {
	local kind
	local -a kinds
	IFS='|' read -ra kinds <<<"$2"
	for kind in "${kinds[@]}"; do
		case $kind in
		FILE) compgen -f -- "$3" ;;
		DIR) compgen -d -- "$3" ;;
		NET)
			compgen -W "$(_vt_networks "$1" | sort -u)" -- "$3"
			compgen -f -X '!*.net' -- "$3"
			compgen -d -- "$3"
			;;
		-) ;;
		*) [[ $kind == "$3"* ]] && printf '%s\n' "$kind" ;;
		esac
	done
}

# _vt_value COMMAND WHAT WORD HEAD: complete WORD, whose part HEAD bash does not
# take for part of the word.  WORD may begin with an option, --name=.
_vt_value() {
	local option='' text=$3 line
	case $3 in
	--*=*) option=${3%%=*}= text=${3#*=} ;;
	-[!-]?*) [[ $2 != - ]] && option=${3:0:2} text=${3:2} ;;
	esac
	# Of what readline takes for the whole, it quotes the names best itself.
	if [[ $option == "$4" ]]; then
		case $2 in
		FILE) compopt -o default 2>/dev/null; return ;;
		DIR) compopt -o dirnames -o filenames 2>/dev/null; return ;;
		esac
	fi
	while IFS= read -r line; do
		line=$option$line
		COMPREPLY+=("${line#"$4"}")
	done < <(_vt_candidates "$1" "$2" "$text")
	[[ $2 == *[A-Z]* ]] && compopt -o filenames 2>/dev/null
}

_vt() {
	local spec letter name value what word head option='' operands=0 ended='' i
	local -A value_of=() what_of=()
	local -a offered=() operand=() words=()

	COMPREPLY=()
	_vt_spec "${1##*/}"
	while read -r letter name value what; do
		if [[ $name == - ]]; then
			operand+=("$what")
			continue
		fi
		[[ $letter != - ]] && offered+=("-$letter") &&
			value_of[-$letter]=$value what_of[-$letter]=$what
		value_of[--$name]=$value what_of[--$name]=$what
		[[ $value != required ]] && offered+=("--$name")
		[[ $value != none ]] && offered+=("--$name=")
	done <<<"$spec"

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

	# What the words before it have left open.
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
		_vt_value "$1" "${what_of[$option]}" "$word" "$head"
	elif [[ -z $ended && $word == --*=* ]]; then
		_vt_value "$1" "${what_of[${word%%=*}]:--}" "$word" "$head"
	elif [[ -z $ended && $word == -[!-]?* && ${value_of[${word:0:2}]} == required ]]; then
		_vt_value "$1" "${what_of[${word:0:2}]}" "$word" "$head"
	elif [[ -z $ended && ($word == -* || ${#operand[@]} == 0) ]]; then
		for name in "${offered[@]}"; do
			[[ $name == "$word"* ]] && COMPREPLY+=("$name")
		done
		[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
	elif ((${#operand[@]})); then
		((operands < ${#operand[@]})) || operands=$((${#operand[@]} - 1))
		_vt_value "$1" "${operand[operands]}" "$word" "$head"
	fi
	return 0
}

complete -F _vt vt-extract vt-pack vt-schedule vt-train vt-eval vt-bench
