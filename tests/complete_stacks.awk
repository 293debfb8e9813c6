# SPDX-License-Identifier: MIT
# How far callstacks go.  Usage: hyprof dump TRACE | awk -f complete_stacks.awk
#
# One line: samples with a callstack, those up to the root (complete, joined, or read a moment later), those of
# them that were joined, read later; and the others by state, "8:3 13:1".  Idle threads of the kernel have none.
BEGIN { FS = "[ ]" }

$1 == "sample" {
        for (i = 2; i <= NF; i++) {
                split($i, pair, "=")
                value[pair[1]] = pair[2]
        }
        if (value["stack"] == 0)
                next
        n++
        n_of[value["state"] + 0]++
}

END {
        printf "%d %d %d %d", n, n_of[1] + n_of[2] + n_of[3], n_of[2], n_of[3]
        for (state in n_of)
                if (state + 0 < 1 || state + 0 > 3)
                        printf " %s:%d", state, n_of[state]
        print ""
}
