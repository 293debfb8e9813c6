/* SPDX-License-Identifier: MIT */
/*
 * symbolize/process/symbol_findings.h - what the symbolizer found for each module of a trace
 *
 * Way of the data:  symbol_intake -> [symbol_findings] -> `hyprof symbolize`, `hyprof modules`
 */
#ifndef SYMBOLIZE_PROCESS_SYMBOL_FINDINGS_H
#define SYMBOLIZE_PROCESS_SYMBOL_FINDINGS_H

#include "symbolize/symbols/symbolizer.h"

#include <stddef.h>
#include <stdint.h>

struct error;

struct symbol_findings {
        struct module_finding *items; /* heap; by module; n_frames 0 = it was not looked for */
        char **paths;                 /* heap; by module: owns the paths of the items */
        uint32_t n_modules;
};

/* Returns 0 or -ENOMEM. */
int symbol_findings_init(struct symbol_findings *f, uint32_t n_modules, struct error *err);
void symbol_findings_deinit(struct symbol_findings *f);

/* Copies @finding, with @path instead of its own; a module beyond the last is ignored.  0 or -ENOMEM. */
int symbol_findings_set(struct symbol_findings *f, const struct module_finding *finding, const char *path,
                        size_t path_bytes);

#endif /* SYMBOLIZE_PROCESS_SYMBOL_FINDINGS_H */
