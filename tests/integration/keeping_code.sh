#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Code that may be gone later is in the trace byte for byte, what could not be kept is said, and hostile files cost nothing
set -eu
. tests/tap.sh
plan 52
need_sampling
need cc jq

folder=$TMPDIR/kernels
mkdir "$folder"
cat >"$TMPDIR/kernel.c" <<'END'
void kernel(unsigned long n_rounds)
{
        __asm__ volatile("" : : "r"(__builtin_frame_address(0)));
        while (n_rounds > 0) {
                n_rounds--;
                __asm__ volatile("# kernel" : "+r"(n_rounds));
        }
}
END
build() { # name, option...
        cc -O2 -g -fPIC -shared -fno-omit-frame-pointer "${@:2}" -o "$TMPDIR/$1" "$TMPDIR/kernel.c"
}
build kernel.so -Wl,--build-id
build nameless.so -Wl,--build-id=none
build other.so -Wl,--build-id=none -DOTHER -O1

keep() { # name, HOW, SO, option of record...
        record "$1" "${@:4}" -- "$WORKLOADS/w_code_files" "$2" "$TMPDIR/$3" "$folder/$1.so" "${n:-1}"
}

# The kept code, as files of its own.
extract() { # name
        rm -rf "$TMPDIR/$1.kept"
        "$HYPROF" dump --extract "$TMPDIR/$1.kept" "$TMPDIR/$1.hyp"
}

# The attachment of each module whose path contains the text: "ATTACHMENT STATE" a line.
images() { # name, text of the path
        "$HYPROF" dump "$TMPDIR/$1.hyp" | awk -v text="$2" '
                $1 == "string" && index($0, text) { split($2, id, "="); path["path=" id[2]] = 1 }
                $1 == "module" && $3 in path { split($2, id, "="); module[id[2]] = 1 }
                $1 == "module_image" {
                        split($3, of, "="); split($4, attachment, "="); split($5, state, "=")
                        if (of[2] in module) print attachment[2], state[2]
                }'
}

# The kept code of the only module with this in its path has the bytes of a file.
kept() { # name, text of the path, file
        local found
        found=$(images "$1" "$2")
        [ "${found#* }" = 1 ] || { echo "images: '$found'" && return 1; }
        extract "$1" >/dev/null
        cmp "$TMPDIR/$1.kept/attachment-${found% *}-unnamed" "$3"
}

left_out() { # name, text of the path, state
        same "0 $3" "$(images "$1" "$2")"
}

nothing() { # name, text of the path
        same "" "$(images "$1" "$2")"
}

n_kept() { # name
        "$HYPROF" dump "$TMPDIR/$1.hyp" | grep -c '^attachment .* kind=3 '
}

reason() { # name, code of the loss
        "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" | jq -r "[.missing.rows[] | select(.code == \"$2\") | .count] | add // 0"
}

for so in kernel nameless; do
        holds "$so, deleted after it was loaded" keep deleted deleted $so.so
        holds "$so, deleted: the trace is whole" is_whole deleted
        holds "$so, deleted: the code is there" kept deleted /deleted.so "$TMPDIR/$so.so"
        holds "$so, from a memfd" keep memfd memfd $so.so
        holds "$so, from a memfd: the code is there" kept memfd /memfd:kernel "$TMPDIR/$so.so"
done

keep stays stays nameless.so
rm "$folder/stays.so"
holds "in a temporary folder, deleted later" kept stays /stays.so "$TMPDIR/nameless.so"
holds "the vdso is kept" compare "$(images stays '[vdso]' | grep -c ' 1$')" "==" 1

cp "$TMPDIR/other.so" "$folder/replaced.so.new"
keep replaced replaced nameless.so
holds "replaced by rename: both are there" same "1 1" "$(images replaced /replaced.so | awk '{ print $2 }' | xargs)"
extract replaced >"$TMPDIR/list"
for so in nameless other; do
        holds "replaced by rename: $so, byte for byte" \
                sh -c "for one in '$TMPDIR'/replaced.kept/*; do cmp -s \"\$one\" '$TMPDIR/$so.so' && exit 0; done; exit 1"
done

n=20 keep unloaded unloaded nameless.so
holds "loaded, run for 20 ms, unloaded, deleted: each is there" compare \
        "$(images unloaded /unloaded.so | grep -c ' 1$') + $(reason unloaded CODE_TOO_LATE)" "==" 20
holds "at least most of them" compare "$(images unloaded /unloaded.so | grep -c ' 1$')" ">" 10

