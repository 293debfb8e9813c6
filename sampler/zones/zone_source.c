/* SPDX-License-Identifier: MIT */
#include "sampler/zones/zone_source.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "instrument/client_abi.h"
#include "instrument/own_number.h"
#include "instrument/region_finder.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/rights/privileges.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILL_BYTES_MIN   UINT32_C(4096)
#define STREAM_BYTES_MAX CLIENT_STREAM_EVENT_BYTES_MAX
#define HELD_BYTES_MAX   (UINT64_C(1) << 26) /* bytes of all rings, copied out and not merged yet */
/* regions; further ones are found by their mappings, or are not ours */
#define WAITING_MAX 4096
/* regions that are remembered; others are counted at every attempt */
#define REFUSED_MAX 65536

/* A memfd that was not taken. */
struct refused_region {
        uint64_t device, inode;
};

void zone_source_init(struct zone_source *s, const struct recording *recording, uint32_t families,
                      uint64_t client_ring_bytes)
{
        *s = (struct zone_source){ .recording = recording, .families = families };
        spare_memory_init(&s->spare, client_ring_bytes);
        full_ring_event_init(&s->full_ring);
        event_translator_init(&s->translator, recording);
        intern_init(&s->known_pids, sizeof(uint32_t), 0);
        intern_init(&s->refused, sizeof(struct refused_region), REFUSED_MAX);
}

void zone_source_deinit(struct zone_source *s)
{
        full_ring_event_deinit(&s->full_ring); /* its words lie in the regions */
        for (size_t i = 0; i < s->n_regions; i++)
                zone_region_deinit(&s->regions[i]);
        for (size_t i = 0; i < s->n_waiting; i++)
                io_close(&s->waiting[i].fd);
        free(s->regions);
        free(s->waiting);
        free(s->missed);
        intern_deinit(&s->known_pids);
        intern_deinit(&s->refused);
        event_translator_deinit(&s->translator);
        *s = (struct zone_source){ .n_regions = 0 };
}

/* ---- regions come and go ------------------------------------------------------------------------------- */

/* Begins to measure the clock of a region, once for all regions that have it. */
static int use_clock(struct zone_source *s, uint32_t kind, struct error *err)
{
        int r;

        if (kind >= ZONE_SOURCE_CLOCKS)
                return error_set(err, -ENOTSUP, "client clock %u is unknown", kind);
        if (s->clock_used[kind])
                return 0;
        r = tick_clock_init(&s->clocks[kind], kind, err);
        s->clock_used[kind] = r == 0;
        return r;
}

/*
 * The PID of a process in its own PID namespace; 0 if the process is gone.  If it cannot be read, for
 * instance without free descriptors, only the PID that the kernel vouched for counts.
 */
static uint32_t ask_own_pid(uint32_t pid)
{
        char path[32];
        uint32_t own_pid = pid;
        int fd, r;

        (void)snprintf(path, sizeof(path), "/proc/%u", pid);
        fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        r = fd < 0 ? -errno : own_number_read(fd, pid, &own_pid, NULL);
        io_close(&fd);
        return r == -ENOENT || r == -ESRCH ? 0 : own_pid;
}

/*
 * True if the process's own PID is the one in the region: no process can hand in the region of another.  A
 * process that was gone before its PID could be read is believed: the kernel vouched for its PID, and it
 * had the descriptor.
 */
static bool is_of_process(const struct client_region *region, uint32_t pid, uint32_t own_pid)
{
        return client_region_pid(region) == pid || client_region_pid(region) == own_pid || own_pid == 0;
}

/* Counts the bytes that the regions of other processes leave for @w and its user. */
static uint64_t count_left_bytes(const struct zone_source *s, const struct waiting_region *w, uid_t uid,
                                 uint64_t *ret_own_bytes)
{
        uint64_t others_bytes = 0, users_bytes = 0;

        *ret_own_bytes = 0; /* this includes the process's earlier regions until they are closed */
        for (size_t i = 0; i < s->n_regions; i++) {
                const struct zone_region *region = &s->regions[i];

                if (region->pid == w->pid)
                        *ret_own_bytes += region->charged_bytes;
                else
                        others_bytes += region->charged_bytes;
                if (region->pid != w->pid && region->uid == uid)
                        users_bytes += region->charged_bytes;
        }
        others_bytes = ZONE_SOURCE_REGIONS_BYTES_MAX - others_bytes;
        users_bytes = ZONE_SOURCE_USER_BYTES_MAX - users_bytes;
        return others_bytes < users_bytes ? others_bytes : users_bytes;
}

