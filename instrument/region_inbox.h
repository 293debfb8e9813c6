/* SPDX-License-Identifier: MIT */
/*
 * instrument/region_inbox.h - where programs that a recorder started hand in their regions
 *
 * Way of the data:  announcement -> socket -> [region_inbox] -> client_region
 * Specification:    docs/understand/client-abi.md, "How a recorder finds a region"
 *
 * A listening socket with an abstract address, which goes into the command's environment.  Its messages are
 * foreign: any local process can connect, and send any descriptor.  The kernel states who the sender is.
 * Other users are turned away here, unless the recorder runs as root, whose programs may become other users.
 * The caller decides whether the sender is one of its programs, and client_region_open() judges what was
 * sent.
 */
#ifndef INSTRUMENT_REGION_INBOX_H
#define INSTRUMENT_REGION_INBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGION_INBOX_ADDRESS_BYTES 64
#define REGION_INBOX_HELD_MAX      64

struct error;

/* A sender that has connected but not sent yet: a program can be interrupted in between. */
struct region_inbox_sender {
        int connection; /* owned */
        uint32_t pid;
};

struct region_inbox {
        int fd;                                   /* listening; -1 = closed; readable when something came */
        char address[REGION_INBOX_ADDRESS_BYTES]; /* "@...", the value of HYPROF_RECORDER */
        struct region_inbox_sender held[REGION_INBOX_HELD_MAX]; /* the oldest first */
        size_t n_held;
        /*
         * programs of all users may hand in regions, not only the recorder's own; the recorder sets it if it
         * may record them
         */
        bool any_user;
};

/* Returns 0 or -errno. */
int region_inbox_open(struct region_inbox *inbox, struct error *err);
void region_inbox_close(struct region_inbox *inbox);

/*
 * region_inbox_next() - the next region that came
 * @ret_pid:  of the sender, in our PID namespace; it may be gone already
 * @ret_fd: owned by the caller; -1 = the sender says that it has no region
 * Returns 1, or 0 if no sender is left; other users, and senders that send nothing, are passed over.  Never
 * blocks.
 */
int region_inbox_next(struct region_inbox *inbox, uint32_t *ret_pid, int *ret_fd);

#endif /* INSTRUMENT_REGION_INBOX_H */
