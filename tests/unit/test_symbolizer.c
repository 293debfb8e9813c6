/* SPDX-License-Identifier: MIT */
/*
 * symbolize/symbols/symbolizer.c: functions of this program are found by name, file and
 * line; wrong files never are
 */
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/images/image_finder.h"
#include "symbolize/images/image_spool.h"
#include "symbolize/images/trace_origin.h"
#include "symbolize/symbols/module_symbols.h"
#include "symbolize/symbols/symbolizer.h"
#include "tests/unit/own_code.h"
#include "tests/unit/unit_test.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define INLINE   static inline __attribute__((always_inline))

enum { RESOLVED_FIRST_LINE = __LINE__ + 1 };
static NOINLINE int resolved_function(volatile int *x)
{
        *x = *x * 3 + 1;
        return *x;
}
enum { RESOLVED_LAST_LINE = __LINE__ - 1 };

static NOINLINE uint64_t return_address(void)
{
        uint64_t address = (uint64_t)__builtin_return_address(0);

        __asm__ volatile("" ::: "memory");
        return address;
}

enum { INLINED_LINE = __LINE__ + 3 };
INLINE uint64_t inlined_function(volatile int *x)
{
        uint64_t address = return_address();
        *x += 1; /* so that the call is not the last that happens here */
        return address;
}

enum { OUTER_LINE = __LINE__ + 3 };
static NOINLINE uint64_t outer_function(volatile int *x)
{
        uint64_t address = inlined_function(x);
        *x += 2;
        return address;
}

/* The symbolizer's answers, in order. */
struct heard {
        uint32_t frame, n_symbols, place, line, flags;
        char function[256];
        char file[256];
};

#define HEARD_MAX 16

struct listener {
        struct heard heard[HEARD_MAX];
        size_t n_heard;
        uint32_t modules[HEARD_MAX];
        size_t n_modules;
        struct module_finding finding; /* the last one */
        int answer;                    /* to every symbol */
};

static struct trace_dictionary dictionary;
static struct image_spool spool;
static struct listener listener;
static char *own_path;

static int listen_to_module(void *context, uint32_t module, struct error *err)
{
        struct listener *l = context;

        (void)err;
        ck_assert_uint_lt(l->n_modules, HEARD_MAX);
        l->modules[l->n_modules++] = module;
        return 0;
}

static int listen_to_symbols(void *context, uint32_t frame, const struct symbol *symbols, uint32_t n_symbols,
                             struct error *err)
{
        struct listener *l = context;

        (void)err;
        for (uint32_t i = 0; i < n_symbols; i++) {
                struct heard *heard = &l->heard[l->n_heard++];

                ck_assert_uint_le(l->n_heard, HEARD_MAX);
                *heard = (struct heard){ .frame = frame,
                                         .n_symbols = n_symbols,
                                         .place = i,
                                         .line = symbols[i].line,
                                         .flags = symbols[i].flags };
                (void)snprintf(heard->function, sizeof(heard->function), "%s",
                               symbols[i].function ? symbols[i].function : "");
                (void)snprintf(heard->file, sizeof(heard->file), "%s",
                               symbols[i].file ? symbols[i].file : "");
        }
        return l->answer;
}

static int listen_to_finding(void *context, const struct module_finding *finding, struct error *err)
{
        struct listener *l = context;

        (void)err;
        l->finding = *finding;
        l->finding.path = NULL;
        return 0;
}

static int run(const struct symbolizer_options *options)
{
        const struct symbolizer_sink sink = { .begin_module = listen_to_module,
                                              .add_symbols = listen_to_symbols,
                                              .end_module = listen_to_finding,
                                              .context = &listener };
        struct error err = ERROR_NONE;

        return symbolizer_run(&dictionary, options, &sink, &err);
}

static void setup(void)
{
        image_spool_init(&spool);
        trace_dictionary_init(&dictionary, 0);
        memset(&listener, 0, sizeof(listener));
        own_path = own_code_path();
}

static void teardown(void)
{
        image_spool_deinit(&spool);
        trace_dictionary_deinit(&dictionary);
        free(own_path);
}

static bool ends_with(const char *text, const char *end)
{
        size_t text_bytes = strlen(text), end_bytes = strlen(end);

        return text_bytes >= end_bytes && strcmp(text + text_bytes - end_bytes, end) == 0;
}

