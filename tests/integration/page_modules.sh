#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The pages' modules are joined into one script; rings of imports, and imports and exports that are missing, are errors
set -eu
. tests/tap.sh
plan 11

# A fresh copy of the pages is changed by the words; the next cases look at it.
changed() { # command...
        rm -rf "$TMPDIR/tree"
        mkdir -p "$TMPDIR/tree/web" "$TMPDIR/tree/tests"
        cp -r web/pages "$TMPDIR/tree/web/"
        cp -r tests/browser "$TMPDIR/tree/tests/"
        (cd "$TMPDIR/tree/web/pages" && "$@")
}

join() {
        awk -f "$TMPDIR/tree/web/pages/join_pages.awk" "$TMPDIR"/tree/web/pages/*.js >"$TMPDIR/page.js"
}

# Joining fails, and the message has these words.
join_fails() { # words
        ! join 2>"$TMPDIR/words" && { grep -F -- "$1" "$TMPDIR/words" || { cat "$TMPDIR/words" && return 1; }; }
}

lint() {
        sh tests/lint/page_types.sh "$TMPDIR/tree" >"$TMPDIR/words" 2>&1
}

changed true
holds 'the pages can be joined' join
holds 'the lint says nothing of them' lint

# An arrow of imports from format.js to screens.js, which needs format.js by way of others.
changed sed -i '3i import { SCREENS } from "./screens.js";' format.js
holds 'an import in other words is an error' join_fails 'format.js:3: only import { names }'
changed sed -i "3i import { SCREENS } from './screens.js';" format.js
holds 'a ring of imports is an error that names it' join_fails 'a ring of imports: '
holds 'from the module to itself' grep -qE ': ([a-z_]+\.js) -> .*\1$' "$TMPDIR/words"
changed sed -i 's/^export function formatTime/function formatTime/' format.js
holds 'a name that is not exported is an error' join_fails 'imports formatTime, which format.js does not export'
changed rm dom.js
holds 'a module that is not there is one' join_fails 'imports from dom.js, which is not there'
changed sed -i '1a export default 1;' format.js
holds 'an export that cannot be joined is one' join_fails 'only a function, a class or a const can be exported'

# Three faults in one tree, since the check of types takes seconds.
faults() {
        sed -i 's/^import { el, /import { /' start.js
        sed -i "3i import { SCREENS } from './screens.js';" format.js
        printf '// SPDX-License-Identifier: MIT\nexport const LEFT = 1;\n' >left.js
}
changed faults
lint && echo 'the lint passes' >"$TMPDIR/words"
holds 'a ring is an error of the lint' grep -F 'a ring of imports: ' "$TMPDIR/words"
holds 'so is a module that no other imports' grep -F 'left.js: no module imports it' "$TMPDIR/words"
if command -v tsc >/dev/null; then
        holds 'and a name that a module uses and does not import' grep -E "start\.js\(.*Cannot find name 'el'" "$TMPDIR/words"
else
        skips 'and a name that a module uses and does not import' 'tsc is not installed'
fi
