/* SPDX-License-Identifier: MIT */
/*
 * An image in memory becomes code of the process from a time on only if nothing else can have been
 * there since that time.
 */
#include "sampler/images/code_images.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "format/trace_dictionary.h"
#include "sampler/images/image_changes.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/tables/code_tables.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"
#include "symbolize/images/module_landmarks.h"
#include "tests/unit/fake_events.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/kernel_record.h"
#include "tests/unit/made_image.h"
#include "tests/unit/unit_test.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM_BYTES ((size_t)0x8000)

static struct event_set events;
static struct trace_dictionary dictionary;
static struct process_table processes;
static struct loss_counter losses;
static struct code_images *images;
static struct byte_buffer record;
static struct thread_track *thread;
static uint8_t *base;
static uint64_t code_avma;

/* Executable memory, with an image in it that was not reported. */
static void make_code(void)
{
        struct made_image_options options = { .seed = (uint8_t)getpid() };
        struct made_image image;

        base = mmap(NULL, ROOM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ck_assert(base != MAP_FAILED);
        made_image_init(&image, &options);
        made_image_load(&image, base, false);
        ck_assert_int_eq(mprotect(base + MADE_IMAGE_CODE_SVMA, MADE_IMAGE_PAGE_BYTES, PROT_READ | PROT_EXEC),
                         0);
        code_avma = (uint64_t)(uintptr_t)base + MADE_IMAGE_CODE_SVMA;
}

/* The process knows of anonymous memory there. */
static void add_range(void)
{
        struct trace_module row = { .kind = TRACE_MODULE_ANONYMOUS };
        struct address_range range = { .start_avma = code_avma,
                                       .end_avma = code_avma + MADE_IMAGE_PAGE_BYTES };

        ck_assert_int_eq(
                process_table_add_thread(&processes, (uint32_t)getpid(), (uint32_t)getpid(), 0, 1, &thread),
                0);
        row.process = thread->process->process;
        ck_assert_int_ge(trace_dictionary_add(&dictionary, TRACE_TABLE_MODULES, &row, &range.module), 0);
        ck_assert_int_eq(address_space_add(&thread->process->space, &range), 0);
}

/* Stands for the tables of one file, that of the program with a JIT. */
struct code_tables {
        struct module_landmarks landmarks;
        uint32_t wanted; /* the module whose table was wanted last */
};

static struct code_tables tables;

int code_tables_find_landmarks(const struct code_tables *t, uint32_t module,
                               struct module_landmarks *ret_landmarks)
{
        (void)module;
        *ret_landmarks = t->landmarks;
        return 1;
}

int code_tables_want_image(struct code_tables *t, uint32_t module, int image_fd)
{
        t->wanted = module;
        ck_assert_int_eq(close(image_fd), 0);
        return 0;
}

enum code_tables_answer code_tables_find(const struct code_tables *t, uint32_t module,
                                         const struct unwind_module **ret_module)
{
        (void)t, (void)module, (void)ret_module;
        return CODE_TABLES_NONE;
}

static struct recorder_pace pace;
static struct recording recording = {
        .dictionary = &dictionary, .events = &events, .losses = &losses, .pace = &pace
};

static void setup(void)
{
        fake_events_open(&events, PERF_RECORD_SAMPLE_TYPE);
        trace_dictionary_init(&dictionary, 0);
        process_table_init(&processes, &dictionary);
        losses = (struct loss_counter){ .totals = { 0 } };
        recorder_pace_init(&pace, 0);
        ck_assert_int_eq(code_images_new(&recording, &images), 0);
        make_code();
        add_range();
}

static void teardown(void)
{
        code_images_free(images);
        process_table_deinit(&processes);
        trace_dictionary_deinit(&dictionary);
        event_set_close(&events);
        byte_buffer_deinit(&record);
        (void)munmap(base, ROOM_BYTES);
}

static struct perf_mmap mapping_at(uint64_t avma)
{
        return (struct perf_mmap){ .start_avma = avma,
                                   .length_bytes = MADE_IMAGE_PAGE_BYTES,
                                   .executable = true,
                                   .path = "//anon",
                                   .path_bytes = 6 };
}

/* The kernel reports that memory was made executable; the record is still in the ring. */
static void tell(uint64_t avma, uint64_t time_ns)
{
        const struct kernel_record_identity who = { .pid = (uint32_t)getpid(),
                                                    .tid = (uint32_t)getpid(),
                                                    .time_ns = time_ns };
        struct perf_mmap mapping = mapping_at(avma);

        kernel_record_add_mmap2(&record, &who, &mapping);
        fake_ring_take(&events.rings[FAKE_TRACKER_1], &record);
}

static void look(uint64_t time_ns)
{
        const struct perf_record rec = { .kind = PERF_RECORD_KIND_MMAP,
                                         .pid = (uint32_t)getpid(),
                                         .tid = (uint32_t)getpid(),
                                         .time_ns = time_ns,
                                         .mmap = mapping_at(code_avma) };

        ck_assert_int_eq(code_images_look(images, &rec), 0);
}

static void meet(uint64_t time_ns)
{
        ck_assert_int_eq(code_images_meet(images, thread->process, code_avma + 16, time_ns), 0);
}

/* Whether the memory has become an image; its time is this. */
static bool has_become_image(uint64_t time_ns)
{
        struct image_change change;

        if (!code_images_next(images, UINT64_MAX, &change))
                return false;
        ck_assert_uint_eq(change.time_ns, time_ns);
        ck_assert_uint_eq(change.range.start_avma, code_avma);
        ck_assert(!code_images_next(images, UINT64_MAX, &change));
        return true;
}

START_TEST(what_a_record_tells_of_is_taken)
{
        uint64_t now_ns = clock_raw_ns();

        tell(code_avma, now_ns);
        look(now_ns);
        ck_assert(has_become_image(now_ns));
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_CODE_TOO_LATE], 0);
}
END_TEST

