/* SPDX-License-Identifier: MIT */
#include "sampler/jit/renamed_code.h"

#include "base/array.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/pace/pace.h"

#include <errno.h>
#include <stdlib.h>

void renamed_code_deinit(struct renamed_code *r)
{
        free(r->lines);
        free(r->fresh);
        free(r->changes);
        *r = (struct renamed_code){ .n_made = 0 };
}

void renamed_code_note(struct renamed_code *r, const struct perf_mmap *mmap, uint64_t time_ns)
{
        const struct made_executable made = { .start_avma = mmap->start_avma,
                                              .end_avma = mmap->start_avma + mmap->length_bytes,
                                              .time_ns = time_ns };
        struct made_executable *oldest;

        r->writes_code = r->writes_code || mmap->writable || mmap->is_shared;
        for (size_t i = 0; i < r->n_made && i < RENAMED_CODE_MADE_MAX; i++)
                if (r->made[i].time_ns == time_ns && r->made[i].start_avma == made.start_avma)
                        return;
        oldest = &r->made[r->n_made % RENAMED_CODE_MADE_MAX];
        r->is_unsure = r->is_unsure || (r->n_made >= RENAMED_CODE_MADE_MAX && !oldest->is_taken);
        r->n_made++;
        *oldest = made;
}

static bool overlaps(const struct trace_code_region *row, uint64_t start_avma, uint64_t end_avma)
{
        return row->start_avma < end_avma && start_avma < row->start_avma + row->length_bytes;
}

static bool overlap(const struct trace_code_region *a, const struct trace_code_region *b)
{
        return overlaps(a, b->start_avma, b->start_avma + b->length_bytes);
}

bool renamed_code_waits(const struct renamed_code *r, const struct trace_code_region *row)
{
        for (size_t i = r->first; i < r->n_changes; i++)
                if (overlap(&r->changes[i].row, row))
                        return true;
        for (size_t i = 0; i < r->n_lines; i++)
                if (overlap(&r->lines[i].row, row))
                        return true;
        return false;
}

int renamed_code_add(struct renamed_code *r, const struct trace_code_region *row)
{
        int code = array_reserve(&r->lines, &r->lines_capacity, r->n_lines + 1, sizeof(*r->lines));

        if (code == 0)
                r->lines[r->n_lines++] = (struct renamed_change){ .row = *row, .number = r->n_numbers++ };
        return code;
}

int renamed_code_add_fresh(struct renamed_code *r, const struct trace_code_region *row)
{
        int code = array_reserve(&r->fresh, &r->fresh_capacity, r->n_fresh + 1, sizeof(*r->fresh));

        if (code == 0)
                r->fresh[r->n_fresh++] = (struct renamed_change){ .row = *row, .number = r->n_numbers++ };
        return code;
}

/* A line of a reading while the lines are sorted. */
struct sorted_line {
        const struct renamed_change *line;
        uint32_t fresh; /* its index in `fresh` plus one; 0 = not in `fresh` */
        bool shares;    /* memory with another line */
};

static int compare_numbers(uint64_t left, uint64_t right)
{
        return left < right ? -1 : left > right;
}

/* Zero members have the same meaning. */
static int compare_rows(const struct trace_code_region *x, const struct trace_code_region *y)
{
        int by_start = compare_numbers(x->start_avma, y->start_avma);
        int by_length = compare_numbers(x->length_bytes, y->length_bytes);

        return by_start != 0 ? by_start : by_length != 0 ? by_length : compare_numbers(x->name, y->name);
}

static int compare_sorted(const void *a, const void *b)
{
        const struct sorted_line *x = a, *y = b;

        return compare_rows(&x->line->row, &y->line->row);
}

static int compare_lines(const void *a, const void *b)
{
        const struct renamed_change *x = a, *y = b;

        return x->number < y->number ? -1 : x->number > y->number;
}

/*
 * In the order of their starts, a line shares memory with the earlier line that reaches furthest, or with
 * no earlier line.  A repeated line counts as one.
 */
