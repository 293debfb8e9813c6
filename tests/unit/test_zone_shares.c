/* SPDX-License-Identifier: MIT */
/*
 * sampler/zones/zone_merge.c, zone_source.c: no program keeps the recorder from the others, nor takes
 * its memory without bound
 */
#include "base/clock.h"
#include "base/io.h"
#include "instrument/client_abi.h"
#include "sampler/pace/pace.h"
#include "tests/unit/merged_program.h"
#include "tests/unit/unit_test.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#define N_OTHERS    4
#define N_LARGE     3     /* regions of a quarter of the memory that all regions have */
#define LARGE_BYTES 70000 /* of a payload after which the time is looked at */

static struct merged_program f;

static void setup(void)
{
        merged_program_set_up(&f);
}

static void teardown(void)
{
        merged_program_tear_down(&f);
}

/* Works until what this program may take of the cycle is over. */
static void use_up(struct merged_program *p)
{
        while (recorder_pace_may_merge(&p->pace, clock_raw_ns()))
                ;
}

static size_t count_zones(uint32_t thread)
{
        const struct trace_event *event;
        size_t n = 0;

        for (size_t i = 0; (event = event_list_get(&f.list, thread, i)); i++)
                n += event->op == TRACE_OP_ZONE_BEGIN;
        return n;
}

/* One more cycle, and how many zones have come of each of the first program's threads. */
static void cycle(size_t n_zones[MERGED_PROGRAM_THREADS])
{
        merged_program_cycle(&f, f.start_ns + 1000, false);
        merged_program_read_back(&f);
        for (uint32_t i = 0; i < MERGED_PROGRAM_THREADS; i++)
                n_zones[i] = count_zones(merged_program_thread_row(&f, i));
}

/*
 * All rings are full again in each cycle, and one of them takes all the time: the next cycle
 * begins with the next one.
 */
START_TEST(test_rings_take_turns)
{
        size_t n_zones[MERGED_PROGRAM_THREADS];
        uint32_t zone;

        zone = fake_program_name(&f.program, "zone");
        f.on_flush = use_up;
        for (uint64_t n = 1; n <= MERGED_PROGRAM_THREADS; n++) {
                for (uint32_t slot = 0; slot < MERGED_PROGRAM_THREADS; slot++)
                        fake_program_begin(&f.program, slot, f.start_ns + n, zone);
                cycle(n_zones);
                ck_assert(f.merge.is_behind);
        }
        for (uint32_t slot = 0; slot < MERGED_PROGRAM_THREADS; slot++)
                ck_assert_uint_ge(n_zones[slot], 1);
        ck_assert_uint_lt(n_zones[0] + n_zones[1] + n_zones[2], 3 * MERGED_PROGRAM_THREADS);
        f.on_flush = NULL;
        cycle(n_zones);
        ck_assert(!f.merge.is_behind);
        ck_assert_uint_eq(n_zones[0] + n_zones[1] + n_zones[2], 3 * MERGED_PROGRAM_THREADS);
        merged_program_expect_no_loss(&f);
}
END_TEST

/* The time is looked at after each large payload as well: one ring may hold many. */
START_TEST(test_large_payloads)
{
        static const char bytes[LARGE_BYTES];
        size_t n_zones[MERGED_PROGRAM_THREADS];
        uint32_t zone;

        zone = fake_program_name(&f.program, "zone");
        for (uint64_t i = 0; i < 3; i++) {
                fake_program_blob(&f.program, 0, f.start_ns + 10 + 2 * i, bytes, sizeof(bytes));
                merged_program_put_text(&f, 10 + 2 * i, CLIENT_ABI_EVENT_MESSAGE, 0, "");
                fake_program_begin(&f.program, 0, f.start_ns + 11 + 2 * i, zone);
        }
        f.on_flush = use_up;
        for (size_t n = 0; n < 3; n++) {
                cycle(n_zones);
                ck_assert_uint_eq(n_zones[0], n);
                ck_assert(f.merge.is_behind);
        }
        f.on_flush = NULL;
        merged_program_finish(&f);
        ck_assert_uint_eq(count_zones(merged_program_thread_row(&f, 0)), 3);
        merged_program_expect_no_loss(&f);
}
END_TEST

/* ---- several programs ---------------------------------------------------------------------------------- */

struct others {
        struct fake_program program[N_OTHERS];
        struct thread_track *thread[N_OTHERS];
};

