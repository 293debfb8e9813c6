/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/written_rows.c: of programs that have ended only that stays in memory which names are found
 * with; nothing is forgotten before it is written
 */
#include "base/byte_buffer.h"
#include "format/trace_dictionary.h"
#include "format/trace_schema.h"
#include "sampler/merge/written_rows.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"
#include "tests/unit/unit_test.h"

#define N_PROCESSES 20000
#define WITH_IMAGE  777 /* the process in which a program was loaded into memory */

static struct trace_dictionary dictionary;
static struct process_table processes;
static struct recording recording;
static struct written_rows written;
static uint32_t files[3], image;

static uint32_t add_module(uint32_t kind, uint64_t inode)
{
        const struct trace_module row = { .kind = kind, .inode = inode };
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_MODULES, &row, &id), 0);
        return id;
}

static void setup(void)
{
        trace_dictionary_init(&dictionary, 0);
        process_table_init(&processes, &dictionary);
        recording = (struct recording){ .dictionary = &dictionary, .processes = &processes };
        written = (struct written_rows){ .n_mappings = 0 };
        for (uint32_t i = 0; i < 3; i++)
                files[i] = add_module(TRACE_MODULE_FILE, i + 1);
        image = add_module(TRACE_MODULE_IMAGE, 0);
}

static void teardown(void)
{
        process_table_deinit(&processes);
        trace_dictionary_deinit(&dictionary);
}

static void add_mapping(uint32_t process, uint32_t module)
{
        const struct trace_mapping row = { .start_avma = 4096 * (process + module),
                                           .length_bytes = 4096,
                                           .process = process,
                                           .module = module };
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_append_new(&dictionary, TRACE_TABLE_MAPPINGS, &row, &id), 0);
}

static void write_tables(void)
{
        struct byte_buffer body = { .data = NULL };

        for (uint32_t i = 0; i < TRACE_TABLE_COUNT; i++)
                for (uint32_t n_rows = 1; n_rows > 0;)
                        ck_assert_int_eq(trace_dictionary_encode(&dictionary,
                                                                 (enum trace_table)trace_schema_nth_table(i),
                                                                 &body, &n_rows),
                                         0);
        byte_buffer_deinit(&body);
}

static uint32_t count_in_memory(enum trace_table table)
{
        return dictionary.tables[table - TRACE_TABLE_FIRST].n_items;
}

/* Programs run one after the other; the last ones live on. */
static void run_programs(uint32_t n_alive)
{
        for (uint32_t i = 1; i <= N_PROCESSES; i++) {
                uint32_t pid = 100 + i % 3000 + (i > N_PROCESSES - n_alive ? 10000 : 0);
                struct thread_track *thread = NULL;

                ck_assert_int_eq(process_table_add_thread(&processes, pid, pid, 0, i, &thread), 0);
                for (size_t k = 0; k < 3; k++)
                        add_mapping(thread->process->process, files[k]);
                if (i == WITH_IMAGE)
                        add_mapping(thread->process->process, image);
                if (i <= N_PROCESSES - n_alive)
                        (void)process_table_forget_thread(&processes, thread);
                if (i % 500 == 0) {
                        write_tables();
                        written_rows_forget(&written, &recording);
                }
        }
}

START_TEST(test_only_what_is_needed_stays)
{
        uint32_t n_of_image = 0;

        run_programs(10);
        ck_assert_uint_eq(trace_dictionary_count(&dictionary, TRACE_TABLE_PROCESSES), N_PROCESSES);
        ck_assert_uint_eq(count_in_memory(TRACE_TABLE_PROCESSES), 0);
        ck_assert_uint_eq(count_in_memory(TRACE_TABLE_THREADS), 0);
        ck_assert_uint_lt(count_in_memory(TRACE_TABLE_MAPPINGS), 6000);
        ck_assert_uint_eq(processes.threads.n_slots, 64); /* of those that live */

        /* The rest goes at the next look that finds many. */
        written.n_mappings = 0;
        for (uint32_t i = 0; i < 4096; i++)
                add_mapping(1, files[0]);
        write_tables();
        written_rows_forget(&written, &recording);
        ck_assert_uint_eq(count_in_memory(TRACE_TABLE_MAPPINGS), 3 + 4 + 3 * 10);
        for (uint32_t i = 1; i <= 3 + 4 + 3 * 10; i++) {
                const struct trace_mapping *row = trace_dictionary_row(&dictionary, TRACE_TABLE_MAPPINGS, i);

                n_of_image += row->process == WITH_IMAGE;
                if (i <= 3)
                        ck_assert_uint_eq(row->module, files[i - 1]);
                if (i > 7)
                        ck_assert_ptr_nonnull(process_table_find_id(&processes, row->process));
        }
        ck_assert_uint_eq(n_of_image, 4);
}
END_TEST

/* Sums of system calls come at the end, by the numbers of threads. */
START_TEST(test_system_calls_need_threads)
{
        recording.syscall_event = 1;
        run_programs(0);
        ck_assert_uint_eq(count_in_memory(TRACE_TABLE_PROCESSES), N_PROCESSES);
        ck_assert_uint_eq(count_in_memory(TRACE_TABLE_THREADS), N_PROCESSES);
}
END_TEST

/* Ids are those of processes, not of numbers, which are used again. */
START_TEST(test_a_number_is_used_again)
{
        struct thread_track *first = NULL, *second = NULL;
        uint32_t process;

        ck_assert_int_eq(process_table_add_thread(&processes, 7, 7, 0, 1, &first), 0);
        process = first->process->process;
        ck_assert_ptr_eq(process_table_find_id(&processes, process), first->process);
        (void)process_table_forget_thread(&processes, first);
        ck_assert_ptr_null(process_table_find_id(&processes, process));
        ck_assert_int_eq(process_table_add_thread(&processes, 7, 7, 0, 2, &second), 0);
        ck_assert_ptr_null(process_table_find_id(&processes, process));
        ck_assert_ptr_eq(process_table_find_id(&processes, second->process->process), second->process);
        ck_assert_ptr_null(process_table_find_id(&processes, 0));
        ck_assert_ptr_null(process_table_find_id(&processes, UINT32_MAX));
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
