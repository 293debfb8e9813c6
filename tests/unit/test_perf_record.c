/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/perf_record.c: each field of each record is found; what is too short is
 * refused, untouched and unread
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "sampler/kernel/perf_record.h"
#include "tests/unit/kernel_record.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define WITH_CHAIN (PERF_RECORD_SAMPLE_TYPE | PERF_SAMPLE_CALLCHAIN)

#define HEADER_BYTES    8
#define SIZE_AT         6
#define SAMPLE_BYTES    56 /* without a chain */
#define IDENTITY_BYTES  32
#define BUILD_ID_LEN_AT 40

static const struct kernel_record_identity who = {
        .pid = 4242, .tid = 4243, .time_ns = UINT64_C(0x1122334455667788), .cpu = 3, .event = 77
};
static const uint8_t raw[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
static const uint64_t chain[] = { PERF_CONTEXT_USER, 0x401000, 0x402000, UINT64_C(0x7fff00001111) };
static const uint8_t build_id[PERF_RECORD_BUILD_ID_MAX] = { 1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                            11, 12, 13, 14, 15, 16, 17, 18, 19, 20 };
static const struct perf_mmap code_mapping = {
        .start_avma = 0x400000,
        .length_bytes = 0x5000,
        .file_offset_bytes = 0x1000,
        .inode = 991,
        .device_major = 8,
        .device_minor = 17,
        .executable = true,
        .path = "/usr/bin/true",
        .path_bytes = 13,
};

/* Two members: how many, times, and of each value, id and losses. */
static const uint64_t group[] = { 2, 5000, 4000, 111, 77, 0, 222, 78, 0 };
static const uint64_t count[] = { 111, 5000, 4000, 0 };
static const uint64_t registers[] = { 0x10, 0x20, 0x30 };
static const uint8_t copy[32] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

#define COPY_VALID 24

/* The fixed parts of the records, by kind: what is shorter is no such record. */
enum {
        SAMPLE,
        SAMPLE_CHAIN,
        SAMPLE_GROUP,
        SAMPLE_COUNT,
        SAMPLE_REGISTERS,
        SAMPLE_NO_REGISTERS,
        SAMPLE_COPY,
        SAMPLE_NO_COPY,
        SAMPLE_RAW,
        SAMPLE_ALL,
        MMAP_INODE,
        MMAP_BUILD_ID,
        COMM,
        KERNEL_CODE,
        FORK,
        EXIT,
        SWITCH,
        SWITCH_OF_CPU,
        LOST,
        LOST_SAMPLES,
        THROTTLE,
        UNKNOWN
};
static const size_t least_bytes[] = {
        [SAMPLE] = SAMPLE_BYTES,
        [SAMPLE_CHAIN] = SAMPLE_BYTES + 8 + sizeof(chain),
        [SAMPLE_GROUP] = SAMPLE_BYTES + sizeof(group),
        [SAMPLE_COUNT] = SAMPLE_BYTES + sizeof(count),
        [SAMPLE_REGISTERS] = SAMPLE_BYTES + 8 + sizeof(registers),
        [SAMPLE_NO_REGISTERS] = SAMPLE_BYTES + 8,
        [SAMPLE_COPY] = SAMPLE_BYTES + 8 + sizeof(copy) + 8,
        [SAMPLE_NO_COPY] = SAMPLE_BYTES + 8,
        [SAMPLE_RAW] = SAMPLE_BYTES + 4 + sizeof(raw),
        [SAMPLE_ALL] = SAMPLE_BYTES + sizeof(group) + 8 + sizeof(chain) + 8 + sizeof(registers) + 8 +
                       sizeof(copy) + 8 + 4 + sizeof(raw),
        [MMAP_INODE] = HEADER_BYTES + 64 + IDENTITY_BYTES,
        [MMAP_BUILD_ID] = HEADER_BYTES + 64 + IDENTITY_BYTES,
        [COMM] = HEADER_BYTES + 8 + IDENTITY_BYTES,
        [KERNEL_CODE] = HEADER_BYTES + 16 + IDENTITY_BYTES,
        [FORK] = HEADER_BYTES + 24 + IDENTITY_BYTES,
        [EXIT] = HEADER_BYTES + 24 + IDENTITY_BYTES,
        [SWITCH] = HEADER_BYTES + IDENTITY_BYTES,
        [SWITCH_OF_CPU] = HEADER_BYTES + 8 + IDENTITY_BYTES,
        [LOST_SAMPLES] = HEADER_BYTES + 8 + IDENTITY_BYTES,
        [LOST] = HEADER_BYTES + 16 + IDENTITY_BYTES,
        [THROTTLE] = HEADER_BYTES + IDENTITY_BYTES,
        [UNKNOWN] = HEADER_BYTES + IDENTITY_BYTES,
};
#define N_KINDS ((int)(sizeof(least_bytes) / sizeof(least_bytes[0])))

static struct byte_buffer b;

static void teardown(void)
{
        byte_buffer_deinit(&b);
}

static void complete_sample(int kind, struct kernel_record_sample *sample)
{
        if (kind == SAMPLE_CHAIN || kind == SAMPLE_ALL) {
                sample->chain = chain;
                sample->n_chain = sizeof(chain) / sizeof(chain[0]);
        }
        if (kind == SAMPLE_GROUP || kind == SAMPLE_ALL) {
                sample->counts = group;
                sample->n_counts = sizeof(group) / sizeof(group[0]);
        } else if (kind == SAMPLE_COUNT) {
                sample->counts = count;
                sample->n_counts = sizeof(count) / sizeof(count[0]);
        }
        if (kind == SAMPLE_REGISTERS || kind == SAMPLE_NO_REGISTERS || kind == SAMPLE_ALL) {
                sample->registers = registers;
                sample->n_registers = sizeof(registers) / sizeof(registers[0]);
                sample->registers_abi = kind == SAMPLE_NO_REGISTERS ? PERF_SAMPLE_REGS_ABI_NONE
                                                                    : PERF_SAMPLE_REGS_ABI_64;
        }
        if (kind == SAMPLE_RAW || kind == SAMPLE_ALL) {
                sample->raw = raw;
                sample->raw_bytes = sizeof(raw);
        }
        if (kind == SAMPLE_COPY || kind == SAMPLE_NO_COPY || kind == SAMPLE_ALL) {
                sample->copy = copy;
                sample->copy_bytes = kind == SAMPLE_NO_COPY ? 0 : sizeof(copy);
                sample->copy_valid = COPY_VALID;
        }
}

static void build(int kind, struct byte_buffer *out)
{
        struct kernel_record_sample sample = { .identity = who, .ip_avma = 0x401000, .period = 1003009 };
        struct perf_mmap mapping = code_mapping;

        if (kind <= SAMPLE_ALL) {
                complete_sample(kind, &sample);
                kernel_record_add_sample(out, &sample);
                ck_assert(!out->failed);
                return;
        }
        switch (kind) {
        case MMAP_BUILD_ID:
                mapping.build_id_bytes = sizeof(build_id);
                memcpy(mapping.build_id, build_id, sizeof(build_id));
                kernel_record_add_mmap2(out, &who, &mapping);
                break;
        case MMAP_INODE:
                kernel_record_add_mmap2(out, &who, &mapping);
                break;
        case COMM:
                kernel_record_add_comm(out, &who, "worker", false);
                break;
        case KERNEL_CODE:
                kernel_record_add_kernel_code(out, &who,
                                              &(struct perf_kernel_code){ .start_avma = 0xffffffffc0001000,
                                                                          .n_bytes = 0x123,
                                                                          .is_bpf = true,
                                                                          .is_removed = true,
                                                                          .name = "bpf_prog_1_a",
                                                                          .name_bytes = 12 });
                break;
        case FORK:
                kernel_record_add_fork(out, &who, 11, 12);
                break;
        case EXIT:
                kernel_record_add_exit(out, &who);
                break;
        case SWITCH:
                kernel_record_add_switch(out, &who, false, false);
                break;
        case SWITCH_OF_CPU:
                kernel_record_add_cpu_switch(out, &who, true, 21, 22);
                break;
        case LOST:
                kernel_record_add_lost(out, &who, 1234);
                break;
        case LOST_SAMPLES:
                kernel_record_add_lost_samples(out, &who, 4321);
                break;
        case THROTTLE:
                kernel_record_add_other(out, &who, PERF_RECORD_THROTTLE);
                break;
        default:
                kernel_record_add_other(out, &who, 12345);
                break;
        }
        ck_assert(!out->failed);
}

static struct perf_record_layout layout_of(int kind)
{
        static const uint64_t added[] = {
                [SAMPLE_CHAIN] = PERF_SAMPLE_CALLCHAIN,
                [SAMPLE_GROUP] = PERF_SAMPLE_READ,
                [SAMPLE_COUNT] = PERF_SAMPLE_READ,
                [SAMPLE_REGISTERS] = PERF_SAMPLE_REGS_USER,
                [SAMPLE_NO_REGISTERS] = PERF_SAMPLE_REGS_USER,
                [SAMPLE_COPY] = PERF_SAMPLE_STACK_USER,
                [SAMPLE_NO_COPY] = PERF_SAMPLE_STACK_USER,
                [SAMPLE_RAW] = PERF_SAMPLE_RAW,
                [SAMPLE_ALL] = PERF_SAMPLE_RAW | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_READ |
                               PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        };

        return (struct perf_record_layout){
                .sample_type = PERF_RECORD_SAMPLE_TYPE | (kind <= SAMPLE_ALL ? added[kind] : 0),
                .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
                               PERF_FORMAT_LOST |
                               (kind == SAMPLE_COUNT ? 0 : PERF_FORMAT_GROUP | PERF_FORMAT_ID),
                .user_registers = 0x111, /* three */
        };
}

/* Decodes what must be a record of @kind, from a thread of ours, and hands it out. */
static struct perf_record decode_as(const struct perf_record_layout *layout, enum perf_record_kind kind)
{
        struct error err = ERROR_NONE;
        struct perf_record rec;

        ck_assert_msg(perf_record_decode(b.data, b.used_bytes, layout, &rec, &err) == 0, "%s", err.text);
        ck_assert_int_eq(rec.kind, kind);
        ck_assert_uint_eq(rec.time_ns, who.time_ns);
        ck_assert_uint_eq(rec.cpu, who.cpu);
        ck_assert_uint_eq(rec.event, who.event);
        ck_assert_uint_eq(rec.pid, who.pid);
        ck_assert_uint_eq(rec.tid, who.tid);
        return rec;
}

static struct perf_record decode(uint64_t sample_type, enum perf_record_kind kind)
{
        const struct perf_record_layout layout = { .sample_type = sample_type };

        return decode_as(&layout, kind);
}

START_TEST(test_sample)
{
        struct perf_record rec;

        build(SAMPLE, &b);
        rec = decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_SAMPLE);
        ck_assert_uint_eq(rec.sample.stack.ip_avma, 0x401000);
        ck_assert_uint_eq(rec.sample.period, 1003009);
        ck_assert(!rec.sample.stack.in_kernel);
        ck_assert_ptr_null(rec.sample.stack.chain);
        ck_assert_uint_eq(rec.sample.stack.n_chain, 0);

        b.data[4] = PERF_RECORD_MISC_KERNEL;
        rec = decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_SAMPLE);
        ck_assert(rec.sample.stack.in_kernel);
}
END_TEST

