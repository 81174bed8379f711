#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The recipe of docs/deploy.md on a NIC: uiwarp doctor finds each thing that is missing, and says what mends it; with
# all of it done a user who is not root has the NIC.
# shellcheck source=tests/nic/lib.sh
source "$(dirname "$0")/lib.sh"

guest_is server
# shellcheck disable=SC2154 # from the transport
group="basename \$(readlink /sys/bus/pci/devices/$nic_address/iommu_group)"

as_user() { # COMMAND
	guest control "su rdma -c '$1'"
}

# The doctor's words, with which exit status.
examined() { # STATUS AS
	local status=0
	"${@:2}" "uiwarp doctor --set port=$nic_address --set address=10.67.0.2/24" >"$(log_of server)" 2>&1 || status=$?
	((status == $1)) || { say "exit status $status, not $1"; return 1; }
}

# What is wrong, and no more than that, and what to do.
finds() { # COUNT FINDING COMMAND
	(($(lines_of server '^WRONG') == $1)) || { say "not $1 findings"; return 1; }
	has_lines server "^WRONG .*$2" 1 || { say "it does not find '$2'"; return 1; }
	has_lines server "^  do: .*$3" 1 || { say "it does not say '$3'"; return 1; }
}

no_iommu() {
	nic_boot virtio linux || return 1
	examined 1 guest control || return 1
	finds 3 "no IOMMU" "intel_iommu=on" && finds 3 "Linux's driver virtio-pci" "-b vfio-pci $nic_address" &&
		finds 3 "the port does not open" ''
}

with_vfio() { # FUNCTION
	nic_boot virtio vfio && "$@"
}

nothing() {
	examined 0 guest control && has_lines server '^nothing is wrong' 1
}

linux_driver() {
	guest control "bind virtio-pci $nic_address" || return 1
	examined 1 guest control
	local status=$?
	guest control "bind vfio-pci $nic_address" || return 1
	((status == 0)) && finds 2 "Linux's driver virtio-pci" "-b vfio-pci $nic_address"
}

no_hugepages() {
	guest control "echo 0 >/proc/sys/vm/nr_hugepages" || return 1
	examined 1 guest control
	local status=$?
	guest control "echo 160 >/proc/sys/vm/nr_hugepages" || return 1
	((status == 0)) && finds 2 'of hugepages are free' '>/proc/sys/vm/nr_hugepages'
}

no_link() {
	nic_link off
	examined 1 guest control
	local status=$?
	nic_link on
	((status == 0)) && finds 1 'the link of the port is down' 'cable'
}

# Rights come last: the user has them from then on.
no_rights() {
	examined 1 as_user || return 1
	finds 2 'may not open /dev/vfio/' 'chgrp rdma /dev/vfio/' || return 1
	guest control "chown :1000 /dev/vfio/\$($group) && chmod 660 /dev/vfio/\$($group)"
	examined 0 as_user || return 1
	exchange "rping -s -a %4 -v -C 5 -S 20000" "rping -c -a %4 -v -V -C 5 -S 20000" client 5 'ping data: rdma-ping' \
		server 5 'ping data: rdma-ping'
}

# The program of the last case is that user's.
guest_command() { # PROGRAM...
	say "su rdma -c 'exec uiwarp run --set port=$nic_address --set address=10.67.0.2/24 --set log=info" \
		"--set log_file=/tmp/stack.log -- $*'"
}

run_case no_iommu no_iommu
run_case nothing with_vfio nothing
run_case linux_driver with_vfio linux_driver
run_case no_hugepages with_vfio no_hugepages
run_case no_link with_vfio no_link
run_case no_rights with_vfio no_rights
plan_done