# The same bytes are there once.
keep same deleted kernel.so
record twice -- sh -c "'$WORKLOADS/w_code_files' deleted '$TMPDIR/nameless.so' '$folder/a.so'
        '$WORKLOADS/w_code_files' deleted '$TMPDIR/nameless.so' '$folder/b.so'"
holds "the same code in two files is one attachment" same 1 \
        "$( (images twice /a.so && images twice /b.so) | sort -u | wc -l)"

keep limit deleted kernel.so --embed-max 12K
holds "over the limit: not there" left_out limit /limit.so 3
holds "over the limit: the report says so" compare "$(reason limit CODE_OVER_LIMIT)" ">=" 1
holds "over the limit: the report names the module" same "$folder/limit.so" \
        "$("$HYPROF" report --json --limit 0 "$TMPDIR/limit.hyp" | jq -r '.missing.rows[] | select(.code == "CODE_NOT_KEPT") | .detail' | grep /limit.so)"
# The recorder is limited, the program is not.
head -c 1000000 /dev/urandom | cat "$TMPDIR/kernel.so" - >"$TMPDIR/long.so"
# shellcheck disable=SC2016 # the inner shell's
(ulimit -S -f 500 && record short -- bash -c 'ulimit -S -f "$(ulimit -H -f)" && exec "$@"' - "$WORKLOADS/w_code_files" deleted "$TMPDIR/long.so" "$folder/short.so")
holds "ulimit -f: not there" left_out short /short.so 5
holds "ulimit -f: the report says that it was this limit" same "1 0" "$(reason short CODE_FILE_LIMIT) $(reason short CODE_OVER_LIMIT)"
holds "ulimit -f: the report names the module" grep -q "short.so.* is missing in the trace: it is longer than ulimit -f allowed the recorder" <("$HYPROF" report "$TMPDIR/short.hyp" | tr -s ' \n' ' ')
keep nomax deleted kernel.so --embed-max 0
holds "--embed-max 0: nothing is there" same 0 "$(n_kept nomax || true)"
keep none deleted kernel.so --embed none
holds "--embed=none: nothing is there" same 0 "$(n_kept none || true)"
holds "--embed=none: nothing is missing" same 0 "$(reason none CODE_TOO_LATE)"

# All: also what lies where programs are installed.
installed=$(readlink -f "$(command -v sh)")
# shellcheck disable=SC2016  # the shell that is recorded counts
counting='i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'
record all --embed=all -- sh -c "$counting"
holds "--embed=all: a file with samples is there" kept all "\"$installed\"" "$installed"
record auto -- sh -c "$counting"
holds "--embed=auto: what is installed is not" nothing auto "\"$installed\""

# A process whose file is gone already.
: >"$TMPDIR/said" # before anybody reads it
"$WORKLOADS/w_code_files" waits "$TMPDIR/nameless.so" "$folder/attached.so" >"$TMPDIR/said" &
waiter=$!
tail -f -n +1 --pid=$waiter "$TMPDIR/said" | grep -q -m 1 loaded
status=0
record attached -d 300ms -p $waiter || status=$?
kill $waiter
holds "attached to a program whose file is deleted" same 0 "$status"
holds "attached: the code is there" kept attached /attached.so "$TMPDIR/nameless.so"

"$HYPROF" record -q -o - -- "$WORKLOADS/w_code_files" deleted "$TMPDIR/nameless.so" "$folder/piped.so" | cat >"$TMPDIR/piped.hyp"
holds "through a pipe: the trace is whole" is_whole piped
holds "through a pipe: the code is there" kept piped /piped.so "$TMPDIR/nameless.so"

if unshare -m true 2>/dev/null; then
        mkdir "$TMPDIR/mount"
        # Not below /tmp, as the process sees it: only the namespace says that it is not ours.
        status=0
        record elsewhere -- unshare -m sh -c "mount -t tmpfs none /mnt && cp '$TMPDIR/nameless.so' /mnt/k.so &&
                touch -d 2001-01-01 /mnt/k.so &&
                exec '$WORKLOADS/w_code_files' stays '$TMPDIR/nameless.so' /mnt/elsewhere.so" || status=$?
        holds "in another mount namespace" same 0 "$status"
        holds "in another mount namespace: the code is there" kept elsewhere /mnt/elsewhere.so "$TMPDIR/nameless.so"
else
        skips_group "in another mount namespace" "no right to make one"
fi

