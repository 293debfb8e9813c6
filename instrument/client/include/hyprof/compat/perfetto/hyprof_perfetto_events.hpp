// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/perfetto/hyprof_perfetto_events.hpp - the arguments of Perfetto's events, and where they go
 *
 * Way of the data:  TRACE_EVENT(...) -> [hyprof_perfetto_events.hpp] -> zones, messages, plots, device spans
 *
 * Nothing is evaluated while no recorder is active.  Included by perfetto.h.
 */
#ifndef HYPROF_PERFETTO_EVENTS_HPP
#define HYPROF_PERFETTO_EVENTS_HPP

#include "hyprof_perfetto_tracks.hpp"

namespace perfetto
{

namespace protos
{
namespace pbzero
{

enum BuiltinClock {
        BUILTIN_CLOCK_UNKNOWN = 0,
        BUILTIN_CLOCK_REALTIME = 1,
        BUILTIN_CLOCK_MONOTONIC = 3,
        BUILTIN_CLOCK_MONOTONIC_RAW = 5,
        BUILTIN_CLOCK_BOOTTIME = 6
};

class TrackEvent;

/* One annotation: its name, then its value. */
class DebugAnnotation
{
      public:
        explicit DebugAnnotation(TrackEvent &event) : event_(event)
        {
        }
        void set_name(std::string_view name)
        {
                name_ = name;
        }
        void set_name(const char *name, size_t bytes)
        {
                name_.assign(name, bytes);
        }
        void set_bool_value(bool value)
        {
                set(value);
        }
        void set_int_value(int64_t value)
        {
                set(value);
        }
        void set_uint_value(uint64_t value)
        {
                set(value);
        }
        void set_double_value(double value)
        {
                set(value);
        }
        void set_pointer_value(uint64_t value)
        {
                set(value);
        }
        void set_string_value(std::string_view value)
        {
                set(value);
        }
        void set_string_value(const char *value, size_t bytes)
        {
                set(std::string_view(value, bytes));
        }
        void set_legacy_json_value(std::string_view value)
        {
                set(value);
        }

      private:
        template <class T> inline void set(const T &value);

        TrackEvent &event_;
        std::string name_;
};

/* An event as its arguments describe it. */
class TrackEvent
{
      public:
        void set_name(std::string_view text)
        {
                name = text;
        }
        void set_name(const char *text, size_t bytes)
        {
                name.assign(text, bytes);
        }
        DebugAnnotation *add_debug_annotations()
        {
                return &(annotation = std::make_unique<DebugAnnotation>(*this), *annotation);
        }
        void add_flow_ids(uint64_t id)
        {
                if (flow == 0)
                        flow = id;
                else
                        ::perfetto::hyprof_::count_unrecorded();
        }
        void add_terminating_flow_ids(uint64_t id)
        {
                add_flow_ids(id);
        }
        void set_track_uuid(uint64_t id)
        {
                uuid = id;
                is_on_thread = false;
        }
        template <class T> void add_categories(T &&)
        {
        }

        template <class T> void annotate(std::string_view key, T &&value)
        {
                if (annotations.empty())
                        annotations += '{';
                ::perfetto::hyprof_::put_key(annotations, key);
                WriteIntoTracedValue(TracedValue(annotations), std::forward<T>(value));
        }

        /* For the parts of this header. */
        std::string name, annotations; /* annotations: without the closing bracket */
        std::string_view track_name;
        uint64_t uuid = 0, time_ns = 0, flow = 0; /* time_ns: 0 = now */
        bool is_on_thread = true;

      private:
        std::unique_ptr<DebugAnnotation> annotation; /* the one that is being filled */
};

template <class T> inline void DebugAnnotation::set(const T &value)
{
        event_.annotate(name_, value);
}

} // namespace pbzero
} // namespace protos

/* The argument of lambdas among the arguments. */
class EventContext
{
      public:
        explicit EventContext(protos::pbzero::TrackEvent &event) : event_(&event)
        {
        }
        template <class T = protos::pbzero::TrackEvent> T *event() const
        {
                return event_;
        }
        template <class Name, class T> void AddDebugAnnotation(const Name &name, T &&value)
        {
                event_->annotate(hyprof_::view_of(name), std::forward<T>(value));
        }

