#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A refusal is reported in one line, with the command that helps, exit status 125; doctor and record say the same
set -eu
. tests/tap.sh
plan 25

folder=$(mktemp -d /tmp/hyprof-refusals.XXXXXX)
trap 'rm -rf "$folder"' EXIT
cp "$HYPROF" "$WORKLOADS/w_without_perf" "$folder/"
chmod 755 "$folder"
mkdir "$folder/home"
if [ "$(id -u)" -eq 0 ]; then
        need setpriv
        chown nobody "$folder/home"
        as_user() { setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups --inh-caps=-all "$@"; }
else
        as_user() { "$@"; }
fi

# One complaint, one remedy, both with the words; nothing is left behind.
refused() { # status, words of the complaint, words of the remedy, command...
        ends_with "$1" "${@:4}" || return 1
        same 1 "$(grep -c '^hyprof: error: ' "$TMPDIR/err")" && same 1 "$(grep -c '^  try: ' "$TMPDIR/err")" &&
                grep -qE "^hyprof: error: .*$2" "$TMPDIR/err" && grep -qE "^  try: .*$3" "$TMPDIR/err" &&
                same 2 "$(wc -l <"$TMPDIR/err")" && [ ! -e "$folder/home/t.hyp" ] && return 0
        cat "$TMPDIR/err"
        return 1
}
record_it=(record -o "$folder/home/t.hyp")
level=$(cat /proc/sys/kernel/perf_event_paranoid)

# ---- the kernel's settings; levels above 2 are tested in tests/unit/test_perf_access.c where this kernel has none
if [ "$level" -ge 2 ]; then
        holds "perf_event_paranoid $level: kernel code" refused 125 'not permitted.*cpu-clock:k' \
                'sysctl kernel.perf_event_paranoid=1' as_user "$folder/hyprof" "${record_it[@]}" -e cpu-clock:k -- true
else
        skips_group "perf_event_paranoid: kernel code" "hardware: it is $level here, which allows it"
fi
if [ "$level" -gt 2 ] && ! as_user "$folder/hyprof" doctor >/dev/null 2>&1; then
        holds "perf_event_paranoid $level" refused 125 "perf_event_paranoid is $level" \
                'sysctl kernel.perf_event_paranoid=2' as_user "$folder/hyprof" "${record_it[@]}" -- true
        skips_group "what is recorded" "hardware: kernel.perf_event_paranoid is $level"
        exit 0
fi

# ---- a seccomp filter, as a container's
for code in 1 38; do
        name=$([ $code = 1 ] && echo EPERM || echo ENOSYS)
        filtered=("$folder/w_without_perf" "$code" "$folder/hyprof")
        holds "perf_event_open is filtered, $name" refused 125 'a seccomp filter' 'docker run --cap-add=PERFMON' \
                as_user "${filtered[@]}" "${record_it[@]}" -- true
        holds "perf_event_open is filtered, $name: also for who may all" refused 125 'a seccomp filter' \
                'docker run --cap-add=PERFMON' "${filtered[@]}" "${record_it[@]}" -- true
        reason=$(as_user "${filtered[@]}" "${record_it[@]}" -- true 2>&1 | sed -n 's/.*no performance events: //p' || true)
        as_user "${filtered[@]}" doctor >"$TMPDIR/doctor" 2>&1 || status=$?
        holds "$name: doctor fails" same 1 "${status:-0}"
        holds "$name: with the same words" grep -qF "  no   user code" <<<"$(grep -F -- "$reason" "$TMPDIR/doctor")"
done

# ---- processes
holds "no such process" refused 125 'process 4194304' 'ps -e' "$folder/hyprof" "${record_it[@]}" -p 4194304
if [ "$(id -u)" -eq 0 ]; then
        sleep 600 &
        other=$!
        holds "another user's process" refused 125 "not permitted to record process $other \\(sleep\\)" \
                "sudo hyprof record -p $other" as_user "$folder/hyprof" "${record_it[@]}" -p "$other"
        kill "$other"
else
        holds "another user's process" refused 125 'not permitted to record process 1 ' 'sudo hyprof record -p 1' \
                "$folder/hyprof" "${record_it[@]}" -p 1
fi
holds "a thread of the kernel" ends_with 125 \
        "$folder/hyprof" "${record_it[@]}" -p 2

holds "no such thread" refused 125 'no thread 4194304' 'ps -eL' "$folder/hyprof" "${record_it[@]}" -t 4194304
if [ "$(id -u)" -eq 0 ] && grep -q ' cgroup2 ' /proc/mounts; then
        holds "others' processes in a cgroup" ends_with 125 as_user "$folder/hyprof" "${record_it[@]}" -d 5s --cgroup /
        holds "it says that, and what helps" grep -q "error: .*not permitted to record any of .* 'sudo hyprof record" "$TMPDIR/err"
else
        skips_group "others' processes in a cgroup" "not root, or no cgroup2"
fi
holds "--as-root, but not by root" refused 125 'not started as root' 'sudo hyprof record --as-root' \
        as_user "$folder/hyprof" "${record_it[@]}" --as-root -- true

# ---- descriptors: who has CAP_SYS_RESOURCE, as root usually has, may open as many as are needed
if [ "$(id -u)" -eq 0 ] && "$folder/hyprof" doctor >/dev/null 2>&1; then
        few() { (ulimit -n 40 && exec "$@"); }
        sleep 600 &
        other=$!
        many=$(printf ',page-faults%.0s' $(seq 14))
        if (ulimit -n 40 && ulimit -n 80) 2>/dev/null; then
                holds "few descriptors, root" ends_with 0 few "$folder/hyprof" record -q -o "$TMPDIR/few.hyp" --scope=threads \
                        -e "cpu-clock$many" -d 10ms -p $other
        else
                skips "few descriptors, root" "hardware: root has no CAP_SYS_RESOURCE here"
        fi
        kill $other
        # shellcheck disable=SC2016 # for the other shell
        holds "few descriptors, a user" refused 125 'descriptors for each thread.*40 are allowed' 'sudo hyprof record' \
                as_user bash -c 'sleep 600 & ulimit -n 40; status=0; "$@" -p $! || status=$?; kill $!; exit $status' \
                bash "$folder/hyprof" "${record_it[@]}" -d 1h -e "cpu-clock$many"
else
        skips_group "few descriptors" "not root, or perf_event_open is not permitted"
fi

# ---- events
holds "no such event" ends_with 2 "$folder/hyprof" "${record_it[@]}" -e no-such-event -- true
holds "it is named" grep -q "^hyprof: error: .*unknown event 'no-such-event'" "$TMPDIR/err"
holds "and what there is" grep -q 'hyprof list' "$TMPDIR/err"

# ---- commands and files
holds "no such command" ends_with 127 "$folder/hyprof" "${record_it[@]}" -- "$folder/none"
mkdir -m 700 "$folder/closed"
holds "no such command, and a folder that is closed in PATH" ends_with 127 env PATH="$folder/closed:$PATH" \
        "$folder/hyprof" "${record_it[@]}" -- no-such-command
if [ "$(id -u)" -eq 0 ]; then
        holds "the same for a user" ends_with 127 as_user env PATH="$folder/closed:$PATH" "$folder/hyprof" "${record_it[@]}" -- no-such-command
else
        skips "the same for a user" "not root"
fi
holds "a folder that is not there" refused 125 'cannot write the trace: .*No such file' 'record -o FILE' \
        "$folder/hyprof" record -o "$folder/none/t.hyp" -- true
