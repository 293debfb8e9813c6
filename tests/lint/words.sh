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

# The code of the product and the documents: tests have users and zones of these names.
prose() {
        git ls-files -co --exclude-standard -z base format symbolize unwind instrument sampler analyze timeline view export web cli \
                docs README.md HACKING.md Makefile |
                xargs -0 -r grep -nIE "$@" /dev/null || true
}

# "The recorder reports it", not "it is told of by whoever records": the agent and the field's word.
forms='nobody|whoever|whomever|somebody|tells? of|telling of|told of|shortly|at length|lets? go of'
complain "$(prose -iw "$forms")" "name the agent, and use the field's word: report, announce, describe, briefly, in full"

# A sentence begins with its subject.  Questions may begin with What and Who.
starts='What|Whoever|Whom|Of|By whom|To whom'
complain "$(prose "(/\\*|//|^ +\\*|\\.)( {1,2}| @[a-z_]+: +)($starts) [a-z]" | grep -E '\.([ch]|hpp|cpp):' | grep -vE '\?|"' || true)" \
        "a sentence begins with its subject"
complain "$(prose "(^|[.:] +|^[-*#]+ |\\| )($starts) [a-z]" | grep -E '\.(md|txt):' | grep -v '?' || true)" \
        "a sentence begins with its subject"
exit $bad
