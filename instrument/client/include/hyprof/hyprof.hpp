// SPDX-License-Identifier: MIT
/*
 * hyprof/hyprof.hpp - classes for C++ around <hyprof/hyprof.h>
 *
 * Way of the data:  program -> [hyprof.hpp] -> hyprof.h -> libhyprof -> shared memory -> hyprof record
 *
 *      #include <hyprof/hyprof.hpp>
 *
 *      class queue {
 *              hyprof::lockable<std::mutex> mutex{ HYPROF_HERE("queue") };
 *              std::condition_variable_any filled;
 *              ...
 *              job take()
 *              {
 *                      HYPROF_SCOPE(zone, "take");
 *                      std::unique_lock<hyprof::lockable<std::mutex>> guard(mutex);
 *                      filled.wait(guard, [this] { return !jobs.empty(); });
 *                      zone.value(jobs.size());
 *                      ...
 *              }
 *      };
 *
 * Everything is in this file; link with -lhyprof.  Nothing throws but the
 * program's own locks.  The objects belong to the thread that made them, except
 * for locks and devices, which any thread may use.
 *
 * Cost.  Without a recorder: a load and a branch for a zone, a frame, a fiber and for each operation of a
 * lock.  While a recorder is active: the cost that hyprof.h states for events; a lock that is free costs two
 * of them, obtain and release, and three if a thread had to wait.  An object of a lock is 40 bytes larger
 * than the lock alone.
 *
 * With HYPROF_DISABLE a lock is as large and its machine code the same as the
 * lock's alone, and the rest is nothing.  Files that are compiled with and
 * without it can be linked together, but nothing that they share may contain
 * these classes: the linker would report it as missing.
 *
 * C++11 and later.
 */
#ifndef HYPROF_HYPROF_HPP
#define HYPROF_HYPROF_HPP

#include "hyprof.h"

#include <unistd.h>

/*
 * HYPROF_HERE("name") - a name and this place in the source, for a lock
 * HYPROF_SCOPE(var, "name") - the rest of the enclosing block is a zone, and `var` a hyprof::zone to say
 *         more about it
 * HYPROF_SCOPE_CALLSTACK(var, "name", depth) - the same with the call stack that led here, of `depth` frames
 *         at most
 */
#define HYPROF_HERE(name)                                                                \
        hyprof_location                                                                  \
        {                                                                                \
                (name), HYPROF_NULL_, __FILE__, static_cast<uint32_t>(__LINE__), 0, 0, 0 \
        }
#define HYPROF_SCOPE(var, name)                                                                 \
        static struct hyprof_location HYPROF_JOIN_(var, _location_) = HYPROF_LOCATION(name, 0); \
        const hyprof::zone var(&HYPROF_JOIN_(var, _location_))
#define HYPROF_SCOPE_CALLSTACK(var, name, depth)                                                \
        static struct hyprof_location HYPROF_JOIN_(var, _location_) = HYPROF_LOCATION(name, 0); \
        const hyprof::zone var(&HYPROF_JOIN_(var, _location_), (depth))

