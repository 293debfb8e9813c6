// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/hyprof_tracy.hpp - the classes of namespace tracy that programs use through Tracy's
 * macros
 *
 * Way of the data:  program -> Tracy.hpp -> [hyprof_tracy.hpp] -> hyprof.hpp -> libhyprof
 *
 * Included by <tracy/Tracy.hpp> where TRACY_ENABLE is defined.  Names and arguments are Tracy's, so that
 * programs that use them directly compile; interfaces that docs/use/tracy-compat.md does not describe are not
 * for callers.
 */
#ifndef HYPROF_COMPAT_HYPROF_TRACY_HPP
#define HYPROF_COMPAT_HYPROF_TRACY_HPP

#include "../../hyprof.hpp"
#include "hyprof_tracy.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <type_traits>

namespace tracy
{

enum class PlotFormatType : uint8_t { Number, Memory, Percentage, Watt };
enum class MessageSourceType : uint8_t { User, Tracy };
enum class MessageSeverity : uint8_t { Trace, Debug, Info, Warning, Error, Fatal };

typedef void (*ParameterCallback)(void *data, uint32_t idx, int32_t val);
typedef char *(*SourceContentsCallback)(void *data, const char *filename, size_t &size);

/*
 * A place in the source.  Programs make it static, also `static constexpr`, and initialise the first five
 * members.  It has the layout of struct hyprof_location, so that it has room for the library's number;
 * hence `mutable`.
 */
struct SourceLocationData {
        const char *name;
        const char *function;
        const char *file;
        uint32_t line;
        uint32_t color;
#if __cplusplus >= 201402L
        mutable uint32_t id = 0;
        uint32_t reserved = 0;
#else
        mutable uint32_t id;
        uint32_t reserved;

        constexpr SourceLocationData(const char *the_name, const char *the_function, const char *the_file,
                                     uint32_t the_line, uint32_t the_color)
            : name(the_name), function(the_function), file(the_file), line(the_line), color(the_color), id(0),
              reserved(0)
        {
        }
#endif
};

namespace detail
{

static_assert(sizeof(SourceLocationData) == sizeof(struct hyprof_location), "one layout");
static_assert(offsetof(SourceLocationData, id) == offsetof(struct hyprof_location, id), "one layout");

inline struct hyprof_location *location_of(const SourceLocationData *srcloc)
{
        return reinterpret_cast<struct hyprof_location *>(const_cast<SourceLocationData *>(srcloc));
}

/* Tracy shows the member `function` of a lock. */
constexpr struct hyprof_location lock_location(const SourceLocationData *srcloc)
{
        return { srcloc->name ? srcloc->name : srcloc->function,
                 nullptr,
                 srcloc->file,
                 srcloc->line,
                 srcloc->color,
                 0,
                 0 };
}

/* Evaluates its arguments, and counts the call as not recorded. */
template <class... Anything> inline void unrecorded(enum hyprof_unrecorded_ what, const Anything &...)
{
        hyprof_tracy_unrecorded_(what);
}

inline size_t length(const char *text)
{
        return __builtin_strlen(text);
}
inline size_t length(decltype(nullptr))
{
        return 0;
}

/* The text of a printf; on the heap if it is long. */
class printed
{
      public:
        printed(const char *format, va_list arguments) __attribute__((format(printf, 2, 0)))
        {
                va_list again;

                va_copy(again, arguments);
                int n = vsnprintf(here_, sizeof(here_), format, arguments);
                text_ = here_;
                size_ = n > 0 ? static_cast<size_t>(n) : 0;
                if (size_ >= sizeof(here_)) {
                        heap_ = static_cast<char *>(malloc(size_ + 1));
                        if (heap_ && vsnprintf(heap_, size_ + 1, format, again) == n)
                                text_ = heap_;
                        else
                                size_ = sizeof(here_) - 1;
                }
                va_end(again);
        }
        ~printed()
        {
                free(heap_);
        }
        printed(const printed &) = delete;
        printed &operator=(const printed &) = delete;

        const char *text() const
        {
                return text_;
        }
        size_t size() const
        {
                return size_;
        }

