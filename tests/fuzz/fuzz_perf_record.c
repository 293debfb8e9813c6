/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/perf_record.c, group_counts.c, unwind_frame_pointer.c: any bytes are a record or are
 * refused; what it borrows lies within them
 */
#include "base/error.h"
#include "sampler/events/event_set.h"
#include "sampler/events/group_counts.h"
#include "sampler/kernel/call_chain.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/stacks/stack_unwinder.h"
#include "sampler/tracks/address_space.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_AT 6 /* of the 16 bits in which a record states its size */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Borrowed bytes end where the record does, or before. */
static void expect_within(const void *at, size_t n_bytes, const uint8_t *record, size_t record_bytes)
{
        const uint8_t *first = at;

        if (n_bytes > 0 && (first < record || n_bytes > (size_t)(record + record_bytes - first)))
                abort();
}

/* Counters are looked into twice: what goes backwards counts nothing. */
static void count(const struct perf_record *rec, uint64_t read_format, bool inherited)
{
        struct event_handle handles[] = { { .id = 1, .spec = 0 },
                                          { .id = 2, .spec = 1 },
                                          { .id = 3, .spec = 2 } };
        const struct event_set events = { .handles = handles, .n_handles = 3 };
        struct group_counts counts;

        group_counts_init(&counts, read_format, inherited, !inherited);
        for (int i = 0; i < 2; i++)
                if (group_counts_take(&counts, &events, rec) < 0 || counts.n_counts > EVENT_REQUEST_SPECS_MAX)
                        abort();
        group_counts_deinit(&counts);
}

static void look_at(const struct perf_record *rec, const uint8_t *bytes, size_t n_bytes)
{
        static const struct address_space nothing_mapped = { .n_ranges = 0 };
        static struct call_chain chain;

        switch (rec->kind) {
        case PERF_RECORD_KIND_SAMPLE:
        case PERF_RECORD_KIND_SYSCALL:
                if (rec->sample.stack.chain)
                        expect_within(rec->sample.stack.chain, rec->sample.stack.n_chain * sizeof(uint64_t),
                                      bytes, n_bytes);
                expect_within(rec->sample.stack.registers, rec->sample.stack.registers_bytes, bytes, n_bytes);
                expect_within(rec->sample.stack.copy, rec->sample.stack.copy_bytes, bytes, n_bytes);
                expect_within(rec->sample.raw, rec->sample.raw_bytes, bytes, n_bytes);
                expect_within(rec->sample.counts, rec->sample.counts_bytes, bytes, n_bytes);
                unwind_frame_pointer_run(&rec->sample.stack, &nothing_mapped, &chain);
                if (chain.n_frames < 1 || chain.n_frames > CALL_CHAIN_FRAMES_MAX)
                        abort();
                break;
        case PERF_RECORD_KIND_MMAP:
                expect_within(rec->mmap.path, rec->mmap.path_bytes, bytes, n_bytes);
                if (rec->mmap.build_id_bytes > PERF_RECORD_BUILD_ID_MAX)
                        abort();
                break;
        case PERF_RECORD_KIND_COMM:
                expect_within(rec->comm.name, rec->comm.name_bytes, bytes, n_bytes);
                break;
        case PERF_RECORD_KIND_KERNEL_CODE:
                expect_within(rec->kernel_code.name, rec->kernel_code.name_bytes, bytes, n_bytes);
                break;
        case PERF_RECORD_KIND_FORK:
        case PERF_RECORD_KIND_EXIT:
        case PERF_RECORD_KIND_SWITCH:
        case PERF_RECORD_KIND_WAKEUP:
        case PERF_RECORD_KIND_LATE:
        case PERF_RECORD_KIND_GIL:
        case PERF_RECORD_KIND_PROBE:
        case PERF_RECORD_KIND_NUMBER:
        case PERF_RECORD_KIND_LOST:
        case PERF_RECORD_KIND_LOST_SAMPLES:
        case PERF_RECORD_KIND_THROTTLE:
        case PERF_RECORD_KIND_OTHER:
                break;
        }
}

/* The first two bytes choose which parts samples have. */
static struct perf_record_layout layout_of(uint8_t parts, uint8_t formats)
{
        static const uint64_t types[] = { PERF_SAMPLE_CALLCHAIN,  0,
                                          PERF_SAMPLE_READ,       PERF_SAMPLE_REGS_USER,
                                          PERF_SAMPLE_STACK_USER, PERF_SAMPLE_RAW };
        static const uint64_t registers[] = { 0x1, 0xff0fff, 0x100, UINT64_MAX };
        struct perf_record_layout layout = { .sample_type = PERF_RECORD_SAMPLE_TYPE,
                                             .read_format = formats & 0x1f,
                                             .user_registers = registers[parts >> 6] };

        for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
                if (parts & 1u << i)
                        layout.sample_type |= types[i];
        return layout;
}

/*
 * The first byte: bit 0, samples have chains; bit 1, the size that the record states is its true one; bit 2,
 * they have counters; 3, registers; 4, a copy of the stack; 5, the bytes of a tracepoint; 6 and 7, which
 * registers.  The second byte: PERF_FORMAT_*, of the counters; bit 7, of each thread.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        uint8_t parts = size > 0 ? data[0] : 0, formats = size > 1 ? data[1] : 0;
        struct perf_record_layout layout = layout_of(parts, formats);
        struct error err = ERROR_NONE;
        struct perf_record rec;
        size_t n_bytes = size > 2 ? size - 2 : 0;
        uint8_t *bytes = malloc(n_bytes > 0 ? n_bytes : 1); /* of its own, so that its end is guarded */

        if (!bytes)
                abort();
        if (n_bytes > 0)
                memcpy(bytes, data + 2, n_bytes);
        if (n_bytes >= SIZE_AT + 2 && (parts & 2)) {
                bytes[SIZE_AT] = (uint8_t)n_bytes;
                bytes[SIZE_AT + 1] = (uint8_t)(n_bytes >> 8);
        }
        if (perf_record_decode(bytes, n_bytes, &layout, &rec, &err) == 0) {
                look_at(&rec, bytes, n_bytes);
                count(&rec, layout.read_format, (formats & 0x80) != 0);
        } else if (err.text[0] == '\0') {
                abort();
        }
        free(bytes);
        return 0;
}
