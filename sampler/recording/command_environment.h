/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/command_environment.h - what the recorded command's clients are told
 *
 * Way of the data:  recorder_options -> [command_environment] -> command -> instrument/client
 * Specification:    docs/understand/client-abi.md, "Recording from the first instruction"
 */
#ifndef SAMPLER_RECORDING_COMMAND_ENVIRONMENT_H
#define SAMPLER_RECORDING_COMMAND_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

struct command_environment {
        const char *pairs[9]; /* NULL-terminated pairs of a name and its value, most of them below */
        size_t n;
        char families[16], ring_bytes[24], spare_bytes[24];
};

/* The room in the rings and beyond; @wanted_bytes as in spare_memory.h. */
void command_environment_add_rings(struct command_environment *e, uint64_t wanted_bytes);

/* Record from the first instruction.  @recorder: where regions are handed in; borrowed. */
void command_environment_add_recording(struct command_environment *e, uint32_t families,
                                       const char *recorder);

#endif /* SAMPLER_RECORDING_COMMAND_ENVIRONMENT_H */