namespace hyprof
{

#ifndef HYPROF_DISABLE
inline namespace enabled
{

/* A zone: begins in the constructor and ends in the destructor. */
class zone
{
      public:
        /* @location: static, or from hyprof_location_of(); NULL = no zone */
        explicit zone(struct hyprof_location *location) noexcept : handle_(hyprof_zone_begin(location))
        {
        }
        /* With the callstack that led here, of @depth frames at most; 0 = without. */
        zone(struct hyprof_location *location, uint32_t depth) noexcept
            : handle_(depth > 0 ? hyprof_zone_begin_callstack(location, depth) : hyprof_zone_begin(location))
        {
        }
        ~zone() noexcept
        {
                hyprof_zone_end(handle_);
        }
        zone(const zone &) = delete;
        zone &operator=(const zone &) = delete;

        /* True if the zone is recorded: guards work that is only done to say something about it. */
        explicit operator bool() const noexcept
        {
                return handle_ != 0;
        }
        /* For the functions of <hyprof/zone.h>. */
        hyprof_zone handle() const noexcept
        {
                return handle_;
        }

        /* Adds a line of text; copied. */
        void text(const char *line) const noexcept
        {
                if (handle_ != 0 && line)
                        hyprof_zone_text(handle_, line, __builtin_strlen(line));
        }
        void text(const char *line, size_t line_bytes) const noexcept
        {
                hyprof_zone_text(handle_, line, line_bytes);
        }
        /* std::string, std::string_view, std::vector<char> */
        template <class Text>
        auto text(const Text &line) const noexcept -> decltype(line.data(), line.size(), void())
        {
                hyprof_zone_text(handle_, line.data(), line.size());
        }

        /* Calls this one instance something else; copied. */
        void name(const char *words) const noexcept
        {
                if (handle_ != 0 && words)
                        hyprof_zone_name(handle_, words, __builtin_strlen(words));
        }
        void name(const char *words, size_t words_bytes) const noexcept
        {
                hyprof_zone_name(handle_, words, words_bytes);
        }
        template <class Text>
        auto name(const Text &words) const noexcept -> decltype(words.data(), words.size(), void())
        {
                hyprof_zone_name(handle_, words.data(), words.size());
        }

        /* Adds a number. */
        template <class Number> void value(Number number) const noexcept
        {
                hyprof_zone_value(handle_, static_cast<int64_t>(number));
        }
        /* Joins the zone with events of devices: see hyprof_zone_key(). */
        void key(struct hyprof_location *space, uint64_t number) const noexcept
        {
                hyprof_zone_key(handle_, space, number);
        }
        /* 0xRRGGBB */
        void color(uint32_t rgb) const noexcept
        {
                hyprof_zone_color(handle_, rgb);
        }

      private:
        const hyprof_zone handle_;
};

/*
 * A lock that reports who waits for it and who holds it, and otherwise behaves like Mutex: for
 * std::lock_guard, std::unique_lock, std::scoped_lock, std::condition_variable_any.
 *
 * While it is recorded, lock() tries first, so that it reports a wait only where there is one.  For a Mutex
 * without try_lock() it reports a wait each time.  Waits of try_lock_for() and try_lock_until() are recorded
 * when they obtain the lock.
 *
 * The release is recorded before the lock is given up: from then on it may belong to another thread, which
 * may destroy it.
 */
template <class Mutex> class lockable
{
      public:
        typedef Mutex mutex_type;

        constexpr lockable() : mutex_(), lock_{ { "lock", nullptr, nullptr, 0, 0, 0, 0 } }
        {
        }
        /* @name: lives as long as the lock */
        constexpr explicit lockable(const char *name)
            : mutex_(), lock_{ { name, nullptr, nullptr, 0, 0, 0, 0 } }
        {
        }
        /* @where: HYPROF_HERE("name"); its strings live as long as the lock */
        constexpr explicit lockable(const struct hyprof_location &where)
            : mutex_(), lock_{ { where.name, where.function, where.file, where.line, where.color, 0, 0 } }
        {
        }
        ~lockable()
        {
                hyprof_lock_gone(&lock_);
        }
        lockable(const lockable &) = delete;
        lockable &operator=(const lockable &) = delete;

        void lock()
        {
                if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_LOCKS_)))
                        lock_recorded(mutex_, 0);
                else
                        mutex_.lock();
        }
        bool try_lock()
        {
                bool obtained = mutex_.try_lock();

                hyprof_lock_try(&lock_, obtained);
                return obtained;
        }
        template <class Duration> bool try_lock_for(const Duration &duration)
        {
                bool obtained = mutex_.try_lock_for(duration);

                hyprof_lock_try(&lock_, obtained);
                return obtained;
        }
        template <class TimePoint> bool try_lock_until(const TimePoint &time)
        {
                bool obtained = mutex_.try_lock_until(time);

                hyprof_lock_try(&lock_, obtained);
                return obtained;
        }
        void unlock()
        {
                hyprof_lock_release(&lock_);
                mutex_.unlock();
        }

        /* The lock itself.  Operations on it directly are not recorded. */
        Mutex &base() noexcept
        {
                return mutex_;
        }
        /* This place holds it; said after lock(). */
        void mark(struct hyprof_location *location) noexcept
        {
                hyprof_lock_mark(&lock_, location);
        }
        /* Calls this one instance something else; copied. */
        void name(const char *words) noexcept
        {
                hyprof_lock_name(&lock_, words, words ? __builtin_strlen(words) : 0);
        }
        void name(const char *words, size_t words_bytes) noexcept
        {
                hyprof_lock_name(&lock_, words, words_bytes);
        }

      protected:
        template <class Any> auto lock_recorded(Any &mutex, int) -> decltype(!mutex.try_lock(), void())
        {
                if (!mutex.try_lock()) {
                        hyprof_lock_wait(&lock_);
                        mutex.lock();
                }
                hyprof_lock_obtain(&lock_);
        }
        template <class Any> void lock_recorded(Any &mutex, long)
        {
                hyprof_lock_wait(&lock_);
                mutex.lock();
                hyprof_lock_obtain(&lock_);
        }

        Mutex mutex_;
        struct hyprof_lock lock_;
};

