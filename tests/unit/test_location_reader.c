/* SPDX-License-Identifier: MIT */
/* instrument/location_reader.c: whatever was read ahead, a location is what it was when an event named it */
#include "instrument/client_abi.h"
#include "instrument/client_region.h"
#include "instrument/location_reader.h"
#include "tests/unit/one_region.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static uint64_t string_at(uint64_t offset, uint64_t n)
{
        return offset | n << CLIENT_ABI_STRING_OFFSET_BITS;
}

/* A drain gives what an event says. */
static void drain_a_word(void)
{
        fake_region_slot(&p, 0)->head_bytes += 8;
        ck_assert_int_eq(client_region_drain(region, 0, SIZE_MAX, &bytes, NULL), 8);
}

START_TEST(test_locations)
{
        struct client_location l;

        one_region_begin();
        memcpy(p.base + h.strings_offset, "nameSfunctionFILEms", 19);
        *fake_region_location(&p, 1) = (struct client_abi_location){
                .name = string_at(0, 4),
                .function = string_at(5, 8),
                .file = string_at(13, 4),
                .line = 12,
                .color = 0xff123456,
                .ready = 1,
                .format = CLIENT_ABI_PLOT_WATTS,
                .unit = string_at(17, 2),
                .period = UINT64_C(0x3ff8000000000000),
                .flags = CLIENT_ABI_PLOT_FILL,
        };
        ck_assert_int_eq(client_region_location(region, 1, &l, NULL), -EBADMSG); /* not given out */
        p.header->n_locations = 5;
        ck_assert_int_eq(client_region_location(region, 1, &l, NULL), 0);
        ck_assert_uint_eq(l.name_bytes, 4);
        ck_assert_mem_eq(l.name, "name", 4);
        ck_assert_uint_eq(l.function_bytes, 8);
        ck_assert_mem_eq(l.function, "function", 8);
        ck_assert_uint_eq(l.file_bytes, 4);
        ck_assert_mem_eq(l.file, "FILE", 4);
        ck_assert_uint_eq(l.unit_bytes, 2);
        ck_assert_mem_eq(l.unit, "ms", 2);
        ck_assert_uint_eq(l.line, 12);
        ck_assert_uint_eq(l.color, 0x123456);
        ck_assert_uint_eq(l.format, CLIENT_ABI_PLOT_WATTS);
        ck_assert_uint_eq(l.flags, CLIENT_ABI_PLOT_FILL);
        ck_assert_uint_eq(l.period, UINT64_C(0x3ff8000000000000));

        ck_assert_int_eq(client_region_location(region, 0, &l, NULL), -EBADMSG);
        ck_assert_int_eq(client_region_location(region, 2, &l, NULL), -EBADMSG); /* not ready */
        *fake_region_location(&p, 2) = (struct client_abi_location){ .name = string_at(1, 3), .ready = 1 };
        ck_assert_int_eq(client_region_location(region, 2, &l, NULL), 0); /* now */
        ck_assert_uint_eq(l.name_bytes, 3);
        ck_assert_mem_eq(l.name, "ame", 3);
        ck_assert_uint_eq(l.unit_bytes, 0);
        *fake_region_location(&p, 3) = (struct client_abi_location){ .name = string_at(4096 - 4, 5),
                                                                     .ready = 1 };
        ck_assert_int_eq(client_region_location(region, 3, &l, NULL), -EBADMSG);
        *fake_region_location(&p, 4) = (struct client_abi_location){ .unit = UINT64_MAX, .ready = 1 };
        ck_assert_int_eq(client_region_location(region, 4, &l, NULL), -EBADMSG);
        *fake_region_location(&p, 5) = (struct client_abi_location){ .name = string_at(4096 - 5, 5),
                                                                     .ready = 1 };
        ck_assert_int_eq(client_region_location(region, 5, &l, NULL), 0);
        p.header->n_locations = UINT32_MAX;
        ck_assert_int_eq(client_region_location(region, FAKE_REGION_N_LOCATIONS + 1, &l, NULL), -EBADMSG);
}
END_TEST

