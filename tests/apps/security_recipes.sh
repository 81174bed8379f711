#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The commands of docs/security.md, taken from the page and run as they stand there, but for addresses, hosts and
# directories. What they write is the configuration of programs that know nothing of it.
# shellcheck disable=SC2154 # of the libraries
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/apps/tls_lib.sh
source "$(dirname "$0")/tls_lib.sh"
[[ $transport == kernel ]] || only_over memif
only_with_tls

transport_settings server
# A host is a directory: what the page has in /etc/uiwarp.
hosts=$work/hosts
commands_log=$out/$suite-$transport.commands.log
rm -f "$commands_log"

# The lines of code in a part of the page.
recipe() { # HEADING
	sed -n "/^##* $1\$/,/^#/s/^    //p" "$root/docs/security.md"
}

# The page's node1 is this host.
for_host() { # HOST ADDRESS <COMMANDS
	sed "s/node1/$1/g; s/10\.0\.0\.1/$2/g; s:/etc/uiwarp:$hosts/$1:g"
}

run_in() { # DIRECTORY COMMANDS
	(cd "$1" && eval "$2") >>"$commands_log" 2>&1 || die "docs/security.md: this has failed: $2"
}

# As scp has it, modes are kept as far as the umask lets them. Without a directory: to where one comes to by logging in.
# shellcheck disable=SC2317 # a command of the page's
scp() { # FILE... HOST:DIRECTORY
	local to=${*: -1}
	to=${to#*:}
	cp "${@:1:$#-1}" "${to:-$login}"
}

uses() { # HOST
	say "--config $hosts/$1/uiwarp.conf"
}

# At the server's port TLS begins, with our ALPN, and there is no MPA.
encrypted() { # COMMAND...
	local packets=$case_dir/packets.pcapng
	# The kernel's TCP is captured by other means.
	[[ $transport == memif ]] || { "$@" && return || return; }
	server_extra+=(--set "capture=$packets")
	"$@" || return 1
	LC_ALL=C grep -qaP '\x00\x06\x05iwarp' "$packets" || { say "there is no TLS"; return 1; }
	! grep -qa 'MPA ID Re' "$packets" || { say "MPA is in the clear"; return 1; }
}
write_bw=("ib_write_bw -R -F -s 65536 -n 100" "ib_write_bw -R -F -s 65536 -n 100 %4" client 1 '^ *[0-9]+ +[0-9]+ ')

# ---- Encrypt in five minutes --------------------------------------------------------------------

five_minutes() {
	local commands here=$hosts/first login=$hosts/second run="uiwarp run --set tls=required --set tls_psk=\$PWD/psk"
	mapfile -t commands < <(recipe 'Encrypt in five minutes')
	[[ ${commands[2]} == "$run -- ib_write_bw -R" && ${commands[3]} == "$run -- ib_write_bw -R 10.0.0.1" ]] ||
		{ say "the page runs other commands"; return 1; }
	mkdir -p "$here" "$login"
	run_in "$here" "${commands[0]}"
	run_in "$here" "${commands[1]}"
	cmp "$here/psk" "$login/psk" || return 1
	as "--set tls=required --set tls_psk=$here/psk" "--set tls=required --set tls_psk=$login/psk"
	encrypted exchange "${write_bw[@]}"
}
run_case five_minutes five_minutes

# ---- Own CA in five commands --------------------------------------------------------------------

ca_commands() { # HOST ADDRESS
	mapfile -t commands < <(recipe 'Own CA in five commands' | for_host "$@")
	((${#commands[@]} == 5)) || die "docs/security.md: ${#commands[@]} commands for a CA"
}

# A CA, and a host that it knows, with its file for --config.
ca_knows() { # CA HOST ADDRESS
	local commands here=$work/$1
	ca_commands "$2" "$3"
	[[ -d $here ]] || { mkdir "$here" && run_in "$here" "${commands[0]}"; }
	mkdir -p "$hosts/$2"
	run_in "$here" "${commands[1]}"
	run_in "$here" "${commands[2]}"
	run_in "$here" "${commands[3]}"
	run_in "$hosts/$2" "${commands[4]}"
}
ca_knows ours server "$server_v4"
ca_knows ours client "$client_v4"
ca_knows theirs stranger "$client_v4"

as "$(uses server)" "$(uses client)"
run_case own_ca encrypted exchange "${write_bw[@]}"
as "$(uses server)" ""
run_case own_ca-without_keys refused_clear
as "$(uses server)" "$(uses stranger)"
run_case own_ca-stranger refused 'the peer sent the alert .unknown CA' 'the peer.s certificate: '

# ---- What is inside -----------------------------------------------------------------------------

# shellcheck disable=SC2317 # a command of the page's
uiwarp() {
	"$uiwarp" "$@"
}

shows() { # FILE TEXT COUNT
	local n
	n=$(grep -o "$2" "$1" | wc -l)
	((n == $3)) || { say "${1##*/} has '$2' $n times, not $3"; return 1; }
}

inside() {
	local commands text n
	mapfile -t commands < <(recipe 'What is inside')
	[[ ${commands[0]} == *"--set tls_keylog=keys --set capture=packets.pcapng "* ]] || { say "the page has other files"; return 1; }
	server_extra+=(--set "tls_keylog=$case_dir/keys" --set "capture=$case_dir/packets.pcapng")
	exchange "rping -s -a %4 -v -C 10" "rping -c -a %4 -v -V -C 10" || return 1
	cp "$root/packaging/wireshark/iwarp_tls.lua" "$case_dir"
	for n in 1 2; do
		(cd "$case_dir" && eval "${commands[n]}" >"shown-$n" 2>>"$commands_log") || { say "this has failed: ${commands[n]}"; return 1; }
		for text in "MPA Request" "MPA Reply"; do shows "$case_dir/shown-$n" "$text" 1 || return 1; done
		shows "$case_dir/shown-$n" "Read Request" 10 || return 1
	done
	# The terms of MPA, and a Read's length as DDP's dissector has it.
	(cd "$case_dir" && eval "${commands[2]} -V") >"$case_dir/shown" 2>>"$commands_log"
	shows "$case_dir/shown" 'Key: MPA ID Req Frame' 1 && shows "$case_dir/shown" 'RDMA Read Message Size: 64 bytes' 10
}
if [[ $transport == memif ]] && type -p tshark >/dev/null; then
	as "$(uses server)" "$(uses client)"
	run_case inside inside
fi

# ---- A cluster without a CA ---------------------------------------------------------------------

psk_commands() { # HOST
	mapfile -t commands < <(recipe 'A cluster without a CA' | for_host "$1" -)
	((${#commands[@]} == 2)) || die "docs/security.md: ${#commands[@]} commands for a cluster without a CA"
}

psk_new() { # DIRECTORY
	local commands
	psk_commands -
	mkdir -p "$1"
	run_in "$1" "${commands[0]}"
}

psk_use() { # HOST
	local commands
	psk_commands "$1"
	mkdir -p "$hosts/$1"
	run_in "$hosts/$1" "${commands[1]}"
}

# The file of a host has these keys, in this order, and takes the place of the one before.
psk_has() { # HOST KEY...
	local keys=("${@:2}")
	(umask 077 && cd "$work/psk" && cat "${keys[@]/%//psk}" >"$hosts/$1/psk.new")
	mv "$hosts/$1/psk.new" "$hosts/$1/psk"
}

psk_new "$work/psk/old"
# Another day.
# shellcheck disable=SC2317 # a command of the page's
(date() { command date -d tomorrow "$@"; } && psk_new "$work/psk/new")
for host in psk_server psk_client; do
	psk_use "$host"
	psk_has "$host" old
done

as "$(uses psk_server)" "$(uses psk_client)"
run_case psk_cluster encrypted exchange "${write_bw[@]}"
as "$(uses psk_server)" ""
run_case psk_cluster-without_keys refused_clear

rings() { # HOST KEY...
	start client rping -c -a "$server_v4" -p 7174 -v -V -C 2
	finish client "$started" || { say "once $1 has the keys '${*:2}', they do not connect"; return 1; }
}

# The server stays, and reads each file as it comes; clients come after each step that a host has gone.
rotated() { # HOST THEN-HOST
	local keys host
	psk_has psk_server old
	psk_has psk_client old
	start server rping -s -P -a "$server_v4" -p 7174 || return 1
	wait_listening "$started" && rings each old || return 1
	for keys in "old new" "new old" new; do
		for host in "$@"; do
			# shellcheck disable=SC2086 # words
			psk_has "$host" $keys && rings "$host" $keys || return 1
		done
	done
	is_alive "$(program_pid server)" || { say "the server is gone"; return 1; }
	# The key that was removed is nobody's.
	psk_has psk_client old
	start client rping -c -a "$server_v4" -p 7174 -v -C 1
	! wait "$started" || { say "the old key is still good"; return 1; }
	rm -f "$case_dir/client.pid"
	has_lines client "cma event RDMA_CM_EVENT_$rejected\$" 1 || { say "the client was not told"; return 1; }
}
as "$(uses psk_server)" "$(uses psk_client)"
run_case rotation-server_first rotated psk_server psk_client
run_case rotation-client_first rotated psk_client psk_server

# ---- An end that has no TLS ---------------------------------------------------------------------

stunnel_page() {
	local commands here=$hosts/server last
	commands=$(recipe 'An end that has no TLS' | for_host server "$server_v4")
	read -ra last <<<"${commands##*$'\n'}"
	(umask 077 && cat "$here/server.pem" "$here/server.key" >"$here/server.both")
	run_in "$here" "${commands%$'\n'*}"
	start server rping -s -a "$server_v4" -p 7174 -v -C 10
	wait_listening "$started" || return 1
	start_foreign stunnel env -C "$here" "${last[@]}"
	wait_for "$patience" linux_listening 7175 || { say "stunnel does not listen"; return 1; }
	start client rping -c -a "$server_v4" -p 7175 -v -V -C 10
	finish client "$started" && has_lines client 'ping data: rdma-ping' 10
}
if [[ $transport == kernel ]] && type -p stunnel4 >/dev/null; then
	as "" "$(uses client)"
	run_case stunnel-page stunnel_page
fi

# ---- IPsec --------------------------------------------------------------------------------------

# The page's file for both hosts, with a random key for each KEYSALT.
ipsec_file() {
	local line
	while IFS= read -r line; do
		say "${line/KEYSALT/$(openssl rand -hex 20)}"
	done < <(recipe IPsec | sed "s/10\.0\.0\.1/$server_v4/g; s/10\.0\.0\.2/$client_v4/g")
}

under_esp() {
	local packets=$case_dir/packets.pcapng
	server_extra+=(--set "capture=$packets")
	exchange "${write_bw[@]}" || return 1
	# The SPI of the first SA and its first sequence number.
	LC_ALL=C grep -qaP '\x00\x00\x10\x01\x00\x00\x00\x01' "$packets" || { say "there is no ESP"; return 1; }
	! grep -qa 'MPA ID Re' "$packets" || { say "MPA is in the clear"; return 1; }
}
if [[ $transport == memif ]]; then
	(umask 077 && ipsec_file >"$work/ipsec")
	as "--set ipsec=$work/ipsec" "--set ipsec=$work/ipsec"
	run_case ipsec under_esp
	as "" ""
fi
plan_done
