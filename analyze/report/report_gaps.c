/* SPDX-License-Identifier: MIT */
#include "analyze/report/report_parts.h"

#include "analyze/report/report.h"
#include "analyze/report/unnamed_modules.h"
#include "analyze/trace/meta_value.h"
#include "analyze/trace/sample_stats.h"
#include "analyze/zones/trace_totals.h"
#include "base/array.h"
#include "format/trace_dictionary.h"
#include "format/trace_spec.h"
#include "format/trace_version.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ code that is not in the trace */

/*
 * Modules with samples whose code should be in the trace, and is not.
 */

struct missing_image {
        uint32_t module;              /* id in MODULES */
        enum trace_image_state state; /* why */
        struct sample_sum sum;        /* samples in the module itself, not below it */
};

/* Sets the state of each module's latest row; 0 = the module has none, or one that is not known. */
static void fill_states(const struct trace_dictionary *d, struct missing_image *images)
{
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_MODULE_IMAGES); i++) {
                const struct trace_module_image *row = trace_dictionary_row(d, TRACE_TABLE_MODULE_IMAGES, i);
                bool is_missing = row->attachment == 0 && row->state < TRACE_IMAGE_STATE_COUNT;

                images[row->module].module = row->module;
                images[row->module].state = is_missing ? (enum trace_image_state)row->state : 0;
        }
}

static void add_missing(const struct trace_dictionary *d, const struct sample_stats *stats, uint32_t event,
                        struct missing_image *images)
{
        for (uint32_t i = 0; i < sample_stats_count(stats); i++) {
                const struct sample_key *key = sample_stats_key(stats, i);
                const struct trace_stack *stack;
                const struct trace_frame *frame;

                if (key->event != event || key->stack == 0)
                        continue;
                stack = trace_dictionary_row(d, TRACE_TABLE_STACKS, key->stack);
                frame = trace_dictionary_row(d, TRACE_TABLE_FRAMES, stack->frame);
                sample_sum_add(&images[frame->module].sum, &stats->sums[i]);
        }
}

/*
 * find_missing_images() - find the modules with samples of @event whose code is missing
 * @ret_images:  heap, the caller's; by module
 * Returns 0 or -ENOMEM.
 */
static int find_missing_images(const struct trace_dictionary *dictionary, const struct sample_stats *stats,
                               uint32_t event, struct missing_image **ret_images, size_t *ret_n_images)
{
        size_t n_modules = trace_dictionary_count(dictionary, TRACE_TABLE_MODULES), n = 0;
        struct missing_image *images = calloc(n_modules + 1, sizeof(*images)); /* 0 is no module */

        if (!images)
                return -ENOMEM;
        fill_states(dictionary, images);
        add_missing(dictionary, stats, event, images);
        for (size_t i = 1; i <= n_modules; i++)
                if (images[i].state != 0 && images[i].state != TRACE_IMAGE_KEPT &&
                    images[i].sum.n_samples > 0)
                        images[n++] = images[i];
        *ret_images = images;
        *ret_n_images = n;
        return 0;
}

/* ------------------------------------------------------------------ gaps */

/* Modules without names for less than this share of the samples are not worth a line. */
#define SHARE_WORTH_SAYING 0.01

/* Percentiles are within 1 %; they are coarser for zones shorter than this number of clock steps. */
#define STEPS_THAT_SHOW 100

struct gap_text {
        const char *code, *words;
};

static const struct gap_text loss_texts[TRACE_LOSS_COUNT] = {
#define X(id, name, words) [id] = { #name, words },
        TRACE_LOSS_REASONS(X)
#undef X
};

static const struct gap_text notice_texts[TRACE_NOTICE_COUNT] = {
#define X(id, name, words) [id] = { #name, words },
        TRACE_NOTICE_IDS(X)
#undef X
};

void report_gaps_deinit(struct report_gaps *g)
{
        free(g->rows);
        *g = (struct report_gaps){ .rows = NULL };
}

static int add_gap(struct report_gaps *g, const struct report_gap *gap)
{
        int r = array_reserve(&g->rows, &g->capacity, (size_t)g->n_rows + 1, sizeof(*g->rows));

        if (r < 0)
                return r;
        g->rows[g->n_rows++] = *gap;
        return 0;
}

