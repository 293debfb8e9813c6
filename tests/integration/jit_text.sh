#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Code that programs make is named by perf maps, jitdumps and announcements, each piece at its own time
set -eu
. tests/tap.sh
plan 50
need jq cc nm
need_sampling

"$WORKLOADS/w_jit_text" 2>/dev/null || [ "$?" -ne 2 ] || uname -m | grep -qE 'x86_64|aarch64' ||
        skip_all "no machine code for $(uname -m)"

in_code() { # trace, zone, function
        n_events "$1" "kind == \"sample\" && path == \"/$2\" && self ~ /^$3/"
}

# The kernel's own functions are in these zones as well.
named_by_zone() { # trace
        local trace=$1
        figure "$trace: $(in_code "$trace" first first_kernel) and $(in_code "$trace" second second_kernel) right, $(
                in_code "$trace" first second_kernel) and $(in_code "$trace" second first_kernel) wrong"
        holds "$trace: the first kernel is named" compare "$(in_code "$trace" first first_kernel)" ">" 100
        holds "$trace: the second kernel is named, and its name is for people" compare \
                "$(in_code "$trace" second 'second_kernel.unsigned long.$')" ">" 100
        # While code is replaced it has no name for some milliseconds, and that is counted.
        replaced=$(lost "$trace" | sed -n 's/^CODE_REPLACED //p')
        holds "$trace: no code stays without a name" compare \
                "$(n_events "$trace" 'kind == "sample" && path != "" && module ~ /^(.*anon|.memfd:.*)$/ && self !~ /_kernel/')" "<=" "0${replaced:+.05 * $(n_events "$trace" 'kind == "sample"')}"
}

# ---- a jitdump has times
holds "w_jit_text dump is recorded" record dump "$WORKLOADS/w_jit_text" dump "$TMPDIR" 40 20
read_trace dump
named_by_zone dump
holds "dump: what lies at one address in turn is told apart" compare \
        "$(in_code dump first second_kernel) + $(in_code dump second first_kernel)" "<=" \
        "0.01 * $(n_events dump 'kind == "sample" && path != ""')"
holds "dump: nothing was left out" same "" "$(lost dump)"
# shellcheck disable=SC2016 # awk's
loop_lines=$(awk '$1 == "string" { text[substr($2, 4)] = $3 }
        $1 == "symbol" && / line=11 / { split($4, function_of, "="); split($5, file, "=")
                print text[function_of[2]], text[file[2]] }' "$TMPDIR/dump.dump" | sort -u | tr '\n' ';')
figure "lines of the loops: $loop_lines"
holds "dump: the loops are at line 11 of their files" grep -q 'first.mlir.*second.mlir' <<<"$loop_lines"
holds "dump: the machine code is in the trace" grep -q '^attachment.* kind=5 ' "$TMPDIR/dump.dump"
holds "dump --embed=none is recorded" record bare --embed=none "$WORKLOADS/w_jit_text" dump "$TMPDIR" 40 20
read_trace bare
named_by_zone bare
holds "dump --embed=none: the machine code is not in the trace" same 0 "$(grep -c '^attachment.* kind=5 ' "$TMPDIR/bare.dump" || true)"

# ---- a jitdump says how to unwind: code that uses the frame pointer for something else has callers
if uname -m | grep -q x86_64; then
        holds "w_jit_text frames is recorded" record frames "$WORKLOADS/w_jit_text" frames "$TMPDIR" 40 20
        read_trace frames
        named_by_zone frames
        read -r n_stacks n_complete _ <<<"$(awk -f tests/complete_stacks.awk "$TMPDIR/frames.dump")"
        figure "frames: $n_complete of $n_stacks callstacks are complete"
        # Until the first table is there, some milliseconds are cut.
        holds "frames: callstacks are complete" compare "$n_complete" ">=" "0.9 * $n_stacks"
else
        skips_group "frames" "hardware: the code is of x86-64"
fi

# ---- what a program announces
holds "w_jit_text announce is recorded" record announce "$WORKLOADS/w_jit_text" announce "$TMPDIR" 40 20
read_trace announce
named_by_zone announce
holds "announce: what lies at one address in turn is told apart" compare \
        "$(in_code announce first second_kernel) + $(in_code announce second first_kernel)" "<=" \
        "0.01 * $(n_events announce 'kind == "sample" && path != ""')"

# ---- announced with its ELF image, which the program forgets: names, lines, inlined calls and instructions
cat >"$TMPDIR/kernel.c" <<'EOS'
static inline unsigned mix_in(unsigned v) { return v * 2654435761u ^ (v >> 7); }
unsigned hot_kernel(unsigned n)
{
        unsigned s = 1;
        for (unsigned i = 0; i < n; i++)
                s = mix_in(s + i);
        return s;
}
EOS
cc -O2 -g -shared -fPIC -o "$TMPDIR/kernel.so" "$TMPDIR/kernel.c"
at=$(nm "$TMPDIR/kernel.so" | awk '/ hot_kernel$/ { print $1 }')
rm "$TMPDIR/kernel.c"
holds "w_announced_image is recorded" record image "$WORKLOADS/w_announced_image" "$TMPDIR/kernel.so" "$at"
read_trace image
in_kernel='kind == "sample" && (module == "//anon" || module ~ /^[[]image/)'
n=$(n_events image "$in_kernel")
holds "announced image: its code was sampled" compare "$n" ">" 100
holds "announced image: every sample has the name of its function" same "$n" "$(n_events image "$in_kernel && self == \"hot_kernel\"")"
holds "announced image: and a line" same "$n" "$(n_events image "$in_kernel && source_line ~ /kernel[.]c:[1-8]\$/")"
holds "announced image: instructions, and what is inlined" grep -q "inlined: mix_in" \
        <("$HYPROF" annotate "$TMPDIR/image.hyp" hot_kernel 2>&1)
