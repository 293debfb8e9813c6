/* SPDX-License-Identifier: MIT */
#include "analyze/walk/trace_filter.h"

#include "analyze/trace/function_labels.h"
#include "analyze/trace/handle_word.h"
#include "analyze/trace/name_list.h"
#include "analyze/walk/loaded_trace.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/name_guess.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "symbolize/process/live_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More CPUs than any machine has: bounds the memory for a list of CPUs. */
#define CPUS_MAX 65536

static int no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "looking up the names in the filters: out of memory");
}

void trace_filter_add_who_has_zones(const struct trace_dictionary *d, struct error *err)
{
        size_t used = err ? strlen(err->text) : 0;

        for (uint32_t i = 1; err && i <= trace_dictionary_count(d, TRACE_TABLE_LOSSES); i++) {
                const struct trace_loss *loss = trace_dictionary_row(d, TRACE_TABLE_LOSSES, i);

                if (loss->reason != TRACE_LOSS_CLIENT_BUSY)
                        continue;
                (void)snprintf(err->text + used, sizeof(err->text) - used,
                               "; another hyprof was recording a program here, and has its zones");
                return;
        }
}

/* -ENOENT, naming the nearest of the offered names if one is near. */
static int not_there(const char *kind, const char *words, const struct name_guess *guess, struct error *err)
{
        if (guess->best[0] != '\0')
                return error_set(err, -ENOENT, "no %s '%s' in this trace; did you mean '%s'?", kind, words,
                                 guess->best);
        return error_set(err, -ENOENT, "no %s '%s' in this trace", kind, words);
}

/* ------------------------------------------------------------------ threads and processes */

static const struct trace_thread *thread_row(const struct loaded_trace *trace, uint32_t thread)
{
        return trace_dictionary_row(trace->dictionary, TRACE_TABLE_THREADS, thread);
}

/* In a merged trace names end with "@" and the label of their recording; both forms of a name fit. */
static bool name_fits(const struct loaded_trace *trace, const struct name_list *list, uint32_t process,
                      struct text_view name)
{
        const struct trace_process *row = trace_dictionary_row(trace->dictionary, TRACE_TABLE_PROCESSES,
                                                               process);
        const struct trace_recording *recording;
        struct text_view label;

        if (name_list_fits(list, name))
                return true;
        if (row->recording == 0)
                return false;
        recording = trace_dictionary_row(trace->dictionary, TRACE_TABLE_RECORDINGS, row->recording);
        label = trace_dictionary_text(trace->dictionary, recording->label);
        if (name.n_bytes <= label.n_bytes || name.bytes[name.n_bytes - label.n_bytes - 1] != '@' ||
            memcmp(name.bytes + name.n_bytes - label.n_bytes, label.bytes, label.n_bytes) != 0)
                return false;
        name.n_bytes -= label.n_bytes + 1;
        return name_list_fits(list, name);
}

/*
 * Returns for each process, by id - 1, whether its number or one of its names fits; NULL without memory.  The
 * caller frees the array.
 */
static bool *choose_processes(const struct loaded_trace *trace, const struct name_list *list)
{
        uint32_t n = trace_dictionary_count(trace->dictionary, TRACE_TABLE_PROCESSES);
        bool *fits = calloc((size_t)n + 1, sizeof(*fits));

        for (uint32_t i = 1; i <= n && fits; i++) {
                const struct trace_process *row = trace_dictionary_row(trace->dictionary,
                                                                       TRACE_TABLE_PROCESSES, i);

                fits[i - 1] = name_list_has_number(list, row->pid);
        }
        for (uint32_t i = 1; i <= trace->process_names.n_items && fits; i++) {
                const struct process_name *name = intern_get(&trace->process_names, i, NULL);

                if (!fits[name->process - 1])
                        fits[name->process - 1] = name_fits(
                                trace, list, name->process,
                                trace_dictionary_text(trace->dictionary, name->name));
        }
        return fits;
}

static bool thread_fits(const struct loaded_trace *trace, const struct name_list *list, uint32_t thread)
{
        return name_list_has_number(list, thread_row(trace, thread)->tid) ||
               name_list_has_handle(list, 't', thread) ||
               name_fits(trace, list, thread_row(trace, thread)->process,
                         loaded_trace_thread_name(trace, thread));
}

/*
 * Returns for each string, by id, whether it is the last name of a thread; NULL without memory.  The caller
 * frees the array.
 */
