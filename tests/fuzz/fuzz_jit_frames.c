/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as what a JIT says of unwinding give a table that can be taken over, or nothing. */
#include "base/io.h"
#include "sampler/tables/jit_frames.h"
#include "sampler/tables/table_process.h"
#include "unwind/unwind_module.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        struct byte_buffer out = { .data = NULL };
        struct unwind_module *module = NULL;
        int fd = memfd_create("unwinding", MFD_CLOEXEC);

        if (fd < 0 || io_write_all(fd, data, n_bytes, NULL) < 0)
                abort();
        if (jit_frames_is_file(fd) && jit_frames_build(fd, &out) == TABLE_STATUS_BUILT &&
            (unwind_module_decode(out.data, out.used_bytes, &module, NULL) < 0 || !module->table))
                abort();
        unwind_module_free(module);
        byte_buffer_deinit(&out);
        io_close(&fd);
        return 0;
}
