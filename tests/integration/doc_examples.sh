#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each example in the documents, the manuals and the guide does what it says: it ends with status 0, and jq finds something
set -eu
. tests/tap.sh
need python3 jq
need_sampling
[ "$(id -u)" -eq 0 ] || skip_all "examples record the whole machine, which needs root"

# The traces, programs and process that the examples name.  Each example runs in a copy of its own.
place=$TMPDIR/place
mkdir -p "$place/target/release" "$place/folder" "$TMPDIR/bin"
for program in program server game a.out target/release/program; do
        cp "$WORKLOADS/w_examples" "$place/$program"
done
printf '#!/bin/sh\nexec "%s" "$@"\n' "$(realpath "$HYPROF")" >"$TMPDIR/bin/hyprof"
chmod +x "$TMPDIR/bin/hyprof"
# The viewer, until it has said its address.
cat >"$TMPDIR/bin/view_once" <<'END'
#!/bin/sh
mkfifo said
hyprof view --no-open "$@" >said &
while read -r line; do case $line in http://*) kill -INT $!; break ;; esac; done <said
wait $!
END
chmod +x "$TMPDIR/bin/view_once"
PATH=$TMPDIR/bin:$PATH
(cd "$place" && hyprof record -q --off-cpu --embed=all -F 2000 -o hyprof.hyp ./program)
for name in server run first t trace old new a b kernel_pool before after BEFORE AFTER a1 a2 b1 b2 old-1 old-2 new-1 new-2 main-1 main-2 branch-1 branch-2; do
        cp "$place/hyprof.hyp" "$place/$name.hyp"
done
HANDLE=$(hyprof report --function compress --json --limit 0 "$place/hyprof.hyp" | jq -r '.functions.rows[0].handle')
"$place/server" forever &
PID=$!
trap 'kill "$PID"' EXIT
export HANDLE PID PAGER=cat

runs() { # command
        rm -rf "$TMPDIR/copy"
        cp -r "$place" "$TMPDIR/copy"
        (cd "$TMPDIR/copy" && timeout 60 bash -o pipefail -c "$1")
}
n_run=0
mapfile -t files < <(find README.md docs -name '*.md' -o -path 'docs/man/*.txt' | LC_ALL=C sort)
python3 tests/tools/doc_examples.py tests/integration/doc_examples.table "${files[@]}" >"$TMPDIR/examples"
plan $(($(awk -F '\t' '$2 ~ /^(run|unused|event .*)$/' "$TMPDIR/examples" | wc -l) + 1))
while IFS=$'\t' read -r at what command <&3; do
        case $what in
        run) holds "$at: $command" runs "$command" && n_run=$((n_run + 1)) ;;
        "event "*)
                if hyprof list --csv "${what#event }" 2>/dev/null | grep -qE ',(yes|true),'; then
                        holds "$at: $command" runs "$command"
                else
                        skips "$at: $command" "hardware: there is no ${what} here"
                fi
                ;;
        unused) holds "each row of the table is needed" same "" "$command" ;;
        *) figure "$at: $command: not run: $what" ;;
        esac
done 3<"$TMPDIR/examples"
holds "there are many" compare "$n_run" ">" 60