static bool *list_last_names(const struct loaded_trace *trace)
{
        bool *is_last = calloc((size_t)trace_dictionary_count(trace->dictionary, TRACE_TABLE_STRINGS) + 1,
                               sizeof(*is_last));

        for (uint32_t i = 0; i < trace->n_threads && is_last; i++)
                is_last[trace->thread_names[i]] = true;
        return is_last;
}

/*
 * Returns for each thread, by id - 1, whether the filter wants it so far and @list has its number or a name
 * of it; NULL without memory.  The caller frees the array.  A former name does not count if it is the last
 * name of any thread: before a thread takes its own name, it has that of its creator.
 */
static bool *choose_threads(const struct trace_filter *f, const struct loaded_trace *trace,
                            const struct name_list *list)
{
        bool *fits = calloc((size_t)f->n_threads + 1, sizeof(*fits)), *is_last = list_last_names(trace);

        for (uint32_t i = 1; i <= f->n_threads && fits; i++)
                fits[i - 1] = f->threads[i - 1] && thread_fits(trace, list, i);
        for (uint32_t i = 1; i <= trace->former_names.n_items && fits && is_last; i++) {
                const struct former_name *former = intern_get(&trace->former_names, i, NULL);
                uint32_t process = thread_row(trace, former->thread)->process;
                struct text_view name = trace_dictionary_text(trace->dictionary, former->name);

                if (f->threads[former->thread - 1] && !is_last[former->name] &&
                    name_fits(trace, list, process, name))
                        fits[former->thread - 1] = true;
        }
        if (!is_last) {
                free(fits);
                fits = NULL;
        }
        free(is_last);
        return fits;
}

/* -EINVAL if an item is the handle of one thread and the name of another. */
static int check_handles(const struct loaded_trace *trace, const struct name_list *list, struct error *err)
{
        for (size_t i = 0; i < list->n_globs; i++) {
                struct handle_word word = handle_word_parse(list->globs[i], 't');

                if (word.id == 0 || word.id > trace->n_threads || list->meanings[i] != NAME_OR_HANDLE)
                        continue;
                for (uint32_t thread = 1; thread <= trace->n_threads; thread++)
                        if (thread != word.id &&
                            handle_word_is_name('t', word.id, loaded_trace_thread_name(trace, thread)))
                                return handle_word_refuse(&word, "thread",
                                                          loaded_trace_thread_name(trace, word.id), err);
        }
        return 0;
}

static int no_thread(const struct loaded_trace *trace, const struct name_list *list, const char *words,
                     bool by_process, struct error *err)
{
        struct name_guess guess;

        name_guess_init(&guess, list->globs[0], strlen(list->globs[0]));
        for (uint32_t i = 1; i <= trace->n_threads && !by_process && name_list_has_names(list); i++) {
                struct text_view name = loaded_trace_thread_name(trace, i);

                name_guess_offer_bytes(&guess, name.bytes, name.n_bytes);
        }
        for (uint32_t i = 1; i <= trace->former_names.n_items && !by_process; i++) {
                const struct former_name *item = intern_get(&trace->former_names, i, NULL);
                struct text_view name = trace_dictionary_text(trace->dictionary, item->name);

                name_guess_offer_bytes(&guess, name.bytes, name.n_bytes);
        }
        for (uint32_t i = 1; i <= trace->process_names.n_items && by_process; i++) {
                const struct process_name *item = intern_get(&trace->process_names, i, NULL);
                struct text_view name = trace_dictionary_text(trace->dictionary, item->name);

                name_guess_offer_bytes(&guess, name.bytes, name.n_bytes);
        }
        return not_there(by_process ? "process" : "thread", words, &guess, err);
}

/* Removes the threads that do not fit @words; one must remain. */
static int keep_threads(struct trace_filter *f, struct loaded_trace *trace, const char *words,
                        bool by_process, struct error *err)
{
        struct name_list list;
        bool *chosen = NULL;
        uint32_t n_left = 0;
        int r = name_list_init(&list, words, err);

        if (r == 0 && !by_process && name_list_read_handles(&list, 't') < 0)
                r = no_memory(err);
        if (r == 0 && name_list_has_names(&list))
                r = loaded_trace_read_names(trace, err);
        if (r == 0 && !by_process)
                r = check_handles(trace, &list, err);
        if (r < 0)
                goto done;
        chosen = by_process ? choose_processes(trace, &list) : choose_threads(f, trace, &list);
        if (!chosen) {
                r = no_memory(err);
                goto done;
        }
        for (uint32_t i = 1; i <= f->n_threads; i++) {
                uint32_t at = by_process ? thread_row(trace, i)->process : i;

                f->threads[i - 1] = f->threads[i - 1] && chosen[at - 1];
                n_left += f->threads[i - 1];
        }
        if (n_left == 0)
                r = no_thread(trace, &list, words, by_process, err);
done:
        free(chosen);
        name_list_deinit(&list);
        return r;
}

