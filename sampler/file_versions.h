/* SPDX-License-Identifier: MIT */
/*
 * sampler/file_versions.h - which content a file had when it was mapped, where it was written over in its place
 *
 * Way of the data:  perf_record (MMAP2), opened_files -> [file_versions] -> sample_source (MODULES)
 *
 * A compiler may write one kernel after the other into the same file.  Where there is no build-id, the kernel's record
 * is the same for all of them: only the time of the last change and the length tell that it is another one.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_FILE_VERSIONS_H
#define SAMPLER_FILE_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILE_VERSIONS_FILES_MAX   65536 /* that are told apart; others have one version */
#define FILE_VERSIONS_ANSWERS_MAX 1024  /* mappings whose version is remembered */

struct opened_files;
struct perf_mmap;
struct stat;

struct file_version {
        int64_t written_ns; /* CLOCK_REALTIME: when the content was written; 0 = not known */
        uint32_t number;    /* 0 = the first one that was seen, or it is not known that there are several */
        bool is_lost; /* the file was changed between the mapping and the look at it: nobody has this content */
};

struct file_versions;

/* Returns NULL without memory. */
struct file_versions *file_versions_new(void);

/* NULL is fine. */
void file_versions_free(struct file_versions *v);

/*
 * file_versions_find() - the version that a mapping is of
 * Of files with a build-id, of jitdumps, and of those that are installed, there is one version.
 * @time_ns:  of the mapping.  The first call for it looks at the file, later ones remember
 * Returns 0 or -ENOMEM.
 */
int file_versions_find(struct file_versions *v, struct opened_files *opened, uint32_t pid,
                       const struct perf_mmap *mmap, uint64_t time_ns, struct file_version *ret_version);

/* When the content was written last; CLOCK_REALTIME. */
int64_t file_written_ns(const struct stat *status);

#endif /* SAMPLER_FILE_VERSIONS_H */
