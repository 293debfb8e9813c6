#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `hyprof why` names each planted cause in its first line, in short zones as well; where none was planted it names none
set -eu
. tests/tap.sh
plan 10
need jq
need_sampling

# HYPROF_RUNS: of each planted cause; and runs without one.
planted_runs=${HYPROF_RUNS:-2}
quiet_runs=${HYPROF_RUNS:-8}
# With a sanitizer hyprof itself is much of the noise, and slow.
[ "$VARIANT" = release ] || quiet_runs=3
n_instances=1000
# Longer than what other programs usually take from an instance, in ms: on a busy machine these would be the slow ones.
extra_ms=30

# Moves take longer than they are told to: each waits for its turn on a busy CPU.
extra_of() { # workload's cause
        if [ "$1" = move ]; then echo $((extra_ms / 2)); else echo "$extra_ms"; fi
}

# The answer: cause, confidence and the sentence, in $TMPDIR/answer.
ask() { # workload's cause, options of why
        record why -F 2000 --off-cpu "$WORKLOADS/w_why" "$1" "$n_instances" "$(extra_of "$1")" || return 1
        "$HYPROF" why --json --limit 0 --zone request "${@:2}" "$TMPDIR/why.hyp" >"$TMPDIR/why.json" || return 1
        jq -r '"\(.cause) \(.confidence)\n\(.answer)"' "$TMPDIR/why.json" >"$TMPDIR/answer"
}

# Which of touching fresh memory is more of it, page faults in the kernel or the function itself, is the machine's affair:
# with nested page tables of its host the function waits for those as well.
faults="page-faults\|function"
faults_words="take page faults in touch_pages()\|run touch_pages() .* and take page faults there"

# For `holds`: the runs have this cause, in these words, with high confidence, without one exception on a machine that does
# nothing else.  Where other programs took more than a tenth of the CPUs meanwhile they may be why the instance was slow:
# such a run counts for nothing if it is wrong, but as many as this are too many.
names() { # workload's cause, cause, words
        local right=0 others n_disturbed=0
        while [ "$right" -lt "$planted_runs" ]; do
                rm -f "$TMPDIR/why.hyp"
                watch_others
                ask "$1" || return 1
                others=$(others_share)
                sed -n 2p "$TMPDIR/answer" >>"$TMPDIR/sentences"
                if grep -qx "\($2\) high" "$TMPDIR/answer" && grep -q "$3" "$TMPDIR/answer"; then
                        right=$((right + 1))
                        continue
                fi
                echo "run $((right + n_disturbed + 1)): other programs took $others% of the CPUs"
                "$HYPROF" why --zone request "$TMPDIR/why.hyp"
                n_disturbed=$((n_disturbed + 1))
                [ "$others" -gt 10 ] && [ "$n_disturbed" -le "$planted_runs" ] || return 1
        done
}

# For `holds`: the first line of the text is the answer, whatever the width.
first_line_is_answer() {
        "$HYPROF" why --zone request "$TMPDIR/why.hyp" --format md | head -n 1 | grep -q 'of the extra time)'
}

# For `holds`: of the runs of a program of many functions, locks and page faults, of which random instances do ten times as
# much, none names a cause with high or medium confidence.
names_none() {
        local run found=0
        for ((run = 1; run <= quiet_runs; run++)); do
                record null -F 4999 --off-cpu "$WORKLOADS/w_why_cell" null 100000 1 "$run" || return 1
                "$HYPROF" why --json --limit 0 --zone request "$TMPDIR/null.hyp" >"$TMPDIR/null.json" || return 1
                jq -r .answer "$TMPDIR/null.json" >>"$TMPDIR/quiet_sentences"
                jq -e 'any(.causes.rows[]; .confidence == "high" or .confidence == "medium")' \
                        "$TMPDIR/null.json" >/dev/null || continue
                found=$((found + 1))
                "$HYPROF" why --zone request "$TMPDIR/null.hyp"
        done
        same 0 "$found"
}

# For `holds`: zones of a microsecond, in which a sample takes many times as long; tried again only where other programs
# disturbed it, as above.
names_short() { # workload's cause, cause, words
        local try
        for try in 1 2 3; do
                watch_others
                record short -F 4999 --off-cpu "$WORKLOADS/w_why_cell" "$1" 1000 1.5 "$try" || return 1
                "$HYPROF" why --json --limit 0 --zone request "$TMPDIR/short.hyp" >"$TMPDIR/short.json" || return 1
                jq -r .answer "$TMPDIR/short.json" | tee -a "$TMPDIR/sentences"
                if jq -e '.slow_samples < 20 or .typical_samples < 20' "$TMPDIR/short.json" >/dev/null; then
                        jq -e '.cause == "none" and (.answer | test("not enough"))' "$TMPDIR/short.json" && return
                fi
                jq -r .cause "$TMPDIR/short.json" | grep -qx "$2" && jq -r .answer "$TMPDIR/short.json" | grep -q "$3" &&
                        jq -e '([.causes.rows[].share] | max) <= 1' "$TMPDIR/short.json" && return
                compare "$(others_share)" ">" 10 || return 1
        done
        return 1
}

holds 'a slow path' names path function 'Slow instances run \(slow_work() from \)\?slow_path()'
holds 'the first line is the answer' first_line_is_answer
holds 'a lock, and who holds it' names lock lock "wait for the lock 'queue' ([0-9]*% of the extra time), held by thread t[0-9]* 'loader' in flush()"
holds 'a lock that is not reported to hyprof, and what the thread that ends the wait did' \
        names mutex wait "wait in take_queue().* for thread t[0-9]* 'loader', which ran flush()"
holds 'page faults' names faults "$faults" "$faults_words"
if [ "$(nproc)" -lt 2 ]; then
        skips 'moves to another CPU' 'hardware: one CPU'
else
        holds 'moves to another CPU' names move migration 'Slow instances move to another CPU'
fi
holds 'a slow path of zones of a microsecond' names_short path function 'run \(slow_work() from \)\?slow_path()'
holds 'page faults of zones of a microsecond' names_short faults "$faults" "$faults_words"
holds "no cause is named in $quiet_runs runs without one" names_none

# Samples that are too few are no finding.
too_few() {
        rm -f "$TMPDIR/why.hyp"
        record why -F 10 --off-cpu "$WORKLOADS/w_why" path "$n_instances" || return 1
        "$HYPROF" why --json --limit 0 --zone request "$TMPDIR/why.hyp" >"$TMPDIR/why.json" || return 1
        jq -e '(.cause == "none") and any(.warnings[]; test("not enough samples.*-F"))' "$TMPDIR/why.json"
}
holds 'too few samples are said to be too few' too_few

while read -r sentence; do figure "$sentence"; done <"$TMPDIR/sentences"
sort "$TMPDIR/quiet_sentences" | sed 's/[0-9]*%/N%/' | uniq -c | while read -r sentence; do figure "$sentence"; done
