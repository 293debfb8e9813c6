/* SPDX-License-Identifier: MIT */
/* IREE's profiles with lines that are no rows, and spoiled in each byte: what is good in them is read. */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "import/iree/import_ireeprof.h"
#include "tests/unit/fake_import_rows.h"
#include "tests/unit/iree_profile.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DATA "tests/data/import/iree/"

static struct import_rows rows;
static struct error err;

static void setup(void)
{
        fake_import_rows_init(&rows);
        err = ERROR_NONE;
}

static void teardown(void)
{
        fake_import_rows_deinit(&rows);
}

UNIT_TEST_PLAN(.timeout_s = 240, .setup = setup, .teardown = teardown);

static int read_path(const char *path, struct import_rows *into)
{
        return iree_profile_read_path(path, into, &err);
}

static int read_bytes(const void *bytes, size_t n_bytes, struct import_rows *into)
{
        return iree_profile_read_bytes(bytes, n_bytes, into, &err);
}

/* ------------------------------------------------------------------ lines */

#define SCHEMA       "{\"schema_version\":15,\"record_type\":\"schema\",\"format\":\"ireeperf-jsonl\"}\n"
#define BEGIN        "{\"record_type\":\"session\",\"event\":\"begin\",\"session_id\":1}\n"
#define END          "{\"record_type\":\"session\",\"event\":\"end\",\"session_status_code\":0}\n"
#define FIELDS_FIRST "{\"workgroup_count\":[1, 2,3]," SPAN ",\"record_type\":\"dispatch_event\",\"a\":1}\n"
#define SPAN         "\"start_tick\":5,\"end_tick\":9"

static const struct {
        const char *rows;
        uint64_t n_spans, n_malformed, n_left_out;
} LINES[] = {
        { "{\"record_type\":\"dispatch_event\"," SPAN "}\n", 1, 0, 0 },
        { "{" SPAN ",\"record_type\":\"dispatch_event\"}\n", 1, 0, 0 },
        { FIELDS_FIRST FIELDS_FIRST, 2, 0, 0 },
        { "{\"record_type\":\"dispatch_event\",\"queue_ordinal\":1x," SPAN ",\"later\":1}\n", 0, 1, 0 },
        { "{\"record_type\":\"dispatch_event\"," SPAN ",\"queue_ordinal\":null}\r\n\n", 1, 0, 0 },
        { "{\"record_type\":\"dispatch_event\"," SPAN ",\"queue_ordinal\":\"1\"}\n", 0, 1, 0 },
        { "{\"record_type\":\"dispatch_event\"," SPAN ",\"submission_id\":1.5}\n", 0, 1, 0 },
        { "{\"record_type\":\"dispatch_event\"," SPAN ",\"submission_id\":99999999999999999999}\n", 0, 1, 0 },
        { "{\"record_type\":\"dispatch_event\"," SPAN ",\"workgroup_count\":[1,2]}\n", 0, 1, 0 },
        { "{\"record_type\":\"dispatch_event\"," SPAN ",\"later\":{\"a\":[1,{}]}}\n", 1, 0, 0 },
        { "{\"record_type\":\"dispatch_event\"," SPAN "\n", 0, 1, 0 },
        { "{\"record_type\":\"quantum_event\"}\n", 0, 0, 1 },
        { "{\"record_type\":5}\nnull\n[]\n{}\n\x01\n", 0, 5, 0 },
        { "{\"record_type\":\"dispatch_event\"," SPAN "}{}\n", 0, 1, 0 },
        { "{\"record_type\":\"counter_sample\",\"flags\":4," SPAN ",\"values\":[1,\"x\"]}\n", 0, 1, 0 },
        { "{\"record_type\":\"device_metric_sample\",\"host_time_begin_ns\":1,\"host_time_end_ns\":2,\"values\":[5]}\n",
          0, 0, 0 },
        { "{\"record_type\":\"queue_event\",\"host_time_ns\":-1,\"ready_host_time_ns\":0}\n", 0, 1, 0 },
        { "{\"record_type\":\"executable_function\",\"executable_id\":1,\"name\":5}\n", 0, 1, 0 },
        { "{\"record_type\":\"executable_function\",\"executable_id\":1,\"name\":null}\n", 0, 0, 0 },
        { "{\"record_type\":\"queue_event\",\"host_time_ns\":-9223372036854775809,\"ready_host_time_ns\":0}\n",
          0, 1, 0 },
        { "{\"record_type\":\"session\",\"session_id\":1,\"session_status_code\":0,\"event\":\"begin\"}\n", 0,
          0, 0 },
        { "", 0, 0, 0 },
};