/* Whatever was read before: what an event names is read as it was when the event was written. */
START_TEST(test_locations_are_not_older_than_events)
{
        struct client_location l;

        h.n_locations = FAKE_REGION_N_LOCATIONS;
        one_region_begin();
        for (uint32_t id = 1; id <= FAKE_REGION_N_LOCATIONS; id++)
                *fake_region_location(&p, id) = (struct client_abi_location){ .name = string_at(0, 4),
                                                                              .ready = 1 };
        memcpy(p.base + h.strings_offset, "name", 4);
        fake_region_location(&p, 8)->ready = 0;
        ck_assert_int_eq(client_region_location(region, 1, &l, NULL), 0);
        ck_assert_int_eq(client_region_location(region, 2, &l, NULL), 0);

        /* Without a drain: who heard of it in another way. */
        *fake_region_location(&p, 8) = (struct client_abi_location){ .name = string_at(100, 4), .ready = 1 };
        memcpy(p.base + h.strings_offset + 100, "late", 4);
        ck_assert_int_eq(client_region_location(region, 8, &l, NULL), 0);
        ck_assert_mem_eq(l.name, "late", 4);

        fake_region_location(&p, 7)->unit = string_at(4, 3);
        fake_region_location(&p, 7)->flags = CLIENT_ABI_PLOT_SET;
        memcpy(p.base + h.strings_offset + 4, "new", 3);
        drain_a_word();
        ck_assert_int_eq(client_region_location(region, 7, &l, NULL), 0);
        ck_assert_mem_eq(l.name, "name", 4);
        ck_assert_uint_eq(l.unit_bytes, 3);
        ck_assert_mem_eq(l.unit, "new", 3);
        ck_assert_uint_eq(l.flags, CLIENT_ABI_PLOT_SET);
}
END_TEST

#define MANY     5000
#define FILES_AT 60000

/* Strings one after the other, some at the end of what is read ahead, some longer than that. */
static uint64_t name_of_many(uint32_t i)
{
        if (i % 100 == 99)
                return string_at(70000 + i, LOCATION_READER_WINDOW_BYTES + i);
        if (i % LOCATION_READER_ENTRIES == 10)
                return string_at((i - 9) * 5 + LOCATION_READER_WINDOW_BYTES - 2, 5);
        return string_at(i * 5, 5);
}

/* Up and down, in large steps and small; entries of another size, strings far from each other. */
START_TEST(test_many_locations)
{
        static const uint32_t steps[] = { 1, MANY - 1, 7, 64, 65, 2501 };
        const size_t entry_bytes = sizeof(struct client_abi_location) + 8;
        uint8_t *strings;

        h.region_bytes = 16 * FAKE_REGION_ROOM;
        h.locations_offset = 4 * FAKE_REGION_ROOM;
        h.location_bytes = (uint32_t)entry_bytes;
        h.n_locations_max = MANY;
        h.n_locations = MANY;
        h.strings_offset = 10 * FAKE_REGION_ROOM;
        h.strings_bytes = 2 * FAKE_REGION_ROOM;
        one_region_begin();
        strings = p.base + h.strings_offset;
        for (uint32_t i = 0; i < h.strings_bytes; i++)
                strings[i] = (uint8_t)(i % 251 + 1);
        for (uint32_t i = 0; i < MANY; i++) {
                struct client_abi_location entry = { .line = i, .ready = 1 };

                entry.name = name_of_many(i);
                entry.file = string_at(FILES_AT + i % 100, 1);
                memcpy(p.base + h.locations_offset + i * entry_bytes, &entry, sizeof(entry));
        }
        for (size_t step = 0; step < sizeof(steps) / sizeof(steps[0]); step++) {
                for (uint32_t n = 0, i = 0; n < MANY; n++, i = (i + steps[step]) % MANY) {
                        uint64_t name = name_of_many(i);
                        struct client_location l;

                        ck_assert_int_eq(client_region_location(region, i + 1, &l, NULL), 0);
                        ck_assert_uint_eq(l.line, i);
                        ck_assert_uint_eq(l.file_bytes, 1);
                        ck_assert_mem_eq(l.file, strings + FILES_AT + i % 100, 1);
                        ck_assert_uint_eq(l.name_bytes, name >> CLIENT_ABI_STRING_OFFSET_BITS);
                        ck_assert_mem_eq(l.name, strings + (name & UINT32_MAX), l.name_bytes);
                }
        }
}
END_TEST

