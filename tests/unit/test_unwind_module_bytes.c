/* SPDX-License-Identifier: MIT */
/*
 * unwind/unwind_module_bytes.c: a module arrives as it was; whatever else arrives, nothing
 * reads where it must not
 */
#include "base/byte_buffer.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/elf/elf_image.h"
#include "tests/unit/cfi_builder.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/own_code.h"
#include "tests/unit/unit_test.h"
#include "unwind/stack_walk.h"
#include "unwind/unwind_machine.h"
#include "unwind/unwind_module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK_AVMA  UINT64_C(0x7ffd00000000)
#define STACK_WORDS 512
#define BASE_BYTES  (4 + 4 + 24 + 1) /* before the table: magic, one segment, that there is one */

static const struct cfi_builder_cie plain = { .version = 1 };
static const struct cfi_builder_cie signal_frame = { .augmentation = "zRS" };

/* A table with a rule of each kind. */
static struct unwind_module *build_module(void)
{
        struct unwind_module *module = calloc(1, sizeof(*module));
        struct cfi_builder b;

        cfi_builder_init(&b);
        cfi_builder_add_cie(&b, &plain, CFI_BYTES(0x0c, 7, 8, 0x90, 1));
        cfi_builder_add_fde(&b, 0x2000, 0x30,
                            CFI_BYTES(0x41, 0x0e, 16, 0x86, 2, 0x50, 0x0d, 6, 0x48, 0x83, 3, 0x8c, 4));
        /* the CFA from another register, stored, of the PLT, by an expression; rbp stored at one */
        cfi_builder_add_fde(&b, 0x3000, 0x10, CFI_BYTES(0x0c, 10, 0));
        cfi_builder_add_fde(&b, 0x3100, 0x10, CFI_BYTES(0x0f, 3, 0x76, 0x78, 0x06));
        cfi_builder_add_fde(&b, 0x3200, 0x10,
                            CFI_BYTES(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22));
        cfi_builder_add_fde(&b, 0x3300, 0x10,
                            CFI_BYTES(0x0f, 4, 0x77, 8, 0x23, 8, 0x10, 6, 3, 0x77, 0x28, 0x12));
        cfi_builder_add_fde(&b, 0x3400, 0x10, CFI_BYTES(0x07, 16));
        cfi_builder_add_cie(&b, &signal_frame, CFI_BYTES(0x0c, 7, 8, 0x90, 1));
        cfi_builder_add_fde(&b, 0x4000, 0x10, CFI_BYTES(0x0f, 4, 0x77, 0xa0, 1, 0x06));
        ck_assert_ptr_nonnull(module);
        module->table = cfi_builder_table(&b, &unwind_machine_x86_64);
        ck_assert_uint_gt(module->table->n_expression_bytes, 0);
        cfi_builder_deinit(&b);
        module->segments = calloc(1, sizeof(*module->segments));
        ck_assert_ptr_nonnull(module->segments);
        module->segments[0] = (struct elf_image_part){ 0x1000, 0xff000, 0x1000 };
        module->n_segments = 1;
        module->n_bytes = sizeof(*module) + sizeof(*module->segments) + module->table->n_bytes;
        return module;
}

static struct byte_buffer encode(const struct unwind_module *module)
{
        struct byte_buffer bytes = { .data = NULL };

        unwind_module_encode(module, &bytes);
        ck_assert(!bytes.failed);
        return bytes;
}

static void expect_equal(const struct unwind_module *a, const struct unwind_module *b)
{
        struct byte_buffer x = encode(a), y = encode(b);

        ck_assert_uint_eq(x.used_bytes, y.used_bytes);
        ck_assert_mem_eq(x.data, y.data, x.used_bytes);
        ck_assert_uint_eq(a->n_bytes, b->n_bytes);
        ck_assert_uint_eq(a->n_segments, b->n_segments);
        ck_assert_mem_eq(a->segments, b->segments, a->n_segments * sizeof(*a->segments));
        byte_buffer_deinit(&x);
        byte_buffer_deinit(&y);
}

static bool find_code(const void *context, uint64_t avma, struct stack_walk_code *ret_code)
{
        *ret_code = (struct stack_walk_code){ .table = context };
        return avma < UINT64_C(1) << 33;
}

/*
 * From each rule over stacks of likely words: whatever the table says, the walk ends and
 * reads only what it may.
 */
