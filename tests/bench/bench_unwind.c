/* SPDX-License-Identifier: MIT */
/*
 * Unwinding without frame pointers: how long tables take and how large they are, then
 * samples of real programs, recorded here, unwound by stack_walk, by libunwind's remote
 * interface (with its global cache) and by libdwfl, one after the other in this process.
 * "identical" is the share of stacks with the same frames among those where both reach
 * the root (libdwfl's root is any end without an error).  Usage: bench_unwind [samples of each program]
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/elf/elf_image.h"
#include "tests/unit/live_stacks.h"
#include "unwind/stack_walk.h"
#include "unwind/unwind_module.h"
#include "unwind/unwind_table.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__) && __has_include(<libunwind-x86_64.h>)
#include <libunwind-x86_64.h>
#define HAVE_LIBUNWIND 1
#else
#define HAVE_LIBUNWIND 0
#endif

#define N_SAMPLES   4000
#define STACK_BYTES 16384
#define PERIOD_NS   499979 /* a prime */
#define BUILDS      5      /* of a table; the quickest counts */
#define RECORD_S    20     /* at most */

/* This thread's alone: other programs that run do not count. */
static double used_ns(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ------------------------------------------------------------------- tables */

static void measure_table(const char *path)
{
        struct unwind_module *module = NULL;
        struct elf_image *image = NULL;
        double best_ns = 1e18;
        struct stat status;
        int fd = -1;

        if (regular_file_open(path, &fd, NULL) < 0 || fstat(fd, &status) < 0)
                goto end;
        for (int i = 0; i < BUILDS; i++) {
                double began_ns;

                elf_image_close(image);
                unwind_module_free(module);
                image = NULL;
                module = NULL;
                began_ns = used_ns();
                if (elf_image_open_unmapped(fd, &image, NULL) < 0 ||
                    unwind_module_build(image, &module, NULL) < 0)
                        goto end;
                if (used_ns() - began_ns < best_ns)
                        best_ns = used_ns() - began_ns;
        }
        if (module->table)
                printf("%-28s %6.1f MB  %7u functions %8u rows %5u rules  %6.2f MB  %4.2f B/row  %6.2f ms  %5.1f M rows/s\n",
                       strrchr(path, '/') + 1, (double)status.st_size / 1e6, module->table->n_fdes,
                       module->table->n_rows, module->table->n_rules, (double)module->n_bytes / 1e6,
                       (double)module->n_bytes / module->table->n_rows, best_ns / 1e6,
                       module->table->n_rows * 1e3 / best_ns);
end:
        unwind_module_free(module);
        elf_image_close(image);
        io_close(&fd);
}

static void measure_tables(void)
{
        static const char *const patterns[] = { "/lib/x86_64-linux-gnu/libc.so.6",
                                                "/lib/aarch64-linux-gnu/libc.so.6",
                                                "/usr/bin/python3.[0-9]*[0-9]",
                                                "/usr/lib/gcc/*/*/cc1",
                                                "/usr/lib/*/libLLVM-*.so.1",
                                                "/usr/lib/*/libclang-cpp.so.*[0-9]",
                                                "/usr/bin/node" };

        for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
                glob_t found;

                if (glob(patterns[i], 0, NULL, &found) == 0)
                        for (size_t k = 0; k < found.gl_pathc; k++)
                                measure_table(found.gl_pathv[k]);
                globfree(&found);
        }
}

/* ----------------------------------------------------------- files of peers */

/* A file of the sampled program, for those who read unwind information while they unwind. */
struct peer_file {
        const struct live_mapping *mapping;
        struct elf_image *image;
        const uint8_t *bytes; /* mapped, or the vdso's copy */
        uint64_t n_bytes;
        int fd;
        uint64_t low_svma, high_svma;
        uint64_t hdr_svma; /* .eh_frame_hdr */
        uint64_t n_hdr_bytes;
};

