#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What `hyprof diff` says of real fixes: both sides of public commits are built, recorded in turns, and compared as a pair and as
# sets, in both directions.  Beside it stand the times of the programs without hyprof, and the first row of `perf diff`.
#
# Needs a network, git, cc, c++, cmake, autoconf, libtool, go and python3; a case that does not build is said, and left out.
# By the environment: FIXES (names of cases), FIXES_FROM (in place of https://github.com), FIXES_RUNS (of a set),
# FIXES_KEEP (a folder for sources and traces, used again if they are there).
# Exit status: 0 = functions, gates and amounts are right as docs/use/diff.md has it, 1 = they are not.
set -u
hyprof=$(realpath "${1:-build/release}/hyprof")
here=$(realpath "$(dirname "$0")/fixes")
from=${FIXES_FROM-https://github.com}
n_runs=${FIXES_RUNS-5}
folder=${FIXES_KEEP-$(mktemp -d)}
[ -n "${FIXES_KEEP-}" ] || trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder" || exit 2
folder=$(realpath "$folder")
flags=(-O2 -g -w)

# name, repository, the commit that mends it, functions that may be named first: what was mended, or what it called too often
cases='cjson      DaveGamble/cJSON        3ece4c8      add_item_to_array
expat      libexpat/libexpat       9cdf9b8d     (normal_)?(scanAtts|scanLt|contentTok)
cmark      commonmark/cmark        2dca096d     get_containing_block
md4c       mity/md4c               b2108652     md_
zlib       madler/zlib             f8719f5      crc32
tinyxml2   leethomason/tinyxml2    b2e08e4      vfprintf|XMLPrinter
hpack      golang/net              8e2b117a     hpack|memmove|memclr
gomarkdown gomarkdown/markdown     84cfb9f      endsWithBlankLine|finalizeList
idna       kjd/idna                5beb28b      valid_context|combining|check_
jq         jqlang/jq               b86ff49f     dec|jv
zstd       facebook/zstd           79bdb8cbb    POOL|AIO|finish_task_switch'

build() { # name: in a folder with the sources; makes ./run
        local program
        case $1 in
        cjson) cc "${flags[@]}" -I. "$here/use_cjson.c" cJSON.c -o app -lm ;;
        expat) cd expat/lib && cc "${flags[@]}" -DXML_GE=1 -DXML_DTD -DXML_NS -DXML_CONTEXT_BYTES=1024 -DBYTEORDER=1234 \
                -DXML_DEV_URANDOM -DHAVE_MEMMOVE -I. -include stdint.h "$here/use_expat.c" xmlparse.c xmltok.c xmlrole.c -o ../../app -lm && cd ../.. ;;
        cmark) cmake -S . -B out -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_SHARED_LIBS=OFF -DCMARK_SHARED=OFF && make -C out && cp out/src/cmark app ;;
        md4c) cc "${flags[@]}" -Imd4c -Imd2html -DMD_VERSION_MAJOR=0 -DMD_VERSION_MINOR=3 -DMD_VERSION_RELEASE=3 md4c/md4c.c md2html/*.c -o app ;;
        zlib) cc "${flags[@]}" -I. "$here/use_zlib.c" adler32.c crc32.c deflate.c inflate.c inffast.c inftrees.c trees.c zutil.c compress.c uncompr.c -o app ;;
        tinyxml2) c++ "${flags[@]}" -I. "$here/use_tinyxml2.cpp" tinyxml2.cpp -o app ;;
        hpack | gomarkdown) mkdir -p use && cp "$here/use_$1.go" use/main.go && go build -o app ./use ;;
        idna) printf '#!/bin/sh\nexec python3 "%s" "%s"\n' "$here/use_idna.py" "$PWD" >app && chmod +x app ;;
        jq) sed -i 's/^AC_INIT.*/AC_INIT([jq],[1.7],[x],[jq],[x])/' configure.ac && autoreconf -i &&
                ./configure --with-oniguruma=no --disable-docs --disable-maintainer-mode --disable-shared CFLAGS="${flags[*]}" && make -j2 && cp jq app ;;
        zstd) make -C programs -j2 zstd CFLAGS="${flags[*]}" && cp programs/zstd app ;;
        esac || return
        program=./app
        case $1 in
        cmark) program="./app -t commonmark $folder/emphasis.md" ;;
        md4c) program="./app $folder/rules.md" ;;
        jq) program="./app -n '[range(5000000)|.+1]|length'" ;;
        zstd) program="sh -c 'rm -f $folder/small/*.zst; exec ./app -q -f --no-check -r $folder/small'" ;;
        esac
        printf '#!/bin/sh\ncd "%s" && exec %s\n' "$PWD" "$program" >run && chmod +x run
}

