/* SPDX-License-Identifier: MIT */
/*
 * sampler/relay/relay_intake.c: a capture goes on from FILE.taking only to a place that the trace beside it
 * has.  The first byte says how long that trace is, the second whether bytes of a whole place are changed.
 */
#include "base/io.h"
#include "sampler/relay/relay_intake.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define STEP_BYTES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void require(bool holds)
{
        if (!holds)
                abort();
}

/* A whole place, of which bytes are changed: an offset and a value each. */
static void write_changed(int place_fd, int file_fd, const uint8_t *changes, size_t n_bytes)
{
        const struct relay_place place = { .recording = 7,
                                           .generation = 1,
                                           .position = 1000,
                                           .file_bytes = 640,
                                           .file_id = relay_place_identify(file_fd) };

        require(relay_place_write(place_fd, &place, NULL) == 0);
        for (size_t i = 0; i + 1 < n_bytes; i += 2)
                require(pwrite(place_fd, &changes[i + 1], 1, changes[i]) == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        struct relay_place place, again;
        uint64_t length;
        int place_fd, file_fd;

        if (n_bytes < 2)
                return 0;
        length = (uint64_t)data[0] * STEP_BYTES;
        place_fd = memfd_create("place", MFD_CLOEXEC);
        file_fd = memfd_create("trace", MFD_CLOEXEC);
        require(place_fd >= 0 && file_fd >= 0 && ftruncate(file_fd, (off_t)length) == 0);
        if (data[1] % 2 == 0)
                write_changed(place_fd, file_fd, data + 2, n_bytes - 2);
        else
                require(io_write_all(place_fd, data + 2, n_bytes - 2, NULL) == 0);
        if (relay_place_read(place_fd, file_fd, &place) == 1) {
                require(place.file_bytes <= length);
                require(ftruncate(place_fd, 0) == 0 && relay_place_write(place_fd, &place, NULL) == 0);
                require(relay_place_read(place_fd, file_fd, &again) == 1);
                require(again.file_bytes == place.file_bytes && again.file_id == place.file_id);
        }
        io_close(&place_fd);
        io_close(&file_fd);
        return 0;
}
