/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/fake_machine.h - the folders in which a machine says what it can count, for
 * machines that are not here
 *
 * Way of the data:  [fake_machine] -> event_places -> event_pmu, tracepoint
 */
#ifndef TESTS_UNIT_FAKE_MACHINE_H
#define TESTS_UNIT_FAKE_MACHINE_H

#include "sampler/events/event_places.h"

#define FAKE_MACHINE_PATH_BYTES 256

enum fake_machine_kind {
        FAKE_MACHINE_BARE,   /* no PMU, no tracefs */
        FAKE_MACHINE_INTEL,  /* cpu, msr, uncore_imc_0, power; tracefs */
        FAKE_MACHINE_ARM,    /* armv8_pmuv3_0 */
        FAKE_MACHINE_HYBRID, /* cpu_core on 0-3, cpu_atom on 4-7,70 */
};

struct fake_machine {
        char root[FAKE_MACHINE_PATH_BYTES];
        char devices[FAKE_MACHINE_PATH_BYTES];
        char tracing[FAKE_MACHINE_PATH_BYTES];
        struct event_places places;
};

/* Under TMPDIR; without libpfm4. */
void fake_machine_make(struct fake_machine *machine, enum fake_machine_kind kind);
void fake_machine_remove(struct fake_machine *machine);

/* Puts a file below the root, with its folders. */
void fake_machine_put(const struct fake_machine *machine, const char *path, const char *text);

#endif /* TESTS_UNIT_FAKE_MACHINE_H */
