#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pyverbs, the Python bindings of libibverbs and librdmacm: by its objects, connected by the program
# itself; and by rdma_cm. And rdma-core's own tests, which the package has among its documentation.
# shellcheck source=tests/applications/lib.sh
source "$(dirname "$0")/lib.sh"

package=python3-pyverbs
python=/usr/bin/python3

# Names are given from the top of the project.
script() { # NAME SCRIPT SERVER-ARGUMENTS CLIENT-ARGUMENTS [SIDE COUNT REGEX]...
	local name=$1 script=$2 serves=$3 asks=$4
	shift 4
	application "$name" "python3 $script ${serves/\%p/7475}" "python3 $script ${asks/\%p \%h/7475 HOST}" \
		exchange "$python $root/$script $serves" "$python $root/$script $asks" "$@"
}

checked="both ends compare what was sent, written and read, and what was added"
listens_at=linux
script objects tests/applications/pyverbs_objects.py %p "%p %h" \
	server 1 'device uiw0' server 1 'the message is right' server 1 'what was written is right' \
	server 1 'the count is 42$' \
	client 1 'the answer is right' client 1 'what was read is right' client 1 'the count was 40$'

checked="the client compares what it wrote and read, the server has its sum"
listens_at=stack
script cm examples/window.py 7474 "7474 %4" \
	server 1 'wrote 65536 bytes, their sum is 7864320$' client 1 'read 65536 bytes, their sum is 7864320$'
# ---- rdma-core's own tests ----------------------------------------------------------------------

tests_of=/usr/share/doc/rdma-core/tests
reasons=$root/tests/applications/pyverbs.reasons

# Once for all cases: what each test said. Both ends are in one process.
told() {
	[[ ! -s $work/told ]] || return 0
	cp -r "$tests_of" "$work/tests"
	gunzip -f "$work"/tests/*.gz
	"$root/scripts/lib/timeout" "$limit" "$uiwarp" run --set port=net_null0,no-rx=1 --set mac=02:00:00:00:00:01 \
		--set address=10.99.0.1/24 -- \
		"$python" "$root/tests/applications/pyverbs_tests.py" "$work" \
		>"$work/told.part" 2>"$(errors_of client)" || { say "they ended with status $?"; return 1; }
	mv "$work/told.part" "$work/told"
}

# All that are not skipped, but those with a reason. That many there are at the least.
tests_succeed() { # COUNT
	local name n
	told || return 1
	while read -r name; do
		grep -Eq "^[?]?$name"$'\t' "$reasons" || { say "$name fails"; return 1; }
	done < <(sed -n 's/^fails \([^ ]*\).*/\1/p' "$work/told")
	n=$(grep -c '^ok ' "$work/told")
	((n >= $1)) || { say "only $n succeed"; return 1; }
	remark="$n succeed, $(grep -c '^skipped ' "$work/told") are skipped"
}

test_fails() { # NAME
	told || return 1
	[[ $1 == \?* ]] || grep -q "^fails $1 " "$work/told" || { say "it does not fail any more"; return 1; }
}

run_tests='uiwarp run ... -- python3 tests/run_tests.py -v'
if [[ -d $tests_of ]]; then
	checked="each test by itself; those of other devices and of what iWARP has not are skipped"
	expected="works, but for those below"
	application tests "" "$run_tests" tests_succeed 88
	checked="the test's own words"
	while IFS=$'\t' read -r name why; do
		[[ $name && $name != \#* ]] || continue
		[[ $why == "the same" ]] || because_of=$why
		expected="fails: $because_of"
		application "fails-${name##*.}" "" "run_tests.py ${name#\?}" test_fails "$name"
	done <"$reasons"
fi
rows_done
