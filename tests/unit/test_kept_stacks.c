/* SPDX-License-Identifier: MIT */
/*
 * symbolize/stacks/: a kept copy finishes its sample's call stack by the table of an unstripped file, with
 * the mappings of its time; what cannot be finished stays as it was, whatever the copy has in it
 */
#include "symbolize/stacks/kept_stacks.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/regular_file.h"
#include "format/event_decoder.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/images/image_finder.h"
#include "symbolize/images/module_images.h"
#include "symbolize/stacks/module_tables.h"
#include "symbolize/stacks/stack_finisher.h"
#include "tests/unit/built_files.h"
#include "tests/unit/event_list.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"
#include "unwind/unwind_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES     4096
#define FUNCTION_BYTES 64
#define BASE_AVMA      UINT64_C(0x7f1234560000)
#define STACK_AVMA     UINT64_C(0x7ffc00001000)
#define STACK_WORDS    16
#define T              UINT64_C(1000000000)

/* Three functions, of which the first has no caller; code and names are of no use, the description counts. */
static const char source[] =
        ".cfi_sections .debug_frame\n"
        ".text\n"
        "root: .cfi_startproc\n .cfi_undefined %u\n .zero 64\n .cfi_endproc\n"
        "outer: .cfi_startproc\n .cfi_def_cfa_offset 32\n .cfi_offset %u, -8\n .zero 64\n .cfi_endproc\n"
        "inner: .cfi_startproc\n .cfi_def_cfa_offset 32\n .cfi_offset %u, -8\n .zero 64\n .cfi_endproc\n"
        ".section .note.GNU-stack,\"\",%%progbits\n";

static struct built_files files;
static struct trace_builder b;
static const struct unwind_machine *machine;
static uint64_t code_off; /* of `root` in the file */
static uint32_t thread, event, mark, module, cut_stack;

static uint64_t avma_of(unsigned function)
{
        return BASE_AVMA + code_off % PAGE_BYTES + function * FUNCTION_BYTES + 16;
}

static void build_files(void)
{
        struct elf_image *image = NULL;
        GElf_Shdr text;
        char words[1024];
        int fd = -1;

        machine = unwind_machine_own();
        built_files_init(&files);
        (void)snprintf(words, sizeof(words), source, machine->ra, machine->ra, machine->ra);
        built_files_write(&files, "code.s", words);
        ck_assert(built_files_run(
                &files, "mkdir dbg && gcc -shared -nostdlib -Wl,--build-id=sha1 -o dbg/other_name code.s && "
                        "strip -o bare.so dbg/other_name"));
        ck_assert_int_eq(regular_file_open(built_files_path(&files, "bare.so"), &fd, NULL), 0);
        ck_assert_int_eq(elf_image_open(fd, &image, NULL), 0);
        ck_assert_ptr_nonnull(elf_image_find_section(image, ".text", &text));
        code_off = text.sh_offset;
        elf_image_close(image);
        (void)close(fd);
}

static uint32_t add_module(void)
{
        struct trace_module row = { .kind = TRACE_MODULE_FILE };
        struct elf_image *image = NULL;
        int fd = -1;

        ck_assert_int_eq(regular_file_open(built_files_path(&files, "bare.so"), &fd, NULL), 0);
        ck_assert_int_eq(elf_image_open(fd, &image, NULL), 0);
        row.path = trace_builder_string(&b, built_files_path(&files, "bare.so"));
        ck_assert_int_eq(trace_dictionary_add_string(&b.dictionary, image->build_id, image->build_id_bytes,
                                                     &row.build_id),
                         0);
        elf_image_close(image);
        (void)close(fd);
        return trace_builder_row(&b, TRACE_TABLE_MODULES, &row);
}

static void add_mapping(uint64_t start_avma, uint64_t length_bytes, uint64_t time_ns, uint32_t of_module)
{
        const struct trace_mapping row = { .start_avma = start_avma,
                                           .length_bytes = length_bytes,
                                           .file_offset_bytes = code_off - code_off % PAGE_BYTES,
                                           .time_ns = time_ns,
                                           .process = 1,
                                           .module = of_module };

        (void)trace_builder_row(&b, TRACE_TABLE_MAPPINGS, &row);
}

