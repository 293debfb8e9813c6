/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_directory.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "base/io.h"
#include "timeline/timeline_index.h"
#include "timeline/timeline_lane.h"
#include "timeline/timeline_launches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_MAGIC      UINT64_C(0x31786c746f727068) /* "hprotlx1" */
#define HEAD_BYTES      ((size_t)8 * 14)             /* the rest of TIMELINE_HEAD_BYTES is 0 */
#define DIRECTORY_MAX   (UINT64_C(256) << 20)
#define IDENTITY_SAMPLE (UINT32_C(64) << 10)
#define ROOTS_MAX       (TIMELINE_LEVELS_MAX + 1)

/* ---- the trace ----------------------------------------------------------------------------------------- */

static int hash_part(int fd, uint64_t at_bytes, uint8_t *part, uint64_t *ret_hash, struct error *err)
{
        size_t n_bytes = 0;
        int r = io_pread_full(fd, part, IDENTITY_SAMPLE, at_bytes, &n_bytes, err);

        if (r == 0)
                *ret_hash = content_hash(part, n_bytes);
        return r;
}

int timeline_identity_read(int fd, struct timeline_identity *ret_identity, struct error *err)
{
        struct stat status;
        uint64_t first = 0, last = 0, size_bytes;
        uint8_t *part;
        int r;

        if (fstat(fd, &status) < 0)
                return error_errno(err, "the trace");
        part = malloc(IDENTITY_SAMPLE);
        if (!part)
                return error_set(err, -ENOMEM, "the trace: out of memory");
        size_bytes = status.st_size > 0 ? (uint64_t)status.st_size : 0;
        r = hash_part(fd, 0, part, &first, err);
        if (r == 0)
                r = hash_part(fd, size_bytes > IDENTITY_SAMPLE ? size_bytes - IDENTITY_SAMPLE : 0, part,
                              &last, err);
        free(part);
        if (r < 0)
                return r;
        *ret_identity = (struct timeline_identity){
                .device = (uint64_t)status.st_dev,
                .inode = (uint64_t)status.st_ino,
                .size_bytes = size_bytes,
                .mtime_ns = (uint64_t)status.st_mtim.tv_sec * NS_PER_S + (uint64_t)status.st_mtim.tv_nsec,
                .ctime_ns = (uint64_t)status.st_ctim.tv_sec * NS_PER_S + (uint64_t)status.st_ctim.tv_nsec,
                .content = first ^ (last << 1 | last >> 63),
        };
        return 0;
}

/* ---- saving -------------------------------------------------------------------------------------------- */

static int put_lane(struct timeline_index *t, const struct timeline_lane *lane, struct byte_buffer *out,
                    struct error *err)
{
        struct timeline_ref roots[ROOTS_MAX];
        int n_roots = timeline_lane_save(&t->pages, lane, roots, err);

        if (n_roots < 0)
                return n_roots;
        byte_buffer_add_u32(out, lane->kind);
        byte_buffer_add_u32(out, lane->track);
        byte_buffer_add_u32(out, lane->depth);
        byte_buffer_add_u32(out, (uint32_t)n_roots);
        byte_buffer_add_u64(out, lane->n_items);
        byte_buffer_add_u64(out, lane->first_begin);
        byte_buffer_add_u64(out, lane->last_end);
        for (int i = 0; i < n_roots; i++) {
                uint8_t *at = byte_buffer_reserve(out, TIMELINE_REF_BYTES);

                if (!at)
                        return -ENOMEM;
                timeline_ref_put(at, &roots[i]);
                out->used_bytes += TIMELINE_REF_BYTES;
        }
        return 0;
}

static void put_track(const struct timeline_track *track, struct byte_buffer *out)
{
        byte_buffer_add_u32(out, track->kind);
        byte_buffer_add_u32(out, track->process);
        byte_buffer_add_u32(out, track->thread);
        byte_buffer_add_u32(out, track->number);
        byte_buffer_add_u32(out, track->lane);
        byte_buffer_add_u64(out, track->busy_ns);
        byte_buffer_add_u32(out, track->title);
        byte_buffer_add_u32(out, track->title_bytes);
        byte_buffer_add_u32(out, track->unit);
        byte_buffer_add_u32(out, track->unit_bytes);
}

