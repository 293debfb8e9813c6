/* SPDX-License-Identifier: MIT */
#include "sampler/kernel/perf_record.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/mapped_path.h"
#include "format/trace_spec.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#define SAMPLE_ID_BYTES 32 /* TID, TIME, CPU, IDENTIFIER at the end of every record that is no sample */
/* In PERF_RECORD_MMAP2: after a header, two numbers, three words, a build-id or an inode, and two flags. */
#define MMAP2_PATH_OFFSET   72
#define KSYMBOL_NAME_OFFSET 24

/*
 * Every tracepoint's record begins with its number, in 2 bytes, and a byte of the flags TRACE_FLAG_HARDIRQ,
 * _SOFTIRQ, ...
 */
#define TRACEPOINT_FLAGS_BYTES     2
#define TRACEPOINT_FLAGS_INTERRUPT 0x18

/* Borrows the counters of a sample without decoding them. */
static void decode_counts(struct byte_reader *r, uint64_t read_format, struct perf_sample *sample)
{
        struct byte_reader peek = *r;
        const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
        const uint64_t of_each = PERF_FORMAT_ID | PERF_FORMAT_LOST;
        size_t each = 1 + (size_t)__builtin_popcountll(read_format & of_each);
        size_t words = (size_t)__builtin_popcountll(read_format & times);

        if (read_format & PERF_FORMAT_GROUP) {
                uint64_t n_members = bytes_u64(&peek);

                if (n_members > r->left / (each * sizeof(uint64_t))) {
                        r->short_read = true;
                        return;
                }
                words += 1 + n_members * each;
        } else {
                words += each;
        }
        sample->counts_bytes = words * sizeof(uint64_t);
        sample->counts = bytes_take(r, sample->counts_bytes);
}

static void decode_chain(struct byte_reader *r, struct raw_stack *stack)
{
        uint64_t n = bytes_u64(r);

        if (n > r->left / sizeof(uint64_t)) {
                r->short_read = true;
                return;
        }
        stack->n_chain = n;
        stack->chain = bytes_take(r, n * sizeof(uint64_t));
}

static void decode_raw(struct byte_reader *r, struct perf_sample *sample)
{
        uint32_t n = bytes_u32(r);

        sample->raw = bytes_take(r, n);
        sample->raw_bytes = sample->raw ? n : 0;
}

static void decode_registers(struct byte_reader *r, uint64_t mask, struct raw_stack *stack)
{
        uint64_t abi = bytes_u64(r);

        if (abi == PERF_SAMPLE_REGS_ABI_NONE)
                return; /* a kernel thread */
        stack->is_32_bit = abi == PERF_SAMPLE_REGS_ABI_32;
        stack->registers_bytes = (size_t)__builtin_popcountll(mask) * sizeof(uint64_t);
        stack->registers = bytes_take(r, stack->registers_bytes);
}

/*
 * The record always has room for the whole stack copy; its last word says how many bytes of the copy are
 * valid.
 */
static void decode_copy(struct byte_reader *r, struct raw_stack *stack)
{
        uint64_t room = bytes_u64(r), valid;
        const uint8_t *bytes;

        if (room == 0)
                return;
        if (room > r->left) {
                r->short_read = true;
                return;
        }
        bytes = bytes_take(r, room);
        valid = bytes_u64(r);
        if (r->short_read || valid > room) {
                r->short_read = true;
                return;
        }
        stack->copy = valid > 0 ? bytes : NULL;
        stack->copy_bytes = valid;
        stack->copy_is_full = valid == room;
}

static void decode_sample(struct byte_reader *r, uint16_t misc, const struct perf_record_layout *layout,
                          struct perf_record *rec)
{
        struct raw_stack *stack = &rec->sample.stack;

