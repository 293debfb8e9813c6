#!/bin/sh
# SPDX-License-Identifier: MIT
# hyprof.hpp and the headers in Tracy's place compile alone in every dialect; disabled, they leave no trace.
set -eu
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
include=instrument/client/include
flags="-O2 -fPIC -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wundef -Werror"
bad=0

for header in hyprof/hyprof.hpp tracy/Tracy.hpp tracy/TracyC.h tracy/TracyOpenGL.hpp tracy/TracyVulkan.hpp \
        tracy/TracyOpenCL.hpp tracy/TracyCUDA.hpp tracy/TracyD3D11.hpp tracy/TracyD3D12.hpp tracy/TracyWebGPU.hpp \
        common/TracyColor.hpp common/TracySystem.hpp common/TracyVersion.hpp common/TracyAlign.hpp common/TracyForceInline.hpp \
        common/TracyApi.h client/TracyProfiler.hpp client/TracyScoped.hpp client/TracyLock.hpp client/TracyThread.hpp \
        client/TracyCallstack.hpp client/TracyCallstack.h TracyClient.cpp; do
        echo "#include <$header>"
done >"$work/all.cpp"
while read -r line; do
        name=$(printf '%s' "$line" | sed 's/.*[/]\(.*\)>/\1/')
        printf '%s\n%s\n' "$line" "$line" >"$work/alone_$name.cpp"
done <"$work/all.cpp"
for name in alone_TracyC.c revision.c revision.cpp; do
        printf '#include <tracy/TracyC.h>\n#include <tracy/TracyC.h>\n' >"$work/$name"
done

# Locks and more, by way of the classes (MUTEX is wrapped) and without them.
cat >"$work/use.cpp" <<'END'
#ifndef BARE
#include <hyprof/hyprof.hpp>
#define MUTEX(type) hyprof::lockable<type>
#define SHARED(type) hyprof::shared_lockable<type>
#define NAMED(name) { HYPROF_HERE(name) }
#else
#define MUTEX(type) type
#define SHARED(type) type
#define NAMED(name)
#endif
#include <mutex>
struct shared_type {
        void lock(), unlock(), lock_shared(), unlock_shared();
        bool try_lock(), try_lock_shared();
};
MUTEX(std::mutex) global NAMED("global");
SHARED(shared_type) shared NAMED("shared");
#ifdef MESSAGES /* wherever a call may stand */
#define TEXT(words) HYPROF_MESSAGE(words), TracyMessageL(words)
#include <tracy/Tracy.hpp>
int started = (TEXT("started"), 1);
struct member {
        int x = (TEXT("member"), 1);
};
inline int with_default(int x = (TEXT("default"), 1))
{
        return x;
}
#if __cplusplus >= 201402L
constexpr int checked(int x)
{
        if (x < 0)
                TEXT("negative");
        return x;
}
static_assert(checked(1) == 1, "no message is sent then");
#endif
#endif
int use(int x);
int use(int x)
{
#ifndef BARE
        HYPROF_SCOPE(zone, "use");
        HYPROF_SCOPE_CALLSTACK(deep, "use", 8);
        static struct hyprof_location frames = HYPROF_NAME("frames");
        hyprof::frame frame(&frames);
        hyprof::fiber fiber("fiber");
        const hyprof::flow flow(7, &frames);
        flow.begin();
        flow.step();
        flow.end();
        hyprof::device device("device", 1.0);
        zone.text("text");
        zone.text("text", 4);
        zone.name("name");
        zone.value(x);
        zone.color(0x123456);
        if (deep)
                device.calibrate(1);
        device.span(&frames, 1, 2);
        global.mark(&frames);
        global.name("name");
#endif
        std::lock_guard<MUTEX(std::mutex)> guard(global);
        std::unique_lock<SHARED(shared_type)> unique(shared);
        shared.lock_shared();
        shared.unlock_shared();
        return x + (shared.try_lock() ? 1 : 2) + (shared.try_lock_shared() ? 3 : 4);
}
END
cat >"$work/main.cpp" <<'END'
int use(int x);
struct shared_type {
        void lock(), unlock(), lock_shared(), unlock_shared();
        bool try_lock(), try_lock_shared();
};
void shared_type::lock() {}
void shared_type::unlock() {}
void shared_type::lock_shared() {}
void shared_type::unlock_shared() {}
bool shared_type::try_lock() { return true; }
bool shared_type::try_lock_shared() { return true; }
int main()
{
        return use(-4);
}
END

compile() { # compiler, dialect, file, output, more flags...
        compiler=$1 dialect=$2 file=$3 output=$4
        shift 4
        case $file in *.cpp) set -- "$@" -Wold-style-cast -Wzero-as-null-pointer-constant ;; esac
        case $output in */alone.o) set -- "$@" -fsyntax-only ;; esac # there is no code in it
        # shellcheck disable=SC2086
        "$compiler" -std="$dialect" $flags "$@" -I"$include" -I"$include/hyprof/compat" -c "$file" -o "$output" || {
                echo "$compiler -std=$dialect $* does not compile ${file##*/}" >&2
                bad=1
        }
}

code_of() { # object -> its instructions, without the names of functions, which have those of the classes in them
        objdump -d --no-show-raw-insn "$1" | sed -e 1,3d -e 's/<.*>//' -e '/^Disassembly/d'
}

check_compiler() { # compiler, extension, dialects...
        compiler=$1 extension=$2
        shift 2
        command -v "$compiler" >/dev/null || {
                echo "cxx_headers.sh: $compiler is not installed, left out"
                return 0
        }
        for dialect in "$@"; do
                for file in "$work"/alone_*."$extension"; do
                        compile "$compiler" "$dialect" "$file" "$work/alone.o"
                        compile "$compiler" "$dialect" "$file" "$work/alone.o" -DTRACY_ENABLE -DTRACY_FIBERS
                        compile "$compiler" "$dialect" "$file" "$work/alone.o" -DTRACY_ENABLE -DHYPROF_DISABLE
                done
                compile "$compiler" "$dialect" "$work/revision.$extension" "$work/alone.o" -DTRACY_ENABLE \
                        -DTRACY_COMPAT_API=1103
                [ "$extension" = cpp ] || continue
                compile "$compiler" "$dialect" "$work/use.cpp" "$work/use.o"
                compile "$compiler" "$dialect" "$work/use.cpp" "$work/use.o" -DMESSAGES -DTRACY_ENABLE
                compile "$compiler" "$dialect" "$work/use.cpp" "$work/use.o" -DHYPROF_DISABLE
                compile "$compiler" "$dialect" "$work/use.cpp" "$work/bare.o" -DBARE
                code_of "$work/bare.o" >"$work/bare.s"
                code_of "$work/use.o" | cmp -s - "$work/bare.s" || {
                        echo "$compiler -std=$dialect: HYPROF_DISABLE leaves code behind" >&2
                        bad=1
                }
                # Unoptimised, too, there is nothing to link with.
                if ! "$compiler" -std="$dialect" -O0 -pthread -DHYPROF_DISABLE -I"$include" "$work/use.cpp" \
                        "$work/main.cpp" -o "$work/use" || ! "$work/use"; then
                        echo "$compiler -std=$dialect -O0: HYPROF_DISABLE needs the library" >&2
                        bad=1
                fi
        done
}

check_compiler gcc c c99 c11 c17
check_compiler clang c c99 c11 c17
check_compiler g++ cpp c++11 c++14 c++17 c++20
check_compiler clang++ cpp c++11 c++17 c++20
exit $bad
