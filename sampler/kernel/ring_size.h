/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/ring_size.h - how large the kernel's rings are to be
 *
 * Way of the data:  event_request, stack_unwinder -> [ring_size] -> event_set
 */
#ifndef SAMPLER_KERNEL_RING_SIZE_H
#define SAMPLER_KERNEL_RING_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_SIZE_BYTES_MIN (UINT32_C(1) << 17) /* some of the longest records fit */
#define RING_SIZE_BYTES_USUAL \
        (UINT32_C(1) << 19) /* no ring is smaller unless all together would be too large */
#define RING_SIZE_BYTES_MAX (UINT32_C(1) << 25)
#define RING_SIZE_ALL_BYTES (UINT32_C(1) << 28) /* the rings of all CPUs: their memory is pinned */

struct ring_size_wanted {
        uint64_t rate_hz;    /* of each event; 0 = not known, and taken for high */
        uint64_t n_events;   /* that sample */
        uint64_t copy_bytes; /* of the stack, with each sample */
        uint64_t n_cpus;
        uint64_t memory_bytes; /* of the machine; 0 = not known */
};

/* Bytes of the records of a quarter of a second on a busy CPU. */
uint64_t ring_size_need(const struct ring_size_wanted *wanted);

/*
 * ring_size_find() - bytes for the samples of a CPU
 * As many as the samples need: a power of two from RING_SIZE_BYTES_MIN to _MAX, and all together at most
 * RING_SIZE_ALL_BYTES and a sixteenth of the machine's memory.
 */
size_t ring_size_find(const struct ring_size_wanted *wanted);

/*
 * ring_size_copy() - the longest copies of stacks with which a ring of that size lasts for a tenth of a
 * second: those of @wanted, or these halved, but not below RING_SIZE_COPY_MIN.  Where the rate is not known
 * they stay.
 */
#define RING_SIZE_COPY_MIN (UINT32_C(1) << 12)
uint32_t ring_size_copy(const struct ring_size_wanted *wanted, size_t ring_bytes);

/*
 * ring_size_find_allowed() - the size of rings that this user may lock in memory, at most @bytes
 * @bytes:          of a CPU, a power of two
 * @others_bytes:   of another ring that each CPU has
 * Maps rings to try, and halves the size until that works.  A ring that turned out smaller than its event was
 * opened for would not wake the recorder in time.
 */
size_t ring_size_find_allowed(size_t bytes, size_t others_bytes, size_t n_cpus);

/*
 * ring_size_of_tracker() - bytes on each CPU for records of mappings, names, forks and exits
 * @locks_memory:   this user may lock as much memory as he likes
 * @whole_machine:  all processes are recorded: their records wait there while all of /proc is read
 * A thread that begins and ends takes some 400 bytes: 2 MiB last for a tenth of a second of 50,000 threads a
 * second on one CPU.
 */
size_t ring_size_of_tracker(bool locks_memory, bool whole_machine, size_t n_cpus);

/*
 * ring_size_of_switches() - bytes for context switches, of the BPF program, on all CPUs together
 * @stacks:  with copies of stacks
 */
size_t ring_size_of_switches(bool stacks, size_t n_cpus);

/* Memory of the machine in bytes; 0 = not known. */
uint64_t ring_size_machine_memory(void);

#endif /* SAMPLER_KERNEL_RING_SIZE_H */
