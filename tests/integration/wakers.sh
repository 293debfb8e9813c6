#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Who ended a wait: also threads that were ending, and interrupts, which say who was below; and who got a preempted CPU
set -eu
. tests/tap.sh
plan 24
need jq
need_sampling

rounds=50

# The waits of the program's first thread in a function, once it has begun: a line each of the waker's name and tid, the
# tid below the interrupt, and the stack of the wake-up.
waits_in() { # name, function
        awk -F '\t' -v place=";$2;" "$columns"'
                pid != tid { next }
                kind == "switch_out" { is_there = !$7 && index(stack ";", place); is_woken = 0 }
                kind == "wakeup" && is_there && !is_woken { is_woken = 1; print $6 "\t" $7 "\t" $10 "\t" stack }' \
                "$TMPDIR/$1.events"
}

# For `holds`: at least nine of ten waits there are of this kind.
are() { # name, function, condition of awk on waker, waker_tid, below and stack
        local n n_right
        n=$(waits_in "$1" "$2" | wc -l)
        n_right=$(waits_in "$1" "$2" | awk -F '\t' "{ waker = \$1; waker_tid = \$2; below = \$3; stack = \$4 } $3 { n++ } END { print n + 0 }")
        figure "$1: $n_right of $n waits in $2()" >&3
        compare "$n" ">=" "$rounds / 5" && compare "$n_right" ">=" "0.9 * $n"
}

tid_of() { # name, name of a thread
        awk -F '\t' -v name="$2" '$5 == name { print $4; exit }' "$TMPDIR/$1.events"
}

exec 3>&1
start() { # mode, rounds if others
        record "$1" --off-cpu "$WORKLOADS/w_wakers" "$1" "${2:-$rounds}" && read_trace "$1"
}

holds "record" start sleep
reason=$(reported sleep '.missing.rows[] | select(.code == "WAITING_BY_PERF") | .detail')
if [ -n "$reason" ]; then
        skips_group "waits by BPF" "$reason"
        exit
fi

# ---- interrupts ----
no_waker='waker == "" && waker_tid == ""'
by_timer="$no_waker && stack ~ /;__hrtimer_run_queues;/"
is_sent='stack ~ /;[a-z_]*sendmsg[a-z_]*;.*;process_backlog;/'
entered='stack ~ /;(asm_|common_interrupt|el[01][^;]*_irq|do_irq|handle_riscv_irq|handle_arch_irq)/'
holds "a timer has no waker" are sleep nap "$no_waker"
holds "but its stack" are sleep nap "$by_timer"
holds "which has the entry of an interrupt" are sleep nap "$entered"
# The kinds of the wakers of waits in a function, with the greatest first, and their names.
ends_of() { # name, function
        "$HYPROF" report --off-cpu --json --limit 0 "$TMPDIR/$1.hyp" | jq -r --arg place "$2" '[.places.rows[] |
                select((.callstack // []) | any(. == $place)) | .id] as $ids |
                [.wakers.rows[] | select(.place_id as $id | $ids | any(. == $id))] | group_by([.kind, .thread_name]) |
                map({ what: "\(.[0].kind) \(.[0].thread_name)", ns: map(.total_ns) | add }) | sort_by(-.ns)[0].what'
}
holds "the report calls it a timer" same "timer [timer]" "$(ends_of sleep nap)"
holds "and no functions of a program" same 0 "$(waits_in sleep nap | cut -f 4 | grep -c ';main;' || true)"

holds "record loopback" start loopback
server=$(tid_of loopback server)
holds "a packet of this machine has no waker" are loopback ask "$no_waker"
holds "but who sent it is below" are loopback ask "below == $server"
holds "in the middle of the call, without an interrupt" are loopback ask "$is_sent && !($entered)"

holds "the report names the sender" same "sender server" "$(ends_of loopback ask)"

# ---- timers of a thread that runs ----
holds "record early" start early
own=$(awk -F '\t' '$1 == "wakeup" && $3 == $4 && ($7 == $4 || $10 == $4)' "$TMPDIR/early.events" | wc -l)
figure "early: $own of $rounds timers came before their wait began" >&3
holds "own timers are recorded" compare "$own" ">=" "0.5 * $rounds"

# ---- threads that end ----
holds "record child" start child
holds "a child that ends is the waker" are child reap 'waker == "child" && waker_tid != ""'
holds "the report names the child" same "thread child" "$(ends_of child reap)"
holds "record join" start join
holds "a thread that ends is the waker" are join await_end 'waker == "worker" && waker_tid != ""'
holds "the report names the thread" same "thread worker" "$(ends_of join await_end)"

# The first thread of the trace is the program's, and has made all others.
created() { # name
        awk '/^thread id=/ && $2 != "id=1" { n++; right += $NF == "creator=1" } END { print n + 0, right + 0 }' "$TMPDIR/$1.dump"
}
holds "processes know who forked them" same "$rounds $rounds" "$(created child)"
holds "threads know who created them" same "$rounds $rounds" "$(created join)"

# ---- who gets a CPU ----
holds "record share" start share 2000 # on a busy machine others get most turns
other=$(tid_of share other)
first=$(awk -F '\t' '$3 == $4 { print $4; exit }' "$TMPDIR/share.events")
preempted() { # tid, tid of the successor or a word
        awk -F '\t' -v tid="$1" -v by="$2" '$1 == "switch_out" && $7 == 1 && $4 == tid && (by == "" || $10 == by)' "$TMPDIR/share.events" | wc -l
}
figure "share: $(preempted "$first" "$other") of $(preempted "$first" "") preemptions of the first thread by the other, $(preempted "$other" "$first") of $(preempted "$other" "") the other way"
holds "own threads get the CPU" compare "$(preempted "$first" "$other") + $(preempted "$other" "$first")" ">=" 2
holds "who got it is always known" same 0 "$(($(preempted "$first" unknown) + $(preempted "$other" unknown)))"
