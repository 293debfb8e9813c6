/* SPDX-License-Identifier: MIT */
#include "export/shared/export_format.h"

#include "analyze/walk/trace_walk.h"

#include <stddef.h>

static const char *const left_out_words[EXPORT_LEFT_OUT_COUNT] = {
#define X(name, words) [EXPORT_LEFT_OUT_##name] = (words),
        EXPORT_LEFT_OUT_REASONS(X)
#undef X
};

static const struct export_format formats[] = {
        {
                .name = "perfetto",
                .extension = ".perfetto-trace",
                .help = "ui.perfetto.dev, trace_processor: zones, CPUs, waits, plots, samples on one timeline; SQL",
                .next = "trace_processor_shell",
                .write = export_perfetto,
                .reads_packed = true,
                .is_binary = true,
        },
        {
                .name = "firefox",
                .extension = ".json.gz",
                .help = "profiler.firefox.com, profiler-cli: call tree, flame graph, zones as markers, waits",
                .next = "open https://profiler.firefox.com, which keeps the file in the browser, with",
                .write = export_firefox,
                .reads_packed = true,
        },
        {
                .name = "speedscope",
                .extension = ".speedscope.json",
                .help = "speedscope.app, also offline: flame graphs of samples and of zones, a thread each",
                .next = "speedscope",
                .write = export_speedscope,
        },
        {
                .name = "pprof",
                .extension = ".pb.gz",
                .help = "go tool pprof, and hosted profilers that take its format",
                .next = "go tool pprof -top",
                .write = export_pprof,
                .reads_packed = true,
                .is_binary = true,
        },
        {
                .name = "folded",
                .extension = ".folded",
                .help = "flamegraph.pl, inferno, difffolded.pl, grep: one line per call stack",
                .next = "flamegraph.pl",
                .write = export_folded,
        },
        {
                .name = "flamegraph",
                .extension = ".svg",
                .help = "any browser: an interactive flame graph, one SVG file; click = zoom, Ctrl-F = search",
                .next = "xdg-open",
                .write = export_flamegraph,
        },
        {
                .name = "chrome",
                .extension = ".trace.json",
                .help = "tracy-import-chrome, ui.perfetto.dev, speedscope: zones, messages, plots; no samples",
                .next = "tracy-import-chrome",
                .write = export_chrome,
        },
        {
                .name = "perf-data",
                .extension = ".perf.data",
                .help = "perf report, perf script, perf annotate, hotspot: samples and context switches",
                .next = "perf report -i",
                .write = export_perf_data,
                .is_binary = true,
                .is_recording = true,
        },
        {
                .name = "callgrind",
                .extension = ".callgrind.out",
                .help = "KCachegrind, QCachegrind, callgrind_annotate: functions, lines and the calls between them",
                .next = "callgrind_annotate --inclusive=yes",
                .write = export_callgrind,
        },
        { .name = NULL },
};

const char *export_left_out_words(enum export_left_out reason)
{
        return left_out_words[reason];
}

/* The reason under which each op is counted as left out if a format has no place for it. */
static const struct {
        enum trace_op op;
        enum export_left_out reason;
} op_reasons[] = {
        { TRACE_OP_SAMPLE, EXPORT_LEFT_OUT_SAMPLES },
        { TRACE_OP_ZONE_BEGIN, EXPORT_LEFT_OUT_ZONES },
        { TRACE_OP_SWITCH_OUT, EXPORT_LEFT_OUT_SWITCHES },
        { TRACE_OP_SWITCH_IN, EXPORT_LEFT_OUT_SWITCHES },
        { TRACE_OP_MESSAGE, EXPORT_LEFT_OUT_MESSAGES },
        { TRACE_OP_MESSAGE_TEXT, EXPORT_LEFT_OUT_MESSAGES },
        { TRACE_OP_PLOT_I64, EXPORT_LEFT_OUT_PLOTS },
        { TRACE_OP_PLOT_F64, EXPORT_LEFT_OUT_PLOTS },
        { TRACE_OP_FRAME_MARK, EXPORT_LEFT_OUT_FRAMES },
        { TRACE_OP_FRAME_BEGIN, EXPORT_LEFT_OUT_FRAMES },
        { TRACE_OP_FRAME_PICTURE, EXPORT_LEFT_OUT_PICTURES },
        { TRACE_OP_MEMORY_ALLOC, EXPORT_LEFT_OUT_MEMORY },
        { TRACE_OP_MEMORY_FREE, EXPORT_LEFT_OUT_MEMORY },
        { TRACE_OP_MEMORY_DISCARD, EXPORT_LEFT_OUT_MEMORY },
        { TRACE_OP_LOCK_WAIT, EXPORT_LEFT_OUT_LOCKS },
        { TRACE_OP_LOCK_OBTAIN, EXPORT_LEFT_OUT_LOCKS },
        { TRACE_OP_LOCK_RELEASE, EXPORT_LEFT_OUT_LOCKS },
        { TRACE_OP_LOCK_MARK, EXPORT_LEFT_OUT_LOCKS },
        { TRACE_OP_DEVICE_ZONE_BEGIN, EXPORT_LEFT_OUT_DEVICES },
        { TRACE_OP_DEVICE_ZONE_END, EXPORT_LEFT_OUT_DEVICES },
        { TRACE_OP_DEVICE_SPAN, EXPORT_LEFT_OUT_DEVICES },
        { TRACE_OP_DEVICE_VALUE, EXPORT_LEFT_OUT_DEVICE_VALUES },
        { TRACE_OP_DEVICE_INSTANT, EXPORT_LEFT_OUT_DEVICE_VALUES },
        { TRACE_OP_ZONE_KEY, EXPORT_LEFT_OUT_KEYS },
        { TRACE_OP_FLOW, EXPORT_LEFT_OUT_FLOWS },
};

void export_totals_leave_out(struct export_totals *totals, const struct trace_walk *walk, uint32_t reasons)
{
        reasons |= 1U << EXPORT_LEFT_OUT_PICTURES; /* no format has a place for them */
        for (size_t i = 0; i < sizeof(op_reasons) / sizeof(op_reasons[0]); i++)
                if ((reasons >> op_reasons[i].reason & 1) != 0)
                        totals->left_out[op_reasons[i].reason] += walk->n_events[op_reasons[i].op];
}

const struct export_format *export_formats(void)
{
        return formats;
}