      private:
        protos::pbzero::TrackEvent *event_;
};

/* A time of another clock than the trace's. */
struct TraceTimestamp {
        uint32_t clock_id;
        uint64_t value;
};

/* Programs specialise it for types of their own. */
template <class T> struct TraceTimestampTraits;
template <> struct TraceTimestampTraits<uint64_t> {
        static TraceTimestamp ConvertTimestampToTraceTimeNs(const uint64_t &time)
        {
                return { protos::pbzero::BUILTIN_CLOCK_BOOTTIME, time };
        }
};
template <> struct TraceTimestampTraits<TraceTimestamp> {
        static TraceTimestamp ConvertTimestampToTraceTimeNs(const TraceTimestamp &time)
        {
                return time;
        }
};

namespace hyprof_
{

/* An arrow between slices: a key of the zone, by which others of the same flow are found. */
template <bool is_last> class flow
{
      public:
        explicit constexpr flow(uint64_t id) : id_(id)
        {
        }
        static constexpr flow ProcessScoped(uint64_t id)
        {
                return flow(id ^ process_uuid);
        }
        static constexpr flow ProcessScoped(uint64_t id, const char *scope)
        {
                return Global(id, scope);
        }
        static flow FromPointer(const void *pointer)
        {
                return ProcessScoped(reinterpret_cast<uintptr_t>(pointer));
        }
        static flow FromPointer(const void *pointer, const char *scope)
        {
                return ProcessScoped(reinterpret_cast<uintptr_t>(pointer), scope);
        }
        static constexpr flow Global(uint64_t id)
        {
                return flow(id);
        }
        static constexpr flow Global(uint64_t id, const char *scope)
        {
                return flow(id ^ hash_of(view_of(scope)));
        }
        void operator()(EventContext context) const
        {
                context.event()->add_flow_ids(id_);
        }

      private:
        uint64_t id_;
};

/* ---- arguments after the name: a track, a time, keys with values, lambdas and flows -------------------- */

using event = protos::pbzero::TrackEvent;

template <class T, class = void> struct is_time : std::false_type {
};
template <class T>
struct is_time<T, std::void_t<decltype(TraceTimestampTraits<bare<T>>::ConvertTimestampToTraceTimeNs(
                          std::declval<T &>()))>> : std::true_type {
};
template <class T> constexpr bool is_track = std::is_base_of_v<Track, bare<T>>;
template <class... Rest> struct begins_with_track : std::false_type {
};
template <class First, class... Rest>
struct begins_with_track<First, Rest...> : std::bool_constant<is_track<First> || is_time<First>::value> {
};

/* In the SDK's own clock. */
template <class T> uint64_t trace_time_of(T &&time)
{
        const TraceTimestamp at = TraceTimestampTraits<bare<T>>::ConvertTimestampToTraceTimeNs(time);
        clockid_t clock = CLOCK_BOOTTIME;

        if (at.clock_id == protos::pbzero::BUILTIN_CLOCK_REALTIME)
                clock = CLOCK_REALTIME;
        else if (at.clock_id == protos::pbzero::BUILTIN_CLOCK_MONOTONIC)
                clock = CLOCK_MONOTONIC;
        else if (at.clock_id == protos::pbzero::BUILTIN_CLOCK_MONOTONIC_RAW)
                clock = CLOCK_MONOTONIC_RAW;
        return clock == CLOCK_BOOTTIME ? at.value
                                       : at.value + (read_clock(CLOCK_BOOTTIME) - read_clock(clock));
}

template <class Value, class... Rest>
void take_pair(event &to, std::string_view key, Value &&value, Rest &&...rest);

inline void take_rest(event &)
{
}
template <class First, class... Rest> void take_rest(event &to, First &&first, Rest &&...rest)
{
        if constexpr (std::is_invocable_v<First, EventContext>) {
                first(EventContext(to));
                take_rest(to, std::forward<Rest>(rest)...);
        } else if constexpr (std::is_invocable_v<First, EventContext &>) {
                EventContext context(to);

                first(context);
                take_rest(to, std::forward<Rest>(rest)...);
        } else {
                take_pair(to, view_of(first), std::forward<Rest>(rest)...);
        }
}
template <class Value, class... Rest>
void take_pair(event &to, std::string_view key, Value &&value, Rest &&...rest)
{
        to.annotate(key, std::forward<Value>(value));
        take_rest(to, std::forward<Rest>(rest)...);
}

inline void take_time(event &)
{
}
template <class First, class... Rest> void take_time(event &to, First &&first, Rest &&...rest)
{
        if constexpr (is_time<First>::value) {
                to.time_ns = trace_time_of(first);
                to.is_on_thread = false;
                take_rest(to, std::forward<Rest>(rest)...);
        } else {
                take_rest(to, std::forward<First>(first), std::forward<Rest>(rest)...);
        }
}

inline void take_all(event &)
{
}
template <class First, class... Rest> void take_all(event &to, First &&first, Rest &&...rest)
{
        if constexpr (is_track<First>) {
                to.uuid = first.uuid;
                to.is_on_thread = first.uuid == ThreadTrack::Current().uuid;
                if constexpr (std::is_same_v<bare<First>, NamedTrack>)
                        to.track_name = first.hyprof_name();
                take_time(to, std::forward<Rest>(rest)...);
        } else {
                take_time(to, std::forward<First>(first), std::forward<Rest>(rest)...);
        }
}

/* Events of the thread itself at another time are on a lane that is called after it. */
inline void find_lane(event &to)
{
        if (to.uuid == 0)
                to.uuid = ThreadTrack::Current().uuid;
        if (to.uuid == ThreadTrack::Current().uuid && to.track_name.empty())
                track_table::get().name(to.uuid, "thread " + std::to_string(thread_number()));
        if (to.time_ns == 0)
                to.time_ns = read_clock(CLOCK_BOOTTIME);
}

inline void close_annotations(event &to)
{
        if (!to.annotations.empty())
                to.annotations += '}';
}

/* ---- names --------------------------------------------------------------------------------------------- */

/* A literal keeps the place in the source; where one place has several, the first does. */
inline bool keeps(struct hyprof_location *site, const char *text)
{
        const char *known = __atomic_load_n(&site->name, __ATOMIC_ACQUIRE);

        return known == text || (!known && (__atomic_compare_exchange_n(&site->name, &known, text, false,
                                                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
                                            known == text));
}

inline struct hyprof_location *location_of(struct hyprof_location *site, std::string_view name)
{
        const char *file = site->file;

        return hyprof_location_of(name.data(), name.size(), nullptr, 0, file, std::strlen(file), site->line,
                                  0);
}

template <class Name> struct hyprof_location *location_at(struct hyprof_location *site, const Name &name)
{
        /* The SDK requires a `const char[N]` to stay where it is; a `char[N]` is a buffer. */
        if constexpr (std::is_array_v<Name>)
                if (keeps(site, name))
                        return site;
        return location_of(site, view_of(name));
}
template <size_t n> struct hyprof_location *location_at(struct hyprof_location *site, char (&name)[n])
{
        return location_of(site, view_of(name));
}

/* ---- slices -------------------------------------------------------------------------------------------- */

/*
 * The slices that a thread began and has not ended, innermost last, also those that are not recorded: an end
 * has no other connection with its begin than the order.
 */
struct open_slices {
        static constexpr uint32_t max = 1024; /* deeper ones end where they begin */
        uint32_t n;
        hyprof_zone zones[max];

        void push(hyprof_zone zone)
        {
                if (n < max)
                        zones[n] = zone;
                else
                        hyprof_zone_end(zone);
                n++;
        }
        hyprof_zone pop()
        {
                if (n == 0)
                        return 0;
                n--;
                return n < max ? zones[n] : 0;
        }
};

__attribute__((visibility("default"))) inline open_slices &slices_of_thread()
{
        static thread_local open_slices slices;

        return slices;
}

struct on_thread {
        hyprof_zone zone = 0;
};
struct on_track {
        on_track() = default;
        on_track(uint64_t its_uuid, hyprof_zone its_zone) : uuid(its_uuid), zone(its_zone)
        {
        }
        on_track(const on_thread &at) : zone(at.zone)
        {
        }

        uint64_t uuid = 0;    /* 0 = nothing began on a track */
        hyprof_zone zone = 0; /* it was the thread's own track */
};
template <class... Rest>
using place_of = std::conditional_t<begins_with_track<Rest...>::value, on_track, on_thread>;

inline hyprof_zone begin_zone(struct hyprof_location *location, event &of)
{
        const hyprof_zone zone = hyprof_zone_begin(location);

        if (zone == 0)
                return 0;
        if (!of.annotations.empty())
                hyprof_zone_text(zone, of.annotations.data(), of.annotations.size());
        if (of.flow != 0)
                hyprof_zone_key(zone, flow_space(), of.flow);
        return zone;
}

struct begin_emitter {
        template <class Category, class Name, class... Rest>
        place_of<Rest...> operator()(struct hyprof_location *site, const Category &, Name &&name,
                                     Rest &&...rest) const
        {
                if constexpr (sizeof...(Rest) == 0) {
                        return place_of<Rest...>{ hyprof_zone_begin(location_at(site, name)) };
                } else {
                        event of;

                        take_all(of, std::forward<Rest>(rest)...);
                        close_annotations(of);
                        return put(of.name.empty() ? location_at(site, name) : location_of(site, of.name), of,
                                   place_of<Rest...>());
                }
        }

      private:
        static on_thread put(struct hyprof_location *location, event &of, on_thread)
        {
                return { begin_zone(location, of) };
        }
        static on_track put(struct hyprof_location *location, event &of, on_track)
        {
                if (of.is_on_thread)
                        return { 0, begin_zone(location, of) };
                if (!of.annotations.empty())
                        count_unrecorded();
                find_lane(of);
                track_table::get().begin(of.uuid, of.track_name, location, of.time_ns, of.flow);
                return { of.uuid, 0 };
        }
};

struct end_emitter {
        template <class Category, class... Rest>
        place_of<Rest...> operator()(struct hyprof_location *, const Category &, Rest &&...rest) const
        {
                event of;

                take_all(of, std::forward<Rest>(rest)...);
                close_annotations(of);
                if constexpr (begins_with_track<Rest...>::value)
                        if (!of.is_on_thread) {
                                if (!of.annotations.empty())
                                        count_unrecorded();
                                find_lane(of);
                                track_table::get().end(of.uuid, of.time_ns);
                                return {};
                        }
                const hyprof_zone zone = slices_of_thread().pop();

                if (!of.annotations.empty())
                        hyprof_zone_text(zone, of.annotations.data(), of.annotations.size());
                hyprof_zone_end(zone);
                return {};
        }
};

template <class Emit, class Maker> using place_from = decltype(std::declval<const Maker &>()(Emit()));

template <class Maker> void begin_slice(const Maker &maker)
{
        using place = place_from<begin_emitter, Maker>;

        if constexpr (std::is_same_v<place, on_thread>) {
                slices_of_thread().push(HYPROF_WANTED_(HYPROF_FAMILY_ZONES_) ? maker(begin_emitter()).zone
                                                                             : 0);
        } else if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ANY_))) {
                const place at = maker(begin_emitter());

                if (at.uuid == 0)
                        slices_of_thread().push(at.zone);
        }
}