/* A sample in the kernel, below inner() of the file. */
static void setup(void)
{
        uint32_t kernel, frame;

        build_files();
        trace_builder_init(&b);
        trace_builder_meta(&b, "kept_stacks", "cut");
        thread = trace_builder_thread(&b, 1, 1);
        event = trace_builder_sample_event(&b, "cycles");
        mark = trace_builder_frame(&b, trace_builder_module_of(&b, TRACE_MODULE_MARK, "[truncated]"), 0);
        kernel = trace_builder_module_of(&b, TRACE_MODULE_KERNEL, "[kernel]");
        module = add_module();
        add_mapping(BASE_AVMA, PAGE_BYTES, T, module);
        frame = trace_builder_frame(&b, module, code_off + 2 * FUNCTION_BYTES + 16);
        cut_stack = trace_builder_stack(&b, trace_builder_stack(&b, 0, mark), frame);
        cut_stack = trace_builder_stack(&b, cut_stack, trace_builder_frame(&b, kernel, 0xffffffff81000000));
}

static void teardown(void)
{
        trace_builder_deinit(&b);
        built_files_deinit(&files);
}

/* The copy of a stack: inner() was called by outer(), which was called by root(). */
static struct byte_buffer make_copy(size_t n_words)
{
        struct byte_buffer copy = { .data = NULL };
        uint64_t stack[STACK_WORDS] = { [3] = avma_of(1), [7] = avma_of(0) };

        byte_buffer_add_u64(&copy, machine->elf_machine);
        byte_buffer_add_u64(&copy, machine->perf_registers);
        for (unsigned bit = 0; bit < 64; bit++) {
                uint8_t number = bit < machine->n_perf ? machine->perf_to_dwarf[bit] : UNWIND_REGISTER_NONE;

                if (machine->perf_registers >> bit & 1)
                        byte_buffer_add_u64(&copy, number == UNWIND_REGISTER_PC ? avma_of(2)
                                                   : number == machine->sp      ? STACK_AVMA
                                                                                : 0);
        }
        for (size_t i = 0; i < n_words; i++)
                byte_buffer_add_u64(&copy, stack[i]);
        ck_assert(!copy.failed);
        return copy;
}

static void add_sample(uint64_t time_ns, const struct byte_buffer *copy, enum trace_stack_state state)
{
        const uint64_t sample[TRACE_OPERANDS_MAX] = { event, 0, cut_stack, 0, 1, state };
        const uint64_t length[TRACE_OPERANDS_MAX] = { copy ? copy->used_bytes : 0 };

        if (copy)
                trace_builder_add(&b, time_ns, TRACE_OP_STACK_COPY, (const char *)copy->data, length);
        trace_builder_add(&b, time_ns, TRACE_OP_SAMPLE, NULL, sample);
}

static struct kept_stacks_totals totals;

/* Finishes the trace of `b`, with files of @folder; the result is in `fd`, which the caller closes. */
static struct trace_reader *finish(const char *folder, int *ret_fd)
{
        const struct symbol_search search = { .debug_dirs = { folder },
                                              .n_debug_dirs = folder != NULL,
                                              .is_other_machine = true };
        struct trace_reader *reader = NULL;
        struct trace_writer *writer = NULL;
        struct module_images images;
        struct image_finder finder = { .images = &images, .search = &search };
        struct error err = ERROR_NONE;
        uint64_t first_ns, last_ns;
        char path[40];

        *ret_fd = memfd_create("finished", 0);
        ck_assert_int_ge(*ret_fd, 0);
        ck_assert_int_eq(trace_reader_open(b.path, &reader, &err), 0);
        ck_assert_int_eq(trace_reader_read_tables(reader, &first_ns, &last_ns, &err), 0);
        finder.dictionary = trace_reader_dictionary(reader);
        ck_assert(kept_stacks_are_there(finder.dictionary));
        ck_assert_int_eq(module_images_init(&images, finder.dictionary, &err), 0);
        ck_assert_int_eq(trace_writer_new(*ret_fd, &writer, &err), 0);
        ck_assert_msg(kept_stacks_finish(reader, writer, &finder, (struct confinement_user){ 0, 0 }, &totals,
                                         &err) == 0,
                      "%s", err.text);
        ck_assert_int_eq(trace_writer_finish(writer, &err), 0);
        trace_writer_free(writer);
        trace_reader_close(reader);
        module_images_deinit(&images);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", *ret_fd);
        ck_assert_int_eq(trace_reader_open(path, &reader, &err), 0);
        return reader;
}

