/* SPDX-License-Identifier: MIT */
/*
 * cli/views/module_words.h - the name of a trace's module, and the words about its code
 *
 * Way of the data:  trace_dictionary, symbol_findings -> [module_words] -> `hyprof
 *                   symbolize`, `modules`, `extract`
 */
#ifndef CLI_VIEWS_MODULE_WORDS_H
#define CLI_VIEWS_MODULE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_dictionary;
struct trace_module_image;

#define MODULE_WORDS_BYTES 160

struct module_words {
        char name[MODULE_WORDS_BYTES];     /* the last part of its path, cut if need be */
        char build_id[MODULE_WORDS_BYTES]; /* hexadecimal; "" = it has none */
};

struct module_words module_words_of(const struct trace_dictionary *d, uint32_t module);

/* "file", "vdso" ... */
const char *module_words_kind(uint32_t kind);

/* The words of an enum image_source: "kept", "file", "missing" ... */
const char *module_words_source(uint32_t source);

/* Why the trace does not keep the code: "too late" ...; NULL = keeping was not tried. */
const char *module_words_state(const struct trace_module_image *row);

/* Whether @wanted names the module: its number, its path, its name, or the first digits of its build-id. */
bool module_words_match(const struct trace_dictionary *d, uint32_t module, const char *wanted);

#endif /* CLI_VIEWS_MODULE_WORDS_H */
