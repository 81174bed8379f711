# shellcheck shell=bash disable=SC2034,SC2154 # goes between lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the transports to Linux's siw in a QEMU guest (tests/interop/guest). The
# wire is a virtio ring of the guest's that our stack serves over vhost-user: no root, no namespace,
# no interface of this machine.
#
#   our stack  10.66.0.1  fd66::1  ---- $work/wire ----  10.66.0.2  fd66::2  guest
#
# $siw_side says which side of a case is the guest's; the other is a stack of ours.

guest_files=$root/out/interop/guest
siw_side=server
guest_job='' guest_orders=0 siw_loaded=''
bulk=20 control_host=''

transport_missing() {
	local program
	for program in qemu-system-x86_64 busybox cpio; do
		command -v "$program" >/dev/null || { say "$program is not installed"; return; }
	done
	[[ -s $guest_files/initrd ]] || say "no guest: run tests/interop/guest/build"
}

# One order at a time on each port. What a program says that was ended meanwhile has another number.
guest() { # program|control COMMAND
	local port=$1 number=$((++guest_orders)) line in out end=$((SECONDS + limit + patience))
	exec {in}>"$work/$port.in" {out}<"$work/$port.out"
	printf '%s %s\n' "$number" "$2" >&"$in"
	while ((SECONDS < end)) && is_alive "$guest_job"; do
		line=
		IFS= read -r -t 1 line <&"$out" || true
		case $line in
		"$number "*) say "${line#* }" ;;
		"$number="*)
			exec {in}>&- {out}<&-
			return "${line#*=}"
			;;
		esac
	done
	exec {in}>&- {out}<&-
	say "the guest does not answer"
	return 1
}

# What a case begins with: siw as wanted, nothing left of an earlier program.
siw_load() { # VARIANT [PARAMETER=VALUE]...
	guest control "end" || return 1
	[[ $siw_loaded == "$*" ]] && return
	siw_loaded=''
	guest control "load $*" && siw_loaded=$*
}

guest_ready() { # PORT
	local line
	IFS= read -r -t "$limit" line <"$work/$1.out" && [[ $line == *ready* ]]
}

# QEMU wants to see the other end of the wire before it begins: a stack that only lives meanwhile.
transport_up() {
	local port wire=chardev=wire,id=net
	rm -f "$work"/{program,control}.{in,out} "$work/wire"
	siw_loaded=''
	for port in program control; do
		mkfifo "$work/$port.in" "$work/$port.out"
	done
	qemu-system-x86_64 -M q35,memory-backend=memory -accel tcg -cpu max -m 384 -no-reboot \
		-nodefaults -no-user-config -display none -serial "file:$out/guest.log" \
		-object memory-backend-memfd,id=memory,size=384M,share=on \
		-kernel "$guest_files/vmlinuz" -initrd "$guest_files/initrd" \
		-append "console=ttyS0 quiet panic=-1 oops=panic tsc=reliable mitigations=off random.trust_cpu=on" \
		-chardev "socket,id=wire,path=$work/wire,server=on,wait=off" -netdev "vhost-user,$wire" \
		-device "virtio-net-pci,netdev=net,vectors=0,romfile=,$guest_nic" \
		-device virtio-serial-pci \
		-chardev "pipe,id=program,path=$work/program" -device virtserialport,chardev=program \
		-chardev "pipe,id=control,path=$work/control" -device virtserialport,chardev=control \
		>"$out/qemu.log" 2>&1 </dev/null &
	guest_job=$!
	wait_for "$patience" test -S "$work/wire" || die "QEMU does not start: see $out/qemu.log"
	transport_settings
	"$uiwarp" tcp sink "${settings[@]}" --listen 1 >"$out/first.log" 2>&1 &
	port=$!
	{ guest_ready program && guest_ready control; } || die "the guest does not start: see $out/guest.log"
	kill "$port"
	wait "$port" || true
}

# Not what an interface would do for it: checksums, and cutting what is longer than the MTU. Nor does
# it see whether a stack of ours is there, as with a switch between; siw would be down without.
guest_nic=mac=02:00:00:00:66:02
for feature in status csum gso host_tso4 host_tso6 host_ecn host_ufo \
	guest_csum guest_tso4 guest_tso6 guest_ecn guest_ufo; do
	guest_nic+=,$feature=off
done

transport_down() {
	[[ $guest_job ]] || return 0
	kill "$guest_job" 2>/dev/null || true
	wait "$guest_job" 2>/dev/null || true
	guest_job=''
}

transport_in() { # SIDE COMMAND...
	shift
	"$@"
}

transport_settings() { # [SIDE]; fills the array `settings`
	settings=(
		--set "port=net_vhost0,iface=$work/wire,client=1"
		--set "address=10.66.0.1/24" --set "address=fd66::1/64" --set "peer=$siw_peer"
	)
}

transport_run() { # SIDE COMMAND...
	if [[ $1 == "$siw_side" ]]; then
		say "$BASHPID" >"$case_dir/$1.pid"
		guest program "program $limit ${*:2}"
	else
		on_stack "$@"
	fi
}

transport_reset() { :; }

transport_listening() {
	if [[ $siw_side == server ]]; then
		guest control listening
	else
		has_line "$(stack_log_of server)" 'listening'
	fi
}

# Which side serves is known only then.
siw_is() { # server|client
	siw_side=$1
	case $1 in
	server) server_v4=10.66.0.2 server_v6=fd66::2 ;;
	client) server_v4=10.66.0.1 server_v6=fd66::1 ;;
	esac
}