/* Whether there is room for the region beside the others.  Returns 0, -EDQUOT, or why it cannot be opened. */
static int measure_region(const struct zone_source *s, const struct waiting_region *w, uid_t uid,
                          uint64_t *ret_bytes, struct error *err)
{
        uint64_t own_bytes;
        uint64_t left_bytes = count_left_bytes(s, w, uid, &own_bytes);
        uint64_t n_bytes = 0;
        int r = client_region_measure(w->fd, &n_bytes, err);

        if (r < 0)
                return r;
        if (n_bytes > left_bytes || own_bytes + n_bytes > left_bytes / 2)
                return error_set(err, -EDQUOT, "no room for a client region of %llu bytes",
                                 (unsigned long long)n_bytes);
        *ret_bytes = n_bytes;
        return 0;
}

/* The memory that a region takes. */
struct region_share {
        uint64_t charged_bytes; /* of ZONE_SOURCE_REGIONS_BYTES_MAX */
        uint64_t spare_bytes;   /* bytes that its program may fill, if no other program is recorded */
        uint64_t group_bytes;   /* what limits of its cgroups left it */
};

/* Opens a region and starts it; its descriptor is taken over if *ret_region is set, also on failure. */
static int start_region(struct zone_source *s, const struct waiting_region *w, uid_t uid,
                        struct client_region **ret_region, struct region_share *ret_share, struct error *err)
{
        int r = measure_region(s, w, uid, &ret_share->charged_bytes, err);

        if (r < 0)
                return r;
        r = client_region_open(w->fd, ret_region, err);
        if (r < 0)
                return r;
        if (!is_of_process(*ret_region, w->pid, w->own_pid))
                return error_set(err, -EPERM, "the region is not that of process %u", w->pid);
        r = event_translator_start(&s->translator);
        if (r < 0)
                return r;
        r = use_clock(s, client_region_clock_kind(*ret_region), err);
        if (r < 0)
                return r;
        ret_share->spare_bytes = spare_memory_of_process(&s->spare, w->pid);
        ret_share->group_bytes = spare_memory_left_by_group(&s->spare, w->pid);
        client_region_allow_spare(*ret_region, spare_memory_share(ret_share->spare_bytes, s->n_regions + 1));
        r = client_region_enable(*ret_region, s->families, err);
        if (r == 0 && s->is_paused)
                client_region_pause(*ret_region, true);
        return r;
}

/* Divides the memory that all regions may fill anew, because a region came or went. */
static void share_spare(struct zone_source *s)
{
        for (size_t i = 0; i < s->n_regions; i++)
                client_region_allow_spare(s->regions[i].region,
                                          spare_memory_share(s->regions[i].spare_bytes, s->n_regions));
}

/* True if the region of @fd is open already; also reads its status. */
static bool is_open(const struct zone_source *s, int fd, struct stat *ret_stat)
{
        if (fstat(fd, ret_stat) < 0)
                return false;
        for (size_t i = 0; i < s->n_regions; i++)
                if (s->regions[i].device == ret_stat->st_dev && s->regions[i].inode == ret_stat->st_ino)
                        return true;
        return false;
}

static enum trace_loss_reason reason_of_refusal(int why)
{
        switch (why) {
        case -EBUSY:
                return TRACE_LOSS_CLIENT_BUSY;
        case -EDQUOT:
                return TRACE_LOSS_CLIENT_NO_ROOM;
        case -EMFILE:
        case -ENFILE:
                return TRACE_LOSS_CLIENT_NO_FILES;
        default:
                return TRACE_LOSS_CLIENT_REFUSED;
        }
}

/* Counts a refused region once: it is handed in, and comes again with each of its mappings. */
static int count_refused(struct zone_source *s, const struct stat *st, int why)
{
        const struct refused_region refused = { .device = st->st_dev, .inode = st->st_ino };
        uint32_t id;
        int r = intern_add(&s->refused, &refused, sizeof(refused), &id);

        if (r != 0)
                loss_counter_add(s->recording->losses, reason_of_refusal(why), 1);
        return r == -ENOMEM ? r : 0;
}