/* "kernel:0 file:144 ..." of a call stack, by the offset from root() in the file; innermost first. */
static const char *words_of(const struct trace_dictionary *d, uint64_t stack)
{
        static char words[512];
        size_t used = 0;

        words[0] = '\0';
        while (stack != 0) {
                const struct trace_stack *row = trace_dictionary_row(d, TRACE_TABLE_STACKS, (uint32_t)stack);
                const struct trace_frame *frame = trace_dictionary_row(d, TRACE_TABLE_FRAMES, row->frame);

                used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%s",
                                         frame->flags & TRACE_FRAME_RETURN_ADDRESS ? "<" : "",
                                         row->frame == mark        ? "mark "
                                         : frame->module == module ? ""
                                                                   : "kernel ");
                if (frame->module == module)
                        used += (size_t)snprintf(words + used, sizeof(words) - used, "%u ",
                                                 (unsigned)(frame->offset - code_off));
                stack = row->parent;
        }
        return words;
}

static const struct trace_event *nth(const struct event_list *list, size_t n, enum trace_op op,
                                     uint64_t time_ns)
{
        const struct trace_event *e = event_list_get(list, thread, n);

        ck_assert_ptr_nonnull(e);
        ck_assert_uint_eq(e->op, op);
        ck_assert_uint_eq(e->time_ns, time_ns);
        return e;
}

#define FINISHED   "kernel 144 <80 <16 "
#define UNFINISHED "kernel 144 mark "

/* Reads the finished trace up to its STATES, and gives the last sample that they state. */
static void read_states(int fd, struct trace_event *ret_sample)
{
        struct trace_reader *reader = NULL;
        struct event_decoder decoder;
        struct trace_item item;
        struct event_run run;
        char path[40];

        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        ck_assert_int_eq(trace_reader_open(path, &reader, NULL), 0);
        do
                ck_assert_int_eq(trace_reader_next(reader, &item, NULL), 1);
        while (item.header.kind != TRACE_CHUNK_STATES);
        ck_assert_int_eq(event_decoder_init(&decoder, trace_reader_dictionary(reader), item.body,
                                            item.body_bytes, NULL),
                         0);
        ck_assert_int_eq(event_decoder_next_run(&decoder, &run, NULL), 1);
        ck_assert_int_eq(event_decoder_next(&decoder, ret_sample, NULL), 1);
        ck_assert_uint_eq(ret_sample->op, TRACE_OP_SAMPLE);
        trace_reader_close(reader);
}