static uint64_t offset_of_resolved(void)
{
        return own_code_file_offset((uint64_t)resolved_function);
}

/* loop test: the file is believed for either reason */
START_LOOP_TEST(test_own_function, OWN_CODE_BUILD_ID, OWN_CODE_INODE + 1)
{
        uint32_t module = own_code_add_module(&dictionary, own_path, (enum own_code_identity)_i);
        uint32_t frame = own_code_add_frame(&dictionary, module, offset_of_resolved(), 0);

        ck_assert_int_eq(run(&(struct symbolizer_options){ 0 }), 0);
        ck_assert_uint_eq(listener.n_heard, 1);
        ck_assert_uint_eq(listener.heard[0].frame, frame);
        ck_assert_str_eq(listener.heard[0].function, "resolved_function");
        ck_assert(ends_with(listener.heard[0].file, "/test_symbolizer.c"));
        ck_assert(listener.heard[0].file[0] == '/');
        ck_assert_int_ge((int)listener.heard[0].line, RESOLVED_FIRST_LINE);
        ck_assert_int_le((int)listener.heard[0].line, RESOLVED_LAST_LINE);
        ck_assert_uint_eq(listener.heard[0].flags, 0);
}
END_TEST

/* A mark is no code, even if what it says is the path of a file. */
START_TEST(test_marks_are_not_looked_up)
{
        struct trace_module mark = { .kind = TRACE_MODULE_MARK };
        uint32_t module;

        ck_assert_int_eq(trace_dictionary_add_string(&dictionary, own_path, strlen(own_path), &mark.path), 0);
        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_MODULES, &mark, &module), 0);
        (void)own_code_add_frame(&dictionary, module, offset_of_resolved(), 0);
        ck_assert_int_eq(run(&(struct symbolizer_options){ 0 }), 0);
        ck_assert_uint_eq(listener.n_heard, 0);
}
END_TEST

START_TEST(test_chain_of_an_inlined_call)
{
        volatile int x = 0;
        uint32_t module = own_code_add_module(&dictionary, own_path, OWN_CODE_BUILD_ID);
        uint64_t offset = own_code_file_offset(outer_function(&x));

        (void)own_code_add_frame(&dictionary, module, offset, TRACE_FRAME_RETURN_ADDRESS);
        ck_assert_int_eq(run(&(struct symbolizer_options){ 0 }), 0);
        ck_assert_uint_eq(listener.n_heard, 2);
        ck_assert_uint_eq(listener.heard[0].n_symbols, 2);
        ck_assert_str_eq(listener.heard[0].function, "inlined_function");
        ck_assert_int_eq((int)listener.heard[0].line, INLINED_LINE);
        ck_assert_uint_eq(listener.heard[0].flags, TRACE_SYMBOL_INLINED);
        ck_assert_str_eq(listener.heard[1].function, "outer_function");
        ck_assert_int_eq((int)listener.heard[1].line, OUTER_LINE);
        ck_assert(ends_with(listener.heard[1].file, "/test_symbolizer.c"));
        ck_assert_uint_eq(listener.heard[1].flags, 0);
}
END_TEST

/* The first byte of a function as a return address belongs to what lies before it. */
START_TEST(test_return_address_is_looked_up_one_byte_before)
{
        uint32_t module = own_code_add_module(&dictionary, own_path, OWN_CODE_BUILD_ID);

        (void)own_code_add_frame(&dictionary, module, offset_of_resolved(), TRACE_FRAME_RETURN_ADDRESS);
        ck_assert_int_eq(run(&(struct symbolizer_options){ 0 }), 0);
        for (size_t i = 0; i < listener.n_heard; i++)
                ck_assert_str_ne(listener.heard[i].function, "resolved_function");
        ck_assert_uint_eq(listener.n_modules, 1);
}
END_TEST

/* Functions of the C library; the second one has a version in its name. */
static const char *const without_debug_information[] = { "qsort", "pthread_rwlock_unlock" };

START_LOOP_TEST(test_function_without_debug_information, 0, 2)
{
        const char *wanted = without_debug_information[_i];
        void *function = dlsym(RTLD_DEFAULT, wanted);
        Dl_info info;
        uint32_t module;

        ck_assert(function && dladdr(function, &info));
        module = own_code_add_module(&dictionary, info.dli_fname, OWN_CODE_INODE);
        (void)own_code_add_frame(&dictionary, module, own_code_file_offset((uint64_t)function), 0);
        ck_assert_int_eq(run(&(struct symbolizer_options){ 0 }), 0);
        /*
         * The outermost, if debug files are installed; with the sanitizer's runtime it is the runtime's own.
         */
        ck_assert_uint_ge(listener.n_heard, 1);
        ck_assert(ends_with(listener.heard[listener.n_heard - 1].function, wanted));
}
END_TEST

