#!/bin/sh
# SPDX-License-Identifier: MIT
# The pages' JSDoc types hold, no module builds markup from text, and all are joined and needed.  Usage: page_types.sh [root]
set -eu
cd "${1:-.}"
[ -f web/pages/start.js ] || exit 0

bad=0
awk -f web/pages/join_pages.awk web/pages/*.js >/dev/null || bad=1
for file in web/pages/*.js; do
        name=${file##*/}
        if [ "$name" != start.js ] && ! grep -qF "from './$name';" web/pages/*.js; then
                echo "$file: no module imports it" >&2
                bad=1
        fi
done

# Text of a trace is hostile: it becomes text, never markup or code.
markup='innerHTML|outerHTML *[-+]?=|insertAdjacentHTML|document\.write|[^a-zA-Z]eval\(|new Function|setAttribute\(.(on|style)'
if grep -nE "$markup" web/pages/*.js /dev/null; then
        echo "pages build elements with el() of dom.js, and styles with element.style" >&2
        bad=1
fi
for file in web/pages/*.js web/pages/page.css tests/browser/*.js; do
        head -n 2 "$file" | grep -q 'SPDX-License-Identifier: MIT' || { echo "$file: no SPDX-License-Identifier" >&2 && bad=1; }
        [ "$(wc -l <"$file")" -le 800 ] || { echo "$file: more than 800 lines" >&2 && bad=1; }
        if grep -nE '^.{141}' "$file" /dev/null; then
                echo "at most 140 columns" >&2
                bad=1
        fi
done

if command -v tsc >/dev/null; then
        tsc -p web/pages/tsconfig.json >&2 || bad=1
elif [ "${CI:-}" = true ]; then
        echo "tsc is not installed: apt-get install node-typescript" >&2
        bad=1
else
        echo "the pages' types are not checked: tsc is not installed (apt-get install node-typescript)" >&2
fi
exit $bad
