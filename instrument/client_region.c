/* SPDX-License-Identifier: MIT */
/*
 * Attacks of a hostile program through its region, and how they are prevented
 *
 *   shrink the file, so that a load faults    refused at open: the seal against it is demanded, and huge
 *                                             pages, which fault when none are left, are refused as well
 *   lie about the layout                      copied once, every number checked, used from the copy alone
 *   move the head while we read               each index is read once into a local; ours (the tail) are never
 *                                             read back, only stored for the program to see
 *   change ring bytes, locations or strings   copied by pread(2) into private memory before they are judged
 *   make us allocate without end              the limits in client_region.h
 *   have us free what is in use               only pages of its own blob area are ever freed
 *
 * One remains: the program can lie about itself, in its own part of the trace.
 *
 * Rings are not mapped, though that would save a system call for each drain: a
 * load where the program took the page away makes a new one, charged to us, and
 * ends in SIGBUS if there is no memory for it.  pread(2) reads zeros there, and
 * copies 20 GB/s, far more than programs write.
 */
#include "instrument/client_region.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "instrument/client_abi.h"
#include "instrument/location_reader.h"
#include "instrument/ring_reader.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Chunks that were given back are used again soon, if at all: their memory is kept for SPARE_KEPT_NS. */
#define PAUSE_LOOKS_MAX 8
#define SPARE_KEPT_NS   (200 * NS_PER_MS)

/* The program wakes a recorder that rests when so many bytes of chunks are full, or half of all. */
#define WAKE_BYTES (UINT32_C(1) << 23)

/* About the memory that users of a region keep for each slot. */
#define SLOT_BYTES_BESIDE 256

/* Our side of one slot. */
struct slot_state {
        struct ring_reader reader;
        struct client_drops base; /* the counters when we came */
};

/* Adjacent blobs that were given back; see punch_hole(). */
struct freed_run {
        uint64_t first, end; /* counted as blobs_used_bytes does */
};

struct client_region {
        int fd;
        struct client_abi_header header; /* the checked copy: its constant part only */
        uint8_t *map;                    /* header and slots, shared with the program */
        size_t map_bytes;
        struct slot_state *slots; /* header.n_slots of them */
        uint64_t no_ring_base, blobs_refused_base;
        bool is_enabled;
        uint32_t families; /* of the control word, while it is enabled and not paused */
        bool is_adopted;   /* was found recording since its start */

        struct location_reader locations;
        struct freed_run freed_run;
        struct chunk_pool chunks;
        uint64_t spare_bytes;       /* of chunks that the program may fill */
        uint64_t blobs_taken_bytes; /* that were read, or given back unread */
};

static struct client_abi_header *shared_header(const struct client_region *region)
{
        return (struct client_abi_header *)(void *)region->map;
}

static struct client_abi_slot *shared_slot(const struct client_region *region, uint32_t slot)
{
        const struct client_abi_header *h = &region->header;

        return (struct client_abi_slot *)(void *)(region->map + h->slots_offset +
                                                  (uint64_t)slot * h->slot_bytes);
}

/* True if @n entries of @entry_bytes at @offset lie within the region, after the header's room. */
static bool lies_within(const struct client_abi_header *h, uint64_t offset, uint64_t n, uint64_t entry_bytes)
{
        uint64_t bytes, end;

        if (__builtin_mul_overflow(n, entry_bytes, &bytes) || __builtin_add_overflow(offset, bytes, &end))
                return false;
        return offset >= CLIENT_ABI_HEADER_ROOM_BYTES && end <= h->region_bytes;
}

