#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof diff: pairs, sets, globs; its exit statuses; recordings that have little or nothing in them
set -eu
. tests/tap.sh
plan 103
need jq
need_sampling

for run in a1 a2 a3; do
        record $run -F 2000 "$WORKLOADS/w_diff" 40
done
# Six times as much cannot be overlooked, not even from one pair.
for run in b1 b2 b3; do
        record $run -F 2000 "$WORKLOADS/w_diff" 40 500
done
mkdir "$TMPDIR/new"
cp "$WORKLOADS/w_diff" "$TMPDIR/new/w_diff"
record moved -F 2000 "$TMPDIR/new/w_diff" 40
record longer -F 2000 "$WORKLOADS/w_diff" 80
OMP_OF_TEST=3 PYTHON_OF_TEST=/home/jo record settings -F 2000 "$WORKLOADS/w_diff" 40
record plain -F 2000 "$WORKLOADS/w_split" 0
record rarely -F 500 "$WORKLOADS/w_diff" 40
record none true
record no_time -e page-faults -c 1 true
for run in 1 2 3; do
        record quadratic$run "$WORKLOADS/w_diff_fix" 0
        record fixed$run "$WORKLOADS/w_diff_fix" 1
done
for run in faults1 faults2; do
        record $run -e page-faults -c 1 "$WORKLOADS/w_diff" 10
done
a="$TMPDIR/a1.hyp"
b="$TMPDIR/b1.hyp"

told() { # jq's expression
        jq -r "$1" "$TMPDIR/out"
}

holds "a pair" ends_with 0 "$HYPROF" diff "$a" "$b"
holds "the first line says what became slower" grep -q '^slower: .*transform' "$TMPDIR/out"
holds "as JSON" ends_with 0 "$HYPROF" diff --json --limit 0 "$a" "$b"
holds "JSON: schema" same hyprof.diff/1 "$(told .schema)"
holds "JSON: the function is slower" same slower "$(told '.functions.rows[] | select(.name == "transform") | .verdict')"
holds "JSON: by about five times as much" compare \
        "$(told '.functions.rows[] | select(.name == "transform") | .change')" ">" 2.5
holds "JSON: the zone around it is slower" same slower "$(told '.zones.rows[] | select(.name == "work") | .verdict')"
holds "JSON: the answer" same true "$(told '.answer | test("^slower: .*transform")')"
holds "JSON: the answer in a word" same changed "$(told .verdict)"
holds "as CSV" ends_with 0 "$HYPROF" diff --csv --section zones "$a" "$b"
holds "CSV: a row for each zone" same 5 "$(wc -l <"$TMPDIR/out")"
holds "as Markdown" ends_with 0 "$HYPROF" diff --format md "$a" "$b"

holds "--fail-above holds" ends_with 1 "$HYPROF" diff --fail-above 5% "$a" "$b"
holds "--fail-above does not hold for what became faster" ends_with 0 "$HYPROF" diff --fail-above 5% --only transform "$b" "$a"
holds "--fail-above more" ends_with 0 "$HYPROF" diff --fail-above 4000% "$a" "$b"
holds "--fail-above, of something else" ends_with 0 "$HYPROF" diff --fail-above 30% --only 'chec*' "$a" "$b"
holds "--only names" ends_with 0 "$HYPROF" diff --json --limit 0 --only 'trans*' "$a" "$b"
holds "--only names: nothing else is shown" same transform "$(told '.functions.rows[].name')"
holds "--only zones" ends_with 1 "$HYPROF" diff --only zones --fail-above 5 "$a" "$b"

