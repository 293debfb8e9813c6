# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Shared by the scripts that compare a recorder's own file with a capture of it.

# All that a trace has, without where it lies, and without the clock readings that a capture adds.
contents() { "$HYPROF" dump "$1" | sed -E '/^chunk .* kind=(3|46) /d; /^index kind=46 /d; /^exchange /d; s/ offset=[0-9]+//'; }

same_but_readings() { # the recorder's file, which has contents, and the capture
        contents "$1" >"$TMPDIR/contents" && test -s "$TMPDIR/contents" && contents "$2" | cmp "$TMPDIR/contents" -
}
