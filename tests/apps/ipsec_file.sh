#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/ipsec-file makes of what Linux's ip says of its SAs and policies a file that `ipsec` takes. The ip of this
# test is one that says what it is told to.
# shellcheck source=tests/apps/lib.sh
source "$(dirname "$0")/lib.sh"
only_over memif

mkdir "$work/bin"
cat >"$work/bin/ip" <<'END'
#!/bin/sh
limits=/limit:/d
[ "$1" != -s ] || { limits='' && shift; }
CDPATH='' cd -- "$(dirname "$0")/.." && echo "$2" >>asked && echo $$ >"$2.pid" && exec sed -u -e "$limits" "$2"
END
chmod +x "$work/bin/ip"
# shellcheck source=tests/apps/ipsec_file_lib.sh
source "$(dirname "$0")/ipsec_file_lib.sh"
kernel_states >"$work/state"
kernel_policies >"$work/policy"
# Of what is left out, in this order; nothing of those forwarded, of sockets, and of SAs that are still negotiated.
cat >"$work/told" <<'END'
SA src 10.0.0.9 dst 10.0.0.1 has enc cbc(des3_ede)
SA src 10.0.1.1 dst 10.0.0.1 has mark 0x2a/0xffffffff
SA src 10.0.1.2 dst 10.0.0.1 has if_id 0x2a
SA src 10.0.1.3 dst 10.0.0.1 has proto ah
SA src 10.0.1.4 dst 10.0.0.1 has mode beet
SA src 10.0.1.5 dst 10.0.0.1 has type 8
SA src 10.0.2.1 dst 10.0.0.1 has enc cbc(aes) with a key of 24 octets
SA src 10.0.2.2 dst 10.0.0.1 has aead rfc4106(gcm(aes)) with a key of 28 octets
SA src 10.0.2.3 dst 10.0.0.1 has auth-trunc hmac(sha256) with a key of 20 octets
SA src 10.0.2.4 dst 10.0.0.1 has encap espinudp-nonike
SA src 10.0.2.5 dst 10.0.0.1 has encap espintcp
SA src 10.0.2.6 dst 10.0.0.1 has enc without auth-trunc
SA src 10.0.2.7 dst 10.0.0.1 has an spi below 0x100
SA src 0.0.0.0 dst 10.0.0.1 has an end that is no host
SA src fd00::9 dst 10.0.0.1 has ends of two families
SA src 10.0.2.8 dst 10.0.0.1 has a limit of none
policy src 10.0.1.1/32 dst 10.0.0.1/32 dir in has mark 0x2a/0xffffffff
policy src 0.0.0.0/0 dst 0.0.0.0/0 dir out has if_id 0x2a
policy src 10.0.1.3/32 dst 10.0.0.1/32 dir in has proto comp
policy src 10.0.1.4/32 dst 10.0.0.1/32 dir in has more than one tmpl
policy src 10.0.1.5/32 dst 10.0.0.1/32 dev eth0 dir in has dev eth0
policy src 10.0.1.6/32 dst 10.0.0.1/32 proto sctp sport 7 dir in has proto sctp
policy src 10.0.1.7/32 dst 10.0.0.1/32 dir in has level use
END
sed -i 's/.*/ipsec-file: the &, which uiwarp does not/' "$work/told"
cat >"$work/wanted" <<END
ip xfrm state add src fd00::2 dst fd00::1 proto esp spi 0x00000104 reqid 0 mode transport aead 'rfc4106(gcm(aes))' $short 128 replay-window 4096
ip xfrm state add src fd00::2 dst fd00::1 proto esp spi 0x00000103 reqid 0 mode transport aead 'rfc4106(gcm(aes))' $short 128 replay-window 32 limit byte-hard 5000
ip xfrm state add src fd00::2 dst fd00::1 proto esp spi 0x00000102 reqid 0 mode transport aead 'rfc4106(gcm(aes))' $short 128 replay-window 128 limit packet-hard 1000
ip xfrm state add src fd00::2 dst fd00::1 proto esp spi 0x00000101 reqid 0 mode transport aead 'rfc4106(gcm(aes))' $short 128 limit time-hard 86400
ip xfrm state add src 10.0.0.1 dst 10.0.0.8 proto esp spi 0xcd0f0a37 reqid 4 mode tunnel auth-trunc 'hmac(sha1)' $short 96 enc 'ecb(cipher_null)' 0x
ip xfrm state add src 10.0.0.8 dst 10.0.0.1 proto esp spi 0xcd0f0a36 reqid 4 mode tunnel auth-trunc 'hmac(sha256)' $digest 128 enc 'cbc(aes)' $digest replay-window 32
ip xfrm state add src 10.0.0.2 dst 10.0.0.1 proto esp spi 0xcd0f0a33 reqid 1 mode tunnel aead 'rfc4106(gcm(aes))' $short 128 replay-window 64 flag esn encap espinudp 4500 4501 0.0.0.0
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0xc2a3a1c9 reqid 1 mode transport aead 'rfc4106(gcm(aes))' $long 128 replay-window 32 flag esn sel src 10.0.0.1/32 dst 10.0.0.2/32 proto tcp limit byte-hard 18446744073709551614 limit packet-hard 4000000000 limit time-hard 3960
ip xfrm policy add src 10.0.0.0/8 dst 10.0.0.1/32 dir in action block priority 400000
ip xfrm policy add src 10.0.1.7/32 dst 10.0.0.1/32 dir in priority 372351 action block
ip xfrm policy add src 10.0.1.4/32 dst 10.0.0.1/32 dir in priority 372351 action block
ip xfrm policy add src 10.0.1.3/32 dst 10.0.0.1/32 dir in priority 372351 action block
ip xfrm policy add src 10.0.0.2/32 dst 10.0.0.1/32 proto tcp dport 7174 dir in priority 372351 tmpl src 10.0.0.2 dst 10.0.0.1 proto esp mode tunnel
ip xfrm policy add src 10.0.0.1/32 dst 10.0.0.2/32 proto tcp dir out priority 372351 tmpl proto esp spi 0xc2a3a1c9 reqid 1 mode transport
ip xfrm policy add src 10.9.0.1/32 dst 10.9.0.2/32 dir out priority 0 tmpl proto esp mode transport
ip xfrm policy add src 10.9.0.0/24 dst 10.9.0.0/24 dir out priority 0
END