static void walk_everything(const struct unwind_table *table, uint64_t seed)
{
        static uint64_t stack[STACK_WORDS];
        static struct stack_walk walk;
        const struct stack_walk_space space = { .find = find_code, .context = table, .generation = seed };
        const struct unwind_machine *m = table->machine;
        struct stack_walker *walker = stack_walker_new(m);
        struct stack_walk_input input = { .n_pieces = 1 };

        ck_assert_ptr_nonnull(walker);
        for (size_t i = 0; i < STACK_WORDS; i++)
                stack[i] = i % 3 ? 0x1f00 + fixed_random_next(&seed) % 0x2200 : STACK_AVMA + 8 * i + 64;
        memset(input.registers.values, 0, sizeof(input.registers.values));
        for (size_t i = 0; i < UNWIND_REGISTERS_MAX; i++)
                input.registers.values[i] = STACK_AVMA + 8 * i;
        input.registers.values[m->sp] = STACK_AVMA;
        input.registers.known = UINT64_MAX;
        input.pieces[0] = (struct stack_walk_piece){ (const uint8_t *)stack, STACK_AVMA, sizeof(stack) };
        for (uint32_t i = 0; i < table->n_rows; i++) {
                input.registers.pc = table->base_svma + table->pcs[i];
                stack_walk_run(walker, &space, &input, &walk);
                ck_assert_uint_le(walk.n_frames, STACK_WALK_FRAMES_MAX);
        }
        for (uint64_t svma = 0; svma < 0x10000; svma += 7)
                (void)unwind_table_find(table, table->base_svma + svma);
        (void)unwind_table_find(table, UINT64_MAX);
        stack_walker_free(walker);
}

/* In memory of its own length, so that a sanitizer sees what is read past it. */
static int decode_exactly(const uint8_t *bytes, size_t n_bytes, struct unwind_module **ret_module)
{
        uint8_t *copy = malloc(n_bytes > 0 ? n_bytes : 1);
        int r;

        ck_assert_ptr_nonnull(copy);
        memcpy(copy, bytes, n_bytes);
        r = unwind_module_decode(copy, n_bytes, ret_module, NULL);
        free(copy);
        return r;
}

START_TEST(test_round_trip)
{
        struct unwind_module *module = build_module(), *copy = NULL;
        struct byte_buffer bytes = encode(module);

        ck_assert_int_eq(decode_exactly(bytes.data, bytes.used_bytes, &copy), 0);
        expect_equal(module, copy);
        walk_everything(copy->table, 1);
        unwind_module_free(copy);
        unwind_module_free(module);
        byte_buffer_deinit(&bytes);
}
END_TEST

START_TEST(test_module_without_table)
{
        struct unwind_module module = { .n_bytes = sizeof(module) };
        struct unwind_module *copy = NULL;
        struct byte_buffer bytes = encode(&module);

        ck_assert_int_eq(decode_exactly(bytes.data, bytes.used_bytes, &copy), 0);
        ck_assert_ptr_null(copy->table);
        ck_assert_uint_eq(copy->n_segments, 0);
        unwind_module_free(copy);
        byte_buffer_deinit(&bytes);
}
END_TEST

/* Files of this system: what every address leads to is the same before and after. */
START_TEST(test_real_files)
{
        char *own = own_code_path();
        const char *const paths[] = { own, "/lib/x86_64-linux-gnu/libc.so.6",
                                      "/lib/aarch64-linux-gnu/libc.so.6" };

        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
                struct unwind_module *module = NULL, *copy = NULL;
                struct elf_image *image = NULL;
                struct byte_buffer bytes;
                int fd = -1;

                if (regular_file_open(paths[i], &fd, NULL) < 0)
                        continue;
                ck_assert_int_eq(elf_image_open_unmapped(fd, &image, NULL), 0);
                ck_assert_int_eq(unwind_module_build(image, &module, NULL), 0);
                ck_assert_ptr_nonnull(module->table);
                bytes = encode(module);
                ck_assert_int_eq(decode_exactly(bytes.data, bytes.used_bytes, &copy), 0);
                expect_equal(module, copy);
                for (uint32_t row = 0; row < module->table->n_rows; row++) {
                        uint64_t svma = module->table->base_svma + module->table->pcs[row];
                        const struct unwind_rule *rule = unwind_table_find(module->table, svma);
                        const struct unwind_rule *same = unwind_table_find(copy->table, svma);

                        ck_assert(rule ? same && memcmp(rule, same, sizeof(*rule)) == 0 : !same);
                }
                for (size_t cut = 0; cut < bytes.used_bytes; cut += bytes.used_bytes / 100 + 1)
                        ck_assert_int_eq(decode_exactly(bytes.data, cut, &copy), -ENODATA);
                unwind_module_free(copy);
                unwind_module_free(module);
                elf_image_close(image);
                byte_buffer_deinit(&bytes);
                io_close(&fd);
        }
        free(own);
}
END_TEST

START_TEST(test_every_cut)
{
        struct unwind_module *module = build_module(), *copy = NULL;
        struct byte_buffer bytes = encode(module);

        for (size_t cut = 0; cut < bytes.used_bytes; cut++)
                ck_assert_int_eq(decode_exactly(bytes.data, cut, &copy), -ENODATA);
        byte_buffer_add_u8(&bytes, 0);
        ck_assert_int_eq(decode_exactly(bytes.data, bytes.used_bytes, &copy), -EBADMSG);
        ck_assert_ptr_null(copy);
        unwind_module_free(module);
        byte_buffer_deinit(&bytes);
}
END_TEST