/* The same for a lock that several threads can hold at once, to read: also for std::shared_lock. */
template <class Mutex> class shared_lockable : public lockable<Mutex>
{
      public:
        using lockable<Mutex>::lockable;
        constexpr shared_lockable() : lockable<Mutex>()
        {
        }

        void lock_shared()
        {
                if (HYPROF_UNLIKELY_(HYPROF_WANTED_(HYPROF_FAMILY_LOCKS_)))
                        lock_shared_recorded(this->mutex_, 0);
                else
                        this->mutex_.lock_shared();
        }
        bool try_lock_shared()
        {
                bool obtained = this->mutex_.try_lock_shared();

                hyprof_lock_try_shared(&this->lock_, obtained);
                return obtained;
        }
        template <class Duration> bool try_lock_shared_for(const Duration &duration)
        {
                bool obtained = this->mutex_.try_lock_shared_for(duration);

                hyprof_lock_try_shared(&this->lock_, obtained);
                return obtained;
        }
        template <class TimePoint> bool try_lock_shared_until(const TimePoint &time)
        {
                bool obtained = this->mutex_.try_lock_shared_until(time);

                hyprof_lock_try_shared(&this->lock_, obtained);
                return obtained;
        }
        void unlock_shared()
        {
                hyprof_lock_release_shared(&this->lock_);
                this->mutex_.unlock_shared();
        }

      private:
        template <class Any>
        auto lock_shared_recorded(Any &mutex, int) -> decltype(!mutex.try_lock_shared(), void())
        {
                if (!mutex.try_lock_shared()) {
                        hyprof_lock_wait_shared(&this->lock_);
                        mutex.lock_shared();
                }
                hyprof_lock_obtain_shared(&this->lock_);
        }
        template <class Any> void lock_shared_recorded(Any &mutex, long)
        {
                hyprof_lock_wait_shared(&this->lock_);
                mutex.lock_shared();
                hyprof_lock_obtain_shared(&this->lock_);
        }
};

/* The thread is a fiber from here to the end of the block, and then itself again. */
class fiber
{
      public:
        /* @name: copied; address and content together tell one fiber from another */
        explicit fiber(const char *name) noexcept
        {
                hyprof_fiber_enter(name);
        }
        ~fiber() noexcept
        {
                hyprof_fiber_leave();
        }
        fiber(const fiber &) = delete;
        fiber &operator=(const fiber &) = delete;
};

/* The rest of the block is one of those frames that have gaps between them. */
class frame
{
      public:
        /* @name: static, as of HYPROF_NAME("name"), or from hyprof_name_of() */
        explicit frame(struct hyprof_location *name) noexcept : name_(name)
        {
                hyprof_frame_begin(name_);
        }
        ~frame() noexcept
        {
                hyprof_frame_end(name_);
        }
        frame(const frame &) = delete;
        frame &operator=(const frame &) = delete;

      private:
        struct hyprof_location *const name_;
};

/* A flow, to be kept with the work that goes from thread to thread: see <hyprof/flow.h>.  16 bytes. */
class flow
{
      public:
        /* @space: static, as of HYPROF_NAME("request"), or from hyprof_name_of(); nullptr = none */
        explicit flow(uint64_t id, struct hyprof_location *space = nullptr) noexcept : space_(space), id_(id)
        {
        }
        void begin() const noexcept
        {
                hyprof_flow_begin(space_, id_);
        }
        void step() const noexcept
        {
                hyprof_flow_step(space_, id_);
        }
        void end() const noexcept
        {
                hyprof_flow_end(space_, id_);
        }

      private:
        struct hyprof_location *space_;
        uint64_t id_;
};

/* A queue with a clock of its own: see <hyprof/device.h>. */
class device
{
      public:
        /* @name: lives as long as the device; @period_ns: of a tick, 0 = found from two calibrations */
        constexpr explicit device(const char *name, double period_ns = 0, uint32_t kind = 0)
            : device_{ { name, nullptr, nullptr, 0, 0, 0, 0 }, period_ns, kind, 0 }
        {
        }
        device(const device &) = delete;
        device &operator=(const device &) = delete;