/* loop test: another file, told by build-id or by inode */
START_LOOP_TEST(test_other_file_is_stale, 0, 2)
{
        uint32_t module = own_code_add_module(&dictionary, own_path,
                                              _i ? OWN_CODE_OTHER_BUILD_ID : OWN_CODE_OTHER_INODE);
        uint32_t frame = own_code_add_frame(&dictionary, module, offset_of_resolved(), 0);

        ck_assert_int_eq(run(&(struct symbolizer_options){ 0 }), 0);
        ck_assert_uint_eq(listener.n_heard, 1);
        ck_assert_uint_eq(listener.heard[0].frame, frame);
        ck_assert_uint_eq(listener.heard[0].flags, TRACE_SYMBOL_STALE_FILE);
        ck_assert_str_eq(listener.heard[0].function, "");
        ck_assert_str_eq(listener.heard[0].file, "");
}
END_TEST

/* Paths that lead to no file that could be the module; none gives a symbol, and none blocks. */
static const char *const no_files[] = { "/nowhere/at/all", "//anon", "[heap]",       "", "/",
                                        "/dev/null",       "/tmp",   "relative/path" };

START_LOOP_TEST(test_no_file_gives_no_symbol, 0, sizeof(no_files) / sizeof(no_files[0]))
{
        uint32_t module = own_code_add_module(&dictionary, no_files[_i], OWN_CODE_INODE);

        (void)own_code_add_frame(&dictionary, module, offset_of_resolved(), 0);
        ck_assert_int_eq(run(&(struct symbolizer_options){ 0 }), 0);
        ck_assert_uint_eq(listener.n_heard, 0);
}
END_TEST

START_TEST(test_file_of_unknown_identity_is_not_believed)
{
        uint32_t module = own_code_add_module(&dictionary, own_path, OWN_CODE_NO_IDENTITY);

        (void)own_code_add_frame(&dictionary, module, offset_of_resolved(), 0);
        ck_assert_int_eq(run(&(struct symbolizer_options){ 0 }), 0);
        ck_assert_uint_eq(listener.n_heard, 0);
}
END_TEST

/* A frame of code that no segment of the file has: its name is not that of another frame. */
START_TEST(test_place_behind_the_file)
{
        uint32_t module = own_code_add_module(&dictionary, own_path, OWN_CODE_BUILD_ID);

        (void)own_code_add_frame(&dictionary, module, offset_of_resolved(), 0);
        (void)own_code_add_frame(&dictionary, module, UINT64_C(1) << 40, 0);
        ck_assert_int_eq(run(&(struct symbolizer_options){ 0 }), 0);
        ck_assert_uint_eq(listener.n_heard, 1);
        ck_assert_uint_eq(listener.heard[0].frame, 1);
        ck_assert_str_eq(listener.heard[0].function, "resolved_function");
}
END_TEST

/* A broken file between two good ones costs nothing but its own names. */
START_TEST(test_broken_file_costs_its_own_names)
{
        char path[] = "/tmp/hyprof-broken-XXXXXX";
        uint8_t start[4096];
        int fd = mkstemp(path);
        FILE *own = fopen(own_path, "re");
        uint64_t offset = offset_of_resolved();
        uint32_t first, broken, last;

        ck_assert(fd >= 0 && own);
        ck_assert_uint_eq(fread(start, 1, sizeof(start), own), sizeof(start));
        (void)fclose(own);
        ck_assert_int_eq(write(fd, start, sizeof(start)), (ssize_t)sizeof(start));
        first = own_code_add_module(&dictionary, own_path, OWN_CODE_BUILD_ID);
        broken = own_code_add_module(&dictionary, path, OWN_CODE_INODE);
        last = own_code_add_module(&dictionary, own_path, OWN_CODE_INODE);
        (void)own_code_add_frame(&dictionary, broken, offset, 0);
        (void)own_code_add_frame(&dictionary, last, offset, 0);
        (void)own_code_add_frame(&dictionary, first, offset, 0);
        ck_assert_int_eq(run(&(struct symbolizer_options){ 0 }), 0);
        ck_assert_uint_eq(listener.n_modules, 3);
        ck_assert_uint_eq(listener.n_heard, 2);
        ck_assert_uint_eq(listener.heard[0].frame, 3);
        ck_assert_uint_eq(listener.heard[1].frame, 2);
        (void)close(fd);
        (void)unlink(path);
}
END_TEST