/* Takes a region of a process that is ours, with its row in PROCESSES; its descriptor is taken over. */
static int take_region(struct zone_source *s, struct waiting_region *w, uint32_t process)
{
        struct client_region *region = NULL;
        struct zone_region *taken;
        struct region_share share = { .charged_bytes = 0 };
        struct stat st = { .st_ino = 0 };
        struct error err = ERROR_NONE;
        uint32_t id;
        int r = array_reserve(&s->regions, &s->regions_capacity, s->n_regions + 1, sizeof(*s->regions));

        if (r < 0 || is_open(s, w->fd, &st)) {
                io_close(&w->fd);
                return r;
        }
        r = start_region(s, w, st.st_uid, &region, &share, &err);
        if (r == -EBUSY && s->busy.code == 0)
                s->busy = err;
        if (r < 0) {
                if (!region)
                        io_close(&w->fd);
                client_region_close(region);
                return r == -ENOMEM ? r : count_refused(s, &st, r);
        }
        zone_source_end(s, w->pid);
        taken = &s->regions[s->n_regions++];
        zone_region_init(taken, region, w->pid, process);
        taken->charged_bytes = share.charged_bytes;
        taken->spare_bytes = share.spare_bytes;
        taken->group_bytes = share.group_bytes;
        share_spare(s);
        if (s->n_regions > s->n_regions_max)
                s->n_regions_max = s->n_regions;
        s->regions_bytes += share.charged_bytes;
        taken->uid = st.st_uid;
        taken->device = st.st_dev;
        taken->inode = st.st_ino;
        if (!client_region_is_self_started(region)) {
                s->n_attached++;
                loss_counter_add(s->recording->losses, TRACE_LOSS_CLIENT_JOINED, s->tells_programs);
        }
        r = intern_add(&s->known_pids, &w->pid, sizeof(w->pid), &id);
        return r < 0 ? r : zone_region_plots(taken, &s->translator.plots);
}

/* Takes @fd over. */
static int wait_for_process(struct zone_source *s, uint32_t pid, int fd, bool announced)
{
        int r = -EOVERFLOW;

        if (s->n_waiting < WAITING_MAX)
                r = array_reserve(&s->waiting, &s->waiting_capacity, s->n_waiting + 1, sizeof(*s->waiting));
        if (r < 0) {
                io_close(&fd);
                return r == -EOVERFLOW ? 0 : r;
        }
        s->waiting[s->n_waiting++] = (struct waiting_region){
                .fd = fd,
                .pid = pid,
                .own_pid = ask_own_pid(pid),
                .since_ns = clock_raw_ns(),
                .announced = announced,
        };
        return 0;
}

static int add_missed(struct zone_source *s, uint32_t pid, enum trace_loss_reason why)
{
        int r = array_reserve(&s->missed, &s->missed_capacity, s->n_missed + 1, sizeof(*s->missed));

        if (r == 0)
                s->missed[s->n_missed++] =
                        (struct missed_region){ .pid = pid, .cycle = s->n_cycles, .why = why };
        return r;
}

int zone_source_receive(struct zone_source *s, uint32_t pid, int fd)
{
        if (fd >= 0)
                return wait_for_process(s, pid, fd, false);
        return s->n_missed < WAITING_MAX ? add_missed(s, pid, TRACE_LOSS_CLIENT_NO_SPACE) : 0;
}

/*
 * Drops a region that waited in vain: its process is not recorded, or had ended before its turn came.  Each
 * is counted once.
 */
static void drop_waiting(struct zone_source *s, struct waiting_region *w)
{
        uint32_t id;

        io_close(&w->fd);
        if (!process_table_has_seen(s->recording->processes, w->pid))
                loss_counter_add(s->recording->losses, TRACE_LOSS_CLIENT_REFUSED, 1);
        else if (intern_add(&s->known_pids, &w->pid, sizeof(w->pid), &id) == 1)
                loss_counter_add(s->recording->losses, TRACE_LOSS_CLIENT_GONE, 1);
}

/* Marks the processes whose regions wait, or removes the marks. */
static void mark_waiting(struct zone_source *s, bool waits)
{
        for (size_t i = 0; i < s->n_waiting; i++) {
                struct process_track *process = process_table_find_process(s->recording->processes,
                                                                           s->waiting[i].pid);

                if (process)
                        process->region_waits = waits;
        }
}