ipsec_file() { # ARGUMENT...
	PATH=$work/bin:$PATH "$root/scripts/ipsec-file" "$@"
}

# The process of $follower is the script's own.
follower=
follow() { # FILE
	: >"$work/asked"
	PATH=$work/bin:$PATH "$root/scripts/ipsec-file" "$1" 2>/dev/null &
	follower=$!
	say "$follower" >"$case_dir/ipsec-file.pid"
}

leaves_nothing() {
	! compgen -G "$work/ipsec?*" || { say "it leaves something beside the file"; return 1; }
}

written() {
	ipsec_file --once "$work/ipsec" 2>"$case_dir/errors" || { say "it ended with status $?"; return 1; }
	diff "$work/wanted" "$work/ipsec" || { say "the file is another"; return 1; }
	[[ $(stat -c %a "$work/ipsec") == 600 ]] || { say "others may read it"; return 1; }
	diff "$work/told" "$case_dir/errors" || { say "something else is said of what is left out"; return 1; }
	leaves_nothing || return 1
}
run_case written written

# Who may read it is not in its text.
for_group() {
	local group
	for group in nogroup root; do
		ipsec_file --once --group "$group" "$work/ipsec" 2>/dev/null || { say "it ended with status $?"; return 1; }
		[[ $(stat -c '%G %a' "$work/ipsec") == "$group 640" ]] || { say "$group may not read it"; return 1; }
		diff "$work/wanted" "$work/ipsec" || { say "the file is another"; return 1; }
	done
	ipsec_file --once --group no-such-group "$work/ipsec" 2>/dev/null && { say "it ended well without the group"; return 1; }
	leaves_nothing || return 1
	ipsec_file --once "$work/ipsec" 2>/dev/null || { say "it ended with status $?"; return 1; }
	[[ $(stat -c %a "$work/ipsec") == 600 ]] || { say "a group may read it still"; return 1; }
}
if is_root; then
	run_case for_group for_group
