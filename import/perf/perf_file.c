/* SPDX-License-Identifier: MIT */
#include "import/perf/perf_file.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/io.h"
#include "import/file/import_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC             "PERFILE2"
#define MAGIC_SWAPPED     "2ELIFREP"
#define MAGIC_BYTES       8
#define HEADER_BYTES      104
#define PIPE_HEADER_BYTES 16
#define ATTR_BYTES_MIN    64 /* of the first version of struct perf_event_attr */
#define ATTR_BYTES_MAX    4096
#define SECTION_BYTES     16
#define WINDOW_BYTES      ((size_t)1 << 20)
#define AUXTRACE          71 /* PERF_RECORD_AUXTRACE: bytes that are not in its length follow it */

/* perf_event_attr's flags */
#define FLAG_FREQUENCY     (UINT64_C(1) << 10)
#define FLAG_SAMPLE_ID_ALL (UINT64_C(1) << 18)
#define FLAG_USE_CLOCK     (UINT64_C(1) << 25)

bool perf_file_recognise(struct text_view head)
{
        return head.n_bytes >= MAGIC_BYTES && (memcmp(head.bytes, MAGIC, MAGIC_BYTES) == 0 ||
                                               memcmp(head.bytes, MAGIC_SWAPPED, MAGIC_BYTES) == 0);
}

int perf_file_read(const struct perf_file *file, uint64_t at, void *bytes, size_t n_bytes, struct error *err)
{
        size_t n_read = 0;
        int r = io_pread_full(file->fd, bytes, n_bytes, at, &n_read, err);

        return r < 0 ? r : n_read < n_bytes ? -ENODATA : 0;
}

/* ---- a file to seek in --------------------------------------------------------------------------------- */

static int spool(struct perf_file *file, struct import_source *source, int spool_fd, struct error *err)
{
        struct text_view bytes;
        int r;

        file->fd = spool_fd >= 0 ? fcntl(spool_fd, F_DUPFD_CLOEXEC, 0) : io_open_unnamed(err);
        if (file->fd < 0)
                return spool_fd >= 0 ? error_errno(err, "a file for what is packed") : file->fd;
        while ((r = import_source_next_bytes(source, WINDOW_BYTES, &bytes, err)) == 1) {
                r = io_write_all(file->fd, bytes.bytes, bytes.n_bytes, err);
                if (r < 0)
                        return r;
        }
        return r == -EBADMSG ? 0 : r; /* cut packing: the bytes before that count */
}

static int open_bytes(struct perf_file *file, struct import_source *source, int spool_fd, struct error *err)
{
        const char *path = import_source_path(source);
        char magic[MAGIC_BYTES];
        struct stat st;
        int r = 0;

        file->fd = strcmp(path, "-") == 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (file->fd < 0 || fstat(file->fd, &st) < 0 || !S_ISREG(st.st_mode) ||
            perf_file_read(file, 0, magic, sizeof(magic), NULL) < 0 ||
            memcmp(magic, MAGIC, MAGIC_BYTES) != 0) {
                io_close(&file->fd);
                r = spool(file, source, spool_fd, err);
        }
        if (r < 0)
                return r;
        if (fstat(file->fd, &st) < 0)
                return error_set(err, -errno, "its length is not known");
        file->n_bytes = (uint64_t)st.st_size;
        if (stat(path, &st) == 0)
                file->changed_s = st.st_mtim.tv_sec;
        return 0;
}

/* ---- header and events --------------------------------------------------------------------------------- */

struct section {
        uint64_t at, n_bytes;
};

static struct section take_section(struct byte_reader *in)
{
        struct section s = { .at = bytes_u64(in) };

        s.n_bytes = bytes_u64(in);
        return s;
}

static bool is_within(const struct perf_file *file, struct section s)
{
        return s.at <= file->n_bytes && s.n_bytes <= file->n_bytes - s.at;
}

static void parse_attr(const uint8_t *bytes, size_t n_bytes, struct perf_event *event)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);
        uint64_t flags;

        *event = (struct perf_event){ .type = bytes_u32(&in) };
        (void)bytes_u32(&in);
        event->config = bytes_u64(&in);
        event->period = bytes_u64(&in);
        event->sample_type = bytes_u64(&in);
        event->read_format = bytes_u64(&in);
        flags = bytes_u64(&in);
        event->is_frequency = flags & FLAG_FREQUENCY;
        event->has_sample_ids = flags & FLAG_SAMPLE_ID_ALL;
        (void)bytes_take(&in, 24); /* wake-up, breakpoint */
        /* Older versions of the struct end earlier: what is missing is 0. */
        event->branch_type = bytes_u64(&in);
        event->regs_user = bytes_u64(&in);
        (void)bytes_u32(&in);
        event->clock = (int32_t)bytes_u32(&in);
        event->has_clock = flags & FLAG_USE_CLOCK && !in.short_read;
}