template <class Maker> void end_slice(const Maker &maker)
{
        using place = place_from<end_emitter, Maker>;

        if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ANY_)))
                (void)maker(end_emitter());
        else if constexpr (std::is_same_v<place, on_thread>)
                hyprof_zone_end(slices_of_thread().pop());
}

/* The slice of TRACE_EVENT: it ends with the block, whatever else began in it. */
class scope
{
      public:
        explicit scope(const on_track &at) : zone_(at.zone), uuid_(at.uuid)
        {
        }
        ~scope()
        {
                hyprof_zone_end(zone_);
                if (HYPROF_UNLIKELY_(uuid_ != 0))
                        track_table::get().end(uuid_, read_clock(CLOCK_BOOTTIME));
        }
        scope(const scope &) = delete;
        scope &operator=(const scope &) = delete;

      private:
        const hyprof_zone zone_;
        const uint64_t uuid_;
};

/* ---- moments ------------------------------------------------------------------------------------------- */

struct instant_emitter {
        template <class Category, class Name, class... Rest>
        void operator()(struct hyprof_location *site, const Category &, Name &&name, Rest &&...rest) const
        {
                event of;

                take_all(of, std::forward<Rest>(rest)...);
                close_annotations(of);
                if (!of.is_on_thread)
                        put_on_track(site, name, of);
                else
                        put(site, name, of);
        }

