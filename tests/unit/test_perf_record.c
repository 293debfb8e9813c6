/* SPDX-License-Identifier: MIT */
/* sampler/perf_record.c: each field of each record is found; what is too short is refused, untouched and unread */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "sampler/perf_record.h"
#include "tests/unit/kernel_record.h"

#include <check.h>
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

/* The fixed parts of the records, by kind: what is shorter is no such record. */
enum { SAMPLE, SAMPLE_CHAIN, MMAP_INODE, MMAP_BUILD_ID, COMM, FORK, EXIT, SWITCH, LOST, THROTTLE, UNKNOWN };
static const size_t least_bytes[] = {
        [SAMPLE] = SAMPLE_BYTES,
        [SAMPLE_CHAIN] = SAMPLE_BYTES + 8 + sizeof(chain),
        [MMAP_INODE] = HEADER_BYTES + 64 + IDENTITY_BYTES,
        [MMAP_BUILD_ID] = HEADER_BYTES + 64 + IDENTITY_BYTES,
        [COMM] = HEADER_BYTES + 8 + IDENTITY_BYTES,
        [FORK] = HEADER_BYTES + 24 + IDENTITY_BYTES,
        [EXIT] = HEADER_BYTES + 24 + IDENTITY_BYTES,
        [SWITCH] = HEADER_BYTES + IDENTITY_BYTES,
        [LOST] = HEADER_BYTES + 16 + IDENTITY_BYTES,
        [THROTTLE] = HEADER_BYTES + IDENTITY_BYTES,
        [UNKNOWN] = HEADER_BYTES + IDENTITY_BYTES,
};
#define N_KINDS ((int)(sizeof(least_bytes) / sizeof(least_bytes[0])))