/* Code that the kernel made has the name that the recorder gave it: by now other code may be there. */
START_TEST(test_kernel_code_keeps_its_name)
{
        static const char text[] = "ffffffff81000000 T vfs_read\nffffffffc0000000 t bpf_prog_2_b\t[bpf]\n";
        struct trace_module module = { .kind = TRACE_MODULE_KERNEL };
        struct trace_symbol symbol = { .function = 0 };
        struct symbolizer_options options = { .kallsyms_fd = memfd_create("kallsyms", MFD_CLOEXEC) };
        uint32_t kernel, made, gone, id;

        ck_assert_int_eq(write(options.kallsyms_fd, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_MODULES, &module, &kernel), 0);
        module.generation = 1;
        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_MODULES, &module, &made), 0);
        module.generation = TRACE_MODULE_KERNEL_GONE;
        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_MODULES, &module, &gone), 0);
        symbol.frame = own_code_add_frame(&dictionary, kernel, 0xffffffff81000010, 0);
        ck_assert_int_eq(trace_dictionary_add_string(&dictionary, "was", 3, &symbol.function), 0);
        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_SYMBOLS, &symbol, &id), 0);
        symbol.frame = own_code_add_frame(&dictionary, made, 0xffffffffc0000010, 0);
        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_SYMBOLS, &symbol, &id), 0);
        (void)own_code_add_frame(&dictionary, kernel, 0xffffffffc0000020, 0); /* not known to be BPF */
        (void)own_code_add_frame(&dictionary, gone, 0xffffffffc0000030, 0);
        (void)own_code_add_frame(&dictionary, made, 0xffffffffc0000040, 0);

        ck_assert_int_eq(run(&options), 0);
        ck_assert_uint_eq(listener.n_heard, 0);
        options.is_at_end = true;
        ck_assert_int_eq(run(&options), 0);
        ck_assert_uint_eq(listener.n_heard, 1);
        ck_assert_str_eq(listener.heard[0].function, "bpf_prog_2_b [bpf]");
        (void)close(options.kallsyms_fd);
}
END_TEST

START_TEST(test_kernel_by_a_given_file)
{
        static const char text[] = "ffffffff81000000 T vfs_read\nffffffffc0000000 t fuse_open\t[fuse]\n";
        struct trace_module module = { .kind = TRACE_MODULE_KERNEL };
        int fd = memfd_create("kallsyms", MFD_CLOEXEC);
        uint32_t id;

        ck_assert_int_eq(write(fd, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_MODULES, &module, &id), 0);
        (void)own_code_add_frame(&dictionary, id, 0xffffffff81000010, 0);
        (void)own_code_add_frame(&dictionary, id, 0xffffffffc0000001, TRACE_FRAME_RETURN_ADDRESS);
        (void)own_code_add_frame(&dictionary, id, 0xffffffff81000000, TRACE_FRAME_RETURN_ADDRESS);
        ck_assert_int_eq(run(&(struct symbolizer_options){ .kallsyms_fd = fd }), 0);
        ck_assert_uint_eq(listener.n_heard, 2);
        ck_assert_str_eq(listener.heard[0].function, "vfs_read");
        ck_assert_str_eq(listener.heard[1].function, "fuse_open [fuse]");
        (void)close(fd);
}
END_TEST

START_TEST(test_vdso)
{
        struct trace_module module = { .kind = TRACE_MODULE_VDSO };
        struct elf_image *image;
        uint32_t id;

        if (elf_image_open_vdso(&image, NULL) < 0)
                return; /* a kernel without one */
        ck_assert_int_eq(trace_dictionary_add_string(&dictionary, image->build_id, image->build_id_bytes,
                                                     &module.build_id),
                         0);
        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_MODULES, &module, &id), 0);
        for (uint64_t offset = 0; offset < image->segments[0].file_bytes && listener.n_heard == 0;
             offset += 64) {
                uint32_t frame = own_code_add_frame(&dictionary, id, offset, 0);

                listener.n_modules = 0;
                ck_assert_int_eq(run(&(struct symbolizer_options){ .first_frame = frame }), 0);
        }
        ck_assert_uint_eq(listener.n_heard, 1);
        /* Those of AArch64 are called so. */
        ck_assert(strstr(listener.heard[0].function, "vdso") ||
                  strstr(listener.heard[0].function, "__kernel_"));
        elf_image_close(image);
}
END_TEST

