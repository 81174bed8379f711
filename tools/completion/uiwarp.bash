# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Completions of bash for uiwarp. The program itself is asked what there is, so nothing is repeated
# here: commands by "uiwarp help", their options by "uiwarp help COMMAND".

_uiwarp_commands() {
	"$1" help 2>/dev/null | sed -n '/^Commands:/,$s/^  \([a-z]\+\) .*/\1/p'
	echo help
}

_uiwarp_options() {
	"$1" help "$2" 2>/dev/null | grep -oE -- '--[a-z][a-z-]*=?' | sort -u
}

_uiwarp_processes() {
	"$1" stat 2>/dev/null | awk 'NR > 1 && $1 ~ /^[0-9]+$/ { print $1 }' | sort -un
}

_uiwarp() {
	local uiwarp=${COMP_WORDS[0]} command=${COMP_WORDS[1]-} word=${COMP_WORDS[COMP_CWORD]} words

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		words="$(_uiwarp_commands "$uiwarp") --help --version"
	elif [[ $word == -* ]]; then
		words=$(_uiwarp_options "$uiwarp" "$command")
	else
		case $command in
		help) words=$(_uiwarp_commands "$uiwarp") ;;
		stat | top) words=$(_uiwarp_processes "$uiwarp") ;;
		ctl)
			words="$(_uiwarp_processes "$uiwarp") log=error log=warning log=info log=debug
				capture=off capture= capture_size= capture_files="
			;;
		pcap) words='check show stats replay' ;;
		tcp) words='source sink echo pingpong' ;;
		run) words=$(compgen -c -- "$word") ;;
		*) words= ;;
		esac
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	# What ends with "=" goes on; where nothing fits a file may.
	if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then
		compopt -o nospace 2>/dev/null || :
	fi
	return 0
}

complete -o default -F _uiwarp uiwarp
