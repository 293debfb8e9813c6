/* SPDX-License-Identifier: MIT */
#include "import/perf/perf_entry.h"

#include "base/bytes.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#define MISC_MODE_MASK  7
#define MISC_KERNEL     1
#define MISC_USER       2
#define MISC_DATA       (1 << 13) /* of MMAP: the memory is not executable */
#define MISC_BUILD_ID   (1 << 14) /* of MMAP2 */
#define PROT_EXECUTE    4
#define BUILD_ID_BYTES  20
#define BRANCH_BYTES    24
#define BRANCH_HW_INDEX (UINT64_C(1) << 17)
#define BRANCH_COUNTERS (UINT64_C(1) << 19)
#define READ_ENABLED    1
#define READ_RUNNING    2
#define READ_ID         4
#define READ_GROUP      8
#define READ_LOST       16

enum perf_mode perf_entry_mode(const struct perf_entry *entry)
{
        unsigned mode = entry->misc & MISC_MODE_MASK;

        return mode == MISC_KERNEL ? PERF_MODE_KERNEL : mode == MISC_USER ? PERF_MODE_USER : PERF_MODE_OTHER;
}

static struct text_view take_text(struct byte_reader *in)
{
        struct text_view text = { (const char *)in->at, 0 };

        text.n_bytes = in->left > 0 ? strnlen(text.bytes, in->left) : 0;
        return text;
}

/* ---- which event, who, when ---------------------------------------------------------------------------- */

static uint64_t number_at(const uint8_t *bytes, size_t n_bytes, size_t at)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);

        (void)bytes_take(&in, at);
        return bytes_u64(&in);
}

/*
 * All events of a file have an id at the same place, or there is one event only: so does perf itself choose
 * what is in a record.
 */
static struct perf_event *find_event_of_sample(struct perf_file *file, const struct perf_raw_record *record)
{
        uint64_t type = file->events[0].sample_type;
        size_t at = 0;

        if (file->n_events == 1)
                return &file->events[0];
        if (!(type & PERF_HAS_IDENTIFIER)) {
                if (!(type & PERF_HAS_ID))
                        return &file->events[0];
                at = 8 * (size_t)__builtin_popcountll(
                                 type & (PERF_HAS_IP | PERF_HAS_TID | PERF_HAS_TIME | PERF_HAS_ADDR));
        }
        return perf_file_find_event(file, number_at(record->body, record->n_bytes, at));
}

/* Takes the numbers at the end of a record that is no sample off it. */
static int take_sample_id(struct perf_file *file, struct byte_reader *in, struct perf_entry *entry)
{
        const uint64_t parts = PERF_HAS_TID | PERF_HAS_TIME | PERF_HAS_ID | PERF_HAS_STREAM_ID |
                               PERF_HAS_CPU | PERF_HAS_IDENTIFIER;
        uint64_t type = file->events[0].sample_type & parts, id = 0;
        size_t n_bytes = 8 * (size_t)__builtin_popcountll(type);
        struct byte_reader tail;

        entry->event = &file->events[0];
        if (!file->events[0].has_sample_ids)
                return 0;
        if (n_bytes > in->left)
                return -EBADMSG;
        tail = byte_reader_of(in->at + in->left - n_bytes, n_bytes);
        in->left -= n_bytes;
        if (type & PERF_HAS_TID) {
                entry->pid = bytes_u32(&tail);
                entry->tid = bytes_u32(&tail);
        }
        entry->has_time = type & PERF_HAS_TIME;
        if (entry->has_time)
                entry->time = bytes_u64(&tail);
        if (type & PERF_HAS_ID)
                id = bytes_u64(&tail);
        if (type & PERF_HAS_STREAM_ID)
                (void)bytes_u64(&tail);
        if (type & PERF_HAS_CPU) {
                entry->cpu = bytes_u32(&tail);
                (void)bytes_u32(&tail);
        }
        if (type & PERF_HAS_IDENTIFIER)
                id = bytes_u64(&tail);
        if (id != 0 && perf_file_find_event(file, id))
                entry->event = perf_file_find_event(file, id);
        return 0;
}