        rec->kind = PERF_RECORD_KIND_SAMPLE;
        rec->event = bytes_u64(r);
        stack->ip_avma = bytes_u64(r);
        rec->pid = bytes_u32(r);
        rec->tid = bytes_u32(r);
        rec->time_ns = bytes_u64(r);
        rec->cpu = bytes_u32(r);
        (void)bytes_u32(r);
        rec->sample.period = bytes_u64(r);
        stack->in_kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
        if (layout->sample_type & PERF_SAMPLE_READ)
                decode_counts(r, layout->read_format, &rec->sample);
        if (layout->sample_type & PERF_SAMPLE_CALLCHAIN)
                decode_chain(r, stack);
        if (layout->sample_type & PERF_SAMPLE_RAW)
                decode_raw(r, &rec->sample);
        if (layout->sample_type & PERF_SAMPLE_REGS_USER)
                decode_registers(r, layout->user_registers, stack);
        if (layout->sample_type & PERF_SAMPLE_STACK_USER)
                decode_copy(r, stack);
}

/* A NUL-terminated name in a field that is padded to 8 bytes. */
static const char *decode_name(struct byte_reader *r, size_t *ret_bytes)
{
        size_t room = r->left;
        const uint8_t *at = bytes_take(r, room);

        *ret_bytes = at ? strnlen((const char *)at, room) : 0;
        return (const char *)at;
}

static void decode_mmap2(struct byte_reader *r, uint16_t misc, struct perf_record *rec)
{
        struct perf_mmap *m = &rec->mmap;
        const uint8_t *id;
        uint32_t protection;

        rec->kind = PERF_RECORD_KIND_MMAP;
        rec->pid = bytes_u32(r);
        rec->tid = bytes_u32(r);
        m->time_ns = rec->time_ns;
        m->start_avma = bytes_u64(r);
        m->length_bytes = bytes_u64(r);
        m->file_offset_bytes = bytes_u64(r);
        if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
                m->build_id_bytes = bytes_u8(r);
                (void)bytes_take(r, 3);
                id = bytes_take(r, PERF_RECORD_BUILD_ID_MAX);
                if (m->build_id_bytes > PERF_RECORD_BUILD_ID_MAX)
                        m->build_id_bytes = PERF_RECORD_BUILD_ID_MAX;
                if (id)
                        memcpy(m->build_id, id, m->build_id_bytes);
        } else {
                m->device_major = bytes_u32(r);
                m->device_minor = bytes_u32(r);
                m->inode = bytes_u64(r);
                m->inode_generation = (uint32_t)bytes_u64(r); /* the kernel's has 32 bits */
        }
        protection = bytes_u32(r);
        m->executable = (protection & PROT_EXEC) != 0;
        m->writable = (protection & PROT_WRITE) != 0;
        m->is_shared = (bytes_u32(r) & MAP_SHARED) != 0;
        m->path = decode_name(r, &m->path_bytes);
}

static bool begins_with(const struct perf_mmap *m, const char *text)
{
        return m->path_bytes >= strlen(text) && memcmp(m->path, text, strlen(text)) == 0;
}

static bool has_no_name(const struct perf_mmap *m)
{
        return mapped_path_count(m->path, m->path_bytes) < m->path_bytes;
}

bool perf_mmap_is_anonymous(const struct perf_mmap *mmap)
{
        if (begins_with(mmap, "[vdso]"))
                return false;
        return mmap->path_bytes == 0 || mmap->path[0] == '[' || begins_with(mmap, "//anon") ||
               begins_with(mmap, "/dev/zero") || begins_with(mmap, "/anon_hugepage") ||
               (mmap->is_shared && (has_no_name(mmap) || begins_with(mmap, "/dev/shm/")));
}

bool perf_mmap_may_hold_jit_code(const struct perf_mmap *mmap)
{
        return mmap->executable && !perf_mmap_is_anonymous(mmap) && mmap->path_bytes > 0 &&
               mmap->path[0] == '/' && (mmap->writable || has_no_name(mmap));
}

bool perf_mmap_is_uprobes(const struct perf_mmap *mmap)
{
        static const char name[] = "[uprobes]";

        return mmap->path_bytes == sizeof(name) - 1 && memcmp(mmap->path, name, sizeof(name) - 1) == 0;
}

