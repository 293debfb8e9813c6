/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/doctor_findings.h - what this machine and this user can record, a line each, and
 * what would allow the rest
 *
 * Way of the data:  perf_access, settings -> [doctor_findings] -> `hyprof doctor`
 */
#ifndef CLI_COMMANDS_DOCTOR_FINDINGS_H
#define CLI_COMMANDS_DOCTOR_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

struct perf_access;

#define DOCTOR_FINDINGS_MAX 24

struct doctor_finding {
        const char *what; /* static */
        bool good;
        char words[200];
        char remedy[200]; /* a command; "" = none is known, or needed */
};

struct doctor_findings {
        struct doctor_finding items[DOCTOR_FINDINGS_MAX];
        size_t n_items;
};

/* All of them, in the order in which they are shown. */
void doctor_findings_add(struct doctor_findings *findings, const struct perf_access *access);

#endif /* CLI_COMMANDS_DOCTOR_FINDINGS_H */