/* ---- samples ------------------------------------------------------------------------------------------- */

static void skip_read(struct byte_reader *in, uint64_t format)
{
        uint64_t n_numbers = 1, n_each = 1U + !!(format & READ_ID) + !!(format & READ_LOST);
        uint64_t n_times = (unsigned)!!(format & READ_ENABLED) + !!(format & READ_RUNNING);

        if (!(format & READ_GROUP)) {
                (void)bytes_take(in, 8 * (n_each + n_times));
                return;
        }
        n_numbers = bytes_u64(in);
        (void)bytes_take(in, 8 * n_times);
        if (n_numbers > PERF_FILE_RECORD_MAX / 8)
                in->short_read = true;
        else
                (void)bytes_take(in, 8 * n_each * n_numbers);
}

static void take_chain(struct byte_reader *in, struct perf_entry *entry)
{
        entry->has_chain = true;
        entry->n_chain = bytes_u64(in);
        if (entry->n_chain > PERF_FILE_RECORD_MAX / 8)
                in->short_read = true;
        else
                entry->chain = bytes_take(in, 8 * entry->n_chain);
}

static void skip_branches(struct byte_reader *in, uint64_t branch_type)
{
        size_t entry_bytes = (branch_type & BRANCH_COUNTERS) != 0 ? BRANCH_BYTES + 8U : BRANCH_BYTES;
        uint64_t n = bytes_u64(in);

        if (branch_type & BRANCH_HW_INDEX)
                (void)bytes_u64(in);
        if (n > PERF_FILE_RECORD_MAX / BRANCH_BYTES)
                in->short_read = true;
        else
                (void)bytes_take(in, entry_bytes * n);
}

static void take_copy(struct byte_reader *in, struct perf_entry *entry, const struct perf_event *event)
{
        if (event->sample_type & PERF_HAS_REGS_USER) {
                entry->regs_abi = bytes_u64(in);
                if (entry->regs_abi != 0)
                        entry->regs_bytes = 8 * (size_t)__builtin_popcountll(event->regs_user);
                entry->regs = bytes_take(in, entry->regs_bytes);
        }
        if (event->sample_type & PERF_HAS_STACK_USER) {
                uint64_t n_bytes = bytes_u64(in);

                if (n_bytes == 0)
                        return;
                if (n_bytes > PERF_FILE_RECORD_MAX) {
                        in->short_read = true;
                        return;
                }
                entry->stack = bytes_take(in, n_bytes);
                entry->stack_bytes = bytes_u64(in);
                if (entry->stack_bytes > n_bytes)
                        entry->stack_bytes = n_bytes;
        }
}

static int decode_sample(struct perf_file *file, const struct perf_raw_record *record,
                         struct perf_entry *entry)
{
        struct byte_reader in = byte_reader_of(record->body, record->n_bytes);
        const struct perf_event *event = entry->event = find_event_of_sample(file, record);
        uint64_t type;

        if (!event)
                return -EBADMSG;
        type = event->sample_type;
        if (type & PERF_HAS_IDENTIFIER)
                (void)bytes_u64(&in);
        if (type & PERF_HAS_IP)
                entry->ip = bytes_u64(&in);
        if (type & PERF_HAS_TID) {
                entry->pid = bytes_u32(&in);
                entry->tid = bytes_u32(&in);
        }
        entry->has_time = type & PERF_HAS_TIME;
        if (entry->has_time)
                entry->time = bytes_u64(&in);
        if (type & PERF_HAS_ADDR)
                (void)bytes_u64(&in);
        if (type & PERF_HAS_ID)
                (void)bytes_u64(&in);
        if (type & PERF_HAS_STREAM_ID)
                (void)bytes_u64(&in);
        if (type & PERF_HAS_CPU) {
                entry->cpu = bytes_u32(&in);
                (void)bytes_u32(&in);
        }
        entry->period = event->is_frequency ? 1 : event->period;
        if (type & PERF_HAS_PERIOD)
                entry->period = bytes_u64(&in);
        if (type & PERF_HAS_READ)
                skip_read(&in, event->read_format);
        if (type & PERF_HAS_CALLCHAIN)
                take_chain(&in, entry);
        if (type & PERF_HAS_RAW)
                (void)bytes_take(&in, bytes_u32(&in));
        if (type & PERF_HAS_BRANCH_STACK)
                skip_branches(&in, event->branch_type);
        take_copy(&in, entry, event);
        return in.short_read ? -EBADMSG : 0;
}