struct peers {
        struct peer_file *files;
        size_t n_files;
        const struct peer_file *last; /* that bytes were read from */
        const struct live_sample *sample;
        uint64_t *pcs; /* of the stack that is being walked */
        uint32_t n_pcs;
};

static void open_peer_file(struct peer_file *f, const struct live_mapping *m)
{
        GElf_Phdr header;
        size_t n_headers = 0;

        *f = (struct peer_file){ .mapping = m, .fd = -1, .low_svma = UINT64_MAX };
        if (!m->module)
                return;
        if (strcmp(m->path, "[vdso]") == 0) {
                if (elf_image_open_vdso(&f->image, NULL) < 0)
                        return;
                f->bytes = f->image->memory;
                f->n_bytes = UINT64_C(8192);
        } else {
                struct stat status;
                void *bytes;

                if (regular_file_open(m->path, &f->fd, NULL) < 0 || fstat(f->fd, &status) < 0 ||
                    elf_image_open(f->fd, &f->image, NULL) < 0)
                        return;
                bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, f->fd, 0);
                f->bytes = bytes == MAP_FAILED ? NULL : bytes;
                f->n_bytes = (uint64_t)status.st_size;
        }
        for (size_t i = 0; i < f->image->n_segments; i++) {
                const struct elf_image_segment *s = &f->image->segments[i];

                if (s->svma < f->low_svma)
                        f->low_svma = s->svma;
                if (s->svma + s->memory_bytes > f->high_svma)
                        f->high_svma = s->svma + s->memory_bytes;
        }
        (void)elf_getphdrnum(f->image->elf, &n_headers);
        for (size_t i = 0; i < n_headers; i++)
                if (gelf_getphdr(f->image->elf, (int)i, &header) && header.p_type == PT_GNU_EH_FRAME) {
                        f->hdr_svma = header.p_vaddr;
                        f->n_hdr_bytes = header.p_filesz;
                }
}

static void open_peers(struct peers *p, const struct live_stacks *s)
{
        *p = (struct peers){ .files = calloc(s->n_mappings + 1, sizeof(*p->files)) };
        p->pcs = calloc(STACK_WALK_FRAMES_MAX, sizeof(*p->pcs));
        if (!p->files || !p->pcs)
                abort();
        for (size_t i = 0; i < s->n_mappings; i++)
                open_peer_file(&p->files[p->n_files++], &s->mappings[i]);
}

static void close_peers(struct peers *p)
{
        for (size_t i = 0; i < p->n_files; i++) {
                struct peer_file *f = &p->files[i];

                if (f->bytes && f->fd >= 0)
                        (void)munmap((void *)(uintptr_t)f->bytes, (size_t)f->n_bytes);
                elf_image_close(f->image);
                io_close(&f->fd);
        }
        free(p->files);
        free(p->pcs);
}

static const struct peer_file *find_peer_file(struct peers *p, uint64_t avma)
{
        if (p->last &&
            avma - p->last->mapping->bias - p->last->low_svma < p->last->high_svma - p->last->low_svma)
                return p->last;
        for (size_t i = 0; i < p->n_files; i++) {
                const struct peer_file *f = &p->files[i];

                if (f->bytes && avma - f->mapping->bias >= f->low_svma &&
                    avma - f->mapping->bias < f->high_svma)
                        return p->last = f;
        }
        return NULL;
}

/* A number of the sampled process: from the copy of the stack, else from a file. */
static bool read_peer(struct peers *p, uint64_t avma, uint64_t *ret_value)
{
        uint64_t stack_avma = p->sample->registers.values[unwind_machine_own()->sp];
        const struct peer_file *f;

        if (p->sample->n_stack_bytes >= 8 && avma - stack_avma <= p->sample->n_stack_bytes - 8) {
                memcpy(ret_value, p->sample->stack + (avma - stack_avma), sizeof(*ret_value));
                return true;
        }
        f = find_peer_file(p, avma);
        for (size_t i = 0; f && i < f->image->n_segments; i++) {
                const struct elf_image_segment *s = &f->image->segments[i];
                uint64_t offset = avma - f->mapping->bias - s->svma;

                if (s->file_bytes < 8 || offset > s->file_bytes - 8 || s->file_off + offset > f->n_bytes - 8)
                        continue;
                memcpy(ret_value, f->bytes + s->file_off + offset, sizeof(*ret_value));
                return true;
        }
        return false;
}

