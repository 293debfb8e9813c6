/* SPDX-License-Identifier: MIT */
#include "tests/unit/kernel_record.h"

#include "base/byte_buffer.h"
#include "sampler/kernel/perf_record.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

/* Returns where the record begins; its size is not known yet. */
static size_t begin(struct byte_buffer *out, uint32_t type, uint32_t misc)
{
        size_t at = out->used_bytes;

        byte_buffer_add_u32(out, type);
        byte_buffer_add_u16(out, (uint16_t)misc);
        byte_buffer_add_u16(out, 0);
        return at;
}

static void end(struct byte_buffer *out, size_t at)
{
        size_t n_bytes = out->used_bytes - at;

        if (out->failed)
                return;
        out->data[at + 6] = (uint8_t)n_bytes;
        out->data[at + 7] = (uint8_t)(n_bytes >> 8);
}

static void end_with_identity(struct byte_buffer *out, size_t at,
                              const struct kernel_record_identity *identity)
{
        byte_buffer_add_u32(out, identity->pid);
        byte_buffer_add_u32(out, identity->tid);
        byte_buffer_add_u64(out, identity->time_ns);
        byte_buffer_add_u32(out, identity->cpu);
        byte_buffer_add_u32(out, 0);
        byte_buffer_add_u64(out, identity->event);
        end(out, at);
}

static void add_name(struct byte_buffer *out, const char *name, size_t n_bytes)
{
        static const char zeros[8];

        byte_buffer_add(out, name, n_bytes);
        byte_buffer_add(out, zeros, sizeof(zeros) - n_bytes % sizeof(zeros));
}

static void add_registers_and_copy(struct byte_buffer *out, const struct kernel_record_sample *sample)
{
        if (sample->registers) {
                byte_buffer_add_u64(out, sample->registers_abi);
                for (size_t i = 0;
                     sample->registers_abi != PERF_SAMPLE_REGS_ABI_NONE && i < sample->n_registers; i++)
                        byte_buffer_add_u64(out, sample->registers[i]);
        }
        if (sample->copy) {
                byte_buffer_add_u64(out, sample->copy_bytes);
                byte_buffer_add(out, sample->copy, sample->copy_bytes);
                if (sample->copy_bytes > 0)
                        byte_buffer_add_u64(out, sample->copy_valid);
        }
}

void kernel_record_add_sample(struct byte_buffer *out, const struct kernel_record_sample *sample)
{
        size_t at = begin(out, PERF_RECORD_SAMPLE,
                          sample->in_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);

        byte_buffer_add_u64(out, sample->identity.event);
        byte_buffer_add_u64(out, sample->ip_avma);
        byte_buffer_add_u32(out, sample->identity.pid);
        byte_buffer_add_u32(out, sample->identity.tid);
        byte_buffer_add_u64(out, sample->identity.time_ns);
        byte_buffer_add_u32(out, sample->identity.cpu);
        byte_buffer_add_u32(out, 0);
        byte_buffer_add_u64(out, sample->period);
        for (size_t i = 0; i < sample->n_counts; i++)
                byte_buffer_add_u64(out, sample->counts[i]);
        if (sample->chain) {
                byte_buffer_add_u64(out, sample->n_chain);
                for (uint64_t i = 0; i < sample->n_chain; i++)
                        byte_buffer_add_u64(out, sample->chain[i]);
        }
        if (sample->raw) {
                byte_buffer_add_u32(out, sample->raw_bytes);
                byte_buffer_add(out, sample->raw, sample->raw_bytes);
        }
        add_registers_and_copy(out, sample);
        end(out, at);
}

void kernel_record_add_mmap2(struct byte_buffer *out, const struct kernel_record_identity *identity,
                             const struct perf_mmap *mmap)
{
        size_t at = begin(out, PERF_RECORD_MMAP2,
                          PERF_RECORD_MISC_USER | (mmap->executable ? 0 : PERF_RECORD_MISC_MMAP_DATA) |
                                  (mmap->build_id_bytes > 0 ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0));

        byte_buffer_add_u32(out, identity->pid);
        byte_buffer_add_u32(out, identity->tid);
        byte_buffer_add_u64(out, mmap->start_avma);
        byte_buffer_add_u64(out, mmap->length_bytes);
        byte_buffer_add_u64(out, mmap->file_offset_bytes);
        if (mmap->build_id_bytes > 0) {
                byte_buffer_add_u32(out, mmap->build_id_bytes); /* and three bytes of nothing */
                byte_buffer_add(out, mmap->build_id, sizeof(mmap->build_id));
        } else {
                byte_buffer_add_u32(out, mmap->device_major);
                byte_buffer_add_u32(out, mmap->device_minor);
                byte_buffer_add_u64(out, mmap->inode);
                byte_buffer_add_u64(out, 1);
        }
        byte_buffer_add_u32(out, PROT_READ | (mmap->executable ? PROT_EXEC : 0));
        byte_buffer_add_u32(out, mmap->is_shared ? MAP_SHARED : MAP_PRIVATE);
        add_name(out, mmap->path, mmap->path_bytes);
        end_with_identity(out, at, identity);
}

