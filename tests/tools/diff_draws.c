/* SPDX-License-Identifier: MIT */
/*
 * How often `hyprof diff` is wrong, and how often it finds a change, on recordings whose truth is known:
 *
 *      diff_draws FOLDER FUNCTION [ZONE...]     a line of counts
 *      diff_draws --values FOLDER               a line for each function and zone of each run
 *
 * FOLDER holds recordings of one program, a01.hyp, a02.hyp, ..., and as many b01.hyp, ... of the same program
 * in which FUNCTION (a part of its name is enough) does more work; the ZONEs contain it.  Groups of runs are
 * drawn at random and compared as `hyprof diff` compares them; the random numbers are always the same.
 */
#include "analyze/diff/diff_comparison.h"
#include "analyze/diff/diff_run.h"
#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "tests/unit/fixed_random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_RUNS_MAX 64
#define N_DRAWS    400
#define PLANTED    0.05

struct draws {
        const char *folder, *function;
        char **zones;
        int n_zones;
        struct diff_names names;
        struct diff_run runs[2][N_RUNS_MAX];
        uint32_t n_runs;
        uint64_t random;
};

/*
 * About comparisons: how many there were, called anything significant, the function, anything else; and did
 * not find the function, but said that a change of PLANTED might be missed.
 */
struct counts {
        uint32_t n, n_any, n_found, n_other, n_said;
};

static void load(struct draws *d, int side, uint32_t index)
{
        struct diff_run_request request = { .filter = NULL };
        struct loaded_trace trace;
        struct error err = ERROR_NONE;
        char path[4096];
        int r;

        (void)snprintf(path, sizeof(path), "%s/%c%02u.hyp", d->folder, side == 0 ? 'a' : 'b', index + 1);
        r = loaded_trace_open(&trace, path, &err);
        if (r == 0)
                r = diff_run_load(&d->runs[side][index], &d->names, &trace, &request, &err);
        loaded_trace_close(&trace);
        if (r == 0)
                return;
        (void)fprintf(stderr, "diff_draws: %s: %s\n", path, err.text);
        exit(1);
}

static bool exists(const struct draws *d, int side, uint32_t index)
{
        char path[4096];

        (void)snprintf(path, sizeof(path), "%s/%c%02u.hyp", d->folder, side == 0 ? 'a' : 'b', index + 1);
        return access(path, R_OK) == 0;
}

static void load_all(struct draws *d)
{
        while (d->n_runs < N_RUNS_MAX && exists(d, 0, d->n_runs) && exists(d, 1, d->n_runs)) {
                load(d, 0, d->n_runs);
                load(d, 1, d->n_runs);
                d->n_runs++;
        }
        if (d->n_runs >= 2)
                return;
        (void)fprintf(stderr, "diff_draws: %s: no a01.hyp, a02.hyp, b01.hyp and b02.hyp\n", d->folder);
        exit(1);
}

static const struct diff_key *key_of(const struct draws *d, const struct diff_item *item)
{
        return diff_names_key(&d->names, item->key_after != 0 ? item->key_after : item->key_before);
}

static bool has_name(const struct draws *d, const struct diff_item *item, const char *part, bool whole)
{
        struct text_view name = diff_names_string(&d->names, key_of(d, item)->name);

        if (whole)
                return name.n_bytes == strlen(part) && memcmp(name.bytes, part, name.n_bytes) == 0;
        return name.n_bytes > 0 && memmem(name.bytes, name.n_bytes, part, strlen(part)) != NULL;
}

static bool is_planted(const struct draws *d, const struct diff_item *item)
{
        if (item->kind == DIFF_FUNCTION)
                return has_name(d, item, d->function, false);
        for (int i = 0; i < d->n_zones; i++)
                if (has_name(d, item, d->zones[i], true))
                        return true;
        return false;
}

/* @runs: @n of one group, then of the other. */
static void compare(const struct draws *d, const struct diff_run *const *runs, uint32_t n,
                    struct counts *counts)
{
        struct diff_options options = diff_options_default();
        struct diff_comparison c;
        bool is_found = false, is_other = false, is_said = true;