START_TEST(test_kernel_code)
{
        struct perf_record rec;

        build(KERNEL_CODE, &b);
        rec = decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_KERNEL_CODE);
        ck_assert_uint_eq(rec.kernel_code.start_avma, 0xffffffffc0001000);
        ck_assert_uint_eq(rec.kernel_code.n_bytes, 0x123);
        ck_assert(rec.kernel_code.is_bpf);
        ck_assert(rec.kernel_code.is_removed);
        ck_assert_uint_eq(rec.kernel_code.name_bytes, 12);
        ck_assert_mem_eq(rec.kernel_code.name, "bpf_prog_1_a", 12);
}
END_TEST

/* For the third event that a record goes to the kernel writes its end, and leaves room for two more. */
START_TEST(test_kernel_code_of_several_recorders)
{
        struct perf_record first, third;
        uint16_t n_bytes;

        build(KERNEL_CODE, &b);
        first = decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_KERNEL_CODE);
        for (unsigned i = 0; i < 64; i++)
                byte_buffer_add_u8(&b, (uint8_t)(0xa5 + i));
        n_bytes = (uint16_t)b.used_bytes;
        memcpy(b.data + 6, &n_bytes, sizeof(n_bytes));
        third = decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_KERNEL_CODE);
        ck_assert_uint_eq(third.time_ns, first.time_ns);
        ck_assert_uint_eq(third.event, first.event);
        ck_assert_uint_eq(third.cpu, first.cpu);
        ck_assert_uint_eq(third.kernel_code.start_avma, first.kernel_code.start_avma);
        ck_assert_uint_eq(third.kernel_code.name_bytes, 12);
}
END_TEST