      private:
        template <class Name> static void put_on_track(struct hyprof_location *site, Name &name, event &of)
        {
                if (!of.annotations.empty())
                        count_unrecorded();
                find_lane(of);
                track_table::get().instant(of.uuid, of.track_name,
                                           of.name.empty() ? location_at(site, name)
                                                           : location_of(site, of.name),
                                           of.time_ns, of.flow);
        }
        template <class Name> static void put(struct hyprof_location *site, Name &name, event &of)
        {
                if constexpr (std::is_array_v<std::remove_reference_t<Name>> &&
                              std::is_const_v<std::remove_extent_t<std::remove_reference_t<Name>>>)
                        if (of.name.empty() && of.annotations.empty() && keeps(site, name)) {
                                hyprof_message_literal(site, name, HYPROF_SEVERITY_INFO, 0);
                                return;
                        }
                std::string text(of.name.empty() ? view_of(name) : std::string_view(of.name));

                if (!of.annotations.empty())
                        text.append(": ").append(of.annotations);
                hyprof_message(text.data(), text.size(), HYPROF_SEVERITY_INFO, 0);
        }
};

/* ---- counters ------------------------------------------------------------------------------------------ */

/* Counters of one name that belong to different tracks are different plots. */
inline struct hyprof_location *plot_of(const CounterTrack &track)
{
        std::string name(track.hyprof_name());

        if (track.hyprof_id() != 0)
                name += " (" + std::to_string(track.hyprof_id()) + ")";
        if (track.parent_uuid != process_uuid && track.parent_uuid != 0)
                name += " (track " + std::to_string(track.parent_uuid ^ process_uuid) + ")";
        return hyprof_name_of(name.c_str());
}