old="$TMPDIR/quadratic1.hyp"
new="$TMPDIR/fixed1.hyp"
holds "a fix: the gate lets it pass" ends_with 0 "$HYPROF" diff --json --limit 0 --fail-above 5% "$old" "$new"
holds "a fix: the answer begins with the gone function and its time" same true "$(told '.answer | test("^gone: add_item, -[0-9.]+ m?s of [0-9.]+ m?s; faster: .*the whole run -")')"
holds "a fix: the lower end of its interval is -100 %" same "gone true true" "$(told '.functions.rows[] | select(.name == "add_item") | "\(.verdict) \(.change == -1) \(.change_low == -1)"')"
holds "a fix, taken back: the gate holds" ends_with 1 "$HYPROF" diff --json --limit 0 --fail-above 5% "$new" "$old"
holds "a fix, taken back: the answer begins with the new function" same true "$(told '.answer | test("^new: add_item, [+][0-9.]+ m?s of [0-9.]+ m?s; slower: .*the whole run [+]")')"
holds "a fix, taken back: the answer does not contradict itself" same false "$(told '.answer | test("nothing can be compared|not certain")')"
holds "a fix, sets" ends_with 0 "$HYPROF" diff --json --limit 0 --fail-above 5% --before "$TMPDIR/quadratic?.hyp" --after "$TMPDIR/fixed?.hyp"
holds "a fix, sets: named" same true "$(told '.answer | test("^gone: add_item, -")')"
holds "a fix, taken back, sets" ends_with 1 "$HYPROF" diff --json --limit 0 --fail-above 5% --before "$TMPDIR/fixed?.hyp" --after "$TMPDIR/quadratic?.hyp"
holds "a fix, taken back, sets: named" same true "$(told '.answer | test("^new: add_item, [+]")')"
holds "the fixed one twice" ends_with 0 "$HYPROF" diff --json --limit 0 "$new" "$TMPDIR/fixed2.hyp"
holds "the fixed one twice: no item is new or gone" same false "$(told '.answer | test("new:|gone:")')"
holds "the old one twice" ends_with 0 "$HYPROF" diff --json --limit 0 "$old" "$TMPDIR/quadratic2.hyp"
holds "the old one twice: no item is new or gone" same false "$(told '.answer | test("new:|gone:")')"

holds "sets, by globs" ends_with 0 "$HYPROF" diff --json --limit 0 --before "$TMPDIR/a*.hyp" --after "$TMPDIR/b*.hyp"
holds "sets: runs" same "3 3" "$(told '"\(.runs_before) \(.runs_after)"')"
holds "sets: the function is slower" same slower "$(told '.functions.rows[] | select(.name == "transform") | .verdict')"
holds "a set, named one by one, and an operand" ends_with 0 "$HYPROF" diff --json --limit 0 --before "$a" --before "$TMPDIR/a2.hyp" "$b"
holds "the set and the operand" same "2 1" "$(told '"\(.runs_before) \(.runs_after)"')"
holds "twice as much work" ends_with 0 "$HYPROF" diff --json --limit 0 "$a" "$TMPDIR/longer.hyp"
holds "twice as much work: the whole run has doubled" compare "$(told '.whole.rows[0].change')" ">" 0.6
holds "--per ZONE" ends_with 0 "$HYPROF" diff --json --limit 0 --per unit "$a" "$TMPDIR/longer.hyp"
holds "--per ZONE: as many units as there were, without decimals" same "40 80" "$(told '"\(.units_before) \(.units_after)"')"
holds "--per ZONE: it has not" compare "$(told '.whole.rows[0].change | fabs')" "<" 0.4
holds "--wall" ends_with 0 "$HYPROF" diff --wall "$a" "$b"
holds "a filter" ends_with 0 "$HYPROF" diff --json --limit 0 --zone work "$a" "$b"
holds "a filter: which" same "zone work" "$(told .filter)"
holds "a filter: only what is inside" same false "$(told '[.functions.rows[].name] | any(. == "checksum")')"

