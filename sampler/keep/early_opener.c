/* SPDX-License-Identifier: MIT */
#include "sampler/keep/early_opener.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/helper_thread.h"
#include "base/io.h"
#include "instrument/region_finder.h"
#include "sampler/events/event_set.h"
#include "sampler/events/ring_watch.h"
#include "sampler/keep/module_file.h"
#include "sampler/keep/opened_files.h"
#include "sampler/pace/pace.h"
#include "sampler/pace/wakeup_throttle.h"
#include "sampler/rights/privileges.h"
#include "sampler/rights/thread_priority.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define WAKE_STOP UINT32_MAX

struct early_opener {
        struct perf_record_layout layout;
        struct opened_files files;
        struct ring_watch *watches; /* heap, per ring of the set; ring NULL = not a tracker's */
        size_t n_rings;
        struct event_set *events; /* borrowed, for its doorbells */
        struct wakeup_throttle throttle;
        int epoll_fd, stop_fd, notify_fd; /* owned */
        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t changed;
        bool ready; /* the thread has its rights */
};

/* ---- the thread ---------------------------------------------------------------------------------------- */

bool early_opener_wants_path(const char *path, size_t path_bytes)
{
        static const char *const of_system[] = { "/usr/",    "/lib/", "/lib32/", "/lib64/",
                                                 "/libx32/", "/bin/", "/sbin/",  "//anon" };

        if (path_bytes == 0 || path[0] != '/')
                return false;
        for (size_t i = 0; i < sizeof(of_system) / sizeof(of_system[0]); i++) {
                size_t n = strlen(of_system[i]);

                if (path_bytes >= n && memcmp(path, of_system[i], n) == 0)
                        return false;
        }
        return true;
}

/* Opens the files that the records of a ring report.  Returns false if there may be more. */
static bool look(struct early_opener *o, struct ring_watch *ring)
{
        const uint8_t *bytes;
        size_t n_bytes;

        for (unsigned n_looks = 0, n_opens = 0; n_looks < PACE_OPENER_LOOKS && n_opens < PACE_OPENER_OPENS;
             n_looks++) {
                struct perf_record rec;
                bool wants;
                int fd;

                if (ring_watch_next(ring, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_DATA, &bytes, &n_bytes) ==
                    0)
                        return true;
                if (perf_record_decode(bytes, n_bytes, &o->layout, &rec, NULL) < 0 ||
                    rec.kind != PERF_RECORD_KIND_MMAP || !rec.mmap.executable)
                        continue;
                if (region_finder_is_region_name(rec.mmap.path, rec.mmap.path_bytes)) {
                        wakeup_throttle_note(&o->throttle, rec.pid, false, clock_raw_ns());
                        continue;
                }
                wants = early_opener_wants_path(rec.mmap.path, rec.mmap.path_bytes);
                wakeup_throttle_note(&o->throttle, rec.pid, wants || perf_mmap_is_anonymous(&rec.mmap),
                                     clock_raw_ns());
                if (!wants)
                        continue;
                n_opens++;
                fd = module_file_open(rec.pid, &rec.mmap, NULL);
                if (fd >= 0)
                        opened_files_put(&o->files, rec.pid, &rec.mmap, fd);
        }
        return false;
}

static bool look_at_all(struct early_opener *o)
{
        bool all = true;

        for (size_t i = 0; i < o->n_rings; i++)
                if (o->watches[i].ring)
                        all &= look(o, &o->watches[i]);
        return all;
}

static void rest(struct early_opener *o)
{
        const struct timespec pause = { .tv_nsec = (long)wakeup_throttle_pause_ns(
                                                &o->throttle, clock_thread_ns(), clock_raw_ns()) };

        if (pause.tv_nsec > 0)
                (void)nanosleep(&pause, NULL);
}

static void say_ready(struct early_opener *o)
{
        (void)pthread_mutex_lock(&o->lock);
        o->ready = true;
        (void)pthread_cond_signal(&o->changed);
        (void)pthread_mutex_unlock(&o->lock);
}

static void report(struct early_opener *o, bool rang)
{
        static const uint64_t one = 1;

        if (wakeup_throttle_report(&o->throttle, rang, clock_raw_ns()))
                (void)io_write_all(o->notify_fd, &one, sizeof(one), NULL);
}

/* The CPUs whose doorbells have rung, and without doorbells the rings. */
struct callers {
        uint32_t items[16];
        unsigned n_items;
};

/* A CPU's doorbell rings for records in its own tracker's ring. */
static bool look_at_callers(struct early_opener *o, const struct callers *callers)
{
        bool all = true;

        for (unsigned i = 0; i < callers->n_items; i++) {
                size_t ring = event_set_has_doorbells(o->events) ? 2 * (size_t)callers->items[i]
                                                                 : callers->items[i];

                if (o->watches[ring].ring)
                        all &= look(o, &o->watches[ring]);
        }
        return all;
}

/*
 * Turns the doorbells on if there is a reason, or those off that have rung.  @all: the last look has seen all
 * records.  Returns true if all records that have come by now were seen.
 */