/* ---------------------------------------------------------------- libunwind */

#if HAVE_LIBUNWIND
int _Ux86_64_dwarf_search_unwind_table(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t *table,
                                       unw_proc_info_t *info, int need_unwind_info, void *context);

static int libunwind_find(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *info, int need,
                          void *context)
{
        struct peers *p = context;
        const struct peer_file *f = find_peer_file(p, ip);
        unw_dyn_info_t table;
        uint64_t word, hdr;

        if (!f || f->n_hdr_bytes == 0)
                return -UNW_ENOINFO;
        hdr = f->hdr_svma + f->mapping->bias;
        if (!read_peer(p, hdr + 8, &word)) /* version and encodings, .eh_frame, and then how many there are */
                return -UNW_ENOINFO;
        memset(&table, 0, sizeof(table));
        table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
        table.start_ip = f->low_svma + f->mapping->bias;
        table.end_ip = f->high_svma + f->mapping->bias;
        table.u.rti.segbase = hdr;
        table.u.rti.table_data = hdr + 12;
        table.u.rti.table_len = (uint32_t)word; /* in words of 8 bytes: an entry is 8 */
        return _Ux86_64_dwarf_search_unwind_table(space, ip, &table, info, need, context);
}

static void libunwind_put(unw_addr_space_t space, unw_proc_info_t *info, void *context)
{
        (void)space;
        (void)info;
        (void)context;
}

static int libunwind_list(unw_addr_space_t space, unw_word_t *ret_list, void *context)
{
        (void)space;
        (void)ret_list;
        (void)context;
        return -UNW_ENOINFO;
}

static int libunwind_memory(unw_addr_space_t space, unw_word_t avma, unw_word_t *value, int write,
                            void *context)
{
        uint64_t v = 0;

        (void)space;
        if (write || !read_peer(context, avma, &v))
                return -UNW_EINVAL;
        *value = v;
        return 0;
}

static int libunwind_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int write,
                              void *context)
{
        const struct peers *p = context;

        (void)space;
        if (write || number < 0 || number > UNW_X86_64_RIP)
                return -UNW_EBADREG;
        *value = number == UNW_X86_64_RIP ? p->sample->registers.pc : p->sample->registers.values[number];
        return 0;
}

static int libunwind_fp_register(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int write,
                                 void *context)
{
        (void)space;
        (void)number;
        (void)value;
        (void)write;
        (void)context;
        return -UNW_EINVAL;
}

static int libunwind_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *context)
{
        (void)space;
        (void)cursor;
        (void)context;
        return -UNW_EINVAL;
}

static int libunwind_name(unw_addr_space_t space, unw_word_t ip, char *name, size_t n, unw_word_t *offset,
                          void *context)
{
        (void)space;
        (void)ip;
        (void)name;
        (void)n;
        (void)offset;
        (void)context;
        return -UNW_EINVAL;
}

static unw_addr_space_t libunwind_open(void)
{
        static unw_accessors_t accessors = { .find_proc_info = libunwind_find,
                                             .put_unwind_info = libunwind_put,
                                             .get_dyn_info_list_addr = libunwind_list,
                                             .access_mem = libunwind_memory,
                                             .access_reg = libunwind_register,
                                             .access_fpreg = libunwind_fp_register,
                                             .resume = libunwind_resume,
                                             .get_proc_name = libunwind_name };
        unw_addr_space_t space = unw_create_addr_space(&accessors, 0);

        if (space)
                (void)unw_set_caching_policy(space, UNW_CACHE_GLOBAL);
        return space;
}

