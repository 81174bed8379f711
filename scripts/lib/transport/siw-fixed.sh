# shellcheck shell=bash disable=SC2034,SC2154 # goes between lib.sh and its users
# SPDX-License-Identifier: BSD-2-Clause
# Linux's siw with what ails its receiving repaired, in a guest.
siw_plain=fixed siw_adjustable=fixed siw_peer=auto
# shellcheck source=scripts/lib/transport/siw.sh
source "$root/scripts/lib/transport/siw.sh"
