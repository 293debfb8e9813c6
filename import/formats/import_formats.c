/* SPDX-License-Identifier: MIT */
#include "import/formats/import_formats.h"

#include "base/error.h"
#include "import/file/import_source.h"
#include "import/formats/import_csv.h"
#include "import/iree/import_ireeprof.h"
#include "import/json/import_ninja_log.h"
#include "import/json/import_trace_event.h"
#include "import/otlp/import_otlp.h"
#include "import/perf/import_perf_data.h"
#include "import/perfetto/import_pftrace.h"
#include "import/rows/import_rows.h"
#include "import/rows/import_trace.h"
#include "import/text/import_ftrace.h"
#include "import/text/import_rocprof.h"
#include "import/tt/import_tt_device.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* The formats with a magic first, then those told by their first rows. */
static const struct import_format formats[] = {
        { "ireeprof", "profiles of IREE, .ireeprof or JSON lines", import_ireeprof_recognise,
          import_ireeprof_read, NULL, NULL },
        { "otlp", "spans of OpenTelemetry: the collector's file exporter, JSON and protobuf",
          import_otlp_recognise, import_otlp_read, NULL, NULL },
        { "pftrace", "Perfetto's traces, of Chromium, Android, ROCm, hyprof export perfetto and others",
          import_pftrace_recognise, import_pftrace_read, NULL, NULL },
        { "perf.data", "perf record", import_perf_data_recognise, import_perf_data_read, NULL, NULL },
        { "trace-event", "trace-event JSON of PyTorch, clang, Chromium, Node.js and others",
          import_trace_event_recognise, import_trace_event_read, NULL, NULL },
        { "ninja-log", "the log of ninja", import_ninja_log_recognise, import_ninja_log_read, NULL, NULL },
        { "tt-device", "device logs and reports of tt-metal", import_tt_device_recognise,
          import_tt_device_read, import_tt_device_recognise_folder, import_tt_device_read_folder },
        { "ftrace", "text of ftrace, atrace and trace-cmd report: what programs wrote into trace_marker",
          import_ftrace_recognise, import_ftrace_read, NULL, NULL },
        { "rocprofv3", "tables of rocprofv3: kernels, copies, markers, calls", import_rocprof_recognise,
          import_rocprof_read, NULL, NULL },
        { "tracy-csv", "tracy-csvexport -u, hyprof csv -u", import_csv_recognise_tracy, import_csv_read_tracy,
          NULL, NULL },
        { "csv", "a table with columns name, begin, end or duration", import_csv_recognise, import_csv_read,
          NULL, NULL },
};

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

const struct import_format *import_formats_all(size_t *ret_n)
{
        *ret_n = N_FORMATS;
        return formats;
}

const struct import_format *import_formats_find(struct text_view head)
{
        for (size_t i = 0; i < N_FORMATS; i++)
                if (formats[i].recognise(head))
                        return &formats[i];
        return NULL;
}

/* ---- what it is instead -------------------------------------------------------------------------------- */

struct other_format {
        const char *magic; /* the first bytes; NULL = any */
        size_t magic_bytes;
        const char *has[2]; /* texts within the head; NULL = none */
        const char *words;
        const char *advice;
};

#define MAGIC(text) text, sizeof(text) - 1