fi

# Without what the kernel has, uiwarp goes on with what it had.
kept() {
	local broken
	for broken in state policy; do
		mv "$work/$broken" "$work/$broken.away"
		ipsec_file --once "$work/ipsec" 2>"$case_dir/errors" && { say "it ended well without $broken"; return 1; }
		mv "$work/$broken.away" "$work/$broken"
		diff "$work/wanted" "$work/ipsec" || { say "the file is another without $broken"; return 1; }
		grep -q 'ip xfrm has failed' "$case_dir/errors" || { say "nothing is said"; return 1; }
	done
	TMPDIR=/nonexistent ipsec_file --once "$work/ipsec" 2>/dev/null || { say "without a TMPDIR it ended with status $?"; return 1; }
	diff "$work/wanted" "$work/ipsec" || { say "the file is another without a TMPDIR"; return 1; }
	for broken in states policies; do
		broken_awk "$broken"
		ipsec_file --once "$work/ipsec" 2>"$case_dir/errors" && { say "it ended well without awk"; return 1; }
		rm "$work/bin/awk"
		diff "$work/wanted" "$work/ipsec" || { say "the file is another without awk for $broken"; return 1; }
		grep -q 'awk has failed' "$case_dir/errors" || { say "nothing is said of awk"; return 1; }
	done
	leaves_nothing
}

# An awk that says a part, and is killed; the other of the two goes on.
broken_awk() { # states | policies
	local marker=policy
	[[ $1 == policies ]] || marker=state
	cat >"$work/bin/awk" <<-END
		#!/bin/sh
		case \$1 in
		*"ip xfrm $marker add"*) echo "# a part" && kill -KILL \$\$ ;;
		esac
		exec $(command -v awk) "\$@"
	END
	chmod +x "$work/bin/awk"
}
run_case kept kept

# Of those that this host has: each has names of its own, as functions.
other_awks() {
	local awk
	for awk in 'busybox awk' gawk mawk original-awk; do
		type -p "${awk%% *}" >/dev/null || continue
		printf '#!/bin/sh\nexec %s "$@"\n' "$awk" >"$work/bin/awk"
		chmod +x "$work/bin/awk"
		rm -f "$work/ipsec"
		ipsec_file --once "$work/ipsec" 2>"$case_dir/errors" || { cat "$case_dir/errors"; say "it does not run with $awk"; return 1; }
		rm "$work/bin/awk"
		diff "$work/wanted" "$work/ipsec" || { say "the file is another with $awk"; return 1; }
	done
}
run_case other_awks other_awks

# A cmp that does something while the keys are in a file beside, once.
cmp_that() { # COMMAND
	cat >"$work/bin/cmp" <<-END
		#!/bin/sh
		rm "\$0"
		$1
		exit 1
	END
	chmod +x "$work/bin/cmp"
}

# What one that was killed has left is gone with the next. That of one that runs is not.
swept() {
	# shellcheck disable=SC2016 # of that shell
	cmp_that 'kill -KILL $PPID'
	ipsec_file --once "$work/ipsec" 2>/dev/null
	grep -q rfc4106 "$work"/ipsec.ipsec-file-* || { say "it was not killed with the keys beside"; return 1; }
	mkdir "$work/ipsec.ipsec-file-$BASHPID.abcdef"
	say mine >"$work/ipsec.ipsec-file-7.old" # nobody else's
	cmp_that "$root/scripts/ipsec-file --once $work/ipsec 2>/dev/null"
	ipsec_file --once "$work/ipsec" 2>/dev/null || { say "another one has swept what it needs"; return 1; }
	rm "$work/ipsec.ipsec-file-7.old" || return 1
	diff "$work/wanted" "$work/ipsec" || { say "the file is another"; return 1; }
	leaves_nothing
}
run_case swept swept

