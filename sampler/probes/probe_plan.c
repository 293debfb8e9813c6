/* SPDX-License-Identifier: MIT */
#include "sampler/probes/probe_plan.h"

#include "base/array.h"
#include "base/child_answer.h"
#include "base/error.h"
#include "sampler/bpf/probe_layout.h"
#include "sampler/probes/static_probes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_BYTES_MAX  (UINT32_C(1) << 26)
#define FIELDS_MAX        6
#define PROBE_ARG_NUMBERS 11 /* of a struct probe_arg in an answer */

/* Splits a line at its tabs.  Returns how many fields it has. */
static size_t split(char *line, char *fields[FIELDS_MAX])
{
        size_t n = 0;

        while (n < FIELDS_MAX) {
                fields[n++] = line;
                line = strchr(line, '\t');
                if (!line)
                        break;
                *line++ = '\0';
        }
        return n;
}

static int reserve_function(struct probe_plan *plan, const char *name, struct probe_function **ret_function)
{
        struct probe_function *f;
        int r = plan->n_functions == PROBE_PLAN_FUNCTIONS_MAX
                        ? -EOVERFLOW
                        : array_reserve(&plan->functions, &plan->functions_capacity, plan->n_functions + 1,
                                        sizeof(*f));

        if (r < 0)
                return r;
        f = &plan->functions[plan->n_functions];
        *f = (struct probe_function){ .name = strdup(name) };
        if (!f->name)
                return -ENOMEM;
        plan->n_functions++;
        *ret_function = f;
        return 0;
}

static int add_function(struct probe_plan *plan, uint32_t file, char *fields[FIELDS_MAX])
{
        struct probe_function *f;
        int r = reserve_function(plan, fields[3], &f);

        if (r < 0)
                return r;
        f->line = (uint32_t)strtoul(fields[1], NULL, 10);
        f->file = file;
        f->source = strcmp(fields[2], "-") == 0 ? NULL : strdup(fields[2]);
        f->parameters = strcmp(fields[4], "-") == 0 ? NULL : strdup(fields[4]);
        plan->n_pending = 0;
        return 0;
}

/* Takes the numbers of an argument, in the order in which the finder writes them. */
static bool take_numbers(char *at, struct probe_arg *ret_arg)
{
        int64_t n[PROBE_ARG_NUMBERS];

        for (size_t i = 0; i < PROBE_ARG_NUMBERS; i++)
                n[i] = strtoll(at, &at, 10);
        *ret_arg = (struct probe_arg){ .kind = (uint8_t)n[0],
                                       .reg = (uint8_t)n[1],
                                       .offset = n[2],
                                       .size = (uint8_t)n[3],
                                       .is_signed = n[4] != 0,
                                       .style = (uint8_t)n[5],
                                       .n_hops = (uint8_t)n[6],
                                       .hops = { (int32_t)n[7], (int32_t)n[8] },
                                       .is_address = n[9] != 0,
                                       .text_max = (uint32_t)n[10] };
        return n[0] >= PROBE_ARG_CONSTANT && n[0] <= PROBE_ARG_SUM && n[1] >= 0 &&
               n[1] < 1 << PROBE_REGISTER_BITS && (n[3] == 1 || n[3] == 2 || n[3] == 4 || n[3] == 8) &&
               n[5] >= 0 && n[5] <= PROBE_STYLE_TEXT && n[6] >= 0 && n[6] <= PROBE_HOPS_MAX && *at == '\0';
}

static int add_argument(struct probe_plan *plan, char *fields[FIELDS_MAX])
{
        struct probe_function *f = &plan->functions[plan->n_functions - 1];
        size_t i = plan->n_pending;

        if (!plan->pending)
                plan->pending = calloc(1, sizeof(*plan->pending));
        if (!plan->pending)
                return -ENOMEM;
        if (i == 0)
                *plan->pending = (struct probe_spec){ .has_texts = 0 };
        if (i == PROBE_PLAN_FIELDS || f->fields[i] || !take_numbers(fields[2], &plan->pending->args[i]))
                return -EBADMSG;
        plan->pending->has_texts |= plan->pending->args[i].style == PROBE_STYLE_TEXT;
        f->has_arguments = true;
        f->styles[i] = plan->pending->args[i].style;
        f->sizes[i] = plan->pending->args[i].size;
        f->text_max[i] = plan->pending->args[i].text_max;
        f->fields[i] = strdup(fields[1]);
        f->enumerators[i] = strcmp(fields[3], "-") == 0 ? NULL : strdup(fields[3]);
        plan->n_pending++;
        return f->fields[i] ? 0 : -ENOMEM;
}

