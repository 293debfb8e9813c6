#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# w_locks: what hyprof.hpp's locks tell, with a wait only where there was one, and its zones
set -eu
. tests/tap.sh
plan 13
need jq
need_sampling

holds "the program is recorded" record locks "$WORKLOADS/w_locks" 50
read_trace locks
awk -v pattern='^locks main$' -f tests/trace_words.awk "$TMPDIR/locks.dump" "$TMPDIR/locks.dump" >"$TMPDIR/main"
awk -v pattern='^locks helper$' -f tests/trace_words.awk "$TMPDIR/locks.dump" "$TMPDIR/locks.dump" >"$TMPDIR/helper"

# The same without the child: a run of its events can come between two of its parent's, as cycles of the merge fall.
child=$(sed -n 's/^thread id=\([0-9]*\) process=2 .*/\1/p' "$TMPDIR/locks.dump")
grep -v "^[a-z_]* thread=$child " "$TMPDIR/locks.dump" >"$TMPDIR/parent.dump"
awk -v pattern='^locks main$' -f tests/trace_words.awk "$TMPDIR/parent.dump" "$TMPDIR/parent.dump" >"$TMPDIR/own"

counts_of() { # lock: its events on the main thread, in order of the names
        sed -nE "s/^(lock_[a-z]+) $1( shared)?\$/\1\2/p" "$TMPDIR/main" | sort | uniq -c | awk '{ $1 = $1; print }'
}

holds "a lock that is free: obtained and released" same "50 lock_obtain
50 lock_release
1 lock_gone" "$(counts_of free | sort -k 1,1nr -k 2,2)"
holds "one that cannot be tried: waited for each time" same "50 lock_obtain
50 lock_release
50 lock_wait
1 lock_gone" "$(counts_of blind | sort -k 1,1nr -k 2,2)"
holds "one that is shared, and then not" same "50 lock_obtain
50 lock_release
2 lock_obtain shared
2 lock_release shared
1 lock_gone" "$(counts_of shared | sort -k 1,1nr -k 2)"
holds "one that is made and gone each time" same "50 lock_gone
50 lock_obtain
50 lock_release" "$(counts_of local)"
holds "one that is tried in vain: nothing of that" same "1 lock_gone
1 lock_obtain
1 lock_release" "$(counts_of timed)"
holds "one that is never used: nothing" same "" "$(counts_of unused)"
holds "one that is waited for, within a zone" same "zone_begin take 000000
lock_wait queue
lock_obtain queue
lock_mark queue use_helper
lock_name queue the queue
zone_text 0 from w_locks
zone_value 0 50
lock_release queue
zone_end" "$(sed -n '/^zone_begin take/,/^zone_end/p' "$TMPDIR/own")"
holds "and the thread that held it" same "lock_obtain timed
lock_obtain queue
lock_release timed
lock_release queue" "$(cat "$TMPDIR/helper")"
place_of() { # lock: the file that it is defined in
        awk -F '[ =]' -v name="\"$1\"" '
        $1 == "string" && $5 == name { wanted = $3 }
        $1 == "string"               { text[$3] = $5 }
        $1 == "location"             { named[$3] = $5; file[$3] = $9 }
        $1 == "lock" && named[$7] == wanted { print text[file[$7]] }' "$TMPDIR/locks.dump" "$TMPDIR/locks.dump" | uniq
}
holds "a lock says where it is defined" same '"tests/workloads/w_locks.cpp"' "$(place_of queue)"
holds "one with a name alone does not" same "" "$(place_of timed)"
# The child's main thread has the name of its parent's.
zones_of_main() {
        sed -n 's/^\(zone_begin [a-z ]*[a-z]\).*/\1/p' "$TMPDIR/main" | sort
}
holds "pauses that lie in each other end with the outer one, and none is a child's" same "zone_begin after
zone_begin child
zone_begin child after
zone_begin take" "$(zones_of_main)"
holds "nothing is lost" same "" "$(lost locks)"