void zone_source_drop_waiting(struct zone_source *s)
{
        mark_waiting(s, false);
        for (size_t i = 0; i < s->n_waiting; i++)
                drop_waiting(s, &s->waiting[i]);
        s->n_waiting = 0;
}

/*
 * A region that was found may belong to a program that replaced another, while the region of that other
 * program is still on its way.
 */
static bool must_wait(struct waiting_region *w)
{
        bool first_time = w->announced && !w->waited;

        w->waited = true;
        return first_time;
}

/* Takes the regions of processes that the kernel has reported by now, and drops those that waited in vain. */
static int admit_waiting(struct zone_source *s, bool announced)
{
        size_t n_kept = 0;
        int r = 0;

        for (size_t i = 0; i < s->n_waiting; i++) {
                struct waiting_region *w = &s->waiting[i];
                const struct process_track *process = process_table_find_process(s->recording->processes,
                                                                                 w->pid);
                bool is_kept = w->announced != announced || must_wait(w);

                if (!is_kept && r == 0 && process)
                        r = take_region(s, w, process->process);
                else if (!is_kept && s->now_ns > w->since_ns + PACE_REGIONS_WAITING_NS)
                        drop_waiting(s, w);
                else
                        s->waiting[n_kept++] = *w;
        }
        s->n_waiting = n_kept;
        return r;
}

/*
 * The folders of a process's files are closed to other users, and to its own user once it has become root.
 */
static int find_region(uint32_t pid, int *ret_fd)
{
        bool raised = privileges_raise(CAP_DAC_READ_SEARCH);
        int r = region_finder_open(pid, ret_fd, NULL);

        if (raised)
                privileges_lower(CAP_DAC_READ_SEARCH);
        return r;
}

static bool is_without_files(int code)
{
        return code == -EMFILE || code == -ENFILE;
}

/*
 * If descriptors run out, none becomes free before the end of the cycle, which closes regions.  Until then
 * no search is tried: one costs a third of a millisecond, and thousands of programs may begin in a second.
 */
static int find_region_once(struct zone_source *s, uint32_t pid, int *ret_fd)
{
        int r = s->no_files_cycle == s->n_cycles + 1 ? -EMFILE : find_region(pid, ret_fd);

        if (is_without_files(r))
                s->no_files_cycle = s->n_cycles + 1;
        return r;
}

int zone_source_open(struct zone_source *s, uint32_t pid)
{
        int fd;
        int found = find_region_once(s, pid, &fd);

        if (found == 0)
                return wait_for_process(s, pid, fd, true);
        return add_missed(s, pid,
                          is_without_files(found) ? TRACE_LOSS_CLIENT_NO_FILES : TRACE_LOSS_CLIENT_GONE);
}

int zone_source_open_late(struct zone_source *s, uint32_t pid)
{
        if (intern_find(&s->known_pids, &pid, sizeof(pid)) != 0)
                return 0;
        for (size_t i = 0; i < s->n_waiting; i++)
                if (s->waiting[i].pid == pid)
                        return 0;
        for (size_t i = 0; i < s->n_missed; i++)
                if (s->missed[i].pid == pid)
                        return 0;
        return zone_source_open(s, pid);
}

/* Any process may announce a region that it does not have: only recorded ones count. */
static bool is_known(const struct zone_source *s, const struct missed_region *missed)
{
        return missed->why != TRACE_LOSS_CLIENT_NO_SPACE ||
               process_table_has_seen(s->recording->processes, missed->pid);
}

/*
 * A region that is missing when it is announced may have been handed in since the last look.  It is then
 * taken in the cycle after that one, or waits until the kernel reports its process.
 */
static bool may_still_come(const struct zone_source *s, const struct missed_region *missed)
{
        if (s->n_cycles < missed->cycle + 2 || !is_known(s, missed))
                return true;
        for (size_t i = 0; i < s->n_waiting; i++)
                if (s->waiting[i].pid == missed->pid)
                        return true;
        return false;
}

