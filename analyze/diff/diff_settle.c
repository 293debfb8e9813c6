/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_settle.h"

#include "analyze/diff/diff_names.h"
#include "analyze/diff/diff_run.h"
#include "analyze/trace/function_labels.h"
#include "base/byte_buffer.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ Python */

/* After a Python function became faster, less than half of a run may be below Python functions. */
static bool are_all_python(const struct diff_run *runs, uint32_t n_runs)
{
        bool are_most = false;

        for (uint32_t i = 0; i < n_runs; i++) {
                if (runs[i].n_samples == 0)
                        continue;
                if (!runs[i].folded)
                        return false;
                are_most = are_most || python_parts_are_most(&runs[i].parts);
        }
        return are_most;
}

/*
 * Whether all recordings that have waits or calls have Python functions.  If one does not, native functions
 * are shown as the callers in all of them.
 */
static bool have_all_python(const struct diff_run *runs, uint32_t n_runs)
{
        for (uint32_t i = 0; i < n_runs; i++)
                if (!runs[i].folded && (runs[i].has_waits || runs[i].has_calls))
                        return false;
        return true;
}

/* Whether all names that fit are of native functions, or of waits in them. */
static bool is_about_native(const struct diff_names *names, const struct diff_run *runs, uint32_t n_runs,
                            const char *only)
{
        bool is = false;

        for (uint32_t key = 1; key <= names->keys.n_items; key++) {
                uint32_t kind = diff_names_key(names, key)->kind;
                struct text_view name = diff_names_string(names, diff_names_key(names, key)->name);

                if (!diff_names_fits_glob(name, only))
                        continue;
                is = true;
                if (kind != DIFF_FUNCTION && kind != DIFF_WAIT)
                        return false;
                for (uint32_t i = 0; i < n_runs; i++)
                        if (runs[i].folded && diff_run_sum(runs[i].folded, key).n > 0)
                                return false;
        }
        return is;
}

int diff_python_settle(const struct diff_names *names, struct diff_run *runs, uint32_t n_runs,
                       const char *only)
{
        bool folds_functions = are_all_python(runs, n_runs), folds_calls = have_all_python(runs, n_runs);
        int r = 0;

        if (only && is_about_native(names, runs, n_runs, only))
                return 0;
        for (uint32_t i = 0; i < n_runs && r == 0; i++) {
                if (runs[i].folded && folds_functions)
                        r = diff_run_fold(&runs[i], names);
                if (r == 0 && runs[i].folded && folds_calls)
                        r = diff_run_fold_calls(&runs[i], names);
        }
        return r;
}

/* ------------------------------------------------------------------ identity */

/* A function of some run. */
struct entry {
        struct diff_key key;
        uint32_t id; /* of the key */
        bool is_before, is_after;
        uint32_t same; /* the id that it gets */
};

struct settling {
        struct diff_names *names;
        struct diff_run *runs;
        uint32_t n_before, n_runs;
        struct entry *entries; /* heap; by module and name, then by file, line and instance */
        size_t n;
};

static int compare_u32(uint32_t a, uint32_t b)
{
        return a < b ? -1 : a > b;
}

static int compare(const void *a, const void *b)
{
        const struct entry *x = a, *y = b;
        int r = compare_u32(x->key.module, y->key.module);

        if (r == 0)
                r = compare_u32(x->key.name, y->key.name);
        if (r == 0)
                r = compare_u32(x->key.file, y->key.file);
        if (r == 0)
                r = compare_u32(x->key.line, y->key.line);
        return r != 0 ? r : compare_u32(x->key.instance, y->key.instance);
}

static bool is_in_runs(const struct settling *s, uint32_t id, uint32_t from, uint32_t to)
{
        for (uint32_t i = from; i < to; i++)
                if (diff_run_sum(&s->runs[i], id).n > 0)
                        return true;
        return false;
}

static int list_entries(struct settling *s)
{
        uint32_t n_keys = s->names->keys.n_items;

        s->entries = calloc((size_t)n_keys + 1, sizeof(*s->entries));
        if (!s->entries)
                return -ENOMEM;
        for (uint32_t id = 1; id <= n_keys; id++) {
                struct entry entry = { .key = *diff_names_key(s->names, id), .id = id, .same = id };

                if (entry.key.kind != DIFF_FUNCTION)
                        continue;
                entry.is_before = is_in_runs(s, id, 0, s->n_before);
                entry.is_after = is_in_runs(s, id, s->n_before, s->n_runs);
                if (entry.is_before || entry.is_after) /* native ones may count for Python functions */
                        s->entries[s->n++] = entry;
        }
        qsort(s->entries, s->n, sizeof(*s->entries), compare);
        return 0;
}

/* ---- matching ------------------------------------------------------------------------------------------ */

static size_t count_on(const struct entry *entries, size_t n, bool before)
{
        size_t count = 0;

        for (size_t i = 0; i < n; i++)
                count += before ? entries[i].is_before : entries[i].is_after;
        return count;
}

