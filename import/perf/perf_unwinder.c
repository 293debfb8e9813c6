/* SPDX-License-Identifier: MIT */
#include "import/perf/perf_stacks.h"

#include "base/array.h"
#include "base/error.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "format/trace_spec.h"
#include "import/perf/perf_entry.h"
#include "import/perf/perf_tasks.h"
#include "import/rows/import_samples.h"
#include "symbolize/elf/elf_image.h"
#include "unwind/unwind_module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ABI_64         2
#define CODE_BYTES_MAX ((size_t)512 << 20) /* of all tables; further files have none */
#define PATH_BYTES     4096

void perf_stacks_forget_code(struct perf_stacks *s)
{
        for (uint32_t i = 0; i < s->n_codes; i++)
                unwind_module_free(s->codes[i].module);
        free(s->codes);
        stack_walker_free(s->walker);
}

/* ---- the files of modules ------------------------------------------------------------------------------ */

/* The path comes from the file that is imported: a device or a pipe of that name is not opened. */
static int open_regular(const char *path)
{
        int fd = -1;

        (void)regular_file_open(path, &fd, NULL);
        return fd;
}

static bool has_build_id(const struct import_module *module, const struct elf_image *image)
{
        return module->build_id.n_bytes == image->build_id_bytes &&
               memcmp(module->build_id.bytes, image->build_id, image->build_id_bytes) == 0;
}

/* perf knows the build-ids of the files that samples are in alone; of others it knows the inode. */
static bool is_same_file(const struct perf_stacks *s, int fd, const struct import_module *module)
{
        struct stat st;

        return module->inode != 0 && fstat(fd, &st) == 0 && st.st_dev == module->device &&
               st.st_ino == module->inode && st.st_mtim.tv_sec <= s->tasks->file->changed_s;
}

static struct elf_image *open_image(const struct perf_stacks *s, int fd, const struct import_module *module)
{
        struct elf_image *image = NULL;

        if (fd < 0 || elf_image_open_unmapped(fd, &image, NULL) < 0)
                return NULL;
        if (module->build_id.n_bytes != 0 ? has_build_id(module, image) : is_same_file(s, fd, module))
                return image;
        elf_image_close(image);
        return NULL;
}

/* ~/.debug/.build-id/ab/cdef.../elf, where perf keeps files. */
static int open_kept(const struct import_module *module)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *home = getenv("HOME");
        char path[PATH_BYTES];
        size_t n;

        if (!home || module->build_id.n_bytes < 2 || strlen(home) > PATH_BYTES / 2)
                return -1;
        n = (size_t)snprintf(path, sizeof(path), "%s/.debug/.build-id/", home);
        for (size_t i = 0; i < module->build_id.n_bytes; i++)
                n += (size_t)snprintf(path + n, sizeof(path) - n, i == 1 ? "/%02x" : "%02x",
                                      (unsigned char)module->build_id.bytes[i]);
        (void)snprintf(path + n, sizeof(path) - n, "/elf");
        return open_regular(path);
}

static struct elf_image *find_image(const struct perf_stacks *s, const struct import_module *module,
                                    int *ret_fd)
{
        struct elf_image *image = NULL;
        char path[PATH_BYTES];

        if (module->kind == IMPORT_MODULE_VDSO) {
                if (elf_image_open_vdso(&image, NULL) == 0 && has_build_id(module, image))
                        return image;
                elf_image_close(image);
                return NULL;
        }
        if (module->path.n_bytes < sizeof(path)) {
                memcpy(path, module->path.bytes, module->path.n_bytes);
                path[module->path.n_bytes] = '\0';
                *ret_fd = open_regular(path);
                image = open_image(s, *ret_fd, module);
        }
        if (!image) {
                io_close(ret_fd);
                *ret_fd = open_kept(module);
                image = open_image(s, *ret_fd, module);
        }
        return image;
}

static struct unwind_module *build(const struct perf_stacks *s, const struct import_module *module)
{
        int fd = -1;
        struct elf_image *image = find_image(s, module, &fd);
        struct unwind_module *built = NULL;

        if (image && unwind_module_build(image, &built, NULL) < 0)
                built = NULL;
        elf_image_close(image);
        io_close(&fd);
        return built;
}

