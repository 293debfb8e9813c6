// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/common/TracySystem.hpp - names of threads, as tracy::SetThreadName("worker")
 *
 * Way of the data:  program -> [TracySystem.hpp] -> hyprof.h -> libhyprof
 *
 * As Tracy does, these also name the thread for the system (the first 15 bytes;
 * in top, in gdb), with TRACY_ENABLE and without.
 */
#ifndef HYPROF_COMPAT_TRACY_SYSTEM_HPP
#define HYPROF_COMPAT_TRACY_SYSTEM_HPP

#include "TracyApi.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined TRACY_ENABLE && !defined HYPROF_DISABLE
#include "../../program.h"
#endif

namespace tracy
{

/*
 * Where nothing is recorded, the functions get names of their own, so that files with and without
 * TRACY_ENABLE can be linked together.
 */
#if defined TRACY_ENABLE && !defined HYPROF_DISABLE
inline namespace enabled
{
inline void SetThreadName(const char *name)
{
        prctl(PR_SET_NAME, name);
        hyprof_thread_name(name);
}
inline void SetThreadNameWithHint(const char *name, int32_t groupHint)
{
        SetThreadName(name);
        hyprof_thread_group(groupHint);
}
} // namespace enabled
#else
inline namespace disabled
{
inline void SetThreadName(const char *name)
{
        prctl(PR_SET_NAME, name);
}
inline void SetThreadNameWithHint(const char *name, int32_t)
{
        SetThreadName(name);
}
} // namespace disabled
#endif

inline uint32_t GetThreadHandle()
{
        return static_cast<uint32_t>(syscall(SYS_gettid));
}
/*
 * The name that the system knows a thread of this process by, at most 15 bytes; "" if there is none.  It
 * stays until this thread asks again.
 */
inline const char *GetThreadName(uint32_t id)
{
        static thread_local char name[16];
        char path[64];

        snprintf(path, sizeof(path), "/proc/self/task/%lu/comm", static_cast<unsigned long>(id));
        name[0] = '\0';
        FILE *file = fopen(path, "re");
        if (!file)
                return name;
        if (fgets(name, sizeof(name), file))
                name[__builtin_strcspn(name, "\n")] = '\0';
        fclose(file);
        return name;
}
inline const char *GetEnvVar(const char *name)
{
        return getenv(name);
}

} // namespace tracy

#endif // HYPROF_COMPAT_TRACY_SYSTEM_HPP