START_TEST(test_first_frame)
{
        uint32_t one = own_code_add_module(&dictionary, own_path, OWN_CODE_BUILD_ID);
        uint32_t two = own_code_add_module(&dictionary, own_path, OWN_CODE_INODE);
        uint64_t offset = offset_of_resolved();

        (void)own_code_add_frame(&dictionary, one, offset, 0);
        (void)own_code_add_frame(&dictionary, two, offset, 0);
        (void)own_code_add_frame(&dictionary, one, offset + 1, 0);
        (void)own_code_add_frame(&dictionary, 0, offset, 0);
        ck_assert_int_eq(run(&(struct symbolizer_options){ .first_frame = 2 }), 0);
        ck_assert_uint_eq(listener.n_heard, 2);
        ck_assert_uint_eq(listener.heard[0].frame, 3);
        ck_assert_uint_eq(listener.heard[1].frame, 2);
        listener.n_heard = 0;
        ck_assert_int_eq(run(&(struct symbolizer_options){ .first_frame = 5 }), 0);
        ck_assert_uint_eq(listener.n_heard, 0);
}
END_TEST

static void add_meta(const char *key, const char *value)
{
        struct trace_meta row;
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add_string(&dictionary, key, strlen(key), &row.key), 0);
        ck_assert_int_eq(trace_dictionary_add_string(&dictionary, value, strlen(value), &row.value), 0);
        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_META, &row, &id), 0);
}

/* Addresses of the kernel mean something until the machine is booted again. */
START_TEST(test_kernel_of_another_boot)
{
        static const char text[] = "ffffffff81000000 T vfs_read\nffffffff81000100 T vfs_write\n";
        struct trace_module module = { .kind = TRACE_MODULE_KERNEL };
        const struct symbol_search elsewhere = { .is_other_machine = true };
        char here[TRACE_ORIGIN_BOOT_ID_BYTES];
        uint32_t id;
        int fd = memfd_create("kallsyms", 0);

        ck_assert(fd >= 0);
        ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_MODULES, &module, &id), 0);
        (void)own_code_add_frame(&dictionary, id, 0xffffffff81000010, 0);
        ck_assert_int_eq(run(&(struct symbolizer_options){ .kallsyms_fd = fd, .search = &elsewhere }), 0);
        ck_assert_uint_eq(listener.n_heard, 0);
        add_meta("boot_id", "00000000-0000-0000-0000-000000000000");
        ck_assert_int_eq(run(&(struct symbolizer_options){ .kallsyms_fd = fd }), 0);
        ck_assert_uint_eq(listener.n_heard, 0);
        ck_assert_uint_eq(listener.finding.source, IMAGE_SOURCE_NONE);
        trace_origin_read_boot_id(here);
        ck_assert_uint_gt(strlen(here), 0);
        add_meta("boot_id", here);
        ck_assert_int_eq(run(&(struct symbolizer_options){ .kallsyms_fd = fd }), 0);
        ck_assert_uint_eq(listener.n_heard, 1);
        ck_assert_str_eq(listener.heard[0].function, "vfs_read");
        ck_assert_uint_eq(listener.finding.source, IMAGE_SOURCE_MACHINE);
        (void)close(fd);
}
END_TEST

/* Device and inode of another machine mean nothing here. */
START_TEST(test_inode_on_another_machine)
{
        const struct symbol_search elsewhere = { .is_other_machine = true };
        uint32_t module = own_code_add_module(&dictionary, own_path, OWN_CODE_INODE);

        (void)own_code_add_frame(&dictionary, module, offset_of_resolved(), 0);
        ck_assert_int_eq(run(&(struct symbolizer_options){ .search = &elsewhere }), 0);
        ck_assert_uint_eq(listener.n_heard, 0);
        ck_assert_uint_eq(listener.finding.source, IMAGE_SOURCE_UNCHECKED);
}
END_TEST