/* The memory is of the second record by now. */
START_TEST(a_newer_record_makes_it_too_late)
{
        uint64_t now_ns = clock_raw_ns();

        tell(code_avma, now_ns - 10);
        tell(code_avma, now_ns);
        look(now_ns - 10);
        ck_assert(!has_become_image(0));
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_CODE_TOO_LATE], 1);
        look(now_ns);
        ck_assert(has_become_image(now_ns));
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_CODE_TOO_LATE], 1);
}
END_TEST

/* So it is where no record was looked at, and a sample finds the image. */
START_TEST(a_sample_is_not_of_what_came_later)
{
        uint64_t now_ns = clock_raw_ns();

        tell(code_avma, now_ns);
        meet(now_ns - 10);
        ck_assert(!has_become_image(0));
}
END_TEST

START_TEST(a_sample_finds_what_nobody_told_of)
{
        uint64_t now_ns = clock_raw_ns();

        tell(code_avma, now_ns - 10);
        tell(code_avma + MADE_IMAGE_PAGE_BYTES, now_ns);
        meet(now_ns - 5);
        ck_assert(has_become_image(now_ns - 5));
}
END_TEST

/* Records that were given back to the kernel count, too. */
START_TEST(what_was_taken_is_remembered)
{
        uint64_t now_ns = clock_raw_ns();
        struct perf_ring *ring = &events.rings[FAKE_TRACKER_1];
        const uint8_t *bytes;
        size_t n_bytes;

        tell(code_avma, now_ns);
        ck_assert_int_eq(perf_ring_peek(ring, &bytes, &n_bytes, NULL), 1);
        perf_ring_consume(ring, n_bytes);
        code_images_see_records(images);
        perf_ring_release(ring);
        meet(now_ns - 10);
        ck_assert(!has_become_image(0));
}
END_TEST

/* It is no code any more: something else is about to be put there. */
START_TEST(what_cannot_run_any_more_is_too_late)
{
        uint64_t now_ns = clock_raw_ns();

        ck_assert_int_eq(mprotect(base + MADE_IMAGE_CODE_SVMA, MADE_IMAGE_PAGE_BYTES, PROT_READ | PROT_WRITE),
                         0);
        tell(code_avma, now_ns);
        look(now_ns);
        ck_assert(!has_become_image(0));
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_CODE_TOO_LATE], 1);
}
END_TEST

/* Code of compilers comes and goes in memory without an image, and they announce it: that is not missing. */
START_TEST(memory_that_is_gone_counts_where_images_are)
{
        uint64_t now_ns = clock_raw_ns();

        base[0] = 0;
        ck_assert_int_eq(munmap(base + MADE_IMAGE_CODE_SVMA, MADE_IMAGE_PAGE_BYTES), 0);
        tell(code_avma, now_ns);
        look(now_ns);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_CODE_TOO_LATE], 0);
        (void)munmap(base, ROOM_BYTES);
        make_code();
        now_ns = clock_raw_ns();
        look(now_ns);
        ck_assert(has_become_image(now_ns));
        ck_assert_int_eq(munmap(base, ROOM_BYTES), 0);
        look(now_ns + 1);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_CODE_TOO_LATE], 1);
}
END_TEST

