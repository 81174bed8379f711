# shellcheck shell=bash disable=SC2034,SC2154 # goes between lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# Two stacks on memifs, with uiwarp wan between them: no root, no network. $wan_path is what it does to them.

# shellcheck source=scripts/lib/transport/memif.sh
source "$root/scripts/lib/transport/memif.sh"

wan_path=(--loss 0.02% --reorder 0.1% --reorder-by 200us)
wan_dir='' wan_job=''

transport_up() { # [NUMBER]
	local end ports=()
	wan_dir=$work/wan${1:-}
	mkdir -p "$wan_dir"
	for end in 1 2; do
		ports+=("net_memif$end,role=server,id=$end,socket=$wan_dir/$end,socket-abstract=no")
	done
	"$uiwarp" wan --json --a "${ports[0]}" --b "${ports[1]}" "${wan_path[@]}" >"$wan_dir/log" 2>&1 </dev/null &
	wan_job=$!
	wait_for "$patience" grep -qs '"ready"' "$wan_dir/log" || die "the emulator does not start: $(cat "$wan_dir/log")"
}

transport_down() {
	[[ -z $wan_job ]] || { kill "$wan_job" && wait "$wan_job"; } 2>/dev/null || true
	wan_job=
}

transport_settings() { # SIDE; fills the array `settings`
	local n=2
	[[ $1 == server ]] && n=1
	settings=(
		--set "port=net_memif0,role=client,id=$n,socket=$wan_dir/$n,socket-abstract=no"
		--set "address=10.77.0.$n/24" --set "address=fd77::$n/64"
	)
}

transport_reset() { :; }
transport_ready() { :; }