static void mark_shared(struct sorted_line *lines, size_t n)
{
        size_t furthest = 0;

        qsort(lines, n, sizeof(*lines), compare_sorted);
        for (size_t i = 1; i < n; i++) {
                const struct trace_code_region *before = &lines[furthest].line->row,
                                               *row = &lines[i].line->row;

                if (row->start_avma < before->start_avma + before->length_bytes &&
                    compare_rows(row, before) != 0)
                        lines[i].shares = lines[furthest].shares = true;
                if (row->start_avma + row->length_bytes > before->start_avma + before->length_bytes)
                        furthest = i;
        }
        for (size_t i = 1; i < n; i++)
                if (lines[i - 1].shares && compare_rows(&lines[i].line->row, &lines[i - 1].line->row) == 0)
                        lines[i].shares = true;
        for (size_t i = n - 1; i > 0; i--)
                if (lines[i].shares && compare_rows(&lines[i].line->row, &lines[i - 1].line->row) == 0)
                        lines[i - 1].shares = true;
}

/* Moves the marked ones of `fresh` to `lines`. */
static int move_shared(struct renamed_code *r, const bool *shares)
{
        size_t n_kept = 0;
        int code = array_reserve(&r->lines, &r->lines_capacity, r->n_lines + r->n_fresh, sizeof(*r->lines));

        if (code < 0)
                return code;
        for (size_t i = 0; i < r->n_fresh; i++)
                if (shares[i])
                        r->lines[r->n_lines++] = r->fresh[i];
                else
                        r->fresh[n_kept++] = r->fresh[i];
        r->n_fresh = n_kept;
        qsort(r->lines, r->n_lines, sizeof(*r->lines), compare_lines);
        return 0;
}

/*
 * Marks the moments at which the code of these lines was made executable: no other line is about those
 * moments.
 */
static void use_fresh(struct renamed_code *r)
{
        for (size_t i = 0; i < r->n_fresh; i++)
                for (size_t k = 0; k < r->n_made && k < RENAMED_CODE_MADE_MAX; k++)
                        if (overlaps(&r->fresh[i].row, r->made[k].start_avma, r->made[k].end_avma))
                                r->made[k].is_used = true;
}

int renamed_code_sort(struct renamed_code *r)
{
        size_t n = r->n_fresh + r->n_lines;
        struct sorted_line *lines;
        bool *shares;
        int code = -ENOMEM;

        r->n_numbers = 0;
        if (n < 2 || r->n_fresh == 0) {
                use_fresh(r);
                return 0;
        }
        lines = calloc(n, sizeof(*lines));
        shares = calloc(r->n_fresh, sizeof(*shares));
        for (size_t i = 0; lines && i < n; i++) {
                bool is_fresh = i < r->n_fresh;

                lines[i].line = is_fresh ? &r->fresh[i] : &r->lines[i - r->n_fresh];
                lines[i].fresh = is_fresh ? (uint32_t)i + 1 : 0;
        }
        if (lines && shares) {
                mark_shared(lines, n);
                for (size_t i = 0; i < n; i++)
                        if (lines[i].fresh > 0)
                                shares[lines[i].fresh - 1] = lines[i].shares;
                code = move_shared(r, shares);
        }
        use_fresh(r);
        free(shares);
        free(lines);
        return code;
}

static int add_change(struct renamed_code *r, const struct trace_code_region *row)
{
        size_t at;

        if (r->first > 0 && r->first == r->n_changes) {
                r->first = 0;
                r->n_changes = 0;
        }
        if (array_reserve(&r->changes, &r->changes_capacity, r->n_changes + 1, sizeof(*r->changes)) < 0)
                return -ENOMEM;
        for (at = r->n_changes; at > r->first && r->changes[at - 1].row.time_ns > row->time_ns; at--)
                r->changes[at] = r->changes[at - 1];
        r->changes[at].row = *row;
        r->n_changes++;
        return 0;
}

