/* SPDX-License-Identifier: MIT */
/*
 * sampler/tables/jit_frames.c: what a JIT says of its functions becomes a table of the process's addresses;
 * nonsense costs only itself
 */
#include "base/io.h"
#include "sampler/tables/jit_frames.h"
#include "sampler/tables/table_process.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"
#include "unwind/unwind_machine.h"
#include "unwind/unwind_module.h"
#include "unwind/unwind_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define CODE UINT64_C(0x7f0000001000)

/*
 * As Python 3.13 writes it for each trampoline: 11 bytes of code, CFA = sp + 8, from byte 4 on +
 * 16, from byte 10 on + 8.
 */
static const uint8_t python[] = {
        0x14, 0,    0,  0, 0,    0,    0,    0,    1,    'z',  'R',  0,
        1,    0x78, 16, 1, 0x1b, 0x0c, 7,    8,    0x90, 1,    0,    0, /* CIE */
        0x14, 0,    0,  0, 0x1c, 0,    0,    0,    0xd0, 0xff, 0xff, 0xff,
        0x0b, 0,    0,  0, 0,    0x44, 0x0e, 0x10, 0x46, 0x0e, 8,    0,
};
#define PYTHON_CODE_BYTES 11
#define FDE_CFA_AT        43 /* the byte with 8 */

static struct jit_frames frames;
static struct unwind_module *module;

static void tear_down(void)
{
        unwind_module_free(module);
        module = NULL;
        jit_frames_deinit(&frames);
}

static void add_bytes(uint64_t start_avma, const uint8_t *bytes, size_t n_bytes)
{
        const struct jit_frames_entry entry = { .start_avma = start_avma,
                                                .length_bytes = PYTHON_CODE_BYTES,
                                                .eh_frame = bytes,
                                                .n_bytes = n_bytes };

        ck_assert_int_eq(jit_frames_add(&frames, &entry), 1);
}

static void add_python(uint64_t start_avma)
{
        add_bytes(start_avma, python, sizeof(python));
}

/* The table that the child and the recorder make of it is `module`; NULL if @wanted is not BUILT. */
static void build(const struct jit_frames *f, size_t from, enum table_status wanted)
{
        struct byte_buffer out = { .data = NULL };
        int fd = jit_frames_file(f, from);

        unwind_module_free(module);
        module = NULL;
        ck_assert_int_ge(fd, 0);
        ck_assert(jit_frames_is_file(fd));
        ck_assert_int_eq(jit_frames_build(fd, &out), wanted);
        if (wanted == TABLE_STATUS_BUILT)
                ck_assert_int_eq(unwind_module_decode(out.data, out.used_bytes, &module, NULL), 0);
        byte_buffer_deinit(&out);
        io_close(&fd);
}

static int32_t cfa_at(uint64_t avma)
{
        const struct unwind_rule *rule = unwind_table_find(module->table, avma);

        return rule ? rule->cfa_offset : 0;
}

START_TEST(test_python)
{
        add_python(CODE);
        add_python(CODE + 0x110);
        build(&frames, 0, TABLE_STATUS_BUILT);
        for (uint64_t start = CODE; start <= CODE + 0x110; start += 0x110) {
                ck_assert_int_eq(cfa_at(start - 1), 0);
                ck_assert_int_eq(cfa_at(start), 8);
                ck_assert_int_eq(cfa_at(start + 4), 16);
                ck_assert_int_eq(cfa_at(start + 9), 16);
                ck_assert_int_eq(cfa_at(start + 10), 8);
                ck_assert_int_eq(cfa_at(start + PYTHON_CODE_BYTES), 0);
        }
}
END_TEST

START_TEST(test_the_newest_counts)
{
        uint8_t other[sizeof(python)];
        size_t before;

        memcpy(other, python, sizeof(other));
        other[FDE_CFA_AT] = 32;
        add_python(CODE);
        before = frames.bytes.used_bytes;
        add_bytes(CODE, other, sizeof(other));
        build(&frames, 0, TABLE_STATUS_BUILT);
        ck_assert_int_eq(cfa_at(CODE + 4), 32);
        /* The rest alone. */
        build(&frames, before, TABLE_STATUS_BUILT);
        ck_assert_int_eq(cfa_at(CODE + 4), 32);
        ck_assert_uint_eq(module->table->n_fdes, 1);
}
END_TEST

/* Random bytes in one entry, and in the numbers of all: no access beyond, and the others are there. */
START_TEST(test_nonsense)
{
        uint64_t random = 5;

        for (unsigned i = 0; i < 2000; i++) {
                uint8_t broken[sizeof(python)];

                memcpy(broken, python, sizeof(broken));
                for (unsigned k = 0; k < 4; k++)
                        broken[fixed_random_next(&random) % sizeof(broken)] = (uint8_t)fixed_random_next(
                                &random);
                add_bytes(CODE + 0x1000, broken, fixed_random_next(&random) % sizeof(broken) + 1);
                add_python(CODE);
                build(&frames, 0, TABLE_STATUS_BUILT);
                ck_assert_int_eq(cfa_at(CODE + 4), 16);
                jit_frames_deinit(&frames);
        }
}
END_TEST