static struct text_view string_of_words(const char *words)
{
        return (struct text_view){ .bytes = words, .n_bytes = strlen(words) };
}

/* The state of the file's end comes first, because it puts everything after it in question. */
static int add_ending(struct report *report)
{
        struct report_gap gap = {
                .source = REPORT_GAP_ANALYSIS,
                .detail = string_of_words(report->ending_words),
        };

        switch (report->ending) {
        case TRACE_ENDING_OPEN:
        case TRACE_ENDING_WHOLE:
                return 0;
        case TRACE_ENDING_CUT_OFF:
                gap.code = "CUT_OFF";
                gap.words = "the trace is cut off; what follows is from the part that was written";
                break;
        case TRACE_ENDING_GROWING:
                gap.code = "STILL_WRITTEN";
                gap.words =
                        report->filter.request.names_fd > 0
                                ? "the trace is still being written; what follows is from the part so far"
                                : "the trace is still being written; what follows is from the part so far, without names";
                break;
        case TRACE_ENDING_DAMAGED:
                gap.code = "DAMAGED";
                gap.words = "the trace is damaged; what follows is from the part before the damage";
                break;
        }
        return add_gap(&report->gaps, &gap);
}

/* `hyprof symbolize` has added the symbols that were left out while recording. */
static bool was_symbolized(const struct trace_dictionary *d)
{
        return meta_value_find(d, "symbolized_by").n_bytes > 0;
}