/* Does the point tell that a function begins, with its arguments or not? */
static bool is_begin(const struct probe_plan *plan, const struct probe_point *p)
{
        uint64_t mask = (UINT64_C(1) << (PROBE_FUNCTION_BITS + PROBE_KIND_BITS)) - 1;
        bool is_described = p->cookie >> (64 - PROBE_OFFSET_BITS) == PROBE_STATIC;

        return !p->tracepoint && (p->cookie & mask) == probe_cookie(p->function, PROBE_BEGIN, 0, 0, 0) &&
               (!is_described || plan->functions[p->function].has_arguments);
}

/* Does an earlier pattern name the function that begins there? */
static bool is_planned(const struct probe_plan *plan, uint32_t function, uint64_t file_off)
{
        const char *path = plan->files[plan->functions[function].file].path;

        for (size_t i = 0; i < plan->n_points; i++) {
                const struct probe_point *p = &plan->points[i];

                if (p->file_off == file_off && is_begin(plan, p) &&
                    strcmp(plan->files[plan->functions[p->function].file].path, path) == 0)
                        return true;
        }
        return false;
}

static int reserve_point(struct probe_plan *plan)
{
        return plan->n_points == PROBE_PLAN_POINTS_MAX
                       ? -EOVERFLOW
                       : array_reserve(&plan->points, &plan->points_capacity, plan->n_points + 1,
                                       sizeof(*plan->points));
}

/* Adds a point of the last function with a description of its arguments. */
static int add_described(struct probe_plan *plan, const struct probe_point *point, enum probe_kind kind,
                         const struct probe_spec *spec)
{
        uint32_t function = (uint32_t)plan->n_functions - 1, number = (uint32_t)plan->n_specs;
        int r = number >= PROBE_OWN_SPEC ? -EOVERFLOW : reserve_point(plan);

        if (r == 0)
                r = array_reserve(&plan->specs, &plan->specs_capacity, plan->n_specs + 1,
                                  sizeof(*plan->specs));
        if (r < 0)
                return r;
        plan->specs[plan->n_specs++] = *spec;
        plan->points[plan->n_points] = *point;
        plan->points[plan->n_points].function = function;
        plan->points[plan->n_points++].cookie = probe_cookie(function, kind, 0, number, PROBE_STATIC);
        return 0;
}

static int add_point(struct probe_plan *plan, char *fields[FIELDS_MAX])
{
        uint64_t number[FIELDS_MAX];
        uint32_t function = (uint32_t)plan->n_functions - 1;
        int r;

        for (size_t i = 1; i < FIELDS_MAX; i++)
                number[i] = strtoull(fields[i], NULL, 10);
        if (number[1] > PROBE_JUMP || number[3] >> PROBE_REGISTER_BITS || number[4] >> PROBE_OFFSET_BITS ||
            number[5] >> PROBE_OFFSET_BITS)
                return -EBADMSG;
        if (number[1] == PROBE_BEGIN && is_planned(plan, function, number[2]))
                plan->functions[function].is_off = true;
        if (number[1] == PROBE_BEGIN && plan->n_pending > 0) {
                const struct probe_point point = { .file_off = number[2] };

                return add_described(plan, &point, PROBE_BEGIN, plan->pending);
        }
        r = reserve_point(plan);
        if (r < 0)
                return r;
        plan->points[plan->n_points++] = (struct probe_point){
                .file_off = number[2],
                .function = function,
                .cookie = probe_cookie(function, (enum probe_kind)number[1], (uint32_t)number[3], number[4],
                                       number[5]),
        };
        return 0;
}