static int count_missed(struct zone_source *s, bool final)
{
        size_t n_kept = 0;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < s->n_missed; i++) {
                const struct missed_region *missed = &s->missed[i];
                uint32_t id;

                if (!final && may_still_come(s, missed)) {
                        s->missed[n_kept++] = *missed;
                        continue;
                }
                if (!is_known(s, missed))
                        continue;
                r = intern_add(&s->known_pids, &missed->pid, sizeof(missed->pid), &id);
                if (r == 1)
                        loss_counter_add(s->recording->losses, missed->why, 1);
        }
        s->n_missed = n_kept;
        return r < 0 ? r : 0;
}

void zone_source_end(struct zone_source *s, uint32_t pid)
{
        for (size_t i = 0; i < s->n_regions; i++)
                if (s->regions[i].pid == pid && s->regions[i].n_cycles_ended == 0)
                        s->regions[i].n_cycles_ended = 1;
}

void zone_source_disable(struct zone_source *s)
{
        for (size_t i = 0; i < s->n_regions; i++)
                client_region_disable(s->regions[i].region);
}

void zone_source_pause(struct zone_source *s, bool paused)
{
        s->is_paused = paused;
        for (size_t i = 0; i < s->n_regions; i++)
                client_region_pause(s->regions[i].region, paused);
}

/* ---- one cycle ----------------------------------------------------------------------------------------- */

/* Arranges that a program that fills memory from here on wakes us once. */
static void arm(struct zone_source *s)
{
        struct full_ring_event_word words[FULL_RING_EVENT_WORDS_MAX];
        bool rearmed = false;
        size_t n = 0;

        if (s->now_ns - s->armed_ns < PACE_ZONES_ARM_NS)
                return;
        s->armed_ns = s->now_ns;
        for (size_t i = 0; i < s->n_regions && n < FULL_RING_EVENT_WORDS_MAX; i++) {
                words[n].at = client_region_arm(s->regions[i].region, &words[n].value, &rearmed);
                n += words[n].at != NULL;
        }
        full_ring_event_set(&s->full_ring, words, n, rearmed);
}

int zone_source_begin_cycle(struct zone_source *s)
{
        int r;

        s->n_cycles++;
        s->now_ns = clock_raw_ns();
        s->stood_still |= s->cycled_ns != 0 && s->now_ns - s->cycled_ns >= PACE_ZONES_STANDSTILL_NS;
        s->cycled_ns = s->now_ns;
        s->n_lookups_left = PACE_ZONES_LOOKUPS;
        recorder_pace_begin_drain(s->recording->pace, s->now_ns);
        mark_waiting(s, false);
        r = admit_waiting(s, false);
        if (r == 0)
                r = admit_waiting(s, true);
        mark_waiting(s, true);
        for (size_t kind = 0; kind < ZONE_SOURCE_CLOCKS; kind++)
                if (s->clock_used[kind])
                        tick_clock_pair(&s->clocks[kind]);
        for (size_t i = 0; r == 0 && i < s->n_regions; i++) {
                client_region_beat(s->regions[i].region, s->now_ns);
                r = zone_region_follow(&s->regions[i]);
        }
        arm(s);
        return r;
}

/* Updates the account of the bytes that a stream holds. */
static void account(struct zone_source *s, struct zone_slot *slot, size_t held_bytes)
{
        s->held_bytes += held_bytes - slot->held_bytes;
        slot->held_bytes = held_bytes;
}

/* Frees the room of processed bytes, when that is worth the copy. */
static void compact(struct client_stream *stream)
{
        size_t left_bytes = client_stream_count_bytes(stream);

        if (stream->at_bytes < left_bytes || stream->at_bytes == 0)
                return;
        memmove(stream->pending.data, stream->pending.data + stream->at_bytes, left_bytes);
        stream->pending.used_bytes = left_bytes;
        stream->at_bytes = 0;
}

/* Says how much is copied out at once: the more rings there are, the less of each. */
static size_t fill_bytes(const struct zone_region *region, size_t left_bytes)
{
        size_t n_bytes = PACE_ZONES_ALL_FILLS_BYTES / region->n_slots / CLIENT_ABI_WORD_BYTES *
                         CLIENT_ABI_WORD_BYTES;

        if (left_bytes >= STREAM_BYTES_MAX)
                return 0;
        if (n_bytes < FILL_BYTES_MIN)
                return FILL_BYTES_MIN;
        return n_bytes < PACE_ZONES_FILL_BYTES ? n_bytes : PACE_ZONES_FILL_BYTES;
}