static uint32_t pid_of(uint32_t i)
{
        return MERGED_PROGRAM_PID + 100 + i;
}

static void add_others(struct others *others)
{
        for (uint32_t i = 0; i < N_OTHERS; i++) {
                struct fake_program *program = &others->program[i];

                ck_assert_int_eq(process_table_add_thread(&f.processes, pid_of(i), pid_of(i), 0, f.start_ns,
                                                          &others->thread[i]),
                                 0);
                fake_program_start(program, pid_of(i));
                ck_assert_int_eq(zone_source_receive(&f.zones, pid_of(i), fake_program_fd(program)), 0);
                fake_program_thread(program, 0, f.start_ns, pid_of(i));
                merged_program_cycle(&f, f.start_ns, false);
        }
        ck_assert_uint_eq(f.zones.n_regions, 1 + N_OTHERS);
        for (uint32_t i = 0; i < N_OTHERS; i++) {
                uint32_t zone = fake_program_name(&others->program[i], "other");

                fake_program_begin(&others->program[i], 0, f.start_ns + 10, zone);
        }
}

static void end_others(struct others *others)
{
        for (uint32_t i = 0; i < N_OTHERS; i++)
                fake_program_end(&others->program[i]);
}

static size_t count_served(const struct others *others)
{
        size_t n = 0;

        for (uint32_t i = 0; i < N_OTHERS; i++)
                n += count_zones(others->thread[i]->thread);
        return n;
}

static void use_up_once(struct merged_program *p)
{
        use_up(p);
        p->on_flush = NULL;
}

/* One that takes all that it may of a cycle: all others are served in the same cycle. */
START_TEST(test_a_share_for_each)
{
        struct others others;
        size_t n_zones[MERGED_PROGRAM_THREADS];
        uint32_t zone;

        add_others(&others);
        zone = fake_program_name(&f.program, "zone");
        for (uint32_t slot = 0; slot < MERGED_PROGRAM_THREADS; slot++)
                fake_program_begin(&f.program, slot, f.start_ns + 10, zone);
        f.merge.next_region = 0;
        f.pace.zones_max_ns = UINT64_MAX / 4; /* it alone is the subject here */
        f.on_flush = use_up_once;
        cycle(n_zones);
        ck_assert_uint_eq(n_zones[0] + n_zones[1] + n_zones[2], 1);
        ck_assert(f.merge.is_behind);
        ck_assert_uint_eq(count_served(&others), N_OTHERS);
        cycle(n_zones);
        ck_assert_uint_eq(n_zones[0] + n_zones[1] + n_zones[2], MERGED_PROGRAM_THREADS);
        merged_program_expect_no_loss(&f);
        end_others(&others);
}
END_TEST

/*
 * All of them take all that they may in each cycle: it ends nevertheless, and the next one
 * begins where it ended.
 */
START_TEST(test_cycles_end)
{
        struct others others;
        size_t n_zones[MERGED_PROGRAM_THREADS], n_before[N_OTHERS] = { 0 };

        add_others(&others);
        f.pace.zones_max_ns = 2 * f.pace.region_max_ns;
        f.merge.next_region = 0;
        f.on_flush = use_up;
        for (unsigned n = 1; n <= N_OTHERS / 2 + 1; n++) {
                unsigned n_served = 0;

                cycle(n_zones);
                for (uint32_t i = 0; i < N_OTHERS; i++) {
                        size_t n_now = count_zones(others.thread[i]->thread);

                        n_served += n_now > n_before[i];
                        n_before[i] = n_now;
                        /* Those that were served first have more to say. */
                        fake_program_begin(&others.program[i], 0, f.start_ns + 10 + n, 1);
                }
                ck_assert_uint_ge(n_served, 1);
                ck_assert_uint_le(n_served, 2);
        }
        for (uint32_t i = 0; i < N_OTHERS; i++)
                ck_assert_uint_ge(count_zones(others.thread[i]->thread), 1);
        merged_program_expect_no_loss(&f);
        end_others(&others);
}
END_TEST

/* ---- the end ------------------------------------------------------------------------------------------- */

static int stop_fd;

static void stop_and_use_up(struct merged_program *p)
{
        ck_assert_int_eq(eventfd_write(stop_fd, 1), 0);
        p->merge.last_ns = clock_raw_ns(); /* the second that is left to it is over */
}

/*
 * A recording that is to end looks for that while it merges the last events; each byte
 * that it left is counted.
 */
