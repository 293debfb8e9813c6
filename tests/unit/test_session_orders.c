/* SPDX-License-Identifier: MIT */
/*
 * instrument/client_region.c, instrument/client/client.c, pause_events.c: in whatever order a program pauses,
 * resumes and gives up while a recorder begins, pauses and ends, the control word says in the end what both
 * want
 */
#include "tests/unit/weak_memory.h"

#include "instrument/client/client.h"
#include "instrument/client/include/hyprof/hyprof.h"
#include "instrument/client/thread_ring.h"
#include "instrument/client/ticks.h"
#include "instrument/client_region.h"
#include "instrument/location_reader.h"
#include "tests/unit/unit_test.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/io.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Each run has its own time: a recorder that has not come so far is late. */
static uint64_t late_ns(void)
{
        return UINT64_MAX;
}

#include "tests/unit/weak_builtins.h"

#define ticks_kernel_ns                                late_ns
#define hyprof_emit_message(text, n, severity, rgb, s) ((void)(text))
/* NOLINTBEGIN(bugprone-suspicious-include): the sources themselves, with other builtins */
#include "instrument/client/client.c"
#define announce announce_pause
#include "instrument/client/pause_events.c"
#include "instrument/client_region.c"
/* NOLINTEND(bugprone-suspicious-include) */

#define WANTED  CLIENT_ABI_FAMILIES
#define SESSION UINT32_C(7)

static struct client_abi_header *const header = (void *)hyprof_control;
static struct client_region region;
static struct slot_state slot;
static struct {
        uint32_t word, paused, recorder;
} at_first;

static void begin(void)
{
        memset(header, 0, sizeof(*header));
        header->control_word = at_first.word;
        header->wanted_word = at_first.recorder ? at_first.word : 0;
        header->paused = at_first.paused;
        header->recorder_pid = at_first.recorder;
        word_before_pause = at_first.word;
        client_self.region.header = header;
        client_self.phase = CLIENT_BEGUN;
        client_self.claim_ns = 0;
        region = (struct client_region){ .header = { .abi_minor = CLIENT_ABI_MINOR, .n_slots = 1 },
                                         .map = (void *)header,
                                         .slots = &slot,
                                         .families = WANTED,
                                         .is_enabled = at_first.recorder != 0 };
        if (at_first.paused)
                header->control_word = paused_word(at_first.word);
}

static void enable(void)
{
        if (client_region_enable(&region, WANTED, NULL) < 0)
                weak_fail("busy");
}

static void disable(void)
{
        client_region_disable(&region);
}

static void pause_recorder(void)
{
        client_region_pause(&region, true);
        client_region_pause(&region, false);
}

static void pause_and_resume(void)
{
        hyprof_emit_pause();
        hyprof_emit_resume();
}

static void give_up(void)
{
        client_give_up(at_first.word);
}

static const char *wants_all(void)
{
        return (header->control_word & CLIENT_ABI_FAMILIES) == WANTED
                       ? NULL
                       : "events that are wanted are not recorded";
}

static const char *wants_nothing(void)
{
        return (header->control_word & CLIENT_ABI_FAMILIES) == 0 ? NULL
                                                                 : "events are recorded without a recorder";
}

static const char *is_paused(void)
{
        return (header->control_word & CLIENT_ABI_FAMILIES) == CLIENT_ABI_FAMILY_ALWAYS
                       ? NULL
                       : "a pause is not kept";
}

static const struct case_of_two {
        const char *name;
        uint32_t word, paused, recorder; /* a recorder that runs has the PID of this process */
        void (*threads[2])(void);
        const char *(*end)(void);
} cases[] = {
        { "a pause while a recorder begins", 0, 0, 0, { hyprof_emit_pause, enable }, is_paused },
        { "a pause that ends while a recorder begins", 0, 1, 0, { hyprof_emit_resume, enable }, wants_all },
        { "a pause and its end while a recorder begins", 0, 0, 0, { pause_and_resume, enable }, wants_all },
        { "a pause while the recorder pauses",
          SESSION << 16 | WANTED,
          0,
          1,
          { hyprof_emit_pause, pause_recorder },
          is_paused },
        { "its end while the recorder pauses",
          SESSION << 16 | WANTED,
          1,
          1,
          { hyprof_emit_resume, pause_recorder },
          wants_all },
        { "its end while the recorder ends",
          SESSION << 16 | WANTED,
          1,
          1,
          { hyprof_emit_resume, disable },
          wants_nothing },
        { "giving up while a recorder comes", SESSION << 16 | WANTED, 0, 0, { give_up, enable }, wants_all },
};

#define N_CASES ((int)(sizeof(cases) / sizeof(cases[0])))

static struct weak_result check(const struct case_of_two *c, const struct weak_place *weakened)
{
        struct weak_check check = { .begin = begin,
                                    .threads = { c->threads[0], c->threads[1] },
                                    .end = c->end,
                                    .base = header,
                                    .n_bytes = sizeof(*header),
                                    .n_switches = 4,
                                    .n_old = 2 };

        at_first.word = c->word;
        at_first.paused = c->paused;
        at_first.recorder = c->recorder ? (uint32_t)getpid() : 0;
        return weak_memory_check(&check, weakened);
}

START_LOOP_TEST_IF(WEAK_MEMORY_RUNS, both_get_what_they_want, 0, N_CASES)
{
        struct weak_result r = check(&cases[_i], NULL);

        printf("# %s: %llu runs\n", cases[_i].name, (unsigned long long)r.n_runs);
        ck_assert_msg(!r.wrong, "%s: %s", cases[_i].name, r.wrong);
        ck_assert_uint_ge(r.n_runs, 10);
}
END_TEST

/* How many orders of a function some case needs, each weakened to relaxed by itself. */
static const struct {
        const char *function;
        unsigned n_needed;
} needed[] = {
        { "hyprof_emit_pause", 1 },
        { "hyprof_emit_resume", 2 },
        { "client_give_up", 1 },
        { "put_word", 2 },
};

static bool is_needed(const struct weak_place *p)
{
        for (int i = 0; i < N_CASES; i++)
                if (check(&cases[i], p).wrong)
                        return true;
        return false;
}

static unsigned count_needed(const char *function)
{
        struct weak_place seen_places[WEAK_PLACES_MAX];
        unsigned n_seen = 0, n_needed = 0;

        for (int i = 0; i < N_CASES; i++) {
                struct weak_result r = check(&cases[i], NULL);

                for (size_t n = 0; n < r.n_places; n++) {
                        unsigned before = 0;

                        if (strcmp(r.places[n].function, function) != 0)
                                continue;
                        while (before < n_seen && seen_places[before].line != r.places[n].line)
                                before++;
                        if (before < n_seen)
                                continue;
                        seen_places[n_seen++] = r.places[n];
                        n_needed += is_needed(&r.places[n]);
                }
        }
        return n_needed;
}

START_LOOP_TEST_IF(WEAK_MEMORY_RUNS, weaker_orders_are_noticed, 0, (int)(sizeof(needed) / sizeof(needed[0])))
{
        ck_assert_uint_eq(count_needed(needed[_i].function), needed[_i].n_needed);
}
END_TEST