int zone_source_fill(struct zone_source *s, struct zone_region *region, uint32_t slot, bool *ret_more)
{
        struct zone_slot *filled = &region->slots[slot];
        struct client_stream *stream = &filled->stream;
        size_t max_bytes = fill_bytes(region, client_stream_count_bytes(stream));
        int64_t n_bytes;

        account(s, filled, client_stream_count_bytes(stream));
        *ret_more = true;
        if (max_bytes == 0 || s->held_bytes > HELD_BYTES_MAX)
                return 0;
        compact(stream);
        s->now_ns = clock_raw_ns(); /* later events get later stamps */
        n_bytes = client_region_drain(region->region, slot, max_bytes, &stream->pending, NULL);
        account(s, filled, client_stream_count_bytes(stream));
        if (n_bytes == -EBADMSG)
                loss_counter_add(s->recording->losses, TRACE_LOSS_CLIENT_REFUSED, 1);
        *ret_more = n_bytes == (int64_t)max_bytes;
        if (n_bytes <= 0)
                return n_bytes == -ENOMEM ? -ENOMEM : 0;
        filled->filled_bytes += (uint64_t)n_bytes;
        return 1;
}

bool zone_source_is_filling(const struct zone_region *region, uint32_t slot)
{
        uint64_t unread_bytes = client_region_count_unread(region->region, slot);

        return unread_bytes >= PACE_ZONES_WORTH_BYTES ||
               unread_bytes >= client_region_ring_bytes(region->region) / 4;
}

void zone_source_release(struct zone_source *s, const struct zone_region *region, struct zone_slot *slot)
{
        struct client_stream *stream = &slot->stream;

        recorder_pace_note_drained(s->recording->pace, client_region_ring_bytes(region->region),
                                   client_region_spare_bytes(region->region) / region->n_slots,
                                   slot->filled_bytes);
        slot->filled_bytes = 0;
        account(s, slot, client_stream_count_bytes(stream));
        /*
         * Two milliseconds of events take little room: so many bytes are left only if the program made up
         * times and lengths.
         */
        if (s->held_bytes > HELD_BYTES_MAX) {
                stream->n_garbage_bytes += slot->held_bytes;
                stream->at_bytes += slot->held_bytes;
                account(s, slot, 0);
        }
        if (slot->held_bytes == 0) { /* threads come and go, and slots stay */
                byte_buffer_deinit(&stream->pending);
                stream->at_bytes = 0;
        }
}

/*
 * Counts the events that a slot's threads dropped, and the calls that have no event, by kind, and charges
 * them all to the thread that has the slot now.
 */
static int count_slot_drops(struct zone_source *s, struct zone_region *region, uint32_t slot)
{
        uint32_t thread = region->slots[slot].thread;
        struct client_drops n = zone_region_count_drops(region, slot);
        const struct {
                enum trace_loss_reason reason;
                uint64_t n;
        } kinds[] = {
                { TRACE_LOSS_DROPPED_ZONES, n.n_zones },
                { TRACE_LOSS_DROPPED_MESSAGES, n.n_messages },
                { TRACE_LOSS_DROPPED_PLOTS, n.n_plots },
                { TRACE_LOSS_DROPPED_FRAMES, n.n_frames },
                { TRACE_LOSS_DROPPED_MEMORY, n.n_memory },
                { TRACE_LOSS_DROPPED_LOCKS, n.n_locks },
                { TRACE_LOSS_DROPPED_DEVICES, n.n_devices },
                { TRACE_LOSS_CLIENT_RING_FULL, n.n_other },
                { TRACE_LOSS_ZONE_TOO_DEEP, n.n_deep_zones },
                { TRACE_LOSS_NO_PICTURES, n.n_no_pictures },
                { TRACE_LOSS_NO_DEVICE_ZONES, n.n_no_device_zones },
                { TRACE_LOSS_NO_EVENTS, n.n_no_events },
        };
        int r = 0;

        for (size_t i = 0; r == 0 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                if (kinds[i].n == 0)
                        continue;
                if (thread == 0)
                        loss_counter_add(s->recording->losses, kinds[i].reason, kinds[i].n);
                else
                        r = loss_counter_add_thread(s->recording->losses, s->recording->dictionary,
                                                    kinds[i].reason, thread, kinds[i].n, s->now_ns);
        }
        return r;
}