START_TEST(test_unread_bytes_are_counted)
{
        uint64_t n_bytes = 0;
        uint32_t zone;

        stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        ck_assert_int_ge(stop_fd, 0);
        f.recording.stop_fd = stop_fd;
        zone = fake_program_name(&f.program, "zone");
        for (uint32_t slot = 0; slot < MERGED_PROGRAM_THREADS; slot++)
                for (uint64_t i = 0; i < 10; i++)
                        fake_program_begin(&f.program, slot, f.start_ns + 10 + i, zone);
        for (uint32_t slot = 1; slot < MERGED_PROGRAM_THREADS; slot++) {
                const struct client_abi_slot *s = fake_region_slot(&f.program.region, slot);

                n_bytes += s->head_bytes - s->tail_bytes;
        }
        f.on_flush = stop_and_use_up;
        merged_program_finish(&f);
        ck_assert_uint_eq(count_zones(merged_program_thread_row(&f, 0)), 10);
        ck_assert_uint_eq(count_zones(merged_program_thread_row(&f, 1)), 0);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_UNREAD], n_bytes);
        io_close(&stop_fd);
}
END_TEST

static void stop_only(struct merged_program *p)
{
        (void)p;
        ck_assert_int_eq(eventfd_write(stop_fd, 1), 0);
}

/* From then on a second is left to it, not more. */
START_TEST(test_a_second_is_left)
{
        uint32_t zone;

        stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        f.recording.stop_fd = stop_fd;
        zone = fake_program_name(&f.program, "zone");
        for (uint32_t slot = 0; slot < MERGED_PROGRAM_THREADS; slot++)
                fake_program_begin(&f.program, slot, f.start_ns + 10, zone);
        ck_assert_uint_eq(f.merge.last_ns, UINT64_MAX);
        merged_program_cycle(&f, UINT64_MAX, true);
        ck_assert_uint_le(f.merge.last_ns,
                          clock_raw_ns() + PACE_ZONES_FINAL_NS); /* a program may go on writing for ever */
        for (uint32_t slot = 0; slot < MERGED_PROGRAM_THREADS; slot++)
                fake_program_begin(&f.program, slot, f.start_ns + 20, zone);
        f.on_flush = stop_only;
        merged_program_finish(&f);
        ck_assert_uint_le(f.merge.last_ns, clock_raw_ns() + PACE_ZONES_LAST_NS);
        io_close(&stop_fd);
}
END_TEST

/* ---- memory -------------------------------------------------------------------------------------------- */

/* As large as one may be; nothing of it is touched. */
static void start_large(struct fake_region *p, uint32_t pid)
{
        struct client_abi_header h = fake_region_header();

        h.pid = pid;
        h.control_word = UINT32_C(1) << CLIENT_ABI_SESSION_SHIFT | CLIENT_ABI_FAMILIES;
        h.n_slots_used = 0;
        h.n_slots = 65000;
        h.slot_bytes = 4096;
        h.ring_bytes = 8;
        h.locations_offset = h.slots_offset + (uint64_t)h.n_slots * h.slot_bytes;
        h.strings_offset = h.locations_offset + 4096;
        h.rings_offset = h.strings_offset + h.strings_bytes;
        h.region_bytes = h.rings_offset + h.n_slots * h.ring_bytes;
        fake_region_make(p, &h, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

static void hand_in(const struct fake_region *p, uint32_t pid)
{
        int fd = fcntl(p->fd, F_DUPFD_CLOEXEC, 0);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(zone_source_receive(&f.zones, pid, fd), 0);
        merged_program_cycle(&f, f.start_ns, false);
}

/*
 * A region that names another process is refused, also where nothing can be opened to ask for the number that
 * the process has in its own namespace.
 */
START_TEST(test_number_cannot_be_asked)
{
        struct rlimit all, few;
        struct fake_region other;
        struct thread_track *thread;
        uint32_t pid = (uint32_t)getpid();
        int fd;

        ck_assert_int_eq(process_table_add_thread(&f.processes, pid, pid, 0, f.start_ns, &thread), 0);
        start_large(&other, pid + 1);
        fd = fcntl(other.fd, F_DUPFD_CLOEXEC, 0);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &all), 0);
        few = all;
        few.rlim_cur = 0;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
        ck_assert_int_eq(zone_source_receive(&f.zones, pid, fd), 0);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &all), 0);
        merged_program_cycle(&f, f.start_ns, false);
        ck_assert_uint_eq(f.zones.n_regions, 1);
        fake_region_destroy(&other);
}
END_TEST

