# shellcheck shell=bash disable=SC2034,SC2154 # goes between lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# Linux's siw as it stands in Debian's kernel source, in a guest. Our side knows it: peer=siw.
siw_plain=stock siw_adjustable=parameters siw_peer=siw
# shellcheck source=scripts/lib/transport/siw.sh
source "$root/scripts/lib/transport/siw.sh"