/* Finished samples lose their copies; all else stays, in its order. */
START_TEST(test_samples_are_finished)
{
        const struct trace_loss loss = { .reason = TRACE_LOSS_STACK_NO_TABLE, .count = 5 };
        struct event_list list = { .events = NULL };
        struct byte_buffer copy = make_copy(STACK_WORDS);
        const struct trace_dictionary *d;
        struct trace_event stated;
        struct trace_reader *reader;
        int fd;

        (void)trace_builder_row(&b, TRACE_TABLE_LOSSES, &loss);
        trace_builder_begin_run(&b, thread);
        add_sample(T + 1, &copy, TRACE_STACK_NO_TABLE);
        add_sample(T + 1, NULL, TRACE_STACK_NO_TABLE); /* of another event of the group */
        add_sample(T + 2, NULL, TRACE_STACK_NO_TABLE);
        trace_builder_end_run(&b);
        trace_builder_flush(&b);
        trace_builder_begin_run(&b, thread);
        add_sample(T + 3, &copy, TRACE_STACK_COMPLETE); /* of --keep-stacks=all */
        add_sample(T + 4, &copy, TRACE_STACK_TABLE_LATE);
        trace_builder_end_run(&b);
        trace_builder_flush(&b);
        trace_builder_begin_run(&b, thread);
        add_sample(T + 4, NULL, TRACE_STACK_TABLE_LATE); /* the last sample, as STATES say it again */
        trace_builder_end_run(&b);
        trace_builder_flush_states(&b);
        trace_builder_finish(&b);
        reader = finish(built_files_path(&files, "dbg"), &fd);
        event_list_read(&list, reader);
        d = trace_reader_dictionary(reader);

        ck_assert_uint_eq(totals.n_finished, 2);
        ck_assert_uint_eq(totals.n_left, 0);
        ck_assert_uint_eq(totals.left_module, 0);
        for (size_t i = 0; i < 2; i++) {
                const struct trace_event *sample = nth(&list, i, TRACE_OP_SAMPLE, T + 1);

                ck_assert_str_eq(words_of(d, sample->sample.stack), FINISHED);
                ck_assert_uint_eq(sample->sample.state, TRACE_STACK_COMPLETE);
        }
        ck_assert_str_eq(words_of(d, nth(&list, 2, TRACE_OP_SAMPLE, T + 2)->sample.stack), UNFINISHED);
        (void)nth(&list, 3, TRACE_OP_STACK_COPY, T + 3);
        ck_assert_str_eq(words_of(d, nth(&list, 4, TRACE_OP_SAMPLE, T + 3)->sample.stack), UNFINISHED);
        ck_assert_str_eq(words_of(d, nth(&list, 5, TRACE_OP_SAMPLE, T + 4)->sample.stack), FINISHED);
        ck_assert_ptr_null(event_list_get(&list, thread, 6));
        ck_assert_uint_eq(trace_dictionary_loss_count(d, TRACE_LOSS_STACK_NO_TABLE), 4);
        read_states(fd, &stated);
        ck_assert_str_eq(words_of(d, stated.sample.stack), FINISHED);
        ck_assert_uint_eq(stated.sample.state, TRACE_STACK_COMPLETE);
        event_list_deinit(&list);
        trace_reader_close(reader);
        byte_buffer_deinit(&copy);
        (void)close(fd);
}
END_TEST

/* A forked process has the mappings of its parent as they were then; it has none that came later. */
START_TEST(test_forked_process)
{
        struct event_list list = { .events = NULL };
        struct byte_buffer copy = make_copy(STACK_WORDS);
        const struct trace_process children[] = { { .pid = 2, .parent = 1, .start_ns = T + 100 },
                                                  { .pid = 3, .parent = 1, .start_ns = T - 100 } };
        struct trace_reader *reader;
        int fd;

        for (uint32_t i = 0; i < 2; i++) {
                struct trace_thread row = { .tid = 2 + i };

                row.process = trace_builder_row(&b, TRACE_TABLE_PROCESSES, &children[i]);
                trace_builder_begin_run(&b, trace_builder_row(&b, TRACE_TABLE_THREADS, &row));
                add_sample(T + 200, &copy, TRACE_STACK_NO_TABLE);
                trace_builder_end_run(&b);
        }
        trace_builder_finish(&b);
        reader = finish(built_files_path(&files, "dbg"), &fd);
        event_list_read(&list, reader);
        ck_assert_uint_eq(totals.n_finished, 1);
        ck_assert_uint_eq(event_list_get(&list, 2, 0)->sample.state, TRACE_STACK_COMPLETE);
        ck_assert_uint_eq(event_list_get(&list, 3, 1)->sample.state, TRACE_STACK_NO_TABLE);
        event_list_deinit(&list);
        trace_reader_close(reader);
        byte_buffer_deinit(&copy);
        (void)close(fd);
}
END_TEST