struct counter_emitter {
        template <class Category, class Name, class... Rest>
        void operator()(struct hyprof_location *site, const Category &, Name &&name, Rest &&...rest) const
        {
                if constexpr (std::is_same_v<bare<Name>, CounterTrack>) {
                        put_track(name, std::forward<Rest>(rest)...);
                } else if constexpr (std::is_array_v<std::remove_reference_t<Name>> &&
                                     std::is_const_v<std::remove_extent_t<std::remove_reference_t<Name>>>) {
                        put(keeps(site, name) ? site : name_of(name), 1, std::forward<Rest>(rest)...);
                } else {
                        put(name_of(name), 1, std::forward<Rest>(rest)...);
                }
        }

      private:
        template <class Name> static struct hyprof_location *name_of(const Name &name)
        {
                const std::string_view text = view_of(name);

                return hyprof_location_of(text.data(), text.size(), nullptr, 0, nullptr, 0, 0, 0);
        }

        template <class Value>
        static void put(struct hyprof_location *plot, int64_t multiplier, const Value &value)
        {
                if constexpr (std::is_floating_point_v<Value>)
                        hyprof_plot_double(plot,
                                           static_cast<double>(value) * static_cast<double>(multiplier));
                else
                        hyprof_plot_int(plot, static_cast<int64_t>(value) * multiplier);
        }
        template <class Time, class Value>
        static void put(struct hyprof_location *plot, int64_t multiplier, const Time &time,
                        const Value &value)
        {
                track_table::get().value(plot, trace_time_of(time),
                                         static_cast<double>(value) * static_cast<double>(multiplier));
        }