# ---- one file, which is written over for each kernel, without a build-id
cc -O2 -g -shared -fPIC -fno-omit-frame-pointer -Wl,--build-id=none -o "$TMPDIR/template.so" tests/workloads/kernel_template.c
holds "one file: is recorded" record over -F 2000 "$WORKLOADS/w_kernel_turns" "$TMPDIR/template.so" 300 2 0
read_trace over
own='kind == "sample" && path ~ /^.kernel_[0-9]+$/ && module ~ /.kernel[.]so$/ && self ~ /^kernel_[0-9]+$/'
holds "one file: no sample has another kernel's name" same 0 "$(n_events over "$own && self != substr(path, 2)")"
holds "one file: some have their own" compare "$(n_events over "$own")" ">" 0
figure "one file: $(n_events over "$own") samples with their names, $(
        n_events over 'kind == "sample" && module ~ /.kernel[.]so$/ && self == "?"') without"

# ---- hostile files

holds "4 GiB, sparse" keep sparse sparse kernel.so
holds "4 GiB, sparse: left out" left_out sparse /sparse.so 3
mkfifo "$folder/device.so"
holds "devices, and a FIFO where a file was" keep device device kernel.so
holds "devices, and a FIFO where a file was: the trace is whole" is_whole device
n=2000 keep truncated truncated kernel.so
holds "made shorter and longer while it is read" is_whole truncated
holds "made shorter and longer: kept as it is in the end, or not at all" sh -c "
        images=\$(echo '$(images truncated /truncated.so)')
        case \"\${images#* }\" in 1 | 2 | 4) ;; *) false ;; esac"
n=100000 keep mappings mappings nameless.so
holds "100,000 mappings" is_whole mappings
holds "100,000 mappings: the code is there once" same 1 "$(images mappings /nameless.so | wc -l)"

# ---- an ordinary user: what is deleted cannot be opened, what still has its name can

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
        users=$(mktemp -d /tmp/hyprof-user.XXXXXX)
        trap 'rm -rf "$users"' EXIT
        cp "$HYPROF" "$WORKLOADS/w_code_files" "$TMPDIR/nameless.so" "$users"
        chown -R 65534:65534 "$users"
        as_user() {
                setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all env HOME="$users" TMPDIR="$users" "$@"
        }
        for how in stays deleted; do
                as_user "$users/hyprof" record -q -o "$users/$how.hyp" -- "$users/w_code_files" $how "$users/nameless.so" "$users/$how.so"
                cp "$users/$how.hyp" "$TMPDIR/user_$how.hyp"
        done
        holds "an ordinary user: what has a name is there" kept user_stays /stays.so "$TMPDIR/nameless.so"
        holds "an ordinary user: what is deleted is there, or the report says why" compare \
                "$(images user_deleted /deleted.so | grep -c ' 1$') + $(reason user_deleted CODE_UNREADABLE) + $(reason user_deleted CODE_TOO_LATE)" ">=" 1
else
        skips_group "an ordinary user" "not root, or no events for others"
fi

# ---- another root: the paths of what runs there are not ours

if [ "$(id -u)" -eq 0 ] && command -v chroot >/dev/null; then
        jail=$TMPDIR/jail
        mkdir -p "$jail/bin"
        cat >"$TMPDIR/jailed.c" <<'END'
#include <time.h>
int main(void)
{
        while (clock() < CLOCKS_PER_SEC / 5)
                ;
        return 0;
}
END
        cc -O1 -static -o "$jail/bin/jailed" "$TMPDIR/jailed.c"
        holds "chroot: is recorded" record jailed -- chroot "$jail" /bin/jailed
        holds "chroot: the program is kept, which only that root has at its path" kept jailed '"/bin/jailed"' "$jail/bin/jailed"
        read_trace jailed
        holds "chroot: its samples have names" compare "$(n_events jailed 'kind == "sample" && module == "/bin/jailed" && self == "?"')" \
                "<" "$(n_events jailed 'kind == "sample" && module == "/bin/jailed"') / 5"
        # The symbolizer there is confined, too.
        {
                echo "$HYPROF"
                ldd "$HYPROF" | grep -o '/[^ ]*'
        } | xargs -d '\n' cp --parents -t "$jail"
        cp "$TMPDIR/jailed.hyp" "$jail/"
        chroot "$jail" "/$HYPROF" modules --json --limit 0 /jailed.hyp >"$TMPDIR/jailed.json" 2>"$TMPDIR/jailed.err" || true
        holds "chroot: without a /dev/null modules are listed" same "true " \
                "$(jq '[.modules.rows[] | select(.path == "/bin/jailed")] | length == 1' "$TMPDIR/jailed.json") $(cat "$TMPDIR/jailed.err")"
else
        skips_group "chroot" "not root, or no chroot"
fi