static int check_layout(const struct client_abi_header *h, uint64_t file_bytes, struct error *err)
{
        if (h->region_bytes > file_bytes || h->region_bytes > INT64_MAX)
                return error_set(err, -EBADMSG, "client region: %llu bytes in a file of %llu",
                                 (unsigned long long)h->region_bytes, (unsigned long long)file_bytes);
        if (h->n_slots == 0 || h->n_slots > CLIENT_REGION_SLOTS_MAX ||
            h->slot_bytes < sizeof(struct client_abi_slot) || h->slot_bytes > CLIENT_REGION_ENTRY_BYTES_MAX ||
            h->slot_bytes % CLIENT_ABI_WORD_BYTES != 0 || h->slots_offset % CLIENT_ABI_WORD_BYTES != 0 ||
            !lies_within(h, h->slots_offset, h->n_slots, h->slot_bytes) ||
            h->slots_offset + (uint64_t)h->n_slots * h->slot_bytes > CLIENT_REGION_MAPPED_MAX)
                return error_set(err, -EBADMSG, "client region: %u slots of %u bytes at %llu", h->n_slots,
                                 h->slot_bytes, (unsigned long long)h->slots_offset);
        if (h->n_locations_max > CLIENT_ABI_ARG_MAX ||
            h->location_bytes < sizeof(struct client_abi_location) ||
            h->location_bytes > CLIENT_REGION_ENTRY_BYTES_MAX ||
            (uint64_t)h->n_locations_max * h->location_bytes > CLIENT_REGION_TABLE_BYTES_MAX ||
            !lies_within(h, h->locations_offset, h->n_locations_max, h->location_bytes))
                return error_set(err, -EBADMSG, "client region: %u locations of %u bytes at %llu",
                                 h->n_locations_max, h->location_bytes,
                                 (unsigned long long)h->locations_offset);
        if (!lies_within(h, h->strings_offset, h->strings_bytes, 1))
                return error_set(err, -EBADMSG, "client region: %llu bytes of strings at %llu",
                                 (unsigned long long)h->strings_bytes, (unsigned long long)h->strings_offset);
        if (h->ring_bytes < CLIENT_ABI_WORD_BYTES || (h->ring_bytes & (h->ring_bytes - 1)) != 0 ||
            h->ring_bytes > CLIENT_REGION_RING_BYTES_MAX ||
            !lies_within(h, h->rings_offset, h->n_slots, h->ring_bytes))
                return error_set(err, -EBADMSG, "client region: rings of %llu bytes at %llu",
                                 (unsigned long long)h->ring_bytes, (unsigned long long)h->rings_offset);
        if (h->blobs_bytes != 0 &&
            (h->blobs_bytes % CLIENT_ABI_WORD_BYTES != 0 || h->blobs_offset % CLIENT_ABI_WORD_BYTES != 0 ||
             !lies_within(h, h->blobs_offset, h->blobs_bytes, 1)))
                return error_set(err, -EBADMSG, "client region: %llu bytes of blobs at %llu",
                                 (unsigned long long)h->blobs_bytes, (unsigned long long)h->blobs_offset);
        if (h->n_chunks != 0 &&
            (h->n_chunks > CLIENT_ABI_CHUNKS_MAX || h->chunk_bytes < CLIENT_ABI_CHUNK_BYTES_MIN ||
             (h->chunk_bytes & (h->chunk_bytes - 1)) != 0 ||
             !lies_within(h, h->chunks_offset, h->n_chunks, h->chunk_bytes)))
                return error_set(err, -EBADMSG, "client region: %u chunks of %u bytes at %llu", h->n_chunks,
                                 h->chunk_bytes, (unsigned long long)h->chunks_offset);
        return 0;
}

