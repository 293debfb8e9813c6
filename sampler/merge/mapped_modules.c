/* SPDX-License-Identifier: MIT */
#include "sampler/merge/kernel_side_parts.h"

#include "format/trace_dictionary.h"
#include "sampler/jit/jit_files.h"
#include "sampler/keep/code_keeper.h"
#include "sampler/keep/file_versions.h"
#include "sampler/keep/module_file.h"
#include "sampler/merge/kernel_side.h"
#include "sampler/tables/code_regions.h"
#include "sampler/tables/code_tables.h"
#include "sampler/tracks/recording.h"

#include <stdbool.h>
#include <string.h>
#include <sys/sysmacros.h>

enum trace_module_kind mapped_modules_kind(const struct perf_mmap *m)
{
        if (module_file_is_vdso(m))
                return TRACE_MODULE_VDSO;
        return perf_mmap_is_anonymous(m) ? TRACE_MODULE_ANONYMOUS : TRACE_MODULE_FILE;
}

/*
 * A file that is overwritten in place is another module each time, unless it has a build-id.  Returns 1 if
 * its content is lost.
 */
static int add_version(struct kernel_side *s, const struct perf_record *rec, struct trace_module *row,
                       struct perf_mmap *m)
{
        struct file_version version;
        int r = file_versions_find(s->versions, s->recording->opened, rec->pid, m, rec->time_ns, &version);

        m->written_ns = version.written_ns;
        /* as in the kernel's records, which have no inode where they have a build-id */
        if (version.build_id_bytes > 0) {
                m->build_id_bytes = version.build_id_bytes;
                memcpy(m->build_id, version.build_id, version.build_id_bytes);
                return r;
        }
        row->content = version.number;
        row->generation = m->inode_generation;
        if (m->inode != 0 && !version.is_lost) { /* otherwise the file there now is not the mapped one */
                row->device = makedev(m->device_major, m->device_minor);
                row->inode = m->inode;
        }
        return r < 0 ? r : version.is_lost;
}

/* Hands a new module to all parts that want its code. */
static int announce_module(struct kernel_side *s, uint32_t process, const struct perf_record *rec,
                           const struct perf_mmap *m, const struct trace_module *row, uint32_t module)
{
        const struct recording *recording = s->recording;
        int r = 0;

        if (recording->keeper) /* first, as the file may be gone in a millisecond */
                r = code_keeper_want_file(recording->keeper, module, row, rec->pid, m);
        if (r == 0 && recording->jit)
                r = jit_files_note_mapping(recording->jit, rec->pid, process, m, rec->time_ns);
        return r == 0 && recording->tables && !perf_mmap_is_jitdump(m)
                       ? code_tables_want(recording->tables, module, row, rec->pid, m)
                       : r;
}

int mapped_modules_add(struct kernel_side *s, uint32_t process, const struct perf_record *rec,
                       uint32_t *ret_module)
{
        const struct recording *recording = s->recording;
        struct perf_mmap mapping = rec->mmap, *m = &mapping;
        struct trace_module row = { .kind = mapped_modules_kind(m) };
        bool is_lost = false;
        int r = trace_dictionary_add_path(recording->dictionary, m->path, m->path_bytes, &row.path);

        if (r < 0)
                return r;
        if (row.kind == TRACE_MODULE_ANONYMOUS) {
                row.process = process;
                row.generation = recording->regions ? code_regions_generation(recording->regions, process)
                                                    : 0;
        } else if (row.kind == TRACE_MODULE_VDSO) {
                row.generation = module_file_is_vdso_32(m) ? TRACE_MODULE_VDSO_32 : 0;
        } else if (row.kind == TRACE_MODULE_FILE) {
                r = add_version(s, rec, &row, m);
                if (r < 0)
                        return r;
                is_lost = r == 1;
        }
        if (m->build_id_bytes > 0)
                r = trace_dictionary_add_string(recording->dictionary, m->build_id, m->build_id_bytes,
                                                &row.build_id);
        if (r < 0)
                return r;
        r = trace_dictionary_add(recording->dictionary, TRACE_TABLE_MODULES, &row, ret_module);
        if (r != 0)
                return r;
        if (is_lost)
                return recording->keeper ? code_keeper_miss_file(recording->keeper, *ret_module, m) : 0;
        return announce_module(s, process, rec, m, &row, *ret_module);
}