bool perf_mmap_is_jitdump(const struct perf_mmap *mmap)
{
        static const char prefix[] = "jit-", suffix[] = ".dump";
        const char *path = mmap->path;
        const char *slash = mmap->path_bytes > 0 ? memrchr(path, '/', mmap->path_bytes) : NULL;
        const char *name = slash ? slash + 1 : path;
        size_t n = mmap->path_bytes - (size_t)(name - path);

        if (n <= sizeof(prefix) - 1 + sizeof(suffix) - 1 || memcmp(name, prefix, sizeof(prefix) - 1) != 0 ||
            memcmp(name + n - (sizeof(suffix) - 1), suffix, sizeof(suffix) - 1) != 0)
                return false;
        for (size_t i = sizeof(prefix) - 1; i < n - (sizeof(suffix) - 1); i++)
                if (name[i] < '0' || name[i] > '9')
                        return false;
        return true;
}

static void decode_kernel_code(struct byte_reader *r, struct perf_record *rec)
{
        struct perf_kernel_code *code = &rec->kernel_code;

        rec->kind = PERF_RECORD_KIND_KERNEL_CODE;
        code->start_avma = bytes_u64(r);
        code->n_bytes = bytes_u32(r);
        code->is_bpf = bytes_u16(r) == PERF_RECORD_KSYMBOL_TYPE_BPF;
        code->is_removed = (bytes_u16(r) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) != 0;
        code->name = decode_name(r, &code->name_bytes);
}

