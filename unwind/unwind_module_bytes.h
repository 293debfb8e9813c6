/* SPDX-License-Identifier: MIT */
/*
 * unwind/unwind_module_bytes.h - an unwind_module as bytes, from the process that builds it
 * to the one that uses it
 *
 * Way of the data:  unwind_module -> [unwind_module_bytes] -> pipe -> the same -> unwind_module
 *
 * The process that builds a module reads hostile files, so its bytes are hostile too: a module that was
 * decoded is sorted, and every number in it is within the part that it refers to.  The bytes are for this
 * program on this machine, not for a file.
 */
#ifndef UNWIND_UNWIND_MODULE_BYTES_H
#define UNWIND_UNWIND_MODULE_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct byte_buffer;
struct error;
struct unwind_module;

/* Appends to @out, whose `failed` says if there was no memory. */
void unwind_module_encode(const struct unwind_module *module, struct byte_buffer *out);

/*
 * unwind_module_decode() - makes a module, for unwind_module_free()
 * Returns 0, -EBADMSG, -ENODATA, -ENOMEM.
 */
int unwind_module_decode(const uint8_t *bytes, size_t n_bytes, struct unwind_module **ret_module,
                         struct error *err);

#endif /* UNWIND_UNWIND_MODULE_BYTES_H */
