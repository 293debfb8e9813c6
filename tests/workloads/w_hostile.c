/* SPDX-License-Identifier: MIT */
/*
 * w_hostile MODE [SECONDS=2]
 *
 * A program that wants its recorder to come to harm.  It hands in a region of its own making, as
 * docs/understand/client-abi.md says.
 *
 *   blob     26,000 events, each with the same payload of 128 MiB
 *   garbage  random words in rings, slots and header, again and again
 *   ignores  zones as fast as it can, in eight rings, deaf to SIGINT and SIGTERM
 *   forks    300 children, each with a region of 65,536 slots, of 4000 bytes each
 *   map      20,000,000 functions in a perf map, /tmp/perf-PID.map, which stays
 *
 * Truth: with each of them the recorder ends within two seconds of SIGTERM, or of the second SIGINT, and its
 * trace is whole.  Prints its process id when it has begun.
 */
#include "instrument/client_abi.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BLOB_BYTES ((UINT64_C(128) << 20) - CLIENT_ABI_BLOB_HEADER_BYTES)
#define RING_BYTES (UINT64_C(1) << 20)
#define N_RINGS    8
#define N_CHILDREN 300
#define N_LINES    20000000
#define PAGE       UINT64_C(65536)
#define NS_PER_S   UINT64_C(1000000000)

struct region {
        int fd;
        uint8_t *bytes;
        struct client_abi_header *header;
};

static uint64_t random_state = 88172645463325252;
static uint64_t end_ns;

static uint64_t next_random(void)
{
        random_state ^= random_state << 13;
        random_state ^= random_state >> 7;
        random_state ^= random_state << 17;
        return random_state;
}

