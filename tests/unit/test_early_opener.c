/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/early_opener.c: the file of a mapping is open when its ring is reported, and the
 * ring keeps its records
 */
#include "base/byte_buffer.h"
#include "base/io.h"
#include "sampler/keep/early_opener.h"
#include "sampler/keep/opened_files.h"
#include "sampler/kernel/perf_record.h"
#include "tests/unit/fake_events.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/kernel_record.h"
#include "tests/unit/unit_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES 8192

static struct event_set events;
static struct early_opener *opener;
static int ring_fd; /* what the kernel would wake who waits for the ring by */
static const char template[] = "/tmp/hyprof-opener-XXXXXX";
static char path[sizeof(template)];
static struct perf_mmap mapped; /* of ourselves */
static ino_t mapped_inode;

static void setup(void)
{
        struct stat status;
        void *at;
        int fd;

        memcpy(path, template, sizeof(template));
        fd = mkostemp(path, O_CLOEXEC);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(ftruncate(fd, FILE_BYTES), 0);
        ck_assert_int_eq(fstat(fd, &status), 0);
        at = mmap(NULL, FILE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
        ck_assert_ptr_ne(at, MAP_FAILED);
        mapped_inode = status.st_ino;
        io_close(&fd);
        mapped = (struct perf_mmap){ .start_avma = (uint64_t)(uintptr_t)at,
                                     .length_bytes = FILE_BYTES,
                                     .build_id = { 1 },
                                     .build_id_bytes = PERF_RECORD_BUILD_ID_MAX,
                                     .executable = true,
                                     .path = path,
                                     .path_bytes = strlen(path) };
        fake_events_open(&events, PERF_RECORD_SAMPLE_TYPE);
        ring_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        ck_assert_int_ge(ring_fd, 0);
        events.ring_fds[FAKE_TRACKER_1] = ring_fd;
        ck_assert_int_eq(early_opener_start(&events, &opener, NULL), 0);
}

static void teardown(void)
{
        early_opener_stop(opener);
        event_set_close(&events);
        io_close(&ring_fd);
        ck_assert_int_eq(unlink(path), 0);
}

static void put(const struct perf_mmap *mmap, uint64_t time_ns)
{
        struct kernel_record_identity identity = { .pid = (uint32_t)getpid(),
                                                   .tid = (uint32_t)getpid(),
                                                   .time_ns = time_ns,
                                                   .event = FAKE_EVENT_TRACKER };
        struct byte_buffer record = { .data = NULL };

        kernel_record_add_mmap2(&record, &identity, mmap);
        fake_ring_take(&events.rings[FAKE_TRACKER_1], &record);
        byte_buffer_deinit(&record);
}

/* One record, and what the kernel does when it is there. */
static void tell(const struct perf_mmap *mmap, uint64_t time_ns)
{
        static const uint64_t one = 1;

        put(mmap, time_ns);
        ck_assert_int_eq(io_write_all(ring_fd, &one, sizeof(one), NULL), 0);
}

/* The same with doorbells, of which that of the other CPU never rings: the ring itself wakes no one. */
static void setup_bells(void)
{
        setup();
        early_opener_stop(opener);
        events.doorbells = calloc(2, sizeof(*events.doorbells));
        events.cpus.n_cpus = 2;
        events.ring_fds[FAKE_TRACKER_1] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        ck_assert(events.doorbells && events.ring_fds[FAKE_TRACKER_1] >= 0);
        events.doorbells[0].fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        events.doorbells[1].fd = ring_fd;
        ck_assert_int_eq(early_opener_start(&events, &opener, NULL), 0);
}

static void teardown_bells(void)
{
        io_close(&events.ring_fds[FAKE_TRACKER_1]);
        early_opener_stop(opener);
        event_set_close(&events);
        ck_assert_int_eq(unlink(path), 0);
}

/* By _i of a loop test: without and with bells. */
static void (*const setups[])(void) = { setup, setup_bells };
static void (*const teardowns[])(void) = { teardown, teardown_bells };

/* Until the opener has reported at least @n times: one is for all records of before. */
static void wait_for(uint64_t n)
{
        uint64_t n_reports = 0;

        while (n_reports < n) {
                struct pollfd report = { .fd = early_opener_fd(opener), .events = POLLIN };
                uint64_t more;

                ck_assert_int_eq(poll(&report, 1, -1), 1);
                ck_assert_int_eq(read(report.fd, &more, sizeof(more)), sizeof(more));
                n_reports += more;
        }
}

static int find(uint64_t time_ns)
{
        struct perf_mmap mmap = mapped;

        mmap.time_ns = time_ns;
        return opened_files_find(early_opener_files(opener), (uint32_t)getpid(), &mmap);
}

/* Mappings of the system's code that ring again and again silence the bell of their CPU alone. */
START_TEST(test_silence)
{
        static const char system_path[] = "/usr/lib/libc.so.6";
        struct perf_mmap vain;
        bool rings = true;

        setup_bells();
        vain = mapped;
        vain.path = system_path;
        vain.path_bytes = sizeof(system_path) - 1;
        for (size_t i = 0; i < 2; i++)
                __atomic_store_n(&events.doorbells[i].rings, true, __ATOMIC_RELAXED);
        for (uint64_t i = 0; i < 100000 && rings; i++) { /* so many of them must come in a moment */
                tell(&vain, 1000 + i);
                wait_for(1);
                perf_ring_discard(&events.rings[FAKE_TRACKER_1]);
                rings = __atomic_load_n(&events.doorbells[1].rings, __ATOMIC_RELAXED);
        }
        ck_assert(!rings);
        ck_assert(__atomic_load_n(&events.doorbells[0].rings, __ATOMIC_RELAXED));
        teardown_bells();
}
END_TEST

START_LOOP_TEST(test_opened, 0, 2)
{
        struct stat status;
        const uint8_t *record;
        size_t n_bytes;
        int fd;

        setups[_i]();
        tell(&mapped, 1000);
        wait_for(1);
        fd = find(1000);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(fstat(fd, &status), 0);
        ck_assert_uint_eq(status.st_ino, mapped_inode);
        io_close(&fd);
        ck_assert_int_eq(perf_ring_peek(&events.rings[FAKE_TRACKER_1], &record, &n_bytes, NULL), 1);
        tell(&mapped, 2000);
        wait_for(1);
        fd = find(2000);
        ck_assert_int_ge(fd, 0);
        io_close(&fd);
        teardowns[_i]();
}
END_TEST

START_LOOP_TEST(test_left_alone, 0, 2)
{
        struct perf_mmap data, of_system, gone;

        setups[_i]();
        data = of_system = gone = mapped;
        data.executable = false;
        of_system.path = "/usr/lib/libc.so.6";
        of_system.path_bytes = strlen(of_system.path);
        gone.start_avma += UINT64_C(1) << 40;
        gone.build_id[0]++;
        gone.path = "/tmp/hyprof-opener-nowhere";
        gone.path_bytes = strlen(gone.path);
        tell(&data, 1000);
        wait_for(1);
        tell(&of_system, 2000);
        wait_for(1);
        tell(&gone, 3000);
        wait_for(1);
        ck_assert_int_eq(find(1000), -ENOENT);
        ck_assert_int_eq(find(2000), -ENOENT);
        ck_assert_int_eq(find(3000), -ENOENT);
        teardowns[_i]();
}
END_TEST

/*
 * Bells in vain, as of programs that are started one after the other: then the rings are
 * looked at without a bell.
 */
START_TEST(test_bells_fall_silent)
{
        struct perf_mmap of_system;
        struct pollfd report = { .fd = -1, .events = POLLIN };
        int fd = -ENOENT;

        setup_bells();
        of_system = mapped;
        of_system.path = "/usr/lib/libc.so.6";
        of_system.path_bytes = strlen(of_system.path);
        /* A machine that is slow may not ring often enough the first time. */
        for (uint64_t time_ns = 1000; fd == -ENOENT; time_ns += 1000) {
                for (uint64_t i = 0; i < 10; i++) {
                        tell(&of_system, time_ns + i);
                        wait_for(1);
                }
                put(&mapped, time_ns + 100);
                report.fd = early_opener_fd(opener);
                (void)poll(&report, 1, 100);
                fd = find(time_ns + 100);
                perf_ring_discard(&events.rings[FAKE_TRACKER_1]);
        }
        ck_assert_int_ge(fd, 0);
        io_close(&fd);
        teardown_bells();
}
END_TEST

static bool is_named(const char *tid, const char *expected)
{
        char name[300], comm[32] = "";
        FILE *f;

        (void)snprintf(name, sizeof(name), "/proc/self/task/%s/comm", tid);
        f = fopen(name, "re");
        if (!f)
                return false;
        if (!fgets(comm, sizeof(comm), f))
                comm[0] = '\0';
        (void)fclose(f);
        comm[strcspn(comm, "\n")] = '\0';
        return strcmp(comm, expected) == 0;
}

/*
 * The opener's thread, by its name: a sanitizer has a thread of its own.  The last: a thread that was joined
 * may be seen a little longer.
 */
static pid_t find_thread(void)
{
        DIR *tasks = opendir("/proc/self/task");
        struct dirent *entry;
        pid_t tid = 0;

        ck_assert_ptr_nonnull(tasks);
        while ((entry = readdir(tasks)) != NULL) /* NOLINT(concurrency-mt-unsafe): one reads it */
                if (is_named(entry->d_name, "hyprof-opener"))
                        tid = atoi(entry->d_name);
        (void)closedir(tasks);
        ck_assert_int_gt(tid, 0);
        return tid;
}

START_TEST(test_rights)
{
        const struct sched_param first = { .sched_priority = 1 };
        pid_t tid;
        bool may;
        char name[64], line[256];
        unsigned long long effective = ~0ull;
        FILE *f;

        setup();
        tid = find_thread();
        may = sched_setscheduler(0, SCHED_FIFO, &first) == 0;
        ck_assert_int_eq(sched_getscheduler(tid), may ? SCHED_FIFO | SCHED_RESET_ON_FORK : SCHED_OTHER);
        (void)snprintf(name, sizeof(name), "/proc/self/task/%d/status", (int)tid);
        f = fopen(name, "re");
        ck_assert_ptr_nonnull(f);
        while (fgets(line, sizeof(line), f))
                if (strncmp(line, "CapEff:", 7) == 0)
                        effective = strtoull(line + 7, NULL, 16);
        (void)fclose(f);
        ck_assert_uint_eq(effective & 1ull << CAP_SYS_NICE, 0);
        ck_assert_uint_eq(effective & 1ull << CAP_PERFMON, 0);
        teardown();
}
END_TEST

static bool wants(const char *name)
{
        return early_opener_wants_path(name, strlen(name));
}

START_TEST(test_wants_path)
{
        ck_assert(wants("/tmp/kernel.so"));
        ck_assert(wants("/tmp/kernel.so (deleted)"));
        ck_assert(wants("/memfd:code (deleted)"));
        ck_assert(wants("/home/user/.cache/kernel.so"));
        ck_assert(wants("/library/kernel.so"));
        ck_assert(!wants("/usr/lib/x86_64-linux-gnu/libc.so.6"));
        ck_assert(!wants("/lib64/ld-linux-x86-64.so.2"));
        ck_assert(!wants("//anon"));
        ck_assert(!wants("[vdso]"));
        ck_assert(!wants(""));
}
END_TEST

START_TEST(test_nothing)
{
        early_opener_stop(NULL);
        ck_assert_ptr_null(early_opener_files(NULL));
}
END_TEST