static void put_strings(const struct intern *strings, struct byte_buffer *out)
{
        byte_buffer_add_u32(out, strings->n_items);
        for (uint32_t i = 1; i <= strings->n_items; i++) {
                size_t n_bytes;
                const char *text = intern_get(strings, i, &n_bytes);

                byte_buffer_add_varint(out, n_bytes);
                byte_buffer_add(out, text, n_bytes);
        }
}

static void put_launches(const struct timeline_index *t, struct byte_buffer *out)
{
        byte_buffer_add_u64(out, t->n_launches_left_out);
        byte_buffer_add_u32(out, t->n_launches);
        for (uint32_t i = 0; i < t->n_launches; i++) {
                const struct timeline_launch *launch = &t->launches[i];

                byte_buffer_add_u64(out, launch->host_ns);
                byte_buffer_add_u64(out, launch->device_ns);
                byte_buffer_add_u64(out, launch->from_ns);
                byte_buffer_add_u64(out, launch->to_ns);
                byte_buffer_add_u32(out, launch->host_track);
                byte_buffer_add_u32(out, launch->host_location);
                byte_buffer_add_u32(out, launch->device_track);
                byte_buffer_add_u32(out, launch->device_location);
        }
}

static void put_counts(const struct timeline_index *t, struct byte_buffer *out)
{
        for (size_t kind = 0; kind < TIMELINE_LANE_KIND_COUNT; kind++) {
                const struct timeline_counts *counts = &t->counts[kind];
                size_t n = counts->is_known ? counts->n : 0;

                while (n > 0 && counts->by_what[n - 1] == 0)
                        n--;
                byte_buffer_add_u8(out, counts->is_known);
                byte_buffer_add_u32(out, (uint32_t)n);
                for (size_t i = 0; i < n; i++)
                        byte_buffer_add_u64(out, counts->by_what[i]);
        }
}

static int encode_directory(struct timeline_index *t, struct byte_buffer *out, struct error *err)
{
        int r = 0;

        byte_buffer_add_u32(out, t->n_tracks);
        for (uint32_t i = 0; i < t->n_tracks; i++)
                put_track(&t->tracks[i], out);
        byte_buffer_add_u64(out, t->texts.used_bytes);
        byte_buffer_add(out, t->texts.data, t->texts.used_bytes);
        put_strings(&t->messages, out);
        put_strings(&t->zone_texts, out);
        byte_buffer_add_u64(out, t->n_texts_left_out);
        put_launches(t, out);
        put_counts(t, out);
        byte_buffer_add_u32(out, t->n_lanes);
        for (uint32_t i = 0; i < t->n_lanes && r == 0; i++)
                r = put_lane(t, t->lanes[i], out, err);
        if (r == -ENOMEM || out->failed)
                return error_set(err, -ENOMEM, "the index of the time line: out of memory");
        return r;
}

static void encode_head(const struct timeline_index *t, const struct timeline_identity *identity,
                        uint64_t at_bytes, const struct byte_buffer *directory, struct byte_buffer *out)
{
        byte_buffer_add_u64(out, HEAD_MAGIC);
        byte_buffer_add_u32(out, TIMELINE_VERSION);
        byte_buffer_add_u32(out, t->unit_log2);
        byte_buffer_add_u64(out, identity->device);
        byte_buffer_add_u64(out, identity->inode);
        byte_buffer_add_u64(out, identity->size_bytes);
        byte_buffer_add_u64(out, identity->mtime_ns);
        byte_buffer_add_u64(out, identity->ctime_ns);
        byte_buffer_add_u64(out, identity->content);
        byte_buffer_add_u64(out, t->start_ns);
        byte_buffer_add_u64(out, t->duration_ns);
        byte_buffer_add_u64(out, t->n_left_out);
        byte_buffer_add_u64(out, at_bytes);
        byte_buffer_add_u64(out, directory->used_bytes);
        byte_buffer_add_u64(out, content_hash(directory->data, directory->used_bytes));
        if (!out->failed)
                byte_buffer_add_u64(out, content_hash(out->data, out->used_bytes));
}