START_TEST(test_sample_with_chain)
{
        struct perf_record rec;

        build(SAMPLE_CHAIN, &b);
        rec = decode(WITH_CHAIN, PERF_RECORD_KIND_SAMPLE);
        ck_assert_uint_eq(rec.sample.stack.n_chain, sizeof(chain) / sizeof(chain[0]));
        ck_assert_ptr_eq(rec.sample.stack.chain, b.data + SAMPLE_BYTES + 8);
        ck_assert_mem_eq(rec.sample.stack.chain, chain, sizeof(chain));
}
END_TEST

/* loop test: a chain can be shorter than its record, but never longer, however it is counted */
START_LOOP_TEST(test_chain_length, 0, 8)
{
        static const struct {
                uint64_t n_chain;
                int result;
        } cases[] = {
                { 0, 0 },
                { 3, 0 },
                { 4, 0 },
                { 5, -EBADMSG },
                { UINT32_MAX, -EBADMSG },
                { UINT64_C(1) << 61, -EBADMSG }, /* times 8 it is 0 */
                { (UINT64_C(1) << 61) + 4, -EBADMSG },
                { UINT64_MAX, -EBADMSG },
        };
        struct perf_record rec = { .cpu = 99 };

        build(SAMPLE_CHAIN, &b);
        for (size_t i = 0; i < 8; i++)
                b.data[SAMPLE_BYTES + i] = (uint8_t)(cases[_i].n_chain >> 8 * i);
        ck_assert_int_eq(perf_record_decode(b.data, b.used_bytes,
                                            &(struct perf_record_layout){ .sample_type = WITH_CHAIN }, &rec,
                                            NULL),
                         cases[_i].result);
        if (cases[_i].result == 0)
                ck_assert_uint_eq(rec.sample.stack.n_chain, cases[_i].n_chain);
        else
                ck_assert_uint_eq(rec.cpu, 99);
}
END_TEST

