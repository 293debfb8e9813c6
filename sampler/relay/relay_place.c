/* SPDX-License-Identifier: MIT */
#include "sampler/relay/relay_place.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLACE_MAGIC UINT64_C(0x3143414c50505948) /* "HYPPLAC1" */

/*
 * A new file may get the inode number of a removed one at once: its birth time, where the file system has
 * it, differs.
 */
uint64_t relay_place_identify(int file_fd)
{
        struct statx status = { .stx_mask = 0 };
        uint64_t facts[3] = { 0 };

        if (statx(file_fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &status) < 0)
                return 0;
        facts[0] = status.stx_ino;
        if (status.stx_mask & STATX_BTIME) {
                facts[1] = (uint64_t)status.stx_btime.tv_sec;
                facts[2] = status.stx_btime.tv_nsec;
        }
        return content_hash(facts, sizeof(facts));
}

int relay_place_decode(const uint8_t bytes[RELAY_PLACE_BYTES], struct relay_place *ret)
{
        struct byte_reader in = byte_reader_of(bytes, RELAY_PLACE_BYTES);
        uint64_t magic = bytes_u64(&in);

        ret->recording = bytes_u64(&in);
        ret->generation = bytes_u32(&in);
        ret->n_loss_rows = bytes_u32(&in);
        ret->n_own_rows = bytes_u32(&in);
        ret->reopens = bytes_u32(&in);
        ret->position = bytes_u64(&in);
        ret->file_bytes = bytes_u64(&in);
        ret->file_id = bytes_u64(&in);
        return magic == PLACE_MAGIC && bytes_u64(&in) == content_hash(bytes, RELAY_PLACE_BYTES - 8)
                       ? 0
                       : -EBADMSG;
}

int relay_place_read(int place_fd, int file_fd, struct relay_place *ret)
{
        uint8_t bytes[RELAY_PLACE_BYTES];
        struct relay_place place;
        struct stat status;
        size_t got = 0;

        if (io_pread_full(place_fd, bytes, sizeof(bytes), 0, &got, NULL) < 0 || got < sizeof(bytes) ||
            relay_place_decode(bytes, &place) < 0)
                return -EBADMSG;
        if (fstat(file_fd, &status) < 0 || place.file_id != relay_place_identify(file_fd))
                return -ESTALE;
        if (place.file_bytes == 0)
                return 0;
        if ((uint64_t)status.st_size < place.file_bytes)
                return -ENODATA;
        *ret = place;
        return 1;
}

int relay_place_write(int place_fd, const struct relay_place *place, struct error *err)
{
        struct byte_buffer bytes = { .data = NULL };
        ssize_t n;
        int r = 0;

        byte_buffer_add_u64(&bytes, PLACE_MAGIC);
        byte_buffer_add_u64(&bytes, place->recording);
        byte_buffer_add_u32(&bytes, place->generation);
        byte_buffer_add_u32(&bytes, place->n_loss_rows);
        byte_buffer_add_u32(&bytes, place->n_own_rows);
        byte_buffer_add_u32(&bytes, place->reopens);
        byte_buffer_add_u64(&bytes, place->position);
        byte_buffer_add_u64(&bytes, place->file_bytes);
        byte_buffer_add_u64(&bytes, place->file_id);
        if (!bytes.failed)
                byte_buffer_add_u64(&bytes, content_hash(bytes.data, bytes.used_bytes));
        if (bytes.failed) {
                byte_buffer_deinit(&bytes);
                return error_set(err, -ENOMEM, "no memory");
        }
        n = pwrite(place_fd, bytes.data, bytes.used_bytes, 0);
        if (n < 0)
                r = error_errno(err, "the file beside the trace");
        else if ((size_t)n < bytes.used_bytes)
                r = error_set(err, -ENOSPC, "the file beside the trace: a part was written");
        byte_buffer_deinit(&bytes);
        return r;
}
