#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A trace that names private files as its sources takes none of them along: annotate, html, symbolize, record
set -eu
. tests/tap.sh
plan 30
need cc jq
need_sampling

home=$TMPDIR/home
mkdir -p "$home/.ssh" "$home/private" "$home/public" "$TMPDIR/own"
echo 'SECRET-KEY' >"$home/.ssh/id_rsa"
echo 'SECRET-HIDDEN' >"$home/.ssh/config.c"
echo 'SECRET-PRIVATE' >"$home/private/a.c"
echo 'SECRET-LETTER' >"$home/public/letter.txt"
echo 'PUBLIC-SOURCE' >"$home/public/b.c"
# The links lead to a key that all may read, and to a private source: neither its name nor its mode alone gives them away.
ln -s "$home/.ssh/id_rsa" "$home/public/link.c"
ln -s "$home/private/a.c" "$home/public/leads_out.c"
chmod 644 "$home"/.ssh/* "$home"/public/*.[ct]*
chmod 600 "$home/private/a.c"

cat >"$TMPDIR/own/w.c" <<SOURCE
#include <stdint.h>
volatile uint64_t s;
#define PART(name, file) __attribute__((noinline)) static void name(uint64_t n)
# 1 "$home/.ssh/id_rsa"
PART(key,) { for (uint64_t i = 0; i < n; i++) s += i * i; }
# 1 "$home/.ssh/config.c"
PART(hidden,) { for (uint64_t i = 0; i < n; i++) s ^= i * i; }
# 1 "$home/private/a.c"
PART(private,) { for (uint64_t i = 0; i < n; i++) s += i ^ n; }
# 1 "$home/public/letter.txt"
PART(letter,) { for (uint64_t i = 0; i < n; i++) s ^= i + n; }
# 1 "$home/public/link.c"
PART(link,) { for (uint64_t i = 0; i < n; i++) s -= i + n; }
# 1 "$home/public/leads_out.c"
PART(leads_out,) { for (uint64_t i = 0; i < n; i++) s ^= i - n; }
# 1 "$home/public/../public/b.c"
PART(open,) { for (uint64_t i = 0; i < n; i++) s -= i * n; }
# 1 "$TMPDIR/own/main.c"
int main(void) { for (int i = 0; i < 6; i++) { key(20000000); hidden(20000000); private(20000000); letter(20000000); link(20000000); leads_out(20000000); open(20000000); } }
SOURCE
cc -O1 -g -o "$TMPDIR/own/w" "$TMPDIR/own/w.c"
trace=$TMPDIR/w.hyp
HYPROF=$(realpath "$HYPROF")
"$HYPROF" record -q --embed=all -o "$trace" -- "$TMPDIR/own/w"

lacks() { # file, pattern
        [ -s "$1" ] || { echo "$1 is empty" && return 1; }
        ! grep -qa -- "$2" "$1" || { grep -ao -- ".\{0,40\}$2.\{0,20\}" "$1" && return 1; }
}
text_of() { # hyprof annotate's options
        (cd "$TMPDIR/own" && "$HYPROF" annotate --whole-files "$@" 2>&1) | cat
}
for function in key hidden private letter link leads_out; do
        text_of "$trace" $function >"$TMPDIR/text"
        holds "annotate shows nothing of $function's" lacks "$TMPDIR/text" SECRET
        holds "and says why" grep -q '^hyprof: source withheld: .*: private, hidden or not named like a source$' "$TMPDIR/text"
done
text_of "$trace" open >"$TMPDIR/text"
holds 'a source that all may read is shown' grep -q PUBLIC-SOURCE "$TMPDIR/text"
text_of --json --limit 0 "$trace" private >"$TMPDIR/json"
holds 'JSON says the same' same withheld "$(jq -r '[.lines.rows[] | select(.file | endswith("private/a.c")).source][0]' "$TMPDIR/json")"
text_of --source-dir "$home/private" "$trace" private >"$TMPDIR/text"
holds 'a folder that is given shows its private files' grep -q SECRET-PRIVATE "$TMPDIR/text"
(cd "$home/private" && "$HYPROF" annotate --whole-files "$trace" private) >"$TMPDIR/text"
holds 'and so does the working directory' grep -q SECRET-PRIVATE "$TMPDIR/text"
(cd "$home/private" && "$HYPROF" annotate --whole-files --source-dir= "$trace" private) >"$TMPDIR/text"
holds 'unless that is not wanted' lacks "$TMPDIR/text" SECRET
for function in link leads_out; do
        text_of --source-dir "$home/public" "$trace" $function >"$TMPDIR/text"
        holds "a link out of a folder that is given is none: $function" lacks "$TMPDIR/text" SECRET
done
text_of --source-dir "$home" "$trace" key >"$TMPDIR/text"
holds 'a key is no source, whatever folder is given' lacks "$TMPDIR/text" SECRET

# ---- what goes on to others
secrets_of() { # page
        sed -n 's/.*id="data-answers">\([^<]*\)<.*/\1/p' "$1" | base64 -d | gzip -dc >"$TMPDIR/answers"
}
(cd "$home/private" && "$HYPROF" html "$trace" -o "$TMPDIR/page.html") 2>"$TMPDIR/said"
secrets_of "$TMPDIR/page.html"
holds 'a page has none of it, wherever it is made' lacks "$TMPDIR/answers" SECRET
holds 'but the source that all may read' grep -q PUBLIC-SOURCE "$TMPDIR/answers"
holds 'and is said to have it' same 1 "$(grep -c "^hyprof: source text in the page: .*public/b.c" "$TMPDIR/said")"
holds 'and nothing else of that home' lacks "$TMPDIR/said" 'private/a.c\|\.ssh\|letter\|link\.c\|leads_out'
"$HYPROF" html "$trace" --force --source-dir "$home/private" -o "$TMPDIR/page.html" 2>"$TMPDIR/said"
secrets_of "$TMPDIR/page.html"
holds 'a folder that is given goes into the page, and into that line' \
        sh -c "grep -q SECRET-PRIVATE '$TMPDIR/answers' && grep -q 'source text in the page: .*private/a.c' '$TMPDIR/said'"
"$HYPROF" html "$trace" --force --source-dir "$home/public" -o "$TMPDIR/page.html" 2>"$TMPDIR/said"
secrets_of "$TMPDIR/page.html"
holds 'but nothing that links lead to out of it' lacks "$TMPDIR/answers" SECRET
"$HYPROF" symbolize --embed-source -o "$TMPDIR/kept.hyp" "$trace" 2>"$TMPDIR/said"
holds 'a trace keeps the one that all may read' grep -q '^hyprof: sources: 1 kept' "$TMPDIR/said"
holds 'says how many it did not' grep -q '6 withheld' "$TMPDIR/said"
holds 'and names the file' grep -q '^hyprof: source text in the trace: .*public/b.c$' "$TMPDIR/said"
"$HYPROF" record --embed-source -o "$TMPDIR/record.hyp" -- "$TMPDIR/own/w" 2>"$TMPDIR/said"
holds 'so does record' sh -c "grep -q '^hyprof: sources: 1 kept' '$TMPDIR/said' && grep -q '6 withheld' '$TMPDIR/said'"