/* loop test, by kind: what a sample has is where it is, and what it has not is NULL */
START_LOOP_TEST(test_parts_of_samples, SAMPLE, SAMPLE_ALL + 1)
{
        const struct perf_record_layout layout = layout_of(_i);
        struct perf_sample sample;

        build(_i, &b);
        sample = decode_as(&layout, PERF_RECORD_KIND_SAMPLE).sample;
        ck_assert_uint_eq(sample.period, 1003009);
        ck_assert_uint_eq(sample.counts_bytes, _i == SAMPLE_GROUP || _i == SAMPLE_ALL ? sizeof(group)
                                               : _i == SAMPLE_COUNT                   ? sizeof(count)
                                                                                      : 0);
        if (sample.counts_bytes > 0)
                ck_assert_mem_eq(sample.counts, _i == SAMPLE_COUNT ? count : group, sample.counts_bytes);
        ck_assert((sample.counts != NULL) == (sample.counts_bytes > 0));
        ck_assert((sample.stack.chain != NULL) == (_i == SAMPLE_CHAIN || _i == SAMPLE_ALL));
        ck_assert((sample.stack.registers != NULL) == (_i == SAMPLE_REGISTERS || _i == SAMPLE_ALL));
        if (sample.stack.registers)
                ck_assert_mem_eq(sample.stack.registers, registers, sizeof(registers));
        ck_assert_uint_eq(sample.stack.registers_bytes, sample.stack.registers ? sizeof(registers) : 0);
        ck_assert_uint_eq(sample.raw_bytes, _i == SAMPLE_RAW || _i == SAMPLE_ALL ? sizeof(raw) : 0);
        if (sample.raw)
                ck_assert_mem_eq(sample.raw, raw, sizeof(raw));
        ck_assert((sample.stack.copy != NULL) == (_i == SAMPLE_COPY || _i == SAMPLE_ALL));
        if (sample.stack.copy)
                ck_assert_mem_eq(sample.stack.copy, copy, COPY_VALID);
        ck_assert_uint_eq(sample.stack.copy_bytes, sample.stack.copy ? COPY_VALID : 0);
        ck_assert(!sample.stack.copy_is_full && !sample.stack.is_32_bit);
}
END_TEST