# Our stack finds no fault with it; or it was built without OpenSSL.
taken() {
	local said
	said=$("$uiwarp" run --set port=net_null0 --set address=10.0.0.1/24 --set "ipsec=$work/ipsec" -- true 2>&1) ||
		[[ $said == *"without OpenSSL"* ]] || { say "$said"; return 1; }
}
run_case taken taken

file_is() { # FILE
	cmp -s "$1" "$work/ipsec"
}

has_looked_twice() {
	(($(grep -c policy "$work/asked") == 2))
}

# When it has looked by itself, a word of the kernel's is enough.
followed() {
	local old
	rm -f "$work/ipsec"
	mkfifo "$work/monitor"
	follow "$work/ipsec"
	exec {old}>"$work/monitor"
	wait_for "$patience" file_is "$work/wanted" || { say "it is not written"; return 1; }
	wait_for "$patience" has_looked_twice || { say "it does not look again"; return 1; }
	sed -i /state/d "$work/wanted"
	: >"$work/state"
	printf 'Deleted src 10.0.0.1 dst 10.0.0.2\n\tproto esp\n' >&"$old"
	wait_for "$patience" file_is "$work/wanted" || { say "it is not written again"; return 1; }
	exec {old}>&-
	wait_for "$patience" is_gone "$follower" || { say "it goes on without the kernel"; return 1; }
	rm -f "$case_dir/ipsec-file.pid"
}
run_case followed followed

# Of a burst the last state counts, and each event of it costs no look.
burst() {
	local i old
	rm -f "$work/monitor"
	mkfifo "$work/monitor"
	follow "$work/ipsec"
	exec {old}>"$work/monitor"
	wait_for "$patience" has_looked_twice || { say "it does not look again"; return 1; }
	for ((i = 0; i < 1000; i++)); do
		printf 'Updated src 10.0.0.1 dst 10.0.0.2\n\tproto esp spi 0x%08x\n' "$((0x1000 + i))"
	done >&"$old"
	exec {old}>&-
	wait_for "$patience" is_gone "$follower" || { say "it is behind"; return 1; }
	i=$(grep -c policy "$work/asked")
	((i > 2 && i < 500)) || { say "it has looked $i times"; return 1; }
	rm -f "$case_dir/ipsec-file.pid"
}
run_case burst burst

# Who has started it learns at once that the file cannot be written, not when the kernel says something again.
unwritable() {
	local old
	rm -f "$work/monitor"
	mkfifo "$work/monitor"
	follow "$case_dir/none/ipsec"
	wait_for "$patience" is_gone "$follower" || { say "it goes on without a directory"; return 1; }
	wait "$follower" && { say "it ended well without a directory"; return 1; }
	mkdir "$case_dir/some"
	follow "$case_dir/some/ipsec"
	exec {old}>"$work/monitor"
	wait_for "$patience" has_looked_twice || { say "it does not look again"; return 1; }
	mv "$case_dir/some" "$case_dir/away"
	printf 'Deleted src 10.0.0.1 dst 10.0.0.2\n\tproto esp\n' >&"$old"
	wait_for "$patience" is_gone "$follower" || { say "it goes on when the directory is away"; return 1; }
	wait_for "$patience" is_gone "$(<"$work/monitor.pid")" || { say "its monitor goes on"; return 1; }
	exec {old}>&-
	rm -f "$case_dir/ipsec-file.pid"
}
run_case unwritable unwritable

# Its end is the monitor's, and nothing is left beside the file.
ended() {
	local old
	follow "$work/ipsec"
	exec {old}>"$work/monitor"
	wait_for "$patience" has_looked_twice || { say "it does not look again"; return 1; }
	kill -TERM "$follower"
	wait_for "$patience" is_gone "$follower" || { say "it goes on"; return 1; }
	wait_for "$patience" is_gone "$(<"$work/monitor.pid")" || { say "its monitor goes on"; return 1; }
	exec {old}>&-
	rm -f "$case_dir/ipsec-file.pid"
	leaves_nothing
}
run_case ended ended
plan_done
