#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What scripts/changelog says of a CHANGELOG.md that is not of the form, and what it has a tag say.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "$0")/../../../scripts/lib/common.sh"

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
printf '%s\n' "project('x', 'c'," "  version: '0.2.0'," ")" >"$tree/meson.build"

released='## [0.2.0] - 2026-12-01

### Added

- b

### Fixed

- c'
good="# Changelog

## [Unreleased]

### Changed

- a

$released

## [0.1.0] - 2026-11-30

### Added

- d"

said_of() { # TEXT [VERSION]
	printf '%s\n' "$1" >"$tree/CHANGELOG.md"
	"$root/scripts/changelog" -C "$tree" "${@:2}" 2>&1
}

[[ $(said_of "$good") == '' ]] || die "a good one is refused"
notes=$(said_of "$good" 0.2.0) || die "a release has no notes"
[[ $notes == "uiwarp 0.2.0"$'\n\n'"${released#*$'\n\n'}" ]] || die "found '$notes'"

refused() { # EXPECTED TEXT [VERSION]
	local said status=0
	said=$(said_of "${@:2}") || status=$?
	[[ $status == 1 && $said == *"$1"* && $(wc -l <<<"$said") == 1 ]] || die "expected '$1', found $status, '$said'"
}

refused 'CHANGELOG.md:1: the first line' "${good/Changelog/Changes}"
refused 'CHANGELOG.md:3: [Unreleased] comes first' "${good/\[Unreleased\]/[0.2.0] - 2026-12-02}"
refused 'CHANGELOG.md:9: [Unreleased] comes first' "${good/"[0.2.0] - 2026-12-01"/[Unreleased]}"
refused 'CHANGELOG.md:9: "[0.2.0]" is neither' "${good/ - 2026-12-01/}"
refused '2026-13-01 is no date' "${good/2026-12/2026-13}"
refused 'meson.build has not come to' "${good/0.2.0/0.3.0}"
refused 'not older than the release above' "${good/0.1.0/0.2.0}"
refused 'of a later day' "${good/2026-11-30/2026-12-02}"
refused 'CHANGELOG.md:5: "News" is none of' "${good/Changed/News}"
refused 'CHANGELOG.md:15: a second "Added"' "${good/Fixed/Added}"
refused 'CHANGELOG.md:5: nothing is under it' "${good/- a/a}"
refused 'CHANGELOG.md:21: nothing is under it' "${good/- d/d}"
refused 'CHANGELOG.md:7: it is of no kind' "${good/'### Changed'/}"
refused 'has it, and meson.build version 0.2.0' "$good" 0.1.0
refused 'no date of it' "${good/"$released"/}" 0.2.0
