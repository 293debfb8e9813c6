/* SPDX-License-Identifier: MIT */
/* instrument/client/client_settings.c: what is understood is what the header says, and nonsense is 0 */
#include "instrument/client/client.h"

#include "instrument/client/region_memory.h"
#include "instrument/client_abi.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>

#define ALWAYS CLIENT_ABI_FAMILY_ALWAYS
#define ZONES  CLIENT_ABI_FAMILY_ZONES
#define MEMORY CLIENT_ABI_FAMILY_MEMORY

static const struct {
        const char *text;
        uint32_t wanted;
} wanted[] = {
        { NULL, 0 },
        { "", 0 },
        { "0", 0 },
        { "no", 0 },
        { "zone", 0 },
        { "zoness", 0 },
        { "256", 0 }, /* callstacks of nothing */
        { "65536", 0 },
        { "=callstacks", 0 },
        { "zones=", 0 },
        { "zones=callstack", 0 },
        { "unheard-of=callstacks", 0 },
        { "-1", 0 },
        { "99999999999999999999999", 0 },
        { "zones", CLIENT_ABI_FAMILY_ZONES | ALWAYS },
        { "1", CLIENT_ABI_FAMILY_ZONES | ALWAYS },
        { "all", CLIENT_ABI_FAMILIES },
        { "255", CLIENT_ABI_FAMILIES },
        { "zones,plots", CLIENT_ABI_FAMILY_ZONES | CLIENT_ABI_FAMILY_PLOTS | ALWAYS },
        { ",frames,,unheard-of,messages,", CLIENT_ABI_FAMILY_FRAMES | CLIENT_ABI_FAMILY_MESSAGES | ALWAYS },
        { "zones=callstacks", ZONES | ZONES << CLIENT_ABI_CALLSTACK_SHIFT | ALWAYS },
        { "zones,memory=callstacks", ZONES | MEMORY | MEMORY << CLIENT_ABI_CALLSTACK_SHIFT | ALWAYS },
        { "all=callstacks", CLIENT_ABI_FAMILIES | CLIENT_ABI_CALLSTACKS },
        { "all,memory=callstacks", CLIENT_ABI_FAMILIES | MEMORY << CLIENT_ABI_CALLSTACK_SHIFT },
        { "4113", ZONES | MEMORY | MEMORY << CLIENT_ABI_CALLSTACK_SHIFT | ALWAYS },
        { "65535", CLIENT_ABI_FAMILIES | CLIENT_ABI_CALLSTACKS },
        { "memory,locks,devices",
          CLIENT_ABI_FAMILY_MEMORY | CLIENT_ABI_FAMILY_LOCKS | CLIENT_ABI_FAMILY_DEVICES | ALWAYS },
};
#define N_WANTED ((int)(sizeof(wanted) / sizeof(wanted[0])))

START_LOOP_TEST(test_wanted, 0, N_WANTED)
{
        ck_assert_uint_eq(client_settings_parse_wanted(wanted[_i].text), wanted[_i].wanted);
}
END_TEST

static const struct {
        const char *text;
        uint64_t bytes;
} rings[] = {
        { NULL, 0 },
        { "", 0 },
        { "4095", 0 },
        { "4096", 4096 },
        { "4097", 0 },
        { "6144", 0 },
        { "2048", 0 },
        { "1M", 0 },
        { " 4096", 0 },
        { "1048576", 1048576 },
        { "268435456", 268435456 },
        { "536870912", 0 },
        { "18446744073709555712", 0 },
};
#define N_RINGS ((int)(sizeof(rings) / sizeof(rings[0])))

START_LOOP_TEST(test_rings, 0, N_RINGS)
{
        ck_assert_uint_eq(client_settings_parse_ring_bytes(rings[_i].text), rings[_i].bytes);
}
END_TEST

START_TEST(test_environment)
{
        struct client_settings s;

        ck_assert_int_eq(unsetenv("HYPROF_RING") | unsetenv("HYPROF_FULL") | unsetenv("HYPROF_RECORD"), 0);
        s = client_settings_read();
        ck_assert_uint_eq(s.ring_bytes, REGION_MEMORY_RING_BYTES);
        ck_assert_uint_eq(s.wanted, 0);
        ck_assert(!s.wait_when_full);
        ck_assert_int_eq(setenv("HYPROF_RING", "8192", 1), 0);
        ck_assert_int_eq(setenv("HYPROF_FULL", "wait", 1), 0);
        ck_assert_int_eq(setenv("HYPROF_RECORD", "plots", 1), 0);
        s = client_settings_read();
        ck_assert_uint_eq(s.ring_bytes, 8192);
        ck_assert_uint_eq(s.wanted, CLIENT_ABI_FAMILY_PLOTS | ALWAYS);
        ck_assert(s.wait_when_full);
        ck_assert_int_eq(setenv("HYPROF_FULL", "drop", 1), 0);
        ck_assert(!client_settings_read().wait_when_full);
}
END_TEST
