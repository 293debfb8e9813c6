// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/perfetto/hyprof_perfetto_track_event.hpp - categories, and their TrackEvent
 *
 * Way of the data:  program -> [hyprof_perfetto_track_event.hpp] -> names of threads, tracks and the process
 *
 * All categories are recorded, and none is in the trace.  Included by perfetto.h.
 */
#ifndef HYPROF_PERFETTO_TRACK_EVENT_HPP
#define HYPROF_PERFETTO_TRACK_EVENT_HPP

#include "hyprof_perfetto_events.hpp"
#include "hyprof_perfetto_session.hpp"

namespace perfetto
{

struct Category {
        const char *const name;
        const char *const description = nullptr;

        constexpr explicit Category(const char *its_name) : name(its_name)
        {
        }
        constexpr Category SetDescription(const char *text) const
        {
                return Category(name, text);
        }
        template <class... Tags> constexpr Category SetTags(Tags &&...) const
        {
                return *this;
        }
        static constexpr Category Group(const char *names)
        {
                return Category(names);
        }

      private:
        constexpr Category(const char *its_name, const char *text) : name(its_name), description(text)
        {
        }
};

class DynamicCategory
{
      public:
        explicit DynamicCategory(const std::string &its_name) : name(its_name)
        {
        }
        explicit DynamicCategory(const char *its_name) : name(its_name)
        {
        }
        DynamicCategory() = default;

        const std::string name;
};

namespace hyprof_
{

class track_event_source
{
      public:
        static bool Register()
        {
                return true;
        }
        static void Flush()
        {
        }
        static bool IsEnabled()
        {
                return hyprof_is_recording() != 0;
        }
        /* Events are recorded whenever a recorder is active: no observer has to wait for a session. */
        static bool AddSessionObserver(TrackEventSessionObserver *observer)
        {
                observer->OnSetup(DataSourceBase::SetupArgs());
                observer->OnStart(DataSourceBase::StartArgs());
                return true;
        }
        static void RemoveSessionObserver(TrackEventSessionObserver *observer)
        {
                observer->OnStop(DataSourceBase::StopArgs());
        }
        static uint64_t GetTraceTimeNs()
        {
                return read_clock(CLOCK_BOOTTIME);
        }
        static constexpr protos::pbzero::BuiltinClock GetTraceClockId()
        {
                return protos::pbzero::BUILTIN_CLOCK_BOOTTIME;
        }

        template <class Describe> static void SetTrackDescriptor(const Track &track, Describe &&describe)
        {
                if constexpr (std::is_invocable_v<Describe, protos::gen::TrackDescriptor *>) {
                        protos::gen::TrackDescriptor descriptor;

                        describe(&descriptor);
                        take(track, descriptor);
                } else {
                        take(track, describe);
                }
        }
        static void EraseTrackDescriptor(const Track &track)
        {
                track_table::get().forget_name(track.uuid);
        }
        /* For earlier versions of the SDK. */
        template <class Describe> static void SetProcessDescriptor(Describe &&describe)
        {
                SetTrackDescriptor(ProcessTrack::Current(), std::forward<Describe>(describe));
        }
        template <class Describe> static void SetThreadDescriptor(Describe &&describe)
        {
                SetTrackDescriptor(ThreadTrack::Current(), std::forward<Describe>(describe));
        }

      private:
        static void take(const Track &track, const protos::gen::TrackDescriptor &descriptor)
        {
                const std::string &thread = descriptor.thread().thread_name().empty()
                                                    ? descriptor.name()
                                                    : descriptor.thread().thread_name();

                if (!descriptor.process().process_name().empty())
                        hyprof_program_value("process name", descriptor.process().process_name().c_str());
                if (track.uuid == process_uuid)
                        return;
                if (track.uuid == ThreadTrack::Current().uuid && !thread.empty())
                        hyprof_thread_name(thread.c_str());
                track_table::get().name(track.uuid, thread);
        }
};

} // namespace hyprof_

} // namespace perfetto

#ifndef PERFETTO_TRACK_EVENT_NAMESPACE
#define PERFETTO_TRACK_EVENT_NAMESPACE perfetto_track_event
#endif

#define HYPROF_PERFETTO_SEMICOLON_() static_assert(true, "")

#define PERFETTO_DEFINE_CATEGORIES_IN_NAMESPACE_WITH_ATTRS(ns, attrs, ...)           \
        namespace ns                                                                 \
        {                                                                            \
        namespace PERFETTO_TRACK_EVENT_NAMESPACE                                     \
        {                                                                            \
        inline constexpr ::perfetto::Category hyprof_categories[] = { __VA_ARGS__ }; \
        struct TrackEvent : public ::perfetto::hyprof_::track_event_source {         \
        };                                                                           \
        }                                                                            \
        using PERFETTO_TRACK_EVENT_NAMESPACE::TrackEvent;                            \
        }                                                                            \
        HYPROF_PERFETTO_SEMICOLON_()
#define PERFETTO_DEFINE_CATEGORIES_IN_NAMESPACE(ns, ...) \
        PERFETTO_DEFINE_CATEGORIES_IN_NAMESPACE_WITH_ATTRS(ns, , __VA_ARGS__)
#define PERFETTO_DEFINE_CATEGORIES(...)                                 \
        PERFETTO_DEFINE_CATEGORIES_IN_NAMESPACE(perfetto, __VA_ARGS__); \
        PERFETTO_USE_CATEGORIES_FROM_NAMESPACE(perfetto)
#define PERFETTO_USE_CATEGORIES_FROM_NAMESPACE(ns)              \
        namespace PERFETTO_TRACK_EVENT_NAMESPACE                \
        {                                                       \
        using ::ns::PERFETTO_TRACK_EVENT_NAMESPACE::TrackEvent; \
        }                                                       \
        HYPROF_PERFETTO_SEMICOLON_()
#define PERFETTO_USE_CATEGORIES_FROM_NAMESPACE_SCOPED(ns)                      HYPROF_PERFETTO_SEMICOLON_()
#define PERFETTO_DEFINE_TEST_CATEGORY_PREFIXES(...)                            HYPROF_PERFETTO_SEMICOLON_()
#define PERFETTO_TRACK_EVENT_STATIC_STORAGE()                                  HYPROF_PERFETTO_SEMICOLON_()
#define PERFETTO_TRACK_EVENT_STATIC_STORAGE_IN_NAMESPACE(ns)                   HYPROF_PERFETTO_SEMICOLON_()
#define PERFETTO_TRACK_EVENT_STATIC_STORAGE_IN_NAMESPACE_WITH_ATTRS(ns, attrs) HYPROF_PERFETTO_SEMICOLON_()
#define PERFETTO_COMPONENT_EXPORT
/* For earlier versions of the SDK. */
#define PERFETTO_CATEGORY(name) (::perfetto::Category{ #name })

#endif // HYPROF_PERFETTO_TRACK_EVENT_HPP
