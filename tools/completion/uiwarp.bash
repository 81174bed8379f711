# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Completions of bash for uiwarp. The program itself is asked what there is, so nothing is repeated
# here: commands by "uiwarp help", their options by "uiwarp COMMAND --help", keys of the configuration
# and their words by "uiwarp help keys".

_uiwarp_commands() {
	"$1" help 2>/dev/null | sed -n '/^Commands:/,$s/^  \([a-z]\+\) .*/\1/p'
}

_uiwarp_options() { # UIWARP COMMAND...
	"$@" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*=?' | sort -u
}

_uiwarp_takes_value() { # OPTION UIWARP COMMAND...
	local option=$1
	shift
	[[ $option == -* ]] &&
		"$@" --help 2>/dev/null | grep -E -e "^ +(-., )?$option=" -e "^ +$option, --[a-z-]+=" >/dev/null
}

# A column of what runs: 1 processes, 3 queue pairs.
_uiwarp_shown() { # UIWARP COLUMN
	"$1" stat 2>/dev/null | awk -v column="$2" 'NR > 1 && $column ~ /^[0-9]+(\.[0-9]+)?$/ { print $column }' | sort -uV
}

# Keys; behind one, its words.
_uiwarp_settings() { # UIWARP BEGINNING
	"$1" help keys 2>/dev/null | awk -v begun="$2" -F '[ =]+' '
		!/^  [a-z_]+=/ { next }
		begun !~ /=/ { print $2 "="; next }
		begun ~ "^" $2 "=" && $NF ~ /\|/ { gsub(/\|/, "\n" $2 "=", $NF); print $2 "=" $NF }'
}

_uiwarp_values() { # UIWARP OPTION BEGINNING
	case $2 in
	-s | --set) _uiwarp_settings "$1" "$3" ;;
	-C | --cc) _uiwarp_settings "$1" congestion_control= | sed 's/.*=//' ;;
	--follow | --qp) _uiwarp_shown "$1" 3 ;;
	--pid) _uiwarp_shown "$1" 1 ;;
	esac
}

# Whether the cursor, at word n, is behind the program that is to be run.
_uiwarp_is_behind_program() { # WORD... until the cursor
	while (($#)); do
		case $1 in
		--) (($# > 1)) && return || return 1 ;;
		-c | --config | -s | --set) shift ;;
		-*) ;;
		*) return ;;
		esac
		shift
	done
	return 1
}

_uiwarp_operands() { # UIWARP COMMAND WORD NTH
	case $2 in
	help) _uiwarp_commands "$1" && echo keys ;;
	stat | top) _uiwarp_shown "$1" 1 ;;
	ctl)
		_uiwarp_shown "$1" 1
		printf '%s\n' log={error,warning,info,debug} capture=off capture= capture_size= capture_files=
		;;
	pcap) (($4 > 2)) || printf '%s\n' check show stats replay ;;
	tcp) (($4 > 2)) || printf '%s\n' source sink echo pingpong ;;
	run) compgen -c -- "$3" ;;
	esac
}

_uiwarp() {
	local uiwarp=${COMP_WORDS[0]} here=${COMP_WORDS[COMP_CWORD]} words=() asked offered='' word n i

	COMPREPLY=()
	# The shell takes words apart at "=".
	for ((i = 0; i <= COMP_CWORD; i++)); do
		if ((i > 1)) && [[ ${COMP_WORDS[i]} == '=' || ${COMP_WORDS[i - 1]} == '=' ]]; then
			words[-1]+=${COMP_WORDS[i]}
		else
			words+=("${COMP_WORDS[i]}")
		fi
	done
	n=$((${#words[@]} - 1)) word=${words[n]}
	asked=("$uiwarp" "${words[1]}")
	[[ $n -le 2 || ! ${words[1]} =~ ^(pcap|tcp)$ ]] || asked+=("${words[2]}")
	if ((n == 1)); then
		offered="$(_uiwarp_commands "$uiwarp") help --help --version"
	elif [[ ${words[1]} == run ]] && _uiwarp_is_behind_program "${words[@]:2:n-2}"; then
		return
	elif [[ $word == --*=* ]]; then
		offered=$(_uiwarp_values "$uiwarp" "${word%%=*}" "${word#*=}")
		[[ ! $offered ]] || offered=${word%%=*}=${offered//$'\n'/$'\n'"${word%%=*}="}
	elif _uiwarp_takes_value "${words[n - 1]}" "${asked[@]}"; then
		offered=$(_uiwarp_values "$uiwarp" "${words[n - 1]}" "$word")
	elif [[ $word == -* ]]; then
		offered=$(_uiwarp_options "${asked[@]}")
	else
		offered=$(_uiwarp_operands "$uiwarp" "${words[1]}" "$word" "$n")
	fi
	mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$word")
	# What ends with "=" goes on; where nothing fits a file may.
	if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then
		compopt -o nospace 2>/dev/null || :
	fi
	# Of a word that was taken apart only the last part is replaced.
	if [[ $here == '=' ]]; then
		COMPREPLY=("${COMPREPLY[@]#"$word"}")
	elif [[ $here != "$word" ]]; then
		COMPREPLY=("${COMPREPLY[@]#"${word%"$here"}"}")
	fi
	return 0
}

complete -o default -F _uiwarp uiwarp