      private:
        char here_[512];
        char *heap_ = nullptr;
        const char *text_;
        size_t size_;
};

/* An argument that converts to a number, such as a std::atomic, becomes the type that it becomes in Tracy. */
inline void plot(struct hyprof_tracy_name_ name, int64_t value)
{
        hyprof_tracy_plot_int_(name, value);
}
inline void plot(struct hyprof_tracy_name_ name, float value)
{
        hyprof_tracy_plot_double_(name, static_cast<double>(value));
}
inline void plot(struct hyprof_tracy_name_ name, double value)
{
        hyprof_tracy_plot_double_(name, value);
}
template <class Number>
inline typename std::enable_if<std::is_integral<Number>::value || std::is_enum<Number>::value>::type plot(
        struct hyprof_tracy_name_ name, Number value)
{
        hyprof_tracy_plot_int_(name, static_cast<int64_t>(value));
}
inline void plot(struct hyprof_tracy_name_ name, long double value)
{
        hyprof_tracy_plot_double_(name, static_cast<double>(value));
}

inline void plot_config(struct hyprof_tracy_name_ name, PlotFormatType type, bool step, bool fill,
                        uint32_t color)
{
        hyprof_tracy_plot_config_(name, static_cast<uint32_t>(type),
                                  (step ? HYPROF_PLOT_STEP : 0) | (fill ? HYPROF_PLOT_FILL : 0), color);
}

inline void log(MessageSeverity severity, uint32_t color, int32_t depth, size_t size, const char *text)
{
        hyprof_tracy_message_(text, size, static_cast<uint32_t>(severity), color, depth);
}
inline void log(MessageSeverity severity, uint32_t color, int32_t depth, const char *text)
{
        hyprof_tracy_message_(text, text ? __builtin_strlen(text) : 0, static_cast<uint32_t>(severity), color,
                              depth);
}
inline void log_literal(struct hyprof_tracy_name_ text, MessageSeverity severity, uint32_t color,
                        int32_t depth)
{
        hyprof_tracy_message_literal_(text, static_cast<uint32_t>(severity), color, depth);
}

/*
 * Sections are frames with gaps between them, by the name of the section.  The number of an open section is
 * its place in a table; a section that finds no place has the number 0 and is not recorded.
 */
inline struct hyprof_location **section_table(size_t *ret_n)
{
        static struct hyprof_location *open[256];

        *ret_n = sizeof(open) / sizeof(open[0]);
        return open;
}

inline uint32_t section_open(const char *name, size_t name_bytes)
{
        size_t n;
        struct hyprof_location **open = section_table(&n);
        struct hyprof_location *location = hyprof_location_of(name, name_bytes, nullptr, 0, nullptr, 0, 0, 0);

        for (size_t i = 0; location && i < n; i++) {
                struct hyprof_location *none = nullptr;

                if (__atomic_compare_exchange_n(&open[i], &none, location, false, __ATOMIC_ACQ_REL,
                                                __ATOMIC_RELAXED)) {
                        hyprof_frame_begin(location);
                        return static_cast<uint32_t>(i + 1);
                }
        }
        return 0;
}

__attribute__((format(printf, 1, 2))) inline uint32_t section_enter(const char *format, ...)
{
        va_list arguments;

        if (!HYPROF_WANTED_(HYPROF_FAMILY_FRAMES_))
                return 0;
        va_start(arguments, format);
        const printed name(format, arguments);
        va_end(arguments);
        return section_open(name.text(), name.size());
}

/* The category is not recorded, but counted. */
__attribute__((format(printf, 2, 3))) inline uint32_t section_enter_category(uint16_t, const char *format,
                                                                             ...)
{
        va_list arguments;

        if (!HYPROF_WANTED_(HYPROF_FAMILY_FRAMES_))
                return 0;
        hyprof_tracy_unrecorded_(HYPROF_UNRECORDED_OTHER_);
        va_start(arguments, format);
        const printed name(format, arguments);
        va_end(arguments);
        return section_open(name.text(), name.size());
}

inline void section_leave(uint32_t id)
{
        size_t n;
        struct hyprof_location **open = section_table(&n);

        if (id == 0 || id > n)
                return;
        struct hyprof_location *location = __atomic_exchange_n(
                &open[id - 1], static_cast<struct hyprof_location *>(nullptr), __ATOMIC_ACQ_REL);
        if (location)
                hyprof_frame_end(location);
}

/* A fiber belongs to no group. */
inline void fiber_enter(const char *fiber, int32_t)
{
        hyprof_fiber_enter(fiber);
}

} // namespace detail

class ScopedZone
{
      public:
        explicit ScopedZone(const SourceLocationData *srcloc, int32_t depth = -1, bool is_active = true)
            : zone_(hyprof_tracy_zone_begin_(detail::location_of(srcloc), depth, is_active))
        {
        }
        ScopedZone(uint32_t line, const char *source, size_t source_bytes, const char *function,
                   size_t function_bytes, const char *name, size_t name_bytes, uint32_t color,
                   int32_t depth = -1, bool is_active = true)
            : zone_(is_active
                            ? begin(hyprof_location_of(name_bytes > 0 ? name : nullptr, name_bytes, function,
                                                       function_bytes, source, source_bytes, line, color),
                                    depth)
                            : 0)
        {
        }
        ScopedZone(uint32_t line, const char *source, size_t source_bytes, const char *function,
                   size_t function_bytes, const char *name, size_t name_bytes, int32_t depth,
                   bool is_active = true)
            : ScopedZone(line, source, source_bytes, function, function_bytes, name, name_bytes, 0, depth,
                         is_active)
        {
        }
        ~ScopedZone()
        {
                hyprof_zone_end(zone_);
        }
        ScopedZone(const ScopedZone &) = delete;
        ScopedZone &operator=(const ScopedZone &) = delete;