        template <class... Rest> static void put_track(const CounterTrack &track, Rest &&...rest)
        {
                struct hyprof_location *plot = plot_of(track);
                const int64_t multiplier = track.hyprof_multiplier();

                if (!track.hyprof_is_plain() && track_table::get().is_new_counter(track.uuid))
                        hyprof_plot_config(plot,
                                           track.hyprof_has_bytes() ? HYPROF_PLOT_BYTES : HYPROF_PLOT_NUMBER,
                                           HYPROF_PLOT_STEP, 0, track.hyprof_unit());
                if (track.is_incremental())
                        put_sum(plot, track, std::forward<Rest>(rest)...);
                else
                        put(plot, multiplier, std::forward<Rest>(rest)...);
        }
        template <class Value>
        static void put_sum(struct hyprof_location *plot, const CounterTrack &track, const Value &value)
        {
                hyprof_plot_double(plot, sum_of(track, static_cast<double>(value)));
        }
        template <class Time, class Value>
        static void put_sum(struct hyprof_location *plot, const CounterTrack &track, const Time &time,
                            const Value &value)
        {
                track_table::get().value(plot, trace_time_of(time),
                                         sum_of(track, static_cast<double>(value)));
        }
        static double sum_of(const CounterTrack &track, double value)
        {
                return track_table::get().add(track.uuid, value) *
                       static_cast<double>(track.hyprof_multiplier());
        }
};

} // namespace hyprof_

using Flow = hyprof_::flow<false>;
using TerminatingFlow = hyprof_::flow<true>;

} // namespace perfetto

/* ---- the macros ---------------------------------------------------------------------------------------- */

#define PERFETTO_INTERNAL_CONCAT2(a, b) a##b
#define PERFETTO_INTERNAL_CONCAT(a, b)  PERFETTO_INTERNAL_CONCAT2(a, b)
#define PERFETTO_UID(prefix)            PERFETTO_INTERNAL_CONCAT(prefix, __LINE__)

#define HYPROF_PERFETTO_SITE_()                                       \
        ([]() -> struct hyprof_location * {                           \
                static struct hyprof_location hyprof_site_ = {        \
                        nullptr, nullptr, __FILE__, __LINE__, 0, 0, 0 \
                };                                                    \
                return &hyprof_site_;                                 \
        }())

#ifndef HYPROF_DISABLE

/*
 * Arguments: a category, which is not recorded, and a name or a track; of an end a category.  A begin and an
 * end have to know the types of their arguments without evaluating them: these are in a lambda.
 */
#define HYPROF_PERFETTO_IF_(emitter, otherwise, ...)                                    \
        (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_ANY_))                           \
                 ? ::perfetto::hyprof_::emitter()(HYPROF_PERFETTO_SITE_(), __VA_ARGS__) \
                 : otherwise)
#define HYPROF_PERFETTO_MAKER_(...) \
        [&](auto hyprof_emit_) { return hyprof_emit_(HYPROF_PERFETTO_SITE_(), __VA_ARGS__); }
#define TRACE_EVENT(...)                                              \
        const ::perfetto::hyprof_::scope PERFETTO_UID(hyprof_scope_)( \
                HYPROF_PERFETTO_IF_(begin_emitter, ::perfetto::hyprof_::on_track(), __VA_ARGS__))
#define TRACE_EVENT_BEGIN(...)   ::perfetto::hyprof_::begin_slice(HYPROF_PERFETTO_MAKER_(__VA_ARGS__))
#define TRACE_EVENT_END(...)     ::perfetto::hyprof_::end_slice(HYPROF_PERFETTO_MAKER_(__VA_ARGS__))
#define TRACE_EVENT_INSTANT(...) HYPROF_PERFETTO_IF_(instant_emitter, HYPROF_NOTHING_, __VA_ARGS__)
#define TRACE_COUNTER(...)       HYPROF_PERFETTO_IF_(counter_emitter, HYPROF_NOTHING_, __VA_ARGS__)

#else

#define TRACE_EVENT(...)         HYPROF_NOTHING_
#define TRACE_EVENT_BEGIN(...)   HYPROF_NOTHING_
#define TRACE_EVENT_END(...)     HYPROF_NOTHING_
#define TRACE_EVENT_INSTANT(...) HYPROF_NOTHING_
#define TRACE_COUNTER(...)       HYPROF_NOTHING_

#endif

/* All categories are recorded. */
#define TRACE_EVENT_CATEGORY_ENABLED(category) ((void)sizeof(category), hyprof_is_recording() != 0)

#endif // HYPROF_PERFETTO_EVENTS_HPP
