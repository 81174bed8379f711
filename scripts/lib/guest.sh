# shellcheck shell=bash disable=SC2034,SC2154 # goes between the transports and pair.sh
# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the transports with a QEMU guest (scripts/lib/guest_build.sh): starts it, gives it orders,
# runs the programs of its side in it, ends it. $guest_files is the directory of its kernel and initramfs.

# Told by the transport: the command within which QEMU runs, such as ip netns exec NAMESPACE; the addresses, IPv4
# and IPv6, in the guest and outside of it.
guest_within=() guest_addresses=() outside_addresses=()
# Where its ports are, and the name of its logs in $out: of each guest its own, where a case has two.
guest_work=$work guest_log=guest
# Which side of a case is the guest's; the other is a stack of ours. See guest_is().
guest_side=server
guest_job='' guest_orders=0

guest_missing() { # BUILDER
	local program
	for program in qemu-system-x86_64 busybox cpio; do
		command -v "$program" >/dev/null || { say "$program is not installed"; return; }
	done
	[[ -s $guest_files/initrd ]] || say "no guest: run $1"
}

# Seconds that the guest has had: what its processor waited for one of this machine is no delay of its. In $had.
guest_clock() {
	local delay most=0 thread
	for thread in "/proc/$guest_job/task"/*/schedstat; do
		{ read -r _ delay _ <"$thread"; } 2>/dev/null && ((delay > most)) && most=$delay
	done
	had=$((SECONDS - most / 1000000000))
}

# One order at a time on each port. What a program says that was ended meanwhile has another number.
guest() { # program|control COMMAND
	local port=$1 number=$((++guest_orders)) line begun='' in out had end
	guest_clock
	end=$((had + limit + patience))
	# Both both ways: to open one way waits for who has the other, and a guest may have ended.
	exec {in}<>"$guest_work/$port.in" {out}<>"$guest_work/$port.out"
	printf '%s %s\n' "$number" "$2" >&"$in"
	while ((had < end)) && is_alive "$guest_job"; do
		# A second may be over in the middle of a line.
		if ! IFS= read -r -t 1 line <&"$out"; then
			guest_clock
			begun+=$line
			continue
		fi
		line=$begun$line begun=''
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

# The words for a virtio NIC that does nothing for the guest's Linux that an interface would: no checksums, no cutting of
# what is longer than the MTU. Nor does it tell whether somebody is at the other end, as with a switch between.
guest_plain_nic() { # MAC
	local feature words=virtio-net-pci,vectors=0,romfile=,mac=$1
	for feature in status csum gso host_tso4 host_tso6 host_ecn host_ufo \
		guest_csum guest_tso4 guest_tso6 guest_ecn guest_ufo; do
		words+=,$feature=off
	done
	say "$words"
}

# Under QEMU's emulation, whatever the processor of this machine can. Its Linux keeps time by ACPI's timer:
# while this machine is busy it measures its TSC wrongly, by a factor of three. Its output: $out/$guest_log.log.
guest_boot() { # WORDS-FOR-ITS-KERNEL QEMU-ARGUMENT...
	local port
	rm -f "$guest_work"/{program,control}.{in,out}
	for port in program control; do
		mkfifo "$guest_work/$port.in" "$guest_work/$port.out"
	done
	"${guest_within[@]}" qemu-system-x86_64 -accel tcg -cpu max -no-reboot \
		-nodefaults -no-user-config -display none -serial "file:$out/$guest_log.log" \
		-kernel "$guest_files/vmlinuz" -initrd "$guest_files/initrd" \
		-append "console=ttyS0 quiet panic=-1 oops=panic tsc=reliable clocksource=acpi_pm no_timer_check mitigations=off random.trust_cpu=on $1" \
		-device virtio-serial-pci \
		-chardev "pipe,id=program,path=$guest_work/program" -device virtserialport,chardev=program \
		-chardev "pipe,id=control,path=$guest_work/control" -device virtserialport,chardev=control \
		"${@:2}" >"$out/$guest_log.qemu.log" 2>&1 </dev/null &
	guest_job=$!
}

# The agents of both ports have come. A guest that shares a busy processor takes minutes.
guest_ready() {
	local line part port had end agent
	guest_clock
	end=$((had + limit + 2 * patience))
	for port in program control; do
		# Also for writing: who only reads waits for who writes before any clock is looked at.
		exec {agent}<>"$guest_work/$port.out"
		line=''
		until [[ $line == *ready* ]]; do
			guest_clock
			((had < end)) && is_alive "$guest_job" || return 1
			IFS= read -r -t 1 part <&"$agent" || true
			line+=$part
		done
		exec {agent}<&-
	done
}

guest_end() {
	[[ $guest_job ]] || return 0
	kill "$guest_job" 2>/dev/null || true
	wait "$guest_job" 2>/dev/null || true
	guest_job=''
}

# Which side serves is known only then.
guest_is() { # server|client
	guest_side=$1
	if [[ $1 == server ]]; then
		server_v4=${guest_addresses[0]} server_v6=${guest_addresses[1]} client_v4=${outside_addresses[0]}
	else
		server_v4=${outside_addresses[0]} server_v6=${outside_addresses[1]} client_v4=${guest_addresses[0]}
	fi
}

# What runs a program in the guest, unless a transport knows better.
guest_command() { # PROGRAM...
	say "$*"
}

transport_run() { # SIDE COMMAND...
	if [[ $1 == "$guest_side" ]]; then
		say "$BASHPID" >"$case_dir/$1.pid"
		guest program "program $limit $(guest_command "${@:2}")"
	else
		on_stack "$@"
	fi
}

transport_reset() { :; }

transport_listening() {
	if [[ $guest_side == server ]]; then
		guest control listening
	else
		has_line "$(stack_log_of server)" 'listening'
	fi
}