START_TEST(test_every_byte_changed)
{
        static const uint8_t changes[] = { 0x01, 0x02, 0x10, 0x80, 0xff };
        struct unwind_module *module = build_module();
        struct byte_buffer bytes = encode(module);
        size_t n_refused = 0, n_taken = 0;

        for (size_t at = 0; at < bytes.used_bytes; at++)
                for (size_t i = 0; i < sizeof(changes); i++) {
                        struct unwind_module *copy = NULL;

                        bytes.data[at] ^= changes[i];
                        if (decode_exactly(bytes.data, bytes.used_bytes, &copy) == 0) {
                                n_taken++;
                                walk_everything(copy->table, at + 1);
                        } else {
                                n_refused++;
                                ck_assert_ptr_null(copy);
                        }
                        bytes.data[at] ^= changes[i];
                        unwind_module_free(copy);
                }
        ck_assert_uint_gt(n_refused, bytes.used_bytes / 4);
        ck_assert_uint_gt(n_taken, 0);
        unwind_module_free(module);
        byte_buffer_deinit(&bytes);
}
END_TEST

/* One rule of the format broken, in a table that is good otherwise. */
static void expect_refused(void (*damage)(struct unwind_module *module))
{
        struct unwind_module *module = build_module(), *copy = NULL;
        struct byte_buffer bytes;

        damage(module);
        bytes = encode(module);
        ck_assert_int_eq(decode_exactly(bytes.data, bytes.used_bytes, &copy), -EBADMSG);
        unwind_module_free(module);
        byte_buffer_deinit(&bytes);
}

static void unsort(struct unwind_module *module)
{
        module->table->pcs[2] = module->table->pcs[1];
}

static void rule_too_high(struct unwind_module *module)
{
        module->table->rule_ids[3] = (uint16_t)module->table->n_rules;
}

static void first_bucket_later(struct unwind_module *module)
{
        module->table->buckets[0] = 1;
}

static void bucket_back(struct unwind_module *module)
{
        module->table->buckets[1] = module->table->n_rows - 1;
        module->table->buckets[2] = 0;
}

static void bucket_beyond(struct unwind_module *module)
{
        module->table->buckets[module->table->n_buckets] = module->table->n_rows;
}

static void bucket_of_everything(struct unwind_module *module)
{
        module->table->bucket_bits = 32;
}

static void cfa_unknown(struct unwind_module *module)
{
        module->table->rules[1].cfa = UNWIND_CFA_GO_ROOT + 1;
}

static void saved_beyond(struct unwind_module *module)
{
        module->table->rules[1].saved = module->table->n_saved << UNWIND_SAVED_COUNT_BITS | 1;
}

static void saved_far_beyond(struct unwind_module *module)
{
        module->table->rules[1].saved = UINT32_MAX;
}

static void register_unknown(struct unwind_module *module)
{
        module->table->saved[0].number = UNWIND_REGISTERS_MAX;
}

static void saved_unknown(struct unwind_module *module)
{
        module->table->saved[0].kind = UNWIND_SAVED_ELSEWHERE;
}

static void saved_at_nowhere(struct unwind_module *module)
{
        module->table->saved[0].kind = UNWIND_SAVED_AT_EXPRESSION;
        module->table->saved[0].value = -1;
}

static void expression_beyond(struct unwind_module *module)
{
        module->table->rules[1].cfa = UNWIND_CFA_EXPRESSION;
        module->table->rules[1].cfa_offset = (int32_t)module->table->n_expression_bytes;
}

static void expression_too_long(struct unwind_module *module)
{
        module->table->rules[1].cfa = UNWIND_CFA_EXPRESSION;
        module->table->rules[1].cfa_offset = 0;
        module->table->expressions[0] = 0xff;
        module->table->expressions[1] = 0xff;
}

static void segment_overflows(struct unwind_module *module)
{
        module->segments[0].file_off = UINT64_MAX - 1;
}

static void (*const damages[])(struct unwind_module *module) = {
        unsort,
        rule_too_high,
        first_bucket_later,
        bucket_back,
        bucket_beyond,
        bucket_of_everything,
        cfa_unknown,
        saved_beyond,
        saved_far_beyond,
        register_unknown,
        saved_unknown,
        saved_at_nowhere,
        expression_beyond,
        expression_too_long,
        segment_overflows,
};

START_LOOP_TEST(test_each_rule_of_the_format, 0, sizeof(damages) / sizeof(damages[0]))
{
        expect_refused(damages[_i]);
}
END_TEST

/* A few bytes that say that much follows get no memory for it. */
START_TEST(test_counts_without_bytes)
{
        struct unwind_module *module = build_module(), *copy = NULL;
        struct byte_buffer bytes = encode(module);

        for (size_t at = BASE_BYTES + 2 + 8 + 8 + 12; at < BASE_BYTES + 2 + 8 + 8 + 12 + 21; at++) {
                uint8_t kept = bytes.data[at];

                bytes.data[at] = 0xff;
                ck_assert_int_lt(decode_exactly(bytes.data, bytes.used_bytes, &copy), 0);
                bytes.data[at] = kept;
        }
        unwind_module_free(module);
        byte_buffer_deinit(&bytes);
}
END_TEST

UNIT_TEST_PLAN(.timeout_s = 120);
