/* SPDX-License-Identifier: MIT */
#include "analyze/annotate/annotation.h"

#include "analyze/samples/inlined_code.h"
#include "analyze/samples/sampled_trace.h"
#include "base/array.h"
#include "base/saturating.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/symbols/symbolizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ arrows */

/* Chooses where the arrows of a function's jumps are drawn. */

/* The instruction of a part that begins at an address, by index; UINT32_MAX if none does. */
static uint32_t instruction_at(const struct annotation *a, const struct listing_part *part, uint64_t svma)
{
        uint32_t low = part->first_instruction, high = low + part->n_instructions;

        while (low < high) {
                uint32_t middle = low + (high - low) / 2;

                if (a->listing.instructions[middle].svma == svma)
                        return middle;
                if (a->listing.instructions[middle].svma < svma)
                        low = middle + 1;
                else
                        high = middle;
        }
        return UINT32_MAX;
}

/*
 * Finds one arrow for each jump target.  @reach has an arrow for each instruction of the listing, each of
 * them with `lane` 0.
 */
static void find_targets(struct annotation *a, const struct listing_part *part,
                         struct annotation_arrow *reach)
{
        for (uint32_t i = 0; i < part->n_instructions; i++) {
                uint32_t from = part->first_instruction + i;
                const struct listing_instruction *row = &a->listing.instructions[from];
                struct annotation_arrow *arrow;
                uint32_t target;

                a->instructions[from].target = UINT32_MAX;
                if (row->branch != BRANCH_JUMP && row->branch != BRANCH_CONDITIONAL)
                        continue;
                target = instruction_at(a, part, row->target_svma);
                a->instructions[from].target = target;
                if (target == UINT32_MAX)
                        continue;
                arrow = &reach[target];
                if (!a->instructions[target].is_target)
                        *arrow = (struct annotation_arrow){ target, target, target, ANNOTATION_NO_LANE };
                a->instructions[target].is_target = true;
                if (from < arrow->first)
                        arrow->first = from;
                if (from > arrow->last)
                        arrow->last = from;
        }
}

static int compare_lengths(const void *a, const void *b)
{
        const struct annotation_arrow *x = a, *y = b;
        uint32_t nx = x->last - x->first, ny = y->last - y->first;

        if (nx != ny)
                return nx < ny ? -1 : 1;
        return x->first < y->first ? -1 : x->first > y->first;
}

static int compare_starts(const void *a, const void *b)
{
        const struct annotation_arrow *x = a, *y = b;

        if (x->first != y->first)
                return x->first < y->first ? -1 : 1;
        return x->target < y->target ? -1 : x->target > y->target;
}

/* Takes the innermost lane that no overlapping shorter arrow uses.  The arrows are sorted by length. */
static void choose_lane(struct annotation_arrow *arrows, size_t index)
{
        unsigned taken = 0;

        for (size_t i = 0; i < index; i++)
                if (arrows[i].lane != ANNOTATION_NO_LANE && arrows[i].first <= arrows[index].last &&
                    arrows[index].first <= arrows[i].last)
                        taken |= 1U << arrows[i].lane;
        for (uint32_t lane = 0; lane < ANNOTATION_LANES_MAX; lane++)
                if (!(taken & 1U << lane)) {
                        arrows[index].lane = lane;
                        return;
                }
}

static int add_part(struct annotation *a, const struct listing_part *part, struct annotation_arrow *reach)
{
        size_t first = a->n_arrows, n;

        find_targets(a, part, reach);
        for (uint32_t i = part->first_instruction; i < part->first_instruction + part->n_instructions; i++) {
                if (!a->instructions[i].is_target)
                        continue;
                if (array_reserve(&a->arrows, &a->arrows_capacity, a->n_arrows + 1, sizeof(*a->arrows)) < 0)
                        return -ENOMEM;
                a->arrows[a->n_arrows++] = reach[i];
        }
        n = a->n_arrows - first;
        if (n == 0)
                return 0;
        qsort(a->arrows + first, n, sizeof(*a->arrows), compare_lengths);
        for (size_t i = 0; i < n && i < ANNOTATION_ARROWS_MAX; i++)
                choose_lane(a->arrows + first, i);
        qsort(a->arrows + first, n, sizeof(*a->arrows), compare_starts);
        return 0;
}