/* A JIT announces an object in its list: it is code once its memory can be executed. */
START_TEST(an_object_of_a_jit_becomes_code)
{
        static struct {
                uint64_t next, previous, bytes, n_bytes;
        } entry;
        static struct {
                uint32_t version, action;
                uint64_t relevant, first;
        } descriptor = { .version = 1 };
        static struct made_image object;
        const struct address_range file = { .start_avma = 0x1000, .end_avma = 0x2000 };
        const uint64_t avma = (uint64_t)(uintptr_t)base;
        const struct trace_module *row;
        struct image_change change;

        recording.tables = &tables;
        tables.landmarks = (struct module_landmarks){ .code = { .file_bytes = 0x1000, .svma = 0x1000 },
                                                      .jit_svma = (uintptr_t)&descriptor };
        made_image_init_object(&object, avma);
        entry.bytes = (uintptr_t)object.bytes;
        entry.n_bytes = object.n_bytes;
        descriptor.first = (uintptr_t)&entry;
        ck_assert_int_eq(code_images_note_file(images, (uint32_t)getpid(), &file, 1), 0);
        ck_assert_int_eq(code_images_update(images), 0);
        ck_assert_uint_ne(tables.wanted, 0);
        ck_assert(!code_images_next(images, UINT64_MAX, &change));
        ck_assert_int_eq(mprotect(base, MADE_IMAGE_PAGE_BYTES, PROT_READ | PROT_EXEC), 0);
        ck_assert_int_eq(code_images_update(images), 0);
        ck_assert(code_images_next(images, UINT64_MAX, &change));
        ck_assert(!change.is_gone);
        ck_assert_uint_eq(change.pid, (uint32_t)getpid());
        ck_assert_uint_eq(change.range.start_avma, avma);
        ck_assert_uint_eq(change.range.end_avma, avma + MADE_OBJECT_TEXT_BYTES);
        ck_assert_uint_eq(change.range.file_offset_bytes, MADE_OBJECT_TEXT_OFF);
        ck_assert_uint_eq(change.range.module, tables.wanted);
        row = trace_dictionary_row(&dictionary, TRACE_TABLE_MODULES, tables.wanted);
        ck_assert_uint_eq(row->generation, TRACE_MODULE_TOLD_BY_JIT);
        ck_assert(!code_images_next(images, UINT64_MAX, &change));
        recording.tables = NULL;
}
END_TEST

static void check_range(const struct image_change *change)
{
        ck_assert_uint_eq(change->range.start_avma, code_avma);
        ck_assert_uint_eq(change->range.end_avma, code_avma + MADE_IMAGE_CODE_BYTES);
}

/* Writing over memory that stays executable makes no record, so the content is compared again. */
START_TEST(what_is_written_over_is_nothing_until_it_is_seen)
{
        struct made_image_options options = { .seed = (uint8_t)(getpid() + 1) };
        struct perf_record rec = { .kind = PERF_RECORD_KIND_MMAP, .pid = (uint32_t)getpid() };
        struct image_change change;
        struct made_image other;
        uint64_t now_ns = clock_raw_ns(), seen_ns, found_ns;

        ck_assert_int_eq(mprotect(base, ROOM_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
        rec.time_ns = now_ns;
        rec.mmap = mapping_at(code_avma);
        rec.mmap.writable = true;
        tell(code_avma, now_ns);
        ck_assert_int_eq(code_images_look(images, &rec), 0);
        ck_assert(code_images_next(images, UINT64_MAX, &change));
        ck_assert(change.is_gone); /* what was there before that is not known */
        check_range(&change);
        found_ns = change.time_ns;
        ck_assert(code_images_next(images, UINT64_MAX, &change));
        ck_assert(!change.is_gone);
        check_range(&change);
        ck_assert_uint_eq(change.time_ns, found_ns);
        ck_assert_uint_ge(change.time_ns, now_ns); /* it may have been written since the record */
        seen_ns = clock_raw_ns();
        ck_assert_int_eq(code_images_look_again(images), 0);
        ck_assert(!code_images_next(images, UINT64_MAX, &change));
        made_image_init(&other, &options);
        made_image_load(&other, base, false);
        now_ns = clock_raw_ns();
        ck_assert_int_eq(code_images_look_again(images), 0);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_CODE_REPLACED], 1);
        ck_assert(code_images_next(images, UINT64_MAX, &change));
        ck_assert(change.is_gone);
        check_range(&change);
        ck_assert_uint_ge(change.time_ns, seen_ns); /* it was there still at the last look */
        ck_assert_uint_lt(change.time_ns, now_ns);
        ck_assert(code_images_next(images, UINT64_MAX, &change));
        ck_assert(change.is_gone);
        ck_assert(code_images_next(images, UINT64_MAX, &change));
        ck_assert(!change.is_gone);
        ck_assert_uint_ge(change.time_ns, now_ns);
        ck_assert_int_eq(munmap(base, ROOM_BYTES), 0);
        ck_assert_int_eq(code_images_look_again(images), 0); /* what is gone was not written over */
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_CODE_REPLACED], 1);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
