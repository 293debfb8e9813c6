/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_layout.h - where an interpreter of CPython keeps the data that we read, by its
 * version
 *
 * Way of the data:  python_processes (version, first bytes of _PyRuntime) -> [python_layout] ->
 *                   python_frames.bpf, python_functions
 *
 * The layouts of 3.11 and 3.12 are taken from their headers (Include/internal of these releases; 64-bit).
 * From 3.13 on, _PyRuntime begins with struct _Py_DebugOffsets, which has the offsets; the structs of 3.13
 * and 3.14 are known.  A build without the lock ("free-threaded") has other offsets, a GIL that is hardly
 * ever used and is not looked at, and from 3.14 on a copy of a function's instructions for each thread.
 */
#ifndef SAMPLER_PYTHON_PYTHON_LAYOUT_H
#define SAMPLER_PYTHON_PYTHON_LAYOUT_H

#include "sampler/bpf/python_record.h"

#include <stddef.h>
#include <stdint.h>

#define PYTHON_LAYOUT_HEAD_BYTES 1024 /* first bytes of _PyRuntime, which have its debug offsets */

struct python_layout {
        struct python_offsets walk;
        uint8_t owner_entry;
        uint32_t interpreters; /* offset in _PyRuntime of the pointer to the first interpreter */
        uint32_t gil;          /* offset of the GIL; 0 = interpreters have pointers to it */
        uint32_t current; /* offset of the pointer to the lock holder's state; 0 = this version has none */
        struct python_objects objects;
};

/*
 * python_layout_find() - the layout of a version
 * @version:  as Py_Version: 0x030b02f0 is 3.11.2
 * @head:     the first PYTHON_LAYOUT_HEAD_BYTES of _PyRuntime; hostile
 * Returns 0; -ENOTSUP if the version is not known, -EBADMSG if the head makes no sense.
 */
int python_layout_find(uint64_t version, const uint8_t *head, struct python_layout *ret_layout);

#endif /* SAMPLER_PYTHON_PYTHON_LAYOUT_H */
