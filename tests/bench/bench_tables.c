/* SPDX-License-Identifier: MIT */
/*
 * Unwind tables while a recording runs: how long after a file was mapped its table is there, how much of
 * that is the recorder's processor time, and what a process costs whose files are known.
 * Usage: bench_tables [file...]
 */
#include "base/clock.h"
#include "base/error.h"
#include "format/trace_rows.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/tables/code_tables.h"
#include "sampler/tables/table_process.h"
#include "sampler/tracks/loss_counter.h"
#include "unwind/unwind_module.h"
#include "unwind/unwind_table.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS      5 /* the quickest counts */
#define FILES_KNOWN 4 /* of a small program: itself, the loader, the C library, the vdso */
#define N_KNOWN     100000

static double used_ns(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static struct perf_mmap mmap_of(const char *path)
{
        struct perf_mmap m = { .start_avma = 4096, .length_bytes = 4096, .executable = true, .path = path };
        struct stat status;

        m.path_bytes = strlen(path);
        if (stat(path, &status) == 0)
                m.inode = status.st_ino;
        return m;
}

struct cost {
        double ready_ns, used_ns;
        uint32_t n_rows;
        size_t n_bytes;
};

/* As the recorder does it: sleeps until an answer, or a part of one, is there. */
static int fetch(struct table_process *process, const char *path, struct cost *best)
{
        const struct trace_module row = { .kind = TRACE_MODULE_FILE };
        const struct unwind_module *module = NULL;
        struct loss_counter losses = { .totals = { 0 } };
        struct recorder_pace pace = { .rest_ns = 0 };
        struct perf_mmap m = mmap_of(path);
        struct code_tables *tables = NULL;
        uint64_t began_ns = clock_raw_ns();
        double used_before = used_ns();
        double ready, used;
        enum code_tables_answer answer;

        if (code_tables_new(process, &pace, &losses, &tables, NULL) < 0 ||
            code_tables_want(tables, 1, &row, (uint32_t)getpid(), &m) < 0)
                return -1;
        while ((answer = code_tables_find(tables, 1, &module)) == CODE_TABLES_COMING) {
                struct pollfd readable = { .fd = process->fd, .events = POLLIN };

                (void)poll(&readable, 1, -1);
                if (code_tables_take(tables) < 0)
                        return -1;
        }
        ready = (double)(clock_raw_ns() - began_ns);
        used = used_ns() - used_before;
        if (answer == CODE_TABLES_READY && module->table && (best->n_rows == 0 || ready < best->ready_ns))
                *best = (struct cost){ ready, used, module->table->n_rows, module->n_bytes };
        code_tables_free(tables);
        return 0;
}

static void measure_file(struct table_process *process, const char *link)
{
        struct cost best = { .n_rows = 0 };
        char *path = realpath(link, NULL); /* the kernel's paths have no links in them */
        const char *name = strrchr(link, '/');

        if (!path)
                return;
        for (unsigned i = 0; i < ROUNDS; i++)
                if (fetch(process, path, &best) < 0)
                        break;
        if (best.n_rows > 0)
                printf("%-22s %9u rows %6.1f MB: there after %6.2f ms, %5.2f ms of them the recorder's\n",
                       name ? name + 1 : link, best.n_rows, (double)best.n_bytes / 1e6, best.ready_ns / 1e6,
                       best.used_ns / 1e6);
        free(path);
}

/*
 * A process whose files are all known: its mappings are looked up, when they are seen and
 * when their turn has come.
 */
static void measure_known(struct table_process *process, const char *path)
{
        const struct trace_module row = { .kind = TRACE_MODULE_FILE };
        struct loss_counter losses = { .totals = { 0 } };
        struct recorder_pace pace = { .rest_ns = 0 };
        struct perf_mmap m = mmap_of(path);
        struct code_tables *tables = NULL;
        double began;

        if (code_tables_new(process, &pace, &losses, &tables, NULL) < 0 ||
            code_tables_want(tables, 1, &row, (uint32_t)getpid(), &m) < 0)
                return;
        while (!code_tables_wait(tables, 1, NS_PER_S))
                ;
        began = used_ns();
        for (unsigned i = 0; i < N_KNOWN; i++)
                for (unsigned k = 0; k < 2 * FILES_KNOWN; k++)
                        (void)code_tables_want(tables, 1, &row, i + 1, &m);
        printf("a process whose %d files are known: %.0f ns of the recorder's time\n", FILES_KNOWN,
               (used_ns() - began) / N_KNOWN);
        code_tables_free(tables);
}

int main(int argc, char **argv)
{
        static const char *const usual[] = { "/lib/x86_64-linux-gnu/libc.so.6",
                                             "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus",
                                             "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "/usr/bin/node" };
        struct error err = ERROR_NONE;
        struct table_process process;
        char *own_path;

        if (table_process_start(&process, NULL, 0, 0, &err) < 0) {
                (void)fprintf(stderr, "bench_tables: %s\n", err.text);
                return EXIT_FAILURE;
        }
        for (int i = 1; i < argc; i++)
                measure_file(&process, argv[i]);
        for (size_t i = 0; argc == 1 && i < sizeof(usual) / sizeof(usual[0]); i++)
                measure_file(&process, usual[i]);
        own_path = realpath("/proc/self/exe", NULL);
        if (own_path)
                measure_known(&process, own_path);
        free(own_path);
        table_process_stop(&process);
        return EXIT_SUCCESS;
}
