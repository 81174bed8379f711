# shellcheck shell=bash disable=SC2034,SC2154 # goes between lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# What the programs in tests/applications share: Debian's own programs, unmodified, in pairs, with what
# they moved checked; and a line for each in the table of docs/applications.md, which
# tests/applications/table makes of $out/rows.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../apps/lib.sh"

rows=$out/rows
mkdir -p "$rows"
((${#patterns[@]})) || rm -f "$rows/$suite".*
# Eight megabytes many times, on a machine that does something else too.
limit=240

# As plan_done. A run of all cases replaces what the table says of this package; one of some does not.
rows_done() {
	plan_done
	((${#patterns[@]})) || : >"$rows/$suite.all"
}

# One line of the table, under $heading if not the package's name: what a person types on either side, with SERVER for the address.
row() { # RESULT SERVER CLIENT CHECK
	local text line=
	for text in "${heading:-$package}" "$@"; do
		text=${text//%4/SERVER}
		line+=${text//%n/$bulk}$'\t'
	done
	say "${line%$'\t'}" >"$rows/$suite.$(printf '%03d' "$number").$case_name"
}

# Run a case and put it into the table. $package is what Debian calls it, $checked how its data is
# checked.
application() { # NAME SERVER CLIENT FUNCTION [ARGUMENT]...
	local serves=$2 asks=$3 verdict
	wanted "$1" || return 0
	if ! is_installed "$package"; then
		case_name=$suite-$1-$transport
		result ok "$case_name" "SKIP $package is not installed"
		row "not tested: not installed" "$serves" "$asks" "$checked"
		return
	fi
	run_case "$1" ${excuse:+excused} "${@:4}" >"$work/verdict"
	cat "$work/verdict"
	verdict=$(head -n 1 "$work/verdict")
	case $verdict in
	"ok "*SKIP*) verdict="shows nothing: ${inconclusive:-}" ;;
	"ok "*) verdict=${expected:-works} ;;
	*) verdict=FAILS ;;
	esac
	row "$verdict" "$serves" "$asks" "$checked"
}

# What fails now and then by the program's own design: $excuse is how its logs, or what we say, show that,
# $because why in words. Three times in all.
excused() { # FUNCTION [ARGUMENT]...
	local n
	for n in 1 2 3; do
		"$@" >"$case_dir/said" 2>&1 && return
		cat "$case_dir/said"
		grep -Eqs -- "$excuse" "$case_dir/said" "$out/$case_name".*.log || return 1
		remark="$n in vain: $because"
		stop_all
		((n == 3)) || rm -f "$out/$case_name".*
	done
	return 1
}

# A pair of which both end by themselves.
program() { # NAME SERVER CLIENT [SIDE COUNT REGEX]...
	application "$1" "$2" "$3" exchange "${@:2}"
}

# What the other side cannot do for us: a program that says what it lacks, and ends.
refuses() { # SIDE COMMAND REGEX
	local words status=0
	read -ra words <<<"$(expand "$2")"
	start "$1" "${words[@]}"
	wait "$started" || status=$?
	rm -f "$case_dir/$1.pid"
	((status)) || { say "the $1 succeeded"; return 1; }
	case $status in
	124 | 134 | 137 | 139) say "the $1 $(status_text $status)" && return 1 ;;
	esac
	has_lines "$1" "$3" 1 || { say "no word of '$3'"; return 1; }
}

# A server that never ends by itself, and a client that does. Programs are given to a shell, for
# redirections.
served_by() { # SERVER CLIENT
	local server_job
	start server bash -c "$(expand "$1")"
	server_job=$started
	wait_listening "$server_job" || return 1
	start client bash -c "$(expand "$2")"
	finish client "$started" || return 1
}

# A file of so many bytes that nobody expects.
random_file() { # FILE BYTES
	head -c "$2" /dev/urandom >"$1"
}

same_files() { # FILE FILE
	cmp "$1" "$2" >&2 || { say "the files differ"; return 1; }
}
