/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/fake_program.h - a program that writes whatever a test wants into its rings, at whatever time
 *
 * Way of the data:  test -> [fake_program] in a fake_region -> zone_source
 *
 * Its clock counts nanoseconds, so that events happen exactly when the test says.
 */
#ifndef TESTS_UNIT_FAKE_PROGRAM_H
#define TESTS_UNIT_FAKE_PROGRAM_H

#include "tests/unit/fake_region.h"

#include <stddef.h>
#include <stdint.h>

struct fake_program {
        struct fake_region region;
        uint32_t strings_bytes;                   /* in use */
        uint32_t ticks_high[FAKE_REGION_N_SLOTS]; /* of the last TIME */
};

/* One event.  With `text`, its argument is the number of bytes of the payload: words and text. */
struct fake_event {
        uint64_t time_ns;
        enum client_abi_event kind;
        uint32_t argument;
        uint64_t words[5];
        uint32_t n_words;
        const void *text;
        size_t text_bytes;
};

/* A program that records since its start, as `hyprof record` would find it. */
void fake_program_start(struct fake_program *p, uint32_t pid);
void fake_program_end(struct fake_program *p);

/* A descriptor to be handed in. */
int fake_program_fd(const struct fake_program *p);

/* A new location, to be filled in further by the test if it wants to. */
uint32_t fake_program_name(struct fake_program *p, const char *name);

void fake_program_put(struct fake_program *p, uint32_t slot, const struct fake_event *event);

/* From here on the slot is that of a thread. */
void fake_program_thread(struct fake_program *p, uint32_t slot, uint64_t time_ns, uint32_t tid);
void fake_program_begin(struct fake_program *p, uint32_t slot, uint64_t time_ns, uint32_t location);
void fake_program_finish(struct fake_program *p, uint32_t slot, uint64_t time_ns);
void fake_program_enter(struct fake_program *p, uint32_t slot, uint64_t time_ns, uint32_t fiber,
                        uint64_t n_open);
void fake_program_leave(struct fake_program *p, uint32_t slot, uint64_t time_ns);

/* Puts a blob into its area and the prefix that announces it into the ring. */
void fake_program_blob(struct fake_program *p, uint32_t slot, uint64_t time_ns, const void *bytes,
                       size_t n_bytes);

/* A source text of 3,000 times @letter, in slot 0. */
void fake_program_attach_source(struct fake_program *p, uint64_t time_ns, char letter);

#endif /* TESTS_UNIT_FAKE_PROGRAM_H */
