/* SPDX-License-Identifier: MIT */
#include "sampler/images/code_images_parts.h"

#include "base/array.h"
#include "base/clock.h"
#include "sampler/jit/jit_lists.h"
#include "sampler/pace/pace.h"
#include "sampler/python/python_frames.h"
#include "sampler/tables/code_tables.h"
#include "sampler/tracks/address_space.h"
#include "sampler/tracks/recording.h"
#include "symbolize/images/module_landmarks.h"

#include <errno.h>
#include <stdlib.h>

#define NOTED_MAX   4096
#define UNREADY_MAX 16 /* of a process */

struct noted_file {
        uint32_t pid;
        bool is_ahead; /* of its turn */
        uint64_t mapped_ns;
        uint64_t first_ns, tried_ns; /* first and last look without data; 0 = no look yet */
        bool is_said;                /* that it is not there */
        struct address_range range;
};

void landmark_files_deinit(struct landmark_files *l)
{
        free(l->noted);
        l->noted = NULL;
        l->n_noted = l->capacity = 0;
}

static size_t count_unready(const struct landmark_files *l, uint32_t pid)
{
        size_t n = 0;

        for (size_t i = 0; i < l->n_noted; i++)
                n += l->noted[i].pid == pid && l->noted[i].first_ns > 0;
        return n;
}

static bool is_to_be_tried(const struct noted_file *file, uint64_t now_ns)
{
        return file->first_ns == 0 || now_ns < file->first_ns + PACE_LANDMARKS_READY_NS ||
               now_ns > file->tried_ns + PACE_LANDMARKS_AGAIN_NS;
}

/*
 * Notes that an interpreter's data is not there yet: ld.so maps the whole file first, and its writable part
 * over that later.  Returns 0, or 1 if it is not tried again, -ENOMEM.
 */
static int try_again(struct landmark_files *l, struct noted_file *file, uint64_t now_ns)
{
        if (file->first_ns == 0 && count_unready(l, file->pid) >= UNREADY_MAX)
                return 1;
        if (file->first_ns == 0)
                file->first_ns = now_ns;
        file->tried_ns = now_ns;
        if (file->is_ahead || file->is_said || now_ns < file->first_ns + PACE_LANDMARKS_SAY_NS)
                return 0;
        file->is_said = true;
        return python_frames_note_unready(l->recording->python);
}

/* Returns 1 if its landmarks are known now, 0 if not yet, -ENOMEM. */
static int decide_one(struct landmark_files *l, struct noted_file *file)
{
        const struct address_range *range = &file->range;
        struct python_mapping mapping = { .pid = file->pid,
                                          .module = range->module,
                                          .time_ns = file->mapped_ns };
        struct module_landmarks found;
        uint64_t now_ns = clock_raw_ns();
        int r = is_to_be_tried(file, now_ns)
                        ? code_tables_find_landmarks(l->recording->tables, range->module, &found)
                        : -EAGAIN;

        if (r == -EAGAIN)
                return 0;
        if (r != 1 || !elf_image_part_find_bias(&found.code, range->start_avma, range->file_offset_bytes,
                                                range->end_avma - range->start_avma, &mapping.bias))
                return 1;
        if (file->is_ahead) {
                r = python_frames_announce(l->recording->python, &mapping, &found);
                return r < 0 ? r : r == 1 ? try_again(l, file, now_ns) : 1;
        }
        r = found.jit_svma != 0 ? jit_lists_follow(l->lists, file->pid, mapping.bias + found.jit_svma) : 0;
        if (r == 0)
                r = python_frames_note(l->recording->python, &mapping, &found);
        return r < 0 ? r : r == 1 ? try_again(l, file, now_ns) : 1;
}

static int add(struct landmark_files *l, struct noted_file *file)
{
        int r = l->recording->tables ? decide_one(l, file) : 1;

        if (r != 0 || l->n_noted == NOTED_MAX)
                return r < 0 ? r : 0;
        if (array_reserve(&l->noted, &l->capacity, l->n_noted + 1, sizeof(*l->noted)) < 0)
                return -ENOMEM;
        l->noted[l->n_noted++] = *file;
        return 0;
}

int landmark_files_note(struct landmark_files *l, uint32_t pid, const struct address_range *range,
                        uint64_t mapped_ns)
{
        struct noted_file file = { .pid = pid, .mapped_ns = mapped_ns, .range = *range };

        return add(l, &file);
}

int landmark_files_announce(struct landmark_files *l, uint32_t pid, const struct address_range *range,
                            uint64_t mapped_ns)
{
        struct noted_file file = { .pid = pid, .is_ahead = true, .mapped_ns = mapped_ns, .range = *range };

        return add(l, &file);
}

int landmark_files_decide(struct landmark_files *l)
{
        size_t n_kept = 0;
        int r = 0;

        for (size_t i = 0; i < l->n_noted; i++) {
                int known = r < 0 ? 0 : decide_one(l, &l->noted[i]);

                r = known < 0 ? known : r;
                if (known == 0)
                        l->noted[n_kept++] = l->noted[i];
        }
        l->n_noted = n_kept;
        return r;
}

bool landmark_files_lack_data(const struct landmark_files *l, uint64_t now_ns)
{
        for (size_t i = 0; i < l->n_noted; i++)
                if (l->noted[i].first_ns > 0 && now_ns < l->noted[i].first_ns + PACE_LANDMARKS_READY_NS)
                        return true;
        return false;
}

/* Files whose mapping's turn is still to come may belong to a later program. */
int landmark_files_fork(struct landmark_files *l, uint32_t parent_pid, uint32_t pid, uint64_t time_ns)
{
        size_t n = l->n_noted;
        int r = 0;

        for (size_t i = 0; i < n && r == 0; i++) {
                struct noted_file file = l->noted[i];

                if (file.pid != parent_pid || file.is_ahead)
                        continue;
                file.pid = pid;
                file.mapped_ns = time_ns;
                file.first_ns = file.tried_ns = 0;
                r = add(l, &file);
        }
        return r;
}

void landmark_files_forget(struct landmark_files *l, uint32_t pid, uint64_t time_ns)
{
        size_t n_kept = 0;

        for (size_t i = 0; i < l->n_noted; i++)
                if (l->noted[i].pid != pid || l->noted[i].mapped_ns > time_ns)
                        l->noted[n_kept++] = l->noted[i];
        l->n_noted = n_kept;
}