/* Sets a word of the record. */
static void put_word(size_t at, uint64_t value)
{
        for (size_t i = 0; i < 8; i++)
                b.data[at + i] = (uint8_t)(value >> 8 * i);
}

/* loop test: lengths that a sample states of its parts can be smaller than these, but never larger */
START_LOOP_TEST(test_stated_lengths, 0, 20)
{
        static const struct {
                int kind;
                size_t at;
                uint64_t value;
                int result;
        } cases[] = {
                { SAMPLE_GROUP, SAMPLE_BYTES, 0, 0 },
                { SAMPLE_GROUP, SAMPLE_BYTES, 1, 0 },
                { SAMPLE_GROUP, SAMPLE_BYTES, 3, -EBADMSG },
                { SAMPLE_GROUP, SAMPLE_BYTES, UINT64_MAX, -EBADMSG },
                { SAMPLE_GROUP, SAMPLE_BYTES, UINT64_C(1) << 61, -EBADMSG },
                { SAMPLE_GROUP, SAMPLE_BYTES, UINT64_MAX / 24 + 1, -EBADMSG },
                { SAMPLE_REGISTERS, SAMPLE_BYTES, PERF_SAMPLE_REGS_ABI_NONE, 0 },
                { SAMPLE_REGISTERS, SAMPLE_BYTES, PERF_SAMPLE_REGS_ABI_32, 0 },
                { SAMPLE_RAW, SAMPLE_BYTES, UINT64_C(0x0403020100000000), 0 },
                { SAMPLE_RAW, SAMPLE_BYTES, UINT64_C(0x040302010000000d), -EBADMSG },
                { SAMPLE_RAW, SAMPLE_BYTES, UINT64_C(0x04030201ffffffff), -EBADMSG },
                { SAMPLE_COPY, SAMPLE_BYTES, 0, 0 },
                { SAMPLE_COPY, SAMPLE_BYTES, 24, 0 }, /* what is after it is taken for how much is valid */
                { SAMPLE_COPY, SAMPLE_BYTES, 33, -EBADMSG },
                { SAMPLE_COPY, SAMPLE_BYTES, 40, -EBADMSG },
                { SAMPLE_COPY, SAMPLE_BYTES, UINT64_MAX, -EBADMSG },
                { SAMPLE_COPY, SAMPLE_BYTES + 8 + sizeof(copy), 0, 0 },
                { SAMPLE_COPY, SAMPLE_BYTES + 8 + sizeof(copy), 32, 0 },
                { SAMPLE_COPY, SAMPLE_BYTES + 8 + sizeof(copy), 33, -EBADMSG },
                { SAMPLE_COPY, SAMPLE_BYTES + 8 + sizeof(copy), UINT64_MAX, -EBADMSG },
        };
        const struct perf_record_layout layout = layout_of(cases[_i].kind);
        struct perf_record rec = { .cpu = 99 };

        build(cases[_i].kind, &b);
        put_word(cases[_i].at, cases[_i].value);
        ck_assert_int_eq(perf_record_decode(b.data, b.used_bytes, &layout, &rec, NULL), cases[_i].result);
        if (cases[_i].result < 0) {
                ck_assert_uint_eq(rec.cpu, 99);
        } else if (cases[_i].kind == SAMPLE_COPY && cases[_i].at > SAMPLE_BYTES) {
                ck_assert_uint_eq(rec.sample.stack.copy_bytes, cases[_i].value);
                ck_assert(rec.sample.stack.copy_is_full == (cases[_i].value == sizeof(copy)));
        } else if (cases[_i].kind == SAMPLE_REGISTERS) {
                ck_assert(rec.sample.stack.is_32_bit == (cases[_i].value == PERF_SAMPLE_REGS_ABI_32));
        }
}
END_TEST

