/* SPDX-License-Identifier: MIT */
/*
 * w_old_client MAJOR FILLING
 *
 * Truth: a client of version MAJOR.0 of the shared memory, made from the document alone and with the layout
 * that version 1.0 had, in which the byte FILLING is all that was reserved then.  It emits 1,000 zones "old
 * zone" on its only thread, which is called "old thread", and ends when they were read, or after ten seconds;
 * at once if MAJOR is not 1.
 *
 * Prints "zones 1000" and "read N", how many bytes the recorder has read.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define ROOM       65536
#define RING_BYTES ROOM
#define N_ZONES    1000
#define WAIT_MS    10000

#define EVENT_TIME        1
#define EVENT_THREAD      2
#define EVENT_ZONE_BEGIN  3
#define EVENT_ZONE_END    4
#define EVENT_THREAD_NAME 9

struct header {
        uint64_t magic;
        uint16_t abi_major, abi_minor;
        uint32_t header_bytes, pid, clock_kind;
        uint64_t region_bytes, slots_offset;
        uint32_t slot_bytes, n_slots;
        uint64_t locations_offset;
        uint32_t location_bytes, n_locations_max;
        uint64_t strings_offset, strings_bytes, rings_offset, ring_bytes, blobs_offset, blobs_bytes;
        uint8_t reserved_a[16];
        uint32_t control_word, recorder_pid;
        uint64_t blobs_freed_bytes;
        uint8_t reserved_b[48];
        uint32_t n_locations, n_slots_used;
        uint64_t strings_used_bytes, n_dropped_no_ring, blobs_used_bytes, n_refused_blobs;
        uint8_t reserved_c[24];
};

struct slot {
        uint64_t head_bytes;
        uint32_t taken;
        uint8_t reserved_a[52];
        uint64_t tail_bytes;
        uint8_t reserved_b[56];
        uint64_t n_dropped[8];
        uint8_t reserved_c[64];
};

struct location {
        uint64_t name, function, file;
        uint32_t line, color, ready;
        uint8_t rest[28];
};

_Static_assert(sizeof(struct header) == 256 && sizeof(struct slot) == 256 && sizeof(struct location) == 64,
               "1.0");

static uint8_t *region;
static uint64_t head_bytes;

static uint64_t clock_raw_ns(void)
{
        struct timespec t;

        if (clock_gettime(CLOCK_MONOTONIC_RAW, &t) != 0)
                abort();
        return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void put_word(uint64_t word)
{
        memcpy(region + 4 * (size_t)ROOM + head_bytes % RING_BYTES, &word, sizeof(word));
        head_bytes += sizeof(word);
}

static void put_event(uint64_t event, uint64_t argument)
{
        uint64_t ns = clock_raw_ns();

        put_word((uint64_t)EVENT_TIME << 56 | ns >> 32);
        put_word(event << 56 | argument << 32 | (ns & UINT32_MAX));
}

static int make_region(uint16_t major, int filling)
{
        const char *wanted = getenv("HYPROF_RECORD");
        struct header h = { .magic = UINT64_C(0x314e474552505948),
                            .abi_major = major,
                            .header_bytes = sizeof(h),
                            .pid = (uint32_t)getpid(),
                            .clock_kind = 1,
                            .region_bytes = 5 * (uint64_t)ROOM,
                            .slots_offset = ROOM,
                            .slot_bytes = sizeof(struct slot),
                            .n_slots = 1,
                            .locations_offset = 2 * (uint64_t)ROOM,
                            .location_bytes = sizeof(struct location),
                            .n_locations_max = 1,
                            .strings_offset = 3 * (uint64_t)ROOM,
                            .strings_bytes = ROOM,
                            .rings_offset = 4 * (uint64_t)ROOM,
                            .ring_bytes = RING_BYTES,
                            .control_word = UINT32_C(1) << 16 | 0x80 };
        struct slot slot = { .taken = (uint32_t)getpid() };
        struct location location = { .name = UINT64_C(8) << 40, .line = 7, .ready = 1 };
        int fd = memfd_create("hyprof-client", MFD_CLOEXEC | MFD_ALLOW_SEALING);

        if (wanted)
                h.control_word |= (uint32_t)strtoul(wanted, NULL, 10);
        memset(h.reserved_a, filling, sizeof(h.reserved_a));
        memset(h.reserved_b, filling, sizeof(h.reserved_b));
        memset(slot.reserved_b, filling, sizeof(slot.reserved_b));
        memset(slot.reserved_c, filling, sizeof(slot.reserved_c));
        if (fd < 0 || ftruncate(fd, (off_t)h.region_bytes) < 0 ||
            fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0 ||
            pwrite(fd, &slot, sizeof(slot), ROOM) != sizeof(slot) ||
            pwrite(fd, &location, sizeof(location), 2 * (off_t)ROOM) != sizeof(location) ||
            pwrite(fd, "old zone", 8, 3 * (off_t)ROOM) != 8)
                return -1;
        h.n_locations = h.n_slots_used = 1;
        h.strings_used_bytes = 8;
        if (pwrite(fd, &h, sizeof(h), 0) != sizeof(h))
                return -1;
        region = mmap(NULL, (size_t)h.region_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        return region == MAP_FAILED ? -1 : fd;
}

/* Hands the region in, if there is a listener. */
static void announce(int fd)
{
        const char *address = getenv("HYPROF_RECORDER");
        struct sockaddr_un to = { .sun_family = AF_UNIX };
        union {
                char bytes[CMSG_SPACE(sizeof(int))];
                struct cmsghdr header;
        } control = { .bytes = { 0 } };
        char byte = 0;
        struct iovec data = { .iov_base = &byte, .iov_len = 1 };
        struct msghdr message = { .msg_iov = &data,
                                  .msg_iovlen = 1,
                                  .msg_control = control.bytes,
                                  .msg_controllen = sizeof(control.bytes) };
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

        if (!address || s < 0 || strlen(address) >= sizeof(to.sun_path))
                return;
        memcpy(to.sun_path + 1, address + 1, strlen(address) - 1);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
        if (connect(s, (const struct sockaddr *)&to,
                    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(address))) == 0)
                (void)sendmsg(s, &message, MSG_NOSIGNAL);
        (void)close(s);
}

