// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/tracy/hyprof_tracy_device.hpp - a device whose time stamps are results of queries
 *
 * Way of the data:  TracyOpenGL.hpp, TracyVulkan.hpp -> [hyprof_tracy_device.hpp] -> device.h -> libhyprof
 *
 * The driver's queries are places of a ring: a zone takes two, and collecting their results frees them.  A
 * context is made once, perhaps long before a recording, so its calibrations are repeated to each recording.
 * Not for callers.
 */
#ifndef HYPROF_COMPAT_HYPROF_TRACY_DEVICE_HPP
#define HYPROF_COMPAT_HYPROF_TRACY_DEVICE_HPP

namespace tracy
{

namespace detail
{

/* The recording's clock, also while nothing is recorded: contexts are made then, and have to be placed. */
inline uint64_t device_now_ns()
{
        return hyprof_emit_now_ns();
}

class query_ring
{
      public:
        static const uint32_t n_places = 65536;
        static const uint64_t none = UINT64_MAX;

        query_ring(const char *name, double period_ns, uint32_t kind)
        {
                snprintf(name_, sizeof(name_), "%s", name);
                hyprof_device_init(&device_, name_, period_ns, kind);
        }

        /* Counts if it comes before the first event that is recorded. */
        void set_name(const char *name, size_t name_bytes)
        {
                if (device_.location.id == 0)
                        snprintf(name_, sizeof(name_), "%.*s",
                                 static_cast<int>(name_bytes < 64 ? name_bytes : 63), name);
        }

        /* The device's clock was @ticks at some moment between the two times. */
        void calibrate(uint64_t ticks, uint64_t begin_ns, uint64_t end_ns)
        {
                last_ = { ticks, begin_ns, end_ns };
                if (first_.end_ns == 0)
                        first_ = last_; /* told with the first event, so that a name may come before it */
                else if (is_recorded())
                        tell(last_);
        }
        bool is_calibration_due() const
        {
                return HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_) && device_now_ns() - last_.end_ns > 1000000000;
        }

        /* A query for a zone's begin; none if nothing is recorded, or too few places are free. */
        uint64_t take_begin()
        {
                if (!is_recorded())
                        return none;
                /* Each open zone will need a place for its end. */
                const uint32_t n_open = __atomic_add_fetch(&n_open_, 1, __ATOMIC_ACQ_REL);
                if (n_used() + n_open + n_open >= n_places) {
                        __atomic_fetch_sub(&n_open_, 1, __ATOMIC_ACQ_REL);
                        hyprof_tracy_unrecorded_(HYPROF_UNRECORDED_DEVICE_ZONE_);
                        return none;
                }
                return __atomic_fetch_add(&head_, 1, __ATOMIC_ACQ_REL);
        }
        /* For the end of a zone whose begin has a query. */
        uint64_t take_end()
        {
                __atomic_fetch_sub(&n_open_, 1, __ATOMIC_ACQ_REL);
                return __atomic_fetch_add(&head_, 1, __ATOMIC_ACQ_REL);
        }
        static uint32_t place(uint64_t number)
        {
                return static_cast<uint32_t>(number % n_places);
        }
        void begin(struct hyprof_location *location, uint64_t number, int32_t depth)
        {
                if (location)
                        hyprof_emit_device_zone_begin(&device_, location, number,
                                                      depth > 0 ? static_cast<uint32_t>(depth) : 0);
        }
        void end(uint64_t number)
        {
                hyprof_device_zone_end(&device_, number);
        }

        /* How many queries, from the oldest on, lie beside each other and have not been collected. */
        uint32_t waiting() const
        {
                const uint64_t n = __atomic_load_n(&head_, __ATOMIC_ACQUIRE) - tail_;
                const uint64_t to_the_end = n_places - tail_ % n_places;

                return static_cast<uint32_t>(n < to_the_end ? n : to_the_end);
        }
        uint32_t oldest() const
        {
                return place(tail_);
        }
        /* The result of a query, @nth from the oldest on; and the places of the oldest are free again. */
        void tell_result(uint32_t nth, uint64_t ticks)
        {
                hyprof_device_time(&device_, tail_ + nth, ticks);
        }
        void free_places(uint32_t n)
        {
                __atomic_store_n(&tail_, tail_ + n, __ATOMIC_RELEASE);
        }

      private:
        uint64_t n_used() const
        {
                return __atomic_load_n(&head_, __ATOMIC_ACQUIRE) - __atomic_load_n(&tail_, __ATOMIC_ACQUIRE);
        }

        struct calibration {
                uint64_t ticks, begin_ns, end_ns;
        };

        void tell(const calibration &c)
        {
                hyprof_device_calibrate_within(&device_, c.ticks, c.begin_ns, c.end_ns);
        }
        bool is_recorded()
        {
                const uint32_t word = HYPROF_WANTED_(UINT32_MAX);
                const uint32_t session = word >> 16;

                if (!(word & HYPROF_FAMILY_DEVICES_) || first_.end_ns == 0)
                        return false;
                if (__atomic_exchange_n(&session_, session, __ATOMIC_ACQ_REL) != session) {
                        tell(first_);
                        if (last_.end_ns != first_.end_ns)
                                tell(last_);
                }
                return true;
        }

        struct hyprof_device device_;
        char name_[64];
        calibration first_ = { 0, 0, 0 };
        calibration last_ = { 0, 0, 0 };
        uint32_t session_ = 0;
        uint32_t n_open_ = 0; /* zones with a begin and no end */
        uint64_t head_ = 0;   /* the next number */
        uint64_t tail_ = 0;   /* the oldest that was not collected */
};

} // namespace detail

} // namespace tracy

#define HYPROF_TRACY_PLACE_(name, color)                                                              \
        static constexpr tracy::SourceLocationData HYPROF_JOIN_(hyprof_tracy_gpu_location_, __LINE__) \
        {                                                                                             \
                name, TracyFunction, TracyFile, static_cast<uint32_t>(TracyLine), color               \
        }
#define HYPROF_TRACY_PLACE_HERE_ (&HYPROF_JOIN_(hyprof_tracy_gpu_location_, __LINE__))
#define HYPROF_TRACY_MADE_PLACE_(name) \
        tracy::detail::made_place(static_cast<uint32_t>(TracyLine), TracyFile, TracyFunction, name)

namespace tracy
{
namespace detail
{
/* A location by its content, while devices are recorded. */
inline struct hyprof_location *made_place(uint32_t line, const char *file, const char *function,
                                          const char *name)
{
        if (!HYPROF_WANTED_(HYPROF_FAMILY_DEVICES_))
                return nullptr;
        return hyprof_emit_location_of(name, name ? __builtin_strlen(name) : 0, function,
                                       __builtin_strlen(function), file, __builtin_strlen(file), line, 0);
}
} // namespace detail
} // namespace tracy

#endif // HYPROF_COMPAT_HYPROF_TRACY_DEVICE_HPP