static const struct other_format others[] = {
        { MAGIC("HYPC"), { NULL }, "a trace of hyprof", "hyprof report FILE, or hyprof merge for several" },
        { NULL,
          0,
          { "\"nodes\"", "\"timeDeltas\"" },
          "a .cpuprofile",
          "record trace-event JSON instead: node --trace-event-categories v8,node.perf, or Chrome's Performance panel" },
        { NULL,
          0,
          { "\"nodes\"", "\"startTime\"" },
          "a .cpuprofile",
          "record trace-event JSON instead: node --trace-event-categories v8,node.perf, or Chrome's Performance panel" },
        { NULL,
          0,
          { "{\"nodes\"", "\"samples\"" },
          "a .cpuprofile",
          "record trace-event JSON instead: node --trace-event-categories v8,node.perf, or Chrome's Performance panel" },
        { NULL,
          0,
          { "{\"head\":{\"callFrame\"", NULL },
          "a .heapprofile",
          "record the process instead: hyprof record --memory -- node FILE" },
        { NULL,
          0,
          { "host_tracy", "write_overhead" },
          "the readings of clocks that tt-metal's device log is placed by",
          "hyprof import the folder, or the profile_log_device.csv beside it" },
        { NULL,
          0,
          { "\"type\":\"dispatch_", NULL },
          "a summary of iree-profile",
          "iree-profile export --format=ireeperf-jsonl, or import the .ireeprof itself" },
        { NULL, 0, { "\"snapshot\"", "\"node_fields\"" }, "a heap snapshot of V8", NULL },
        { NULL, 0, { "\"$schema\"", "speedscope" }, "a profile of speedscope", NULL },
        { NULL, 0, { "\"preprocessedProfileVersion\"", NULL }, "a profile of the Firefox profiler", NULL },
        { MAGIC("tlZ\004"), { NULL }, "a .tracy file", "tracy-csvexport -u FILE >FILE.csv, and import that" },
        { MAGIC("tr\375P"), { NULL }, "a .tracy file", "tracy-csvexport -u FILE >FILE.csv, and import that" },
        { MAGIC("tZst"), { NULL }, "a .tracy file", "tracy-csvexport -u FILE >FILE.csv, and import that" },
        { NULL,
          0,
          { "\"linux-perf-json-version\"", NULL },
          "the JSON of perf data convert",
          "hyprof import the perf.data that it was made of" },
        { MAGIC("PERFFILE"), { NULL }, "a perf.data file of the first version", "perf script" },
        { NULL,
          0,
          { "([kernel.kallsyms])\n", "+0x" },
          "the text of perf script",
          "hyprof import the perf.data that it was made of" },
        { NULL,
          0,
          { "\x28\xb5\x2f\xfd", NULL },
          "messages of OpenTelemetry, each packed by itself, or other data of zstd",
          "write it without `compression: zstd`, and pack the whole file" },
        { MAGIC("SQLite format 3\0"),
          { NULL },
          "an SQLite database (nsys, rocpd, or hyprof query)",
          "export trace-event JSON or CSV from the tool that wrote it" },
        { MAGIC("\x7f"
                "ELF"),
          { NULL },
          "a program or library (ELF)",
          "hyprof record FILE" },
        { MAGIC("\xff\xfe"),
          { NULL },
          "text in UTF-16",
          "iconv -f UTF-16 -t UTF-8 FILE >NEW, and import that" },
        { MAGIC("\xfe\xff"),
          { NULL },
          "text in UTF-16",
          "iconv -f UTF-16 -t UTF-8 FILE >NEW, and import that" },
        { MAGIC("PK\003\004"), { NULL }, "a zip archive", "unpack it, and import what is inside" },
        { MAGIC("%PDF"), { NULL }, "a PDF document", NULL },
        { MAGIC("\x89PNG"), { NULL }, "a picture (PNG)", NULL },
        { MAGIC("\x1f\x8b"), { NULL }, "packed twice", "gunzip it first" },
        { NULL, 0, { "ustar", NULL }, "a tar archive", "unpack it, and import what is inside" },
        { MAGIC("<!DOCTYPE html"), { NULL }, "an HTML page", NULL },
        { MAGIC("<html"), { NULL }, "an HTML page", NULL },
};

static bool has_text(struct text_view head, const char *text)
{
        return !text || (head.n_bytes > 0 && memmem(head.bytes, head.n_bytes, text, strlen(text)));
}