        if (diff_comparison_init(&c, &d->names, runs, n, n, &options) < 0)
                abort();
        for (size_t i = 0; i < c.n_items; i++) {
                const struct diff_item *item = &c.items[i];

                if (item->kind == DIFF_FUNCTION && item->doubt == DIFF_JUDGED && is_planted(d, item) &&
                    diff_comparison_detectable(&c, item, n, n) <= PLANTED)
                        is_said = false;
                if (!item->is_significant)
                        continue;
                if (!is_planted(d, item))
                        is_other = true;
                else if (item->kind == DIFF_FUNCTION && item->verdict.change > 0)
                        is_found = true;
                if (getenv("DIFF_DRAWS_VERBOSE")) {
                        struct text_view name = diff_names_string(&d->names, key_of(d, item)->name);

                        (void)fprintf(stderr, "%u\t%.*s\t%+.3f\t%.4f\t%g\t%llu\n", n, (int)name.n_bytes,
                                      name.bytes, item->verdict.change, item->verdict.se, item->verdict.p,
                                      (unsigned long long)item->n_before / n);
                }
        }
        counts->n++;
        counts->n_any += c.n_significant > 0;
        counts->n_found += is_found;
        counts->n_other += is_other;
        counts->n_said += !is_found && is_said;
        diff_comparison_deinit(&c);
}

/* The first @n of @order become random ones of all. */
static void draw(struct draws *d, uint32_t *order, uint32_t n)
{
        for (uint32_t i = 0; i < d->n_runs; i++)
                order[i] = i;
        for (uint32_t i = 0; i < n && i < d->n_runs; i++) {
                uint32_t j = i + (uint32_t)((fixed_random_next(&d->random) >> 32) % (d->n_runs - i));
                uint32_t other = order[j];

                order[j] = order[i];
                order[i] = other;
        }
}

static struct counts compare_pairs(const struct draws *d)
{
        struct counts counts = { .n = 0 };

        for (uint32_t i = 0; i < d->n_runs; i++)
                for (uint32_t j = i + 1; j < d->n_runs; j++) {
                        const struct diff_run *runs[] = { &d->runs[0][i], &d->runs[0][j] };

                        compare(d, runs, 1, &counts);
                }
        return counts;
}

/* Two groups of one program: anything is false. */
static struct counts compare_alike(struct draws *d, uint32_t n)
{
        struct counts counts = { .n = 0 };
        const struct diff_run *runs[2 * N_RUNS_MAX];
        uint32_t order[N_RUNS_MAX];

        for (int i = 0; i < N_DRAWS && 2 * n <= d->n_runs; i++) {
                draw(d, order, 2 * n);
                for (uint32_t j = 0; j < 2 * n; j++)
                        runs[j] = &d->runs[0][order[j]];
                compare(d, runs, n, &counts);
        }
        return counts;
}

static struct counts compare_changed(struct draws *d, uint32_t n)
{
        struct counts counts = { .n = 0 };
        const struct diff_run *runs[2 * N_RUNS_MAX];
        uint32_t order[N_RUNS_MAX];

        for (int i = 0; i < N_DRAWS && n <= d->n_runs; i++) {
                for (int side = 0; side < 2; side++) {
                        draw(d, order, n);
                        for (uint32_t j = 0; j < n; j++)
                                runs[(uint32_t)side * n + j] = &d->runs[side][order[j]];
                }
                compare(d, runs, n, &counts);
        }
        return counts;
}

/* The most samples of a function of this name in one run, and the logarithm of their weight. */
static uint64_t samples_of_run(const struct draws *d, const struct diff_run *run, double *ret_log)
{
        uint64_t most = 0;

        for (uint32_t key = 1; key <= d->names.keys.n_items; key++) {
                struct diff_item item = { .key_before = key, .key_after = key };
                struct diff_sum sum = diff_run_sum(run, key);

                item.kind = (enum diff_kind)diff_names_key(&d->names, key)->kind;
                if (item.kind != DIFF_FUNCTION || !has_name(d, &item, d->function, false) || sum.n <= most)
                        continue;
                most = sum.n;
                *ret_log = log(sum.cpu);
        }
        return most;
}

