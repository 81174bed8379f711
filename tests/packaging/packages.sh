#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Debian's packages: built twice in a clean chroot with the same bytes, without a complaint of
# lintian, installed in another, used there by a program that knows nothing of us, and removed. Of RPM's
# recipe that it can be read, and that all have one version.
#
# usage: tests/packaging/packages.sh [-o DIRECTORY]       (root; needs Debian's archive)
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "$0")/../../scripts/lib/common.sh"

# shellcheck source=scripts/lib/newer.sh
source "$root/scripts/lib/newer.sh"

out=$root/out/packaging
[[ ${1:-} != -o ]] || out=$2
here=$root/tests/packaging
work=$(mktemp -d /tmp/uiw.XXXXXX)
trap 'rm -rf "$work"' EXIT
number=0

result() { # NAME COMMAND...
	local name=$1 begun=$SECONDS log=$out/$1.log
	shift
	number=$((number + 1))
	if "$@" >"$log" 2>&1; then
		say "ok $number - $name # $((SECONDS - begun)) s"
		return
	fi
	say "not ok $number - $name"
	tail -n 25 "$log" | sed 's/^/# /'
	return 1
}

version() {
	sed -n "s/^  version: '\(.*\)',$/\1/p" "$root/meson.build"
}

# As it would be released: what is committed, and the packaging beside it.
source_package() {
	git -C "$root" archive --prefix="uiwarp-$(version)/" HEAD | gzip -n >"$work/uiwarp_$(version).orig.tar.gz"
	cp -r "$root/packaging/debian" "$work/debian"
	tar -C "$work" -cf "$work/source.tar" "uiwarp_$(version).orig.tar.gz" debian
}

# Every recipe is of this version.
one_version() {
	local version
	version=$(version)
	[[ $(dpkg-parsechangelog -l "$root/packaging/debian/changelog" -S Version) == "$version"-* ]] || return 1
	[[ $(rpmspec -q --srpm --qf '%{version}' "$root/packaging/rpm/uiwarp.spec") == "$version" ]]
}

# It can be read, and what it takes from the sources by name is there.
rpm_recipe() {
	local name missing=
	rpmspec --parse "$root/packaging/rpm/uiwarp.spec" || return 1
	while read -r name; do
		compgen -G "$root/$name" >/dev/null || missing+=" $name"
	done < <(sed -n -e 's/^%doc //p' -e 's/^%license //p' -e 's/^install .* \([^ ]*\) %{buildroot}.*/\1/p' \
		"$root/packaging/rpm/uiwarp.spec" | tr ' ' '\n')
	[[ ! $missing ]] || { say "not there:$missing"; return 1; }
}