void kernel_record_add_comm(struct byte_buffer *out, const struct kernel_record_identity *identity,
                            const char *name, bool exec)
{
        size_t at = begin(out, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);

        byte_buffer_add_u32(out, identity->pid);
        byte_buffer_add_u32(out, identity->tid);
        add_name(out, name, strlen(name));
        end_with_identity(out, at, identity);
}

void kernel_record_add_kernel_code(struct byte_buffer *out, const struct kernel_record_identity *identity,
                                   const struct perf_kernel_code *code)
{
        size_t at = begin(out, PERF_RECORD_KSYMBOL, 0);

        byte_buffer_add_u64(out, code->start_avma);
        byte_buffer_add_u32(out, code->n_bytes);
        byte_buffer_add_u16(out, code->is_bpf ? PERF_RECORD_KSYMBOL_TYPE_BPF : PERF_RECORD_KSYMBOL_TYPE_OOL);
        byte_buffer_add_u16(out, code->is_removed ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0);
        add_name(out, code->name, code->name_bytes);
        end_with_identity(out, at, identity);
}

static void add_task(struct byte_buffer *out, uint32_t type, const struct kernel_record_identity *identity,
                     const struct kernel_record_identity *parent)
{
        size_t at = begin(out, type, 0);

        byte_buffer_add_u32(out, identity->pid);
        byte_buffer_add_u32(out, parent->pid);
        byte_buffer_add_u32(out, identity->tid);
        byte_buffer_add_u32(out, parent->tid);
        byte_buffer_add_u64(out, identity->time_ns);
        end_with_identity(out, at, parent);
}

void kernel_record_add_fork(struct byte_buffer *out, const struct kernel_record_identity *identity,
                            uint32_t parent_pid, uint32_t parent_tid)
{
        struct kernel_record_identity parent = *identity;

        parent.pid = parent_pid;
        parent.tid = parent_tid;
        add_task(out, PERF_RECORD_FORK, identity, &parent);
}

void kernel_record_add_exit(struct byte_buffer *out, const struct kernel_record_identity *identity)
{
        struct kernel_record_identity nobody = *identity;

        nobody.pid = UINT32_MAX;
        nobody.tid = UINT32_MAX;
        add_task(out, PERF_RECORD_EXIT, identity, &nobody);
}

void kernel_record_add_switch(struct byte_buffer *out, const struct kernel_record_identity *identity,
                              bool leaves, bool preempted)
{
        size_t at = begin(out, PERF_RECORD_SWITCH,
                          (leaves ? PERF_RECORD_MISC_SWITCH_OUT : 0U) |
                                  (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0U));

        end_with_identity(out, at, identity);
}

void kernel_record_add_cpu_switch(struct byte_buffer *out, const struct kernel_record_identity *identity,
                                  bool leaves, uint32_t other_pid, uint32_t other_tid)
{
        size_t at = begin(out, PERF_RECORD_SWITCH_CPU_WIDE, leaves ? PERF_RECORD_MISC_SWITCH_OUT : 0);

        byte_buffer_add_u32(out, other_pid);
        byte_buffer_add_u32(out, other_tid);
        end_with_identity(out, at, identity);
}

void kernel_record_add_lost_samples(struct byte_buffer *out, const struct kernel_record_identity *identity,
                                    uint64_t n_lost)
{
        size_t at = begin(out, PERF_RECORD_LOST_SAMPLES, 0);

        byte_buffer_add_u64(out, n_lost);
        end_with_identity(out, at, identity);
}

void kernel_record_add_lost(struct byte_buffer *out, const struct kernel_record_identity *identity,
                            uint64_t n_lost)
{
        size_t at = begin(out, PERF_RECORD_LOST, 0);

        byte_buffer_add_u64(out, identity->event);
        byte_buffer_add_u64(out, n_lost);
        end_with_identity(out, at, identity);
}

void kernel_record_add_other(struct byte_buffer *out, const struct kernel_record_identity *identity,
                             uint32_t type)
{
        size_t at = begin(out, type, 0);

        byte_buffer_add_u64(out, identity->time_ns);
        byte_buffer_add_u64(out, identity->event);
        byte_buffer_add_u64(out, identity->event);
        end_with_identity(out, at, identity);
}