/* ---- the rest ------------------------------------------------------------------------------------------ */

static void decode_mapping(struct byte_reader *in, struct perf_entry *entry)
{
        entry->pid = bytes_u32(in);
        entry->tid = bytes_u32(in);
        entry->start_avma = bytes_u64(in);
        entry->length_bytes = bytes_u64(in);
        entry->file_offset_bytes = bytes_u64(in);
        entry->is_code = !(entry->misc & MISC_DATA);
        if (entry->type == PERF_ENTRY_MMAP2 && entry->misc & MISC_BUILD_ID) {
                size_t n_bytes = bytes_u8(in);

                (void)bytes_take(in, 3);
                entry->build_id = bytes_take(in, BUILD_ID_BYTES);
                entry->build_id_bytes = n_bytes <= BUILD_ID_BYTES && entry->build_id ? n_bytes : 0;
        } else if (entry->type == PERF_ENTRY_MMAP2) {
                uint32_t major_number = bytes_u32(in), minor_number = bytes_u32(in);

                entry->device = makedev(major_number, minor_number);
                entry->inode = bytes_u64(in);
                entry->generation = (uint32_t)bytes_u64(in);
        }
        if (entry->type == PERF_ENTRY_MMAP2) {
                entry->is_code = bytes_u32(in) & PROT_EXECUTE;
                (void)bytes_u32(in);
        }
        entry->name = take_text(in);
}

static void decode_task(struct byte_reader *in, struct perf_entry *entry)
{
        uint64_t time;

        entry->pid = bytes_u32(in);
        entry->parent_pid = bytes_u32(in);
        entry->tid = bytes_u32(in);
        entry->parent_tid = bytes_u32(in);
        time = bytes_u64(in);
        if (!entry->has_time) {
                entry->has_time = true;
                entry->time = time;
        }
}

int perf_entry_decode(struct perf_file *file, const struct perf_raw_record *record,
                      struct perf_entry *ret_entry)
{
        struct perf_entry *entry = ret_entry;
        struct byte_reader in = byte_reader_of(record->body, record->n_bytes);

        *entry = (struct perf_entry){ .type = record->type,
                                      .misc = record->misc,
                                      .at = record->at,
                                      .pid = PERF_ENTRY_NO_PID,
                                      .tid = PERF_ENTRY_NO_PID };
        if (record->type == PERF_ENTRY_SAMPLE)
                return decode_sample(file, record, entry);
        if (record->type >= PERF_ENTRY_USER)
                return 0;
        if (take_sample_id(file, &in, entry) < 0)
                return -EBADMSG;
        switch (record->type) {
        case PERF_ENTRY_MMAP:
        case PERF_ENTRY_MMAP2:
                decode_mapping(&in, entry);
                break;
        case PERF_ENTRY_COMM:
                entry->pid = bytes_u32(&in);
                entry->tid = bytes_u32(&in);
                entry->name = take_text(&in);
                break;
        case PERF_ENTRY_FORK:
        case PERF_ENTRY_EXIT:
                decode_task(&in, entry);
                break;
        case PERF_ENTRY_LOST:
                (void)bytes_u64(&in);
                entry->n_lost = bytes_u64(&in);
                break;
        case PERF_ENTRY_LOST_SAMPLES:
                entry->n_lost = bytes_u64(&in);
                break;
        default:
                break;
        }
        return in.short_read ? -EBADMSG : 0;
}
