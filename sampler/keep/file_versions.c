/* SPDX-License-Identifier: MIT */
#include "sampler/keep/file_versions.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/intern.h"
#include "base/io.h"
#include "sampler/keep/build_id_note.h"
#include "sampler/keep/early_opener.h"
#include "sampler/keep/opened_files.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/pace/pace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

struct file_key {
        uint64_t inode;
        uint32_t device_major, device_minor;
        uint32_t generation, reserved;
};

/* The state of a file at the last look that was in time. */
struct file_state {
        int64_t written_ns; /* CLOCK_REALTIME */
        /* when the file was last changed in any way; unlike written_ns, programs cannot set this */
        int64_t changed_ns;
        uint64_t n_bytes;
        uint64_t n_links;
        uint32_t number;     /* of this version */
        uint32_t n_versions; /* that there were besides the first */
        bool is_known;
        uint8_t build_id_bytes; /* of this version */
        uint8_t build_id[FILE_VERSIONS_BUILD_ID_MAX];
};

/* The facts about a mapping. */
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
        uint8_t scratch[BUILD_ID_NOTE_SCRATCH_BYTES];
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
 * Was the file written since it was mapped?  A time in the future does not come from writing.  The time of
 * a file stands still for a tick of the system's clock: for a file that is overwritten again and again, and
 * was written less than a tick before it was mapped, only an immediate look is reliable.
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
        return state->n_versions > 0 && age_ns > PACE_VERSIONS_AT_ONCE_NS &&
               written_ns > now_ns - age_ns - tick.tv_nsec;
}

static void read_build_id(struct file_versions *v, struct file_state *state, int fd)
{
        const uint8_t *id = NULL;
        int n = build_id_note_read(fd, v->scratch, &id);

        state->build_id_bytes = n > 0 && n <= FILE_VERSIONS_BUILD_ID_MAX ? (uint8_t)n : 0;
        if (state->build_id_bytes > 0)
                memcpy(state->build_id, id, state->build_id_bytes);
}

static struct file_version version_of(const struct file_state *state, int64_t written_ns)
{
        struct file_version version = { .written_ns = written_ns,
                                        .number = state->number,
                                        .build_id_bytes = state->build_id_bytes };

        memcpy(version.build_id, state->build_id, sizeof(version.build_id));
        return version;
}

/* Compares the file as it is now with its earlier state. */
static void look(struct file_versions *v, struct file_state *state, int fd, uint64_t time_ns,
                 struct file_version *ret_version)
{
        struct stat status;
        int64_t written_ns, changed_ns;
        uint64_t n_bytes;
        bool is_new, is_set_back;

        if (fstat(fd, &status) < 0)
                return;
        written_ns = file_written_ns(&status);
        n_bytes = (uint64_t)status.st_size;
        changed_ns = status.st_ctim.tv_sec * (int64_t)NS_PER_S + status.st_ctim.tv_nsec;
        /* Making or removing a link changes this time as well. */
        is_set_back = state->is_known && state->written_ns == written_ns && state->changed_ns != changed_ns &&
                      state->n_links == status.st_nlink;
        if (is_lost(state, written_ns, time_ns) || (is_set_back && is_lost(state, changed_ns, time_ns))) {
                *ret_version = (struct file_version){ .number = ++state->n_versions, .is_lost = true };
                return;
        }
        is_new = !state->is_known || is_set_back || state->written_ns != written_ns ||
                 state->n_bytes != n_bytes;
        if (is_new && state->is_known)
                state->number = ++state->n_versions;
        if (is_new)
                read_build_id(v, state, fd);
        state->is_known = true;
        state->written_ns = written_ns;
        state->changed_ns = changed_ns;
        state->n_links = status.st_nlink;
        state->n_bytes = n_bytes;
        *ret_version = version_of(state, written_ns);
}

/* An installed file stays as it is: the first look at it is enough. */
static void look_once(struct file_versions *v, struct file_state *state, int fd,
                      struct file_version *ret_version)
{
        if (!state->is_known)
                read_build_id(v, state, fd);
        state->is_known = true;
        *ret_version = version_of(state, 0);
}

/* A jitdump is written all the time. */
static bool is_of_interest(const struct perf_mmap *mmap)
{
        return mmap->build_id_bytes == 0 && mmap->inode != 0 && !perf_mmap_is_jitdump(mmap);
}

/* Finds the state of a file by its key.  Returns 0, -ENOMEM, -EOVERFLOW. */
static int state_of(struct file_versions *v, const struct perf_mmap *mmap, uint32_t *ret_id)
{
        const struct file_key key = { .inode = mmap->inode,
                                      .device_major = mmap->device_major,
                                      .device_minor = mmap->device_minor,
                                      .generation = mmap->inode_generation };
        int r = array_reserve(&v->states, &v->capacity, (size_t)v->files.n_items + 1, sizeof(*v->states));

        if (r == 0)
                r = intern_add(&v->files, &key, sizeof(key), ret_id);
        if (r == 1)
                v->states[*ret_id - 1] = (struct file_state){ .number = 0 };
        return r < 0 ? r : 0;
}

int file_versions_find(struct file_versions *v, struct opened_files *opened, uint32_t pid,
                       const struct perf_mmap *mmap, uint64_t time_ns, struct file_version *ret_version)
{
        bool may_change = early_opener_wants_path(mmap->path, mmap->path_bytes);
        struct file_state *state;
        uint32_t id = 0;
        int fd, r;

        *ret_version = (struct file_version){ .number = 0 };
        if (!is_of_interest(mmap))
                return 0;
        r = state_of(v, mmap, &id);
        if (r < 0)
                return r == -EOVERFLOW ? 0 : r;
        state = &v->states[id - 1];
        if (!may_change && state->is_known)
                *ret_version = version_of(state, 0);
        if ((!may_change && state->is_known) || remember(v, id, time_ns, ret_version))
                return 0;
        ret_version->number = state->number;
        fd = opened_files_open(opened, pid, mmap, NULL);
        if (fd >= 0 && may_change)
                look(v, state, fd, time_ns, ret_version);
        else if (fd >= 0)
                look_once(v, state, fd, ret_version);
        else if (state->n_versions > 0) /* an overwritten file may be any version by now */
                *ret_version = (struct file_version){ .number = ++state->n_versions, .is_lost = true };
        if (fd >= 0)
                io_close(&fd);
        v->answers[v->n_answers++ % FILE_VERSIONS_ANSWERS_MAX] = (struct file_answer){ time_ns, id,
                                                                                       *ret_version };
        return 0;
}
