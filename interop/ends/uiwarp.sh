# shellcheck shell=bash disable=SC2154 # told by probe.sh
# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the ends that are uiwarp.
set -euo pipefail
# shellcheck source=interop/ends/probe.sh
source "$(dirname "${BASH_SOURCE[0]}")/probe.sh"
build=${UIWARP_BUILD:-$(dirname "${BASH_SOURCE[0]}")/../../build}

# A peer that is slow, as a guest is on a busy machine, is not gone.
keys=(--set startup_timeout=86400000 --set user_timeout=86400000 --set keepalive=0)
case $TESTCASE in
crc-off) keys+=(--set crc=off) ;;
markers) keys+=(--set markers=on) ;;
revision-1) keys+=(--set mpa_revision=1) ;;
rtr-*) [[ $ROLE == server ]] || keys+=(--set "rtr=${TESTCASE#rtr-}") ;;
tls)
	for key in certificate key ca keylog; do
		name=TLS_${key^^}
		keys+=(--set "tls_$key=${!name}")
	done
	# As everybody here does.
	keys+=(--set tls=required --set crc=required)
	;;
port-mapper) [[ $ROLE == server ]] || keys+=(--set port_mapper=required) ;;
esac

uiwarp() { # SETTING...
	run_probe "$build/tools/uiwarp" run "$@" "${keys[@]}" --set log=info --set "log_file=$LOGS/stack.log" \
		-- "$build/tests/interop/probe"
}