/* As many as an id can name; a table that takes more memory to walk through is refused. */
START_TEST(test_largest_table)
{
        struct client_abi_location entry = { .line = 99, .flags = CLIENT_ABI_PLOT_SET, .ready = 1 };
        struct client_location l;
        uint32_t id = CLIENT_ABI_ARG_MAX - 1000;

        h.region_bytes = UINT64_C(3) << 29;
        h.locations_offset = 4 * FAKE_REGION_ROOM;
        h.n_locations_max = CLIENT_ABI_ARG_MAX;
        h.n_locations = CLIENT_ABI_ARG_MAX;
        one_region_begin();
        memcpy(p.base + h.locations_offset + (CLIENT_ABI_ARG_MAX - 1) * sizeof(entry), &entry, sizeof(entry));
        ck_assert_int_eq(client_region_location(region, CLIENT_ABI_ARG_MAX, &l, NULL), 0);
        ck_assert_uint_eq(l.line, 99);
        ck_assert_int_eq(client_region_next_plot(region, &id, &l), 1);
        ck_assert_uint_eq(id, CLIENT_ABI_ARG_MAX);
        one_region_close();

        p.header->location_bytes = 72;
        ck_assert_int_eq(client_region_open(p.fd, &region, NULL), -EBADMSG);
}
END_TEST

START_TEST(test_plots)
{
        enum { N = 300 };
        struct client_location l;
        uint32_t id = 0;

        h.n_locations_max = N;
        h.region_bytes = 6 * FAKE_REGION_ROOM;
        h.strings_offset = 4 * FAKE_REGION_ROOM;
        h.n_locations = 250;
        one_region_begin();
        ck_assert_int_eq(client_region_next_plot(region, &id, &l), 0);
        for (uint32_t i = 1; i <= N; i++)
                *fake_region_location(&p, i) = (struct client_abi_location){ .line = i, .ready = 1 };
        memcpy(p.base + h.strings_offset, "bytes", 5);
        for (uint32_t i = 50; i <= N; i += 50) /* the last one was not given out */
                fake_region_location(&p, i)->flags = CLIENT_ABI_PLOT_SET | CLIENT_ABI_PLOT_STEP;
        fake_region_location(&p, 1)->flags = CLIENT_ABI_PLOT_STEP;
        fake_region_location(&p, 50)->unit = string_at(0, 5);
        fake_region_location(&p, 100)->ready = 0;
        fake_region_location(&p, 150)->name = UINT64_MAX;

        ck_assert_int_eq(client_region_next_plot(region, &id, &l), 1);
        ck_assert_uint_eq(id, 50);
        ck_assert_uint_eq(l.line, 50);
        ck_assert_uint_eq(l.unit_bytes, 5);
        ck_assert_mem_eq(l.unit, "bytes", 5);
        ck_assert_uint_eq(l.flags, CLIENT_ABI_PLOT_SET | CLIENT_ABI_PLOT_STEP);
        ck_assert_int_eq(client_region_next_plot(region, &id, &l), 1);
        ck_assert_uint_eq(id, 200);
        ck_assert_int_eq(client_region_next_plot(region, &id, &l), 1);
        ck_assert_uint_eq(id, 250);
        ck_assert_int_eq(client_region_next_plot(region, &id, &l), 0);
        ck_assert_uint_eq(id, 250);

        id = 0; /* from the beginning: what is true now */
        fake_region_location(&p, 2)->flags = CLIENT_ABI_PLOT_SET;
        ck_assert_int_eq(client_region_next_plot(region, &id, &l), 1);
        ck_assert_uint_eq(id, 2);
        id = 0;
        fake_region_location(&p, 1)->flags = CLIENT_ABI_PLOT_SET;
        ck_assert_int_eq(client_region_next_plot(region, &id, &l), 1);
        ck_assert_uint_eq(id, 1);
        id = UINT32_MAX;
        p.header->n_locations = UINT32_MAX;
        ck_assert_int_eq(client_region_next_plot(region, &id, &l), 0);
}
END_TEST

static void set_up(void)
{
        h = fake_region_header();
}

UNIT_TEST_PLAN(.setup = set_up, .teardown = one_region_end);