static int look_up_threads(struct trace_filter *f, const struct trace_filter_request *request,
                           struct loaded_trace *trace, struct error *err)
{
        int r = 0;

        if (!request->process && !request->thread)
                return 0;
        f->n_threads = trace->n_threads;
        f->threads = malloc((size_t)f->n_threads + 1);
        if (!f->threads)
                return no_memory(err);
        memset(f->threads, true, (size_t)f->n_threads + 1);
        if (request->process)
                r = keep_threads(f, trace, request->process, true, err);
        if (r == 0 && request->thread)
                r = keep_threads(f, trace, request->thread, false, err);
        return r;
}

/* ------------------------------------------------------------------ CPUs */

static int parse_cpu(const char **at, uint32_t *ret_cpu)
{
        char *end;
        unsigned long cpu;

        if (**at < '0' || **at > '9')
                return -EINVAL;
        cpu = strtoul(*at, &end, 10);
        if (cpu >= CPUS_MAX)
                return -EINVAL;
        *at = end;
        *ret_cpu = (uint32_t)cpu;
        return 0;
}

static int look_up_cpus(struct trace_filter *f, const char *words, struct error *err)
{
        const char *at = words;

        if (!words)
                return 0;
        f->n_cpus = CPUS_MAX;
        f->cpus = calloc(CPUS_MAX, sizeof(*f->cpus));
        if (!f->cpus)
                return no_memory(err);
        for (;;) {
                uint32_t first, last;

                if (parse_cpu(&at, &first) < 0)
                        break;
                last = first;
                if (*at == '-') {
                        at++;
                        if (parse_cpu(&at, &last) < 0 || last < first)
                                break;
                }
                for (uint32_t cpu = first; cpu <= last; cpu++)
                        f->cpus[cpu] = true;
                if (*at == '\0')
                        return 0;
                if (*at++ != ',')
                        break;
        }
        return error_set(err, -EINVAL, "--cpu %s: not a list of CPUs such as 0-3,7", words);
}

/* ------------------------------------------------------------------ modules, zones, events */

static struct text_view last_part(struct text_view path)
{
        const char *slash = path.n_bytes != 0 ? memrchr(path.bytes, '/', path.n_bytes) : NULL;

        if (!slash)
                return path;
        return (struct text_view){
                .bytes = slash + 1,
                .n_bytes = path.n_bytes - (size_t)(slash + 1 - path.bytes),
        };
}

/* A stack's own module is that of its innermost frame. */
static void mark_stacks(struct trace_filter *f, const struct trace_dictionary *d)
{
        for (uint32_t i = 1; i <= f->n_stacks; i++) {
                const struct trace_stack *stack = trace_dictionary_row(d, TRACE_TABLE_STACKS, i);
                const struct trace_frame *frame = trace_dictionary_row(d, TRACE_TABLE_FRAMES, stack->frame);

                f->stacks[i - 1] = frame->module != 0 && f->modules[frame->module - 1];
        }
}

static int no_module(const struct name_list *list, const char *words, const struct trace_dictionary *d,
                     struct error *err)
{
        uint32_t n = trace_dictionary_count(d, TRACE_TABLE_MODULES);
        struct name_guess guess;

        name_guess_init(&guess, list->globs[0], strlen(list->globs[0]));
        for (uint32_t i = 1; i <= n; i++) {
                const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, i);
                struct text_view name = last_part(trace_dictionary_text(d, row->path));

                name_guess_offer_bytes(&guess, name.bytes, name.n_bytes);
        }
        return not_there("module", words, &guess, err);
}

static int look_up_modules(struct trace_filter *f, const char *words, const struct trace_dictionary *d,
                           struct error *err)
{
        struct name_list list;
        uint32_t n_found = 0;
        int r;

        if (!words)
                return 0;
        f->n_modules = trace_dictionary_count(d, TRACE_TABLE_MODULES);
        f->n_stacks = trace_dictionary_count(d, TRACE_TABLE_STACKS);
        f->modules = calloc((size_t)f->n_modules + 1, sizeof(*f->modules));
        f->stacks = calloc((size_t)f->n_stacks + 1, sizeof(*f->stacks));
        if (!f->modules || !f->stacks)
                return no_memory(err);
        r = name_list_init(&list, words, err);
        for (uint32_t i = 1; r == 0 && i <= f->n_modules; i++) {
                const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, i);
                struct text_view path = trace_dictionary_text(d, row->path);

