#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A kept index of symbols that another version of hyprof made is replaced, and one of this version is used
set -eu
. tests/tap.sh
plan 10
need python3
need_sampling

export XDG_CACHE_HOME=$TMPDIR/cache
mkdir "$XDG_CACHE_HOME"
holds "a program with much debug information is recorded" record plain --no-symbolize -e page-faults -c 1 "$HYPROF" report tests/golden/v1.4.hyp

symbolized() { cp "$TMPDIR/plain.hyp" "$TMPDIR/copy.hyp" && "$HYPROF" symbolize "$TMPDIR/copy.hyp"; }
# The versions of all entries; with an argument they are set to it first, and nothing else is wrong with them.
versions() {
        python3 - "$XDG_CACHE_HOME/hyprof" "$@" <<'END'
import ctypes, os, struct, sys
content_hash = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
content_hash.restype = ctypes.c_uint64
HASHED_BYTES = 88 # of the header, its magic included; the hash follows
found = set()
for name in sorted(os.listdir(sys.argv[1])):
    if not name.endswith(".index"):
        continue
    path = os.path.join(sys.argv[1], name)
    data = open(path, "rb").read()
    at = data.find(b"hyprofSI") + 8
    if at < 8:
        continue
    if len(sys.argv) > 2:
        head = data[at - 8:at] + struct.pack("<I", int(sys.argv[2])) + data[at + 4:at - 8 + HASHED_BYTES]
        head += struct.pack("<Q", content_hash(head, len(head)))
        data = data[:at - 8] + head + data[at - 8 + len(head):]
        open(path, "r+b").write(data)
    found.add(struct.unpack_from("<I", data, at)[0])
print(*sorted(found))
END
}
# A new index is a file of its own, which takes the place of the former; one that is used keeps its inode.
files() { (cd "$XDG_CACHE_HOME/hyprof" && stat -c '%n %i' ./*.index); }
holds "it is symbolized" symbolized
version=$(versions)
holds "an index is kept" compare "${version:-0}" ">" 0
kept=$(files)
named=$("$HYPROF" report --functions --json --limit 0 "$TMPDIR/copy.hyp")
holds "it is symbolized again" symbolized
holds "by this version's index" same "$kept" "$(files)"
holds "to the same names" same "$named" "$("$HYPROF" report --functions --json --limit 0 "$TMPDIR/copy.hyp")"
# The null case: the version that they have is written to them.
[ "$(versions "$version")" = "$version" ]
holds "and once more" symbolized
holds "what the script writes is used" same "$kept" "$(files)"
[ "$(versions 1)" = 1 ]
holds "and with an index of another version" symbolized
holds "this version's takes its place" same "$version" "$(versions)"
