#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/lint: each rule is silent on a good tree and fails on a tree that breaks it
set -u
good=$TMPDIR/good
bad=$TMPDIR/bad
n=0
echo "1..67"

licence='/* SPDX-License-Identifier: MIT */'
mkdir -p "$good"/{base,tests,format,instrument,symbolize,unwind,sampler/merge,analyze,cli,docs/understand,debian}
printf '%s\n/*\n * base/x.h - x\n *\n * Way of the data:  a -> [x] -> b\n */\n' "$licence" >"$good/base/x.h"
printf '%s\n#include "base/x.h"\n' "$licence" >"$good/format/y.c"
printf '%s\n#define KINDS(X) \\\n        X(1, FILE)  \\\n        X(2, EVENTS)\n' "$licence" >"$good/format/trace_spec.h"
sed -i '1a /* Way of the data: [trace_spec] */' "$good/format/trace_spec.h"
printf '| id | kind |\n|---|---|\n| 1 | FILE |\n| 2 | EVENTS |\n' >"$good/docs/understand/trace-format.md"
printf '[format](understand/trace-format.md), [client](understand/client-abi.md)\n' >"$good/docs/README.md"
{
        printf '%s\n/* Way of the data: [client_abi] */\n#define CLIENT_ABI_MAJOR 1 /* one */\n#define CLIENT_ABI_MINOR 0\n' "$licence"
        printf 'struct client_abi_header {\n        uint16_t abi_major;\n        uint16_t abi_minor;\n        uint8_t reserved[4]; /* a; b */\n};\n'
        printf 'enum client_abi_event {\n        CLIENT_ABI_EVENT_TIME = 1,\n};\n'
} >"$good/instrument/client_abi.h"
# shellcheck disable=SC2016 # names stand in backquotes
printf 'Version 1.0.\n\n| 0 | 2 | `abi_major` | 1 |\n| 2 | 2 | `abi_minor` | 0 |\n| 4 | 4 | | reserved |\n| 1 | TIME | 0 |\n' \
        >"$good/docs/understand/client-abi.md"
printf '# SPDX-License-Identifier: MIT\nVERSION := 1.2\nRELEASED := 2026-01-02\n' >"$good/Makefile"
printf '# Changes\n\n## Unreleased\n\n## 1.2 - 2026-01-02\n' >"$good/CHANGELOG.md"
printf 'hyprof (1.2) unstable\n\n -- The authors <x@y>  Fri, 02 Jan 2026 00:00:00 +0000\n' >"$good/debian/changelog"
git -C "$good" init -q

verdict() { # name, condition's status
        n=$((n + 1))
        if [ "$2" -eq 0 ]; then
                echo "ok $n - $1"
        else
                echo "not ok $n - $1"
        fi
}

# A copy of the good tree is changed by the words, then the rule must fail and name the file.
breaks() { # rule, file to be named, command...
        local rule=$1 file=$2 out
        shift 2
        rm -rf "$bad"
        cp -r "$good" "$bad"
        (cd "$bad" && "$@")
        out=$(sh "tests/lint/$rule.sh" "$bad" 2>&1) && out=
        grep -qF "$file" <<<"$out"
        verdict "$rule: $file" $?
}

# A change that the rule must accept.
silent() { # rule, command...
        local rule=$1 out
        shift
        rm -rf "$bad"
        cp -r "$good" "$bad"
        (cd "$bad" && "$@")
        out=$(sh "tests/lint/$rule.sh" "$bad" 2>&1)
        verdict "$rule: silent after $*" $?
        [ -z "$out" ] || printf '%s\n' "$out"
}

add() { printf '%s\n' "${@:2}" >>"$1"; }

for rule in include_order file_length no_output spdx unique_names plain_statics header_line spec_sync client_abi_sync doc_links words version pace_constants; do
        out=$(sh "tests/lint/$rule.sh" "$good" 2>&1)
        verdict "$rule: silent on a good tree" $?
        [ -z "$out" ] || printf '%s\n' "$out"