/*
 * A process has half of what the others leave of the gibibyte: beyond that its region is refused and counted
 * once; others have room still, and it has room later.
 */
START_TEST(test_regions_have_a_gibibyte)
{
        struct fake_region large[N_LARGE];
        struct thread_track *thread;
        uint64_t small_bytes;

        small_bytes = f.zones.regions_bytes;
        ck_assert_uint_gt(small_bytes, 0);
        for (uint32_t i = 0; i < N_LARGE; i++) {
                ck_assert_int_eq(
                        process_table_add_thread(&f.processes, pid_of(i), pid_of(i), 0, f.start_ns, &thread),
                        0);
                start_large(&large[i], pid_of(i));
                hand_in(&large[i], pid_of(i));
                ck_assert_uint_le(f.zones.regions_bytes, ZONE_SOURCE_REGIONS_BYTES_MAX);
        }
        ck_assert_uint_eq(f.zones.n_regions, N_LARGE); /* the small one and all large ones but the last */
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_NO_ROOM], 1);
        ck_assert_uint_gt(ZONE_SOURCE_USER_BYTES_MAX - f.zones.regions_bytes,
                          f.zones.regions[1].charged_bytes); /* it would have fitted */
        hand_in(&large[N_LARGE - 1], pid_of(N_LARGE - 1));   /* as it comes again with each mapping */
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_NO_ROOM], 1);

        for (uint32_t i = 0; i < N_LARGE - 1; i++)
                zone_source_end(&f.zones, pid_of(i));
        for (unsigned n = 0; n < 10 && f.zones.n_regions > 1; n++)
                merged_program_cycle(&f, f.start_ns, false);
        ck_assert_uint_eq(f.zones.n_regions, 1);
        ck_assert_uint_eq(f.zones.regions_bytes, small_bytes);
        hand_in(&large[N_LARGE - 1], pid_of(N_LARGE - 1));
        ck_assert_uint_eq(f.zones.n_regions, 2);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_NO_ROOM], 1);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_REFUSED], 0);
        for (uint32_t i = 0; i < N_LARGE; i++)
                fake_region_destroy(&large[i]);
}
END_TEST

/* However much the programs of one user have taken, there is room for those of another one. */
START_TEST(test_users_have_a_share)
{
        struct fake_region others[2];
        struct thread_track *thread;
        uint64_t taken_bytes;

        if (geteuid() != 0) /* a region of another user is needed */
                return;
        taken_bytes = ZONE_SOURCE_USER_BYTES_MAX - f.zones.regions_bytes;
        f.zones.regions[0].charged_bytes += taken_bytes; /* as those of a hundred of its children */
        f.zones.regions_bytes += taken_bytes;
        for (uint32_t i = 0; i < 2; i++) {
                struct client_abi_header h = fake_region_header();

                h.pid = pid_of(i);
                h.n_slots_used = 0;
                h.control_word = UINT32_C(1) << CLIENT_ABI_SESSION_SHIFT | CLIENT_ABI_FAMILIES;
                fake_region_make(&others[i], &h, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
                ck_assert_int_eq(
                        process_table_add_thread(&f.processes, pid_of(i), pid_of(i), 0, f.start_ns, &thread),
                        0);
                if (i == 1)
                        ck_assert_int_eq(fchown(others[i].fd, 65534, 65534), 0);
                hand_in(&others[i], pid_of(i));
                ck_assert_uint_eq(f.zones.n_regions, 1 + i);
                ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_NO_ROOM], 1);
        }
        ck_assert_uint_le(f.zones.regions_bytes, ZONE_SOURCE_REGIONS_BYTES_MAX);
        for (uint32_t i = 0; i < 2; i++)
                fake_region_destroy(&others[i]);
}
END_TEST

/*
 * A program makes half of the rows of LOCATIONS that are left: its other zones have no name, those of other
 * programs do.
 */
