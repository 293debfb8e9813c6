#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make install-capabilities: a member of the group records without sudo what the kernel would refuse, and others get nothing
set -eu
. tests/tap.sh
plan 16
need jq setcap getcap setpriv
need_sampling
[ "$(id -u)" -eq 0 ] || skip_all "only root can give capabilities to a file"
[ "$VARIANT" = release ] || skip_all "hardware: the runtimes of the sanitizers do not work in a binary with capabilities"

folder=$(mktemp -d /tmp/hyprof-capabilities.XXXXXX)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir -p "$folder/bin" "$folder/home"
chown nobody "$folder/home"
install -m 755 "$HYPROF" "$folder/bin/hyprof"
cp "$WORKLOADS/w_split" "$WORKLOADS/w_becomes_root" "$folder/"
group=$(id -gn nobody)

# With and without the group; neither is root, nor has its rights any more when env starts what follows.
member() { setpriv --reuid=nobody --regid="$group" --clear-groups env HOME="$folder/home" VAR=value "$@"; }
stranger() { setpriv --reuid=nobody --regid=daemon --clear-groups env "$@"; }

if ! make -s install-capabilities PREFIX="$folder" DESTDIR= GROUP="$group" >"$TMPDIR/make" 2>&1; then
        skip_all "the folder for temporary files takes no capabilities: $(tail -n 1 "$TMPDIR/make")"
fi
holds "the file has them" same "cap_checkpoint_restore,cap_perfmon,cap_sys_ptrace=ep" \
        "$(getcap "$folder/bin/hyprof" | sed 's/.* //' | tr ',' '\n' | sed 's/=ep//' | sort | paste -sd , )=ep"
holds "only its group may execute it" same "750 root $group" "$(stat -c '%a %U %G' "$folder/bin/hyprof")"
holds "a stranger may not" ends_with 126 stranger "$folder/bin/hyprof" doctor
# shellcheck disable=SC2016 # awk's
if member awk '/^NoNewPrivs:/ { exit $2 }' /proc/self/status && member "$folder/bin/hyprof" doctor >"$TMPDIR/doctor" 2>&1; then
        holds "doctor: a member is an ordinary user" grep -qE 'user +ordinary' "$TMPDIR/doctor"
else
        skip_all "the folder for temporary files is mounted nosuid"
fi
holds "doctor: kernel code, whatever perf_event_paranoid is" grep -q '^  yes  kernel code' "$TMPDIR/doctor"
holds "doctor: deleted files" grep -q '^  yes  deleted files' "$TMPDIR/doctor"

record_as_member() { # name, options and command...
        member "$folder/bin/hyprof" record -q -o "$folder/home/$1.hyp" "${@:2}" && cp "$folder/home/$1.hyp" "$TMPDIR/"
}
holds "record" record_as_member own "$folder/w_split" 1
read_trace own
holds "the trace is the member's" same nobody "$(stat -c %U "$folder/home/own.hyp")"
holds "samples in zones" compare "$(n_events own 'kind == "sample" && path == "/seventy"')" ">" 200
holds "kernel callstacks" same "" "$(reported own '.missing.rows[] | select(.code == "NO_KERNEL_STACKS") | .code')"
holds "all rights were given up that could be" same "" "$(reported own '.missing.rows[] | select(.code == "RIGHTS_KEPT") | .code')"
# shellcheck disable=SC2016 # for the recorded shell
holds "the command's environment is the member's" same "$folder/home value" \
        "$(record_as_member env sh -c 'echo "$HOME $VAR"')"
# shellcheck disable=SC2016
holds "it has no capabilities" same "$(printf '0000000000000000%.0s\n' 1 2 3 4)" \
        "$(record_as_member none awk '/^Cap[IPEA]/ { print $2 }' /proc/self/status)"

"$folder/w_split" 60 >/dev/null &
other=$!
holds "another user's process" record_as_member other -d 1s -p "$other"
read_trace other
holds "has samples" compare "$(n_events other 'kind == "sample"')" ">" 10
kill "$other" || true
wait "$other" 2>/dev/null || true
holds "root's files are as far away as before" ends_with 125 member "$folder/bin/hyprof" record -o "$folder/t.hyp" -- true