        void calibrate(uint64_t ticks, uint64_t host_ns = 0) noexcept
        {
                hyprof_device_calibrate(&device_, ticks, host_ns);
        }
        void calibrate_within(uint64_t ticks, uint64_t host_begin_ns, uint64_t host_end_ns) noexcept
        {
                hyprof_device_calibrate_within(&device_, ticks, host_begin_ns, host_end_ns);
        }
        /* @name: copied */
        void track(uint32_t lane, uint32_t parent_lane, const char *name,
                   enum hyprof_track_kind kind = HYPROF_TRACK_OTHER) noexcept
        {
                hyprof_device_track(&device_, lane, parent_lane, name, kind);
        }
        void span(struct hyprof_location *location, uint64_t begin_ticks, uint64_t end_ticks,
                  uint32_t lane = 0, uint32_t key = 0) noexcept
        {
                hyprof_device_span(&device_, location, begin_ticks, end_ticks, lane, key);
        }
        void span(struct hyprof_location *location, uint64_t begin_ticks, uint64_t end_ticks, uint32_t lane,
                  struct hyprof_location *space, uint64_t key) noexcept
        {
                hyprof_device_keyed_span(&device_, location, begin_ticks, end_ticks, lane, space, key);
        }
        void instant(struct hyprof_location *location, uint64_t ticks, uint32_t lane = 0,
                     struct hyprof_location *space = nullptr, uint64_t key = 0) noexcept
        {
                hyprof_device_instant(&device_, location, ticks, lane, space, key);
        }
        void value(struct hyprof_location *plot, uint64_t ticks, double number, uint32_t lane = 0) noexcept
        {
                hyprof_device_value(&device_, plot, ticks, lane, number);
        }
        void zone_begin(struct hyprof_location *location, uint64_t query) noexcept
        {
                hyprof_device_zone_begin(&device_, location, query);
        }
        void zone_end(uint64_t query) noexcept
        {
                hyprof_device_zone_end(&device_, query);
        }
        void time(uint64_t query, uint64_t ticks) noexcept
        {
                hyprof_device_time(&device_, query, ticks);
        }
        /* For the functions of <hyprof/device.h>. */
        struct hyprof_device *base() noexcept
        {
                return &device_;
        }

      private:
        struct hyprof_device device_;
};

// The program's events are left out as long as an object of this class lives, in any thread: each object
// begins with hyprof_pause(), and the last one ends with hyprof_resume().  A child of fork() begins without a
// pause, and its parent's objects mean nothing there.  Cost: a system call for each begin and end.
class paused
{
      public:
        paused() noexcept : process_(self())
        {
                change(1);
        }
        ~paused()
        {
                if (process_ == self())
                        change(-1);
        }
        paused(const paused &) = delete;
        paused &operator=(const paused &) = delete;

      private:
        static uint64_t self() noexcept
        {
                return static_cast<uint64_t>(getpid()) << 32;
        }
        // How many objects live in this process; 0 if @count is still that of its parent.
        static uint32_t number_of(uint64_t count) noexcept
        {
                return (count ^ self()) >> 32 == 0 ? static_cast<uint32_t>(count) : 0;
        }
        // Other threads may change the count at the same time; whichever acts last has seen the last count.
        static void change(int by) noexcept
        {
                uint64_t before = __atomic_load_n(count(), __ATOMIC_SEQ_CST), after;
                bool is_paused, was_paused;

                do
                        after = self() | (number_of(before) + static_cast<uint32_t>(by));
                while (!__atomic_compare_exchange_n(count(), &before, after, false, __ATOMIC_SEQ_CST,
                                                    __ATOMIC_SEQ_CST));
                is_paused = number_of(after) > 0;

                do {
                        was_paused = is_paused;
                        if (was_paused)
                                hyprof_pause();
                        else
                                hyprof_resume();
                        is_paused = number_of(__atomic_load_n(count(), __ATOMIC_SEQ_CST)) > 0;
                } while (is_paused != was_paused);
        }
        // One count for the whole process, in whichever library the object is; the PID is in the upper half.
        __attribute__((visibility("default"))) static uint64_t *count() noexcept
        {
                static uint64_t n = 0;
                return &n;
        }