static bool calm_down(struct early_opener *o, const struct callers *callers, bool all)
{
        bool was_silent = o->throttle.silent;

        if (!event_set_has_doorbells(o->events))
                return all;
        if (wakeup_throttle_decide(&o->throttle, callers->n_items, clock_raw_ns())) {
                for (unsigned i = 0; i < callers->n_items; i++)
                        event_set_silence(o->events, callers->items[i]);
                return all;
        }
        if (!was_silent)
                return all;
        event_set_ring_again(o->events);
        return look_at_all(o); /* records from before the doorbells were on have rung none of them */
}

/*
 * Waits for records and looks at them.  @all: nothing is left from the last time.  Returns false at the end.
 */
static bool look_at_next(struct early_opener *o, bool *all)
{
        struct epoll_event events[16];
        int n = epoll_wait(o->epoll_fd, events, 16,
                           *all ? wakeup_throttle_wait_ms(&o->throttle, clock_raw_ns()) : 0);
        struct callers callers = { .n_items = 0 };

        for (int i = 0; i < n; i++) {
                if (events[i].data.u32 == WAKE_STOP)
                        return false;
                if (event_set_has_doorbells(o->events))
                        event_set_answer(o->events, events[i].data.u32);
                callers.items[callers.n_items++] = events[i].data.u32;
        }
        /* Bells that are silent do not say whose ring has something. */
        *all = *all && n > 0 && !o->throttle.silent ? look_at_callers(o, &callers) : look_at_all(o);
        *all = calm_down(o, &callers, *all);
        report(o, callers.n_items > 0);
        return true;
}

static void *run(void *context)
{
        struct early_opener *o = context;
        bool all = true;

        thread_priority_put_first();
        (void)privileges_narrow_thread(NULL); /* the collector reports rights that cannot be dropped */
        say_ready(o);
        while (look_at_next(o, &all))
                rest(o);
        return NULL;
}

/* ---- life ---------------------------------------------------------------------------------------------- */

static int watch(struct early_opener *o, int fd, uint32_t what, uint32_t how)
{
        struct epoll_event event = { .events = EPOLLIN | how, .data = { .u32 = what } };

        return epoll_ctl(o->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int watch_all(struct early_opener *o, const struct event_set *events)
{
        int r = watch(o, o->stop_fd, WAKE_STOP, 0);

        /* Edge-triggered: an event whose task has ended stays ready for ever. */
        for (size_t i = 0; r == 0 && i < o->n_rings; i++) {
                if (!event_set_is_tracker_ring(events, i) || events->ring_fds[i] < 0)
                        continue;
                ring_watch_init(&o->watches[i], &events->rings[i]);
                if (!event_set_has_doorbells(events))
                        r = watch(o, events->ring_fds[i], (uint32_t)i, EPOLLET);
        }
        for (size_t at = 0; r == 0 && event_set_has_doorbells(events) && at < events->cpus.n_cpus; at++)
                r = watch(o, events->doorbells[at].fd, (uint32_t)at, EPOLLET);
        return r;
}

static void release(struct early_opener *o)
{
        io_close(&o->epoll_fd);
        io_close(&o->stop_fd);
        io_close(&o->notify_fd);
        (void)pthread_cond_destroy(&o->changed);
        (void)pthread_mutex_destroy(&o->lock);
        opened_files_deinit(&o->files);
        free(o->watches);
        free(o);
}

static int start_thread(struct early_opener *o)
{
        int code = helper_thread_start(&o->thread, "hyprof-opener", run, o);

        if (code < 0)
                return code;
        (void)pthread_mutex_lock(&o->lock);
        while (!o->ready)
                (void)pthread_cond_wait(&o->changed, &o->lock);
        (void)pthread_mutex_unlock(&o->lock);
        return 0;
}

int early_opener_start(struct event_set *events, struct early_opener **ret_opener, struct error *err)
{
        struct early_opener *o = calloc(1, sizeof(*o));
        int r = 0;

        if (!o)
                return error_set(err, -ENOMEM, "no memory to open files early");
        o->events = events;
        o->layout = events->layout;
        opened_files_init(&o->files);
        o->n_rings = events->n_rings;
        o->watches = calloc(events->n_rings, sizeof(*o->watches));
        o->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        o->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        o->notify_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        (void)pthread_mutex_init(&o->lock, NULL);
        (void)pthread_cond_init(&o->changed, NULL);
        if (!o->watches)
                r = -ENOMEM;
        else if (o->epoll_fd < 0 || o->stop_fd < 0 || o->notify_fd < 0)
                r = -errno;
        if (r == 0)
                r = watch_all(o, events);
        if (r == 0)
                r = start_thread(o);
        if (r < 0) {
                release(o);
                return error_set(err, r, "cannot open files early");
        }
        *ret_opener = o;
        return 0;
}

void early_opener_stop(struct early_opener *o)
{
        static const uint64_t one = 1;

        if (!o)
                return;
        (void)io_write_all(o->stop_fd, &one, sizeof(one), NULL);
        (void)pthread_join(o->thread, NULL);
        release(o);
}

int early_opener_fd(const struct early_opener *o)
{
        return o->notify_fd;
}

struct opened_files *early_opener_files(struct early_opener *o)
{
        return o ? &o->files : NULL;
}