/*
 * find_arrows() - fill in the targets and arrows of an annotation that already has its listing and
 * instructions
 * All jumps to one place share one arrow.  Short arrows are next to the code, longer ones around them.
 * Returns 0 or -ENOMEM.
 */
static int find_arrows(struct annotation *a)
{
        struct annotation_arrow *reach = calloc(a->listing.n_instructions + 1, sizeof(*reach));
        int r = reach ? 0 : -ENOMEM;

        for (size_t i = 0; i < a->listing.n_parts && r == 0; i++)
                r = add_part(a, &a->listing.parts[i], reach);
        free(reach);
        return r;
}

/* ------------------------------------------------------------------ the annotation */

/* A sampled frame of the function. */
struct place {
        uint64_t offset;
        uint32_t frame;
};

/* Whether the function was inlined into the function that contains the code at @frame. */
static bool is_inlined_at(const struct annotation *a, uint32_t frame)
{
        const struct trace_dictionary *d = a->trace->dictionary;
        const struct trace_frame *row = trace_dictionary_row(d, TRACE_TABLE_FRAMES, frame);
        uint32_t first, n = sampled_trace_symbols(a->trace, frame, &first);

        if (row->module != a->function.module || a->function.name == 0 ||
            sampled_trace_function(a->trace, frame) == a->function.name)
                return false;
        for (uint32_t i = 0; i + 1 < n; i++) {
                const struct trace_symbol *symbol = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, first + i);

                if (symbol->function == a->function.name)
                        return true;
        }
        return false;
}

static bool is_of_function(const struct annotation *a, uint32_t frame)
{
        const struct trace_frame *row = trace_dictionary_row(a->trace->dictionary, TRACE_TABLE_FRAMES, frame);
        uint32_t name;

        if (row->module != a->function.module)
                return false;
        if (a->function.is_inlined)
                return is_inlined_at(a, frame);
        name = sampled_trace_function(a->trace, frame);
        return name == a->function.name || function_choice_is_part(a->trace, a->function.name, name);
}

static int compare_places(const void *a, const void *b)
{
        const struct place *x = a, *y = b;

        if (x->offset != y->offset)
                return x->offset < y->offset ? -1 : 1;
        return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static uint32_t leaf_of(const struct annotation *a, const struct sample_key *key)
{
        const struct trace_stack *stack;

        if (key->stack == 0)
                return 0;
        if (a->is_python)
                return sampled_trace_python_frame(a->trace, key->stack);
        stack = trace_dictionary_row(a->trace->dictionary, TRACE_TABLE_STACKS, key->stack);
        return stack->frame;
}

/* Finds the frames of the function that have samples of any event: each once, by offset. */
static int find_places(const struct annotation *a, struct place **ret_places, size_t *ret_n)
{
        const struct sample_stats *samples = &a->trace->samples;
        uint32_t n_frames = trace_dictionary_count(a->trace->dictionary, TRACE_TABLE_FRAMES);
        uint8_t *seen = calloc((size_t)n_frames / 8 + 1, 1);
        struct place *places = NULL;
        size_t n = 0, capacity = 0;
        int r = seen ? 0 : -ENOMEM;

        for (uint32_t i = 0; i < sample_stats_count(samples) && r == 0; i++) {
                uint32_t frame = leaf_of(a, sample_stats_key(samples, i));
                const struct trace_frame *row;

                if (frame == 0 || seen[frame / 8] & 1U << frame % 8)
                        continue;
                seen[frame / 8] |= (uint8_t)(1U << frame % 8);
                if (!is_of_function(a, frame))
                        continue;
                r = array_reserve(&places, &capacity, n + 1, sizeof(*places));
                if (r < 0)
                        break;
                row = trace_dictionary_row(a->trace->dictionary, TRACE_TABLE_FRAMES, frame);
                places[n++] = (struct place){ row->offset, frame };
        }
        free(seen);
        if (n > 0)
                qsort(places, n, sizeof(*places), compare_places);
        *ret_places = places;
        *ret_n = n;
        return r;
}

/* ---- the listing --------------------------------------------------------------------------------------- */

static int copy_symbol(struct annotation *a, uint32_t id, struct listing_symbol *ret)
{
        const struct trace_dictionary *d = a->trace->dictionary;
        const struct trace_symbol *row = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, id);
        struct text_view function = trace_dictionary_text(d, row->function);
        struct text_view file = trace_dictionary_text(d, row->file);
        int r = 0;

        *ret = (struct listing_symbol){ .line = row->line, .column = row->column };
        if (function.n_bytes > 0)
                r = intern_add(&a->listing.strings, function.bytes, function.n_bytes, &ret->function);
        if (r >= 0 && file.n_bytes > 0)
                r = intern_add(&a->listing.strings, file.bytes, file.n_bytes, &ret->file);
        return r < 0 ? r : 0;
}