static const struct {
        const char *path;
        bool is_shared;
        bool is_anonymous;
} memories[] = {
        { "", false, true },
        { "//anon", false, true },
        { "[heap]", false, true },
        { "/dev/zero (deleted)", true, true }, /* shared memory of no file */
        { "/anon_hugepage (deleted)", false, true },
        { "/memfd:doublemapper (deleted)", true, true },
        { "/memfd:kernel (deleted)", false, false }, /* dlopen(3) of one */
        { "/dev/shm/jitlink_17", true, true },
        { "/dev/shm/kernel.so", false, false },
        { "/tmp/kernel.so (deleted)", false, false },
        { "/tmp/ffiXYZ (deleted)", true, true },
        { "/tmp/kernel.so", true, false },
        { "(deleted)", true, false },
        { "[vdso]", false, false },
};

/* loop test */
START_LOOP_TEST(test_memory_of_no_file, 0, sizeof(memories) / sizeof(memories[0]))
{
        const struct perf_mmap m = { .path = memories[_i].path,
                                     .path_bytes = strlen(memories[_i].path),
                                     .is_shared = memories[_i].is_shared };

        ck_assert(perf_mmap_is_anonymous(&m) == memories[_i].is_anonymous);
}
END_TEST

static void expect_mapping(const struct perf_mmap *m)
{
        ck_assert_uint_eq(m->start_avma, code_mapping.start_avma);
        ck_assert_uint_eq(m->length_bytes, code_mapping.length_bytes);
        ck_assert_uint_eq(m->file_offset_bytes, code_mapping.file_offset_bytes);
        ck_assert(m->executable);
        ck_assert(!m->is_shared);
        ck_assert_uint_eq(m->path_bytes, code_mapping.path_bytes);
        ck_assert_mem_eq(m->path, code_mapping.path, m->path_bytes);
}

START_TEST(test_mmap2_by_inode)
{
        struct perf_record rec;

        build(MMAP_INODE, &b);
        rec = decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_MMAP);
        expect_mapping(&rec.mmap);
        ck_assert_uint_eq(rec.mmap.device_major, 8);
        ck_assert_uint_eq(rec.mmap.device_minor, 17);
        ck_assert_uint_eq(rec.mmap.inode, 991);
        ck_assert_uint_eq(rec.mmap.build_id_bytes, 0);
}
END_TEST