/* Whether this memory was made executable at that moment, and no line of an earlier reading is about it. */
static bool is_candidate(const struct made_executable *made, const struct trace_code_region *row,
                         uint64_t until_ns)
{
        return !made->is_taken && made->time_ns <= until_ns &&
               overlaps(row, made->start_avma, made->end_avma);
}

/* The times at which some memory was made executable, and which had no line yet. */
struct candidates {
        size_t n, n_early; /* n_early of them before the last reading */
        uint64_t newest_ns;
};

/*
 * Do these moments belong to @n_wanted lines?  One more moment may still wait for its line.  If some
 * moments get no line, or get it too late, this is certain only if the file was changed after all of them.
 */
static bool fit(const struct renamed_code *r, const struct candidates *c,
                const struct renamed_reading *reading, size_t n_wanted)
{
        if (r->has_lineless)
                return c->n_early == 0 && c->n == n_wanted && c->newest_ns <= reading->changed_ns;
        return c->n == n_wanted || c->n == n_wanted + 1;
}

/*
 * Returns the time number @n at which this memory was made executable, and marks it as used.  Returns 0 if
 * these times are not those of @n_wanted lines.
 */
static uint64_t find_moment(struct renamed_code *r, const struct trace_code_region *row,
                            const struct renamed_reading *reading, size_t n, size_t n_wanted)
{
        struct made_executable *found = NULL;
        struct candidates all = { .n = 0 };

        for (size_t i = 0; i < r->n_made && i < RENAMED_CODE_MADE_MAX; i++) {
                struct made_executable *m = &r->made[i];
                size_t n_before = 0;

                if (!is_candidate(m, row, reading->now_ns))
                        continue;
                all.n++;
                all.n_early += m->time_ns <= r->read_ns;
                if (m->time_ns > all.newest_ns)
                        all.newest_ns = m->time_ns;
                for (size_t k = 0; !found && k < r->n_made && k < RENAMED_CODE_MADE_MAX; k++)
                        n_before += r->made[k].time_ns < m->time_ns &&
                                    is_candidate(&r->made[k], row, reading->now_ns);
                if (!found && n_before == n)
                        found = m;
        }
        if (!found || !fit(r, &all, reading, n_wanted))
                return 0;
        found->is_used = true;
        return found->time_ns;
}

/* Returns how many lines are about the same memory; @ret_before: those that come before this one. */
static size_t count_alike(const struct renamed_code *r, size_t line, size_t *ret_before)
{
        size_t n = 0;

        *ret_before = 0;
        for (size_t i = 0; i < r->n_lines; i++) {
                if (!overlap(&r->lines[i].row, &r->lines[line].row))
                        continue;
                n++;
                *ret_before += i < line;
        }
        return n;
}

/*
 * Pending changes in the window that begins at @since_ns are in doubt: earlier readings took their name for
 * that of the last line, and did not know that the code was replaced once more.
 */
static void doubt_changes(struct renamed_code *r, const struct trace_code_region *row, uint64_t since_ns)
{
        for (size_t i = r->first; i < r->n_changes; i++) {
                struct renamed_change change = r->changes[i];
                size_t at;

                if (change.row.time_ns <= since_ns || !overlap(&change.row, row))
                        continue;
                change.row.time_ns = since_ns;
                change.row.gone = 1;
                for (at = i; at > r->first && r->changes[at - 1].row.time_ns > since_ns; at--)
                        r->changes[at] = r->changes[at - 1];
                r->changes[at] = change;
        }
}

/*
 * From the beginning of the window on, the memory has no name; from its end on, it has the name of the line,
 * or of the last line if there are several.
 */