static void build(int kind, struct byte_buffer *out)
{
        struct kernel_record_sample sample = { .identity = who, .ip_avma = 0x401000, .period = 1003009 };
        struct perf_mmap mapping = code_mapping;

        switch (kind) {
        case SAMPLE_CHAIN:
                sample.chain = chain;
                sample.n_chain = sizeof(chain) / sizeof(chain[0]);
                kernel_record_add_sample(out, &sample);
                break;
        case SAMPLE:
                kernel_record_add_sample(out, &sample);
                break;
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
        case FORK:
                kernel_record_add_fork(out, &who, 11, 12);
                break;
        case EXIT:
                kernel_record_add_exit(out, &who);
                break;
        case SWITCH:
                kernel_record_add_switch(out, &who, false, false);
                break;
        case LOST:
                kernel_record_add_lost(out, &who, 1234);
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

static uint64_t type_of(int kind)
{
        return kind == SAMPLE_CHAIN ? WITH_CHAIN : (uint64_t)PERF_RECORD_SAMPLE_TYPE;
}

/* Decodes what must be a record of @kind, from a thread of ours, and hands it out. */
static struct perf_record decode(const struct byte_buffer *b, uint64_t sample_type,
                                 enum perf_record_kind kind)
{
        const struct perf_record_layout layout = { .sample_type = sample_type };
        struct error err = ERROR_NONE;
        struct perf_record rec;

        ck_assert_msg(perf_record_decode(b->data, b->used_bytes, &layout, &rec, &err) == 0, "%s", err.text);
        ck_assert_int_eq(rec.kind, kind);
        ck_assert_uint_eq(rec.time_ns, who.time_ns);
        ck_assert_uint_eq(rec.cpu, who.cpu);
        ck_assert_uint_eq(rec.event, who.event);
        ck_assert_uint_eq(rec.pid, who.pid);
        ck_assert_uint_eq(rec.tid, who.tid);
        return rec;
}

START_TEST(test_sample)
{
        struct byte_buffer b = { .data = NULL };
        struct perf_record rec;

        build(SAMPLE, &b);
        rec = decode(&b, PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_SAMPLE);
        ck_assert_uint_eq(rec.sample.stack.ip_avma, 0x401000);
        ck_assert_uint_eq(rec.sample.period, 1003009);
        ck_assert(!rec.sample.stack.in_kernel);
        ck_assert_ptr_null(rec.sample.stack.chain);
        ck_assert_uint_eq(rec.sample.stack.n_chain, 0);

        b.data[4] = PERF_RECORD_MISC_KERNEL;
        rec = decode(&b, PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_SAMPLE);
        ck_assert(rec.sample.stack.in_kernel);
        byte_buffer_deinit(&b);
}
END_TEST

START_TEST(test_sample_with_chain)
{
        struct byte_buffer b = { .data = NULL };
        struct perf_record rec;

        build(SAMPLE_CHAIN, &b);
        rec = decode(&b, WITH_CHAIN, PERF_RECORD_KIND_SAMPLE);
        ck_assert_uint_eq(rec.sample.stack.n_chain, sizeof(chain) / sizeof(chain[0]));
        ck_assert_ptr_eq(rec.sample.stack.chain, b.data + SAMPLE_BYTES + 8);
        ck_assert_mem_eq(rec.sample.stack.chain, chain, sizeof(chain));
        byte_buffer_deinit(&b);
}
END_TEST

/* loop test: a chain can be shorter than its record, but never longer, however it is counted */
START_TEST(test_chain_length)
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
        struct byte_buffer b = { .data = NULL };
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
        byte_buffer_deinit(&b);
}
END_TEST

static void expect_mapping(const struct perf_mmap *m)
{
        ck_assert_uint_eq(m->start_avma, code_mapping.start_avma);
        ck_assert_uint_eq(m->length_bytes, code_mapping.length_bytes);
        ck_assert_uint_eq(m->file_offset_bytes, code_mapping.file_offset_bytes);
        ck_assert(m->executable);
        ck_assert_uint_eq(m->path_bytes, code_mapping.path_bytes);
        ck_assert_mem_eq(m->path, code_mapping.path, m->path_bytes);
}

START_TEST(test_mmap2_by_inode)
{
        struct byte_buffer b = { .data = NULL };
        struct perf_record rec;

        build(MMAP_INODE, &b);
        rec = decode(&b, PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_MMAP);
        expect_mapping(&rec.mmap);
        ck_assert_uint_eq(rec.mmap.device_major, 8);
        ck_assert_uint_eq(rec.mmap.device_minor, 17);
        ck_assert_uint_eq(rec.mmap.inode, 991);
        ck_assert_uint_eq(rec.mmap.build_id_bytes, 0);
        byte_buffer_deinit(&b);
}
END_TEST

START_TEST(test_mmap2_by_build_id)
{
        struct byte_buffer b = { .data = NULL };
        struct perf_record rec;

        build(MMAP_BUILD_ID, &b);
        rec = decode(&b, PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_MMAP);
        expect_mapping(&rec.mmap);
        ck_assert_uint_eq(rec.mmap.inode, 0);
        ck_assert_uint_eq(rec.mmap.device_major, 0);
        ck_assert_uint_eq(rec.mmap.device_minor, 0);
        ck_assert_uint_eq(rec.mmap.build_id_bytes, sizeof(build_id));
        ck_assert_mem_eq(rec.mmap.build_id, build_id, sizeof(build_id));

        /* A length over the field's end is cut down to it; one below it is obeyed. */
        b.data[BUILD_ID_LEN_AT] = 255;
        rec = decode(&b, PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_MMAP);
        ck_assert_uint_eq(rec.mmap.build_id_bytes, sizeof(build_id));
        b.data[BUILD_ID_LEN_AT] = 16;
        rec = decode(&b, PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_MMAP);
        ck_assert_uint_eq(rec.mmap.build_id_bytes, 16);
        ck_assert_uint_eq(rec.mmap.build_id[16], 0);
        byte_buffer_deinit(&b);
}
END_TEST

START_TEST(test_mmap2_of_data)
{
        struct byte_buffer b = { .data = NULL };
        struct perf_mmap data_mapping = code_mapping;

        data_mapping.executable = false;
        kernel_record_add_mmap2(&b, &who, &data_mapping);
        ck_assert(!decode(&b, PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_MMAP).mmap.executable);
        byte_buffer_deinit(&b);
}
END_TEST

START_TEST(test_comm)
{
        struct byte_buffer b = { .data = NULL };
        struct perf_record rec;

        build(COMM, &b);
        rec = decode(&b, PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_COMM);
        ck_assert_uint_eq(rec.comm.name_bytes, 6);
        ck_assert_mem_eq(rec.comm.name, "worker", 6);
        ck_assert(!rec.comm.exec);

        byte_buffer_clear(&b);
        kernel_record_add_comm(&b, &who, "fifteen letters", true);
        rec = decode(&b, PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_COMM);
        ck_assert_uint_eq(rec.comm.name_bytes, 15);
        ck_assert(rec.comm.exec);

        /* Without its NUL a name ends where its field does. */
        memset(b.data + HEADER_BYTES + 8, 'x', 16);
        rec = decode(&b, PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_COMM);
        ck_assert_uint_eq(rec.comm.name_bytes, 16);
        byte_buffer_deinit(&b);
}
END_TEST

/* The record is about the child, though the parent (or nobody, at an exit) signs it. */
START_TEST(test_fork_and_exit)
{
        struct byte_buffer b = { .data = NULL };
        struct perf_record rec;

        build(FORK, &b);
        rec = decode(&b, PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_FORK);
        ck_assert_uint_eq(rec.fork.parent_pid, 11);
        ck_assert_uint_eq(rec.fork.parent_tid, 12);

        byte_buffer_clear(&b);
        build(EXIT, &b);
        (void)decode(&b, PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_EXIT);
        byte_buffer_deinit(&b);
}
END_TEST

/* loop test: on, off, off though it could run on */
START_TEST(test_switch)
{
        struct byte_buffer b = { .data = NULL };
        struct perf_record rec;

        kernel_record_add_switch(&b, &who, _i > 0, _i > 1);
        rec = decode(&b, PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_SWITCH);
        ck_assert(rec.context_switch.out == (_i > 0));
        ck_assert(rec.context_switch.preempted == (_i > 1));
        byte_buffer_deinit(&b);
}
END_TEST

START_TEST(test_lost_throttled_unknown)
{
        struct byte_buffer b = { .data = NULL };

        build(LOST, &b);
        ck_assert_uint_eq(decode(&b, PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_LOST).n_lost, 1234);
        byte_buffer_clear(&b);
        build(THROTTLE, &b);
        (void)decode(&b, PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_THROTTLE);
        byte_buffer_clear(&b);
        build(UNKNOWN, &b);
        (void)decode(&b, PERF_RECORD_SAMPLE_TYPE, PERF_RECORD_KIND_OTHER);
        byte_buffer_deinit(&b);
}
END_TEST

/* Decodes the first @n_bytes, in memory that ends there, as a record that says it has @stated_bytes. */
static int decode_cut(const struct byte_buffer *b, int kind, size_t n_bytes, size_t stated_bytes)
{
        struct perf_record rec = { .cpu = 99 };
        struct error err = ERROR_NONE;
        uint8_t *cut = malloc(n_bytes);
        int r;

        if (n_bytes > 0) {
                ck_assert_ptr_nonnull(cut);
                memcpy(cut, b->data, n_bytes);
        }
        if (n_bytes >= SIZE_AT + 2) {
                cut[SIZE_AT] = (uint8_t)stated_bytes;
                cut[SIZE_AT + 1] = (uint8_t)(stated_bytes >> 8);
        }
        r = perf_record_decode(cut, n_bytes, &(struct perf_record_layout){ .sample_type = type_of(kind) },
                               &rec, &err);
        if (r < 0) {
                ck_assert_uint_eq(rec.cpu, 99);
                ck_assert_int_eq(err.code, r);
                ck_assert_uint_ne(strlen(err.text), 0);
        }
        free(cut);
        return r;
}

/* loop test, by kind: every length that a record can be cut to */
START_TEST(test_cut_anywhere)
{
        struct byte_buffer b = { .data = NULL };

        build(_i, &b);
        ck_assert_uint_ge(b.used_bytes, least_bytes[_i]);
        for (size_t n = 0; n <= b.used_bytes; n++)
                ck_assert_msg(decode_cut(&b, _i, n, n) == (n >= least_bytes[_i] ? 0 : -EBADMSG),
                              "kind %d, %zu bytes", _i, n);
        for (size_t n = 0; n < b.used_bytes; n++)
                ck_assert_int_eq(decode_cut(&b, _i, n, b.used_bytes), -EBADMSG);
        ck_assert_int_eq(decode_cut(&b, _i, b.used_bytes, b.used_bytes - 8), -EBADMSG);
        ck_assert_int_eq(decode_cut(&b, _i, b.used_bytes, 0), -EBADMSG);
        byte_buffer_deinit(&b);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("sampler/perf_record");
        TCase *tc = tcase_create("decode");
        SRunner *runner;
        int n_failed;

        tcase_add_test(tc, test_sample);
        tcase_add_test(tc, test_sample_with_chain);
        tcase_add_loop_test(tc, test_chain_length, 0, 8);
        tcase_add_test(tc, test_mmap2_by_inode);
        tcase_add_test(tc, test_mmap2_by_build_id);
        tcase_add_test(tc, test_mmap2_of_data);
        tcase_add_test(tc, test_comm);
        tcase_add_test(tc, test_fork_and_exit);
        tcase_add_loop_test(tc, test_switch, 0, 3);
        tcase_add_test(tc, test_lost_throttled_unknown);
        tcase_add_loop_test(tc, test_cut_anywhere, 0, N_KINDS);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        n_failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