static void map_module(uint32_t module, uint64_t time_ns)
{
        struct trace_process process = { .pid = 1 };
        struct trace_mapping row = { .length_bytes = 4096, .time_ns = time_ns, .module = module };
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_PROCESSES, &process, &row.process), 0);
        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_MAPPINGS, &row, &id), 0);
}

/* loop test: the inode is the same, but the file was changed after it was mapped; or long before */
START_LOOP_TEST(test_file_that_was_changed_in_place, 0, 2)
{
        uint32_t module = own_code_add_module(&dictionary, own_path, OWN_CODE_INODE);
        struct stat status;
        char text[32];
        uint64_t changed_ns;

        ck_assert_int_eq(stat(own_path, &status), 0);
        changed_ns = (uint64_t)status.st_ctim.tv_sec * 1000000000 + (uint64_t)status.st_ctim.tv_nsec;
        /* The recording began at 5000 of its clock, and mapped the file a second later. */
        (void)snprintf(text, sizeof(text), "%llu",
                       (unsigned long long)(_i ? changed_ns : changed_ns - 3000000000));
        add_meta("start_realtime_ns", text);
        add_meta("start_raw_ns", "5000");
        map_module(module, 1000005000);
        (void)own_code_add_frame(&dictionary, module, offset_of_resolved(), 0);
        ck_assert_int_eq(run(&(struct symbolizer_options){ 0 }), 0);
        ck_assert_uint_eq(listener.n_heard, 1);
        ck_assert_uint_eq(listener.heard[0].flags, _i ? 0 : TRACE_SYMBOL_STALE_FILE);
        ck_assert_str_eq(listener.heard[0].function, _i ? "resolved_function" : "");
}
END_TEST

/* Keeps @n_bytes of @path for @module, or of memory. */
static void keep(uint32_t module, uint32_t kind, const void *bytes, size_t n_bytes)
{
        struct trace_attachment attachment = { .size_bytes = n_bytes, .hash = module, .kind = kind };
        struct trace_module_image row = { .module = module, .state = TRACE_IMAGE_KEPT };
        uint32_t id;

        ck_assert_int_eq(
                trace_dictionary_add(&dictionary, TRACE_TABLE_ATTACHMENTS, &attachment, &row.attachment), 0);
        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_MODULE_IMAGES, &row, &id), 0);
        ck_assert_int_eq(image_spool_add(&spool, row.attachment, bytes, n_bytes, NULL), 0);
}

static uint8_t *read_own_file(size_t *ret_bytes)
{
        int fd = open(own_path, O_RDONLY | O_CLOEXEC);
        struct stat status;
        uint8_t *bytes;

        ck_assert(fd >= 0 && fstat(fd, &status) == 0);
        bytes = malloc((size_t)status.st_size);
        ck_assert_ptr_nonnull(bytes);
        ck_assert_int_eq(io_read_full(fd, bytes, (size_t)status.st_size, ret_bytes, NULL), 0);
        (void)close(fd);
        return bytes;
}

static void rename_module(uint32_t module, const char *path)
{
        struct trace_module *row = (struct trace_module *)(uintptr_t)trace_dictionary_row(
                &dictionary, TRACE_TABLE_MODULES, module);

        ck_assert_int_eq(trace_dictionary_add_string(&dictionary, path, strlen(path), &row->path), 0);
}

/*
 * loop test: by build-id or without any identity that could be checked; on any machine, and the file is gone
 */
START_LOOP_TEST(test_kept_image, 0, 4)
{
        const struct symbol_search elsewhere = { .is_other_machine = true };
        uint32_t module = own_code_add_module(&dictionary, own_path,
                                              _i % 2 ? OWN_CODE_NO_IDENTITY : OWN_CODE_BUILD_ID);
        size_t n_bytes;
        uint8_t *bytes = read_own_file(&n_bytes);

        rename_module(module, "/nowhere/at/all");
        keep(module, _i / 2 ? TRACE_ATTACHMENT_MODULE_PARTS : TRACE_ATTACHMENT_MODULE_FILE, bytes, n_bytes);
        (void)own_code_add_frame(&dictionary, module, offset_of_resolved(), 0);
        ck_assert_int_eq(run(&(struct symbolizer_options){ .search = &elsewhere, .spool = &spool }), 0);
        ck_assert_uint_eq(listener.n_heard, 1);
        ck_assert_str_eq(listener.heard[0].function, "resolved_function");
        ck_assert_uint_eq(listener.finding.source, _i / 2 ? IMAGE_SOURCE_PARTS : IMAGE_SOURCE_KEPT);
        ck_assert_uint_eq(listener.finding.n_lines, 1);
        free(bytes);
}
END_TEST

