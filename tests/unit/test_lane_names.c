/* SPDX-License-Identifier: MIT */
/* Lanes of devices are called as their rows of TRACKS say, with all that is above them; others by number */
#include "analyze/devices/lane_names.h"

#include "base/byte_buffer.h"
#include "format/trace_rows.h"
#include "format/trace_spec.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>
#include <string.h>

#define DEEP 40 /* tracks in each other */

static struct trace_builder builder;
static struct lane_names names;

static uint32_t track(uint32_t device, uint32_t parent, uint32_t number, const char *name)
{
        const struct trace_track row = { .device = device,
                                         .parent = parent,
                                         .number = number,
                                         .name = name ? trace_builder_string(&builder, name) : 0 };

        return trace_builder_row(&builder, TRACE_TABLE_TRACKS, &row);
}

static void set_up(void)
{
        struct trace_device device = { .process = 1 };
        char longest[LANE_NAMES_PART_MAX + 9];
        uint32_t core, parent = 0;

        trace_builder_init(&builder);
        (void)trace_builder_thread(&builder, 1, 1);
        device.name = trace_builder_string(&builder, "chip 0");
        (void)trace_builder_row(&builder, TRACE_TABLE_DEVICES, &device);
        device.name = 0;
        (void)trace_builder_row(&builder, TRACE_TABLE_DEVICES, &device);
        core = track(1, 0, 1000, "core 1,2");
        (void)track(1, core, 3, "BRISC");
        (void)track(1, core, 4, NULL);
        (void)track(1, 0, 3, "the second of that number");
        (void)track(2, 0, 3, "of another device");
        for (uint32_t i = 0; i < DEEP; i++)
                parent = track(2, parent, 100 + i, NULL);
        memset(longest, 'x', sizeof(longest));
        memcpy(longest + LANE_NAMES_PART_MAX - 1, "\xc3\xa9", 2);
        longest[sizeof(longest) - 1] = '\0';
        (void)track(2, 0, 50, longest);
        UNIT_TEST_SPOIL(names);
        ck_assert_int_eq(lane_names_init(&names, &builder.dictionary), 0);
}

static void tear_down(void)
{
        lane_names_deinit(&names);
        trace_builder_finish(&builder);
        trace_builder_deinit(&builder);
}

/* After the device come the parts of the path, one by one. */
static void check_parts(struct byte_buffer *b, uint32_t device, uint32_t lane, const char *path)
{
        size_t n = 0;

        byte_buffer_clear(b);
        while (lane_names_put_part(&names, b, device, lane, n + 1)) {
                byte_buffer_add(b, " / ", 3);
                n++;
        }
        ck_assert_uint_ge(n, 1);
        b->used_bytes -= 3;
        byte_buffer_add(b, "", 1);
        ck_assert_str_eq((const char *)b->data, path);
        byte_buffer_clear(b);
        ck_assert(lane_names_put_part(&names, b, device, lane, 0));
        byte_buffer_add(b, "", 1);
        ck_assert_str_eq((const char *)b->data, device == 1 ? "chip 0" : "device");
        byte_buffer_clear(b);
        ck_assert(!lane_names_put_part(&names, b, device, lane, n + 1));
}

START_TEST(test_names)
{
        static const struct {
                uint32_t device, lane, sublane;
                const char *own, *path, *whole;
        } table[] = {
                { 1, 3, 0, "BRISC", "core 1,2 / BRISC", "chip 0 / core 1,2 / BRISC" },
                { 1, 3, 1, "BRISC (2)", "core 1,2 / BRISC", "chip 0 / core 1,2 / BRISC (2)" },
                { 1, 4, 0, "lane 4", "core 1,2 / lane 4", "chip 0 / core 1,2 / lane 4" },
                { 1, 1000, 0, "core 1,2", "core 1,2", "chip 0 / core 1,2" },
                { 1, 5, 1, "lane 5 (2)", "lane 5", "chip 0 lane 5 (2)" },
                { 2, UINT32_MAX, 0, "lane 4294967295", "lane 4294967295", "device lane 4294967295" },
                { 2, 3, 0, "of another device", "of another device", "device / of another device" },
        };

        for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
                struct byte_buffer b = { .data = NULL };

                lane_names_put_own(&names, &b, table[i].device, table[i].lane, table[i].sublane);
                byte_buffer_add(&b, "", 1);
                ck_assert_str_eq((const char *)b.data, table[i].own);
                byte_buffer_clear(&b);
                lane_names_put_path(&names, &b, table[i].device, table[i].lane);
                byte_buffer_add(&b, "", 1);
                ck_assert_str_eq((const char *)b.data, table[i].path);
                byte_buffer_clear(&b);
                lane_names_put_whole(&names, &b, table[i].device, table[i].lane, table[i].sublane);
                byte_buffer_add(&b, "", 1);
                ck_assert_str_eq((const char *)b.data, table[i].whole);
                check_parts(&b, table[i].device, table[i].lane, table[i].path);
                byte_buffer_deinit(&b);
        }
        ck_assert_uint_eq(lane_names_track(&names, 1, 5), 0);
        ck_assert_uint_eq(lane_names_track(&names, 1, 3), 2);
}
END_TEST

/* A file may nest its lanes without end, and have names of any length. */
START_TEST(test_limits)
{
        struct byte_buffer b = { .data = NULL };
        size_t n_parts = 1;

        lane_names_put_path(&names, &b, 2, 100 + DEEP - 1);
        byte_buffer_add(&b, "", 1);
        for (const char *at = (const char *)b.data; (at = strstr(at, " / ")) != NULL; at++)
                n_parts++;
        ck_assert_uint_eq(n_parts, LANE_NAMES_DEPTH_MAX);
        ck_assert_ptr_nonnull(strstr((const char *)b.data, "lane 139"));
        byte_buffer_clear(&b);
        lane_names_put_own(&names, &b, 2, 50, 0);
        ck_assert_uint_eq(b.used_bytes, LANE_NAMES_PART_MAX - 1);
        byte_buffer_deinit(&b);
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