/* A copy that ends too early gives the callers that it has; one without tables or mappings gives none. */
START_LOOP_TEST(test_what_is_missing, 0, 5)
{
        static const struct {
                size_t n_words;
                bool has_files, is_mapped_later, names_module;
                const char *words;
                enum trace_stack_state state;
                uint64_t n_finished;
        } cases[] = {
                { STACK_WORDS, true, false, false, FINISHED, TRACE_STACK_COMPLETE, 1 },
                { 5, true, false, false, "kernel 144 <80 mark ", TRACE_STACK_TRUNCATED, 1 },
                { 2, true, false, false, UNFINISHED, TRACE_STACK_NO_TABLE, 0 },
                { STACK_WORDS, false, false, true, UNFINISHED, TRACE_STACK_NO_TABLE, 0 },
                { STACK_WORDS, true, true, false, UNFINISHED, TRACE_STACK_NO_TABLE, 0 },
        };
        struct event_list list = { .events = NULL };
        struct byte_buffer copy = make_copy(cases[_i].n_words);
        uint64_t time_ns = cases[_i].is_mapped_later ? T - 1 : T + 1;
        const struct trace_event *sample;
        struct trace_reader *reader;
        int fd;

        trace_builder_begin_run(&b, thread);
        add_sample(time_ns, &copy, TRACE_STACK_NO_TABLE);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        reader = finish(cases[_i].has_files ? built_files_path(&files, "dbg") : NULL, &fd);
        event_list_read(&list, reader);

        ck_assert_uint_eq(totals.n_finished, cases[_i].n_finished);
        ck_assert_uint_eq(totals.n_left, 1 - cases[_i].n_finished);
        ck_assert_uint_eq(totals.left_module, cases[_i].names_module ? module : 0);
        if (cases[_i].n_finished == 0)
                ck_assert_uint_eq(nth(&list, 0, TRACE_OP_STACK_COPY, time_ns)->stack_copy.copy_bytes,
                                  copy.used_bytes);
        sample = nth(&list, 1 - cases[_i].n_finished, TRACE_OP_SAMPLE, time_ns);
        ck_assert_str_eq(words_of(trace_reader_dictionary(reader), sample->sample.stack), cases[_i].words);
        ck_assert_uint_eq(sample->sample.state, cases[_i].state);
        event_list_deinit(&list);
        trace_reader_close(reader);
        byte_buffer_deinit(&copy);
        (void)close(fd);
}
END_TEST

/*
 * Copies of any length with any bytes, and mappings that make no sense, give a call stack with inner() in it,
 * or none.
 */
START_TEST(test_garbage)
{
        const char *folder = built_files_path(&files, "dbg");
        const struct symbol_search search = { .debug_dirs = { folder }, .n_debug_dirs = 1 };
        struct module_images images;
        const struct image_finder finder = { .dictionary = &b.dictionary,
                                             .images = &images,
                                             .search = &search };
        struct stack_finisher *finisher;
        struct module_tables tables;
        uint64_t random = 7, n_finished = 0;

        add_mapping(UINT64_MAX - 10, UINT64_MAX, T, module);
        add_mapping(0, UINT64_MAX, T - 5, module);
        add_mapping(BASE_AVMA - PAGE_BYTES, 3 * PAGE_BYTES, T - 4, 2);
        add_mapping(BASE_AVMA, PAGE_BYTES, T - 3, module);
        ck_assert_int_eq(module_images_init(&images, &b.dictionary, NULL), 0);
        ck_assert_int_eq(module_tables_init(&tables, &finder, (struct confinement_user){ 0, 0 }), 0);
        finisher = stack_finisher_new(&b.dictionary, &tables);
        ck_assert_ptr_nonnull(finisher);
        for (unsigned i = 0; i < 20000; i++) {
                struct byte_buffer copy = make_copy(STACK_WORDS);
                struct trace_event sample = { .op = TRACE_OP_SAMPLE,
                                              .time_ns = T + fixed_random_next(&random) % 10 };
                size_t n_bytes = copy.used_bytes;
                const char *words;
                int r;

                sample.sample.stack = cut_stack;
                sample.sample.state = TRACE_STACK_NO_TABLE;
                for (unsigned k = 0; k < i % 5; k++)
                        copy.data[fixed_random_next(&random) % n_bytes] = (uint8_t)fixed_random_next(&random);
                if (i % 3 == 0)
                        n_bytes = fixed_random_next(&random) % (n_bytes + 1);
                r = stack_finisher_run(finisher, thread, copy.data, n_bytes, &sample);
                ck_assert_int_ge(r, 0);
                n_finished += r == 1;
                words = words_of(&b.dictionary, sample.sample.stack);
                ck_assert_msg(strncmp(words, "kernel 144 ", 11) == 0, "%s", words);
                ck_assert((r == 1) == (sample.sample.stack != cut_stack));
                byte_buffer_deinit(&copy);
        }
        ck_assert_uint_gt(n_finished, 1000);
        stack_finisher_free(finisher);
        module_tables_deinit(&tables);
        module_images_deinit(&images);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
