// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/perfetto/hyprof_perfetto_tracks.hpp - Perfetto's tracks, and events on them
 *
 * Way of the data:  program -> [hyprof_perfetto_tracks.hpp] -> device.h -> libhyprof -> hyprof record
 *
 * A slice of a thread is a zone of it.  Slices with a track or a time of their own are spans of a device,
 * "Perfetto tracks", whose clock is the SDK's, CLOCK_BOOTTIME, and each track is a lane.  Tracks without a
 * name are mostly used once, for a request or an object: they share lanes, and each has one as long as
 * something is open on it.
 *
 * Included by perfetto.h.
 */
#ifndef HYPROF_PERFETTO_TRACKS_HPP
#define HYPROF_PERFETTO_TRACKS_HPP

#include "../../hyprof.h"
#include "hyprof_perfetto_values.hpp"

#include <cstdint>
#include <mutex>
#include <string>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace perfetto
{

namespace hyprof_
{

constexpr uint64_t process_uuid = UINT64_C(0x6879'7072'6f66'0000);

constexpr uint64_t hash_of(const char *text, size_t bytes)
{
        uint64_t hash = UINT64_C(0xcbf29ce484222325);

        for (size_t i = 0; i < bytes; i++)
                hash = (hash ^ static_cast<unsigned char>(text[i])) * UINT64_C(0x100000001b3);
        return hash;
}
constexpr uint64_t hash_of(std::string_view text)
{
        return hash_of(text.data(), text.size());
}

inline uint64_t thread_number()
{
        static thread_local uint64_t number;

        if (number == 0)
                number = static_cast<uint64_t>(::syscall(SYS_gettid));
        return number;
}

inline uint64_t read_clock(clockid_t clock)
{
        struct timespec now;

        if (::clock_gettime(clock, &now) < 0)
                return 0;
        return static_cast<uint64_t>(now.tv_sec) * UINT64_C(1000000000) + static_cast<uint64_t>(now.tv_nsec);
}

inline void count_unrecorded()
{
        if (HYPROF_WANTED_(HYPROF_FAMILY_ANY_))
                hyprof_emit_unrecorded(HYPROF_UNRECORDED_OTHER_);
}

} // namespace hyprof_

namespace protos
{
namespace gen
{

/* A program's description of a track.  Only names are of interest here. */
class ProcessDescriptor
{
      public:
        void set_process_name(std::string_view name)
        {
                name_ = name;
        }
        const std::string &process_name() const
        {
                return name_;
        }
        template <class T> void set_pid(T &&)
        {
        }
        template <class T> void add_cmdline(T &&)
        {
        }

      private:
        std::string name_;
};

class ThreadDescriptor
{
      public:
        void set_thread_name(std::string_view name)
        {
                name_ = name;
        }
        const std::string &thread_name() const
        {
                return name_;
        }
        template <class T> void set_pid(T &&)
        {
        }
        template <class T> void set_tid(T &&)
        {
        }

      private:
        std::string name_;
};

class CounterDescriptor
{
      public:
        enum Unit { UNIT_UNSPECIFIED = 0, UNIT_TIME_NS = 1, UNIT_COUNT = 2, UNIT_SIZE_BYTES = 3 };
        enum BuiltinCounterType { COUNTER_UNSPECIFIED = 0, COUNTER_THREAD_TIME_NS = 1 };

        template <class T> void set_unit(T &&)
        {
        }
        template <class T> void set_unit_name(T &&)
        {
        }
        template <class T> void set_is_incremental(T &&)
        {
        }
};

class TrackDescriptor
{
      public:
        void set_name(std::string_view name)
        {
                name_ = name;
        }
        void set_static_name(std::string_view name)
        {
                name_ = name;
        }
        const std::string &name() const
        {
                return name_;
        }
        ProcessDescriptor *mutable_process()
        {
                return &process_;
        }
        ProcessDescriptor *set_process()
        {
                return &process_;
        }
        const ProcessDescriptor &process() const
        {
                return process_;
        }
        ThreadDescriptor *mutable_thread()
        {
                return &thread_;
        }
        ThreadDescriptor *set_thread()
        {
                return &thread_;
        }
        const ThreadDescriptor &thread() const
        {
                return thread_;
        }
        CounterDescriptor *mutable_counter()
        {
                return &counter_;
        }
        template <class T> void set_uuid(T &&)
        {
        }
        template <class T> void set_parent_uuid(T &&)
        {
        }
        template <class T> void set_child_ordering(T &&)
        {
        }
        template <class T> void set_sibling_order_rank(T &&)
        {
        }
        template <class T> void set_disallow_merging_with_system_tracks(T &&)
        {
        }
        std::string SerializeAsString() const
        {
                return std::string();
        }

      private:
        std::string name_;
        ProcessDescriptor process_;
        ThreadDescriptor thread_;
        CounterDescriptor counter_;
};

} // namespace gen

namespace pbzero
{
using gen::CounterDescriptor;
using gen::TrackDescriptor;
} // namespace pbzero
} // namespace protos

struct Track {
        const uint64_t uuid;
        const uint64_t parent_uuid;

        constexpr Track() : uuid(0), parent_uuid(0)
        {
        }
        explicit constexpr Track(uint64_t id, Track parent = Track(hyprof_::process_uuid, uint64_t()))
            : uuid(id ^ parent.uuid), parent_uuid(parent.uuid)
        {
        }
        explicit constexpr operator bool() const
        {
                return uuid != 0;
        }
        protos::gen::TrackDescriptor Serialize() const
        {
                return protos::gen::TrackDescriptor();
        }
        static constexpr Track Global(uint64_t id)
        {
                return Track(id, Track());
        }
        static Track FromPointer(const void *pointer, Track parent = Track(hyprof_::process_uuid, uint64_t()))
        {
                return Track(reinterpret_cast<uintptr_t>(pointer), parent);
        }
        static Track ThreadScoped(const void *pointer, Track parent = Track())
        {
                return FromPointer(pointer, parent ? parent : of_thread(hyprof_::thread_number()));
        }

      protected:
        constexpr Track(uint64_t its_uuid, uint64_t its_parent) : uuid(its_uuid), parent_uuid(its_parent)
        {
        }
        static constexpr Track of_process()
        {
                return Track(hyprof_::process_uuid, uint64_t());
        }
        static constexpr Track of_thread(uint64_t tid)
        {
                return Track(tid, of_process());
        }
};

struct ProcessTrack : public Track {
        const int32_t pid;

        static ProcessTrack Current()
        {
                return ProcessTrack();
        }

      private:
        ProcessTrack() : Track(of_process()), pid(static_cast<int32_t>(::getpid()))
        {
        }
};

struct ThreadTrack : public Track {
        const int32_t pid;
        const uint64_t tid;

        static ThreadTrack Current()
        {
                return ThreadTrack(hyprof_::thread_number());
        }
        static ThreadTrack ForThread(uint64_t tid)
        {
                return ThreadTrack(tid);
        }

      private:
        explicit ThreadTrack(uint64_t its_tid)
            : Track(of_thread(its_tid)), pid(static_cast<int32_t>(::getpid())), tid(its_tid)
        {
        }
};

class NamedTrack : public Track
{
      public:
        template <class Name>
        constexpr NamedTrack(const Name &name, uint64_t id = 0, Track parent = of_process())
            : Track(id ^ hash_of_name(name), parent), name_(hyprof_::view_of(name))
        {
        }
        template <class Name>
        static NamedTrack FromPointer(const Name &name, const void *pointer, Track parent = of_process())
        {
                return NamedTrack(name, reinterpret_cast<uintptr_t>(pointer), parent);
        }
        template <class Name>
        static NamedTrack ThreadScoped(const Name &name, uint64_t id = 0, Track parent = Track())
        {
                return NamedTrack(name, id, parent ? parent : of_thread(hyprof_::thread_number()));
        }
        template <class Name> static NamedTrack Global(const Name &name, uint64_t id = 0)
        {
                return NamedTrack(name, id, Track());
        }
        constexpr NamedTrack disable_sibling_merge() const
        {
                return *this;
        }
        template <class Key> constexpr NamedTrack set_sibling_merge_key(Key) const
        {
                return *this;
        }
        protos::gen::TrackDescriptor Serialize() const
        {
                protos::gen::TrackDescriptor descriptor;

                descriptor.set_name(name_);
                return descriptor;
        }
        std::string_view hyprof_name() const
        {
                return name_;
        }

      private:
        template <class Name> static constexpr uint64_t hash_of_name(const Name &name)
        {
                return hyprof_::hash_of(hyprof_::view_of(name)) ^ UINT64_C(0x9ae16a3b2f90404f);
        }

        std::string_view name_; /* borrowed from the name, as in the SDK */
};

class CounterTrack : public Track
{
      public:
        using Unit = protos::gen::CounterDescriptor::Unit;
        using CounterType = protos::gen::CounterDescriptor::BuiltinCounterType;

        template <class Name>
        constexpr explicit CounterTrack(const Name &name, Track parent = of_process())
            : CounterTrack(name, uint64_t(0), parent)
        {
        }
        template <class Name>
        constexpr CounterTrack(const Name &name, uint64_t id, Track parent = of_process())
            : Track(id ^ hyprof_::hash_of(hyprof_::view_of(name)) ^ UINT64_C(0xc3a5c85c97cb3127), parent),
              name_(hyprof_::view_of(name)), id_(id)
        {
        }
        template <class Name>
        constexpr CounterTrack(const Name &name, const char *unit_name, Track parent = of_process())
            : CounterTrack(name, uint64_t(0), parent)
        {
                unit_name_ = unit_name;
        }
        template <class Name>
        constexpr CounterTrack(const Name &name, Unit unit, Track parent = of_process())
            : CounterTrack(name, uint64_t(0), parent)
        {
                unit_ = unit;
        }
        template <class Name, class U> static constexpr CounterTrack Global(const Name &name, U unit)
        {
                return CounterTrack(name, unit, Track());
        }
        template <class Name> static constexpr CounterTrack Global(const Name &name)
        {
                return CounterTrack(name, uint64_t(0), Track());
        }
        constexpr CounterTrack set_unit(Unit unit) const
        {
                CounterTrack other(*this);

                other.unit_ = unit;
                return other;
        }
        constexpr CounterTrack set_unit_name(const char *name) const
        {
                CounterTrack other(*this);

                other.unit_name_ = name;
                return other;
        }
        constexpr CounterTrack set_unit_multiplier(int64_t multiplier) const
        {
                CounterTrack other(*this);

                other.multiplier_ = multiplier;
                return other;
        }
        constexpr CounterTrack set_is_incremental(bool is = true) const
        {
                CounterTrack other(*this);

                other.is_incremental_ = is;
                return other;
        }
        constexpr CounterTrack set_category(const char *) const
        {
                return *this;
        }
        constexpr CounterTrack set_type(CounterType) const
        {
                return *this;
        }
        constexpr bool is_incremental() const
        {
                return is_incremental_;
        }

        /* For the parts of this header. */
        constexpr std::string_view hyprof_name() const
        {
                return name_;
        }
        constexpr bool hyprof_is_plain() const
        {
                return unit_ == Unit() && !unit_name_ && multiplier_ == 1 && !is_incremental_ && id_ == 0 &&
                       parent_uuid == hyprof_::process_uuid;
        }
        constexpr int64_t hyprof_multiplier() const
        {
                return multiplier_;
        }
        constexpr uint64_t hyprof_id() const
        {
                return id_;
        }
        constexpr const char *hyprof_unit() const
        {
                if (unit_name_)
                        return unit_name_;
                return unit_ == protos::gen::CounterDescriptor::UNIT_TIME_NS ? "ns" : nullptr;
        }
        constexpr bool hyprof_has_bytes() const
        {
                return unit_ == protos::gen::CounterDescriptor::UNIT_SIZE_BYTES;
        }

      private:
        std::string_view name_; /* borrowed */
        uint64_t id_ = 0;
        Unit unit_ = protos::gen::CounterDescriptor::UNIT_UNSPECIFIED;
        const char *unit_name_ = nullptr;
        int64_t multiplier_ = 1;
        bool is_incremental_ = false;
};

namespace hyprof_
{

/* The key by which a zone is found again, as `hyprof import` has it of a .pftrace. */
inline struct hyprof_location *flow_space()
{
        static struct hyprof_location space = HYPROF_NAME("flow");

        return &space;
}

/* All of them lie behind one lock; a thread's own slices do not come here. */
class track_table
{
      public:
        static track_table &get()
        {
                static track_table *table = new track_table; /* used until the last thread ends */

                return *table;
        }

        void begin(uint64_t uuid, std::string_view name, struct hyprof_location *location, uint64_t time_ns,
                   uint64_t flow)
        {
                const std::lock_guard<std::mutex> guard(mutex_);

                if (forget_if_new())
                        lane_of(uuid, name).open.push_back({ location, time_ns, flow });
        }

        void end(uint64_t uuid, uint64_t time_ns)
        {
                const std::lock_guard<std::mutex> guard(mutex_);
                const auto at = lanes_.find(uuid);

                if (!forget_if_new() || at == lanes_.end() || at->second.open.empty())
                        return;
                const slice done = at->second.open.back();

                at->second.open.pop_back();
                calibrate();
                hyprof_device_keyed_span(&device_, done.location, done.begin_ns,
                                         time_ns > done.begin_ns ? time_ns : done.begin_ns, at->second.number,
                                         done.flow ? flow_space() : nullptr, done.flow);
                if (at->second.open.empty() && at->second.name.empty()) {
                        free_.push_back(at->second.number);
                        lanes_.erase(at);
                }
        }

        void instant(uint64_t uuid, std::string_view name, struct hyprof_location *location, uint64_t time_ns,
                     uint64_t flow)
        {
                const std::lock_guard<std::mutex> guard(mutex_);

                if (!forget_if_new())
                        return;
                const lane &to = lane_of(uuid, name);

                calibrate();
                hyprof_device_instant(&device_, location, time_ns, to.number, flow ? flow_space() : nullptr,
                                      flow);
                if (to.open.empty() && to.name.empty()) {
                        free_.push_back(to.number);
                        lanes_.erase(uuid);
                }
        }

        void value(struct hyprof_location *plot, uint64_t time_ns, double value)
        {
                const std::lock_guard<std::mutex> guard(mutex_);

                calibrate();
                hyprof_device_value(&device_, plot, time_ns, 0, value);
        }

        /* The sum of a counter that tells what was added. */
        double add(uint64_t uuid, double value)
        {
                const std::lock_guard<std::mutex> guard(mutex_);

                return sums_[uuid] += value;
        }

        /* Once true for each: its unit has to be told. */
        bool is_new_counter(uint64_t uuid)
        {
                const std::lock_guard<std::mutex> guard(mutex_);

                return counters_.insert(uuid).second;
        }

        /* Kept for recordings that begin later. */
        void name(uint64_t uuid, std::string_view name)
        {
                const std::lock_guard<std::mutex> guard(mutex_);

                if (name.empty() || (names_.size() >= names_max && names_.count(uuid) == 0))
                        return;
                names_[uuid] = name;
                if (const auto at = lanes_.find(uuid); at != lanes_.end()) {
                        at->second.name = name;
                        at->second.told_session = 0;
                }
        }

        void forget_name(uint64_t uuid)
        {
                const std::lock_guard<std::mutex> guard(mutex_);

                names_.erase(uuid);
        }

      private:
        static constexpr size_t names_max = 65536; /* further tracks have no names */

        struct slice {
                struct hyprof_location *location;
                uint64_t begin_ns, flow;
        };
        struct lane {
                uint32_t number = 0, told_session = 0;
                std::string name;
                std::vector<slice> open;
        };

        static uint32_t session()
        {
                return HYPROF_WANTED_(UINT32_MAX) >> 16;
        }

        /* Slices that were open in another recording do not end in this one.  False: there is none. */
        bool forget_if_new()
        {
                if (!HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_))
                        return false;
                if (session_ != session()) {
                        session_ = session();
                        for (auto &one : lanes_)
                                one.second.open.clear();
                        calibrated_ns_ = 0;
                }
                return true;
        }

        lane &lane_of(uint64_t uuid, std::string_view name)
        {
                const auto known = lanes_.try_emplace(uuid);
                lane &one = known.first->second;

                if (known.second) {
                        if (const auto named = names_.find(uuid); named != names_.end())
                                one.name = named->second;
                        else if (names_.size() < names_max && !name.empty())
                                one.name = names_[uuid] = name;
                        if (free_.empty() || !one.name.empty()) {
                                one.number = ++n_lanes_;
                        } else {
                                one.number = free_.back();
                                free_.pop_back();
                        }
                }
                if (one.told_session != session_) {
                        one.told_session = session_;
                        if (!one.name.empty())
                                hyprof_device_track(&device_, one.number, HYPROF_NO_LANE, one.name.c_str(),
                                                    HYPROF_TRACK_OTHER);
                }
                return one;
        }

        /* Once a second: two clocks drift apart by microseconds in that time. */
        void calibrate()
        {
                const uint64_t before = hyprof_now_ns();

                if (calibrated_ns_ != 0 && before - calibrated_ns_ < UINT64_C(1000000000))
                        return;
                const uint64_t ticks = read_clock(CLOCK_BOOTTIME);

                calibrated_ns_ = before;
                hyprof_device_calibrate_within(&device_, ticks, before, hyprof_now_ns());
        }

        std::mutex mutex_;
        struct hyprof_device device_ = HYPROF_DEVICE("Perfetto tracks", 1.0, 0);
        std::unordered_map<uint64_t, lane> lanes_;
        std::unordered_map<uint64_t, std::string> names_;
        std::unordered_map<uint64_t, double> sums_;
        std::unordered_set<uint64_t> counters_;
        std::vector<uint32_t> free_;
        uint32_t n_lanes_ = 0, session_ = 0;
        uint64_t calibrated_ns_ = 0;
};

} // namespace hyprof_

} // namespace perfetto

#endif // HYPROF_PERFETTO_TRACKS_HPP
