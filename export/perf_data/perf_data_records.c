/* SPDX-License-Identifier: MIT */
#include "export/perf_data/perf_data_parts.h"

#include "base/byte_buffer.h"

#include <string.h>

#define BUILD_ID_BYTES_MAX 20
#define NAME_BYTES_MAX     4096 /* as the kernel's paths */

/* Begins a record; end_record() fills in its length. */
static size_t begin_record(struct byte_buffer *b, uint32_t type, uint16_t misc)
{
        size_t begin = b->used_bytes;

        byte_buffer_add_u32(b, type);
        byte_buffer_add_u16(b, misc);
        byte_buffer_add_u16(b, 0);
        return begin;
}

static void end_record(struct byte_buffer *b, size_t begin)
{
        size_t n_bytes = b->used_bytes - begin;

        if (b->failed)
                return;
        b->data[begin + 6] = (uint8_t)n_bytes;
        b->data[begin + 7] = (uint8_t)(n_bytes >> 8);
}

/* Writes the fields that every record has, in the order of perf's format. */
static void put_who(struct byte_buffer *b, const struct perf_data_who *who)
{
        byte_buffer_add_u32(b, who->pid);
        byte_buffer_add_u32(b, who->tid);
        byte_buffer_add_u64(b, who->time_ns);
        byte_buffer_add_u32(b, who->cpu);
        byte_buffer_add_u32(b, 0);
        byte_buffer_add_u64(b, who->event);
}

/* Pads the name with at least one NUL to a multiple of eight bytes. */
static void put_name(struct byte_buffer *b, const char *name, size_t n_bytes)
{
        static const char zeros[8];

        if (n_bytes >= NAME_BYTES_MAX)
                n_bytes = NAME_BYTES_MAX - 1;
        byte_buffer_add(b, name, n_bytes);
        byte_buffer_add(b, zeros, 8 - n_bytes % 8);
}

void perf_data_records_put_sample(struct byte_buffer *b, const struct perf_data_who *who,
                                  const struct perf_data_sample *sample)
{
        size_t begin = begin_record(b, PERF_DATA_SAMPLE, sample->mode);

        byte_buffer_add_u64(b, who->event);
        byte_buffer_add_u64(b, sample->n_callchain > 1 ? sample->callchain[1] : 0);
        byte_buffer_add_u32(b, who->pid);
        byte_buffer_add_u32(b, who->tid);
        byte_buffer_add_u64(b, who->time_ns);
        byte_buffer_add_u32(b, who->cpu);
        byte_buffer_add_u32(b, 0);
        byte_buffer_add_u64(b, sample->period);
        byte_buffer_add_u64(b, sample->n_callchain);
        for (size_t i = 0; i < sample->n_callchain; i++)
                byte_buffer_add_u64(b, sample->callchain[i]);
        end_record(b, begin);
}

void perf_data_records_put_mapping(struct byte_buffer *b, const struct perf_data_who *who,
                                   const struct perf_data_mapping *mapping)
{
        uint8_t identity[24] = { 0 }; /* device and inode, or the build-id */
        uint16_t misc = mapping->is_kernel ? PERF_DATA_MISC_KERNEL : PERF_DATA_MISC_USER;
        size_t begin;

        if (mapping->build_id_bytes > 0 && mapping->build_id_bytes <= BUILD_ID_BYTES_MAX) {
                misc |= PERF_DATA_MISC_BUILD_ID;
                identity[0] = (uint8_t)mapping->build_id_bytes;
                memcpy(identity + 4, mapping->build_id, mapping->build_id_bytes);
        }
        begin = begin_record(b, PERF_DATA_MMAP2, misc);
        byte_buffer_add_u32(b, who->pid);
        byte_buffer_add_u32(b, who->tid);
        byte_buffer_add_u64(b, mapping->start_avma);
        byte_buffer_add_u64(b, mapping->length_bytes);
        byte_buffer_add_u64(b, mapping->file_offset_bytes);
        byte_buffer_add(b, identity, sizeof(identity));
        byte_buffer_add_u32(b, PERF_DATA_PROT_READ_EXEC);
        byte_buffer_add_u32(b, PERF_DATA_MAP_PRIVATE);
        put_name(b, mapping->path, mapping->path_bytes);
        put_who(b, who);
        end_record(b, begin);
}

void perf_data_records_put_comm(struct byte_buffer *b, const struct perf_data_who *who, const char *name,
                                size_t n_bytes)
{
        size_t begin = begin_record(b, PERF_DATA_COMM, 0);

        byte_buffer_add_u32(b, who->pid);
        byte_buffer_add_u32(b, who->tid);
        put_name(b, name, n_bytes < 15 ? n_bytes : 15);
        put_who(b, who);
        end_record(b, begin);
}

void perf_data_records_put_task(struct byte_buffer *b, uint32_t type, const struct perf_data_who *who,
                                uint32_t parent_pid, uint32_t parent_tid)
{
        size_t begin = begin_record(b, type, 0);

        byte_buffer_add_u32(b, who->pid);
        byte_buffer_add_u32(b, parent_pid);
        byte_buffer_add_u32(b, who->tid);
        byte_buffer_add_u32(b, parent_tid);
        byte_buffer_add_u64(b, who->time_ns);
        put_who(b, who);
        end_record(b, begin);
}

void perf_data_records_put_switch(struct byte_buffer *b, const struct perf_data_who *who, uint16_t misc)
{
        size_t begin = begin_record(b, PERF_DATA_SWITCH, misc);

        put_who(b, who);
        end_record(b, begin);
}

void perf_data_records_put_round(struct byte_buffer *b)
{
        end_record(b, begin_record(b, PERF_DATA_FINISHED_ROUND, 0));
}