# Its lists have what Debian's packages bring beside documents and symbols for debuggers, and nothing else. rpmbuild
# itself refuses a file that none names, and a pattern that names none.
rpm_files() {
	local lists=() files=() list file missing=
	mapfile -t lists < <(rpmspec --parse -D '_sysusersdir /usr/lib/sysusers.d' "$root/packaging/rpm/uiwarp.spec" |
		sed -n '/^%files/,/^%changelog/s,^\(%config([a-z]*) \)\?/,/,p')
	mapfile -t files < <(for file in "$work"/packages/1/*.deb; do dpkg-deb --fsys-tarfile "$file" | tar -t; done |
		grep -v -e '/$' -e '^./usr/share/doc/' -e '^./usr/share/lintian/' -e '^./usr/lib/debug/' |
		sed -e 's/^.//' -e "s,^/usr/lib/$(gcc -print-multiarch)/,$(rpm -E %_libdir)/," -e s,/vendor-completions/,/site-functions/,)
	for file in "${files[@]}"; do named_by "$file" "${lists[@]}" || missing+=" $file"; done
	[[ ! $missing ]] || { say "in no list:$missing"; return 1; }
	for list in "${lists[@]}"; do
		names "$list" "${files[@]}" || missing+=" $list"
	done
	[[ ! $missing ]] || { say "there is nothing like:$missing"; return 1; }
}

# shellcheck disable=SC2053 # patterns
named_by() { # FILE PATTERN...
	local file=$1 pattern
	shift
	for pattern in "$@"; do [[ $file != $pattern && $file != ${pattern%/}/* ]] || return 0; done
	return 1
}

names() { # PATTERN FILE...
	local pattern=$1 file
	shift
	for file in "$@"; do ! named_by "$file" "$pattern" || return 0; done
	return 1
}

# Debian's packages that the recipe names in its fields of this name, for an architecture, with commas between.
packages_named() { # FIELD ARCHITECTURE
	sed -n "/^$1:/,/^[^ ]/{s/^$1://;/^[A-Z]/d;p}" "$root/packaging/debian/control" | tr , '\n' |
		sed "/\[/{/[[ ]$2[] ]/!d}; s/ *[[(].*//; s/debhelper-compat/debhelper/; /[$]/d; /uiwarp/d; /^ *$/d" | tr -d ' ' | paste -sd ,
}

build_depends() {
	packages_named Build-Depends "$(dpkg --print-architecture)"
}

# What is built for arm64 by scripts/test arm64 can be a package there: Debian has for it all that the recipe names.
arm64_depends() {
	local apt=$work/arm64 from arch names
	arch=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State::status=$apt/apt/status")
	grep -q '^Architecture:.* arm64$' "$root/packaging/debian/control" || return 1
	from=$(newer_mirror)
	[[ $from ]] || { say "this system's package lists name no Debian mirror"; return 1; }
	newer_begin "$apt" deb "$from" bookworm
	: >"$apt/apt/status"
	IFS=, read -ra names <<<"$(packages_named Build-Depends arm64),$(packages_named Depends arm64),$(packages_named Recommends arm64)"
	newer_apt "$apt" "${arch[@]}" update &&
		newer_apt "$apt" "${arch[@]}" -y --simulate --no-install-recommends install "${names[@]}"
}

# A chroot that is made, hears a program in it and is gone again: nothing of it has to be on the disk before
# that. HOOKS are mmdebstrap's.
chroot_with() { # PACKAGES HOOK...
	local packages=$1 hooks=() sources=(/etc/apt/sources.list.d/debian.sources)
	shift
	[[ -f ${sources[0]} ]] || sources=(/etc/apt/sources.list)
	for hook in "$@"; do hooks+=(--customize-hook="$hook"); done
	mmdebstrap --mode=root --format=null --variant=buildd --dpkgopt=force-unsafe-io --include="$packages" "${hooks[@]}" \
		bookworm /dev/null "${sources[0]}"
}

built_twice() {
	chroot_with "$(build_depends)" "upload $work/source.tar /source.tar" \
		"upload $here/build_twice /build_twice" "chroot \"\$1\" bash /build_twice" \
		"tar-out /packages $work/packages.tar"
	tar -C "$work" -xf "$work/packages.tar"
}

same_bytes() {
	(cd "$work/packages/1" && sha256sum ./*.deb ./*.dsc) >"$work/sums"
	cat "$work/sums"
	(cd "$work/packages/2" && sha256sum -c "$work/sums")
}

no_complaint() {
	lintian --fail-on error,warning --allow-root "$work"/packages/1/*.changes
}

# What is installed is all that the test has: no checkout, no compiler's libraries. The units run modprobe.
used_and_removed() {
	chroot_with rdmacm-utils,ibverbs-utils,procps,kmod "tar-in $work/packages.tar /" \
		"upload $root/packaging/debian/tests/rping /rping" "upload $here/install_use_remove /install_use_remove" \
		"chroot \"\$1\" bash /install_use_remove"
}

# Its test as Debian runs it, in a chroot of its own.
as_debian_tests() {
	chroot_with ca-certificates "autopkgtest --no-built-binaries $work/packages/1/*.changes -- chroot \"\$1\""
}

# Not an assertion: the machine may have other work.
say_time() {
	local build use
	build=$(sed -n 's/^built in \(.*\) s$/\1/p' "$out/built-twice.log" | head -n 1)
	use=$(sed -n 's/^installed, used and removed in \(.*\) s$/\1/p' "$out/used-and-removed.log")
	[[ ! $build || ! $use ]] ||
		say "# built in $build s, installed, used and removed in $use s: $((build + use)) s, at most 300"
}

mkdir -p "$out"
result one-version one_version || true
result rpm-recipe rpm_recipe || true
result arm64-depends arm64_depends || true
if result source source_package && result built-twice built_twice; then
	result same-bytes same_bytes || true
	result lintian no_complaint || true
	result rpm-files rpm_files || true
	result used-and-removed used_and_removed || true
	say_time
	result autopkgtest as_debian_tests || true
fi
say "1..$number"