make_inputs() {
        local i normal
        [ ! -e "$folder/small" ] || return 0
        # shellcheck disable=SC2016 # the backquotes are Markdown's
        normal='A paragraph with *some* text, `code` and [a link](http://x.org).\n\n* item\n* item\n\n'
        for ((i = 0; i < 8000; i++)); do printf '%b' "$normal"; done >"$folder/normal.md"
        { printf '*a %.0s' $(seq 6000) && printf ' a*%.0s' $(seq 6000) && printf '\n\n' && cat "$folder/normal.md"; } >"$folder/emphasis.md"
        { printf '* %.0s' $(seq 60000) && printf 'a\n\n' && cat "$folder/normal.md"; } >"$folder/rules.md"
        mkdir "$folder/small" && for ((i = 0; i < 3000; i++)); do printf '%b' "$normal$i" >"$folder/small/$i.txt"; done
}

# Both sides, in turns: their times without hyprof, then the traces, and one of perf.
record_case() { # name
        local i side
        for ((i = 1; i <= n_runs; i++)); do
                for side in before after; do
                        [ -s "$side$i.hyp" ] && continue
                        { TIMEFORMAT='%U %S' && time "$side/run" >/dev/null 2>&1; } 2>>"$side.times"
                        "$hyprof" record -q -o "$side$i.hyp" -- "$side/run" >/dev/null 2>"$side$i.err" || return
                        [ "$i" -gt 1 ] || perf record -q -F 997 -o "$side.perf" -- "$side/run" >/dev/null 2>&1
                done
        done
}

# The change of user and system time without hyprof: "MEAN_BEFORE MEAN_AFTER LOW HIGH", the 95% interval of the ratio of their
# geometric means, less 1 (Student's t, 2.306 at 8 degrees of freedom: sets of five).
true_change() { # before.times, after.times
        awk '{ side = FILENAME ~ /^after/; value = log($1 + $2); n[side]++; sum[side] += value; squares[side] += value * value }
                END { for (side = 0; side < 2; side++) {
                                mean[side] = sum[side] / n[side]
                                variance += (squares[side] / n[side] - mean[side] ^ 2) / (n[side] - 1)
                        }
                        change = mean[1] - mean[0]; half = 2.306 * sqrt(variance)
                        printf "%.3f %.3f %.4f %.4f\n", exp(mean[0]), exp(mean[1]), exp(change - half) - 1, exp(change + half) - 1 }' "$1" "$2"
}

n_cases=0 n_named=0 n_gates=0 n_gates_right=0 n_amounts=0

# One direction of a case, as a pair or as sets.
judge() { # name, functions, way, before, after, wanted status of the gate, the true change: low, high
        local status=0 answer named=- whole=-
        "$hyprof" diff --fail-above 5% --json --limit 0 --before "$4" --after "$5" >diff.json 2>/dev/null || status=$?
        answer=$(jq -r '.answer // "-"' diff.json)
        n_gates=$((n_gates + 1))
        [ $status -ne "$6" ] || n_gates_right=$((n_gates_right + 1))
        if [ "$6" -eq 0 ] && [ "$3" = sets ]; then # the fix itself
                named=no
                grep -qE "^[a-z]+: ($2)|^[a-z]+: [^,;]*($2)" <<<"$answer" && named=yes && n_named=$((n_named + 1))
                whole=$(jq -r --argjson low "$7" --argjson high "$8" '.whole.rows[0] | if .change_low == null then "no interval"
                        elif .change_low <= $high and $low <= .change_high then "agrees" else "differs" end' diff.json)
                [ "$whole" != agrees ] || n_amounts=$((n_amounts + 1))
        fi
        printf '%-10s %-8s gate %d (wanted %d)  named %-3s  amount %-8s %s\n' "$1" "$3" $status "$6" $named "$whole" "${answer:0:110}"
}

make_inputs
while read -r name repository commit functions; do
        [ -z "${FIXES-}" ] || [[ " $FIXES " == *" $name "* ]] || continue
        mkdir -p "$folder/$name" && cd "$folder/$name" || exit 2
        for side in before after; do
                [ -x $side/run ] && continue
                [ -d git ] || git clone -qn "$from/$repository" git >clone.log 2>&1 || break
                revision=$commit
                [ $side = after ] || revision=$commit^
                paths=()
                [ "$name" != expat ] || paths=(expat/lib)
                mkdir -p $side && git -C git archive "$revision" "${paths[@]}" | tar -x -C $side
                (cd $side && build "$name") >$side.log 2>&1 || break
        done
        if ! [ -x after/run ] || ! record_case "$name"; then
                echo "$name: could not be built or run: see $folder/$name"
                continue
        fi
        n_cases=$((n_cases + 1))
        read -r before after low high < <(true_change before.times after.times)
        for way in pair sets; do
                one='[0-9]' && [ $way = sets ] || one=1
                judge "$name" "$functions" $way "before$one.hyp" "after$one.hyp" 0 "$low" "$high"
                judge "$name" "$functions" "$way, back" "after$one.hyp" "before$one.hyp" 1
        done
        echo "$name: $before -> $after s of user and system time without hyprof; perf diff: $(
                perf diff -q before.perf after.perf 2>/dev/null | grep -m 1 -E '[0-9]%' | tr -s ' ')"
done <<<"$cases"

echo "$n_cases fixes: named first in $n_named; gates right in $n_gates_right of $n_gates; amounts agree in $n_amounts"
[ $n_cases -gt 0 ] && [ $n_named -ge $((n_cases - 1)) ] && [ $n_gates_right -eq $n_gates ]