static int save_at(int fd, const struct byte_buffer *bytes, uint64_t at_bytes, struct error *err)
{
        int r = io_pwrite_all(fd, bytes->data, bytes->used_bytes, at_bytes, err);

        return r < 0 ? error_prefix(err, r, "the index of the time line") : 0;
}

/* Writes the head last: without a head, the file is not a valid index. */
int timeline_directory_save(struct timeline_index *t, const struct timeline_identity *identity,
                            struct error *err)
{
        struct byte_buffer directory = { .data = NULL }, head = { .data = NULL };
        uint64_t at_bytes;
        int r = encode_directory(t, &directory, err);

        if (r == 0)
                r = timeline_pages_flush(&t->pages, err);
        at_bytes = t->pages.size_bytes;
        if (r == 0)
                r = save_at(t->pages.fd, &directory, at_bytes, err);
        if (r == 0) {
                encode_head(t, identity, at_bytes, &directory, &head);
                r = head.failed ? error_set(err, -ENOMEM, "the index of the time line: out of memory")
                                : save_at(t->pages.fd, &head, 0, err);
        }
        byte_buffer_deinit(&directory);
        byte_buffer_deinit(&head);
        return r;
}

/* ---- opening ------------------------------------------------------------------------------------------- */

struct timeline_head {
        uint32_t version, unit_log2;
        struct timeline_identity identity;
        uint64_t start_ns, duration_ns, n_left_out;
        uint64_t directory_at, directory_bytes, directory_hash;
};

static int directory_damaged(struct error *err, const char *what)
{
        return error_set(err, -EBADMSG, "the index of the time line is damaged: %s", what);
}

static int decode_head(const uint8_t *bytes, uint64_t file_bytes, struct timeline_head *ret,
                       struct error *err)
{
        struct byte_reader in = byte_reader_of(bytes, HEAD_BYTES + 8);
        struct timeline_head h;

        if (bytes_u64(&in) != HEAD_MAGIC)
                return directory_damaged(err, "it is not complete");
        h.version = bytes_u32(&in);
        h.unit_log2 = bytes_u32(&in);
        if (h.version != TIMELINE_VERSION)
                return error_set(err, -ESTALE, "the index of the time line is of another version");
        h.identity.device = bytes_u64(&in);
        h.identity.inode = bytes_u64(&in);
        h.identity.size_bytes = bytes_u64(&in);
        h.identity.mtime_ns = bytes_u64(&in);
        h.identity.ctime_ns = bytes_u64(&in);
        h.identity.content = bytes_u64(&in);
        h.start_ns = bytes_u64(&in);
        h.duration_ns = bytes_u64(&in);
        h.n_left_out = bytes_u64(&in);
        h.directory_at = bytes_u64(&in);
        h.directory_bytes = bytes_u64(&in);
        h.directory_hash = bytes_u64(&in);
        if (bytes_u64(&in) != content_hash(bytes, HEAD_BYTES))
                return directory_damaged(err, "checksum of its head");
        if (h.unit_log2 > 64 - TIMELINE_TIME_BITS || h.directory_at < TIMELINE_HEAD_BYTES ||
            h.directory_at > file_bytes || h.directory_bytes > file_bytes - h.directory_at ||
            h.directory_bytes > DIRECTORY_MAX)
                return directory_damaged(err, "numbers of its head");
        *ret = h;
        return 0;
}

static bool is_in_texts(const struct timeline_index *t, uint32_t at, uint32_t n_bytes)
{
        return n_bytes <= TIMELINE_TITLE_MAX && at <= t->texts.used_bytes &&
               n_bytes <= t->texts.used_bytes - at;
}

static int decode_tracks(struct timeline_index *t, struct byte_reader *in)
{
        uint32_t n = bytes_u32(in);

        if (in->short_read || n > TIMELINE_LANES_MAX)
                return -EBADMSG;
        t->tracks = calloc((size_t)n + 1, sizeof(*t->tracks));
        if (!t->tracks)
                return -ENOMEM;
        t->tracks_capacity = (size_t)n + 1;
        for (; t->n_tracks < n; t->n_tracks++) {
                struct timeline_track *track = &t->tracks[t->n_tracks];

                track->kind = bytes_u32(in);
                track->process = bytes_u32(in);
                track->thread = bytes_u32(in);
                track->number = bytes_u32(in);
                track->lane = bytes_u32(in);
                track->busy_ns = bytes_u64(in);
                track->title = bytes_u32(in);
                track->title_bytes = bytes_u32(in);
                track->unit = bytes_u32(in);
                track->unit_bytes = bytes_u32(in);
        }
        return in->short_read ? -EBADMSG : 0;
}