static int add_window(struct renamed_code *r, struct trace_code_region *row, bool is_last,
                      const struct renamed_reading *reading)
{
        /*
         * Lines that were read existed at the end of the reading, where the window of the next reading
         * begins.
         */
        uint64_t from_ns = r->read_ns,
                 until_ns = reading->empty_ns > from_ns ? reading->empty_ns : reading->now_ns;
        struct trace_code_region unknown = *row;
        int code = 0;

        if (reading->n_lines == 1 && reading->changed_ns > from_ns && reading->changed_ns < until_ns)
                from_ns = reading->changed_ns;
        if (reading->changed_until_ns > from_ns && reading->changed_until_ns < until_ns)
                until_ns = reading->changed_until_ns;
        unknown.time_ns = from_ns;
        unknown.gone = 1;
        row->time_ns = until_ns;
        if (until_ns > from_ns) {
                doubt_changes(r, row, from_ns);
                code = add_change(r, &unknown);
        }
        return code == 0 && is_last ? add_change(r, row) : code;
}

/* A sample from before the first reading may belong to any of its lines about the same memory. */
static int doubt_earlier(struct renamed_code *r, const struct trace_code_region *row, uint64_t moment_ns)
{
        struct trace_code_region unknown = *row;

        unknown.time_ns = moment_ns - 1;
        unknown.gone = 1;
        return add_change(r, &unknown);
}

static int add_line(struct renamed_code *r, size_t line, const struct renamed_reading *reading)
{
        struct trace_code_region row = r->lines[line].row;
        size_t n = 1, n_before = 0;
        uint64_t moment_ns = 0;

        if (r->n_lines <= RENAMED_CODE_LINES_MAX) {
                n = count_alike(r, line, &n_before);
                if (!r->writes_code && !r->is_unsure)
                        moment_ns = find_moment(r, &row, reading, n_before, n);
        }
        if (moment_ns == 0) {
                r->is_unsure = true;
                return add_window(r, &row, n_before + 1 == n, reading);
        }
        if (r->read_ns == 0 && n > 1 && n_before == 0 && doubt_earlier(r, &row, moment_ns) < 0)
                return -ENOMEM;
        row.time_ns = moment_ns > r->read_ns ? moment_ns : r->read_ns + 1;
        return add_change(r, &row);
}

/*
 * Marks moments that have their lines as taken.  The line of a recent moment may still be written: samples
 * since that moment keep waiting.
 */
static void settle(struct renamed_code *r, const struct renamed_reading *reading)
{
        uint64_t since_ns = r->read_ns, newest_ns = 0;

        for (size_t i = 0; i < r->n_made && i < RENAMED_CODE_MADE_MAX; i++) {
                struct made_executable *m = &r->made[i];

                m->is_taken = m->is_taken || m->is_used;
                if (!m->is_taken && m->time_ns + PACE_JIT_SETTLED_NS < r->read_ns)
                        m->is_taken = r->has_lineless = true;
                m->is_used = false;
                if (m->time_ns > newest_ns)
                        newest_ns = m->time_ns;
                if (!m->is_taken && m->time_ns <= since_ns && m->time_ns + reading->lag_ns > reading->now_ns)
                        since_ns = m->time_ns - 1;
        }
        if (newest_ns + PACE_JIT_SETTLED_NS < r->read_ns)
                r->is_unsure = false;
        r->read_ns = since_ns;
}

int renamed_code_end_reading(struct renamed_code *r, const struct renamed_reading *reading)
{
        bool is_young = reading->changed_until_ns == 0 ||
                        reading->changed_until_ns + PACE_JIT_YOUNG_NS > reading->now_ns;
        int code = 0;

        for (size_t i = 0; i < r->n_lines && code == 0; i++) {
                if (r->read_ns > 0 || is_young)
                        code = add_line(r, i, reading);
                else /* an old map, read for the first time: the last line counts */
                        code = add_change(r, &r->lines[i].row);
        }
        r->n_lines = 0;
        r->read_ns = reading->empty_ns;
        settle(r, reading);
        return code;
}

uint64_t renamed_code_next_ns(const struct renamed_code *r)
{
        return r->first < r->n_changes ? r->changes[r->first].row.time_ns : UINT64_MAX;
}

bool renamed_code_next(struct renamed_code *r, uint64_t until_ns, struct trace_code_region *ret_row)
{
        if (r->first == r->n_changes || r->changes[r->first].row.time_ns > until_ns)
                return false;
        *ret_row = r->changes[r->first++].row;
        return true;
}