/* Adds a place that was sampled, without its code. */
static int add_bare(struct annotation *a, const struct place *place)
{
        struct code_listing *l = &a->listing;
        struct listing_instruction row = { .svma = place->offset };
        uint32_t first, n = sampled_trace_symbols(a->trace, place->frame, &first);
        int r = code_listing_add(l, &row, NULL, 0);

        if (r == 0)
                r = array_reserve(&l->symbols, &l->symbols_capacity, l->n_symbols + n, sizeof(*l->symbols));
        if (r < 0)
                return r;
        l->instructions[l->n_instructions - 1].first_symbol = (uint32_t)l->n_symbols;
        l->instructions[l->n_instructions - 1].n_symbols = n;
        for (uint32_t i = 0; i < n && r == 0; i++)
                r = copy_symbol(a, first + i, &l->symbols[l->n_symbols++]);
        return r;
}

static int list_bare(struct annotation *a, const struct place *places, size_t n_places)
{
        struct listing_part part = { .flags = LISTING_PART_GUESSED };
        int r;

        part.svma = part.file_off = places[0].offset;
        part.n_bytes = places[n_places - 1].offset - places[0].offset + 1;
        r = code_listing_add_part(&a->listing, &part);
        for (size_t i = 0; i < n_places && r == 0; i++)
                if ((i == 0 || places[i].offset != places[i - 1].offset) &&
                    a->listing.n_instructions < CODE_LISTING_INSTRUCTIONS_MAX)
                        r = add_bare(a, &places[i]);
        return r;
}

/*
 * Keeps the inlined instructions of the function, and those around them.  The symbols of @frame, a place
 * where it was inlined, have the plain name by which the listing knows the function.
 */
static int keep_inlined(struct annotation *a, uint32_t frame)
{
        const struct trace_dictionary *d = a->trace->dictionary;
        struct inlined_function function = { .name = trace_dictionary_text(d, a->function.name) };
        uint32_t first, n = sampled_trace_symbols(a->trace, frame, &first);

        for (uint32_t i = 0; i < n; i++) {
                const struct trace_symbol *row = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, first + i);

                if (row->function != a->function.name || row->plain_name == 0)
                        continue;
                function.name = trace_dictionary_text(d, row->plain_name);
                function.declared_file = trace_dictionary_text(d, row->declared_file);
                function.declared_line = row->declared_line;
                function.instance = row->instance;
        }
        return inlined_code_keep(&a->listing, &function);
}

static int list(struct annotation *a, const struct annotation_options *options, const struct place *places,
                size_t n_places)
{
        uint64_t *offsets = calloc(n_places + 1, sizeof(*offsets));
        size_t n = 0;
        int r;

        if (!offsets)
                return -ENOMEM;
        for (size_t i = 0; i < n_places; i++)
                if (i == 0 || places[i].offset != places[i - 1].offset)
                        offsets[n++] = places[i].offset;
        r = n > 0 ? annotated_code_list(a, options, offsets, n) : 0;
        free(offsets);
        if (r == 0 && n > 0 && a->has_code && a->function.is_inlined)
                r = keep_inlined(a, places[0].frame);
        if (r == 0 && n > 0 && !a->has_code)
                r = list_bare(a, places, n_places);
        return r;
}

/* ---- counts -------------------------------------------------------------------------------------------- */

/* The index of the instruction that contains a place; UINT32_MAX if none does. */
static uint32_t find_instruction(const struct annotation *a, uint64_t offset)
{
        for (size_t p = 0; p < a->listing.n_parts; p++) {
                const struct listing_part *part = &a->listing.parts[p];
                uint32_t low = part->first_instruction, high = low + part->n_instructions;
                uint64_t svma = part->svma + (offset - part->file_off);

                if (offset < part->file_off || offset - part->file_off >= part->n_bytes)
                        continue;
                while (high - low > 1) {
                        uint32_t middle = low + (high - low) / 2;

                        if (a->listing.instructions[middle].svma <= svma)
                                low = middle;
                        else
                                high = middle;
                }
                if (high > low)
                        return low;
        }
        return UINT32_MAX;
}

