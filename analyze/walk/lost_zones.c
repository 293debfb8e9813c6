/* SPDX-License-Identifier: MIT */
#include "analyze/walk/lost_zones.h"

#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The counts of one program: each zone that it began is in one of these counts. */
struct program_zones {
        uint64_t n_lost, n_recorded;
};

static bool is_wanted(const struct trace_walk *walk, uint32_t thread)
{
        return !walk->filter || trace_filter_wants_thread(walk->filter, thread);
}

static bool is_range(const struct trace_filter *filter)
{
        return filter && (filter->from_ns != 0 || filter->to_ns != UINT64_MAX);
}

static struct program_zones *program_of(const struct trace_walk *walk, struct program_zones *programs,
                                        uint32_t thread)
{
        const struct trace_thread *row = trace_dictionary_row(walk->dictionary, TRACE_TABLE_THREADS, thread);

        return &programs[row->process];
}

/* Whether the reason counts events of a program, of whatever kind. */
static bool may_be_zones(enum trace_loss_reason reason)
{
        static const bool may_be[TRACE_LOSS_COUNT] = {
                [TRACE_LOSS_CLIENT_NO_RING] = true, [TRACE_LOSS_CLIENT_GARBAGE] = true,
                [TRACE_LOSS_CLIENT_GONE] = true,    [TRACE_LOSS_CLIENT_REFUSED] = true,
                [TRACE_LOSS_CLIENT_BUSY] = true,    [TRACE_LOSS_CLIENT_UNREAD] = true,
                [TRACE_LOSS_CLIENT_NO_ROOM] = true, [TRACE_LOSS_CLIENT_NO_FILES] = true,
                [TRACE_LOSS_NOT_TAKEN] = true,      [TRACE_LOSS_TAKEN_BEFORE] = true,
                [TRACE_LOSS_THREAD_UNKNOWN] = true, [TRACE_LOSS_CLIENT_NO_SPACE] = true,
                [TRACE_LOSS_CLIENT_JOINED] = true,
        };

        return reason < TRACE_LOSS_COUNT && may_be[reason];
}

static void count_lost(struct lost_zones *lost, const struct trace_walk *walk, struct program_zones *programs)
{
        const struct trace_dictionary *d = walk->dictionary;

        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_LOSSES); i++) {
                const struct trace_loss *loss = trace_dictionary_row(d, TRACE_TABLE_LOSSES, i);

                lost->has_others |= may_be_zones(loss->reason);
                if (loss->reason != TRACE_LOSS_DROPPED_ZONES && loss->reason != TRACE_LOSS_ZONE_TOO_DEEP)
                        continue;
                if (loss->thread != 0 && !is_wanted(walk, loss->thread))
                        continue;
                lost->n_lost += loss->count;
                if (loss->thread != 0)
                        program_of(walk, programs, loss->thread)->n_lost += loss->count;
                else
                        programs[0].n_lost += loss->count; /* whose is not known */
        }
}

static void count_recorded(const struct trace_walk *walk, struct program_zones *programs)
{
        for (uint32_t i = 0; i < walk->n_threads; i++)
                if (walk->threads[i].timeline.n_zones != 0 && is_wanted(walk, i + 1))
                        program_of(walk, programs, i + 1)->n_recorded += walk->threads[i].timeline.n_zones;
}

/* Losses of an unknown thread belong to the only program, if there is just one. */
static void find_share(struct lost_zones *lost, struct program_zones *programs, uint32_t n_programs)
{
        uint32_t n_with_zones = 0, last = 0;

        for (uint32_t i = 1; i <= n_programs; i++)
                if (programs[i].n_lost != 0 || programs[i].n_recorded != 0) {
                        n_with_zones++;
                        last = i;
                }
        lost->is_one_program = n_with_zones <= 1;
        if (n_with_zones == 1)
                programs[last].n_lost = lost->n_lost;
        for (uint32_t i = 1; i <= n_programs; i++) {
                double n_lost = (double)programs[i].n_lost;
                double share = n_lost > 0 ? n_lost / (n_lost + (double)programs[i].n_recorded) : 0;

                if (share > lost->share)
                        lost->share = share;
        }
}

int lost_zones_find(struct lost_zones *ret, const struct trace_walk *walk)
{
        uint32_t n_programs = trace_dictionary_count(walk->dictionary, TRACE_TABLE_PROCESSES);
        struct program_zones *programs = calloc((size_t)n_programs + 1, sizeof(*programs));

        *ret = (struct lost_zones){ .n_lost = 0 };
        if (!programs)
                return -ENOMEM;
        count_lost(ret, walk, programs);
        count_recorded(walk, programs);
        if (ret->n_lost != 0)
                find_share(ret, programs, n_programs);
        if (is_range(walk->filter))
                ret->share = 0;
        free(programs);
        return 0;
}

/* Never 100%, because the shown zones were not lost, and never 0%. */
static double percent_of(double share)
{
        double percent = share * 100;

        if (percent > 99.9 && share < 1)
                return 99.9;
        return percent < 0.1 ? 0.1 : percent;
}

void lost_zones_words(const struct lost_zones *lost, char words[LOST_ZONES_WORDS_BYTES])
{
        words[0] = '\0';
        if (lost->n_lost == 0)
                return;
        if (lost->share > 0)
                (void)snprintf(words, LOST_ZONES_WORDS_BYTES,
                               "at least: %s%.1f%% of %s program's zones were lost",
                               lost->is_one_program ? "" : "up to ", percent_of(lost->share),
                               lost->is_one_program ? "this" : "a");
        else
                (void)snprintf(words, LOST_ZONES_WORDS_BYTES,
                               "at least: %" PRIu64 " zones were lost in the whole recording", lost->n_lost);
}