START_LOOP_TEST(test_a_bad_line_is_counted_and_the_next_one_read, 0, sizeof(LINES) / sizeof(LINES[0]))
{
        static const char *const after = "{\"record_type\":\"queue_device_event\"," SPAN "}\n";
        struct byte_buffer text = { .data = NULL };

        byte_buffer_add_format(&text, "%s%s%s%s%s", SCHEMA, BEGIN, LINES[_i].rows, after, END);
        ck_assert_int_eq(read_bytes(text.data, text.used_bytes, &rows), 0);
        ck_assert_uint_eq(rows.n_spans, LINES[_i].n_spans + 1);
        ck_assert_uint_eq(rows.n_malformed, LINES[_i].n_malformed);
        ck_assert_uint_eq(rows.n_left_out, LINES[_i].n_left_out);
        if (rows.n_malformed)
                ck_assert_uint_eq(rows.first_malformed_at, 3);
        ck_assert(!rows.is_cut);
        byte_buffer_deinit(&text);
}
END_TEST

static const struct {
        const char *head;
        size_t n_bytes;
        bool is_ours;
} HEADS[] = {
        { "IRPF\1\0\6\0", 8, true },
        { SCHEMA, sizeof(SCHEMA) - 1, true },
        { "{\"format\":\"ireeperf-jsonl\",\"record_type\":\"schema\"}", 50, true },
        { "{\"record_type\":\"schema\",\"format\":\"other\"}", 42, false },
        { "{\"record_type\":\"session\",\"format\":\"ireeperf-jsonl\"}", 51, false },
        { "IRP", 3, false },
        { "IRPX", 4, false },
        { "", 0, false },
        { "[{\"ph\":\"X\"}]", 12, false },
        { "{\"record_type\":\"schema\"", 23, false },
};

START_LOOP_TEST(test_heads_that_are_recognised, 0, sizeof(HEADS) / sizeof(HEADS[0]))
{
        struct text_view head = { HEADS[_i].head, HEADS[_i].n_bytes };

        ck_assert(import_ireeprof_recognise(head) == HEADS[_i].is_ours);
}
END_TEST

/* ------------------------------------------------------------------ hostile files */

/* Reads; whatever comes of it has words, and the fake looks at each row. */
static int read_spoiled(const uint8_t *bytes, size_t n_bytes)
{
        struct import_rows spoiled;
        int r;

        err = ERROR_NONE;
        fake_import_rows_init(&spoiled);
        r = read_bytes(bytes, n_bytes, &spoiled);
        ck_assert(r == 0 || r == -EINVAL || err.text[0] != '\0');
        fake_import_rows_deinit(&spoiled);
        return r;
}

static const char *const SPOILED[] = { DATA "one_of_each_record.ireeprof", DATA "one_of_each_record.jsonl" };

START_LOOP_TEST(test_any_byte_may_be_wrong, 0, 2)
{
        static const uint8_t masks[] = { 0x01, 0x80, 0xff };
        struct byte_buffer file = iree_profile_load(SPOILED[_i]);

        for (size_t at = 0; at < file.used_bytes; at++)
                for (size_t i = 0; i < sizeof(masks); i++) {
                        file.data[at] ^= masks[i];
                        (void)read_spoiled(file.data, file.used_bytes);
                        file.data[at] ^= masks[i];
                }
        ck_assert_int_eq(read_spoiled(file.data, file.used_bytes), 0);
        byte_buffer_deinit(&file);
}
END_TEST

