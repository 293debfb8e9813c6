#!/bin/sh
# SPDX-License-Identifier: MIT
# No marks of unfinished work, no paths of one person's machine, and plain English in what users and readers see.
# Usage: words.sh [root]
set -eu
cd "${1:-.}"

bad=0
complain() { # lines of a grep, what is wrong with them
        [ -n "$1" ] || return 0
        printf '%s\n' "$1" >&2
        echo "$2" >&2
        bad=1
}

marks='TO''DO|FIX''ME|XX''X|HA''CK|W''IP'
complain "$(git ls-files -co --exclude-standard -z | xargs -0 grep -nIE "(^|[^A-Za-z0-9_])($marks)([^A-Za-z0-9_]|\$)" || true)" \
        "marks of unfinished work"
paths='/wo''rk/|/ho''me/[a-z]+/src'
complain "$(git ls-files -co --exclude-standard -z | xargs -0 grep -nIE "(^|[^A-Za-z0-9_.])($paths)" || true)" \
        "paths of one person's machine"

# The code of the product and the documents; of tests only comments, since there are users and zones of these names.
prose() {
        git ls-files -co --exclude-standard -z base format symbolize unwind instrument sampler analyze timeline merge import view export web cli python \
                docs README.md HACKING.md Makefile '*.mk' |
                xargs -0 -r grep -nIE "$@" /dev/null || true
}
tests() {
        git ls-files -co --exclude-standard -z tests examples .ci | xargs -0 -r grep -nIE "$@" /dev/null || true
}

# "The recorder reports it": the agent and the field's word.
forms='no''body|who''ever|whom''ever|some''body|tells? o''f|telling o''f|told o''f|short''ly|at len''gth|lets? go o''f'
comment='(/\*|//|^ +\*|(^|[[:space:]])#) '
complain "$(prose -iw "$forms")$(tests -iw "$comment(.*[^[:alnum:]])?($forms)")" \
        "name the agent, and use the field's word: report, announce, describe, briefly, in full"

# `callstack` is the name of things in the code, the interface and JSON.
complain "$(prose '(^|[ (])[Cc]allstacks?([ ,;:)]|\.( |$)|$)' | grep -E '\.(md|txt):[0-9]+:([^ ]|$)' || true)" "call stack is two words"

# A sentence begins with its subject.  Questions may begin with these words.
starts='What|Who''ever|Whom|Of|By whom|To whom'
sentence="(/\\*\\*?|//|^ +\\*|\\.)( {1,2}| @[a-z_]+: +)($starts) [a-z]"
complain "$(prose "$sentence" | grep -E '\.([ch]|hpp|cpp|js):' | grep -vE '\?|"' || true)" \
        "a sentence begins with its subject"
complain "$(tests "$sentence|^ *# ($starts) [a-z]|^ *# .*\.  ?($starts) [a-z]" | grep -vE '\?' || true)" \
        "a sentence begins with its subject"
complain "$(prose "(^|[.:] +|^[-*#]+ |\\| )($starts) [a-z]" | grep -E '\.(md|txt):' | grep -v '?' || true)" \
        "a sentence begins with its subject"
exit $bad
