#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The index of debug information beside llvm-symbolizer and addr2line: 20,000 random addresses each, in turns, medians of
# processor time.
#
# Files: a C++ program that is made here once, and those in HYPROF_BENCH_FILES.  Each of its units takes about 8 seconds
# of processor time to compile: HYPROF_BENCH_UNITS=24 is for over 60 MB of .debug_info, the 8 of the default for two minutes.
set -u
build=${BUILD:?set BUILD to build/<variant>}
tool=$build/tools/symbolize_addresses
folder=$build/bench/debug_program
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
runs=${HYPROF_BENCH_RUNS:-3}
llvm=$(command -v llvm-symbolizer-14 || command -v llvm-symbolizer-19 || command -v llvm-symbolizer) || llvm=
tests/bench/make_debug_program.sh "$folder" "${HYPROF_BENCH_UNITS:-8}" || exit 1
shopt -s nullglob
libraries=("$HOME"/.pyenv/versions/3.11*/lib/libpython3.11.so.1.0)
read -ra files <<<"$folder/program ${HYPROF_BENCH_FILES:-${libraries[0]:-}}"

pick_addresses() { # file -> 20,000 addresses of its .text
        readelf -SW "$1" | awk -v n=20000 '
                function number(hex,   i, v) {
                        v = 0
                        for (i = 1; i <= length(hex); i++)
                                v = v * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
                        return v
                }
                $0 ~ / \.text +PROGBITS/ {
                        sub(/.*PROGBITS/, "")
                        start = number($1)
                        size = number($3)
                }
                END {
                        srand(7)
                        for (i = 0; i < n; i++)
                                printf "0x%x\n", start + int(rand() * size)
                }'
}

seconds() { # command... -> processor time of one run, which others on the machine do not change much
        local TIMEFORMAT='%U %S'
        { time "$@" <"$scratch/addresses" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%.4f\n", $1 + $2 }'
}

median() {
        sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

figure() { # name, value, target, how they compare
        awk -v name="$1" -v value="$2" -v target="$3" -v sign="$4" 'BEGIN {
                good = sign == ">=" ? value >= target : value <= target
                printf "#   %-52s %12.2f   target %s %s%s\n", name, value, sign, target, good ? "" : "   NOT REACHED"
        }'
}

ratio() {
        awk -v a="$1" -v b="$2" 'BEGIN { print a / b }'
}

count_equal() { # two outputs of the form of llvm-symbolizer -> share of addresses whose inlined calls, files and lines are the same
        # The outermost name is that of the symbol table, where several may be at one address.
        c++filt <"$1" | awk -v other="$2" 'BEGIN { RS = "" } {
                chain = $0
                getline theirs <other
                n = split(chain, x, "\n")
                if (split(theirs, y, "\n") == n) {
                        x[n - 1] = y[n - 1]
                        for (i = 1; i <= n && x[i] == y[i]; i++)
                                ;
                        same += i > n
                }
        }
        END { print NR ? 100 * same / NR : 0 }'
}

for file in "${files[@]}"; do
        pick_addresses "$file" >"$scratch/addresses"
        "$tool" "$file" --save "$scratch/index" >"$scratch/saved"
        for _ in $(seq "$runs"); do
                "$tool" "$file" --rates 1000000 >>"$scratch/rates"
                seconds "$tool" "$file" >>"$scratch/own"
                seconds "$tool" "$file" --index "$scratch/index" >>"$scratch/cached"
                [ -z "$llvm" ] || seconds "$llvm" --inlines -e "$file" >>"$scratch/llvm"
                seconds addr2line -i -f -C -e "$file" >>"$scratch/addr2line"
        done
        rate() { awk -v key="$1" '$1 == key { print $2 }' "$scratch/rates" | median; }
        own=$(median <"$scratch/own") cached=$(median <"$scratch/cached")
        peer=$([ -z "$llvm" ] || median <"$scratch/llvm") binutils=$(median <"$scratch/addr2line")
        info=$(rate info_bytes)
        echo "# ${file##*/}: $((info / 1000000)) MB of .debug_info; 20,000 addresses: hyprof $own s, with a saved index $cached s," \
                "llvm-symbolizer ${peer:-not there} s, addr2line $binutils s"
        figure "MB of .debug_info a second and core" "$(ratio "$(ratio "$info" 1000000)" "$(rate index_s)")" 200 ">="
        figure "memory, of .debug_info" "$(ratio "$(rate index_bytes)" "$info")" 0.6 "<="
        figure "million addresses a second, with inlined calls" "$(ratio "$(rate lookups_per_s)" 1000000)" 1.5 ">="
        figure "times faster than addr2line" "$(ratio "$binutils" "$own")" 10 ">="
        if [ -n "$llvm" ]; then
                figure "times faster than llvm-symbolizer" "$(ratio "$peer" "$own")" 3 ">="
                figure "times faster than llvm-symbolizer, saved index" "$(ratio "$peer" "$cached")" 20 ">="
                "$llvm" --no-demangle --inlines -e "$file" <"$scratch/addresses" >"$scratch/theirs"
                "$tool" "$file" <"$scratch/addresses" >"$scratch/ours"
                figure "percent of chains equal, to the column" "$(count_equal "$scratch/theirs" "$scratch/ours")" 99.9 ">="
        fi
        rm -f "$scratch"/{rates,own,cached,llvm,addr2line}
done