/*
 * Whether the innermost function at @frame is the annotated one: so do reports count a function's own time.
 */
static bool is_self(const struct annotation *a, uint32_t frame)
{
        uint32_t first, n = sampled_trace_symbols(a->trace, frame, &first);
        const struct trace_symbol *symbol;

        if (n <= 1)
                return !a->function.is_inlined;
        symbol = trace_dictionary_row(a->trace->dictionary, TRACE_TABLE_SYMBOLS, first);
        return symbol->function == a->function.name;
}

static bool is_innermost(const struct annotation *a, uint32_t stack, uint32_t frame)
{
        const struct trace_stack *row = trace_dictionary_row(a->trace->dictionary, TRACE_TABLE_STACKS, stack);

        return row->frame == frame;
}

static void add_sample(struct annotation *a, const struct sample_key *key, const struct sample_sum *sum,
                       uint32_t index)
{
        uint32_t frame = leaf_of(a, key);

        if (key->event == a->event) {
                if (is_self(a, frame) && (!a->is_python || is_innermost(a, key->stack, frame)))
                        sample_sum_add(&a->self, sum);
                sample_sum_add(index == UINT32_MAX ? &a->elsewhere : &a->instructions[index].sum, sum);
                if (index != UINT32_MAX)
                        sample_sum_add(&a->sum, sum);
        }
        for (uint32_t c = 0; c < a->counters.n_counters; c++)
                if (a->counters.counters[c].event == key->event && index != UINT32_MAX) {
                        uint64_t *at = &a->instruction_counters[(size_t)index * a->counters.n_counters + c];

                        *at = saturating_add(*at, sum->weight);
                        a->counters_sum[c] = saturating_add(a->counters_sum[c], sum->weight);
                }
}

static int count(struct annotation *a, const struct place *places, size_t n_places)
{
        const struct sample_stats *samples = &a->trace->samples;
        uint32_t n_frames = trace_dictionary_count(a->trace->dictionary, TRACE_TABLE_FRAMES);
        uint32_t *indexes = calloc((size_t)n_frames + 1,
                                   sizeof(*indexes)); /* by frame: index + 2; 0 = another function's */

        if (!indexes)
                return -ENOMEM;
        for (size_t i = 0; i < n_places; i++)
                indexes[places[i].frame] = find_instruction(a, places[i].offset) + 2;
        for (uint32_t i = 0; i < sample_stats_count(samples); i++) {
                const struct sample_key *key = sample_stats_key(samples, i);
                uint32_t frame = leaf_of(a, key);

                if (frame != 0 && indexes[frame] != 0)
                        add_sample(a, key, &samples->sums[i], indexes[frame] - 2);
                else if (frame != 0 && key->event == a->event && !a->function.is_inlined &&
                         is_inlined_at(a, frame))
                        sample_sum_add(&a->inlined, &samples->sums[i]);
        }
        free(indexes);
        return 0;
}

/* ---- lines --------------------------------------------------------------------------------------------- */

/* The line of one instruction, before equal lines are joined. */
struct line_key {
        uint32_t file, line;
        uint32_t instruction;
};

static int compare_keys(const void *a, const void *b)
{
        const struct line_key *x = a, *y = b;

        if (x->file != y->file)
                return x->file < y->file ? -1 : 1;
        if (x->line != y->line)
                return x->line < y->line ? -1 : 1;
        return x->instruction < y->instruction ? -1 : x->instruction > y->instruction;
}