/* Returns true if it got to the root. */
static bool libunwind_walk(unw_addr_space_t space, struct peers *p)
{
        unw_cursor_t cursor;
        unw_word_t pc;
        int r;

        p->n_pcs = 0;
        if (unw_init_remote(&cursor, space, p) < 0)
                return false;
        do {
                if (unw_get_reg(&cursor, UNW_REG_IP, &pc) < 0)
                        return false;
                if (pc == 0)
                        return true;
                p->pcs[p->n_pcs++] = pc;
                r = unw_step(&cursor);
        } while (r > 0 && p->n_pcs < STACK_WALK_FRAMES_MAX);
        return r == 0;
}
#endif

/* ------------------------------------------------------------------ libdwfl */

static pid_t dwfl_next(Dwfl *dwfl, void *context, void **thread)
{
        struct peers *p = context;

        (void)dwfl;
        if (*thread)
                return 0;
        *thread = p;
        return (pid_t)p->sample->tid;
}

static bool dwfl_thread(Dwfl *dwfl, pid_t tid, void *context, void **thread)
{
        (void)dwfl;
        (void)tid;
        *thread = context;
        return true;
}

static bool dwfl_memory(Dwfl *dwfl, Dwarf_Addr avma, Dwarf_Word *value, void *context)
{
        uint64_t v = 0;

        (void)dwfl;
        if (!read_peer(context, avma, &v))
                return false;
        *value = v;
        return true;
}

static bool dwfl_registers(Dwfl_Thread *thread, void *context)
{
        const struct unwind_registers *r = &((const struct peers *)context)->sample->registers;
        Dwarf_Word values[17];

        for (unsigned i = 0; i < 16; i++)
                values[i] = r->values[i];
        values[16] = r->pc;
        return dwfl_thread_state_registers(thread, 0, 17, values);
}