START_LOOP_TEST(test_a_file_may_end_anywhere, 0, 2)
{
        struct byte_buffer file = iree_profile_load(SPOILED[_i]);

        for (size_t n = 0; n < file.used_bytes; n++)
                (void)read_spoiled(file.data, n);
        byte_buffer_deinit(&file);
}
END_TEST

/* Each four bytes of the binary form as a length or count of 2^32 - 1, and each eight as 2^64 - 1. */
START_TEST(test_lengths_and_counts_may_be_huge)
{
        struct byte_buffer file = iree_profile_load(SPOILED[0]);
        uint8_t before[8];

        for (size_t at = 0; at + 8 <= file.used_bytes; at++)
                for (size_t n = 4; n <= 8; n += 4) {
                        memcpy(before, file.data + at, n);
                        memset(file.data + at, 0xff, n);
                        (void)read_spoiled(file.data, file.used_bytes);
                        memcpy(file.data + at, before, n);
                }
        byte_buffer_deinit(&file);
}
END_TEST

/* A row that says to be longer than what is left of its chunk spoils that chunk, and not the next one. */
START_TEST(test_a_row_does_not_reach_beyond_its_chunk)
{
        static const struct iree_profile_dispatch dispatch = { .begin = 10, .end = 20 };
        struct iree_profile p;
        size_t end;

        iree_profile_begin(&p);
        iree_profile_dispatch(&p, 0, 0, &dispatch);
        end = p.bytes.used_bytes;
        iree_profile_dispatch(&p, 0, 1, &dispatch);
        iree_profile_end(&p, 0);
        p.bytes.data[end - 88] = 89; /* of 88 */
        ck_assert_int_eq(read_bytes(p.bytes.data, p.bytes.used_bytes, &rows), 0);
        ck_assert_uint_eq(rows.n_malformed, 1);
        ck_assert_uint_eq(rows.first_malformed_at, end - 88);
        ck_assert_uint_eq(rows.n_spans, 1);
        ck_assert(!rows.is_cut);
        iree_profile_deinit(&p);
}
END_TEST

/* Places in the header of a record, and of the file. */
enum { N_BYTES = 0, PAYLOAD_BYTES = 8, OWN_BYTES = 56, CONTENT_BYTES = 60, FLAGS = 80, OWN = 104 };
enum { FILE_OWN_BYTES = 8, FILE_OWN = 24 };
#define FUNCTION_BYTES  64 /* of its row, before the name */
#define DISPATCH_BYTES  88
#define NAMES_BYTES_MAX 65536
#define ROW_BYTES_MAX   (16 << 20)

static const struct iree_profile_dispatch DISPATCH = { .begin = 10, .end = 20 };

static void add_to(struct iree_profile *p, size_t at, size_t n_bytes, uint64_t value)
{
        uint64_t sum = value;

        for (size_t i = 0; i < n_bytes; i++)
                sum += (uint64_t)p->bytes.data[at + i] << (8 * i);
        for (size_t i = 0; i < n_bytes; i++)
                p->bytes.data[at + i] = (uint8_t)(sum >> (8 * i));
}

/* A dispatch; returns where the header of its record begins. */
static size_t begin_with_dispatch(struct iree_profile *p)
{
        size_t at;

        iree_profile_begin(p);
        at = p->bytes.used_bytes;
        iree_profile_dispatch(p, 0, 0, &DISPATCH);
        return at;
}

/* Numbers are added to a field and to the length of the record, so that one check alone finds it wrong. */
static const struct {
        size_t at, n_bytes;
        uint64_t value, to_length;
} HEADERS[] = {
        { OWN_BYTES, 4, UINT32_MAX, UINT64_MAX }, /* 103 */
        { OWN_BYTES, 4, NAMES_BYTES_MAX + 1 - OWN, NAMES_BYTES_MAX + 1 - OWN },
        { CONTENT_BYTES, 4, NAMES_BYTES_MAX, NAMES_BYTES_MAX },
        { N_BYTES, 8, 1, 0 },
        { N_BYTES, 8, UINT64_MAX, 0 },
        { PAYLOAD_BYTES, 8, UINT64_MAX - 88, UINT64_MAX - 88 }, /* the sum is more than 64 bits have */
};