static int read_ids(struct perf_file *file, uint32_t event, struct section ids, struct error *err)
{
        uint64_t n = ids.n_bytes / sizeof(uint64_t);
        uint8_t bytes[sizeof(uint64_t)];

        if (!is_within(file, ids) || n > PERF_FILE_IDS_MAX - file->ids.n_items)
                return error_set(err, -EBADMSG, "the numbers of event %u lie beyond the file", event + 1);
        for (uint64_t i = 0; i < n; i++) {
                struct byte_reader in = byte_reader_of(bytes, sizeof(bytes));
                uint64_t value;
                uint32_t id;
                int r = perf_file_read(file, ids.at + i * sizeof(bytes), bytes, sizeof(bytes), err);

                value = bytes_u64(&in);
                if (r == 0)
                        r = intern_add_row(&file->ids, &value, &file->event_of_id,
                                           &file->event_of_id_capacity, sizeof(*file->event_of_id), &id);
                if (r < 0)
                        return error_set(err, r, "the numbers of event %u cannot be read", event + 1);
                if (r == 1)
                        file->event_of_id[id - 1] = event;
        }
        return 0;
}

static int read_attrs(struct perf_file *file, struct section attrs, uint64_t attr_bytes, struct error *err)
{
        uint8_t bytes[ATTR_BYTES_MAX];
        uint64_t n = attrs.n_bytes / attr_bytes;

        if (!is_within(file, attrs) || n == 0 || n > PERF_FILE_EVENTS_MAX)
                return error_set(err, -EBADMSG, "it has no events, or they lie beyond the file");
        if (array_reserve(&file->events, &file->events_capacity, (size_t)n, sizeof(*file->events)) < 0)
                return error_set(err, -ENOMEM, "no memory for events");
        for (uint32_t i = 0; i < n; i++) {
                struct byte_reader in = byte_reader_of(bytes, (size_t)attr_bytes);
                int r = perf_file_read(file, attrs.at + i * attr_bytes, bytes, (size_t)attr_bytes, err);

                if (r < 0)
                        return r;
                parse_attr(bytes, (size_t)attr_bytes - SECTION_BYTES, &file->events[i]);
                file->n_events = i + 1;
                (void)bytes_take(&in, (size_t)attr_bytes - SECTION_BYTES);
                r = read_ids(file, i, take_section(&in), err);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int read_header(struct perf_file *file, struct error *err)
{
        uint8_t bytes[HEADER_BYTES] = { 0 };
        struct byte_reader in = byte_reader_of(bytes, sizeof(bytes));
        uint64_t header_bytes, attr_bytes, bits[4];
        struct section attrs, data;
        size_t n_read;
        int r = io_pread_full(file->fd, bytes, sizeof(bytes), 0, &n_read, err);

        if (r < 0)
                return r;
        if (n_read >= MAGIC_BYTES && memcmp(bytes, MAGIC_SWAPPED, MAGIC_BYTES) == 0)
                return error_set(err, -ENOTSUP, "it was recorded on a machine of the other byte order");
        (void)bytes_take(&in, MAGIC_BYTES);
        header_bytes = bytes_u64(&in);
        if (n_read >= PIPE_HEADER_BYTES && header_bytes == PIPE_HEADER_BYTES)
                return error_set(err, -ENOTSUP,
                                 "perf wrote it through a pipe: record to a file (perf record -o FILE)");
        if (n_read < HEADER_BYTES || header_bytes < HEADER_BYTES)
                return error_set(err, -EBADMSG, "its header is cut off");
        attr_bytes = bytes_u64(&in);
        attrs = take_section(&in);
        data = take_section(&in);
        (void)take_section(&in);
        for (unsigned i = 0; i < 4; i++)
                bits[i] = bytes_u64(&in);
        if (attr_bytes < ATTR_BYTES_MIN + SECTION_BYTES || attr_bytes > ATTR_BYTES_MAX)
                return error_set(err, -EBADMSG, "an event of it has an impossible length");
        if (data.at > file->n_bytes || data.at < HEADER_BYTES)
                return error_set(err, -EBADMSG, "its records lie beyond the file");
        r = read_attrs(file, attrs, attr_bytes, err);
        if (r < 0)
                return r == -ENODATA ? error_set(err, -EBADMSG, "its events lie beyond the file") : r;
        file->at = file->data_at = data.at;
        file->has_no_end = data.n_bytes == 0;
        if (file->has_no_end || __builtin_add_overflow(data.at, data.n_bytes, &file->data_end))
                file->data_end = file->has_no_end ? file->n_bytes : UINT64_MAX;
        return file->has_no_end ? 0 : perf_file_read_features(file, bits, err);
}

int perf_file_open(struct perf_file *file, struct import_source *source, int spool_fd, struct error *err)
{
        int r;

        *file = (struct perf_file){ .fd = -1 };
        intern_init(&file->ids, sizeof(uint64_t), 0);
        intern_init(&file->build_id_names, 0, 0);
        r = open_bytes(file, source, spool_fd, err);
        if (r == 0)
                r = read_header(file, err);
        if (r < 0)
                perf_file_close(file);
        return r;
}

void perf_file_close(struct perf_file *file)
{
        io_close(&file->fd);
        free(file->events);
        free(file->event_of_id);
        free(file->build_ids);
        intern_deinit(&file->ids);
        intern_deinit(&file->build_id_names);
        byte_buffer_deinit(&file->names);
        byte_buffer_deinit(&file->window);
}

struct perf_event *perf_file_find_event(struct perf_file *file, uint64_t id)
{
        uint32_t known;

        if (file->n_events == 1)
                return &file->events[0];
        known = intern_find(&file->ids, &id, sizeof(id));
        return known != 0 ? &file->events[file->event_of_id[known - 1]] : NULL;
}

const struct perf_build_id *perf_file_find_build_id(const struct perf_file *file, struct text_view path)
{
        uint32_t id = intern_find(&file->build_id_names, path.bytes, path.n_bytes);

        return id != 0 && file->build_ids[id - 1].n_bytes != 0 ? &file->build_ids[id - 1] : NULL;
}

/* ---- records ------------------------------------------------------------------------------------------- */

/* Makes the window hold @n_bytes from `at` on.  Returns 0, -ENODATA, -errno. */
static int fill(struct perf_file *file, size_t n_bytes, struct error *err)
{
        uint64_t left;
        size_t n_read;
        int r;

        if (file->at >= file->window_at && file->at - file->window_at <= file->window.used_bytes &&
            n_bytes <= file->window.used_bytes - (file->at - file->window_at))
                return 0;
        left = file->data_end < file->n_bytes ? file->data_end : file->n_bytes;
        left = left > file->at ? left - file->at : 0;
        if (left < n_bytes)
                return -ENODATA;
        byte_buffer_clear(&file->window);
        if (!byte_buffer_reserve(&file->window, WINDOW_BYTES))
                return error_set(err, -ENOMEM, "no memory for records");
        r = io_pread_full(file->fd, file->window.data, left < WINDOW_BYTES ? (size_t)left : WINDOW_BYTES,
                          file->at, &n_read, err);
        if (r < 0)
                return r;
        file->window.used_bytes = n_read;
        file->window_at = file->at;
        return n_read < n_bytes ? -ENODATA : 0;
}

int perf_file_next(struct perf_file *file, struct perf_raw_record *ret_record, struct error *err)
{
        struct perf_raw_record record;
        struct byte_reader in;
        size_t n_bytes;
        uint64_t behind = 0;
        int r;

        if (file->at >= file->data_end)
                return 0;
        if (file->has_no_end && file->at == file->n_bytes)
                return 0;
        r = fill(file, 8, err);
        if (r < 0)
                return r;
        in = byte_reader_of(file->window.data + (file->at - file->window_at), 8);
        record.type = bytes_u32(&in);
        record.misc = bytes_u16(&in);
        n_bytes = bytes_u16(&in);
        if (n_bytes < 8)
                return -EBADMSG;
        r = fill(file, n_bytes, err);
        if (r < 0)
                return r;
        record.body = file->window.data + (file->at - file->window_at) + 8;
        record.n_bytes = n_bytes - 8;
        record.at = file->at;
        in = byte_reader_of(record.body, record.n_bytes);
        if (record.type == AUXTRACE)
                behind = bytes_u64(&in);
        file->at += n_bytes;
        if (__builtin_add_overflow(file->at, behind, &file->at))
                file->at = UINT64_MAX;
        *ret_record = record;
        return 1;
}