START_TEST(test_mmap2_by_build_id)
{
        struct perf_record rec;

        build(MMAP_BUILD_ID, &b);
        rec = decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_MMAP);
        expect_mapping(&rec.mmap);
        ck_assert_uint_eq(rec.mmap.inode, 0);
        ck_assert_uint_eq(rec.mmap.device_major, 0);
        ck_assert_uint_eq(rec.mmap.device_minor, 0);
        ck_assert_uint_eq(rec.mmap.build_id_bytes, sizeof(build_id));
        ck_assert_mem_eq(rec.mmap.build_id, build_id, sizeof(build_id));

        /* A length over the field's end is cut down to it; one below it is obeyed. */
        b.data[BUILD_ID_LEN_AT] = 255;
        rec = decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_MMAP);
        ck_assert_uint_eq(rec.mmap.build_id_bytes, sizeof(build_id));
        b.data[BUILD_ID_LEN_AT] = 16;
        rec = decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_MMAP);
        ck_assert_uint_eq(rec.mmap.build_id_bytes, 16);
        ck_assert_uint_eq(rec.mmap.build_id[16], 0);
}
END_TEST

START_TEST(test_mmap2_of_data)
{
        struct perf_mmap data_mapping = code_mapping;

        data_mapping.executable = false;
        data_mapping.is_shared = true;
        kernel_record_add_mmap2(&b, &who, &data_mapping);
        ck_assert(!decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_MMAP).mmap.executable);
        ck_assert(decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_MMAP).mmap.is_shared);
}
END_TEST

START_TEST(test_data_without_decoding)
{
        struct perf_mmap mapping = code_mapping;
        const char *path = NULL;
        size_t path_bytes = 0;

        kernel_record_add_mmap2(&b, &who, &mapping);
        ck_assert_uint_eq(perf_record_type(b.data, b.used_bytes), PERF_RECORD_MMAP2);
        ck_assert(!perf_record_maps_data(b.data, b.used_bytes, &path, &path_bytes));
        b.used_bytes = 0;
        build(COMM, &b);
        ck_assert(!perf_record_maps_data(b.data, b.used_bytes, &path, &path_bytes));
        b.used_bytes = 0;
        mapping.executable = false;
        kernel_record_add_mmap2(&b, &who, &mapping);
        ck_assert(perf_record_maps_data(b.data, b.used_bytes, &path, &path_bytes));
        ck_assert_uint_eq(path_bytes, mapping.path_bytes);
        ck_assert_mem_eq(path, mapping.path, path_bytes);
        ck_assert(!perf_record_maps_data(b.data, 100, &path, &path_bytes)); /* cut before its path */
}
END_TEST

START_TEST(test_comm)
{
        struct perf_record rec;

        build(COMM, &b);
        rec = decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_COMM);
        ck_assert_uint_eq(rec.comm.name_bytes, 6);
        ck_assert_mem_eq(rec.comm.name, "worker", 6);
        ck_assert(!rec.comm.exec);

        byte_buffer_clear(&b);
        kernel_record_add_comm(&b, &who, "fifteen letters", true);
        rec = decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_COMM);
        ck_assert_uint_eq(rec.comm.name_bytes, 15);
        ck_assert(rec.comm.exec);

        /* Without its NUL a name ends where its field does. */
        memset(b.data + HEADER_BYTES + 8, 'x', 16);
        rec = decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_COMM);
        ck_assert_uint_eq(rec.comm.name_bytes, 16);
}
END_TEST

/* The record is about the child, though the parent (or no thread, at an exit) signs it. */
START_TEST(test_fork_and_exit)
{
        struct perf_record rec;

        build(FORK, &b);
        rec = decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_FORK);
        ck_assert_uint_eq(rec.fork.parent_pid, 11);
        ck_assert_uint_eq(rec.fork.parent_tid, 12);

        byte_buffer_clear(&b);
        build(EXIT, &b);
        (void)decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_EXIT);
}
END_TEST

