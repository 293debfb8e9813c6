/* SPDX-License-Identifier: MIT */
#include "sampler/file_versions.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/intern.h"
#include "base/io.h"
#include "sampler/early_opener.h"
#include "sampler/jit_files.h"
#include "sampler/opened_files.h"
#include "sampler/perf_record.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define AT_ONCE_NS 200000 /* less than a program takes to run code, unload it, and write the next */

struct file_key {
        uint64_t inode;
        uint32_t device_major, device_minor;
        uint32_t generation, reserved;
};

/* What it was at the last look that was in time. */
struct file_state {
        int64_t written_ns; /* CLOCK_REALTIME */
        uint64_t n_bytes;
        uint32_t number;     /* of this version */
        uint32_t n_versions; /* that there were besides the first */
        bool is_known;
};

/* What was said of a mapping. */
struct file_answer {
        uint64_t time_ns;
        uint32_t file;
        struct file_version version;
};

struct file_versions {
        struct intern files;       /* struct file_key */
        struct file_state *states; /* heap; by the id in `files` - 1 */
        size_t capacity;
        struct file_answer answers[FILE_VERSIONS_ANSWERS_MAX];
        size_t n_answers; /* that there were */
};

struct file_versions *file_versions_new(void)
{
        struct file_versions *v = calloc(1, sizeof(*v));

        if (v)
                intern_init(&v->files, sizeof(struct file_key), FILE_VERSIONS_FILES_MAX);
        return v;
}

void file_versions_free(struct file_versions *v)
{
        if (!v)
                return;
        intern_deinit(&v->files);
        free(v->states);
        free(v);
}

static int64_t real_time_ns(void)
{
        struct timespec now;

        (void)clock_gettime(CLOCK_REALTIME, &now);
        return now.tv_sec * (int64_t)NS_PER_S + now.tv_nsec;
}

static bool remember(const struct file_versions *v, uint32_t file, uint64_t time_ns,
                     struct file_version *ret_version)
{
        size_t n_kept = v->n_answers < FILE_VERSIONS_ANSWERS_MAX ? v->n_answers : FILE_VERSIONS_ANSWERS_MAX;

        for (size_t i = 1; i <= n_kept; i++) {
                const struct file_answer *answer =
                        &v->answers[(v->n_answers - i) % FILE_VERSIONS_ANSWERS_MAX];

                if (answer->file == file && answer->time_ns == time_ns) {
                        *ret_version = answer->version;
                        return true;
                }
        }
        return false;
}

int64_t file_written_ns(const struct stat *status)
{
        return status->st_mtim.tv_sec * (int64_t)NS_PER_S + status->st_mtim.tv_nsec;
}

/*
 * Was it written since it was mapped?  A time to come was not made by writing.  The time of a file stands still for a tick
 * of the system's clock: of one that is written over again and again, and was written so shortly before it was mapped,
 * only a look that came at once can tell.
 */
static bool is_lost(const struct file_state *state, int64_t written_ns, uint64_t mapped_ns)
{
        int64_t now_ns = real_time_ns(), age_ns = (int64_t)(clock_raw_ns() - mapped_ns);
        struct timespec tick;

        if (written_ns > now_ns)
                return false;
        if (written_ns > now_ns - age_ns)
                return true;
        (void)clock_getres(CLOCK_REALTIME_COARSE, &tick);
        return state->n_versions > 0 && age_ns > AT_ONCE_NS && written_ns > now_ns - age_ns - tick.tv_nsec;
}

/* Compares the file as it is now with what it was. */
static void look(struct file_state *state, const struct stat *status, uint64_t time_ns,
                 struct file_version *ret_version)
{
        int64_t written_ns = file_written_ns(status);
        uint64_t n_bytes = (uint64_t)status->st_size;

        if (is_lost(state, written_ns, time_ns)) {
                *ret_version = (struct file_version){ .number = ++state->n_versions, .is_lost = true };
                return;
        }
        if (state->is_known && (state->written_ns != written_ns || state->n_bytes != n_bytes))
                state->number = ++state->n_versions;
        state->is_known = true;
        state->written_ns = written_ns;
        state->n_bytes = n_bytes;
        *ret_version = (struct file_version){ .written_ns = written_ns, .number = state->number };
}

/* What is installed stays; a jitdump is written all the time. */
static bool is_of_interest(const struct perf_mmap *mmap)
{
        return mmap->build_id_bytes == 0 && mmap->inode != 0 &&
               early_opener_wants_path(mmap->path, mmap->path_bytes) &&
               !jit_files_is_dump_name(mmap->path, mmap->path_bytes);
}

int file_versions_find(struct file_versions *v, struct opened_files *opened, uint32_t pid,
                       const struct perf_mmap *mmap, uint64_t time_ns, struct file_version *ret_version)
{
        const struct file_key key = { .inode = mmap->inode,
                                      .device_major = mmap->device_major,
                                      .device_minor = mmap->device_minor,
                                      .generation = mmap->inode_generation };
        struct file_state *state;
        struct stat status;
        uint32_t id = 0;
        int fd;
        int r = array_reserve(&v->states, &v->capacity, (size_t)v->files.n_items + 1, sizeof(*v->states));

        *ret_version = (struct file_version){ .number = 0 };
        if (!is_of_interest(mmap))
                return 0;
        if (r == 0)
                r = intern_add(&v->files, &key, sizeof(key), &id);
        if (r < 0)
                return r == -EOVERFLOW ? 0 : r;
        state = &v->states[id - 1];
        if (r == 1)
                *state = (struct file_state){ .number = 0 };
        if (remember(v, id, time_ns, ret_version))
                return 0;
        ret_version->number = state->number;
        fd = opened_files_open(opened, pid, mmap, NULL);
        if (fd >= 0 && fstat(fd, &status) == 0)
                look(state, &status, time_ns, ret_version);
        else if (fd < 0 && state->n_versions > 0) /* of one that is written over it could be any */
                *ret_version = (struct file_version){ .number = ++state->n_versions, .is_lost = true };
        if (fd >= 0)
                io_close(&fd);
        v->answers[v->n_answers++ % FILE_VERSIONS_ANSWERS_MAX] = (struct file_answer){ time_ns, id,
                                                                                       *ret_version };
        return 0;
}