static int decode_texts(struct timeline_index *t, struct byte_reader *in)
{
        uint64_t n_bytes = bytes_u64(in);
        const uint8_t *at = bytes_take(in, n_bytes < DIRECTORY_MAX ? (size_t)n_bytes : SIZE_MAX);

        if (!at)
                return -EBADMSG;
        byte_buffer_add(&t->texts, at, (size_t)n_bytes);
        if (t->texts.failed)
                return -ENOMEM;
        for (uint32_t i = 0; i < t->n_tracks; i++)
                if (t->tracks[i].kind >= TIMELINE_TRACK_KIND_COUNT ||
                    !is_in_texts(t, t->tracks[i].title, t->tracks[i].title_bytes) ||
                    !is_in_texts(t, t->tracks[i].unit, t->tracks[i].unit_bytes))
                        return -EBADMSG;
        return 0;
}

static int decode_strings(struct intern *strings, struct byte_reader *in)
{
        uint32_t n = bytes_u32(in);
        int r = 0;

        for (uint32_t i = 0; i < n && r == 0; i++) {
                uint64_t n_bytes = bytes_varint(in);
                const uint8_t *at = bytes_take(in, n_bytes < DIRECTORY_MAX ? (size_t)n_bytes : SIZE_MAX);

                r = at ? intern_append(strings, at, (size_t)n_bytes) : -EBADMSG;
        }
        return r == -EOVERFLOW ? -EBADMSG : r;
}

static int decode_launches(struct timeline_index *t, struct byte_reader *in)
{
        uint32_t n;

        t->n_launches_left_out = bytes_u64(in);
        n = bytes_u32(in);
        if (in->short_read || n > 2 * TIMELINE_LAUNCHES_MAX)
                return -EBADMSG;
        t->launches = calloc((size_t)n + 1, sizeof(*t->launches));
        if (!t->launches)
                return -ENOMEM;
        t->launches_capacity = (size_t)n + 1;
        for (; t->n_launches < n && !in->short_read; t->n_launches++) {
                struct timeline_launch *launch = &t->launches[t->n_launches];

                launch->host_ns = bytes_u64(in);
                launch->device_ns = bytes_u64(in);
                launch->from_ns = bytes_u64(in);
                launch->to_ns = bytes_u64(in);
                launch->host_track = bytes_u32(in);
                launch->host_location = bytes_u32(in);
                launch->device_track = bytes_u32(in);
                launch->device_location = bytes_u32(in);
                if (launch->host_track >= t->n_tracks || launch->device_track >= t->n_tracks)
                        return -EBADMSG;
        }
        return in->short_read ? -EBADMSG : timeline_launches_sort(t);
}

static int decode_counts(struct timeline_index *t, struct byte_reader *in)
{
        int r = 0;

        for (size_t kind = 0; kind < TIMELINE_LANE_KIND_COUNT && r == 0; kind++) {
                struct timeline_counts *counts = &t->counts[kind];
                uint32_t n;

                counts->is_known = bytes_u8(in) != 0;
                n = bytes_u32(in);
                if (in->short_read || n > in->left / sizeof(uint64_t))
                        return -EBADMSG;
                if (n > 0)
                        r = timeline_counts_reserve(counts, n - 1);
                for (uint32_t i = 0; i < n && r == 0; i++)
                        counts->by_what[i] = bytes_u64(in);
        }
        return r == -EOVERFLOW ? -EBADMSG : r;
}