        const uint64_t process_;
};

} // namespace enabled
#else /* HYPROF_DISABLE: the same names, with nothing in them but the program's own locks */
inline namespace disabled
{

class zone
{
      public:
        template <class... Anything> explicit zone(const Anything &...) noexcept
        {
        }
        zone(const zone &) = delete;
        zone &operator=(const zone &) = delete;

        explicit operator bool() const noexcept
        {
                return false;
        }
        hyprof_zone handle() const noexcept
        {
                return 0;
        }
        template <class... Anything> void text(const Anything &...) const noexcept
        {
        }
        template <class... Anything> void name(const Anything &...) const noexcept
        {
        }
        void key(struct hyprof_location *, uint64_t) const noexcept
        {
        }
        template <class Number> void value(const Number &) const noexcept
        {
        }
        void color(uint32_t) const noexcept
        {
        }
};

template <class Mutex> class lockable
{
      public:
        typedef Mutex mutex_type;

        constexpr lockable() : mutex_()
        {
        }
        constexpr explicit lockable(const char *) : mutex_()
        {
        }
        constexpr explicit lockable(const struct hyprof_location &) : mutex_()
        {
        }
        lockable(const lockable &) = delete;
        lockable &operator=(const lockable &) = delete;

        void lock()
        {
                mutex_.lock();
        }
        bool try_lock()
        {
                return mutex_.try_lock();
        }
        template <class Duration> bool try_lock_for(const Duration &duration)
        {
                return mutex_.try_lock_for(duration);
        }
        template <class TimePoint> bool try_lock_until(const TimePoint &time)
        {
                return mutex_.try_lock_until(time);
        }
        void unlock()
        {
                mutex_.unlock();
        }

        Mutex &base() noexcept
        {
                return mutex_;
        }
        void mark(struct hyprof_location *) noexcept
        {
        }
        void name(const char *, size_t = 0) noexcept
        {
        }

      protected:
        Mutex mutex_;
};

template <class Mutex> class shared_lockable : public lockable<Mutex>
{
      public:
        using lockable<Mutex>::lockable;
        constexpr shared_lockable() : lockable<Mutex>()
        {
        }

        void lock_shared()
        {
                this->mutex_.lock_shared();
        }
        bool try_lock_shared()
        {
                return this->mutex_.try_lock_shared();
        }
        template <class Duration> bool try_lock_shared_for(const Duration &duration)
        {
                return this->mutex_.try_lock_shared_for(duration);
        }
        template <class TimePoint> bool try_lock_shared_until(const TimePoint &time)
        {
                return this->mutex_.try_lock_shared_until(time);
        }
        void unlock_shared()
        {
                this->mutex_.unlock_shared();
        }
};

class fiber
{
      public:
        explicit fiber(const char *) noexcept
        {
        }
        fiber(const fiber &) = delete;
        fiber &operator=(const fiber &) = delete;
};

class frame
{
      public:
        explicit frame(struct hyprof_location *) noexcept
        {
        }
        frame(const frame &) = delete;
        frame &operator=(const frame &) = delete;
};

class flow
{
      public:
        explicit flow(uint64_t, struct hyprof_location * = nullptr) noexcept
        {
        }
        void begin() const noexcept
        {
        }
        void step() const noexcept
        {
        }
        void end() const noexcept
        {
        }
};

class device
{
      public:
        constexpr explicit device(const char *, double = 0, uint32_t = 0)
        {
        }
        device(const device &) = delete;
        device &operator=(const device &) = delete;

        void calibrate(uint64_t, uint64_t = 0) noexcept
        {
        }
        void calibrate_within(uint64_t, uint64_t, uint64_t) noexcept
        {
        }
        void track(uint32_t, uint32_t, const char *, enum hyprof_track_kind = HYPROF_TRACK_OTHER) noexcept
        {
        }
        void span(struct hyprof_location *, uint64_t, uint64_t, uint32_t = 0, uint32_t = 0) noexcept
        {
        }
        void span(struct hyprof_location *, uint64_t, uint64_t, uint32_t, struct hyprof_location *,
                  uint64_t) noexcept
        {
        }
        void instant(struct hyprof_location *, uint64_t, uint32_t = 0, struct hyprof_location * = nullptr,
                     uint64_t = 0) noexcept
        {
        }
        void value(struct hyprof_location *, uint64_t, double, uint32_t = 0) noexcept
        {
        }
        void zone_begin(struct hyprof_location *, uint64_t) noexcept
        {
        }
        void zone_end(uint64_t) noexcept
        {
        }
        void time(uint64_t, uint64_t) noexcept
        {
        }
        struct hyprof_device *base() noexcept
        {
                return nullptr;
        }
};

class paused
{
      public:
        paused() noexcept
        {
        }
        ~paused()
        {
        }
        paused(const paused &) = delete;
        paused &operator=(const paused &) = delete;
};

} // namespace disabled
#endif

} // namespace hyprof

#endif // HYPROF_HYPROF_HPP
