/* SPDX-License-Identifier: MIT */
#include "sampler/code_tables.h"

#include "base/array.h"
#include "base/io.h"
#include "sampler/perf_record.h"
#include "symbolize/elf_image.h"
#include "symbolize/regular_file.h"
#include "unwind/unwind_module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>
#include <fcntl.h>

struct slot { bool known; struct unwind_module *module; };
struct code_tables {
        struct slot *slots;
        size_t n_slots, capacity;
        uint32_t epoch;
};

int code_tables_new(struct table_process *process, struct loss_counter *losses,
                    struct code_tables **ret_tables, struct error *err)
{
        (void)process; (void)losses; (void)err;
        *ret_tables = calloc(1, sizeof(**ret_tables));
        return *ret_tables ? 0 : -ENOMEM;
}

void code_tables_free(struct code_tables *t)
{
        if (!t) return;
        for (size_t i = 0; i < t->n_slots; i++)
                unwind_module_free(t->slots[i].module);
        free(t->slots);
        free(t);
}

int code_tables_want(struct code_tables *t, uint32_t module, const struct trace_module *row, uint32_t pid,
                     const struct perf_mmap *mmap)
{
        struct elf_image *image = NULL;
        struct slot *slot;
        char path[200];
        int fd = -1;

        (void)row;
        if (array_reserve(&t->slots, &t->capacity, module + 1, sizeof(*t->slots)) < 0) return -ENOMEM;
        while (t->n_slots <= module) t->slots[t->n_slots++] = (struct slot){ .known = false };
        slot = &t->slots[module];
        if (slot->known) return 0;
        slot->known = true;
        t->epoch++;
        if (mmap->path_bytes == 6 && memcmp(mmap->path, "[vdso]", 6) == 0) {
                fd = memfd_create("vdso", MFD_CLOEXEC);
                (void)!write(fd, (const void *)getauxval(AT_SYSINFO_EHDR), mmap->length_bytes);
        } else {
                (void)snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", pid,
                       (unsigned long long)mmap->start_avma, (unsigned long long)(mmap->start_avma + mmap->length_bytes));
                if (mmap->path_bytes && mmap->path[0] == '/' && mmap->path[1] != '/') {
                fd = open(path, O_RDONLY | O_CLOEXEC);
                if (fd < 0) {
                        (void)snprintf(path, sizeof(path), "%.*s", (int)mmap->path_bytes, mmap->path);
                        fd = open(path, O_RDONLY | O_CLOEXEC);
                }
                }
        }
        if (fd >= 0 && elf_image_open_unmapped(fd, &image, NULL) == 0)
                (void)unwind_module_build(image, &slot->module, NULL);
        elf_image_close(image);
        io_close(&fd);
        return 0;
}

enum code_tables_answer code_tables_find(const struct code_tables *t, uint32_t module,
                                         const struct unwind_module **ret_module)
{
        if (module >= t->n_slots || !t->slots[module].module) return CODE_TABLES_NONE;
        *ret_module = t->slots[module].module;
        return CODE_TABLES_READY;
}

int code_tables_take(struct code_tables *t) { (void)t; return 0; }
bool code_tables_wait(struct code_tables *t, uint32_t module, uint64_t limit_ns) { (void)t; (void)module; (void)limit_ns; return true; }
uint32_t code_tables_epoch(const struct code_tables *t) { return t->epoch; }