/* loop test: a hostile trace keeps another file, a piece of one, garbage, or nothing */
START_LOOP_TEST(test_kept_image_that_is_none, 0, 4)
{
        uint32_t module = own_code_add_module(&dictionary, own_path,
                                              _i == 0 ? OWN_CODE_OTHER_BUILD_ID : OWN_CODE_BUILD_ID);
        size_t n_bytes;
        uint8_t *bytes = read_own_file(&n_bytes);

        rename_module(module, "/nowhere/at/all");
        if (_i == 2)
                memset(bytes, 'x', n_bytes);
        keep(module, TRACE_ATTACHMENT_MODULE_FILE, bytes, _i == 1 ? 1000 : _i == 3 ? 0 : n_bytes);
        (void)own_code_add_frame(&dictionary, module, offset_of_resolved(), 0);
        ck_assert_int_eq(run(&(struct symbolizer_options){ .spool = &spool }), 0);
        ck_assert_uint_eq(listener.n_heard, 0);
        free(bytes);
}
END_TEST

/*
 * loop test: without a build-id a file is believed anywhere if its code is what the
 * trace keeps, and only then
 */
START_LOOP_TEST(test_file_by_content, 0, 2)
{
        const struct symbol_search elsewhere = { .is_other_machine = true };
        uint32_t module = own_code_add_module(&dictionary, own_path, OWN_CODE_NO_IDENTITY);
        size_t n_bytes;
        uint8_t *bytes = read_own_file(&n_bytes);

        if (_i)
                bytes[offset_of_resolved()] ^= 1;
        keep(module, TRACE_ATTACHMENT_MODULE_PARTS, bytes, n_bytes);
        (void)own_code_add_frame(&dictionary, module, offset_of_resolved(), 0);
        ck_assert_int_eq(run(&(struct symbolizer_options){ .search = &elsewhere, .spool = &spool }), 0);
        ck_assert_uint_eq(listener.n_heard, 1);
        ck_assert_uint_eq(listener.finding.source, _i ? IMAGE_SOURCE_PARTS : IMAGE_SOURCE_FILE);
        free(bytes);
}
END_TEST

/* A folder of ours is looked into first, and by the module's name. */
START_TEST(test_folder_of_debug_files)
{
        char folder[] = "/tmp/hyprof-search-XXXXXX";
        char path[64];
        struct symbol_search search = { .is_other_machine = true, .n_debug_dirs = 1 };
        uint32_t module = own_code_add_module(&dictionary, own_path, OWN_CODE_BUILD_ID);

        ck_assert_ptr_nonnull(mkdtemp(folder));
        search.debug_dirs[0] = folder;
        rename_module(module, "/nowhere/at/all");
        (void)own_code_add_frame(&dictionary, module, offset_of_resolved(), 0);
        ck_assert_int_eq(run(&(struct symbolizer_options){ .search = &search }), 0);
        ck_assert_uint_eq(listener.n_heard, 0);
        (void)snprintf(path, sizeof(path), "%s/all", folder);
        ck_assert_int_eq(symlink(own_path, path), 0);
        ck_assert_int_eq(run(&(struct symbolizer_options){ .search = &search }), 0);
        ck_assert_uint_eq(listener.n_heard, 1);
        ck_assert_uint_eq(listener.finding.source, IMAGE_SOURCE_FILE);
        (void)unlink(path);
        (void)rmdir(folder);
}
END_TEST

START_TEST(test_sink_can_stop)
{
        uint32_t module = own_code_add_module(&dictionary, own_path, OWN_CODE_BUILD_ID);

        (void)own_code_add_frame(&dictionary, module, offset_of_resolved(), 0);
        (void)own_code_add_frame(&dictionary, module, offset_of_resolved() + 1, 0);
        listener.answer = -ECANCELED;
        ck_assert_int_eq(run(&(struct symbolizer_options){ 0 }), -ECANCELED);
        ck_assert_uint_eq(listener.n_heard, 1);
}
END_TEST

static void begin(int argc, char **argv)
{
        volatile int x = 1;

        (void)argc, (void)argv;
        if (resolved_function(&x) != 4)
                exit(EXIT_FAILURE); /* it has to be in the program to be found there */
}

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown, .begin = begin);