START_LOOP_TEST(test_a_header_that_contradicts_itself, 0, sizeof(HEADERS) / sizeof(HEADERS[0]))
{
        struct iree_profile p;
        size_t at = begin_with_dispatch(&p);

        iree_profile_dispatch(&p, 0, 0, &DISPATCH);
        iree_profile_end(&p, 0);
        add_to(&p, at + HEADERS[_i].at, HEADERS[_i].n_bytes, HEADERS[_i].value);
        add_to(&p, at + N_BYTES, 8, HEADERS[_i].to_length);
        ck_assert_int_eq(read_bytes(p.bytes.data, p.bytes.used_bytes, &rows), 0);
        ck_assert_uint_eq(rows.n_malformed, 1);
        ck_assert_uint_eq(rows.first_malformed_at, at);
        ck_assert_uint_eq(rows.n_spans, 0);
        ck_assert(rows.is_cut);
        iree_profile_deinit(&p);
}
END_TEST

/* Headers of a newer IREE may be longer, and have flags that are not known. */
START_LOOP_TEST(test_a_header_may_be_longer, 0, 2)
{
        struct byte_buffer file = { .data = NULL };
        struct iree_profile p;
        size_t at = begin_with_dispatch(&p), until = _i == 0 ? at + OWN : FILE_OWN;

        iree_profile_end(&p, 0);
        add_to(&p, at + FLAGS, 8, 2);
        add_to(&p, _i == 0 ? at + OWN_BYTES : FILE_OWN_BYTES, 4, 4);
        if (_i == 0)
                add_to(&p, at + N_BYTES, 8, 4);
        byte_buffer_add(&file, p.bytes.data, until);
        byte_buffer_add(&file, "more", 4);
        byte_buffer_add(&file, p.bytes.data + until, p.bytes.used_bytes - until);
        ck_assert_int_eq(read_bytes(file.data, file.used_bytes, &rows), 0);
        ck_assert_uint_eq(rows.n_spans, 1);
        ck_assert_uint_eq(rows.n_malformed + rows.n_left_out, 0);
        ck_assert(!rows.is_cut);
        byte_buffer_deinit(&file);
        iree_profile_deinit(&p);
}
END_TEST

/* The length of the header, and that of the file. */
static const struct {
        uint64_t header_bytes, file_bytes;
} FILES[] = { { FILE_OWN - 1, 0 }, { NAMES_BYTES_MAX + 1, 0 }, { FILE_OWN, FILE_OWN - 1 } };

START_LOOP_TEST(test_a_bad_header_of_the_file_is_refused, 0, sizeof(FILES) / sizeof(FILES[0]))
{
        struct iree_profile p;

        (void)begin_with_dispatch(&p);
        iree_profile_end(&p, 0);
        add_to(&p, FILE_OWN_BYTES, 4, FILES[_i].header_bytes - FILE_OWN);
        iree_profile_set_length(&p, FILES[_i].file_bytes);
        ck_assert_int_eq(read_bytes(p.bytes.data, p.bytes.used_bytes, &rows), -EBADMSG);
        ck_assert_ptr_nonnull(strstr(err.text, "bad header"));
        iree_profile_deinit(&p);
}
END_TEST

/* A row with less than its fields need, or more than is kept, spoils its chunk: a good one follows it. */
START_LOOP_TEST(test_the_length_of_a_row_has_limits, 0, 4)
{
        static const uint32_t lengths[] = { 84, 87, ROW_BYTES_MAX, ROW_BYTES_MAX + 1 };
        uint8_t *row = calloc(1, ROW_BYTES_MAX + 1 + DISPATCH_BYTES);
        bool is_good = lengths[_i] == ROW_BYTES_MAX;
        struct iree_profile p;

        ck_assert_ptr_nonnull(row);
        for (size_t i = 0; i < 4; i++)
                row[i] = (uint8_t)(lengths[_i] >> (8 * i));
        row[72] = 10; /* the ticks of its begin and end */
        row[80] = 20;
        memcpy(row + lengths[_i], row, DISPATCH_BYTES);
        row[lengths[_i]] = DISPATCH_BYTES;
        memset(row + lengths[_i] + 1, 0, 3);
        iree_profile_begin(&p);
        iree_profile_record(&p, 2, "dispatch-events", row, lengths[_i] + DISPATCH_BYTES);
        iree_profile_end(&p, 0);
        ck_assert_int_eq(read_bytes(p.bytes.data, p.bytes.used_bytes, &rows), 0);
        ck_assert_uint_eq(rows.n_malformed, is_good ? 0 : 1);
        ck_assert_uint_eq(rows.n_spans, is_good ? 2 : 0);
        ck_assert(!rows.is_cut);
        iree_profile_deinit(&p);
        free(row);
}
END_TEST

