/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/split_function.h - the other part of a function that the compiler split in two
 *
 * Way of the data:  elf_image, function_bounds -> [split_function] -> module_landmarks
 *
 * Compilers put code that rarely runs elsewhere ("name.cold"), and sometimes most of a function.  Its
 * symbol is local, and missing in a stripped file.  But only a part of the same function jumps into the
 * middle of it.
 * For x86-64 and AArch64.
 */
#ifndef SYMBOLIZE_ELF_SPLIT_FUNCTION_H
#define SYMBOLIZE_ELF_SPLIT_FUNCTION_H

#include "symbolize/elf/function_bounds.h"

#include <stdbool.h>

#define SPLIT_FUNCTION_JUMPS_MIN 4 /* fewer may be by chance: bytes that look like a jump */

struct elf_image;

/*
 * split_function_find() - the other part of @part
 * Looks at the pieces of code that @part jumps to: one that it reaches only through a table of addresses is
 * not found.  Takes a millisecond or two.  Returns false if there is none.
 */
bool split_function_find(const struct elf_image *image, const struct function_bound *part,
                         struct function_bound *ret_other);

#endif /* SYMBOLIZE_ELF_SPLIT_FUNCTION_H */
