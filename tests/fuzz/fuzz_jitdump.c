/* SPDX-License-Identifier: MIT */
/* Fuzz target: any file is read as a jitdump to its end, and nothing outside of it. */
#include "base/io.h"
#include "sampler/jit/jitdump.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static uint64_t add_up(const void *bytes, size_t n)
{
        const uint8_t *at = bytes;
        uint64_t sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += at[i];
        return sum;
}

static uint64_t take(const struct jitdump_item *item)
{
        struct jitdump_unwinding unwinding;
        struct jitdump_debug_info info;
        struct jitdump_line line = { .file = NULL };
        struct jitdump_load load;
        struct jitdump_move move;
        uint64_t sum = 0;

        if (jitdump_decode_load(item->body, item->body_bytes, &load, NULL) == 0) {
                sum += add_up(load.name, load.name_bytes);
                if (load.code)
                        sum += add_up(load.code, load.length_bytes);
                if (load.start_avma + load.length_bytes < load.start_avma)
                        abort();
        }
        if (jitdump_decode_move(item->body, item->body_bytes, &move, NULL) == 0)
                sum += move.length_bytes;
        if (jitdump_decode_unwinding(item->body, item->body_bytes, &unwinding, NULL) == 0)
                sum += add_up(unwinding.eh_frame, unwinding.n_bytes);
        if (jitdump_decode_debug_info(item->body, item->body_bytes, &info, NULL) == 0)
                while (jitdump_next_line(&info, &line, NULL) == 1)
                        sum += add_up(line.file, line.file_bytes);
        return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        struct jitdump_file file = { .fd = memfd_create("jitdump", MFD_CLOEXEC) };
        struct jitdump_item item;
        uint64_t sum = 0;

        if (file.fd < 0 || io_write_all(file.fd, data, n_bytes, NULL) < 0)
                abort();
        while (jitdump_file_peek(&file, &item) == 1) {
                sum += take(&item);
                jitdump_file_consume(&file, &item);
        }
        jitdump_file_deinit(&file);
        return sum == UINT64_MAX; /* used, so that no byte is left unread */
}
