/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/keep_policy.h - which files of code may be gone when their names are needed
 *
 * Way of the data:  perf_record (MMAP2), fstat(2), /proc/PID/{ns/mnt,root} -> [keep_policy] -> code_keeper
 *
 * docs/understand/keeping-code.md has the reasons.
 */
#ifndef SAMPLER_KEEP_KEEP_POLICY_H
#define SAMPLER_KEEP_KEEP_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct keep_policy {
        char *temporary_folder;                     /* heap; NULL = there is none besides the usual folders */
        uint64_t namespace_device, namespace_inode; /* of our mount namespace; 0 = not known */
        uint64_t root_device, root_inode;           /* of our root directory; 0 = not known */
        int64_t began_ns;                           /* CLOCK_REALTIME */
};

/*
 * keep_policy_init() - counts files that are made from now on as new
 * @temporary_folder:  as in $TMPDIR; copied; NULL or a relative one is ignored
 * Returns 0 or -ENOMEM.
 */
int keep_policy_init(struct keep_policy *p, const char *temporary_folder);
void keep_policy_deinit(struct keep_policy *p);

/*
 * Whether to keep a file, by the name alone that the kernel reports: deleted, a memfd, in a temporary
 * folder.
 */
bool keep_policy_wants_path(const struct keep_policy *p, const char *path, size_t path_bytes);

/*
 * keep_policy_wants_file() - whether to keep an opened file: for such a name, or because it has none, was
 * made while recording, or is not visible to the recorder, since process @pid has another mount namespace
 * or another root
 * Looks at /proc and the path; cheap, but not for each mapping.
 */
bool keep_policy_wants_file(const struct keep_policy *p, uint32_t pid, const char *path, size_t path_bytes,
                            const struct stat *status);

#endif /* SAMPLER_KEEP_KEEP_POLICY_H */
