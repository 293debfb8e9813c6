/* SPDX-License-Identifier: MIT */
/*
 * sampler/jit/jit_target.h - where a process puts a perf map, and whose it has to be
 *
 * Way of the data:  /proc/PID -> [jit_target] -> perf_map
 *
 * The folder is opened while the process lives, in its own view of the file
 * system, so that a map which it writes at its very end can be found after it.
 */
#ifndef SAMPLER_JIT_JIT_TARGET_H
#define SAMPLER_JIT_JIT_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

struct jit_target {
        int folder_fd;     /* its /tmp, O_PATH; -1 = not found */
        char map_name[32]; /* "perf-PID.map", with the number that it has itself */
        uint32_t own_pid;  /* that number; 0 = not known: it has ended */
        bool knows_user;   /* what follows is known: it lived when it was looked at */
        uid_t uid, fs_uid; /* whom it acts for, and makes files as */
        uint64_t start_ns; /* CLOCK_REALTIME, to some hundredths of a second; older files are of others */
};

/*
 * @since_ns: CLOCK_REALTIME; stands for the start of a process that has ended.  A failure
 * leaves it without a folder.
 */
void jit_target_open(struct jit_target *t, uint32_t pid, uint64_t since_ns);
void jit_target_close(struct jit_target *t);

/*
 * jit_target_open_map() - the file as it is now
 * Only a regular file that belongs to the user of the process, or to root and is for everybody to read, and
 * that is not older than the process.
 * Returns a descriptor, the caller's; -ENOENT; -EACCES if it is another's, -errno.
 */
int jit_target_open_map(const struct jit_target *t, struct error *err);

/* Is it still the file of that name? */
bool jit_target_is_map(const struct jit_target *t, dev_t device, ino_t inode);

#endif /* SAMPLER_JIT_JIT_TARGET_H */
