/* SPDX-License-Identifier: MIT */
/*
 * instrument/region_finder.h - from "process P has mapped hyprof-client" to its descriptor
 *
 * Way of the data:  MMAP2 record or /proc/PID/maps -> [region_finder] -> client_region
 */
#ifndef INSTRUMENT_REGION_FINDER_H
#define INSTRUMENT_REGION_FINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* True for the name that the kernel gives a mapping of a region: "/memfd:hyprof-client (deleted)". */
bool region_finder_is_region_name(const char *name, size_t name_bytes);

/*
 * region_finder_open() - open the region of a process, for reading and writing
 * @pid:    in the caller's PID namespace
 * Looks through /proc/PID/fd (same user) and, with CAP_CHECKPOINT_RESTORE or
 * CAP_SYS_ADMIN, /proc/PID/map_files (also when the program closed its descriptors).
 * Returns 0 with *ret_fd owned by the caller, -ENOENT if it has none, -ESRCH if the
 * process is gone, -EACCES ...
 */
int region_finder_open(uint32_t pid, int *ret_fd, struct error *err);

#endif /* INSTRUMENT_REGION_FINDER_H */