/* Returns the fewest samples of the function in a run; @ret_deviation: by how much runs differ in it. */
static uint64_t samples_of_function(const struct draws *d, double *ret_deviation)
{
        double logs[N_RUNS_MAX] = { 0 }, mean = 0, squares = 0;
        uint64_t fewest = UINT64_MAX;

        for (uint32_t run = 0; run < d->n_runs; run++) {
                uint64_t n = samples_of_run(d, &d->runs[0][run], &logs[run]);

                mean += logs[run] / d->n_runs;
                if (n < fewest)
                        fewest = n;
        }
        for (uint32_t run = 0; run < d->n_runs; run++)
                squares += (logs[run] - mean) * (logs[run] - mean);
        *ret_deviation = sqrt(squares / (d->n_runs - 1));
        return fewest;
}

static void print_counts(struct counts c)
{
        printf("\t%u\t%u\t%u\t%u\t%u", c.n, c.n_any, c.n_found, c.n_other, c.n_said);
}

static void print_rates(struct draws *d)
{
        const char *slash = strrchr(d->folder, '/');
        double deviation;
        uint64_t n_samples = samples_of_function(d, &deviation);

        printf("%s\t%llu\t%.5f", slash ? slash + 1 : d->folder, (unsigned long long)n_samples, deviation);
        print_counts(compare_pairs(d));
        print_counts(compare_alike(d, 5));
        print_counts(compare_changed(d, 5));
        print_counts(compare_alike(d, 8));
        print_counts(compare_changed(d, 8));
        printf("\n");
}

/* Among the items that a comparison of all runs would judge. */
static void print_values(const struct draws *d)
{
        struct diff_options options = diff_options_default();
        const struct diff_run *runs[N_RUNS_MAX];
        struct diff_comparison c;

        for (uint32_t i = 0; i < d->n_runs; i++)
                runs[i] = &d->runs[0][i];
        if (diff_comparison_init(&c, &d->names, runs, 1, d->n_runs - 1, &options) < 0)
                abort();
        for (size_t i = 0; i < c.n_items; i++) {
                const struct diff_item *item = &c.items[i];
                struct text_view name = diff_names_string(&d->names, key_of(d, item)->name);

                for (uint32_t run = 0; item->doubt == DIFF_JUDGED && run < d->n_runs; run++)
                        printf("%s\t%s\t%u\t%.*s\t%.9g\t%.9g\n", d->folder,
                               item->kind == DIFF_ZONE ? "zone"
                               : item->is_kernel       ? "kernel"
                                                       : "function",
                               run + 1, (int)name.n_bytes, name.bytes,
                               log(diff_item_value(item, runs[run], &options.basis, false)),
                               diff_item_count_variance(item, runs[run], &options.basis, false));
        }
        diff_comparison_deinit(&c);
}

int main(int argc, char **argv)
{
        bool is_values = argc == 3 && strcmp(argv[1], "--values") == 0;
        static struct draws d = { .random = 1 };

        if (argc < 3) {
                (void)fprintf(stderr, "usage: diff_draws FOLDER FUNCTION [ZONE...] | --values FOLDER\n");
                return 2;
        }
        d.folder = argv[is_values ? 2 : 1];
        d.function = argv[2];
        d.zones = argv + 3;
        d.n_zones = argc - 3;
        diff_names_init(&d.names);
        load_all(&d);
        if (is_values)
                print_values(&d);
        else
                print_rates(&d);
        for (int side = 0; side < 2; side++)
                for (uint32_t i = 0; i < d.n_runs; i++)
                        diff_run_deinit(&d.runs[side][i]);
        diff_names_deinit(&d.names);
        return 0;
}