static uint64_t now_ns(void)
{
        struct timespec now;

        (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
        return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void fail(const char *what)
{
        perror(what);
        exit(EXIT_FAILURE);
}

/* ---- a region ------------------------------------------------------------------------------------------ */

static uint64_t take(uint64_t *end, uint64_t n_bytes)
{
        uint64_t at = *end;

        *end = (at + n_bytes + PAGE - 1) / PAGE * PAGE;
        return at;
}

static struct region make(uint32_t n_slots, uint32_t slot_bytes, uint64_t ring_bytes, uint64_t blobs_bytes)
{
        uint64_t end = PAGE;
        struct client_abi_header h = {
                .magic = CLIENT_ABI_MAGIC,
                .abi_major = CLIENT_ABI_MAJOR,
                .header_bytes = sizeof(h),
                .pid = (uint32_t)getpid(),
                .clock_kind = CLIENT_ABI_CLOCK_MONOTONIC_RAW,
                .control_word = UINT32_C(1) << CLIENT_ABI_SESSION_SHIFT | CLIENT_ABI_FAMILIES,
                .n_slots = n_slots,
                .slot_bytes = slot_bytes,
                .n_slots_used = n_slots,
                .n_locations = 1,
                .n_locations_max = 1000,
                .location_bytes = sizeof(struct client_abi_location),
                .strings_bytes = PAGE,
                .ring_bytes = ring_bytes,
                .blobs_bytes = blobs_bytes,
        };
        struct region r = { .fd = memfd_create(CLIENT_ABI_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING) };
        struct client_abi_location *location;

        h.slots_offset = take(&end, (uint64_t)n_slots * slot_bytes);
        h.locations_offset = take(&end, h.n_locations_max * sizeof(*location));
        h.strings_offset = take(&end, h.strings_bytes);
        h.rings_offset = take(&end, n_slots * ring_bytes);
        h.blobs_offset = take(&end, blobs_bytes);
        h.region_bytes = end;
        if (r.fd < 0 || ftruncate(r.fd, (off_t)end) < 0 ||
            pwrite(r.fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h) ||
            fcntl(r.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
                fail("region");
        r.bytes = mmap(NULL, end, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, r.fd, 0);
        if (r.bytes == MAP_FAILED)
                fail("mmap");
        r.header = (void *)r.bytes;
        location = (void *)(r.bytes + h.locations_offset);
        memcpy(r.bytes + h.strings_offset, "hostile", 7);
        location->name = UINT64_C(7) << CLIENT_ABI_STRING_OFFSET_BITS;
        location->ready = 1;
        return r;
}

static void hand_in(const struct region *r)
{
        const char *address = getenv("HYPROF_RECORDER");
        struct sockaddr_un to = { .sun_family = AF_UNIX };
        _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = "";
        char byte = 'x';
        struct iovec part = { &byte, 1 };
        struct msghdr message = {
                .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
        };
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

        if (!address)
                return; /* it is found by its mapping */
        memcpy(to.sun_path, address, strlen(address));
        to.sun_path[0] = '\0';
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &r->fd, sizeof(int));
        if (connect(fd, (void *)&to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(address))) <
                    0 ||
            sendmsg(fd, &message, MSG_NOSIGNAL) < 0)
                fail("handing in a region");
        (void)close(fd);
}

static struct client_abi_slot *slot_of(const struct region *r, uint64_t slot)
{
        return (void *)(r->bytes + r->header->slots_offset + slot * r->header->slot_bytes);
}

/* ---- events -------------------------------------------------------------------------------------------- */

static void put(const struct region *r, uint64_t slot, uint64_t *head, uint64_t word)
{
        uint8_t *ring = r->bytes + r->header->rings_offset + slot * r->header->ring_bytes;

        memcpy(ring + *head % r->header->ring_bytes, &word, sizeof(word));
        *head += sizeof(word);
}

static uint64_t pack(enum client_abi_event kind, uint64_t argument, uint64_t time_ns)
{
        return (time_ns & UINT32_MAX) | argument << CLIENT_ABI_ARG_SHIFT |
               (uint64_t)kind << CLIENT_ABI_EVENT_SHIFT;
}

static void put_begin(const struct region *r, uint64_t slot, uint64_t *head)
{
        put(r, slot, head, pack(CLIENT_ABI_EVENT_TIME, 0, now_ns() >> 32));
        put(r, slot, head, pack(CLIENT_ABI_EVENT_THREAD, 0, now_ns()));
        put(r, slot, head, (uint64_t)getpid());
}

static void publish(const struct region *r, uint64_t slot, uint64_t head)
{
        __atomic_store_n(&slot_of(r, slot)->head_bytes, head, __ATOMIC_RELEASE);
}

static void wait_for_end(void)
{
        uint64_t now = now_ns();
        const struct timespec rest = { .tv_sec = (time_t)((end_ns - now) / NS_PER_S),
                                       .tv_nsec = (long)((end_ns - now) % NS_PER_S) };

        if (now < end_ns)
                (void)nanosleep(&rest, NULL);
}

static void say_ready(void)
{
        (void)printf("%d\n", (int)getpid());
        (void)fflush(stdout);
}

static void run_blob(void)
{
        struct region r = make(1, sizeof(struct client_abi_slot), RING_BYTES, 2 * BLOB_BYTES + PAGE);
        uint64_t head = 0;

        memset(r.bytes + r.header->blobs_offset + CLIENT_ABI_BLOB_HEADER_BYTES, 'a', BLOB_BYTES);
        r.header->blobs_used_bytes = BLOB_BYTES + CLIENT_ABI_BLOB_HEADER_BYTES;
        put_begin(&r, 0, &head);
        while (head < RING_BYTES - 64) {
                put(&r, 0, &head, pack(CLIENT_ABI_EVENT_BLOB, 0, now_ns()));
                put(&r, 0, &head, 0);
                put(&r, 0, &head, BLOB_BYTES);
                put(&r, 0, &head, pack(CLIENT_ABI_EVENT_SOURCE_TEXT, 8, now_ns()));
                put(&r, 0, &head, 0);
        }
        publish(&r, 0, head);
        hand_in(&r);
        say_ready();
        wait_for_end();
}

static void run_garbage(void)
{
        struct region r = make(64, 256, RING_BYTES, 64 * PAGE);
        uint64_t n_words = r.header->region_bytes / 64 / sizeof(uint64_t);

        hand_in(&r);
        say_ready();
        while (now_ns() < end_ns) {
                uint64_t slot = next_random() % 64;

                for (int i = 0; i < 4096; i++)
                        ((uint64_t *)(void *)r.bytes)[PAGE / 8 + next_random() % (n_words - PAGE / 8)] =
                                next_random();
                for (int i = 0; i < 4096; i++) {
                        uint64_t head = next_random() % RING_BYTES;

                        put(&r, slot, &head, next_random());
                }
                publish(&r, slot,
                        slot_of(&r, slot)->tail_bytes + (next_random() % RING_BYTES & ~UINT64_C(7)));
                r.header->n_slots_used = (uint32_t)next_random();
                r.header->blobs_used_bytes = next_random();
                r.header->n_dropped_no_ring = next_random();
        }
}

static void run_ignores(void)
{
        struct region r = make(N_RINGS, sizeof(struct client_abi_slot), RING_BYTES, PAGE);
        uint64_t heads[N_RINGS] = { 0 };

        (void)signal(SIGINT, SIG_IGN);
        (void)signal(SIGTERM, SIG_IGN);
        for (uint64_t slot = 0; slot < N_RINGS; slot++)
                put_begin(&r, slot, &heads[slot]);
        hand_in(&r);
        say_ready();
        while (now_ns() < end_ns)
                for (uint64_t slot = 0; slot < N_RINGS; slot++) {
                        uint64_t time_ns = now_ns();

                        if (heads[slot] - __atomic_load_n(&slot_of(&r, slot)->tail_bytes, __ATOMIC_ACQUIRE) >
                            RING_BYTES / 2)
                                continue;
                        put(&r, slot, &heads[slot], pack(CLIENT_ABI_EVENT_TIME, 0, time_ns >> 32));
                        for (int i = 0; i < 2000; i++) {
                                put(&r, slot, &heads[slot], pack(CLIENT_ABI_EVENT_ZONE_BEGIN, 1, time_ns));
                                put(&r, slot, &heads[slot], pack(CLIENT_ABI_EVENT_ZONE_END, 0, time_ns));
                        }
                        publish(&r, slot, heads[slot]);
                }
}

static void run_forks(void)
{
        for (int i = 0; i < N_CHILDREN; i++)
                if (fork() == 0) {
                        (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
                        struct region r = make(65536, 4000, CLIENT_ABI_WORD_BYTES, PAGE);

                        hand_in(&r);
                        wait_for_end();
                        _exit(EXIT_SUCCESS);
                }
        say_ready();
        wait_for_end();
}

/* The map is whole when the recorder hears of the code that it names. */
static void run_map(void)
{
        char path[32];
        FILE *map;

        (void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
        map = fopen(path, "we");
        if (!map)
                fail(path);
        for (unsigned i = 0; i < N_LINES; i++)
                (void)fprintf(map, "%x 1 %x\n", i, i);
        if (fclose(map) != 0)
                fail(path);
        if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
                fail("mmap");
        say_ready();
        wait_for_end();
}

int main(int argc, char **argv)
{
        static const struct {
                const char *name;
                void (*run)(void);
        } modes[] = { { "blob", run_blob },
                      { "garbage", run_garbage },
                      { "ignores", run_ignores },
                      { "forks", run_forks },
                      { "map", run_map } };
        double seconds = argc > 2 ? strtod(argv[2], NULL) : 2;

        end_ns = now_ns() + (uint64_t)(seconds * (double)NS_PER_S);
        for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
                if (strcmp(argv[1], modes[i].name) == 0) {
                        modes[i].run();
                        return EXIT_SUCCESS;
                }
        (void)fprintf(stderr, "usage: w_hostile blob|garbage|ignores|forks|map [SECONDS]\n");
        return 2;
}
