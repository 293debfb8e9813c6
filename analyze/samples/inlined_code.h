/* SPDX-License-Identifier: MIT */
/*
 * analyze/samples/inlined_code.h - the code into which a function was inlined, near its instructions
 *
 * Way of the data:  code_listing (of the hosts) -> [inlined_code] -> annotation
 */
#ifndef ANALYZE_SAMPLES_INLINED_CODE_H
#define ANALYZE_SAMPLES_INLINED_CODE_H

#include "base/text_view.h"

#include <stdint.h>

struct code_listing;

/* The declaration distinguishes functions of one name; a line of 0 = any of that name. */
struct inlined_function {
        struct text_view name, declared_file;
        uint32_t declared_line, instance;
};

#define INLINED_CODE_CONTEXT 4 /* instructions of the host that are kept on each side */

/*
 * inlined_code_keep() - drop the instructions that are far from those of @function
 * Each remaining piece is a part of its own, with the name of the function that contains it.  A listing that
 * has no instruction of @function stays as it is.  Returns 0 or -ENOMEM.
 */
int inlined_code_keep(struct code_listing *listing, const struct inlined_function *function);

#endif /* ANALYZE_SAMPLES_INLINED_CODE_H */