/* The next entry from @at on that is on one side alone; @n if there is none. */
static size_t next_alone(const struct entry *entries, size_t n, size_t at, bool before)
{
        while (at < n && (entries[at].is_before != before || entries[at].is_after == before))
                at++;
        return at;
}

/*
 * Matches the entries of one file that exist on one side alone, in their order, if both sides have equally
 * many.
 */
static void match_file(struct entry *entries, size_t n)
{
        size_t before = 0, after = 0;

        if (count_on(entries, n, true) != count_on(entries, n, false))
                return;
        while ((before = next_alone(entries, n, before, true)) < n &&
               (after = next_alone(entries, n, after, false)) < n) {
                entries[before].same = entries[after].id;
                before++;
                after++;
        }
}

/* An entry from after the change stands for all, because readers look at the present code. */
static void match_all(struct entry *entries, size_t n)
{
        size_t chosen = 0;

        while (chosen + 1 < n && !entries[chosen].is_after)
                chosen++;
        for (size_t i = 0; i < n; i++)
                entries[i].same = entries[chosen].id;
}

/* The functions of one name and module. */
static void match_name(struct entry *entries, size_t n)
{
        size_t end;

        /* If any entry has no file, the first one in the order has none. */
        if (entries[0].key.file == 0 ||
            (count_on(entries, n, true) <= 1 && count_on(entries, n, false) <= 1)) {
                match_all(entries, n);
                return;
        }
        for (size_t i = 0; i < n; i = end) {
                for (end = i + 1; end < n && entries[end].key.file == entries[i].key.file; end++)
                        ;
                match_file(entries + i, end - i);
        }
}

static int move_sums(struct settling *s, const struct entry *entry)
{
        int r = 0;

        for (uint32_t i = 0; i < s->n_runs && r == 0 && entry->same != entry->id; i++)
                r = diff_run_move(&s->runs[i], entry->id, entry->same);
        return r;
}

/* ---- names --------------------------------------------------------------------------------------------- */

/* How many functions are left. */
static size_t count_left(const struct entry *entries, size_t n)
{
        size_t count = 0;

        for (size_t i = 0; i < n; i++)
                count += entries[i].same == entries[i].id;
        return count;
}

static int show_entry(struct settling *s, const struct entry *entry, bool with_line)
{
        struct text_view name = diff_names_string(s->names, entry->key.name);
        struct text_view file = diff_names_string(s->names, entry->key.file);
        struct byte_buffer out = { .data = NULL };
        int r = 0;

        byte_buffer_add(&out, name.bytes, name.n_bytes);
        byte_buffer_add(&out, " (", 2);
        byte_buffer_add(&out, file.bytes, file.n_bytes);
        if (with_line && entry->key.line != 0)
                function_labels_put_place(&out, name, entry->key.line, entry->key.instance,
                                          entry->key.instance != 0);
        byte_buffer_add_u8(&out, ')');
        if (out.failed)
                r = -ENOMEM;
        else
                r = intern_add(&s->names->strings, out.data, out.used_bytes, &s->names->shown[entry->id]);
        byte_buffer_deinit(&out);
        return r == -ENOMEM ? r : 0; /* without room it keeps its name */
}

static int show(struct settling *s, const struct entry *entries, size_t n)
{
        size_t end;
        int r = 0;

        for (size_t i = 0; i < n && r == 0; i = end) {
                bool with_line;

                for (end = i + 1; end < n && entries[end].key.file == entries[i].key.file; end++)
                        ;
                with_line = count_left(entries + i, end - i) > 1;
                for (size_t k = i; k < end && r == 0; k++)
                        if (entries[k].same == entries[k].id && entries[k].key.file != 0)
                                r = show_entry(s, &entries[k], with_line);
        }
        return r;
}

static int settle_name(struct settling *s, struct entry *entries, size_t n)
{
        int r = 0;

        if (n < 2)
                return 0;
        match_name(entries, n);
        for (size_t i = 0; i < n && r == 0; i++)
                r = move_sums(s, &entries[i]);
        return r == 0 && count_left(entries, n) > 1 ? show(s, entries, n) : r;
}

int diff_identity_settle(struct diff_names *names, struct diff_run *runs, uint32_t n_before, uint32_t n_after)
{
        struct settling s = {
                .names = names, .runs = runs, .n_before = n_before, .n_runs = n_before + n_after
        };
        size_t end;
        int r = list_entries(&s);

        names->shown = r == 0 ? calloc((size_t)names->keys.n_items + 1, sizeof(*names->shown)) : NULL;
        if (!names->shown)
                r = -ENOMEM;
        else
                names->n_shown = names->keys.n_items;
        for (size_t i = 0; i < s.n && r == 0; i = end) {
                for (end = i + 1; end < s.n && s.entries[end].key.module == s.entries[i].key.module &&
                                  s.entries[end].key.name == s.entries[i].key.name;
                     end++)
                        ;
                r = settle_name(&s, s.entries + i, end - i);
        }
        free(s.entries);
        return r;
}
