/* SPDX-License-Identifier: MIT */
#include "cli/views/cpus_text.h"

#include "analyze/report/report.h"
#include "view/answers/report_names.h"
#include "view/text/text_charset.h"
#include "view/text/text_line.h"
#include "view/text/text_number.h"
#include "view/text/text_page.h"
#include "view/text/text_table.h"

#include <inttypes.h>

static void add_cpu(struct text_table *table, const struct report *report, const struct report_cpu *cpu)
{
        char number[24];

        (void)snprintf(number, sizeof(number), "%" PRIu64, cpu->cpu);
        text_table_add_text(table, number);
        text_table_add_text(table, text_number_duration(cpu->busy_ns).text);
        text_table_add_text(table,
                            text_number_share(report_share(cpu->busy_ns, report->recording.range_ns)).text);
        text_table_add_text(table, text_number_count(cpu->n_switches).text);
        text_table_add_text(table, text_number_count(cpu->n_threads).text);
}

static void add_thread(struct text_table *table, const struct report_cpu *cpu,
                       const struct report_cpu_thread *thread)
{
        struct report_string name = thread->name.n_bytes != 0 ? thread->name : report_names_words("-");
        char number[24];

        (void)snprintf(number, sizeof(number), "%" PRIu64, cpu->cpu);
        text_table_add_text(table, number);
        text_table_add_text(table, text_number_duration(thread->busy_ns).text);
        text_table_add_text(table, text_number_share(report_share(thread->busy_ns, cpu->busy_ns)).text);
        text_table_add_text(table, text_number_count(thread->n_switches).text);
        (void)snprintf(number, sizeof(number), "%" PRIu32, thread->tid);
        text_table_add_text(table, number);
        text_table_add(table, name.bytes, name.n_bytes);
}

static int print_lanes(const struct report *report, uint32_t n_cpus, const struct text_page *page)
{
        static const struct text_column columns[] = {
                { .title = "CPU", .right = true, .n_columns_max = 20 },
                { .title = "busy", .right = true, .n_columns_max = 12 },
                { .title = "%", .right = true, .n_columns_max = 7 },
                { .title = "switches", .right = true, .n_columns_max = 16 },
                { .title = "threads", .right = true, .n_columns_max = 14 },
        };
        struct text_table table;
        int r;

        text_page_print_title(
                page,
                "CPUs: time with a recorded thread, % of the time looked at; switches to such a thread");
        text_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
        for (uint32_t i = 0; i < n_cpus; i++)
                add_cpu(&table, report, &report->cpus.rows[i]);
        r = text_page_print_table(page, &table, TEXT_LINE_INDENT);
        text_table_deinit(&table);
        if (n_cpus < report->cpus.n_rows)
                (void)fprintf(page->out, "  %s %s, --limit 0 shows all\n", text_charset_ellipsis(),
                              text_number_counted(report->cpus.n_rows - n_cpus, "more CPUs").text);
        return r;
}

static int print_threads(const struct report *report, uint32_t n_cpus, uint32_t limit,
                         const struct text_page *page)
{
        static const struct text_column columns[] = {
                { .title = "CPU", .right = true, .n_columns_max = 20 },
                { .title = "busy", .right = true, .n_columns_max = 12 },
                { .title = "%", .right = true, .n_columns_max = 7 },
                { .title = "switches", .right = true, .n_columns_max = 16 },
                { .title = "tid", .right = true, .n_columns_max = 10 },
                { .title = "thread" },
        };
        struct text_table table;
        uint64_t n_left_out = 0;
        int r;

        text_page_print_title(page, "threads on each CPU: % of the CPU's busy time");
        text_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
        for (uint32_t i = 0; i < n_cpus; i++) {
                const struct report_cpu *cpu = &report->cpus.rows[i];

                for (uint32_t k = 0; k < report_limited(cpu->n_threads, limit); k++)
                        add_thread(&table, cpu, &cpu->threads[k]);
                n_left_out += cpu->n_threads - report_limited(cpu->n_threads, limit);
        }
        r = text_page_print_table(page, &table, TEXT_LINE_INDENT);
        text_table_deinit(&table);
        if (n_left_out != 0)
                (void)fprintf(page->out, "  %s %s more row%s, --limit 0 shows all\n", text_charset_ellipsis(),
                              text_number_count(n_left_out).text, text_line_plural(n_left_out));
        return r;
}

int cpus_text_print(const struct report *report, uint32_t limit, const struct text_page *page)
{
        uint32_t n_cpus = report_limited(report->cpus.n_rows, limit);
        int r;

        if (!report->on_cpu_known) {
                text_page_print_title(
                        page, "CPUs: nothing is known; context switches are recorded unless hyprof record is "
                              "given --no-switches, or is not permitted to");
                return 0;
        }
        r = print_lanes(report, n_cpus, page);
        return r == 0 ? print_threads(report, n_cpus, limit, page) : r;
}
