/* SPDX-License-Identifier: MIT */
/*
 * sampler/jit/jit_target.h - where a process puts a perf map, and to whom the file has to belong
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
        uint32_t own_pid;  /* the process's number for itself; 0 = not known: it has ended */
        bool knows_user;   /* the next fields are known: the process lived at the look */
        uid_t uid, fs_uid; /* the user that it acts for, and the owner of the files that it makes */
        /* of the process: CLOCK_REALTIME, to some hundredths of a second; older files belong to others */
        uint64_t start_ns;
};

/*
 * @since_ns: CLOCK_REALTIME; stands for the start of a process that has ended.  After a failure @t has no
 * folder.
 */
void jit_target_open(struct jit_target *t, uint32_t pid, uint64_t since_ns);
void jit_target_close(struct jit_target *t);

/*
 * jit_target_open_map() - the file as it is now
 * It has to be a regular file, not older than the process, that belongs to the user of the process, or to
 * root if everybody may read it.
 * Returns a descriptor, the caller's; -ENOENT; -EACCES if it belongs to another user, -errno.
 */
int jit_target_open_map(const struct jit_target *t, struct error *err);

/* Is this still the file that has the map's name? */
bool jit_target_is_map(const struct jit_target *t, dev_t device, ino_t inode);

#endif /* SAMPLER_JIT_JIT_TARGET_H */
