/* SPDX-License-Identifier: MIT */
#include "import/perf/perf_file.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Bits of the header, in whose order the sections follow each other. */
enum { BUILD_ID = 2, VERSION = 4, ARCH = 6, EVENT_DESC = 12, CLOCK_DATA = 29, N_FEATURES = 256 };

#define SECTION_BYTES    16
#define MISC_ID_SIZE     (UINT16_C(1) << 15) /* PERF_RECORD_MISC_BUILD_ID_SIZE */
#define MISC_MODE_MASK   7
#define MISC_MODE_KERNEL 1
#define ID_FIELD_BYTES   24 /* 20 of the build-id, its length, 3 unused */
#define ID_RECORD_BYTES  (8 + 4 + ID_FIELD_BYTES)

/* A string as perf writes it: a length, and so many bytes, of which those up to the first NUL count. */
static struct text_view take_string(struct byte_reader *in)
{
        uint32_t n_bytes = bytes_u32(in);
        const char *bytes = (const char *)bytes_take(in, n_bytes);

        return (struct text_view){ bytes, bytes ? strnlen(bytes, n_bytes) : 0 };
}

static void copy_string(struct byte_reader *in, char *to, size_t to_bytes)
{
        struct text_view text = take_string(in);

        if (text.n_bytes > 0 && text.n_bytes < to_bytes)
                memcpy(to, text.bytes, text.n_bytes); /* the rest is 0 */
}

static int read_names(struct perf_file *file, struct byte_reader *in)
{
        uint32_t n = bytes_u32(in), attr_bytes = bytes_u32(in);

        for (uint32_t i = 0; i < n && i < file->n_events && !in->short_read; i++) {
                uint32_t n_ids;
                struct text_view name;

                (void)bytes_take(in, attr_bytes);
                n_ids = bytes_u32(in);
                name = take_string(in);
                (void)bytes_take(in, (size_t)n_ids * sizeof(uint64_t));
                if (in->short_read)
                        break;
                file->events[i].name_at = file->names.used_bytes;
                file->events[i].name_bytes = name.n_bytes;
                byte_buffer_add(&file->names, name.bytes, name.n_bytes);
        }
        return file->names.failed ? -ENOMEM : 0;
}

static int add_build_id(struct perf_file *file, uint16_t misc, struct byte_reader *in)
{
        struct perf_build_id row = { .in_kernel = (misc & MISC_MODE_MASK) == MISC_MODE_KERNEL };
        const uint8_t *bytes;
        const char *name;
        uint32_t id;
        int r;

        (void)bytes_u32(in);
        bytes = bytes_take(in, ID_FIELD_BYTES);
        name = (const char *)in->at;
        if (!bytes || in->left == 0)
                return 0;
        row.n_bytes = (misc & MISC_ID_SIZE) != 0 ? bytes[PERF_FILE_BUILD_ID_MAX] : PERF_FILE_BUILD_ID_MAX;
        if (row.n_bytes > PERF_FILE_BUILD_ID_MAX)
                return 0;
        memcpy(row.bytes, bytes, row.n_bytes);
        r = intern_add(&file->build_id_names, name, strnlen(name, in->left), &id);
        if (r == 1)
                r = array_extend(&file->build_ids, &file->build_ids_capacity, id - 1, id, sizeof(row));
        if (r < 0)
                return r;
        row.name = id;
        file->build_ids[id - 1] = row;
        return 0;
}

static int read_build_ids(struct perf_file *file, struct byte_reader *in)
{
        int r = 0;

        while (in->left >= ID_RECORD_BYTES && r == 0) {
                uint16_t misc, n_bytes;
                struct byte_reader body;

                (void)bytes_u32(in);
                misc = bytes_u16(in);
                n_bytes = bytes_u16(in);
                if (n_bytes < ID_RECORD_BYTES || n_bytes - 8U > in->left)
                        break;
                body = byte_reader_of(bytes_take(in, n_bytes - 8U), n_bytes - 8U);
                r = add_build_id(file, misc, &body);
        }
        return r;
}

static void read_clock(struct perf_file *file, struct byte_reader *in)
{
        uint32_t version = bytes_u32(in);

        (void)bytes_u32(in);
        file->realtime_ns = bytes_u64(in);
        file->clock_ns = bytes_u64(in);
        file->has_clock_pair = version == 1 && !in->short_read;
}

static int read_feature(struct perf_file *file, unsigned bit, const uint8_t *bytes, size_t n_bytes)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);

        if (bit == BUILD_ID)
                return read_build_ids(file, &in);
        if (bit == EVENT_DESC)
                return read_names(file, &in);
        if (bit == VERSION)
                copy_string(&in, file->version, sizeof(file->version));
        else if (bit == ARCH)
                copy_string(&in, file->machine, sizeof(file->machine));
        else
                read_clock(file, &in);
        return 0;
}

int perf_file_read_features(struct perf_file *file, const uint64_t bits[4], struct error *err)
{
        static const uint8_t wanted[N_FEATURES] = {
                [BUILD_ID] = 1, [VERSION] = 1, [ARCH] = 1, [EVENT_DESC] = 1, [CLOCK_DATA] = 1
        };
        uint64_t at = file->data_end;
        uint8_t place[SECTION_BYTES];

        for (unsigned bit = 0; bit < N_FEATURES; bit++) {
                struct byte_reader in = byte_reader_of(place, sizeof(place));
                uint64_t from, n_bytes;
                uint8_t *bytes;
                int r;

                if (!(bits[bit / 64] >> bit % 64 & 1))
                        continue;
                if (at > file->n_bytes || perf_file_read(file, at, place, sizeof(place), NULL) < 0)
                        return 0;
                at += sizeof(place);
                from = bytes_u64(&in);
                n_bytes = bytes_u64(&in);
                if (!wanted[bit] || n_bytes == 0 || n_bytes > PERF_FILE_FEATURE_MAX || from > file->n_bytes ||
                    n_bytes > file->n_bytes - from)
                        continue;
                bytes = malloc((size_t)n_bytes);
                if (!bytes)
                        return error_set(err, -ENOMEM, "no memory for its features");
                r = perf_file_read(file, from, bytes, (size_t)n_bytes, NULL);
                if (r == 0)
                        r = read_feature(file, bit, bytes, (size_t)n_bytes);
                free(bytes);
                if (r == -ENOMEM)
                        return error_set(err, r, "no memory for its features");
        }
        return 0;
}