/* loop test: on, off, off though it could run on */
START_LOOP_TEST(test_switch, 0, 3)
{
        struct perf_record rec;

        kernel_record_add_switch(&b, &who, _i > 0, _i > 1);
        rec = decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_SWITCH);
        ck_assert(rec.context_switch.out == (_i > 0));
        ck_assert(rec.context_switch.preempted == (_i > 1));
}
END_TEST

START_TEST(test_switch_of_cpu)
{
        struct perf_record rec;

        build(SWITCH_OF_CPU, &b);
        rec = decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_SWITCH);
        ck_assert(rec.context_switch.out && !rec.context_switch.preempted);
        ck_assert_uint_eq(rec.context_switch.other_pid, 21);
        ck_assert_uint_eq(rec.context_switch.other_tid, 22);
        ck_assert(rec.context_switch.is_other_known);
        byte_buffer_clear(&b);
        kernel_record_add_cpu_switch(&b, &who, false, 0, 0);
        rec = decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_SWITCH);
        ck_assert(!rec.context_switch.out && !rec.context_switch.is_other_known);
}
END_TEST

START_TEST(test_lost_throttled_unknown)
{
        build(LOST, &b);
        ck_assert_uint_eq(decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_LOST).n_lost, 1234);
        byte_buffer_clear(&b);
        build(LOST_SAMPLES, &b);
        ck_assert_uint_eq(decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_LOST_SAMPLES).n_lost, 4321);
        byte_buffer_clear(&b);
        build(THROTTLE, &b);
        (void)decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_THROTTLE);
        byte_buffer_clear(&b);
        build(UNKNOWN, &b);
        (void)decode(PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_OTHER);
}
END_TEST

/* Decodes the first @n_bytes, in memory that ends there, as a record that says it has @stated_bytes. */
static int decode_cut(int kind, size_t n_bytes, size_t stated_bytes)
{
        const struct perf_record_layout layout = layout_of(kind);
        struct perf_record rec = { .cpu = 99 };
        struct error err = ERROR_NONE;
        uint8_t *cut = malloc(n_bytes);
        int r;

        if (n_bytes > 0) {
                ck_assert_ptr_nonnull(cut);
                memcpy(cut, b.data, n_bytes);
        }
        if (n_bytes >= SIZE_AT + 2) {
                cut[SIZE_AT] = (uint8_t)stated_bytes;
                cut[SIZE_AT + 1] = (uint8_t)(stated_bytes >> 8);
        }
        r = perf_record_decode(cut, n_bytes, &layout, &rec, &err);
        if (r < 0) {
                ck_assert_uint_eq(rec.cpu, 99);
                ck_assert_int_eq(err.code, r);
                ck_assert_uint_ne(strlen(err.text), 0);
        }
        free(cut);
        return r;
}

/* loop test, by kind: every length that a record can be cut to */
START_LOOP_TEST(test_cut_anywhere, 0, N_KINDS)
{
        build(_i, &b);
        ck_assert_uint_ge(b.used_bytes, least_bytes[_i]);
        for (size_t n = 0; n <= b.used_bytes; n++)
                ck_assert_msg(decode_cut(_i, n, n) == (n >= least_bytes[_i] ? 0 : -EBADMSG),
                              "kind %d, %zu bytes", _i, n);
        for (size_t n = 0; n < b.used_bytes; n++)
                ck_assert_int_eq(decode_cut(_i, n, b.used_bytes), -EBADMSG);
        ck_assert_int_eq(decode_cut(_i, b.used_bytes, b.used_bytes - 8), -EBADMSG);
        ck_assert_int_eq(decode_cut(_i, b.used_bytes, 0), -EBADMSG);
}
END_TEST

UNIT_TEST_PLAN(.teardown = teardown);