/* Checks that the file cannot make one of our loads fault, and gives its size. */
static int check_file(int fd, uint64_t *ret_file_bytes, struct error *err)
{
        struct statfs fs;
        struct stat st;
        int seals = fcntl(fd, F_GET_SEALS);

        if (seals < 0 || !(seals & F_SEAL_SHRINK))
                return error_set(err, -EPERM, "client region: not a memfd that is sealed against shrinking");
        if (fstatfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
                return error_errno(err, "client region: stat");
        if (fs.f_type != TMPFS_MAGIC)
                return error_set(err, -EPERM, "client region: not in ordinary memory");
        *ret_file_bytes = (uint64_t)st.st_size;
        return 0;
}

static int read_header(int fd, struct client_abi_header *ret_header, struct error *err)
{
        struct client_abi_header h;
        uint64_t file_bytes = 0;
        size_t got = 0;
        int r = check_file(fd, &file_bytes, err);

        if (r < 0)
                return r;
        r = io_pread_full(fd, &h, sizeof(h), 0, &got, err);
        if (r < 0)
                return r;
        if (got < sizeof(h) || h.magic != CLIENT_ABI_MAGIC)
                return error_set(err, -EBADMSG, "client region: no header");
        if (h.abi_major != CLIENT_ABI_MAJOR)
                return error_set(err, -ENOTSUP, "client region: ABI version %u.%u, this hyprof knows %d.x",
                                 h.abi_major, h.abi_minor, CLIENT_ABI_MAJOR);
        if (h.abi_minor == 0) /* the contents at the place of these fields have no meaning */
                h.n_chunks = 0;
        if (h.header_bytes < sizeof(h))
                return error_set(err, -EBADMSG, "client region: header of %u bytes", h.header_bytes);
        if (h.clock_kind < CLIENT_ABI_CLOCK_MONOTONIC_RAW || h.clock_kind > CLIENT_ABI_CLOCK_RDTIME)
                return error_set(err, -ENOTSUP, "client region: unknown clock %u", h.clock_kind);
        r = check_layout(&h, file_bytes, err);
        if (r < 0)
                return r;
        *ret_header = h;
        return 0;
}

uint32_t client_region_count_slots(const struct client_region *region)
{
        /* Pairs with the client's release when it first takes a slot. */
        uint32_t n = __atomic_load_n(&shared_header(region)->n_slots_used, __ATOMIC_ACQUIRE);

        return n < region->header.n_slots ? n : region->header.n_slots;
}

static uint64_t read_later(const struct client_region *region, const uint64_t *counter, uint16_t since_minor)
{
        return region->header.abi_minor < since_minor ? 0 : __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static struct client_drops read_drops(const struct client_region *region, uint32_t slot)
{
        const struct client_abi_slot *s = shared_slot(region, slot);

        return (struct client_drops){
                .n_zones = __atomic_load_n(&s->n_dropped_zones, __ATOMIC_RELAXED),
                .n_deep_zones = read_later(region, &s->n_dropped_deep_zones, 4),
                .n_no_pictures = read_later(region, &s->n_unrecorded_pictures, 9),
                .n_no_device_zones = read_later(region, &s->n_unrecorded_device_zones, 9),
                .n_no_events = read_later(region, &s->n_unrecorded_other, 9),
                .n_messages = __atomic_load_n(&s->n_dropped_messages, __ATOMIC_RELAXED),
                .n_plots = __atomic_load_n(&s->n_dropped_plots, __ATOMIC_RELAXED),
                .n_frames = __atomic_load_n(&s->n_dropped_frames, __ATOMIC_RELAXED),
                .n_memory = __atomic_load_n(&s->n_dropped_memory, __ATOMIC_RELAXED),
                .n_locks = __atomic_load_n(&s->n_dropped_locks, __ATOMIC_RELAXED),
                .n_devices = __atomic_load_n(&s->n_dropped_devices, __ATOMIC_RELAXED),
                .n_other = __atomic_load_n(&s->n_dropped_other, __ATOMIC_RELAXED),
        };
}

static uint64_t read_drops_no_ring(const struct client_region *region)
{
        return __atomic_load_n(&shared_header(region)->n_dropped_no_ring, __ATOMIC_RELAXED);
}

static uint64_t read_blobs_refused(const struct client_region *region)
{
        return __atomic_load_n(&shared_header(region)->n_refused_blobs, __ATOMIC_RELAXED);
}

/* True for a client that records since its start and that no recorder has taken over yet. */
static bool is_self_started(uint32_t control_word, uint32_t recorder_pid)
{
        return recorder_pid == 0 && (control_word & CLIENT_ABI_FAMILIES) != 0 &&
               control_word >> CLIENT_ABI_SESSION_SHIFT != 0;
}

/* Events that were dropped before we came are not our loss, unless we read what was recorded then. */
static void remember_drops(struct client_region *region)
{
        const struct client_abi_header *h = shared_header(region);
        uint32_t n = client_region_count_slots(region);

        if (is_self_started(__atomic_load_n(&h->control_word, __ATOMIC_RELAXED),
                            __atomic_load_n(&h->recorder_pid, __ATOMIC_RELAXED)))
                return;
        for (uint32_t i = 0; i < n; i++)
                region->slots[i].base = read_drops(region, i);
        region->no_ring_base = read_drops_no_ring(region);
        region->blobs_refused_base = read_blobs_refused(region);
}

int client_region_measure(int fd, uint64_t *ret_bytes, struct error *err)
{
        struct client_abi_header h = { .n_slots = 0 };
        int r = read_header(fd, &h, err);

        if (r == 0)
                *ret_bytes = h.slots_offset +
                             (uint64_t)h.n_slots *
                                     (h.slot_bytes + sizeof(struct slot_state) + SLOT_BYTES_BESIDE);
        return r;
}

int client_region_open(int fd, struct client_region **ret_region, struct error *err)
{
        struct client_abi_header h = { .n_slots = 0 };
        struct client_region *region;
        void *map;
        int r = read_header(fd, &h, err);

        if (r < 0)
                return r;
        assert(h.n_slots > 0); /* read_header() saw to it */
        region = calloc(1, sizeof(*region));
        if (!region)
                return error_set(err, -ENOMEM, "client region: no memory");
        region->fd = -1; /* the caller's until all is well */
        region->header = h;

        region->slots = calloc(h.n_slots, sizeof(*region->slots));
        if (!region->slots || location_reader_init(&region->locations, fd, &region->header) < 0) {
                r = error_set(err, -ENOMEM, "client region: no memory for %u slots", h.n_slots);
                goto fail;
        }
        region->map_bytes = (size_t)(h.slots_offset + (uint64_t)h.n_slots * h.slot_bytes);
        map = mmap(NULL, region->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        if (map == MAP_FAILED) {
                r = error_errno(err, "client region: mmap of %zu bytes", region->map_bytes);
                goto fail;
        }
        region->map = map;
        region->chunks = (struct chunk_pool){ .fd = fd, .h = &region->header, .map = region->map };
        remember_drops(region);
        region->fd = fd;
        *ret_region = region;
        return 0;

fail:
        client_region_close(region);
        return r;
}

void client_region_close(struct client_region *region)
{
        if (!region)
                return;
        client_region_disable(region);
        chunk_pool_deinit(&region->chunks);
        if (region->map)
                (void)munmap(region->map, region->map_bytes);
        location_reader_deinit(&region->locations);
        free(region->slots);
        io_close(&region->fd);
        free(region);
}

uint32_t client_region_pid(const struct client_region *region)
{
        return region->header.pid;
}

uint32_t client_region_clock_kind(const struct client_region *region)
{
        return region->header.clock_kind;
}

uint64_t client_region_ring_bytes(const struct client_region *region)
{
        return region->header.ring_bytes;
}

bool client_region_is_self_started(const struct client_region *region)
{
        return region->is_adopted;
}

static bool is_other_alive(uint32_t pid)
{
        if (pid == 0 || pid > INT_MAX || (pid_t)pid == getpid())
                return false;
        return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

/* A self-started session is read from its first unread word on. */
static void adopt_bytes(struct client_region *region)
{
        for (uint32_t i = 0; i < region->header.n_slots; i++)
                region->slots[i].reader = (struct ring_reader){ .tail_bytes = 0 };
        for (uint32_t i = 0, n = client_region_count_slots(region); i < n; i++)
                ring_reader_resume(&region->slots[i].reader, &region->chunks, i);
}

/* Words that an earlier recording left unread belong to no recording. */
static void skip_old_bytes(struct client_region *region)
{
        struct client_abi_header *h = shared_header(region);
        size_t skipped;

        for (uint32_t i = 0, n = client_region_count_slots(region); i < n; i++) {
                struct ring_reader *reader = &region->slots[i].reader;
                struct client_abi_slot *s = shared_slot(region, i);

                ring_reader_resume(reader, &region->chunks, i);
                if (ring_reader_drain(reader, &region->chunks, i, NULL, SIZE_MAX, &skipped) == 0)
                        continue;
                *reader = (struct ring_reader){
                        .tail_bytes = __atomic_load_n(&s->head_bytes, __ATOMIC_ACQUIRE),
                };
                __atomic_store_n(&s->tail_chunk, 0, __ATOMIC_RELAXED);
                __atomic_store_n(&s->tail_bytes, reader->tail_bytes, __ATOMIC_RELEASE);
        }
        __atomic_store_n(&h->blobs_freed_bytes, __atomic_load_n(&h->blobs_used_bytes, __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
}

static uint32_t next_session(uint32_t session)
{
        return session < UINT32_MAX >> CLIENT_ABI_SESSION_SHIFT ? session + 1 : 1;
}

static uint32_t count_chunks_allowed(const struct client_region *region)
{
        const struct client_abi_header *h = &region->header;
        uint64_t n = h->n_chunks > 0 ? region->spare_bytes / h->chunk_bytes : 0;

        return n < h->n_chunks ? (uint32_t)n : h->n_chunks;
}

void client_region_allow_spare(struct client_region *region, uint64_t bytes)
{
        region->spare_bytes = bytes;
        if (region->is_enabled)
                __atomic_store_n(&shared_header(region)->n_chunks_allowed, count_chunks_allowed(region),
                                 __ATOMIC_RELAXED);
}

uint64_t client_region_spare_bytes(const struct client_region *region)
{
        return (uint64_t)count_chunks_allowed(region) * region->header.chunk_bytes;
}

uint64_t client_region_room_bytes(const struct client_region *region)
{
        const struct client_abi_header *h = &region->header;

        return h->abi_minor == 0 ? UINT64_MAX : (uint64_t)h->n_chunks * h->chunk_bytes;
}

uint32_t *client_region_arm(struct client_region *region, uint32_t *ret_value, bool *inout_rearmed)
{
        uint32_t n_allowed = count_chunks_allowed(region);
        uint32_t *word = &shared_header(region)->wake_chunk;
        uint32_t wanted;

        if (!region->is_enabled || region->header.abi_minor < 3 || n_allowed < 2)
                return NULL;
        wanted = WAKE_BYTES / region->header.chunk_bytes;
        if (wanted > n_allowed / 2)
                wanted = n_allowed / 2;
        wanted += wanted == 0;
        *inout_rearmed |= __atomic_exchange_n(word, wanted, __ATOMIC_RELAXED) != wanted;
        *ret_value = wanted;
        return word;
}

void client_region_beat(struct client_region *region, uint64_t now_ns)
{
        if (!region->is_enabled)
                return;
        (void)__atomic_add_fetch(&shared_header(region)->recorder_beat, 1, __ATOMIC_RELAXED);
        if (region->chunks.n_freed > 0 && now_ns > SPARE_KEPT_NS)
                chunk_pool_trim(&region->chunks, now_ns - SPARE_KEPT_NS);
}

/*
 * If the program pauses itself at this moment, the program or this function notices it; a program that
 * keeps changing its pause is not followed for ever.
 */
static void put_word(struct client_region *region, uint32_t word)
{
        struct client_abi_header *h = shared_header(region);
        uint32_t families = CLIENT_ABI_FAMILIES | CLIENT_ABI_CALLSTACKS;

        if (region->header.abi_minor < 2) {
                __atomic_store_n(&h->control_word, word, __ATOMIC_RELEASE);
                return;
        }
        __atomic_store_n(&h->wanted_word, word, __ATOMIC_SEQ_CST);
        for (unsigned n = 0; n < PAUSE_LOOKS_MAX; n++) {
                uint32_t paused = __atomic_load_n(&h->paused, __ATOMIC_SEQ_CST);

                /* The sequentially consistent store includes the release that the session needs. */
                __atomic_store_n(&h->control_word,
                                 paused != 0 ? (word & ~families) | CLIENT_ABI_FAMILY_ALWAYS : word,
                                 __ATOMIC_SEQ_CST);
                if (__atomic_load_n(&h->paused, __ATOMIC_SEQ_CST) == paused)
                        return;
        }
}

int client_region_enable(struct client_region *region, uint32_t word, struct error *err)
{
        struct client_abi_header *h = shared_header(region);
        uint32_t owner = __atomic_load_n(&h->recorder_pid, __ATOMIC_RELAXED);
        uint32_t self = (uint32_t)getpid();
        uint32_t before, session;

        if (is_other_alive(owner) || !__atomic_compare_exchange_n(&h->recorder_pid, &owner, self, false,
                                                                  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
                return error_set(err, -EBUSY, "process %u is being recorded by process %u",
                                 region->header.pid, owner);

        before = __atomic_load_n(&h->control_word, __ATOMIC_RELAXED);
        session = before >> CLIENT_ABI_SESSION_SHIFT;
        if (is_self_started(before, owner)) {
                adopt_bytes(region);
                region->is_adopted = true;
        } else {
                /* Stops the program first: a recorder that died has left it recording. */
                __atomic_store_n(&h->control_word, session << CLIENT_ABI_SESSION_SHIFT, __ATOMIC_RELAXED);
                skip_old_bytes(region);
                session = next_session(session);
        }
        __atomic_store_n(&h->n_chunks_allowed, count_chunks_allowed(region), __ATOMIC_RELAXED);
        word = (word & (CLIENT_ABI_FAMILIES | CLIENT_ABI_CALLSTACKS)) | CLIENT_ABI_FAMILY_ALWAYS;
        region->families = word;
        /*
         * Release: a program that sees the new session also sees the tails, which tell it how much room there
         * is.
         */
        put_word(region, session << CLIENT_ABI_SESSION_SHIFT | word);
        region->is_enabled = true;
        return 0;
}

void client_region_pause(struct client_region *region, bool paused)
{
        struct client_abi_header *h = shared_header(region);
        uint32_t session;

        if (!region->is_enabled)
                return;
        session = __atomic_load_n(&h->control_word, __ATOMIC_RELAXED) >> CLIENT_ABI_SESSION_SHIFT;
        put_word(region, session << CLIENT_ABI_SESSION_SHIFT |
                                 (paused ? CLIENT_ABI_FAMILY_ALWAYS : region->families));
}

void client_region_disable(struct client_region *region)
{
        struct client_abi_header *h;
        uint32_t self = (uint32_t)getpid();

        if (!region->is_enabled)
                return;
        region->is_enabled = false;
        h = shared_header(region);
        if (__atomic_load_n(&h->recorder_pid, __ATOMIC_RELAXED) != self)
                return; /* another recorder took it over */
        /* The next recorder may not know of these fields. */
        __atomic_store_n(&h->n_chunks_allowed, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&h->wanted_word, 0,
                         __ATOMIC_SEQ_CST); /* before the control word, so that no program resumes by it */
        (void)__atomic_and_fetch(&h->control_word, ~(CLIENT_ABI_FAMILIES | CLIENT_ABI_CALLSTACKS),
                                 __ATOMIC_RELAXED);
        (void)__atomic_compare_exchange_n(&h->recorder_pid, &self, 0, false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED);
}

static int explain(const struct client_region *region, uint32_t slot, int code, struct error *err)
{
        return error_set(err, code, "client region of process %u: ring %u cannot be read from byte %llu on",
                         region->header.pid, slot, (unsigned long long)region->slots[slot].reader.tail_bytes);
}

int64_t client_region_drain(struct client_region *region, uint32_t slot, size_t max_bytes,
                            struct byte_buffer *pending, struct error *err)
{
        struct ring_reader *reader = &region->slots[slot].reader;
        uint64_t unread = ring_reader_count_unread(reader, &region->chunks, slot);
        size_t n = unread < max_bytes ? (size_t)unread : max_bytes;
        uint8_t *to;
        int r;

        if (n == 0)
                return 0;
        if (!ring_reader_is_possible(reader, &region->chunks, unread))
                return explain(region, slot, -EBADMSG, err);
        to = byte_buffer_reserve(pending, n);
        if (!to)
                return error_set(err, -ENOMEM, "client region: no memory for %zu ring bytes", n);
        r = ring_reader_drain(reader, &region->chunks, slot, to, n, &n);
        if (r < 0 && n == 0)
                return explain(region, slot, r, err);
        location_reader_forget(&region->locations);
        pending->used_bytes += n;
        return (int64_t)n;
}

uint64_t client_region_count_unread(const struct client_region *region, uint32_t slot)
{
        return ring_reader_count_unread(&region->slots[slot].reader, &region->chunks, slot);
}

/* A counter that went backwards says nothing. */
static uint64_t grown(uint64_t now, uint64_t base)
{
        return now > base ? now - base : 0;
}

struct client_drops client_region_drops(const struct client_region *region, uint32_t slot)
{
        struct client_drops now = read_drops(region, slot);
        const struct client_drops *base = &region->slots[slot].base;

        return (struct client_drops){
                .n_zones = grown(now.n_zones, base->n_zones),
                .n_deep_zones = grown(now.n_deep_zones, base->n_deep_zones),
                .n_messages = grown(now.n_messages, base->n_messages),
                .n_plots = grown(now.n_plots, base->n_plots),
                .n_frames = grown(now.n_frames, base->n_frames),
                .n_memory = grown(now.n_memory, base->n_memory),
                .n_locks = grown(now.n_locks, base->n_locks),
                .n_devices = grown(now.n_devices, base->n_devices),
                .n_other = grown(now.n_other, base->n_other),
                .n_no_pictures = grown(now.n_no_pictures, base->n_no_pictures),
                .n_no_device_zones = grown(now.n_no_device_zones, base->n_no_device_zones),
                .n_no_events = grown(now.n_no_events, base->n_no_events),
        };
}

uint64_t client_region_drops_no_ring(const struct client_region *region)
{
        return grown(read_drops_no_ring(region), region->no_ring_base);
}

uint64_t client_region_blobs_refused(const struct client_region *region)
{
        return grown(read_blobs_refused(region), region->blobs_refused_base);
}

/* ---- locations ------------------------------------------------------------------------------------- */

static uint32_t count_locations(const struct client_region *region)
{
        /*
         * Pairs with the releases in the client: a recorder that knows of an id by an event, or by this
         * count, finds its entry.
         */
        return __atomic_load_n(&shared_header(region)->n_locations, __ATOMIC_ACQUIRE);
}

int client_region_location(struct client_region *region, uint32_t id, struct client_location *ret_location,
                           struct error *err)
{
        return location_reader_find(&region->locations, id, count_locations(region), ret_location, err);
}

int client_region_next_plot(struct client_region *region, uint32_t *inout_id,
                            struct client_location *ret_location)
{
        return location_reader_next_plot(&region->locations, inout_id, count_locations(region), ret_location,
                                         NULL);
}

/* ---- blobs ----------------------------------------------------------------------------------------- */

/*
 * How far the client has gone past a blob's begin; if by more than the whole area, the blob is overwritten,
 * or will be.
 */
static uint64_t count_ahead(const struct client_region *region, uint64_t at)
{
        return __atomic_load_n(&shared_header(region)->blobs_used_bytes, __ATOMIC_ACQUIRE) - at;
}

/* The size of a blob and its header, in bytes of whole words; 0 if there can be no such blob. */
static uint64_t whole_blob_bytes(const struct client_region *region, uint64_t at, uint64_t n_bytes)
{
        uint64_t area = region->header.blobs_bytes;
        uint64_t used = __atomic_load_n(&shared_header(region)->blobs_used_bytes, __ATOMIC_ACQUIRE);
        uint64_t whole;

        if (n_bytes == 0 || n_bytes > CLIENT_ABI_BLOB_BYTES_MAX || area == 0 ||
            at % CLIENT_ABI_WORD_BYTES != 0)
                return 0;
        whole = CLIENT_ABI_BLOB_HEADER_BYTES +
                (n_bytes + CLIENT_ABI_WORD_BYTES - 1) / CLIENT_ABI_WORD_BYTES * CLIENT_ABI_WORD_BYTES;
        if (whole > area || at % area > area - whole || at > used || whole > used - at)
                return 0;
        if (region->blobs_taken_bytes > used || whole > used - region->blobs_taken_bytes)
                return 0;
        return whole;
}

/* Returns 0 if the blob at @at has not been overwritten, -ESTALE if it has. */
static int check_blob(const struct client_region *region, uint64_t at, struct error *err)
{
        const struct client_abi_header *h = &region->header;
        uint64_t mark = 0;
        size_t got = 0;
        int r = io_pread_full(region->fd, &mark, sizeof(mark), h->blobs_offset + at % h->blobs_bytes, &got,
                              err);

        if (r < 0)
                return r;
        if (got != sizeof(mark) || mark != at || count_ahead(region, at) > h->blobs_bytes)
                return error_set(err, -ESTALE, "client region of process %u: blob %llu was overwritten",
                                 h->pid, (unsigned long long)at);
        return 0;
}

/*
 * Frees the pages that hold nothing but blobs that were read.  A page at the border of two blobs goes with
 * the later one if they were read in order, so that many small ones free their pages as well.
 */
static void punch_hole(struct client_region *region, uint64_t at, uint64_t whole_bytes)
{
        const struct client_abi_header *h = &region->header;
        struct freed_run *run = &region->freed_run;
        uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
        uint64_t from, to, run_from;

        if (at != run->end || at % h->blobs_bytes == 0)
                run->first = at;
        run->end = at + whole_bytes;
        /* Frees nothing if the client will soon come round again: the client might get there first. */
        if (count_ahead(region, at) + page > h->blobs_bytes / 2)
                return;
        run_from = h->blobs_offset + run->first % h->blobs_bytes;
        from = h->blobs_offset + at % h->blobs_bytes;
        to = (from + whole_bytes) / page * page;
        from = from / page * page;
        if (from < run_from)
                from += page;
        if (from < to) /* a failure does no harm: the client uses the pages again */
                (void)fallocate(region->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
                                (off_t)(to - from));
}

static void give_back(struct client_region *region, uint64_t whole_bytes)
{
        region->blobs_taken_bytes += whole_bytes;
        /* An addition, not a store: the client adds the gaps at the area's end as well. */
        (void)__atomic_add_fetch(&shared_header(region)->blobs_freed_bytes, whole_bytes, __ATOMIC_RELEASE);
}

int client_region_read_blob(struct client_region *region, uint64_t at, uint64_t n_bytes,
                            struct byte_buffer *to, struct error *err)
{
        const struct client_abi_header *h = &region->header;
        uint64_t whole = whole_blob_bytes(region, at, n_bytes);
        uint8_t *data;
        size_t got = 0;
        int r;

        if (whole == 0)
                return error_set(err, -EBADMSG, "client region of process %u: blob of %llu bytes at %llu",
                                 h->pid, (unsigned long long)n_bytes, (unsigned long long)at);
        r = check_blob(region, at, err);
        if (r < 0)
                goto fail;
        data = byte_buffer_reserve(to, (size_t)n_bytes);
        if (!data)
                return error_set(err, -ENOMEM, "client region: no memory for a blob of %llu bytes",
                                 (unsigned long long)n_bytes);
        r = io_pread_full(region->fd, data, (size_t)n_bytes,
                          h->blobs_offset + at % h->blobs_bytes + CLIENT_ABI_BLOB_HEADER_BYTES, &got, err);
        if (r == 0 && got != n_bytes)
                r = error_set(err, -EBADMSG, "client region: a blob ends early");
        if (r < 0)
                goto fail;
        /*
         * Reads the copy before the mark; this pairs with the order in the client, which takes room first
         * and then writes the bytes.
         */
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        r = check_blob(region, at, err);
        if (r < 0)
                goto fail;
        to->used_bytes += (size_t)n_bytes;
        punch_hole(region, at, whole);
        give_back(region, whole);
        return 0;

fail:
        if (r == -ESTALE)
                give_back(region, whole);
        return r;
}

void client_region_free_blob(struct client_region *region, uint64_t at, uint64_t n_bytes)
{
        uint64_t whole = whole_blob_bytes(region, at, n_bytes);

        if (whole == 0)
                return;
        if (check_blob(region, at, NULL) == 0)
                punch_hole(region, at, whole);
        give_back(region, whole);
}