static int add_line(struct annotation *a, const struct line_key *key)
{
        const struct listing_instruction *row = &a->listing.instructions[key->instruction];
        uint32_t n = a->counters.n_counters;
        struct annotated_line *line = a->n_lines > 0 ? &a->lines[a->n_lines - 1] : NULL;

        if (!line || line->file != key->file || line->line != key->line) {
                int r = array_reserve(&a->lines, &a->lines_capacity, a->n_lines + 1, sizeof(*a->lines));

                if (r < 0)
                        return r;
                line = &a->lines[a->n_lines++];
                *line = (struct annotated_line){
                        .file = key->file, .line = key->line, .is_inlined = true, .has_code = true
                };
        }
        if (row->n_symbols <= 1)
                line->is_inlined = false;
        sample_sum_add(&line->sum, &a->instructions[key->instruction].sum);
        for (uint32_t c = 0; c < n; c++)
                a->line_counters[(a->n_lines - 1) * n + c] +=
                        a->instruction_counters[(size_t)key->instruction * n + c];
        return 0;
}

static int add_lines(struct annotation *a)
{
        size_t n = a->listing.n_instructions;
        struct line_key *keys = calloc(n + 1, sizeof(*keys));
        int r = keys ? 0 : -ENOMEM;

        for (size_t i = 0; i < n && r == 0; i++) {
                const struct listing_instruction *row = &a->listing.instructions[i];

                keys[i].instruction = (uint32_t)i;
                if (row->n_symbols == 0)
                        continue;
                keys[i].file = a->listing.symbols[row->first_symbol].file;
                keys[i].line = a->listing.symbols[row->first_symbol].line;
        }
        if (r == 0)
                qsort(keys, n, sizeof(*keys), compare_keys);
        for (size_t i = 0; i < n && r == 0; i++)
                r = add_line(a, &keys[i]);
        free(keys);
        return r;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static int allocate(struct annotation *a)
{
        size_t n = a->listing.n_instructions + 1;

        a->instructions = calloc(n, sizeof(*a->instructions));
        a->instruction_counters = calloc(n * (a->counters.n_counters + 1), sizeof(*a->instruction_counters));
        a->line_counters = calloc(n * (a->counters.n_counters + 1), sizeof(*a->line_counters));
        if (!a->instructions || !a->instruction_counters || !a->line_counters)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                a->instructions[i].target = UINT32_MAX;
        return 0;
}

static void find_counters(struct annotation *a)
{
        const struct trace_dictionary *d = a->trace->dictionary;
        const struct trace_sample_event *row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS, a->event);

        report_counters_find_group(&a->counters, d, row->leader != 0 ? row->leader : a->event);
}

static bool is_python_module(const struct sampled_trace *trace, uint32_t module)
{
        const struct trace_module *row =
                module != 0 ? trace_dictionary_row(trace->dictionary, TRACE_TABLE_MODULES, module) : NULL;

        return row && row->kind == TRACE_MODULE_PYTHON;
}

int annotation_init(struct annotation *a, const struct sampled_trace *trace,
                    const struct chosen_function *function, uint32_t event,
                    const struct annotation_options *options)
{
        struct place *places = NULL;
        size_t n_places = 0;
        int r;

        *a = (struct annotation){ .trace = trace, .function = *function, .event = event };
        a->unsampled = trace->unsampled;
        unsampled_time_judge(&a->unsampled, trace->dictionary, event, &trace->events[event - 1]);
        a->is_python = is_python_module(trace, function->module);
        code_listing_init(&a->listing);
        find_counters(a);
        r = find_places(a, &places, &n_places);
        if (r != 0)
                goto done;
        r = list(a, options, places, n_places);
        if (r != 0)
                goto done;
        r = allocate(a);
        if (r != 0)
                goto done;
        r = count(a, places, n_places);
        if (r != 0)
                goto done;
        r = find_arrows(a);
        if (r != 0)
                goto done;
        r = add_lines(a);

done:
        free(places);
        return r;
}

void annotation_deinit(struct annotation *a)
{
        code_listing_deinit(&a->listing);
        free(a->instructions);
        free(a->instruction_counters);
        free(a->line_counters);
        free(a->arrows);
        free(a->lines);
}

struct text_view annotation_function_name(const struct trace_dictionary *d,
                                          const struct chosen_function *function)
{
        static const char no_symbol[] = FUNCTION_CHOICE_NO_SYMBOL;

        return function->name != 0 ? trace_dictionary_text(d, function->name)
                                   : (struct text_view){ no_symbol, sizeof(no_symbol) - 1 };
}

struct text_view annotation_string(const struct annotation *a, uint32_t id)
{
        struct text_view string = { .bytes = NULL };

        if (id != 0)
                string.bytes = intern_get(&a->listing.strings, id, &string.n_bytes);
        return string;
}