static int decode_lane(struct timeline_index *t, struct byte_reader *in)
{
        uint32_t kind = bytes_u32(in), track = bytes_u32(in), depth = bytes_u32(in), n_roots = bytes_u32(in);
        struct timeline_lane *lane;
        int r;

        if (kind >= TIMELINE_LANE_KIND_COUNT || track >= t->n_tracks || n_roots > ROOTS_MAX || in->short_read)
                return -EBADMSG;
        r = timeline_index_lane(t, track, (enum timeline_lane_kind)kind, depth);
        if (r < 0)
                return r == -EOVERFLOW ? -EBADMSG : r;
        lane = t->lanes[r];
        lane->is_loaded = true;
        lane->n_items = bytes_u64(in);
        lane->first_begin = bytes_u64(in);
        lane->last_end = bytes_u64(in);
        lane->roots = calloc((size_t)n_roots + 1, sizeof(*lane->roots));
        if (!lane->roots)
                return -ENOMEM;
        for (uint32_t i = 0; i < n_roots; i++) {
                const uint8_t *at = bytes_take(in, TIMELINE_REF_BYTES);

                if (!at || timeline_ref_get(at, &lane->roots[i]) < 0)
                        return -EBADMSG;
                lane->n_roots++;
        }
        return lane->first_begin > TIMELINE_TIME_MAX || lane->last_end > TIMELINE_TIME_MAX ? -EBADMSG : 0;
}

static int decode_directory(struct timeline_index *t, const uint8_t *bytes, size_t n_bytes)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);
        uint32_t n_lanes;
        int r = decode_tracks(t, &in);

        if (r == 0)
                r = decode_texts(t, &in);
        if (r == 0)
                r = decode_strings(&t->messages, &in);
        if (r == 0)
                r = decode_strings(&t->zone_texts, &in);
        t->n_texts_left_out = bytes_u64(&in);
        if (r == 0)
                r = decode_launches(t, &in);
        if (r == 0)
                r = decode_counts(t, &in);
        if (r < 0)
                return r;
        n_lanes = bytes_u32(&in);
        for (uint32_t i = 0; i < n_lanes && r == 0; i++)
                r = decode_lane(t, &in);
        return r == 0 && !bytes_all_used(&in) ? -EBADMSG : r;
}

static int read_directory(struct timeline_index *t, const struct timeline_head *head, struct error *err)
{
        size_t n_read = 0;
        uint8_t *bytes = malloc((size_t)head->directory_bytes + 1);
        int r;

        if (!bytes)
                return error_set(err, -ENOMEM, "the index of the time line: out of memory");
        r = io_pread_full(t->pages.fd, bytes, (size_t)head->directory_bytes, head->directory_at, &n_read,
                          err);
        if (r == 0 &&
            (n_read != head->directory_bytes || content_hash(bytes, n_read) != head->directory_hash))
                r = directory_damaged(err, "checksum of its directory");
        else if (r == 0)
                r = decode_directory(t, bytes, n_read);
        if (r == -EBADMSG)
                (void)directory_damaged(err, "its directory");
        free(bytes);
        return r;
}

static int read_head(int fd, struct timeline_head *ret_head, struct error *err)
{
        uint8_t bytes[HEAD_BYTES + 8];
        struct stat status;
        size_t n_read = 0;
        int r;

        if (fstat(fd, &status) < 0)
                return error_errno(err, "the index of the time line");
        r = io_pread_full(fd, bytes, sizeof(bytes), 0, &n_read, err);
        if (r < 0)
                return r;
        if (n_read < sizeof(bytes))
                return error_set(err, -ENODATA, "the index of the time line is cut off");
        return decode_head(bytes, status.st_size > 0 ? (uint64_t)status.st_size : 0, ret_head, err);
}

int timeline_directory_open(struct timeline_index *t, int fd, const struct timeline_identity *identity,
                            struct error *err)
{
        struct timeline_head head = { .version = 0 };
        int r = timeline_index_init(t, fd, 0, 0);

        if (r < 0)
                return error_set(err, r, "the index of the time line: out of memory");
        r = read_head(fd, &head, err);
        if (r < 0)
                return r;
        if (identity && memcmp(identity, &head.identity, sizeof(*identity)) != 0)
                return error_set(err, -ESTALE, "the index of the time line is of another trace");
        t->start_ns = head.start_ns;
        t->duration_ns = head.duration_ns;
        t->unit_log2 = head.unit_log2;
        t->n_left_out = head.n_left_out;
        t->pages.size_bytes = t->pages.pending_at = head.directory_at;
        return read_directory(t, &head, err);
}
