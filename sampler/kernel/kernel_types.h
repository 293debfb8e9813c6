/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/kernel_types.h - those of the kernel's structs that a BPF program knows by name, in a
 * small file of their own
 *
 * Way of the data:  /sys/kernel/btf/vmlinux -> [kernel_types] -> libbpf -> switch_source
 *
 * The loader wants the types of the running kernel to move each access to where a
 * field is.  There are more than a hundred thousand of them, and libbpf needs some tens of
 * milliseconds to copy and to search them, for half a dozen structs.  Here the kernel's
 * types are gone through once.
 *
 * Used by the collector's thread; blocks for a millisecond or a few.
 */
#ifndef SAMPLER_KERNEL_KERNEL_TYPES_H
#define SAMPLER_KERNEL_KERNEL_TYPES_H

#include <stddef.h>

#include <stdint.h>

struct btf;
struct byte_buffer;
struct error;

/* A trace hook that a program is for. */
struct kernel_hook {
        const char *name; /* borrowed: "sched_switch" */
        uint32_t id;      /* of its type in the kernel; 0 = the kernel has none */
};

/* The types to look for. */
struct kernel_types_request {
        /* types of the program: its structs; NAME___FLAVOR is another view of NAME */
        const struct btf *local;
        struct kernel_hook *hooks;
        size_t n_hooks;
};

/*
 * kernel_types_pick() - for each struct of the program: the same fields, from the kernel's struct of that
 * name
 * @kernel:  types as /sys/kernel/btf/vmlinux has them
 * @out:     appended: types in the same format.  Pointers lead nowhere, names of numbers' types are lost, and
 *           arrays have no length
 * Fills in the hooks' ids.  Fields that are neither a number, nor a pointer, nor such a struct or an array of
 * them are left out, and so are structs that the kernel does not have.  Returns 0, -EBADMSG, -ENOTSUP (a
 * newer format), -ENOMEM.
 */
int kernel_types_pick(const struct kernel_types_request *request, const void *kernel, size_t kernel_bytes,
                      struct byte_buffer *out, struct error *err);

/*
 * The same from the running kernel's types, as a file in memory.  Returns its descriptor, the caller's, or
 * -errno.
 */
int kernel_types_open(const struct kernel_types_request *request, struct error *err);

#endif /* SAMPLER_KERNEL_KERNEL_TYPES_H */