/* A program whose rings were full lacked memory. */
static void note_need(struct zone_source *s, const struct zone_region *region)
{
        uint64_t spare_bytes = client_region_spare_bytes(region->region);
        uint64_t room_bytes = client_region_room_bytes(region->region);
        struct spare_lack lack = {
                .had_bytes = room_bytes == UINT64_MAX ? client_region_ring_bytes(region->region)
                                                      : spare_bytes,
                .lost_bytes = zone_region_lost_bytes(region),
                .n_programs = s->n_regions_max,
                .group_bytes = region->group_bytes,
                .room_bytes = room_bytes,
        };

        spare_need_add(&s->need, &lack);
}

static int count_region_drops(struct zone_source *s, struct zone_region *region)
{
        uint64_t n_zones = region->zone_events.n_dropped, n_others = region->other_events.n_dropped;
        int r = 0;

        for (uint32_t slot = 0; r == 0 && slot < region->n_slots; slot++)
                r = count_slot_drops(s, region, slot);
        zone_region_count_losses(region, s->recording->losses);
        if (s->stood_still) { /* the program did not use all memory that it might have filled */
                region->zone_events.n_dropped = n_zones;
                region->other_events.n_dropped = n_others;
        }
        note_need(s, region);
        return r;
}

/* Settles the accounts of a region that is not looked at any more, and closes it. */
static void close_region(struct zone_source *s, struct zone_region *region)
{
        for (uint32_t slot = 0; slot < region->n_slots; slot++) {
                struct client_stream *stream = &region->slots[slot].stream;

                stream->n_garbage_bytes += client_stream_count_bytes(stream);
                account(s, &region->slots[slot], 0);
        }
        (void)count_region_drops(s, region);
        s->regions_bytes -= region->charged_bytes;
        zone_region_deinit(region);
}

void zone_source_end_cycle(struct zone_source *s)
{
        size_t n_kept = 0;

        for (size_t i = 0; i < s->n_regions; i++) {
                struct zone_region *region = &s->regions[i];

                /*
                 * One cycle more than that in which the end was noticed: the last events are merged by
                 * then, unless they are too young, or earlier samples wait for an unwind table, which
                 * execve does not wait for.
                 */
                if (region->n_cycles_ended > 1 && !region->is_behind && !region->has_later) {
                        close_region(s, region);
                } else {
                        region->n_cycles_ended += region->n_cycles_ended > 0;
                        s->regions[n_kept++] = *region;
                }
        }
        if (n_kept != s->n_regions) {
                s->n_regions = n_kept;
                share_spare(s);
        }
}

int zone_source_count_drops(struct zone_source *s, bool final)
{
        int r = count_missed(s, final);

        for (size_t i = 0; r == 0 && i < s->n_regions; i++)
                r = count_region_drops(s, &s->regions[i]);
        s->stood_still = false;
        return r;
}

/* ---- words of a ring ----------------------------------------------------------------------------------- */

/*
 * True if no clock can have given this time.  This process may have been stopped for long between reading
 * the clock and copying the ring, as on an emulated or loaded machine, so it reads the clock a second time.
 */
static bool is_from_future(const struct zone_source *s, uint64_t time_ns)
{
        return time_ns > s->now_ns && time_ns - s->now_ns > PACE_ZONES_FUTURE_NS &&
               time_ns > clock_raw_ns() + PACE_ZONES_FUTURE_NS;
}

int zone_source_peek(struct zone_source *s, struct zone_region *region, struct zone_slot *slot,
                     struct client_event *ret_event, uint64_t *ret_time_ns)
{
        struct tick_clock *clock = zone_source_clock(s, region);

        while (client_stream_peek(&slot->stream, ret_event) == 1) {
                *ret_time_ns = tick_clock_to_ns(clock, ret_event->ticks);
                if (!is_from_future(s, *ret_time_ns))
                        return 1;
                slot->stream.n_garbage_bytes += slot->stream.event_bytes;
                if (ret_event->prefix.blob_bytes > 0)
                        client_region_free_blob(region->region, ret_event->prefix.blob_at,
                                                ret_event->prefix.blob_bytes);
                client_stream_consume(&slot->stream);
        }
        return 0;
}
