#!/bin/sh
# SPDX-License-Identifier: MIT
# The client library shows programs hyprof_* alone, and needs nothing but libc.  It is built here, from its sources.
# That with Tracy's functions shows ___tracy_* alone, and needs the client and less of libc.
set -eu
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# It may call nothing that prints, ends, allocates, locks, waits for others, handles signals or starts threads.
allowed='__errno_location|__register_atfork|__stack_chk_fail|memcpy|memcmp|memset|strlen|strnlen|strcmp|strncmp|strcspn
clock_gettime|close|connect|dl_iterate_phdr|fcntl(64)?|fstat(64)?|ftruncate(64)?|(__)?environ|getauxval|geteuid|getpid|getrlimit(64)?|getsockopt|kill|madvise|memfd_create|mmap(64)?|mprotect|mremap|munmap
nanosleep|open(64)?|pthread_key_create|pthread_setspecific|pwrite(64)?|read|readlink|sched_yield|secure_getenv|sendmsg|socket|strstr|(__isoc23_)?strtoll|syscall|sysconf'

${CC:-cc} -std=c11 -D_GNU_SOURCE -I. -Iinstrument/client/include -O2 -fPIC -fvisibility=hidden -pthread -shared -Wl,-z,defs \
        instrument/client/*.c -o "$work/libhyprof.so"

exports=$(nm -D --defined-only "$work/libhyprof.so" | awk '{ print $3 }')
for symbol in $exports; do
        case $symbol in
        hyprof_*) ;;
        *) bad=1; echo "libhyprof.so exports $symbol" >&2 ;;
        esac
done
# The map of the linker is the list of what was promised.
named=$(sed -n 's/^ *\(hyprof_[a-z_]*\);$/\1/p' instrument/client/libhyprof.map | LC_ALL=C sort)
if [ "$named" != "$(printf '%s\n' "$exports" | LC_ALL=C sort)" ]; then
        bad=1
        echo "instrument/client/libhyprof.map and the sources do not name the same symbols" >&2
fi
[ -n "$exports" ] || { bad=1; echo "libhyprof.so exports nothing" >&2; }
# So does the Debian package, whose build ends without a version that it does not name.
versions=$(sed -n 's/^\(HYPROF_[0-9.]*\) *{.*/\1/p' instrument/client/libhyprof.map)
for version in $versions; do
        grep -q "^ (symver)$version " debian/libhyprof1.symbols ||
                { bad=1; echo "debian/libhyprof1.symbols does not name $version of instrument/client/libhyprof.map" >&2; }
done

pattern=$(printf '%s' "$allowed" | tr '\n' '|')
imports=$(nm -D --undefined-only "$work/libhyprof.so" | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }')
for symbol in $imports; do
        printf '%s\n' "$symbol" | grep -Eqx "$pattern" || { bad=1; echo "libhyprof.so needs $symbol" >&2; }
done

needed=$(readelf -d "$work/libhyprof.so" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p')
for library in $needed; do
        case $library in
        libc.so.* | libpthread.so.* | ld-linux*) ;;
        *) bad=1; echo "libhyprof.so links with $library" >&2 ;;
        esac
done

# Names of locks and texts of printf need these, beside the client.
tracy_allowed='__stack_chk_fail|clock_gettime|free|malloc|memcpy|memset|prctl|snprintf|strlen|vsnprintf|hyprof_.*'
${CC:-cc} -std=c11 -D_GNU_SOURCE -I. -Iinstrument/client/include -O2 -fPIC -fvisibility=hidden -shared \
        instrument/compat/tracy/*.c "$work/libhyprof.so" -o "$work/libhyprof_tracy.so"
for symbol in $(nm -D --defined-only "$work/libhyprof_tracy.so" | awk '{ print $3 }'); do
        case $symbol in
        ___tracy_*) ;;
        *) bad=1; echo "libhyprof_tracy.so exports $symbol" >&2 ;;
        esac
done
for symbol in $(nm -D --undefined-only "$work/libhyprof_tracy.so" | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }'); do
        printf '%s\n' "$symbol" | grep -Eqx "$tracy_allowed" || { bad=1; echo "libhyprof_tracy.so needs $symbol" >&2; }
done
exit $bad
