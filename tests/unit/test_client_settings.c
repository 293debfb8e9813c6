/* SPDX-License-Identifier: MIT */
/* instrument/client/client_settings.c: what is understood is what the header says, and nonsense is 0 */
#include "instrument/client/client_settings.h"

#include "instrument/client/region_memory.h"
#include "instrument/client_abi.h"

#include <check.h>
#include <stdlib.h>

#define ALWAYS CLIENT_ABI_FAMILY_ALWAYS

static const struct {
        const char *text;
        uint32_t families;
} families[] = {
        { NULL, 0 },
        { "", 0 },
        { "0", 0 },
        { "no", 0 },
        { "zone", 0 },
        { "zoness", 0 },
        { "256", 0 },
        { "-1", 0 },
        { "99999999999999999999999", 0 },
        { "zones", CLIENT_ABI_FAMILY_ZONES | ALWAYS },
        { "1", CLIENT_ABI_FAMILY_ZONES | ALWAYS },
        { "all", CLIENT_ABI_FAMILIES },
        { "255", CLIENT_ABI_FAMILIES },
        { "zones,plots", CLIENT_ABI_FAMILY_ZONES | CLIENT_ABI_FAMILY_PLOTS | ALWAYS },
        { ",frames,,unheard-of,messages,", CLIENT_ABI_FAMILY_FRAMES | CLIENT_ABI_FAMILY_MESSAGES | ALWAYS },
        { "memory,locks,devices",
          CLIENT_ABI_FAMILY_MEMORY | CLIENT_ABI_FAMILY_LOCKS | CLIENT_ABI_FAMILY_DEVICES | ALWAYS },
};
#define N_FAMILIES ((int)(sizeof(families) / sizeof(families[0])))

START_TEST(test_families)
{
        ck_assert_uint_eq(client_settings_parse_families(families[_i].text), families[_i].families);
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

START_TEST(test_rings)
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
        ck_assert_uint_eq(s.families, 0);
        ck_assert(!s.wait_when_full);
        ck_assert_int_eq(setenv("HYPROF_RING", "8192", 1), 0);
        ck_assert_int_eq(setenv("HYPROF_FULL", "wait", 1), 0);
        ck_assert_int_eq(setenv("HYPROF_RECORD", "plots", 1), 0);
        s = client_settings_read();
        ck_assert_uint_eq(s.ring_bytes, 8192);
        ck_assert_uint_eq(s.families, CLIENT_ABI_FAMILY_PLOTS | ALWAYS);
        ck_assert(s.wait_when_full);
        ck_assert_int_eq(setenv("HYPROF_FULL", "drop", 1), 0);
        ck_assert(!client_settings_read().wait_when_full);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("instrument/client/client_settings");
        TCase *tc = tcase_create("settings");
        SRunner *runner;
        int n_failed;

        tcase_add_loop_test(tc, test_families, 0, N_FAMILIES);
        tcase_add_loop_test(tc, test_rings, 0, N_RINGS);
        tcase_add_test(tc, test_environment);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        n_failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
