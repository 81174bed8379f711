#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The image of packaging/container, made as its recipe says, from Debian's archive in the place of a registry; and its
# examples, between two containers without privileges that have nothing but the image (tests/apps/sandbox).
#
# usage: tests/packaging/image.sh [-o DIRECTORY] [CASE-PATTERN]...       (root; needs Debian's archive)
# shellcheck disable=SC2154 # of the transport
set -- -t kernel_veth -o "$(dirname "${BASH_SOURCE[0]}")/../../out/test/packaging" "$@"
# shellcheck source=tests/apps/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../apps/lib.sh"

container=$root/packaging/container
image='' user='' entry=() command=()

# ---- the recipe ---------------------------------------------------------------------------------

in_stage() { # DIRECTORY COMMAND
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare -m sh -c 'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" &&
		exec chroot "$0" env -i PATH="$PATH" HOME=/root DEBIAN_FRONTEND=noninteractive sh -c "cd $1 && $2"' \
		"$image" "$1" "$2"
}

# As Debian's own images are.
from() { # NAME
	local sources=(/etc/apt/sources.list.d/debian.sources)
	[[ -f ${sources[0]} ]] || sources=(/etc/apt/sources.list)
	image=$work/$1
	mmdebstrap --mode=root --variant=minbase --dpkgopt=force-unsafe-io bookworm "$image" "${sources[0]}" &&
		cp /etc/resolv.conf "$image/etc/"
}

copy() { # [--from=NAME] SOURCE DESTINATION
	mkdir -p "$image${*: -1}"
	case $1 in
	--from=*) cp -a "$work/${1#--from=}$2/." "$image$3" ;;
	.) git -C "$root" archive HEAD | tar -x -C "$image$2" ;;
	*) return 1 ;;
	esac
}

# Words between brackets.
words_of() { # ["WORD", ...]
	tr -d '[],"' <<<"$1"
}

followed() {
	local instruction rest words directory=/
	while read -r instruction rest; do
		read -ra words <<<"$rest"
		case $instruction in
		FROM) directory=/ && from "${words[2]-image}" ;;
		COPY) copy "${words[@]}" ;;
		WORKDIR) directory=$rest ;;
		RUN) in_stage "$directory" "$rest" </dev/null ;;
		USER) user=${rest%:*} ;;
		ENTRYPOINT) read -ra entry <<<"$(words_of "$rest")" ;;
		CMD) read -ra command <<<"$(words_of "$rest")" ;;
		*) false ;;
		esac || { say "'$instruction $rest' fails"; return 1; }
	done < <(sed -e '/^\(#.*\)\?$/d' -e ':a; /\\$/ { N; s/\\\n// }; ta' "$container/Containerfile")
	printf '127.0.0.1 localhost\n%s server rdma-server\n%s client\n' "$server_v4" "$client_v4" >"$image/etc/hosts"
}

# ---- what is in it ------------------------------------------------------------------------------

transport_run() { # SIDE WORD...
	# shellcheck disable=SC2016 # expanded by the inner shell
	transport_in "$1" "$root/scripts/lib/timeout" "$limit" bash -c 'echo $$ >"$0"; exec "$@"' "$case_dir/$1.pid" \
		"$root/tests/apps/sandbox" --name "$1" --image --tmp --launch "$case_dir/launch" "$image" "$user" \
		env "${@:2}"
}

transport_listening() {
	[[ $(transport_in server ss -ltnH) ]]
}

begin() { # SIDE FILE NAME
	local words
	mapfile -d '' words < <("$root/tests/packaging/example.py" "$container/$2" "$3" "${entry[@]}")
	mkdir -p "$case_dir/launch"
	chmod 1777 "$case_dir/launch"
	start "$1" "${words[@]}"
}

by_itself() {
	mkdir -p "$case_dir/launch"
	start server "${entry[@]}" "${command[@]}"
	finish server "$started" && has_lines server 'uiw0' 1
}

pair_of() { # FILE SERVER CLIENT COUNT REGEX
	begin server "$1" "$2"
	wait_listening "$started" || return 1
	begin client "$1" "$3"
	finish client "$started" && has_lines client "$5" "$4"
}

ranks() {
	local server_job part
	transport_in server ip addr add 10.79.0.2/24 dev veth1
	transport_in client ip addr add 10.79.0.3/24 dev veth0
	begin server mpi.yaml server
	server_job=$started
	begin client mpi.yaml client
	finish client "$started" && finish server "$server_job" || return 1
	for part in allreduce alltoall ring all; do
		has_lines client "^$part ok with 2 ranks" 1 || { say "$part was not right"; return 1; }
	done
	remark="1 byte $(awk '$1 == "latency" && $2 == 1 { print $3 }' "$(log_of client)") us"
}

# Without it there is nothing to look at.
set +e
case_name=image
followed >"$out/image.log" 2>&1
made=$?
set -e
if ((made)); then
	result "not ok" image "see $out/image.log"
	tail -n 25 "$out/image.log" | sed 's/^/# /'
	plan_done
	exit 0
fi
result ok image
run_case by_itself by_itself
run_case compose pair_of compose.yaml server client 1 '^ 65536 '
run_case pod pair_of pod.yaml rdma-server rdma-client 10 'ping data: rdma-ping'
limit=180 run_case mpi ranks
plan_done
