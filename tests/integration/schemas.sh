#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The JSON of every command and view is as its schema says, which `hyprof help --schema` prints; broken ones are seen
set -eu
. tests/tap.sh
plan 30
need python3 jq
python3 -c 'import jsonschema' 2>/dev/null || skip_all "python3-jsonschema is not installed"

check() { python3 tests/tools/check_schemas.py "$@"; }

# ---- hyprof help --schema
"$HYPROF" help --schema >"$TMPDIR/list"
holds "a line for each file of docs/schemas" same "$(cd docs/schemas && for file in *.json; do name=${file%.json} && echo "${name%.*}/${name##*.}"; done | sort)" \
        "$(cut -d ' ' -f 1 "$TMPDIR/list" | sort)"
holds "each with the command" same "" "$(grep -vE "^hyprof\.[a-z_-]+/[0-9]+ +hyprof [^ ]" "$TMPDIR/list" || true)"
file=$(echo docs/schemas/hyprof.zones.*.json)
version=${file//[!0-9]/}
holds "byte for byte the file" cmp "$file" <("$HYPROF" help --schema "hyprof.zones/$version")
for name in "zones/$version" zones hyprof.zones; do
        holds "$name is the same" cmp "$file" <("$HYPROF" help --schema "$name")
done
holds "--schema=NAME as well" cmp "$file" <("$HYPROF" help --schema="zones/$version")
holds "an unknown one: status 2" ends_with 2 "$HYPROF" help --schema hyprof.versionx/1
holds "and which may be meant" grep -qF "unknown schema 'hyprof.versionx/1'; did you mean 'hyprof.version/2'?" "$TMPDIR/err"
holds "a version that there is not: status 2" ends_with 2 "$HYPROF" help --schema zones/99
holds "a part of a name is no name" ends_with 2 "$HYPROF" help --schema zon
holds "completed" same "hyprof.zones/$version" "$("$HYPROF" __complete help --schema hyprof.zones | cut -f 1)"
holds "completed after =" same "--schema=hyprof.zones/$version" "$("$HYPROF" __complete help --schema=hyprof.zones | cut -f 1)"

# ---- what is kept is what the lists of columns print: `make schemas` after a change of them
mkdir "$TMPDIR/printed"
"$BUILD/tools/print_schemas" "$TMPDIR/printed" >"$TMPDIR/printed.md"
cp docs/schemas/hyprof.timeline.*.json "$TMPDIR/printed" # of the viewer's model, which is no document
holds "docs/schemas is what the lists of columns print" diff -r docs/schemas "$TMPDIR/printed"
holds "and so is the end of view-json.md" diff <(sed '1,/^<!-- printed by make schemas/d' docs/use/view-json.md) "$TMPDIR/printed.md"
sed -i 's/"n_unclosed"/"n_unended"/' "$TMPDIR"/printed/hyprof.zones.*.json
holds "another key would be seen" ends_with 1 diff -rq docs/schemas "$TMPDIR/printed"

# ---- a schema of the same name and version loses no member that a program may read
gone() { # folder of schemas
        python3 tests/tools/schema_keys.py "$1" | LC_ALL=C sort >"$TMPDIR/keys"
        cut -d ' ' -f 1 "$TMPDIR/keys" | sort -u >"$TMPDIR/names"
        grep -wFf "$TMPDIR/names" tests/golden/schema_keys.txt | LC_ALL=C comm -23 - "$TMPDIR/keys"
}
holds "no member is gone: a new version is due where one is (docs/extend/adding.md)" same "" "$(gone docs/schemas)"
holds "one that is gone would be seen" same "hyprof.zones/$version n_unclosed" "$(gone "$TMPDIR/printed" | head -n 1)"

# ---- all answers, of traces with little, too much or hostile things in them
traces=()
for way in empty one oneend samples zones unclosed hostile extreme; do
        "$BUILD/tools/odd_trace" "$TMPDIR/$way.hyp" "$way"
        traces+=("$TMPDIR/$way.hyp")
done
head -c $(($(stat -c %s "$TMPDIR/samples.hyp") / 2)) "$TMPDIR/samples.hyp" >"$TMPDIR/cut.hyp"
traces+=("$TMPDIR/cut.hyp")
# With all that programs emit, threads with several names, waits, counters, a lock, and pairs for diff of which one is slower.
if "$HYPROF" doctor >/dev/null 2>&1; then
        holds "recorded: every event" record every --embed=none "$WORKLOADS/w_every_event"
        holds "recorded: a slow lock, and counters" record lock -F 2000 --off-cpu -e '{cpu-clock,page-faults}:S' "$WORKLOADS/w_why" lock 200
        holds "recorded: page faults alone" record faults -e page-faults -c 1 "$WORKLOADS/w_diff" 10
        # The child's context switches make times on CPUs known, also where nothing else interrupts the shell.
        # shellcheck disable=SC2016 # the shell that is recorded has the child
        holds "recorded: a process that executes two programs" record names sh -c '$(exit 0); exec env true'
        holds "its time under each name" jq -e '[.names.rows[].name] == ["sh", "env", "true"] and ([.names.rows[].handle] | unique | length) == 1' \
                <("$HYPROF" report --threads --json --limit 0 "$TMPDIR/names.hyp")
        traces+=("$TMPDIR/every.hyp" "$TMPDIR/lock.hyp" "$TMPDIR/faults.hyp" "$TMPDIR/names.hyp")
else
        skips "recorded traces" "nothing can be recorded here"
fi
# Nightly each view of each trace.
half=(--half)
[ -z "${HYPROF_THOROUGH:-}" ] || half=()
checks_all() { check "${half[@]}" "$HYPROF" "${traces[@]}" >"$TMPDIR/said" 2>&1 || { cat "$TMPDIR/said" && return 1; }; }
holds "every document is what its schema says" checks_all
figure "$(tail -n 1 "$TMPDIR/said")"

# ---- the check itself: a program whose answers lack a key, have a new one, or a text for a number
cat >"$TMPDIR/other" <<END
#!/bin/bash
set -o pipefail
case "\$*" in help*) exec "$HYPROF" "\$@" ;; esac
"$HYPROF" "\$@" | jq "\$HOW"
END
chmod +x "$TMPDIR/other"
finds() { # jq's expression, words
        HOW="$1" check --some "$TMPDIR/other" "$TMPDIR/samples.hyp" >"$TMPDIR/said" 2>&1 && return 1
        grep -qF "$2" "$TMPDIR/said" || { head "$TMPDIR/said" && return 1; }
}
holds "nothing is wrong of the same" env HOW=. python3 tests/tools/check_schemas.py --some "$TMPDIR/other" "$TMPDIR/samples.hyp"
holds "a renamed key" finds 'if .threads.rows then .threads.rows |= map(.samples = .n_samples | del(.n_samples)) else . end' "'n_samples' is a required property"
holds "a new key" finds 'if .threads.rows then .threads.rows |= map(.extra = 1) else . end' "'extra' was unexpected"
holds "a vanished table" finds 'if (.schema | startswith("hyprof.threads/")) then del(.threads) else . end' "'threads' is a required property"
holds "a text for a number" finds 'if .threads.rows then .threads.rows |= map(.n_samples |= tostring) else . end' "is not of type"
holds "a schema that there is not" finds '.schema |= sub("threads"; "treads")' "there is no schema hyprof.treads/"
