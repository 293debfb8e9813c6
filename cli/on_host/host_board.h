/* SPDX-License-Identifier: MIT */
/*
 * cli/on_host/host_board.h - a static hyprof for another machine: it is not made here, it is found
 *
 * Way of the data:  files of `make board` -> [host_board] -> host_place -> the host
 *
 * Looked for, as hyprof-MACHINE, where hyprof is installed (PREFIX/lib/hyprof/boards), in the folder
 * boards/VERSION of the cache (cli/files/cache_folder.h), and beside the build's folder (build/boards); a
 * static hyprof is one for its own machine.
 */
#ifndef CLI_ON_HOST_HOST_BOARD_H
#define CLI_ON_HOST_HOST_BOARD_H

#include <stdint.h>

struct error;

struct host_board {
        int fd; /* open for reading, at its beginning; -1 = closed */
        uint64_t n_bytes;
        uint64_t number; /* of its content */
};

/*
 * host_board_open() - finds hyprof for a machine
 * @machine:  as `uname -m` calls it
 * Returns 0; -ENOTSUP: hyprof does not run on such machines; -ENOENT: there is none here; -EBADMSG: the file
 * is for another machine; -errno.
 */
int host_board_open(struct host_board *b, const char *machine, struct error *err);
void host_board_close(struct host_board *b);

/* "riscv64" of an ELF file; NULL if it is none, or of a machine without hyprof.  Leaves the position. */
const char *host_board_machine_of(int fd);

#endif /* CLI_ON_HOST_HOST_BOARD_H */
