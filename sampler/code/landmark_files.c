/* SPDX-License-Identifier: MIT */
#include "sampler/code/landmark_files.h"

#include "base/array.h"
#include "sampler/code/code_tables.h"
#include "sampler/code/jit_lists.h"
#include "sampler/python/python_frames.h"
#include "sampler/tracks/address_space.h"
#include "sampler/tracks/recording.h"
#include "symbolize/symbols/module_landmarks.h"

#include <errno.h>
#include <stdlib.h>

#define NOTED_MAX 4096

struct noted_file {
        uint32_t pid;
        bool is_ahead; /* of its turn */
        uint64_t mapped_ns;
        struct address_range range;
};

void landmark_files_deinit(struct landmark_files *l)
{
        free(l->noted);
        l->noted = NULL;
        l->n_noted = l->capacity = 0;
}

/* Returns 1 if its landmarks are known now, 0 if not yet, -ENOMEM. */
static int landmark_files_decide_one(struct landmark_files *l, const struct noted_file *file)
{
        const struct address_range *range = &file->range;
        struct python_mapping mapping = { .pid = file->pid,
                                          .module = range->module,
                                          .time_ns = file->mapped_ns };
        struct module_landmarks found;
        int r = code_tables_find_landmarks(l->recording->tables, range->module, &found);

        if (r == -EAGAIN)
                return 0;
        if (r != 1 || !elf_image_part_find_bias(&found.code, range->start_avma, range->file_offset_bytes,
                                                range->end_avma - range->start_avma, &mapping.bias))
                return 1;
        if (file->is_ahead) {
                r = python_frames_announce(l->recording->python, &mapping, &found);
                return r < 0 ? r : 1;
        }
        r = found.jit_svma != 0 ? jit_lists_follow(l->lists, file->pid, mapping.bias + found.jit_svma) : 0;
        if (r == 0)
                r = python_frames_note(l->recording->python, &mapping, &found);
        return r < 0 ? r : 1;
}

static int landmark_files_add(struct landmark_files *l, const struct noted_file *file)
{
        int r = l->recording->tables ? landmark_files_decide_one(l, file) : 1;

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
        const struct noted_file file = { .pid = pid, .mapped_ns = mapped_ns, .range = *range };

        return landmark_files_add(l, &file);
}

int landmark_files_announce(struct landmark_files *l, uint32_t pid, const struct address_range *range,
                            uint64_t mapped_ns)
{
        const struct noted_file file = {
                .pid = pid, .is_ahead = true, .mapped_ns = mapped_ns, .range = *range
        };

        return landmark_files_add(l, &file);
}

int landmark_files_decide(struct landmark_files *l)
{
        size_t n_kept = 0;
        int r = 0;

        for (size_t i = 0; i < l->n_noted; i++) {
                int known = r < 0 ? 0 : landmark_files_decide_one(l, &l->noted[i]);

                r = known < 0 ? known : r;
                if (known == 0)
                        l->noted[n_kept++] = l->noted[i];
        }
        l->n_noted = n_kept;
        return r;
}

bool landmark_files_wait(const struct landmark_files *l)
{
        return l->n_noted > 0;
}

void landmark_files_forget(struct landmark_files *l, uint32_t pid)
{
        size_t n_kept = 0;

        for (size_t i = 0; i < l->n_noted; i++)
                if (l->noted[i].pid != pid)
                        l->noted[n_kept++] = l->noted[i];
        l->n_noted = n_kept;
}