static int add_static(struct probe_plan *plan, char *fields[FIELDS_MAX])
{
        const struct probe_point point = { .file_off = strtoull(fields[2], NULL, 10),
                                           .semaphore_off = strtoull(fields[3], NULL, 10) };
        uint64_t kind = strtoull(fields[1], NULL, 10);
        struct probe_spec spec;

        if (kind > PROBE_MARK)
                return -EBADMSG;
        static_probes_parse(fields[4], &spec);
        return add_described(plan, &point, (enum probe_kind)kind, &spec);
}

/* Takes one line of the child's; nothing in it is trusted. */
static int take_line(struct probe_plan *plan, uint32_t file, char *line, struct error *err)
{
        char *fields[FIELDS_MAX];
        size_t n = split(line, fields);

        if (fields[0][0] == 'F' && n == 5)
                return add_function(plan, file, fields);
        if (fields[0][0] == 'A' && n == 4 && plan->n_functions > 0)
                return add_argument(plan, fields);
        if (fields[0][0] == 'P' && n == FIELDS_MAX && plan->n_functions > 0)
                return add_point(plan, fields);
        if (fields[0][0] == 'S' && n == 5 && plan->n_functions > 0)
                return add_static(plan, fields);
        if (fields[0][0] == 'N' && n == 2) {
                byte_buffer_add_format(&plan->notes, "%s\n", fields[1]);
                return 0;
        }
        if (fields[0][0] == 'E' && n == 3 && strtoul(fields[1], NULL, 10) - 1 < 4095)
                return error_set(err, -(int)strtoul(fields[1], NULL, 10), "%s", fields[2]);
        return -EBADMSG;
}

static int refuse_more(struct error *err)
{
        return error_set(
                err, -EOVERFLOW,
                "more than %d functions, %d probes or %d static probes and functions with arguments in all",
                PROBE_PLAN_FUNCTIONS_MAX, PROBE_PLAN_POINTS_MAX, PROBE_OWN_SPEC);
}

/* All functions were left out: the first note says why. */
static int refuse(const struct probe_plan *plan, struct error *err)
{
        const char *words = (const char *)plan->notes.data;
        size_t n = plan->notes.used_bytes;
        const char *end = n > 0 ? memchr(words, '\n', n) : NULL;

        return error_set(err, -ENOENT, "cannot probe any of its functions: %.*s",
                         end ? (int)(end - words) : 0, words ? words : "");
}

static int take_answer(struct probe_plan *plan, uint32_t file, struct byte_buffer *answer, struct error *err)
{
        size_t n_before = plan->n_functions;
        char *at, *end;
        int r = 0;

        byte_buffer_add_u8(answer, '\0');
        if (answer->failed)
                return -ENOMEM;
        for (at = (char *)answer->data; r == 0 && (end = strchr(at, '\n')); at = end + 1) {
                *end = '\0';
                r = take_line(plan, file, at, err);
        }
        if (r == -EOVERFLOW && (!err || err->code == 0))
                return refuse_more(err);
        return r == 0 && plan->n_functions == n_before ? refuse(plan, err) : r;
}

static int ask_child(struct probe_plan *plan, const struct probe_plan_request *request, const char *pattern,
                     struct error *err)
{
        uint32_t file = (uint32_t)plan->n_files - 1;
        struct probe_finder_task task = { request, &plan->files[file], pattern };
        struct byte_buffer answer = { .data = NULL };
        int r = child_answer_take("the reader of functions", probe_finder_run, &task, ANSWER_BYTES_MAX,
                                  &answer, err);

        if (r == 0)
                r = take_answer(plan, file, &answer, err);
        byte_buffer_deinit(&answer);
        return r;
}