int main(int argc, char **argv)
{
        static const char name[16] = "old thread";
        uint16_t major = argc > 1 ? (uint16_t)strtoul(argv[1], NULL, 10) : 1;
        int fd = make_region(major, argc > 2 ? (int)strtol(argv[2], NULL, 0) : 0);
        struct timespec pause = { .tv_nsec = 1000000 };
        struct slot *slot;

        if (fd < 0)
                return 1;
        slot = (struct slot *)(void *)(region + ROOM);
        announce(fd);
        put_event(EVENT_THREAD, 0);
        put_word((uint64_t)getpid());
        put_event(EVENT_THREAD_NAME, 10);
        for (size_t at = 0; at < sizeof(name); at += sizeof(uint64_t)) {
                uint64_t word;

                memcpy(&word, name + at, sizeof(word));
                put_word(word);
        }
        for (int i = 0; i < N_ZONES; i++) {
                put_event(EVENT_ZONE_BEGIN, 1);
                put_event(EVENT_ZONE_END, 0);
        }
        __atomic_store_n(&slot->head_bytes, head_bytes, __ATOMIC_RELEASE);
        for (int ms = 0;
             major == 1 && ms < WAIT_MS && __atomic_load_n(&slot->tail_bytes, __ATOMIC_ACQUIRE) != head_bytes;
             ms++)
                (void)nanosleep(&pause, NULL);
        printf("zones %d\nread %" PRIu64 "\n", N_ZONES, slot->tail_bytes);
        return 0;
}