done
breaks include_order base/x.h add base/x.h '#include "format/y.h"'
breaks include_order sampler/merge/s.c add sampler/merge/s.c "$licence" '#include "analyze/report/report.h"'
breaks include_order sampler/merge/s.c add sampler/merge/s.c "$licence" '#include <hyprof/hyprof.h>'
breaks include_order sampler/keep/c.c eval "mkdir sampler/keep && printf '%s\n#include \"sampler/jit/j.h\"\n' '$licence' >sampler/keep/c.c"
breaks include_order sampler/merge eval "for i in $(seq -s ' ' 41); do : >sampler/merge/f\$i.c; done"
breaks file_length base/long.c eval 'yes | head -n 801 >base/long.c'
breaks file_length base/x.h:7 add base/x.h "/* $(printf '%0106d' 0) */"
silent file_length add format/y.c "const char words[] = \"https://$(printf '%0106d' 0)\";"
breaks no_output format/y.c add format/y.c 'void f(void) { printf("x"); }'
breaks no_output format/y.c add format/y.c 'void f(void) { exit(1); }'
breaks no_output format/y.c add format/y.c 'void f(FILE *f) { fputs("x", f); }'
breaks no_output format/y.c add format/y.c 'FILE *f(void) { return stderr; }'
silent no_output add format/y.c '/* printf("x") */ int a;' '/* puts("x")' ' * exit(1) */'
silent no_output eval 'mkdir view && echo "void f(FILE *f) { fputs(f); }" >view/v.c'
breaks no_output view/v.c eval 'mkdir view && echo "void f(void) { exit(1); }" >view/v.c'
silent include_order eval 'mkdir -p instrument/client/include/hyprof && cd instrument/client/include/hyprof && :>a.h && echo "#include \"a.h\"" >b.h'
breaks include_order 'base/x.h: must not include "instrument/client/c.h"' add base/x.h '#include "instrument/client/c.h"'
breaks file_length tests/long.sh eval 'yes | head -n 801 >tests/long.sh'
breaks spdx base/z.c eval ': >base/z.c'
breaks spdx base/z.c add base/z.c 'int z;'
breaks plain_statics format/y.c add format/y.c 'static int y_twice(void)'
breaks plain_statics format/z_view.c eval "echo 'static int z_twice(void)' >format/z_view.c"
silent plain_statics add format/y.c 'static int twice(void)' 'int y_thrice(void)' 'static const int y_four = f(4);'
breaks unique_names y.c cp format/y.c base/y.c
breaks header_line cli/c.h add cli/c.h "$licence" '/* c */'
breaks spec_sync EVENTS sed -i '/EVENTS/d' docs/understand/trace-format.md
breaks spec_sync EVENTS sed -i 's/| 2/| 3/' docs/understand/trace-format.md
breaks spec_sync UNKNOWN add docs/understand/trace-format.md '| 9 | UNKNOWN |'
breaks client_abi_sync 'other versions' sed -i 's/MINOR 0/MINOR 1/' instrument/client_abi.h
breaks client_abi_sync '4 4 -' sed -i '/| reserved/d' docs/understand/client-abi.md
breaks client_abi_sync '4 2 abi_minor' sed -i 's/uint16_t abi_major/uint32_t abi_major/' instrument/client_abi.h
breaks client_abi_sync '1 TIME' sed -i 's/TIME/TOME/' docs/understand/client-abi.md
breaks doc_links 'docs/lo''st.md' add base/x.h '/* see docs/lo''st.md */'
breaks doc_links gone.md add docs/README.md '[gone](use/gone.md#part)'
breaks doc_links 'docs/ne''w.md' add 'docs/ne''w.md' 'a page that the index does not list'
breaks doc_links '#lost' add docs/README.md '[format](understand/trace-format.md#lost)'
breaks doc_links lost.c add docs/understand/trace-format.md "\`lost.c\` is a file of the tree"
breaks doc_links 'lost_function()' add HACKING.md "\`lost_function()\`"
breaks doc_links 'README.md:2: 121 columns' add docs/README.md "$(printf '%0121d' 0)"
breaks pace_constants 'sampler/merge/s.c:2: WAIT_MAX_NS' add sampler/merge/s.c '#define WAIT(x) (x)' '#define WAIT_MAX_NS 5'
breaks version CHANGELOG.md sed -i 's/1[.]2/1.3/' CHANGELOG.md
breaks version debian/changelog sed -i 's/1[.]2/1.3/' debian/changelog
breaks version debian/changelog sed -i 's/02 Jan/03 Jan/' debian/changelog
breaks words base/x.h add base/x.h "/* TO""DO: later */"
breaks words base/x.h add base/x.h "/* no""body reads it */"
breaks words docs/README.md add docs/README.md "It is told"" of by the kernel."
breaks words base/x.h add base/x.h '/* Adds it.  Wh''at is there stays. */'
breaks words docs/README.md add docs/README.md 'All is read. O''f files only names.'
breaks words docs/README.md add docs/README.md 'Each callstack is printed.'
breaks words tests/t.sh add tests/t.sh '#!/bin/sh' '# Who''ever reads it.'
breaks words tests/t.c add tests/t.c '/* Wh''at a reader sees. */'
silent words add tests/t.sh 'id no''body'
silent words add base/x.h '/* What if it is a question? */'

# All lints of this tree but one, without what they do: they are counted.
rm -rf "$bad"
cp -r "$good" "$bad"
mkdir -p "$bad/tests"
cp -r tests/lint "$bad/tests"
for lint in "$bad"/tests/lint/*.sh; do
        [ "${lint##*/}" = run_lint.sh ] || echo 'exit 0' >"$lint"
done
rm "$bad/tests/lint/words.sh"
"$bad/tests/lint/run_lint.sh" quick >"$TMPDIR/lint.out" 2>&1
n_planned=$(sed -n 's/^n_planned=//p' tests/lint/run_lint.sh)
grep -q "^failed: $n_planned checks are planned, there are $((n_planned - 1))\$" "$TMPDIR/lint.out"
verdict "run_lint.sh: a lint that vanished" $?
