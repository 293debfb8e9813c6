#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# packaging/make_sbom.py: an SPDX document of all that hyprof loads and is built with, the same bytes each time
set -u
. tests/tap.sh
plan 9
need dpkg dpkg-query jq ldd python3
dpkg -S /bin/sh >"$TMPDIR/owner" 2>&1 || skip_all "the files of this machine belong to no packages of dpkg"

read -r -a packages <<<"$(tests/install_packages.sh --list build | tr '\n' ' ')"
make_it() { packaging/make_sbom.py "$BUILD/hyprof" 1.2.3 2026-01-02 "${packages[@]}" no-such-package; }
holds "it is made" ends_with 0 make_it
cp "$TMPDIR/out" "$TMPDIR/sbom.json"
holds "again: the same bytes" cmp "$TMPDIR/sbom.json" <(make_it)
# shellcheck disable=SC2016 # the names with $ are jq's
{
of() { jq -r "$1" "$TMPDIR/sbom.json"; }
holds "version, date and form" same "SPDX-2.3 CC0-1.0 2026-01-02T00:00:00Z" "$(of '[.spdxVersion, .dataLicense, .creationInfo.created] | join(" ")')"
holds "it describes hyprof by its bytes" same "hyprof 1.2.3 $(sha256sum <"$BUILD/hyprof" | cut -d ' ' -f 1)" \
        "$(of '(.relationships[] | select(.relationshipType == "DESCRIBES") | .relatedSpdxElement) as $id |
                .packages[] | select(.SPDXID == $id) | "\(.name) \(.versionInfo) \(.checksums[0].checksumValue)"')"
holds "each name stands once" same "" "$(of '.packages[].SPDXID' | sort | uniq -d)"
holds "relations are between what is there" same true "$(of '([.packages[].SPDXID] + ["SPDXRef-DOCUMENT"]) as $ids |
        [.relationships[] | .spdxElementId, .relatedSpdxElement] | all(IN($ids[]))')"
}
linked() { of '[.relationships[] | select(.relationshipType == "DYNAMIC_LINK") | .relatedSpdxElement] | unique | .[]'; }
holds "libraries that hyprof loads: libc" grep -qx SPDXRef-libc6 <(linked)
holds "and zstd" grep -qx SPDXRef-libzstd1 <(linked)
holds "what is not installed was not needed" same 0 "$(of '[.packages[] | select(.name == "no-such-package")] | length')"
