/* SPDX-License-Identifier: MIT */
/*
 * analyze/samples/function_choice.h - which function of a trace a typed name means
 *
 * Way of the data:  sampled_trace -> [function_choice] -> annotation
 *
 * A function's own code counts before the places where it was inlined into others.  An exact name counts
 * before a part of one, and "name" is exact for "name(int)" and for "name (a.c)" as well.  "[no symbol]" is
 * the code of a module without a name.  For a Python function, samples in the C code and the kernel that its
 * lines called count as well.
 */
#ifndef ANALYZE_SAMPLES_FUNCTION_CHOICE_H
#define ANALYZE_SAMPLES_FUNCTION_CHOICE_H

#include "analyze/trace/sample_stats.h"
#include "base/name_guess.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUNCTION_CHOICE_NO_SYMBOL "[no symbol]" /* as reports call code without a name */

struct function;
struct sampled_trace;

struct chosen_function {
        uint32_t module; /* id in MODULES; 0 = none */
        uint32_t name;   /* string; 0 = the code of the module that has no name */
        bool is_inlined; /* the places where it was inlined, not code of its own */
        struct sample_sum sum;
};

struct function_choice {
        struct chosen_function *rows; /* heap; those that fit, the hottest first */
        size_t n_rows;
        uint32_t n_names; /* different names among the candidates: the choice is clear if this is 1 */
        bool is_inlined;  /* what fits was inlined everywhere */
        /* other modules than the named one have functions of that name, too */
        bool has_other_module;
        /* if there are none: a function (string) that fits, but is only a caller in the samples; 0 = none */
        uint32_t caller;
        struct name_guess near; /* if there is no caller either: the nearest name */
};

struct function_request {
        const char *name;             /* NULL = any, the hottest first; ignored with `exact` */
        const struct function *exact; /* exactly this one, of the trace's function_table; NULL = by name */
        bool only_inlined;            /* only places where it was inlined, even if it has code of its own */
        const char *module;           /* path, file name, or a part of the path; NULL = any */
        uint32_t event;               /* sample event whose samples count */
};

/*
 * function_choice_init() - look for the functions that fit
 * Returns 0, also if there are none, or -ENOMEM; the choice is empty then.
 */
int function_choice_init(struct function_choice *c, const struct sampled_trace *trace,
                         const struct function_request *request);
void function_choice_deinit(struct function_choice *c);

/*
 * Whether @part is a part of the function @whole that the compiler put elsewhere: "f.cold", "f() [clone
 * .cold]".  False for equal names.
 */
bool function_choice_is_part(const struct sampled_trace *trace, uint32_t whole, uint32_t part);

#endif /* ANALYZE_SAMPLES_FUNCTION_CHOICE_H */