START_TEST(test_files_that_are_broken)
{
        uint64_t random = 6;

        add_python(CODE);
        add_python(CODE + 0x100);
        for (unsigned i = 0; i < 2000; i++) {
                struct jit_frames broken = { .is_full = false };
                struct byte_buffer out = { .data = NULL };
                int fd;

                byte_buffer_add(&broken.bytes, frames.bytes.data, frames.bytes.used_bytes);
                for (unsigned k = 0; k < 3; k++)
                        broken.bytes.data[fixed_random_next(&random) % broken.bytes.used_bytes] =
                                (uint8_t)fixed_random_next(&random);
                broken.bytes.used_bytes -= fixed_random_next(&random) % broken.bytes.used_bytes;
                fd = jit_frames_file(&broken, 0);
                (void)jit_frames_build(fd, &out);
                io_close(&fd);
                byte_buffer_deinit(&out);
                jit_frames_deinit(&broken);
        }
}
END_TEST

/* A file of a header alone, and one that is longer than what any process has, are none. */
START_TEST(test_sizes_of_files)
{
        struct jit_frames none = { .is_full = false };

        build(&none, 0, TABLE_STATUS_FAILED);
        for (off_t extra = 0; extra <= 1; extra++) {
                struct byte_buffer out = { .data = NULL };
                int fd = jit_frames_file(&none, 0);

                ck_assert_int_eq(ftruncate(fd, 4 + (off_t)JIT_FRAMES_BYTES_MAX + extra), 0);
                ck_assert_int_eq(jit_frames_build(fd, &out),
                                 extra == 0 ? TABLE_STATUS_NOTHING : TABLE_STATUS_FAILED);
                io_close(&fd);
                byte_buffer_deinit(&out);
        }
}
END_TEST

/* Code of no bytes, and of more than any function has, between others that are sound. */
START_TEST(test_lengths_of_code)
{
        const uint64_t longest = UINT64_C(1) << 28;
        const uint64_t lengths[] = { 0, longest + 8, longest };

        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
                const struct jit_frames_entry entry = { .start_avma = CODE + 0x1000,
                                                        .length_bytes = lengths[i],
                                                        .eh_frame = python,
                                                        .n_bytes = sizeof(python) };

                add_python(CODE);
                add_python(CODE + 2 * longest);
                ck_assert_int_eq(jit_frames_add(&frames, &entry), 1);
                build(&frames, 0, TABLE_STATUS_BUILT);
                ck_assert_int_eq(cfa_at(CODE), 8);
                ck_assert_int_eq(cfa_at(CODE + 0x1000 + lengths[i] - 16), lengths[i] == longest ? 8 : 0);
                jit_frames_deinit(&frames);
        }
}
END_TEST

/* One table cannot hold it all: the newest counts, and no stack waits for ever. */
START_TEST(test_code_far_away)
{
        add_python(0x1000);
        add_python(UINT64_MAX - 4);
        add_python(CODE);
        build(&frames, 0, TABLE_STATUS_BUILT);
        ck_assert_int_eq(cfa_at(CODE), 8);
        ck_assert_int_eq(cfa_at(0x1000), 0);
}
END_TEST

/* loop test: the newest entry has no bytes, or a place without code: it does not say where the table is. */
static const struct {
        uint64_t start_avma;
        size_t n_bytes;
} nothing[] = {
        { (UINT64_C(1) << 62) + 1, sizeof(python) },
        { CODE + (UINT64_C(1) << 40), 0 },
};

START_LOOP_TEST(test_newest_entry_is_nonsense, 0, sizeof(nothing) / sizeof(nothing[0]))
{
        add_python(CODE);
        add_bytes(nothing[_i].start_avma, python, nothing[_i].n_bytes);
        build(&frames, 0, TABLE_STATUS_BUILT);
        ck_assert_int_eq(cfa_at(CODE), 8);
}
END_TEST

START_TEST(test_limits)
{
        static uint8_t large[JIT_FRAMES_ENTRY_MAX + 1];
        struct jit_frames_entry entry = {
                .start_avma = CODE, .length_bytes = 16, .eh_frame = large, .n_bytes = sizeof(large)
        };
        unsigned n = 0;

        ck_assert_int_eq(jit_frames_add(&frames, &entry), 0);
        ck_assert(frames.is_full);
        ck_assert_uint_eq(frames.bytes.used_bytes, 0);
        entry.n_bytes = JIT_FRAMES_ENTRY_MAX;
        while (jit_frames_add(&frames, &entry) == 1)
                n++;
        ck_assert_uint_ge(n, JIT_FRAMES_BYTES_MAX / (JIT_FRAMES_ENTRY_MAX + 64) - 1);
        ck_assert_uint_le(frames.bytes.used_bytes, JIT_FRAMES_BYTES_MAX);
        build(&frames, 0, TABLE_STATUS_NOTHING); /* zeros */
}
END_TEST

START_TEST(test_other_files)
{
        int fd = memfd_create("text", MFD_CLOEXEC);

        ck_assert(!jit_frames_is_file(fd)); /* empty */
        ck_assert_int_eq(io_write_all(fd, "JITx", 4, NULL), 0);
        ck_assert(!jit_frames_is_file(fd));
        io_close(&fd);
}
END_TEST

static void begin(int argc, char **argv)
{
        (void)argc, (void)argv;
        if (unwind_machine_own() != &unwind_machine_x86_64)
                unit_test_skip_all("hardware: the entries are of x86-64");
}

UNIT_TEST_PLAN(.begin = begin, .teardown = tear_down);
