/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/file_versions.h - the identity of a mapped file's content, where the kernel's
 * record has no build-id
 *
 * Way of the data:  perf_record (MMAP2), opened_files -> [file_versions] -> kernel_side (MODULES)
 *
 * The kernel looks for the build-id in pages that it holds in memory already.  Some file systems keep none
 * there when a file is mapped (9p, and FUSE with direct I/O), and older kernels do not look: then the note is
 * read from the file here.
 *
 * A compiler may write one kernel after the other into the same file.  Where there is no build-id, the
 * kernel's record is the same for all of them: only the time of the last change and the length tell
 * that it is another one.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_KEEP_FILE_VERSIONS_H
#define SAMPLER_KEEP_FILE_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* files whose versions are told apart; further files have one version */
#define FILE_VERSIONS_FILES_MAX   65536
#define FILE_VERSIONS_ANSWERS_MAX 1024 /* mappings whose version is remembered */

#define FILE_VERSIONS_BUILD_ID_MAX 20 /* a longer one is passed over, as by the kernel */

struct opened_files;
struct perf_mmap;
struct stat;

struct file_version {
        int64_t written_ns; /* CLOCK_REALTIME: when the content was written; 0 = not known */
        uint32_t number;    /* 0 = the first one that was seen, or it is not known that there are several */
        uint8_t build_id[FILE_VERSIONS_BUILD_ID_MAX];
        uint8_t build_id_bytes; /* 0 = the file has none, or it could not be read */
        bool is_lost; /* the file was changed between the mapping and the look at it: this content is lost */
};

struct file_versions;

/* Returns NULL without memory. */
struct file_versions *file_versions_new(void);

/* NULL is fine. */
void file_versions_free(struct file_versions *v);

/*
 * file_versions_find() - the version that a mapping is of
 * Files whose build-id the kernel reported, jitdumps, and installed files have one version.
 * @time_ns:  of the mapping.  The first call for it looks at the file, later ones remember the answer
 * Reads some thousand bytes of each version of a file, once.
 * Returns 0 or -ENOMEM.
 */
int file_versions_find(struct file_versions *v, struct opened_files *opened, uint32_t pid,
                       const struct perf_mmap *mmap, uint64_t time_ns, struct file_version *ret_version);

/* When the content was written last; CLOCK_REALTIME. */
int64_t file_written_ns(const struct stat *status);

#endif /* SAMPLER_KEEP_FILE_VERSIONS_H */