const char *import_formats_guess(struct text_view head, const char **ret_advice)
{
        *ret_advice = NULL;
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
                const struct other_format *o = &others[i];

                if (head.n_bytes < o->magic_bytes ||
                    (o->magic && memcmp(head.bytes, o->magic, o->magic_bytes) != 0))
                        continue;
                if (!has_text(head, o->has[0]) || !has_text(head, o->has[1]))
                        continue;
                *ret_advice = o->advice;
                return o->words;
        }
        return NULL;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static bool is_folder(const char *path)
{
        struct stat st;

        return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static const struct import_format *find_folder(const char *path)
{
        for (size_t i = 0; i < N_FORMATS; i++)
                if (formats[i].recognise_folder && formats[i].recognise_folder(path))
                        return &formats[i];
        return NULL;
}

bool import_formats_can_read(const char *path)
{
        struct import_source *source;
        struct text_view head;
        struct stat st;
        bool can;

        if (stat(path, &st) < 0)
                return false;
        if (S_ISDIR(st.st_mode))
                return find_folder(path) != NULL;
        if (!S_ISREG(st.st_mode) || import_source_open(&source, path, NULL) < 0)
                return false;
        can = import_source_head(source, &head, NULL) == 0 && import_formats_find(head);
        import_source_close(source);
        return can;
}

static int refuse(const char *path, struct text_view head, const char **ret_advice, struct error *err)
{
        const char *words = import_formats_guess(head, ret_advice);

        if (head.n_bytes == 0)
                return error_set(err, -EBADMSG, "%s: it is empty", path);
        if (words)
                return error_set(err, -EBADMSG, "%s: it is %s, which hyprof import cannot read", path, words);
        return error_set(err, -EBADMSG, "%s: it has no format that hyprof import knows", path);
}

static bool is_binary(struct text_view head)
{
        return head.n_bytes > 0 && memchr(head.bytes, '\0', head.n_bytes);
}

/* The file broke off: what was read before counts, if there is anything. */
static int end_at_fault(struct import_source *source, struct import_rows *rows, bool is_binary,
                        struct error *err)
{
        const struct import_file *file = import_trace_file(rows, import_trace_count_files(rows) - 1);

        if (file->n_spans + file->n_values + file->n_instants == 0)
                return import_source_fault(source, err);
        if (!file->is_cut)
                import_rows_cut(rows, is_binary ? import_source_offset(source) : import_source_line(source));
        return 0;
}

static int read_file(struct import_source *source, struct import_rows *rows, const char **ret_advice,
                     struct error *err)
{
        const char *path = import_source_path(source);
        const struct import_format *format;
        struct text_view head; /* gone once the file is read */
        bool has_zeros;
        int r = import_source_head(source, &head, err);

        if (r < 0)
                return r;
        has_zeros = is_binary(head);
        format = import_formats_find(head);
        if (!format && head.n_bytes == 0 && import_source_fault(source, err) < 0)
                return import_source_fault(source, err);
        if (!format)
                return refuse(path, head, ret_advice, err);
        import_rows_binary(rows, has_zeros);
        import_rows_written(rows, import_source_written_ns(source));
        import_source_end_at_fault(source);
        r = format->read(source, rows, err);
        if (r == 0 && import_source_fault(source, err) < 0)
                r = end_at_fault(source, rows, has_zeros, err);
        return r < 0 ? error_prefix_once(err, r, path) : 0;
}

int import_formats_read(const char *path, struct import_rows *rows, const char **ret_advice,
                        struct error *err)
{
        const struct import_format *format = NULL;
        struct import_source *source = NULL;
        int r;

        *ret_advice = NULL;
        if (strcmp(path, "-") != 0 && is_folder(path)) {
                format = find_folder(path);
                if (!format)
                        return error_set(err, -EBADMSG,
                                         "%s: no file in this folder has a format that hyprof "
                                         "import looks for in folders",
                                         path);
                return format->read_folder(path, rows, err);
        }
        r = import_source_open(&source, path, err);
        if (r < 0)
                return r;
        r = read_file(source, rows, ret_advice, err);
        import_source_close(source);
        return r;
}