                f->modules[i - 1] = name_list_fits(&list, path) || name_list_fits(&list, last_part(path));
                n_found += f->modules[i - 1];
        }
        if (r == 0 && n_found == 0)
                r = no_module(&list, words, d, err);
        name_list_deinit(&list);
        if (r == 0)
                mark_stacks(f, d);
        return r;
}

static int no_zone(const struct zone_pattern_step *step, const char *words, const struct trace_dictionary *d,
                   struct error *err)
{
        const char *unknown = step->glob ? step->glob : "**";
        bool is_handle = step->location != 0 && step->is_certain; /* a handle has no near matches */
        uint32_t n = trace_dictionary_count(d, TRACE_TABLE_LOCATIONS);
        struct name_guess guess;
        int r;

        name_guess_init(&guess, unknown, strlen(unknown));
        for (uint32_t i = 1; i <= n && !is_handle; i++) {
                struct text_view name = zone_pattern_name_of(d, i);

                name_guess_offer_bytes(&guess, name.bytes, name.n_bytes);
        }
        r = not_there("zone", strlen(unknown) < strlen(words) && guess.best[0] != '\0' ? unknown : words,
                      &guess, err);
        trace_filter_add_who_has_zones(d, err);
        return r;
}

static bool is_zone(const struct trace_dictionary *d, const char *words)
{
        struct zone_pattern pattern = { .choices = NULL };
        struct error ignored = ERROR_NONE;
        bool is_one = zone_pattern_init(&pattern, words, &ignored) == 0 &&
                      !zone_pattern_find_unknown(&pattern, d);

        zone_pattern_deinit(&pattern);
        return is_one;
}

/* Names of threads may have an "@" as well: the last one before which there is a zone, or else the last. */
int trace_filter_split_zone(const struct trace_dictionary *d, const char *words, char **ret_zone,
                            const char **ret_thread)
{
        const char *at = strrchr(words, '@');
        bool is_found = !at || is_zone(d, words);

        *ret_zone = NULL;
        *ret_thread = NULL;
        for (; !is_found && at > words; at--) {
                char *zone;

                if (*at != '@' || at[1] == '\0')
                        continue;
                zone = strndup(words, (size_t)(at - words));
                if (!zone)
                        return -ENOMEM;
                is_found = is_zone(d, zone);
                if (*ret_zone && !is_found) {
                        free(zone);
                        continue;
                }
                free(*ret_zone);
                *ret_zone = zone;
                *ret_thread = at + 1;
        }
        return 0;
}

/* Looks for the threads of "frame@main"; @ret_zone: as trace_filter_split_zone() */
static int take_zone_apart(struct trace_filter_request *request, const struct trace_dictionary *d,
                           char **ret_zone, struct error *err)
{
        const char *thread;

        if (!request->zone)
                return 0;
        if (trace_filter_split_zone(d, request->zone, ret_zone, &thread) < 0)
                return no_memory(err);
        if (!*ret_zone)
                return 0;
        if (request->thread)
                return error_set(err, -EINVAL, "--zone %s names threads, and so does --thread",
                                 request->zone);
        request->zone = *ret_zone;
        request->thread = thread;
        return 0;
}

static int look_up_zones(struct trace_filter *f, const char *words, const struct trace_dictionary *d,
                         struct error *err)
{
        const struct zone_pattern_step *unknown;
        int r;

        if (!words)
                return 0;
        f->has_zone = true;
        r = zone_pattern_init(&f->zone, words, err);
        if (r < 0)
                return r;
        r = zone_pattern_check_handles(&f->zone, d, err);
        if (r < 0)
                return r;
        unknown = zone_pattern_find_unknown(&f->zone, d);
        return unknown ? no_zone(unknown, words, d, err) : 0;
}

int trace_filter_no_event(const struct trace_dictionary *d, const char *wanted, struct error *err)
{
        uint32_t n = trace_dictionary_count(d, TRACE_TABLE_SAMPLE_EVENTS);
        char names[160] = "";
        size_t n_bytes = 0;

        for (uint32_t i = 1; i <= n; i++) {
                const struct trace_sample_event *row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS, i);
                struct text_view name = trace_dictionary_text(d, row->name);
                int added = snprintf(names + n_bytes, sizeof(names) - n_bytes, "%s%.*s", i > 1 ? ", " : "",
                                     (int)name.n_bytes, name.n_bytes != 0 ? name.bytes : "");

                if (added < 0 || (size_t)added >= sizeof(names) - n_bytes) {
                        (void)snprintf(names + n_bytes, sizeof(names) - n_bytes, ", ...");
                        break;
                }
                n_bytes += (size_t)added;
        }
        return error_set(err, -ENOENT, "no sample event '%s' in this trace; there are: %s", wanted,
                         names[0] != '\0' ? names : "none");
}