static const struct unwind_module *find_module(struct perf_stacks *s, uint32_t id)
{
        struct import_module module;
        struct perf_stack_code *code;

        if (array_reach(&s->codes, &s->codes_capacity, &s->n_codes, id + 1, sizeof(*s->codes)) < 0)
                return NULL;
        code = &s->codes[id];
        if (code->is_looked_up)
                return code->module;
        code->is_looked_up = true;
        import_rows_find_module(s->tasks->rows, id, &module);
        code->module = s->n_code_bytes < CODE_BYTES_MAX ? build(s, &module) : NULL;
        if (code->module)
                s->n_code_bytes += code->module->n_bytes;
        return code->module;
}

/* ---- walks --------------------------------------------------------------------------------------------- */

static bool find_code(const void *context, uint64_t avma, struct stack_walk_code *ret_code)
{
        /* The walk does not change what it walks on, but tables are read when they are first needed. */
        struct perf_stacks *s = *(struct perf_stacks *const *)context;
        const struct address_range *range = address_space_find(&s->process->space, avma);
        const struct unwind_module *module;

        if (!range)
                return false;
        *ret_code = (struct stack_walk_code){ .table = NULL };
        module = range->module != 0 ? find_module(s, range->module) : NULL;
        if (module && unwind_module_find_bias(module, range->start_avma, range->file_offset_bytes,
                                              range->end_avma - range->start_avma, &ret_code->bias))
                ret_code->table = module->table;
        return true;
}

static uint32_t state_of(enum stack_walk_end end)
{
        static const uint32_t states[STACK_WALK_N_ENDS] = {
                [STACK_WALK_END_ROOT] = TRACE_STACK_COMPLETE,
                [STACK_WALK_END_TOO_DEEP] = TRACE_STACK_TOO_DEEP,
                [STACK_WALK_END_CUT] = TRACE_STACK_TRUNCATED,
                [STACK_WALK_END_OTHER_STACK] = TRACE_STACK_OTHER_STACK,
                [STACK_WALK_END_NO_TABLE] = TRACE_STACK_NO_TABLE,
                [STACK_WALK_END_NOT_CODE] = TRACE_STACK_BAD_MEMORY,
                [STACK_WALK_END_NO_REGISTER] = TRACE_STACK_NO_REGISTER,
                [STACK_WALK_END_BROKEN] = TRACE_STACK_BAD_MEMORY,
        };

        return states[end];
}

static const struct unwind_machine *find_machine(const char *name)
{
        static const struct unwind_machine *const machines[] = { &unwind_machine_x86_64,
                                                                 &unwind_machine_aarch64,
                                                                 &unwind_machine_riscv64 };
        static const char *const names[] = { "x86_64", "aarch64", "riscv64" };

        for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
                if (strcmp(name, names[i]) == 0)
                        return machines[i];
        return NULL;
}

static int start_walker(struct perf_stacks *s, struct error *err)
{
        if (s->walker)
                return 0;
        s->machine = find_machine(s->tasks->file->machine);
        if (!s->machine)
                return 0;
        s->walker = stack_walker_new(s->machine);
        return s->walker ? 0 : error_set(err, -ENOMEM, "no memory to walk stacks");
}

int perf_stacks_unwind(struct perf_stacks *s, const struct perf_entry *entry, struct perf_process *process,
                       struct error *err)
{
        struct stack_walk_input input = { .n_pieces = 0 };
        struct stack_walk_space space = { .find = find_code, .context = &s };
        int r = start_walker(s, err);

        if (r < 0)
                return r;
        s->state = TRACE_STACK_NO_COPY;
        if (!s->walker || entry->regs_abi != ABI_64 ||
            !unwind_registers_decode(s->machine, entry->event->regs_user, entry->regs, entry->regs_bytes,
                                     &input.registers))
                return 0;
        if (process->space.generation == 0)
                process->space.generation = ++s->tasks->generation;
        space.generation = process->space.generation;
        if (entry->stack_bytes > 0)
                input.pieces[input.n_pieces++] = (struct stack_walk_piece){
                        entry->stack, input.registers.values[s->machine->sp], entry->stack_bytes
                };
        s->process = process;
        stack_walk_run(s->walker, &space, &input, &s->walk);
        for (uint32_t i = 0; i < s->walk.n_frames && s->n_frames < PERF_STACKS_FRAMES_MAX; i++)
                s->frames[s->n_frames++] = (struct perf_stack_frame){ s->walk.frames[i].pc_avma, false,
                                                                      !s->walk.frames[i].is_exact };
        s->state = state_of(s->walk.end);
        return 0;
}