        void Text(const char *text, size_t size) const
        {
                hyprof_zone_text(zone_, text, size);
        }
        void TextFmt(const char *format, ...) const __attribute__((format(printf, 2, 3)))
        {
                va_list arguments;

                if (zone_ == 0)
                        return;
                va_start(arguments, format);
                const detail::printed line(format, arguments);
                va_end(arguments);
                hyprof_zone_text(zone_, line.text(), line.size());
        }
        void Name(const char *name, size_t size) const
        {
                hyprof_zone_name(zone_, name, size);
        }
        void NameFmt(const char *format, ...) const __attribute__((format(printf, 2, 3)))
        {
                va_list arguments;

                if (zone_ == 0)
                        return;
                va_start(arguments, format);
                const detail::printed words(format, arguments);
                va_end(arguments);
                hyprof_zone_name(zone_, words.text(), words.size());
        }
        void Color(uint32_t color) const
        {
                hyprof_zone_color(zone_, color);
        }
        void Value(uint64_t value) const
        {
                hyprof_zone_value(zone_, static_cast<int64_t>(value));
        }
        bool IsActive() const
        {
                return zone_ != 0;
        }

      private:
        static hyprof_zone begin(struct hyprof_location *location, int32_t depth)
        {
                return location ? hyprof_tracy_zone_begin_(location, depth, 1) : 0;
        }

        const hyprof_zone zone_;
};

template <class Mutex> class Lockable : public hyprof::lockable<Mutex>
{
      public:
        constexpr explicit Lockable(const struct hyprof_location &where) : hyprof::lockable<Mutex>(where)
        {
        }
        constexpr explicit Lockable(const SourceLocationData *srcloc)
            : hyprof::lockable<Mutex>(detail::lock_location(srcloc))
        {
        }
        void Mark(const SourceLocationData *srcloc)
        {
                this->mark(detail::location_of(srcloc));
        }
        void CustomName(const char *name, size_t size)
        {
                this->name(name, size);
        }
};

template <class Mutex> class SharedLockable : public hyprof::shared_lockable<Mutex>
{
      public:
        constexpr explicit SharedLockable(const struct hyprof_location &where)
            : hyprof::shared_lockable<Mutex>(where)
        {
        }
        constexpr explicit SharedLockable(const SourceLocationData *srcloc)
            : hyprof::shared_lockable<Mutex>(detail::lock_location(srcloc))
        {
        }
        void Mark(const SourceLocationData *srcloc)
        {
                this->mark(detail::location_of(srcloc));
        }
        void CustomName(const char *name, size_t size)
        {
                this->name(name, size);
        }
};

/*
 * For programs that wrap a lock themselves: they report a wait before each lock, so a lock costs three
 * events.
 */
class LockableCtx
{
      public:
        explicit LockableCtx(const SourceLocationData *srcloc) : lock_{ detail::lock_location(srcloc) }
        {
        }
        ~LockableCtx()
        {
                hyprof_lock_gone(&lock_);
        }
        LockableCtx(const LockableCtx &) = delete;
        LockableCtx &operator=(const LockableCtx &) = delete;

        /* Is AfterLock() to be called? */
        bool BeforeLock()
        {
                hyprof_lock_wait(&lock_);
                return true;
        }
        void AfterLock()
        {
                hyprof_lock_obtain(&lock_);
        }
        void AfterUnlock()
        {
                hyprof_lock_release(&lock_);
        }
        void AfterTryLock(bool acquired)
        {
                hyprof_lock_try(&lock_, acquired);
        }
        void Mark(const SourceLocationData *srcloc)
        {
                hyprof_lock_mark(&lock_, detail::location_of(srcloc));
        }
        void CustomName(const char *name, size_t size)
        {
                hyprof_lock_name(&lock_, name, size);
        }

      protected:
        struct hyprof_lock lock_;
};

class SharedLockableCtx : public LockableCtx
{
      public:
        using LockableCtx::LockableCtx;

        bool BeforeLockShared()
        {
                hyprof_lock_wait_shared(&lock_);
                return true;
        }
        void AfterLockShared()
        {
                hyprof_lock_obtain_shared(&lock_);
        }
        void AfterUnlockShared()
        {
                hyprof_lock_release_shared(&lock_);
        }
        void AfterTryLockShared(bool acquired)
        {
                hyprof_lock_try_shared(&lock_, acquired);
        }
};

} // namespace tracy

#include "hyprof_tracy_profiler.hpp"

namespace tracy
{

inline Profiler &GetProfiler()
{
        static Profiler profiler;

        return profiler;
}
inline bool ProfilerAvailable()
{
        return true;
}

/* There is nothing to start or to end: the recorder does that. */
inline void StartupProfiler()
{
}
inline void ShutdownProfiler()
{
}
inline bool IsProfilerStarted()
{
        return true;
}
inline bool BeginSamplingProfiling()
{
        return hyprof_is_recording() != 0;
}
inline void EndSamplingProfiling()
{
}

} // namespace tracy

#endif // HYPROF_COMPAT_HYPROF_TRACY_HPP