holds "counts" ends_with 0 "$HYPROF" diff --limit 0 "$TMPDIR/faults1.hyp" "$TMPDIR/faults2.hyp"
holds "counts: the event is named" grep -Exq ' +samples of +page-faults' "$TMPDIR/out"
holds "counts have no decimals" same 0 "$(grep -cE ' [0-9]+\.[0-9]{2}  +[0-9]+\.[0-9]{2} ' "$TMPDIR/out")"
holds "counts, for each unit" ends_with 0 "$HYPROF" diff --json --limit 0 --per unit "$TMPDIR/faults1.hyp" "$TMPDIR/faults2.hyp"
holds "counts, for each unit: less than one has them" same true "$(told '[.functions.rows[].before] | any(. != null and . < 1 and . > 0)')"

holds "without zones in one" ends_with 0 "$HYPROF" diff --json --limit 0 --anyway "$a" "$TMPDIR/plain.hyp"
holds "nothing in it" ends_with 0 "$HYPROF" diff "$TMPDIR/none.hyp" "$TMPDIR/none.hyp"
holds "nothing in one" ends_with 0 "$HYPROF" diff --anyway "$a" "$TMPDIR/none.hyp"
holds "a comparison without judgement does not pass" ends_with 2 "$HYPROF" diff --anyway --fail-above 1 "$a" "$TMPDIR/no_time.hyp"
holds "a name that fits nothing" ends_with 2 "$HYPROF" diff --only nosuchthing "$a" "$b"
holds "a name that fits nothing: said" grep -q "no function, zone, wait or system call is called 'nosuchthing'" "$TMPDIR/err"
holds "a name that is nearly one" ends_with 2 "$HYPROF" diff --only transfor_ "$a" "$b"
holds "a name that is nearly one: said" grep -q "did you mean 'transform'" "$TMPDIR/err"
holds "another program" ends_with 2 "$HYPROF" diff "$a" "$TMPDIR/plain.hyp"
holds "another program: which" grep -q "'w_split'.*'w_diff'.*--anyway" "$TMPDIR/err"
holds "another program in a set" ends_with 2 "$HYPROF" diff --before "$a" --before "$TMPDIR/plain.hyp" "$b"
holds "the same program in another folder" ends_with 0 "$HYPROF" diff --json --limit 0 "$a" "$TMPDIR/moved.hyp"
holds "the same arguments: nothing is said" same false "$(told '.warnings | any(test("arguments differ"))')"
holds "other arguments" ends_with 0 "$HYPROF" diff --json --limit 0 "$a" "$b"
holds "other arguments: said" same true "$(told '.warnings | any(test("arguments differ: .*w_diff 40. in .*w_diff 40 500. in"))')"
holds "the same environment: nothing is said" same false "$(told '.warnings | any(test("environments"))')"
holds "another environment" ends_with 0 "$HYPROF" diff --json --limit 0 "$a" "$TMPDIR/settings.hyp"
holds "another environment: said, without paths" same true "$(told '.warnings | any(test(
        "^the environments differ: OMP_OF_TEST not set before, OMP_OF_TEST=3 after; PYTHON_OF_TEST not set before, PYTHON_OF_TEST=.8_bytes. after$"))')"
holds "another environment in a set" ends_with 0 "$HYPROF" diff --json --limit 0 --before "$a" --before "$TMPDIR/settings.hyp" "$b"
holds "another environment in a set: in which" same true "$(told '.warnings | any(test("OMP_OF_TEST=3 in .*settings.hyp"))')"
holds "the environment of a recording" ends_with 0 "$HYPROF" report --json --limit 0 "$TMPDIR/settings.hyp"
holds "the environment of a recording: no path" same true "$(told '.environment | test("OMP_OF_TEST=3.* PYTHON_OF_TEST=.8_bytes.") and (test("/home") | not)')"

# The program says that it runs before it is attached to: until then /proc has the environment of this script.
exec {ready}< <(OMP_OF_TEST=7 exec sh -c 'echo $$; exec sleep 600')
read -r pid <&"$ready"
record attached -p "$pid" -- true
kill "$pid"
holds "the environment of a running program" ends_with 0 "$HYPROF" report --json --limit 0 "$TMPDIR/attached.hyp"
holds "the environment of a running program: its own" same true "$(told '.environment | test("OMP_OF_TEST=7")')"