figure "announced image: $n samples"

# ---- a perf map has no times: it is right up to how often it is read
holds "w_jit_text map is recorded" record map "$WORKLOADS/w_jit_text" map "$TMPDIR" 2 1000
read_trace map
named_by_zone map
holds "map: what lies at one address in turn is told apart" compare \
        "$(in_code map first second_kernel) + $(in_code map second first_kernel)" "<=" \
        "0.2 * $(n_events map 'kind == "sample" && path != ""')"
holds "map: lines that make no sense are counted" same "JIT_GARBAGE 4" "$(lost map)"

# ---- a file in memory that is mapped twice is memory of no file, too
holds "w_jit_text shared is recorded" record shared "$WORKLOADS/w_jit_text" shared "$TMPDIR" 2 500
read_trace shared
named_by_zone shared

# ---- over before the map was read once
holds "a program of a moment is recorded" record short -F 20000 "$WORKLOADS/w_jit_text" map "$TMPDIR" 1 60
read_trace short
holds "short: its code is named, though it took its map with it" compare "$(in_code short first first_kernel)" ">" 10

# ---- a real one
if ! command -v node >/dev/null; then
        skips_group "node" "node is not installed"
        exit 0
fi
cat >"$TMPDIR/hot.js" <<'EOS'
function hot(n) {
        let sum = 0;
        for (let i = 0; i < n; i++)
                sum += Math.sqrt(i) * 3.1;
        return sum;
}
function tree(n) { return n < 2 ? n : tree(n - 1) + tree(n - 2); }
function burned_us() { const t = process.cpuUsage(); return t.user + t.system; }
const end = burned_us() + 1500000;
let total = 0;
while (burned_us() < end)
        total += hot(10000) + tree(15);
console.log(total);
EOS
# shellcheck disable=SC2016 # awk's
unnamed() { # trace: samples in memory of no file, and those of them without a function
        awk '$1 == "module" && / kind=4 / { anon[substr($2, 4)] = 1 }
             $1 == "frame"  { split($0, m, "module="); split(m[2], m, " "); in_anon[substr($2, 4)] = (m[1] in anon) }
             $1 == "stack"  { split($0, f, "frame="); split(f[2], f, " "); frame[substr($2, 4)] = f[1] }
             $1 == "symbol" && !/ function=0 / { split($3, f, "="); named[f[2]] = 1 }
             $1 == "sample" && match($0, / stack=[0-9]+/) { n[substr($0, RSTART + 7, RLENGTH - 7)]++ }
             END { for (id in n) if (in_anon[frame[id]]) { all += n[id]; if (!(frame[id] in named)) bad += n[id] }
                   print all + 0, bad + 0 }' "$TMPDIR/$1.dump"
}
for option in --perf-basic-prof --perf-prof; do
        name=node$option
        holds "$name is recorded" env -C "$TMPDIR" "$HYPROF" record -o "$TMPDIR/$name.hyp" node "$option" hot.js
        read_trace "$name"
        read -r n_all n_bad <<<"$(unnamed "$name")"
        figure "$name: $n_all samples in code of V8, $n_bad of them without a name"
        holds "$name: V8's code was sampled" compare "$n_all" ">" 100
        holds "$name: 99% of it has a name" compare "$n_bad" "<=" "0.01 * $n_all"
        holds "$name: the hot function is among them" grep -qE '(JS|LazyCompile|Function):.?hot ' "$TMPDIR/$name.json"
done
holds "node --perf-prof: nothing counts as missing" same "" "$(lost node--perf-prof | grep '^CODE_UNREADABLE' || true)"
holds "node --perf-prof: its lines are known" grep -q '^code_line' "$TMPDIR/node--perf-prof.dump"