START_TEST(test_a_name_does_not_reach_beyond_its_row)
{
        struct iree_profile p;
        size_t end;

        iree_profile_begin(&p);
        iree_profile_function(&p, 1, 0, "name", 4);
        end = p.bytes.used_bytes;
        iree_profile_dispatch(&p, 0, 0, &DISPATCH);
        iree_profile_end(&p, 0);
        ck_assert_uint_eq(p.bytes.data[end - 4 - FUNCTION_BYTES + 44], 4);
        p.bytes.data[end - 4 - FUNCTION_BYTES + 44] = 5;
        ck_assert_int_eq(read_bytes(p.bytes.data, p.bytes.used_bytes, &rows), 0);
        ck_assert_uint_eq(rows.n_malformed, 1);
        ck_assert_uint_eq(rows.n_spans, 1);
        iree_profile_deinit(&p);
}
END_TEST

START_TEST(test_a_record_does_not_reach_beyond_the_file)
{
        static const struct iree_profile_dispatch dispatch = { .begin = 10, .end = 20 };
        struct iree_profile p;

        iree_profile_begin(&p);
        iree_profile_dispatch(&p, 0, 0, &dispatch);
        iree_profile_dispatch(&p, 0, 0, &dispatch);
        iree_profile_set_length(&p, p.bytes.used_bytes - 1);
        ck_assert_int_eq(read_bytes(p.bytes.data, p.bytes.used_bytes, &rows), 0);
        ck_assert_uint_eq(rows.n_spans, 1);
        ck_assert_uint_eq(rows.n_malformed, 1);
        ck_assert(rows.is_cut);
        iree_profile_deinit(&p);
}
END_TEST

START_LOOP_TEST(test_packing_may_be_cut_off, 0, 2)
{
        static const char *const paths[] = { DATA "gpu.ireeprof.zst", DATA "gpu.jsonl.zst" };
        struct byte_buffer file = iree_profile_load(paths[_i]);

        ck_assert_int_eq(read_bytes(file.data, file.used_bytes - 10, &rows), 0);
        ck_assert(rows.is_cut);
        byte_buffer_deinit(&file);
}
END_TEST

/* A disk that is full ends the import, wherever that happens, with the words of import_rows. */
START_LOOP_TEST(test_a_failure_of_the_rows_ends_the_import, 0, 2)
{
        int n_calls = 1;

        for (int r = -ENOSPC; r != 0; n_calls++) {
                struct import_rows failing;

                fake_import_rows_init(&failing);
                failing.fails_after = n_calls;
                err = ERROR_NONE;
                r = read_path(SPOILED[_i], &failing);
                if (r != 0) {
                        ck_assert_int_eq(r, -ENOSPC);
                        ck_assert_str_eq(err.text, "no space left on device");
                }
                fake_import_rows_deinit(&failing);
        }
        ck_assert_int_gt(n_calls, 30);
}
END_TEST

START_TEST(test_a_newer_container_is_refused)
{
        struct iree_profile p;

        iree_profile_begin(&p);
        p.bytes.data[4] = 2;
        ck_assert_int_eq(read_bytes(p.bytes.data, p.bytes.used_bytes, &rows), -ENOTSUP);
        ck_assert_ptr_nonnull(strstr(err.text, "version 2.6"));
        iree_profile_deinit(&p);
}
END_TEST
