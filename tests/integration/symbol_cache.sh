#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A kept index of symbols that another version of hyprof made is replaced, and one of this version is used
set -eu
. tests/tap.sh
plan 17
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

# Nothing but the names of functions, but many of them, as the libraries of a distribution's compiler have.
rm -f "$XDG_CACHE_HOME"/hyprof/*.index
awk 'BEGIN { for (i = 0; i < 20000; i++) printf ".globl small_%d\n.type small_%d, %%function\nsmall_%d: .byte 0, 0, 0, 0\n.size small_%d, 4\n", i, i, i, i
        print ".section .note.GNU-stack" }' >"$TMPDIR/many.s"
cat >"$TMPDIR/touch.c" <<'END'
#include <stdlib.h>
void touches_pages(void)
{
        volatile char *memory = malloc(8 << 20);

        for (int i = 0; i < 8 << 20; i += 4096)
                memory[i] = 1;
}
END
printf 'void touches_pages(void);\nint main(void) { touches_pages(); }\n' >"$TMPDIR/main.c"
(cd "$TMPDIR" && cc -shared -fPIC -O1 -s -o libmany.so touch.c many.s && cc -o main main.c -L. -lmany -Wl,-rpath,"$TMPDIR")
holds "a program with a large stripped library is recorded" record plain --no-symbolize -e page-faults -c 1 "$TMPDIR/main"
holds "it is symbolized" symbolized
holds "the names of all of its functions are kept" grep -q small_19999 "$XDG_CACHE_HOME"/hyprof/*.index
kept=$(files)
named=$("$HYPROF" report --functions --json --limit 0 "$TMPDIR/copy.hyp")
holds "its own are among those of the report" grep -q touches_pages <<<"$named"
holds "it is symbolized again" symbolized
holds "by the entry that was kept" same "$kept" "$(files)"
holds "to the same names" same "$named" "$("$HYPROF" report --functions --json --limit 0 "$TMPDIR/copy.hyp")"