START_TEST(test_locations_have_a_share)
{
        struct others others;
        uint32_t n_before;
        char name[8] = "zone a";

        n_before = trace_dictionary_count(&f.dictionary, TRACE_TABLE_LOCATIONS);
        f.dictionary.tables[TRACE_TABLE_LOCATIONS - TRACE_TABLE_FIRST].n_items_max = n_before + 8;
        for (uint32_t i = 0; i < 8; i++, name[5]++) {
                uint32_t id = fake_program_name(&f.program, name);

                merged_program_put(&f, 2 * i + 1, CLIENT_ABI_EVENT_ZONE_BEGIN, id, 0, 0);
                merged_program_put(&f, 2 * i + 2, CLIENT_ABI_EVENT_ZONE_END, 0, 0, 0);
        }
        merged_program_cycle(&f, f.start_ns + 1000, false);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_LOCATIONS), n_before + 4);
        add_others(&others);
        merged_program_finish(&f);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_LOCATIONS), n_before + 5);
        ck_assert_uint_eq(count_zones(merged_program_thread_row(&f, 0)), 8);
        for (size_t i = 0; i < f.zones.n_regions; i++)
                zone_region_count_losses(&f.zones.regions[i], &f.losses);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_LOCATIONS_SHARE], 4);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_NAMES_FULL], 0);
        end_others(&others);
}
END_TEST

/*
 * A program is not said to have ended where the recorder could not open another file.  However many begin
 * then, one is searched for in a cycle: none of them is until the next one.
 */
START_TEST(test_no_descriptor_left)
{
        struct rlimit files, no_files;
        const uint32_t no_pid = UINT32_C(1) << 30; /* more than the kernel has */
        int r;

        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
        no_files = files;
        no_files.rlim_cur = 0;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &no_files), 0);
        r = zone_source_open(&f.zones, (uint32_t)getpid());
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
        ck_assert_int_eq(r, 0);
        ck_assert_int_eq(zone_source_count_drops(&f.zones, true), 0);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_NO_FILES], 1);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_GONE], 0);
        ck_assert_int_eq(zone_source_open(&f.zones, (uint32_t)getppid()), 0);
        ck_assert_int_eq(zone_source_count_drops(&f.zones, true), 0);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_NO_FILES], 2);
        ck_assert_int_eq(zone_source_begin_cycle(&f.zones), 0);
        ck_assert_int_eq(zone_source_open(&f.zones, no_pid), 0);
        ck_assert_int_eq(zone_source_count_drops(&f.zones, true), 0);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_NO_FILES], 2);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_GONE], 1);
}
END_TEST
/*
 * A region that was handed in waits until the kernel reports its process: so long it is not missing, and
 * another process's is.
 */
START_TEST(test_handed_in_and_announced)
{
        const uint32_t handed_in_pid = UINT32_C(1) << 30, gone_pid = handed_in_pid + 1;
        int ends[2];

        ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
        ck_assert_int_eq(zone_source_open(&f.zones, handed_in_pid), 0);
        ck_assert_int_eq(zone_source_receive(&f.zones, handed_in_pid, ends[1]), 0);
        for (int i = 0; i < 3; i++) {
                ck_assert_int_eq(zone_source_begin_cycle(&f.zones), 0);
                ck_assert_int_eq(zone_source_count_drops(&f.zones, false), 0);
                ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_GONE], 0);
        }
        ck_assert_uint_eq(f.zones.n_waiting, 1);
        ck_assert_int_eq(zone_source_open(&f.zones, gone_pid), 0);
        ck_assert_int_eq(zone_source_begin_cycle(&f.zones), 0);
        ck_assert_int_eq(zone_source_count_drops(&f.zones, false), 0);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_GONE], 0); /* it may come with the next look */
        ck_assert_int_eq(zone_source_begin_cycle(&f.zones), 0);
        ck_assert_int_eq(zone_source_count_drops(&f.zones, false), 0);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_GONE], 1);
        (void)close(ends[0]);
}
END_TEST

/* A program says that it has no room for zones; others may say so as well, and are not recorded. */
START_TEST(test_programs_without_room)
{
        const uint32_t other_pid = MERGED_PROGRAM_PID + 1000;
        struct thread_track *thread;

        ck_assert_int_eq(process_table_add_thread(&f.processes, other_pid, other_pid, 0, f.start_ns, &thread),
                         0);
        ck_assert_int_eq(zone_source_receive(&f.zones, UINT32_C(1) << 30, -1), 0);
        ck_assert_int_eq(zone_source_count_drops(&f.zones, true), 0);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_NO_SPACE], 0);
        ck_assert_int_eq(zone_source_receive(&f.zones, other_pid, -1), 0);
        ck_assert_int_eq(zone_source_count_drops(&f.zones, true), 0);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_NO_SPACE], 1);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
