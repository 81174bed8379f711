# shellcheck shell=bash disable=SC2034,SC2154 # goes between lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# Two stacks on DPDK's net_tap in namespaces of their own, with Linux routing between them.
routed_port=tap
# shellcheck source=scripts/lib/transport/routed.sh
source "$root/scripts/lib/transport/routed.sh"

# Here Linux has addresses of its own, at the inside.
control_host=10.1.1.2