static void decode_comm(struct byte_reader *r, uint16_t misc, struct perf_record *rec)
{
        rec->kind = PERF_RECORD_KIND_COMM;
        rec->pid = bytes_u32(r);
        rec->tid = bytes_u32(r);
        rec->comm.exec = (misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
        rec->comm.name = decode_name(r, &rec->comm.name_bytes);
}

static void decode_task(struct byte_reader *r, enum perf_record_kind kind, struct perf_record *rec)
{
        rec->kind = kind;
        rec->pid = bytes_u32(r);
        rec->fork.parent_pid = bytes_u32(r);
        rec->tid = bytes_u32(r);
        rec->fork.parent_tid = bytes_u32(r);
        rec->time_ns = bytes_u64(r);
}

static void decode_switch(uint16_t misc, struct perf_record *rec)
{
        rec->kind = PERF_RECORD_KIND_SWITCH;
        rec->context_switch.out = (misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
        rec->context_switch.preempted = (misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
        rec->context_switch.wait = rec->context_switch.preempted ? TRACE_WAIT_PREEMPTED : TRACE_WAIT_UNKNOWN;
}

/*
 * Finds where the sample id begins at the end of a record other than a sample.  The kernel passes one
 * KSYMBOL record to one event after the other, and makes it longer by one sample id each time, at least in
 * Linux 6.18: the bytes after the first sample id are left over from older records.
 */
static size_t find_sample_id(const uint8_t *bytes, size_t n_bytes, uint32_t type)
{
        size_t last = n_bytes - SAMPLE_ID_BYTES;
        size_t n_name;

        if (type != PERF_RECORD_KSYMBOL || last <= KSYMBOL_NAME_OFFSET)
                return last;
        n_name = strnlen((const char *)bytes + KSYMBOL_NAME_OFFSET, last - KSYMBOL_NAME_OFFSET);
        n_name = (n_name + sizeof(uint64_t)) & ~(sizeof(uint64_t) - 1); /* with its NUL, or more of them */
        return n_name < last - KSYMBOL_NAME_OFFSET ? KSYMBOL_NAME_OFFSET + n_name : last;
}

/* Every record other than a sample ends with its thread, time, CPU and event. */
static void decode_sample_id(struct byte_reader *id, struct perf_record *rec)
{
        rec->pid = bytes_u32(id);
        rec->tid = bytes_u32(id);
        rec->time_ns = bytes_u64(id);
        rec->cpu = bytes_u32(id);
        (void)bytes_u32(id);
        rec->event = bytes_u64(id);
}

static void decode_body(struct byte_reader *r, uint32_t type, uint16_t misc, struct perf_record *rec)
{
        switch (type) {
        case PERF_RECORD_MMAP2:
                decode_mmap2(r, misc, rec);
                break;
        case PERF_RECORD_COMM:
                decode_comm(r, misc, rec);
                break;
        case PERF_RECORD_FORK:
                decode_task(r, PERF_RECORD_KIND_FORK, rec);
                break;
        case PERF_RECORD_EXIT:
                decode_task(r, PERF_RECORD_KIND_EXIT, rec);
                break;
        case PERF_RECORD_KSYMBOL:
                decode_kernel_code(r, rec);
                break;
        case PERF_RECORD_SWITCH:
                decode_switch(misc, rec);
                break;
        case PERF_RECORD_SWITCH_CPU_WIDE:
                decode_switch(misc, rec);
                rec->context_switch.other_pid = bytes_u32(r);
                rec->context_switch.other_tid = bytes_u32(r);
                rec->context_switch.is_other_known = rec->context_switch.other_tid != 0;
                break;
        case PERF_RECORD_LOST_SAMPLES:
                rec->kind = PERF_RECORD_KIND_LOST_SAMPLES;
                rec->n_lost = bytes_u64(r);
                break;
        case PERF_RECORD_LOST:
                rec->kind = PERF_RECORD_KIND_LOST;
                (void)bytes_u64(r); /* id, which the end of the record has as well */
                rec->n_lost = bytes_u64(r);
                break;
        case PERF_RECORD_THROTTLE:
                rec->kind = PERF_RECORD_KIND_THROTTLE;
                break;
        default:
                rec->kind = PERF_RECORD_KIND_OTHER;
                break;
        }
}

int perf_record_decode(const uint8_t *bytes, size_t n_bytes, const struct perf_record_layout *layout,
                       struct perf_record *ret_record, struct error *err)
{
        struct byte_reader r = byte_reader_of(bytes, n_bytes);
        struct perf_record rec;
        uint32_t type = bytes_u32(&r);
        uint16_t misc = bytes_u16(&r);

        memset(&rec, 0, sizeof(rec));
        if (bytes_u16(&r) != n_bytes)
                return error_set(err, -EBADMSG, "kernel record of type %u: its size is not %zu", type,
                                 n_bytes);

        if (type == PERF_RECORD_SAMPLE) {
                decode_sample(&r, misc, layout, &rec);
        } else if (r.left < SAMPLE_ID_BYTES) {
                r.short_read = true;
        } else {
                size_t id_offset = find_sample_id(bytes, n_bytes, type);
                struct byte_reader id = byte_reader_of(bytes + id_offset, SAMPLE_ID_BYTES);

                r.left = id_offset - (size_t)(r.at - bytes);
                decode_sample_id(&id, &rec);
                decode_body(&r, type, misc, &rec);
        }
        if (r.short_read)
                return error_set(err, -EBADMSG, "kernel record of type %u: %zu bytes are too few", type,
                                 n_bytes);
        *ret_record = rec;
        return 0;
}

uint32_t perf_record_type(const uint8_t *bytes, size_t n_bytes)
{
        struct byte_reader r = byte_reader_of(bytes, n_bytes);

        return bytes_u32(&r);
}

bool perf_record_maps_data(const uint8_t *bytes, size_t n_bytes, const char **ret_path,
                           size_t *ret_path_bytes)
{
        struct byte_reader r = byte_reader_of(bytes, n_bytes);
        uint32_t type = bytes_u32(&r);

        if (type != PERF_RECORD_MMAP2 || !(bytes_u16(&r) & PERF_RECORD_MISC_MMAP_DATA) ||
            n_bytes < MMAP2_PATH_OFFSET + SAMPLE_ID_BYTES)
                return false;
        *ret_path = (const char *)bytes + MMAP2_PATH_OFFSET;
        *ret_path_bytes = strnlen(*ret_path, n_bytes - MMAP2_PATH_OFFSET - SAMPLE_ID_BYTES);
        return true;
}

int perf_record_decode_waking(const struct perf_sample *sample, size_t tid_offset_bytes, uint32_t *ret_tid,
                              bool *ret_in_interrupt)
{
        struct byte_reader flags = byte_reader_of(sample->raw, sample->raw_bytes), field = flags;
        uint32_t tid;

        (void)bytes_take(&flags, TRACEPOINT_FLAGS_BYTES);
        (void)bytes_take(&field, tid_offset_bytes);
        tid = bytes_u32(&field);
        if (field.short_read)
                return -EBADMSG;
        *ret_tid = tid;
        *ret_in_interrupt = (bytes_u8(&flags) & TRACEPOINT_FLAGS_INTERRUPT) != 0;
        return 0;
}
