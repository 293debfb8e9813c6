// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/hyprof_tracy_profiler.hpp - tracy::Profiler: what programs call of it beside the macros
 *
 * Way of the data:  program -> hyprof_tracy.hpp -> [hyprof_tracy_profiler.hpp] -> hyprof_tracy.h -> libhyprof
 *
 * Included by hyprof_tracy.hpp.  Its queues, its items and its threads are not there.  Functions whose
 * arguments changed after Tracy 0.13 have both forms; an argument `secure` has no effect.
 */
#ifndef HYPROF_COMPAT_HYPROF_TRACY_PROFILER_HPP
#define HYPROF_COMPAT_HYPROF_TRACY_PROFILER_HPP

namespace tracy
{

namespace detail
{

/* A name that need not be a literal; NULL = the main frames, the main pool. */
inline struct hyprof_tracy_name_ any_name(const char *text)
{
        return { nullptr, text };
}

inline size_t bytes_of(const char *text)
{
        return text ? __builtin_strlen(text) : 0;
}

} // namespace detail

/* Frames, plots, messages and places. */
class ProfilerMoments
{
      public:
        static void SendFrameMark(const char *name)
        {
                hyprof_tracy_frame_mark_(detail::any_name(name));
        }
        static void PlotData(const char *name, int64_t value)
        {
                hyprof_tracy_plot_int_(detail::any_name(name), value);
        }
        static void PlotData(const char *name, float value)
        {
                hyprof_tracy_plot_double_(detail::any_name(name), static_cast<double>(value));
        }
        static void PlotData(const char *name, double value)
        {
                hyprof_tracy_plot_double_(detail::any_name(name), value);
        }
        static void ConfigurePlot(const char *name, PlotFormatType type, bool step, bool fill, uint32_t color)
        {
                detail::plot_config(detail::any_name(name), type, step, fill, color);
        }
        static void LogString(MessageSourceType, MessageSeverity severity, uint32_t color, int32_t depth,
                              size_t size, const char *text)
        {
                detail::log(severity, color, depth, size, text);
        }
        static void LogString(MessageSourceType, MessageSeverity severity, uint32_t color, int32_t depth,
                              const char *text)
        {
                detail::log(severity, color, depth, text);
        }
        static void Message(const char *text, size_t size, int32_t depth)
        {
                detail::log(MessageSeverity::Info, 0, depth, size, text);
        }
        static void Message(const char *text, int32_t depth)
        {
                detail::log(MessageSeverity::Info, 0, depth, text);
        }
        static void MessageColor(const char *text, size_t size, uint32_t color, int32_t depth)
        {
                detail::log(MessageSeverity::Info, color, depth, size, text);
        }
        static void MessageColor(const char *text, uint32_t color, int32_t depth)
        {
                detail::log(MessageSeverity::Info, color, depth, text);
        }
        static void MessageAppInfo(const char *text, size_t size)
        {
                hyprof_program_info(text, size);
        }
        static uint64_t AllocSourceLocation(uint32_t line, const char *source, const char *function,
                                            uint32_t color = 0)
        {
                return AllocSourceLocation(line, source, detail::bytes_of(source), function,
                                           detail::bytes_of(function), nullptr, 0, color);
        }
        static uint64_t AllocSourceLocation(uint32_t line, const char *source, const char *function,
                                            const char *name, size_t name_bytes, uint32_t color = 0)
        {
                return AllocSourceLocation(line, source, detail::bytes_of(source), function,
                                           detail::bytes_of(function), name, name_bytes, color);
        }
        static uint64_t AllocSourceLocation(uint32_t line, const char *source, size_t source_bytes,
                                            const char *function, size_t function_bytes, uint32_t color = 0)
        {
                return AllocSourceLocation(line, source, source_bytes, function, function_bytes, nullptr, 0,
                                           color);
        }
        static uint64_t AllocSourceLocation(uint32_t line, const char *source, size_t source_bytes,
                                            const char *function, size_t function_bytes, const char *name,
                                            size_t name_bytes, uint32_t color = 0)
        {
                return reinterpret_cast<uintptr_t>(hyprof_location_of(name_bytes > 0 ? name : nullptr,
                                                                      name_bytes, function, function_bytes,
                                                                      source, source_bytes, line, color));
        }
};

/* Memory. */
class ProfilerMemory
{
      public:
        static void MemAlloc(const void *address, size_t size, bool = false)
        {
                hyprof_tracy_alloc_(detail::any_name(nullptr), address, size, 0);
        }
        static void MemFree(const void *address, bool = false)
        {
                hyprof_tracy_free_(detail::any_name(nullptr), address, 0);
        }
        static void MemAllocCallstack(const void *address, size_t size, int32_t depth, bool = false)
        {
                hyprof_tracy_alloc_(detail::any_name(nullptr), address, size, depth);
        }
        static void MemFreeCallstack(const void *address, int32_t depth, bool = false)
        {
                hyprof_tracy_free_(detail::any_name(nullptr), address, depth);
        }
        static void MemAllocNamed(const void *address, size_t size, const char *name)
        {
                hyprof_tracy_alloc_(detail::any_name(name), address, size, 0);
        }
        static void MemAllocNamed(const void *address, size_t size, bool, const char *name)
        {
                MemAllocNamed(address, size, name);
        }
        static void MemFreeNamed(const void *address, const char *name)
        {
                hyprof_tracy_free_(detail::any_name(name), address, 0);
        }
        static void MemFreeNamed(const void *address, bool, const char *name)
        {
                MemFreeNamed(address, name);
        }
        static void MemAllocCallstackNamed(const void *address, size_t size, int32_t depth, const char *name)
        {
                hyprof_tracy_alloc_(detail::any_name(name), address, size, depth);
        }
        static void MemAllocCallstackNamed(const void *address, size_t size, int32_t depth, bool,
                                           const char *name)
        {
                MemAllocCallstackNamed(address, size, depth, name);
        }
        static void MemFreeCallstackNamed(const void *address, int32_t depth, const char *name)
        {
                hyprof_tracy_free_(detail::any_name(name), address, depth);
        }
        static void MemFreeCallstackNamed(const void *address, int32_t depth, bool, const char *name)
        {
                MemFreeCallstackNamed(address, depth, name);
        }
        static void MemDiscard(const char *name, bool = false)
        {
                hyprof_tracy_discard_(detail::any_name(name));
        }
        static void MemDiscardCallstack(const char *name, int32_t)
        {
                MemDiscard(name);
        }
        static void MemDiscardCallstack(const char *name, bool, int32_t)
        {
                MemDiscard(name);
        }
};

/* The program and its recorder. */
class Profiler : public ProfilerMoments, public ProfilerMemory
{
      public:
        /* Is a recorder active? */
        bool IsConnected() const
        {
                return hyprof_is_recording() != 0;
        }
        /* Another number in each recording, 0 without one. */
        uint64_t ConnectionId() const
        {
                return HYPROF_WANTED_(UINT32_MAX) & HYPROF_FAMILY_ANY_ ? HYPROF_WANTED_(UINT32_MAX) >> 16 : 0;
        }
        void SetProgramName(const char *name) const
        {
                hyprof_program_value("program", name);
        }
        /* Nanoseconds of CLOCK_MONOTONIC_RAW, the clock of recordings. */
        static int64_t GetTime()
        {
                struct timespec now;

                clock_gettime(CLOCK_MONOTONIC_RAW, &now);
                return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
        }
        /* Nothing has to be sent before the program may end. */
        void RequestShutdown()
        {
        }
        bool HasShutdownFinished() const
        {
                return true;
        }
        static void EnterFiber(const char *fiber, int32_t group)
        {
                detail::fiber_enter(fiber, group);
        }
        static void LeaveFiber()
        {
                hyprof_fiber_leave();
        }
        static void SectionLeave(uint32_t id)
        {
                detail::section_leave(id);
        }
        /* A recording does not change the program, and finds its source by the debug information. */
        static void ParameterRegister(ParameterCallback, void *)
        {
                hyprof_tracy_unrecorded_(HYPROF_UNRECORDED_OTHER_);
        }
        static void ParameterSetup(uint32_t, const char *, uint8_t, int32_t)
        {
                hyprof_tracy_unrecorded_(HYPROF_UNRECORDED_OTHER_);
        }
        static void SourceCallbackRegister(SourceContentsCallback, void *)
        {
                hyprof_tracy_unrecorded_(HYPROF_UNRECORDED_OTHER_);
        }
        static void SendFrameImage(const void *image, uint16_t w, uint16_t h, uint8_t offset, bool flip)
        {
                hyprof_frame_picture(image, w, h, offset, flip);
        }
        bool BeginSamplingProfiling() const
        {
                return IsConnected();
        }
        void EndSamplingProfiling() const
        {
        }
};

} // namespace tracy

#endif // HYPROF_COMPAT_HYPROF_TRACY_PROFILER_HPP