static int look_up_event(struct trace_filter *f, const char *word, const struct trace_dictionary *d,
                         struct error *err)
{
        uint32_t n = trace_dictionary_count(d, TRACE_TABLE_SAMPLE_EVENTS);

        for (uint32_t i = 1; word && i <= n; i++) {
                const struct trace_sample_event *row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS, i);

                if (text_view_is(trace_dictionary_text(d, row->name), word))
                        f->event = i;
        }
        if (word && f->event == 0)
                return trace_filter_no_event(d, word, err);
        return 0;
}

/* ------------------------------------------------------------------ all of it */

static int set_range(struct trace_filter *f, const struct trace_filter_request *request,
                     const struct loaded_trace *trace, struct error *err)
{
        f->from_ns = 0;
        f->to_ns = UINT64_MAX;
        if (request->has_from && __builtin_add_overflow(trace->start_ns, request->from_ns, &f->from_ns))
                f->from_ns = UINT64_MAX;
        if (request->has_to && __builtin_add_overflow(trace->start_ns, request->to_ns, &f->to_ns))
                f->to_ns = UINT64_MAX;
        if (f->from_ns >= f->to_ns)
                return error_set(err, -EINVAL, "the range of time ends before it begins");
        if (f->from_ns > trace->end_ns && request->has_from)
                return error_set(
                        err, -ENOENT,
                        "the range of time begins after the end of the recording, which lasts %.9f s",
                        (double)(trace->end_ns - trace->start_ns) / (double)NS_PER_S);
        return 0;
}

static uint64_t within(uint64_t time_ns, const struct loaded_trace *trace)
{
        if (time_ns < trace->start_ns)
                return 0;
        return (time_ns < trace->end_ns ? time_ns : trace->end_ns) - trace->start_ns;
}

struct trace_range trace_filter_range(const struct trace_filter *f, const struct loaded_trace *trace)
{
        struct trace_range range = { .from_ns = within(f->from_ns, trace), .to_ns = within(f->to_ns, trace) };

        range.is_part = f->from_ns > trace->start_ns || f->to_ns <= trace->end_ns;
        return range;
}

/* Takes names of a trace that is still being written. */
static int take_live_names(struct loaded_trace *trace, int names_fd, struct error *err)
{
        struct trace_dictionary *d = trace_reader_edit(trace->reader);
        int r = live_names_file_take(d, names_fd, err);

        if (r == 0 && function_labels_settle(d) == -ENOMEM)
                r = error_set(err, -ENOMEM, "no memory for the names of functions");
        return r;
}

int trace_filter_init(struct trace_filter *f, const struct trace_filter_request *asked,
                      struct loaded_trace *trace, struct error *err)
{
        struct trace_filter_request apart = *asked, *request = &apart;
        char *zone = NULL;
        int r;

        *f = (struct trace_filter){ .to_ns = UINT64_MAX, .request = *asked };
        r = take_zone_apart(request, trace->dictionary, &zone, err);
        if (r != 0)
                goto done;
        r = set_range(f, request, trace, err);
        if (r != 0)
                goto done;
        if (request->names_fd > 0)
                r = take_live_names(trace, request->names_fd, err);
        if (r != 0)
                goto done;
        r = look_up_threads(f, request, trace, err);
        if (r != 0)
                goto done;
        r = look_up_cpus(f, request->cpu, err);
        if (r != 0)
                goto done;
        r = look_up_modules(f, request->module, trace->dictionary, err);
        if (r != 0)
                goto done;
        r = look_up_zones(f, request->zone, trace->dictionary, err);
        if (r != 0)
                goto done;
        r = look_up_event(f, request->event, trace->dictionary, err);

done:
        free(zone);
        f->is_empty = !f->threads && !f->cpus && !f->modules && !f->has_zone && f->event == 0 &&
                      f->from_ns == 0 && f->to_ns == UINT64_MAX;
        return r;
}

void trace_filter_deinit(struct trace_filter *f)
{
        free(f->threads);
        free(f->modules);
        free(f->stacks);
        free(f->cpus);
        zone_pattern_deinit(&f->zone);
        *f = (struct trace_filter){ .to_ns = UINT64_MAX, .is_empty = true };
}