static int dwfl_frame(Dwfl_Frame *frame, void *context)
{
        struct peers *p = context;
        Dwarf_Addr pc;

        if (!dwfl_frame_pc(frame, &pc, NULL))
                return DWARF_CB_ABORT;
        if (pc == 0)
                return DWARF_CB_OK;
        p->pcs[p->n_pcs++] = pc;
        return p->n_pcs < STACK_WALK_FRAMES_MAX ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static Dwfl *open_dwfl(struct peers *p, pid_t pid)
{
        static const Dwfl_Callbacks callbacks = { .find_elf = dwfl_build_id_find_elf,
                                                  .find_debuginfo = dwfl_standard_find_debuginfo };
        static const Dwfl_Thread_Callbacks thread_callbacks = { .next_thread = dwfl_next,
                                                                .get_thread = dwfl_thread,
                                                                .memory_read = dwfl_memory,
                                                                .set_initial_registers = dwfl_registers };
        Dwfl *dwfl = dwfl_begin(&callbacks);

        dwfl_report_begin(dwfl);
        for (size_t i = 0; i < p->n_files; i++)
                if (p->files[i].fd >= 0)
                        (void)dwfl_report_elf(dwfl, p->files[i].mapping->path, p->files[i].mapping->path,
                                              dup(p->files[i].fd), p->files[i].mapping->bias, true);
        (void)dwfl_report_end(dwfl, NULL, NULL);
        if (!dwfl_attach_state(dwfl, NULL, pid, &thread_callbacks, p)) {
                dwfl_end(dwfl);
                return NULL;
        }
        return dwfl;
}

static bool walk_with_dwfl(Dwfl *dwfl, struct peers *p)
{
        p->n_pcs = 0;
        return dwfl_getthread_frames(dwfl, (pid_t)p->sample->tid, dwfl_frame, p) == 0;
}

/* -------------------------------------------------------------- comparisons */

/* The stacks of one unwinder, one after the other. */
struct result {
        uint64_t *pcs;
        uint32_t *ends; /* of each stack in `pcs` */
        bool *is_root;
        size_t n_pcs, n_root;
        double ns;
        double build_ns; /* of the tables, for who makes them before */
};

static void open_result(struct result *r, size_t n_samples)
{
        *r = (struct result){ .pcs = malloc(n_samples * STACK_WALK_FRAMES_MAX * sizeof(uint64_t)),
                              .ends = calloc(n_samples + 1, sizeof(uint32_t)),
                              .is_root = calloc(n_samples + 1, sizeof(bool)) };
        if (!r->pcs || !r->ends || !r->is_root)
                abort();
}

static void close_result(struct result *r)
{
        free(r->pcs);
        free(r->ends);
        free(r->is_root);
}

static void put(struct result *r, size_t i, const uint64_t *pcs, uint32_t n_pcs, bool is_root)
{
        memcpy(r->pcs + r->n_pcs, pcs, n_pcs * sizeof(*pcs));
        r->n_pcs += n_pcs;
        r->ends[i] = (uint32_t)r->n_pcs;
        r->is_root[i] = is_root;
        r->n_root += is_root;
}

static void compare(const char *name, const struct result *own, const struct result *peer, size_t n)
{
        size_t n_both = 0, n_same = 0;

        for (size_t i = 0; i < n; i++) {
                uint32_t a = i > 0 ? own->ends[i - 1] : 0, b = i > 0 ? peer->ends[i - 1] : 0;

                if (!own->is_root[i] || !peer->is_root[i])
                        continue;
                n_both++;
                n_same += own->ends[i] - a == peer->ends[i] - b &&
                          memcmp(own->pcs + a, peer->pcs + b, (own->ends[i] - a) * sizeof(uint64_t)) == 0;
        }
        printf("   %-10s %8.2f us a stack  %5.1f times ours, %.1f with our tables' making  root %6.2f%%  identical %7.3f%% "
               "of %zu\n",
               name, peer->ns / 1e3 / (double)n, peer->ns / own->ns, peer->ns / (own->ns + own->build_ns),
               100.0 * (double)peer->n_root / (double)n,
               n_both > 0 ? 100.0 * (double)n_same / (double)n_both : 0, n_both);
}

static void walk_own(const struct live_stacks *s, struct result *r, size_t *n_ends)
{
        struct stack_walker *walker = stack_walker_new(unwind_machine_own());
        const struct stack_walk_space space = live_stacks_space(s);
        static struct stack_walk walk;
        static uint64_t pcs[STACK_WALK_FRAMES_MAX];
        double began_ns = used_ns();

        if (!walker)
                abort();
        for (size_t i = 0; i < s->n_samples; i++) {
                struct stack_walk_input input;

                live_stacks_input(&s->samples[i], &input);
                stack_walk_run(walker, &space, &input, &walk);
                for (uint32_t k = 0; k < walk.n_frames; k++)
                        pcs[k] = walk.frames[k].pc_avma;
                put(r, i, pcs, walk.n_frames, walk.end == STACK_WALK_END_ROOT);
                n_ends[walk.end]++;
        }
        r->ns = used_ns() - began_ns;
        stack_walker_free(walker);
}

static void walk_peers(const struct live_stacks *s, const struct result *own)
{
        struct result result;
        struct peers peers;
        double began_ns;
        Dwfl *dwfl;

        open_peers(&peers, s);
#if HAVE_LIBUNWIND
        {
                unw_addr_space_t space = libunwind_open();

                open_result(&result, s->n_samples);
                began_ns = used_ns();
                for (size_t i = 0; space && i < s->n_samples; i++) {
                        bool is_root;

                        peers.sample = &s->samples[i];
                        is_root = libunwind_walk(space, &peers);
                        put(&result, i, peers.pcs, peers.n_pcs, is_root);
                }
                result.ns = used_ns() - began_ns;
                if (space)
                        compare("libunwind", own, &result, s->n_samples);
                close_result(&result);
                if (space)
                        unw_destroy_addr_space(space);
        }
#else
        printf("   libunwind  left out: its headers are not installed\n");
#endif
        open_result(&result, s->n_samples);
        began_ns = used_ns();
        dwfl = open_dwfl(&peers, s->pid);
        for (size_t i = 0; dwfl && i < s->n_samples; i++) {
                bool is_root;

                peers.sample = &s->samples[i];
                is_root = walk_with_dwfl(dwfl, &peers);
                put(&result, i, peers.pcs, peers.n_pcs, is_root);
        }
        result.ns = used_ns() - began_ns;
        if (dwfl) {
                compare("libdwfl", own, &result, s->n_samples);
                dwfl_end(dwfl);
        }
        close_result(&result);
        close_peers(&peers);
}

/* The time to make the tables of a program's files. */
static double build_again(const struct live_stacks *s)
{
        struct live_stacks again = { .n_mappings = 0 };
        double began_ns = used_ns();

        unwind_cache_init(&again.cache, 0);
        for (size_t i = 0; i < s->n_mappings; i++) {
                struct live_mapping m = s->mappings[i];

                live_stacks_load(&again, &m);
        }
        unwind_cache_deinit(&again.cache);
        return used_ns() - began_ns;
}

static void measure_stacks(const struct live_stacks *s)
{
        size_t n_ends[STACK_WALK_N_ENDS] = { 0 };
        double n = (double)s->n_samples;
        struct result own;

        open_result(&own, s->n_samples);
        walk_own(s, &own, n_ends);
        printf("   %zu stacks, %.1f frames each, tables of %.2f MB in %.2f ms\n", s->n_samples,
               (double)own.n_pcs / n, (double)s->cache.n_bytes / 1e6, (double)s->n_built_ns / 1e6);
        printf("   %-10s %8.2f us a stack  %5.1f ns a frame    root %6.2f%%\n", "stack_walk",
               own.ns / 1e3 / n, own.ns / (double)own.n_pcs, 100.0 * (double)own.n_root / n);
        for (size_t i = 0; i < STACK_WALK_N_ENDS; i++)
                if (i != STACK_WALK_END_ROOT && n_ends[i] > 0)
                        printf("      %6.2f%% %s\n", 100.0 * (double)n_ends[i] / n,
                               stack_walk_end_text((enum stack_walk_end)i));
        own.build_ns = build_again(s); /* the peers read the files while they walk */
        printf("   making the tables: %.2f ms\n", own.build_ns / 1e6);
        walk_peers(s, &own);
        close_result(&own);
}

/* ----------------------------------------------------------------- programs */

static pid_t start(const char *command, int *ret_go_fd)
{
        int fds[2];
        pid_t pid;
        char byte;

        if (pipe2(fds, O_CLOEXEC) < 0)
                abort();
        pid = fork();
        if (pid == 0) {
                int null_fd = open("/dev/null", O_RDWR);
                char line[1024];

                (void)dup2(null_fd, 1);
                (void)dup2(null_fd, 2);
                (void)snprintf(line, sizeof(line), "exec %s", command);
                if (read(fds[0], &byte, 1) == 1)
                        (void)execl("/bin/sh", "sh", "-c", line, (char *)NULL);
                _exit(127);
        }
        (void)close(fds[0]);
        *ret_go_fd = fds[1];
        return pid;
}

static void measure_program(const char *name, const char *command, size_t n_samples)
{
        const struct live_options options = { .period_ns = PERIOD_NS, .stack_bytes = STACK_BYTES };
        uint64_t began_ns = clock_raw_ns();
        struct live_stacks s;
        int go_fd, status = 0;
        pid_t pid = start(command, &go_fd);
        int r;

        printf("%s\n", name);
        /* The shell's samples come before the program's; the program's mappings are what counts. */
        if (write(go_fd, "", 1) != 1)
                abort();
        (void)usleep(300000);
        r = live_stacks_open(&s, pid, &options);
        while (r == 0 && s.n_samples < n_samples && clock_raw_ns() - began_ns < RECORD_S * NS_PER_S) {
                live_stacks_wait(&s, 50);
                r = live_stacks_drain(&s);
                if (waitpid(pid, &status, WNOHANG) == pid) {
                        pid = 0;
                        break;
                }
        }
        if (pid > 0) {
                (void)kill(pid, SIGKILL);
                (void)waitpid(pid, NULL, 0);
        }
        (void)close(go_fd);
        if (r < 0)
                printf("   left out: cannot sample: %s\n", strerror(-r));
        else if (s.n_samples == 0)
                printf("   left out: no samples, status %d\n", status);
        else
                measure_stacks(&s);
        live_stacks_close(&s);
        (void)fflush(stdout);
}

/* A C file with enough to do for the compiler. */
static void write_source(FILE *file)
{
        for (int i = 0; i < 3000; i++)
                (void)fprintf(
                        file,
                        "int f%d(int *a, int n) { int s = %d; for (int i = 0; i < n; i++) { "
                        "if (a[i] %% %d == 0) s += a[i] * i; else s ^= a[i] >> %d; "
                        "switch (s & 7) { case 1: s++; break; case 3: s *= 3; break; case 5: s -= n; } } "
                        "return s %s; }\n",
                        i, i, i % 13 + 2, i % 7 + 1, i > 0 ? "+ f0(a, n - 1)" : "");
}

int main(int argc, char **argv)
{
        size_t n_samples = argc > 1 ? strtoul(argv[1], NULL, 10) : N_SAMPLES;
        char source[] = "/tmp/bench_unwind_XXXXXX.c", command[512];
        int fd = mkstemps(source, 2);
        FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
        glob_t found;

        if (!unwind_machine_own() || !file)
                return 1;
        write_source(file);
        (void)fclose(file);
        measure_tables();
        measure_program("python3: json, sorting by a function, recursion; target 10 times",
                        "/usr/bin/python3 -c 'import json\n"
                        "def f(n): return 1 if n < 2 else f(n - 1) + f(n - 2)\n"
                        "for i in range(100000): json.loads(json.dumps([{str(k): k} for k in range(500)])); "
                        "sorted(range(2000), key=lambda x: -x); f(15)'",
                        n_samples);
        if (glob("/usr/lib/gcc/*/*/cc1", 0, NULL, &found) == 0) {
                (void)snprintf(command, sizeof(command), "%s -quiet -O2 %s -o /dev/null", found.gl_pathv[0],
                               source);
                measure_program("cc1 -O2, target 10 times", command, n_samples);
        }
        globfree(&found);
        (void)snprintf(command, sizeof(command), "${WORKLOADS:-build/release/workloads}/w_deep 1000000 40");
        measure_program("C++, 40 deep, target 10 times", command, n_samples);
        (void)snprintf(command, sizeof(command), "clang -O2 -c %s -o /dev/null", source);
        measure_program("clang -O2, target 4 times", command, n_samples);
        (void)snprintf(command, sizeof(command),
                       "awk 'BEGIN { for (i = 0; i < 900000; i++) { print i * 7919 %% 10007 > \"%s.old\"; "
                       "print i %% 11 ? i * 7919 %% 10007 : i * 31 %% 997 > \"%s.new\" } }'",
                       source, source);
        if (system(command) != 0)
                return 1;
        (void)snprintf(command, sizeof(command),
                       "git --no-pager diff --no-index --minimal --stat %s.old %s.new", source, source);
        measure_program("git: a large difference, target 4 times", command, n_samples);
        measure_program(
                "sqlite3: a recursive query; target 4 times",
                "sqlite3 :memory: 'WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE "
                "x<30000000) SELECT sum(length(printf(\"%d\", x % 97))), count(DISTINCT x % 1000) FROM c'",
                n_samples);
        measure_program(
                "node: code made at run time; target 1.5 times",
                "node -e 'function f(n) { return n < 2 ? 1 : f(n - 1) + f(n - 2); } "
                "for (let i = 0; i < 100000; i++) { f(22); JSON.stringify([...Array(300).keys()].sort()); }'",
                n_samples);
        (void)unlink(source);
        (void)snprintf(command, sizeof(command), "rm -f %s.old %s.new", source, source);
        (void)!system(command);
        return 0;
}