# The text of one environment begins that of another.
exec {ready}< <(exec env -i OMP_OF_TEST=77 sh -c 'echo $$; exec sleep 600')
read -r longer <&"$ready"
exec {ready}< <(exec env -i OMP_OF_TEST=7 sh -c 'echo $$; exec sleep 600')
read -r shorter <&"$ready"
record pair -p "$longer" -p "$shorter" -- true
kill "$longer" "$shorter"
holds "the environments of two programs" ends_with 0 "$HYPROF" report --json --limit 0 "$TMPDIR/pair.hyp"
holds "the environments of two programs: both" same 'OMP_OF_TEST=77; OMP_OF_TEST=7' "$(told .environment)"

holds "other rates" ends_with 0 "$HYPROF" diff --json --limit 0 "$a" "$TMPDIR/rarely.hyp"
holds "other rates: said" same true "$(told '.warnings | any(test("same rate"))')"
holds "the same rate" ends_with 0 "$HYPROF" diff --json --limit 0 "$a" "$b"
holds "the same rate: nothing is said" same false "$(told '.warnings | any(test("same rate"))')"
holds "one with itself" ends_with 0 "$HYPROF" diff --json --limit 0 "$a" "$a"
holds "one with itself: nothing has changed" same 0 "$(told '.significant')"
holds "one with itself: said" same true "$(told '.warnings | any(test("with itself"))')"
holds "one with itself: the change, and what would make it certain" grep -qE \
        '\+0\.0%, not certain from one pair; five runs each would detect [0-9.]+%' "$TMPDIR/out"
holds "one with itself: in a word" same "not certain" "$(told .verdict)"
holds "sets that are alike" ends_with 0 "$HYPROF" diff --json --limit 0 --before "$TMPDIR/a[12].hyp" --after "$TMPDIR/a[12].hyp"
holds "sets that are alike: the answer" same true "$(told '.answer | test("^no significant change " +
        "\\([0-9]+ functions? and [0-9]+ zones? compared\\); largest: .* \\+0\\.0% .* would have been detected$")')"
holds "standard input" ends_with 0 "$HYPROF" diff - "$b" <"$a"
holds "standard input twice" ends_with 2 "$HYPROF" diff - - <"$a"
holds "standard input twice: said" grep -q "standard input" "$TMPDIR/err"
head -c $(($(stat -c %s "$a") / 2)) "$a" >"$TMPDIR/cut.hyp"
holds "one that is cut off" ends_with 0 "$HYPROF" diff --json --limit 0 "$TMPDIR/cut.hyp" "$b"
holds "one that is cut off: said" same true "$(told '.warnings | any(test("cut.hyp"))')"
holds "one that is cut off: what a run costs is not judged" same "data lost 0" \
        "$(told '"\([.functions.rows[].verdict] | unique | map(select(. == "data lost" or . == "slower" or . == "faster")) | join(" ")) \(.whole.rows | length)"')"

holds "no operand" ends_with 2 "$HYPROF" diff
holds "one operand" ends_with 2 "$HYPROF" diff "$a"
holds "no such file" ends_with 2 "$HYPROF" diff "$a" "$TMPDIR/missing.hyp"
holds "no file that fits" ends_with 2 "$HYPROF" diff --before "$TMPDIR/x*.hyp" "$a"
holds "no trace" ends_with 2 "$HYPROF" diff "$a" tests/tap.sh
holds "no such zone" ends_with 2 "$HYPROF" diff --per nosuch "$a" "$b"
holds "no percentage" ends_with 2 "$HYPROF" diff --fail-above much "$a" "$b"
holds "--help" ends_with 0 "$HYPROF" diff --help
