/* SPDX-License-Identifier: MIT */
#include "analyze/clocks/clock_hull.h"

__extension__ typedef unsigned __int128 wide;

/* From a corner to one with more ticks. */
struct slope {
        uint64_t rise_ns, run_ticks;
        bool falls;
};

static struct slope slope_of(const struct clock_corner *from, const struct clock_corner *to)
{
        bool falls = to->ns < from->ns;

        return (struct slope){ .rise_ns = falls ? from->ns - to->ns : to->ns - from->ns,
                               .run_ticks = to->ticks - from->ticks,
                               .falls = falls };
}

/* < 0 if @a is flatter than @b, > 0 if it is steeper. */
static int compare(const struct slope *a, const struct slope *b)
{
        wide left = (wide)a->rise_ns * b->run_ticks, right = (wide)b->rise_ns * a->run_ticks;
        int sign = left < right ? -1 : left > right;

        if (a->falls != b->falls)
                return a->falls ? -1 : 1;
        return a->falls ? -sign : sign;
}

static double value(const struct clock_corner *from, const struct clock_corner *to)
{
        struct slope s = slope_of(from, to);
        double ns = (double)s.rise_ns / (double)s.run_ticks;

        return s.falls ? -ns : ns;
}

void clock_hull_init(struct clock_hull *h, struct clock_corner *upper, struct clock_corner *lower)
{
        *h = (struct clock_hull){ .upper = upper, .lower = lower };
}

/* The new upper end cuts the steepest line: another lower end holds it now. */
static void cut_steepest(struct clock_hull *h, const struct clock_corner *high)
{
        struct slope best = slope_of(&h->lower[h->lower_first], high);

        while (h->lower_first + 1 < h->lower_end) {
                struct slope next = slope_of(&h->lower[h->lower_first + 1], high);

                if (compare(&next, &best) > 0)
                        break;
                best = next;
                h->lower_first++;
        }
        for (; h->upper_end >= h->upper_first + 2; h->upper_end--) {
                struct slope edge = slope_of(&h->upper[h->upper_end - 2], &h->upper[h->upper_end - 1]);
                struct slope next = slope_of(&h->upper[h->upper_end - 1], high);

                if (compare(&next, &edge) > 0)
                        break;
        }
        h->upper[h->upper_end++] = *high;
}

static void cut_flattest(struct clock_hull *h, const struct clock_corner *low)
{
        struct slope best = slope_of(&h->upper[h->upper_first], low);

        while (h->upper_first + 1 < h->upper_end) {
                struct slope next = slope_of(&h->upper[h->upper_first + 1], low);

                if (compare(&next, &best) < 0)
                        break;
                best = next;
                h->upper_first++;
        }
        for (; h->lower_end >= h->lower_first + 2; h->lower_end--) {
                struct slope edge = slope_of(&h->lower[h->lower_end - 2], &h->lower[h->lower_end - 1]);
                struct slope next = slope_of(&h->lower[h->lower_end - 1], low);

                if (compare(&next, &edge) < 0)
                        break;
        }
        h->lower[h->lower_end++] = *low;
}

bool clock_hull_add(struct clock_hull *h, const struct clock_bracket *b)
{
        const struct clock_corner high = { b->ticks, b->high_ns }, low = { b->ticks, b->low_ns };

        if (h->n_brackets > 1) {
                const struct clock_corner *flat = &h->lower[h->lower_end - 1];
                const struct clock_corner *steep = &h->upper[h->upper_end - 1];
                struct slope flattest = slope_of(&h->upper[h->upper_first], flat);
                struct slope steepest = slope_of(&h->lower[h->lower_first], steep);
                struct slope down = slope_of(flat, &high), up = slope_of(steep, &low), to_high, to_low;

                if (compare(&down, &flattest) < 0 || compare(&up, &steepest) > 0)
                        return false;
                to_high = slope_of(steep, &high);
                to_low = slope_of(flat, &low);
                if (compare(&to_high, &steepest) < 0)
                        cut_steepest(h, &high);
                if (compare(&to_low, &flattest) > 0)
                        cut_flattest(h, &low);
        } else {
                h->upper[h->upper_end++] = high;
                h->lower[h->lower_end++] = low;
        }
        h->n_brackets++;
        return true;
}

double clock_hull_flattest(const struct clock_hull *h)
{
        return value(&h->upper[h->upper_first], &h->lower[h->lower_end - 1]);
}

double clock_hull_steepest(const struct clock_hull *h)
{
        return value(&h->lower[h->lower_first], &h->upper[h->upper_end - 1]);
}

void clock_hull_limit(struct clock_hull *h, double flattest, double steepest)
{
        while (h->upper_end >= h->upper_first + 2 &&
               value(&h->upper[h->upper_end - 2], &h->upper[h->upper_end - 1]) > steepest)
                h->upper_end--;
        while (h->upper_end >= h->upper_first + 2 &&
               value(&h->upper[h->upper_first], &h->upper[h->upper_first + 1]) < flattest)
                h->upper_first++;
        while (h->lower_end >= h->lower_first + 2 &&
               value(&h->lower[h->lower_first], &h->lower[h->lower_first + 1]) > steepest)
                h->lower_first++;
        while (h->lower_end >= h->lower_first + 2 &&
               value(&h->lower[h->lower_end - 2], &h->lower[h->lower_end - 1]) < flattest)
                h->lower_end--;
}
