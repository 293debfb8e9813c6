/* SPDX-License-Identifier: MIT */
/*
 * import/rows/import_boot.h - whether clocks of a file that begin with a boot are of the recording's boot
 *
 * Way of the data:  import_rows: when a file was written; import_clocks: its places -> [import_boot] ->
 *                   cmd_import
 *
 * Files do not say of which boot they are.  Two things do: a clock that the file read against CLOCK_REALTIME
 * (import_clocks places it by that, if it is of another boot), and when the file was last written, which is
 * not before its last event.
 */
#ifndef IMPORT_IMPORT_BOOT_H
#define IMPORT_IMPORT_BOOT_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct import_clocks;
struct import_rows;

/* Times this far apart are of two boots: two readings of a clock, or a last write, are not. */
#define IMPORT_BOOT_APART_NS UINT64_C(60000000000)

/* A file that was written so long after its last event may be of another boot. */
#define IMPORT_BOOT_LATE_NS UINT64_C(3600000000000)

/*
 * import_boot_differs() - whether a clock's readings against CLOCK_REALTIME say that it is of another boot
 * @clock: id.  Before it is placed, after the clocks of the host are.
 */
bool import_boot_differs(const struct import_clocks *c, uint32_t clock);

/*
 * import_boot_check() - after all clocks are placed, into a recording
 * Sets `late_ns` of each file.  Returns 0, or -ESTALE: an event of a file would be after that was written.
 */
int import_boot_check(struct import_rows *rows, struct error *err);

#endif /* IMPORT_IMPORT_BOOT_H */
