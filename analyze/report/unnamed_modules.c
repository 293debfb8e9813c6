/* SPDX-License-Identifier: MIT */
#include "analyze/report/unnamed_modules.h"

#include "analyze/report/report.h"
#include "base/order.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A runtime whose compiler does not publish the names of its code, recognised by a file that its processes
 * map, and the option that makes it do so.
 */
struct runtime {
        const char *file; /* what the file's name begins with */
        const char *advice;
};

#define ADVICE_SBCL "try: (sb-perf:write-perfmap) in the program, of SBCL's contrib sb-perf"

static const struct runtime runtimes[] = {
        { "libjvm.so",
          "try: java -XX:+UnlockDiagnosticVMOptions -XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit (JDK 17 or later)" },
        { "libnode.so", "try: node --perf-basic-prof" },
        { "node", "try: node --perf-basic-prof" },
        { "beam.smp", "try: erl +JPperf true" },
        { "mono", "try: mono --jitmap" },
        { "libcoreclr.so", "try: DOTNET_PerfMapEnabled=1" },
        { "luajit", "try: a LuaJIT that is built with -DLUAJIT_USE_PERFTOOLS" },
        { "libluajit", "try: a LuaJIT that is built with -DLUAJIT_USE_PERFTOOLS" },
        { "sbcl", ADVICE_SBCL },
        { "php", "try: php -d opcache.jit_debug=16 (with its JIT)" },
        { "python3", "try: python3 -X perf (Python 3.12 or later)" },
        { "libpython3", "try: python3 -X perf (Python 3.12 or later)" },
};

static int compare_paths(const void *a, const void *b)
{
        const struct unnamed_module *x = a, *y = b;

        return order_numbers(x->path, y->path);
}

static int compare_sums(const void *a, const void *b)
{
        const struct unnamed_module *x = a, *y = b;
        int order = order_numbers(y->self.weight, x->self.weight);

        return order != 0 ? order : order_numbers(x->path, y->path);
}

/*
 * Makes a row for each function without a symbol, sorts the rows by path, and adds up those of each path.
 */
static size_t add_up(const struct report *report, struct unnamed_module *rows)
{
        const struct report_functions *functions = &report->functions;
        size_t n = 0, n_paths = 0;

        for (uint32_t i = 0; i < functions->n_rows; i++) {
                const struct report_function *f = &functions->rows[i];

                if (f->self.n_samples == 0 || (f->kind != FUNCTION_NO_SYMBOL && f->kind != FUNCTION_UNNAMED))
                        continue;
                rows[n++] = (struct unnamed_module){
                        .path = function_table_get(&report->samples.functions, f->label)->module,
                        .self = f->self,
                        .has_addresses = f->kind == FUNCTION_UNNAMED,
                };
        }
        if (n > 0)
                qsort(rows, n, sizeof(*rows), compare_paths);
        for (size_t i = 0; i < n; i++)
                if (n_paths > 0 && rows[n_paths - 1].path == rows[i].path) {
                        sample_sum_add(&rows[n_paths - 1].self, &rows[i].self);
                        rows[n_paths - 1].has_addresses |= rows[i].has_addresses;
                } else {
                        rows[n_paths++] = rows[i];
                }
        return n_paths;
}

/* ---- what would help ----------------------------------------------------------------------------------- */

/* The text after the last slash; empty if there is none. */
static struct text_view file_name(struct text_view path)
{
        const char *slash = path.n_bytes > 0 ? memrchr(path.bytes, '/', path.n_bytes) : NULL;
        struct text_view name = { .n_bytes = 0 };

        if (slash) {
                name.bytes = slash + 1;
                name.n_bytes = (size_t)(path.bytes + path.n_bytes - name.bytes);
        }
        return name;
}

static const char *advise_on_memory(const struct trace_dictionary *d)
{
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_MODULES); i++) {
                const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, i);
                struct text_view name = file_name(trace_dictionary_text(d, row->path));

                if (row->kind != TRACE_MODULE_FILE || name.n_bytes == 0)
                        continue;
                for (size_t k = 0; k < sizeof(runtimes) / sizeof(runtimes[0]); k++)
                        if (text_view_begins_with(name, runtimes[k].file))
                                return runtimes[k].advice;
        }
        return NULL;
}

static const char *advise_on_file(const struct trace_module *module, struct text_view path)
{
        static const char *const folders[] = { "/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/", NULL };

        /*
         * A heap with code has no unstripped file; code that the program compiles lies between the parts of
         * the heap.
         */
        if (text_view_is(file_name(path), "sbcl.core"))
                return ADVICE_SBCL;
        if (module->build_id != 0 && text_view_begins_with_any(path, folders) &&
            !text_view_begins_with(path, "/usr/local/"))
                return "try: hyprof symbolize --debuginfod=https://debuginfod.elfutils.org TRACE, or on Debian "
                       "the -dbgsym package of the one that dpkg -S names";
        return "try: hyprof symbolize --debug-dir DIR TRACE, with its unstripped file in DIR";
}

/* The latest module with a path; NULL if none has it. */
static const struct trace_module *latest_of(const struct trace_dictionary *d, uint32_t path)
{
        for (uint32_t i = trace_dictionary_count(d, TRACE_TABLE_MODULES); i > 0; i--) {
                const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, i);

                if (row->path == path)
                        return row;
        }
        return NULL;
}

const char *unnamed_module_advice(const struct trace_dictionary *d, uint32_t path)
{
        const struct trace_module *module = latest_of(d, path);

        if (!module)
                return NULL;
        if (module->kind == TRACE_MODULE_ANONYMOUS)
                return advise_on_memory(d);
        return module->kind == TRACE_MODULE_FILE || module->kind == TRACE_MODULE_IMAGE
                       ? advise_on_file(module, trace_dictionary_text(d, path))
                       : NULL;
}

static void describe(const struct trace_dictionary *d, struct unnamed_module *m)
{
        const struct trace_module *module = latest_of(d, m->path);

        m->is_memory = module && module->kind == TRACE_MODULE_ANONYMOUS;
        m->advice = unnamed_module_advice(d, m->path);
}

int unnamed_modules_find(const struct report *report, struct unnamed_module **ret_rows, size_t *ret_n_rows)
{
        struct unnamed_module *rows = calloc((size_t)report->functions.n_rows + 1, sizeof(*rows));
        size_t n;

        if (!rows)
                return -ENOMEM;
        n = add_up(report, rows);
        for (size_t i = 0; i < n; i++)
                describe(report->samples.dictionary, &rows[i]);
        if (n > 0)
                qsort(rows, n, sizeof(*rows), compare_sums);
        *ret_rows = rows;
        *ret_n_rows = n;
        return 0;
}