int probe_plan_add(struct probe_plan *plan, const struct probe_plan_request *request, struct error *err)
{
        const char *mark = strchr(request->words, '!');
        const char *pattern = mark ? mark + 1 : request->words;
        struct probe_file *file = &plan->files[plan->n_files];
        int r;

        if (pattern[0] == '\0')
                return error_set(err, -EINVAL, "expected a function after the !");
        if (plan->n_files == PROBE_PLAN_FILES_MAX)
                return error_set(err, -EOVERFLOW, "more than %d patterns", PROBE_PLAN_FILES_MAX);
        r = probe_file_open(request, request->words, mark ? (size_t)(mark - request->words) : 0, file, err);
        if (r < 0)
                return r;
        plan->n_files++;
        r = ask_child(plan, request, pattern, err);
        return r < 0 && (!err || err->code == 0)
                       ? error_set(err, r, "the functions of %s cannot be read", file->path)
                       : r;
}

static int add_tracepoint(struct probe_plan *plan, const char *name, enum probe_kind kind,
                          const struct probe_spec *spec)
{
        struct probe_point point = { .tracepoint = strdup(name) };
        int r = point.tracepoint ? add_described(plan, &point, kind, spec) : -ENOMEM;

        if (r < 0)
                free(point.tracepoint);
        else
                plan->n_tracepoints++;
        return r;
}

int probe_plan_add_pair(struct probe_plan *plan, const struct probe_pair *pair, struct error *err)
{
        const char *const points[] = { pair->begin, pair->end };
        struct probe_function *f;
        int r;

        for (size_t i = 0; i < 2; i++)
                if (probe_plan_count_uses(plan, points[i]) == PROBE_POINT_PROGRAMS)
                        return error_set(err, -EOVERFLOW, "more than %d kinds of zones begin or end at %s",
                                         PROBE_POINT_PROGRAMS, points[i]);
        r = reserve_function(plan, pair->name, &f);
        if (r == 0) {
                f->kind = pair->kind;
                f->is_joined = pair->specs[0].keys[0].kind != PROBE_ARG_NONE;
                for (size_t i = 0; i < PROBE_PLAN_FIELDS; i++)
                        f->fields[i] = pair->fields[i] ? strdup(pair->fields[i]) : NULL;
                r = add_tracepoint(plan, pair->begin, PROBE_BEGIN, &pair->specs[0]);
        }
        if (r == 0)
                r = add_tracepoint(plan, pair->end, PROBE_END, &pair->specs[1]);
        if (r == -EOVERFLOW)
                return refuse_more(err);
        return r < 0 ? error_set(err, r, "no memory for tracepoints") : 0;
}

size_t probe_plan_count_uses(const struct probe_plan *plan, const char *tracepoint)
{
        size_t n = 0;

        for (size_t i = 0; i < plan->n_points; i++)
                n += plan->points[i].tracepoint && strcmp(plan->points[i].tracepoint, tracepoint) == 0;
        return n;
}

size_t probe_plan_common_part(const char *begin, size_t n_begin, const char *end)
{
        static const char separators[] = "_-:";
        size_t n = 0;

        while (n < n_begin && begin[n] == end[n])
                n++;
        /* "irq_handler_entry" and "irq_handler_exit" have no "e" in common */
        if (n < n_begin && !strchr(separators, begin[n]))
                while (n > 0 && !strchr(separators, begin[n - 1]))
                        n--;
        while (n > 0 && strchr(separators, begin[n - 1]))
                n--;
        return n > 0 ? n : n_begin;
}

void probe_plan_deinit(struct probe_plan *plan)
{
        for (size_t i = 0; i < plan->n_files; i++) {
                (void)close(plan->files[i].fd);
                free(plan->files[i].path);
        }
        for (size_t i = 0; i < plan->n_functions; i++) {
                free(plan->functions[i].name);
                free(plan->functions[i].source);
                free(plan->functions[i].parameters);
                for (size_t k = 0; k < PROBE_PLAN_FIELDS; k++) {
                        free(plan->functions[i].fields[k]);
                        free(plan->functions[i].enumerators[k]);
                }
        }
        for (size_t i = 0; i < plan->n_points; i++)
                free(plan->points[i].tracepoint);
        free(plan->functions);
        free(plan->points);
        free(plan->specs);
        free(plan->pending);
        byte_buffer_deinit(&plan->notes);
        *plan = (struct probe_plan){ .n_files = 0 };
}
