# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Shared by the scripts that record w_flight, which does what it is told.  They make the pipes to and from it, and end
# what is in programs=().

# In the background, with w_flight as its command: $recorder.  Descriptor 4 speaks to w_flight, 5 hears it.
fly() { # name of the trace, options...
        "$HYPROF" record "${@:2}" -o "$TMPDIR/$1.hyp" -- "$WORKLOADS/w_flight" <"$TMPDIR/to" >"$TMPDIR/from" 2>"$TMPDIR/$1.err" &
        recorder=$!
        programs+=("$recorder")
        exec 4>"$TMPDIR/to" 5<"$TMPDIR/from"
}

tell() { # command: it has been obeyed
        local line=
        echo "$*" >&4
        read -r -t 60 line <&5 && same ok "$line"
}

land() { # w_flight ends, and so does the recording, with its status
        local status=0
        exec 4>&- 5<&-
        wait "$recorder" || status=$?
        same 0 "$status"
}