static int add_notices(struct report_gaps *g, const struct trace_dictionary *d)
{
        bool is_symbolized = was_symbolized(d);

        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_NOTICES); i++) {
                const struct trace_notice *row = trace_dictionary_row(d, TRACE_TABLE_NOTICES, i);
                struct report_gap gap = {
                        .source = REPORT_GAP_NOTICE,
                        .code = "UNKNOWN_NOTICE",
                        .words = "a notice that this version of hyprof does not know",
                        .detail = trace_dictionary_text(d, row->detail),
                };
                int r;

                if (row->notice == TRACE_NOTICE_NOT_SYMBOLIZED && is_symbolized)
                        continue;
                if (row->notice < TRACE_NOTICE_COUNT && notice_texts[row->notice].code) {
                        gap.code = notice_texts[row->notice].code;
                        gap.words = notice_texts[row->notice].words;
                }
                r = add_gap(g, &gap);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int add_losses(struct report_gaps *g, const struct trace_dictionary *d)
{
        uint64_t counts[TRACE_LOSS_COUNT] = { 0 };

        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_LOSSES); i++) {
                const struct trace_loss *row = trace_dictionary_row(d, TRACE_TABLE_LOSSES, i);
                uint32_t reason = row->reason;

                /* Slot 0, which belongs to no reason, gathers the reasons of newer versions. */
                if (reason >= TRACE_LOSS_COUNT || !loss_texts[reason].code)
                        reason = 0;
                counts[reason] += row->count;
        }
        for (uint32_t reason = 0; reason < TRACE_LOSS_COUNT; reason++) {
                struct report_gap gap = {
                        .source = REPORT_GAP_LOSS,
                        .code = reason != 0 ? loss_texts[reason].code : "UNKNOWN_LOSS",
                        .words = reason != 0 ? loss_texts[reason].words
                                             : "losses for reasons that this version of hyprof does not know",
                        .count = counts[reason],
                };
                int r;

                if (counts[reason] == 0)
                        continue;
                r = add_gap(g, &gap);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Words that say their own share. */
static int add_said(struct report_gaps *g, const char *code, const char *words, double share)
{
        const struct report_gap gap = {
                .source = REPORT_GAP_ANALYSIS,
                .code = code,
                .words = words,
                .share = share,
                .is_share_said = true,
        };

        return words[0] != '\0' ? add_gap(g, &gap) : 0;
}

static int add_unsampled(struct report_gaps *g, const struct unsampled_time *unsampled)
{
        uint64_t n = unsampled->n_samples;
        int r;

        unsampled_time_words(unsampled, g->unsampled);
        unsampled_time_truncated(unsampled, g->truncated);
        unsampled_time_python(unsampled, g->python);
        r = add_said(g, "TIME_WITHOUT_SAMPLES", g->unsampled, unsampled->share);
        if (r == 0)
                r = add_said(g, "CALLERS_MISSING", g->truncated,
                             n != 0 ? (double)unsampled->n_truncated / (double)n : 0);
        return r == 0 ? add_said(g, "PYTHON_FUNCTIONS_MISSING", g->python,
                                 unsampled_time_python_share(unsampled))
                      : r;
}

int report_gaps_add_recorded(struct report_gaps *g, const struct trace_dictionary *d,
                             const struct unsampled_time *unsampled)
{
        int r = unsampled ? add_unsampled(g, unsampled) : 0;

        if (r == 0)
                r = add_notices(g, d);
        return r == 0 ? add_losses(g, d) : r;
}

/* The loss counts how often code was replaced; samples without a name may be a result of that. */
static int add_replaced(struct report *report, uint64_t n_unnamed)
{
        const struct report_gap gap = {
                .source = REPORT_GAP_ANALYSIS,
                .code = "REPLACED_CODE",
                .words = "samples in generated code without a name, which replacements may have taken",
                .count = n_unnamed,
        };

        return n_unnamed > 0 && trace_dictionary_loss_count(report->samples.dictionary,
                                                            TRACE_LOSS_CODE_REPLACED) > 0
                       ? add_gap(&report->gaps, &gap)
                       : 0;
}

/* Adds one line a module, however many functions of it have no symbol. */
static int add_unnamed_modules(struct report *report)
{
        const struct trace_dictionary *d = report->samples.dictionary;
        struct unnamed_module *rows = NULL;
        uint64_t n_in_memory = 0;
        size_t n_rows = 0;
        int r = unnamed_modules_find(report, &rows, &n_rows);

        for (size_t i = 0; r == 0 && i < n_rows; i++) {
                const struct report_gap gap = {
                        .source = REPORT_GAP_ANALYSIS,
                        .code = "NO_SYMBOLS",
                        .words = rows[i].has_addresses ? "has no symbols for them, only addresses"
                                                       : "has no symbols for them",
                        .advice = rows[i].advice,
                        .detail = trace_dictionary_text(d, rows[i].path),
                        .count = rows[i].self.n_samples,
                        .share = report_share(rows[i].self.weight, report->event->sum.weight),
                };

                n_in_memory += rows[i].is_memory ? gap.count : 0;
                if (gap.share >= SHARE_WORTH_SAYING)
                        r = add_gap(&report->gaps, &gap);
        }
        free(rows);
        return r == 0 ? add_replaced(report, n_in_memory) : r;
}

/* Adds samples that no module can name, or whose module is another file now. */
static int add_nameless(struct report *report)
{
        static const struct gap_text texts[FUNCTION_KIND_COUNT] = {
                [FUNCTION_STALE_FILE] = { "STALE_FILE",
                                          "has changed since (another build-id or content): its symbols were not used" },
                [FUNCTION_NO_MODULE] = { "NO_MODULE", "samples at addresses outside of every known module" },
                [FUNCTION_NO_CALLSTACK] = { "NO_CALLSTACK", "samples without a call stack" },
        };
        int r = report->ending == TRACE_ENDING_GROWING ? 0 : add_unnamed_modules(report); /* names come */

        for (uint32_t i = 0; r == 0 && i < report->functions.n_rows; i++) {
                const struct report_function *function = &report->functions.rows[i];
                const struct report_gap gap = {
                        .source = REPORT_GAP_ANALYSIS,
                        .code = texts[function->kind].code,
                        .words = texts[function->kind].words,
                        .detail = function->module,
                        .count = function->self.n_samples,
                        .share = report_share(function->self.weight, report->event->sum.weight),
                };

                if (gap.code && gap.share >= SHARE_WORTH_SAYING)
                        r = add_gap(&report->gaps, &gap);
        }
        return r;
}

static const char *const image_words[TRACE_IMAGE_STATE_COUNT] = {
        [TRACE_IMAGE_TOO_LATE] = "is missing in the trace: it was gone before it could be opened",
        [TRACE_IMAGE_OVER_LIMIT] = "is missing in the trace: the limit for code was reached (--embed-max)",
        [TRACE_IMAGE_UNREADABLE] = "is missing in the trace: it could not be read",
        [TRACE_IMAGE_FILE_LIMIT] =
                "is missing in the trace: it is longer than ulimit -f allowed the recorder",
};

/* Code that no machine can name later. */
static int add_images(struct report *report, const struct trace_dictionary *d,
                      const struct trace_totals *totals)
{
        struct missing_image *images = NULL;
        size_t n_images = 0;
        int r = report->event
                        ? find_missing_images(d, &totals->samples, report->event->event, &images, &n_images)
                        : 0;

        for (size_t i = 0; r == 0 && i < n_images; i++) {
                const struct trace_module *module = trace_dictionary_row(d, TRACE_TABLE_MODULES,
                                                                         images[i].module);
                struct report_gap gap = {
                        .source = REPORT_GAP_ANALYSIS,
                        .code = "CODE_NOT_KEPT",
                        .words = image_words[images[i].state],
                        .detail = trace_dictionary_text(d, module->path),
                        .count = images[i].sum.n_samples,
                        .share = report_share(images[i].sum.weight, report->event->sum.weight),
                };

                if (gap.words && gap.share >= SHARE_WORTH_SAYING)
                        r = add_gap(&report->gaps, &gap);
        }
        free(images);
        return r;
}

/* Adds missing symbols: of all samples, all names, or the names of single modules. */
static int add_samples(struct report *report, const struct trace_dictionary *d)
{
        struct report_gap gap = { .source = REPORT_GAP_ANALYSIS };

        if (!report->event || report->event->sum.n_samples == 0) {
                gap.code = "NO_SAMPLES";
                gap.words = report->totals.walk.filter
                                    ? "no samples: nothing is known about functions"
                                    : "there are no samples: nothing is known about functions";
                return add_gap(&report->gaps, &gap);
        }
        if (trace_dictionary_has_notice(d, TRACE_NOTICE_NOT_SYMBOLIZED) && !was_symbolized(d))
                return 0; /* was said already */
        if (report->ending == TRACE_ENDING_GROWING || trace_dictionary_count(d, TRACE_TABLE_SYMBOLS) != 0)
                return add_nameless(report);
        gap.code = "NO_SYMBOLS_AT_ALL";
        gap.words = "the trace holds no symbols: functions have no names; hyprof symbolize -o FILE adds them";
        return add_gap(&report->gaps, &gap);
}

static int add_counted(struct report_gaps *g, const char *code, const char *words, uint64_t count)
{
        struct report_gap gap = {
                .source = REPORT_GAP_ANALYSIS,
                .code = code,
                .words = words,
                .count = count,
        };

        return count != 0 ? add_gap(g, &gap) : 0;
}

static int add_zones(struct report *report, const struct trace_totals *totals)
{
        uint64_t n_unbalanced = 0;
        uint64_t n_too_deep = 0;
        int r;

        for (uint32_t i = 0; i < totals->walk.n_threads; i++) {
                n_unbalanced += totals->walk.threads[i].timeline.n_unbalanced;
                n_too_deep += totals->walk.threads[i].timeline.n_too_deep;
        }
        r = add_counted(&report->gaps, "ZONES_UNCLOSED",
                        "zones never ended; the known part of their time is in total, self and on-CPU",
                        report->n_unclosed);
        if (r != 0)
                return r;
        r = add_counted(&report->gaps, "ZONES_UNBALANCED", "ends of zones that were not open, left out",
                        n_unbalanced);
        if (r != 0)
                return r;
        r = add_counted(&report->gaps, "ZONES_TOO_DEEP",
                        "zones nested deeper than the report follows, left out", n_too_deep);
        if (r != 0)
                return r;
        r = add_counted(&report->gaps, "UNKNOWN_EVENTS", "events of a newer version of hyprof, left out",
                        totals->walk.n_unknown_ops);
        if (r != 0)
                return r;
        return add_counted(&report->gaps, "UNKNOWN_CHUNKS", "chunks of a newer version of hyprof, left out",
                           report->trace.version->n_unknown_chunks);
}

/*
 * Times on the CPU come from context switches: reports that there are none, unless the recorder has reported
 * it.
 */
static int add_switches(struct report *report, const struct trace_dictionary *d)
{
        struct report_gap gap = {
                .source = REPORT_GAP_ANALYSIS,
                .code = notice_texts[TRACE_NOTICE_NO_CONTEXT_SWITCHES].code,
                .words = notice_texts[TRACE_NOTICE_NO_CONTEXT_SWITCHES].words,
        };

        if (report->on_cpu_known || report->n_threads == 0 ||
            trace_dictionary_has_notice(d, TRACE_NOTICE_NO_CONTEXT_SWITCHES))
                return 0;
        return add_gap(&report->gaps, &gap);
}

/*
 * Between two switches out in a row, a switch in is missing: how long the thread ran and waited is unknown.
 */
static int add_lost_switches(struct report *report, const struct trace_totals *totals)
{
        uint64_t n_lost = 0;

        for (uint32_t i = 0; i < totals->walk.n_threads; i++)
                n_lost += totals->walk.threads[i].timeline.n_lost;
        return add_counted(
                &report->gaps, "SWITCHES_MISSING",
                "context switches are missing between others; on-CPU times and waits lack their part",
                n_lost);
}

/* Both "6.18.3-amd64" and "Linux 6.18.3" are at least 6.16; a text without a version never is. */
static bool is_kernel_at_least(struct text_view release, uint64_t major, uint64_t minor)
{
        uint64_t numbers[2] = { 0, 0 };
        size_t n = 0;

        for (size_t i = 0; i < release.n_bytes && n < 2; i++) {
                char c = release.bytes[i];

                if (c >= '0' && c <= '9' && numbers[n] < UINT32_MAX)
                        numbers[n] = numbers[n] * 10 + (uint64_t)(c - '0');
                else if (numbers[0] != 0 || n != 0)
                        n++;
        }
        return numbers[0] > major || (numbers[0] == major && numbers[1] >= minor);
}

/*
 * Since Linux 6.16 a throttled leader stops its group; before that, the rest of the group kept counting
 * without it.
 */
static int add_throttled(struct report *report, const struct trace_dictionary *d)
{
        if (report->counters.n_counters == 0 || is_kernel_at_least(report->recording.kernel, 6, 16))
                return 0;
        return add_counted(
                &report->gaps, "RATIOS_THROTTLED",
                "times that the counters of a group kept counting while their leader was throttled (Linux before "
                "6.16); IPC and other ratios are too high there; a lower -F avoids it",
                trace_dictionary_loss_count(d, TRACE_LOSS_THROTTLED));
}

/* Adds a line if a zone is so short that the clock's steps show. */
static int add_clock_step(struct report *report)
{
        const struct report_gap gap = { .source = REPORT_GAP_ANALYSIS,
                                        .code = "TIMES_IN_STEPS",
                                        .words = report->gaps.step };
        bool shows = false;

        for (uint32_t i = 0; i < report->n_zones; i++)
                shows = shows || (report->zones[i].n_closed != 0 &&
                                  report->zones[i].p50_ns / STEPS_THAT_SHOW < report->clock_step_ns);
        clock_step_words(report->clock_step_ns, report->gaps.step);
        return shows && report->clock_step_ns != 0 ? add_gap(&report->gaps, &gap) : 0;
}

/* Counts the recordings of hosts other than the first one's. */
static int add_unsure_clocks(struct report *report, const struct trace_dictionary *d)
{
        uint64_t n = 0;

        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_RECORDINGS); i++) {
                const struct trace_recording *row = trace_dictionary_row(d, TRACE_TABLE_RECORDINGS, i);

                n += row->clock != TRACE_ALIGNMENT_REFERENCE && row->clock != TRACE_ALIGNMENT_SAME_BOOT;
        }
        return add_counted(
                &report->gaps, "CLOCKS_UNSURE",
                "recordings are of other hosts: their times against these are not exact, the head says how exact",
                n);
}

int report_gaps_find(struct report *report, const struct trace_totals *totals)
{
        const struct trace_dictionary *d = trace_reader_dictionary(report->reader);
        int r = add_ending(report);

        if (r != 0)
                return r;
        r = report_gaps_add_recorded(&report->gaps, d, &report->unsampled);
        if (r != 0)
                return r;
        r = add_unsure_clocks(report, d);
        if (r != 0)
                return r;
        r = add_throttled(report, d);
        if (r != 0)
                return r;
        r = add_clock_step(report);
        if (r != 0)
                return r;
        r = add_samples(report, d);
        if (r != 0)
                return r;
        r = add_images(report, d, totals);
        if (r != 0)
                return r;
        r = add_switches(report, d);
        if (r != 0)
                return r;
        r = add_lost_switches(report, totals);
        if (r != 0)
                return r;
        return add_zones(report, totals);
}
