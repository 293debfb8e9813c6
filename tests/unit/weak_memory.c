/* SPDX-License-Identifier: MIT */
/*
 * All runs are tried by repeating the check with other choices: which thread goes on, which value a load
 * returns.  The choices of a run are a path in a tree; the last choice that has another branch takes that in
 * the next run.
 */
#include "tests/unit/weak_memory.h"

#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define VARIABLES_MAX 96
#define VALUES_MAX    48
#define CHOICES_MAX   4096
#define STACK_BYTES   (64 * 1024)

/* How much of each variable is seen: the number of the newest value. */
struct view {
        uint8_t newest[VARIABLES_MAX];
};

struct value {
        uint64_t bits;
        struct view view; /* what an acquire of it brings */
};

struct variable {
        uintptr_t address; /* + 1: the reads of plain memory there, which its next writer must have seen */
        bool is_owned;
        uint8_t n_values;
        struct value values[VALUES_MAX];
};

struct thread {
        ucontext_t context;
        struct view view;
        bool (*waits_for)(void);
        bool has_ended;
        _Alignas(16) char stack[STACK_BYTES];
};

static struct {
        const struct weak_check *check;
        const struct weak_place *weakened;
        struct weak_result result;
        struct variable variables[VARIABLES_MAX];
        size_t n_variables;
        struct thread threads[WEAK_THREADS_MAX];
        size_t n_threads, now;
        bool is_running; /* else one thread, the main one */
        struct view main_view, ordered_view;
        ucontext_t main_context;
        unsigned n_switches, n_old; /* left */
        uint16_t chosen[CHOICES_MAX], n_branches[CHOICES_MAX];
        size_t n_chosen, n_known;
        const char *wrong;
} w;

static _Noreturn void leave(void)
{
        (void)setcontext(&w.main_context);
        abort();
}

void weak_fail(const char *words)
{
        w.wrong = words;
        leave();
}

static uint16_t choose(size_t n)
{
        size_t at = w.n_chosen;

        if (n < 2)
                return 0;
        if (at == CHOICES_MAX)
                weak_fail("too long a run");
        if (at == w.n_known) {
                w.chosen[at] = 0;
                w.n_branches[at] = (uint16_t)n;
                w.n_known++;
        }
        w.n_chosen++;
        return w.chosen[at];
}

/* The next run's choices.  Returns false if there is none. */
static bool go_on(void)
{
        w.n_known = w.n_chosen;
        while (w.n_known > 0 && w.chosen[w.n_known - 1] + 1 == w.n_branches[w.n_known - 1])
                w.n_known--;
        if (w.n_known == 0)
                return false;
        w.chosen[w.n_known - 1]++;
        return true;
}

static struct view *own_view(void)
{
        return w.is_running ? &w.threads[w.now].view : &w.main_view;
}

static void join(struct view *to, const struct view *from)
{
        for (size_t i = 0; i < w.n_variables; i++)
                if (to->newest[i] < from->newest[i])
                        to->newest[i] = from->newest[i];
}

static bool is_ready(const struct thread *t)
{
        return !t->has_ended && (!t->waits_for || t->waits_for());
}

/* Chooses one of those that can go on; the present one, if it can, is the first. */
static void switch_thread(bool may_stay)
{
        size_t ready[WEAK_THREADS_MAX], n = 0, before = w.now;

        if (may_stay)
                ready[n++] = before;
        for (size_t i = 0; i < w.n_threads; i++)
                if ((i != before || !may_stay) && is_ready(&w.threads[i]))
                        ready[n++] = i;
        if (n == 0) {
                for (size_t i = 0; i < w.n_threads; i++)
                        if (!w.threads[i].has_ended)
                                weak_fail("all threads wait");
                leave();
        }
        w.now = ready[choose(n)];
        if (may_stay && w.now != before)
                w.n_switches--;
        if (w.now != before && w.threads[before].has_ended)
                (void)setcontext(&w.threads[w.now].context);
        else if (w.now != before)
                (void)swapcontext(&w.threads[before].context, &w.threads[w.now].context);
}

static void point(void)
{
        if (w.is_running && w.n_switches > 0)
                switch_thread(true);
}

void weak_wait(bool (*condition)(void))
{
        if (condition())
                return;
        w.threads[w.now].waits_for = condition;
        switch_thread(false);
        w.threads[w.now].waits_for = NULL;
}

static uint64_t memory_at(const void *at, size_t n_bytes)
{
        uint64_t bits = 0;

        memcpy(&bits, at, n_bytes);
        return bits;
}

static size_t find(uintptr_t address, uint64_t bits)
{
        struct variable *v;
        size_t i = 0;

        while (i < w.n_variables && w.variables[i].address != address)
                i++;
        if (i < w.n_variables)
                return i;
        if (i == VARIABLES_MAX)
                weak_fail("too many variables");
        v = &w.variables[w.n_variables++];
        v->address = address;
        v->is_owned = false;
        v->n_values = 1;
        v->values[0].bits = bits;
        memset(&v->values[0].view, 0, sizeof(v->values[0].view));
        return i;
}

static bool is_shared(const void *at)
{
        return w.is_running && (uintptr_t)at - (uintptr_t)w.check->base < w.check->n_bytes;
}

/* The order that counts; notes where it stands. */
static int order_at(struct weak_at where)
{
        struct weak_result *r = &w.result;
        size_t i = 0;

        if (where.order == __ATOMIC_RELAXED)
                return where.order;
        while (i < r->n_places && (r->places[i].line != where.line || r->places[i].file != where.file))
                i++;
        if (i == r->n_places && i < WEAK_PLACES_MAX)
                r->places[r->n_places++] = (struct weak_place){ where.file, where.function, where.line };
        if (w.weakened && w.weakened->line == where.line && strcmp(w.weakened->file, where.file) == 0)
                return __ATOMIC_RELAXED;
        return where.order;
}

static bool acquires(int order)
{
        return order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static bool releases(int order)
{
        return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

/* Loads value number @n of a variable. */
static uint64_t take(size_t variable, uint8_t n, int order)
{
        const struct value *value = &w.variables[variable].values[n];
        struct view *view = own_view();

        view->newest[variable] = n;
        if (acquires(order))
                join(view, &value->view);
        return value->bits;
}

/* @before: the value that a read-modify-write has read, which goes on a release of that; NULL = a store */
static void put(size_t variable, uint64_t bits, int order, const struct value *before)
{
        struct variable *v = &w.variables[variable];
        struct view *view = own_view();
        struct value *value;

        if (v->n_values == VALUES_MAX)
                weak_fail("too many values");
        if (v->is_owned && view->newest[variable] + 1 != v->n_values)
                weak_fail("stored without having seen the last owner's store");
        value = &v->values[v->n_values++];
        view->newest[variable] = (uint8_t)(v->n_values - 1);
        value->bits = bits;
        memset(&value->view, 0, sizeof(value->view));
        if (releases(order))
                value->view = *view;
        if (before)
                join(&value->view, &before->view);
        value->view.newest[variable] = view->newest[variable];
        if (order == __ATOMIC_SEQ_CST)
                w.ordered_view.newest[variable] = view->newest[variable];
}

/* An ordered operation sees the last ordered store to its variable, at least. */
static void enter_order(size_t variable, int order)
{
        uint8_t *newest = &own_view()->newest[variable];

        if (order == __ATOMIC_SEQ_CST && *newest < w.ordered_view.newest[variable])
                *newest = w.ordered_view.newest[variable];
}

uint64_t weak_load(const void *at, size_t n_bytes, struct weak_at where)
{
        uint64_t bits = memory_at(at, n_bytes);
        int order = order_at(where);
        size_t i, n_old, older;

        if (!is_shared(at))
                return bits;
        point();
        i = find((uintptr_t)at, memory_at(at, n_bytes));
        enter_order(i, order);
        n_old = w.n_old > 0 ? w.variables[i].n_values - 1U - own_view()->newest[i] : 0;
        older = choose(n_old + 1);
        w.n_old -= older > 0;
        return take(i, (uint8_t)(w.variables[i].n_values - 1 - older), order);
}

void weak_store(void *at, size_t n_bytes, uint64_t value, struct weak_at where)
{
        int order = order_at(where);

        if (is_shared(at)) {
                point();
                put(find((uintptr_t)at, memory_at(at, n_bytes)), value, order, NULL);
        }
        memcpy(at, &value, n_bytes);
}

/* Sees the newest value, as every read-modify-write does. */
static uint64_t change_to(void *at, size_t n_bytes, uint64_t value, int order)
{
        struct variable *v;
        size_t i;

        if (is_shared(at)) {
                i = find((uintptr_t)at, memory_at(at, n_bytes));
                v = &w.variables[i];
                (void)take(i, (uint8_t)(v->n_values - 1), order);
                put(i, value, order, &v->values[v->n_values - 1]);
        }
        memcpy(at, &value, n_bytes);
        return value;
}

uint64_t weak_change(void *at, size_t n_bytes, enum weak_change change, uint64_t value, struct weak_at where)
{
        int order = order_at(where);
        uint64_t before;

        if (is_shared(at))
                point();
        before = memory_at(at, n_bytes);
        if (change == WEAK_ADD)
                value += before;
        else if (change == WEAK_AND)
                value &= before;
        else if (change == WEAK_OR)
                value |= before;
        (void)change_to(at, n_bytes, value, order);
        return before;
}

bool weak_compare(void *at, size_t n_bytes, uint64_t *expected, uint64_t value, struct weak_at where)
{
        int order = order_at(where);
        uint64_t before;

        if (is_shared(at))
                point();
        before = memory_at(at, n_bytes);
        if (before == *expected) {
                (void)change_to(at, n_bytes, value, order);
                return true;
        }
        if (is_shared(at)) {
                size_t i = find((uintptr_t)at, before);

                (void)take(i, (uint8_t)(w.variables[i].n_values - 1), __ATOMIC_RELAXED);
        }
        *expected = before;
        return false;
}

static bool has_seen_all(size_t i)
{
        return own_view()->newest[i] + 1 == w.variables[i].n_values;
}

void weak_read(const void *at, size_t n_bytes)
{
        for (size_t n = 0; n < n_bytes && w.is_running; n += sizeof(uint64_t)) {
                uintptr_t address = (uintptr_t)at + n;

                if (!has_seen_all(find(address, 0)))
                        weak_fail("read without having seen the last write");
                put(find(address + 1, 0), 0, __ATOMIC_RELAXED, NULL);
        }
}

void weak_write(void *at, size_t n_bytes)
{
        for (size_t n = 0; n < n_bytes && w.is_running; n += sizeof(uint64_t)) {
                uintptr_t address = (uintptr_t)at + n;
                size_t i = find(address, 0);

                if (!has_seen_all(i))
                        weak_fail("written without having seen the last write");
                if (!has_seen_all(find(address + 1, 0)))
                        weak_fail("written while it may still be read");
                put(i, 0, __ATOMIC_RELAXED, NULL);
        }
}

void weak_is_owned(const void *at)
{
        w.variables[find((uintptr_t)at, memory_at(at, sizeof(uint64_t)))].is_owned = true;
}

static void run_thread(void)
{
        w.check->threads[w.now]();
        w.threads[w.now].has_ended = true;
        switch_thread(false);
}

static void run_once(void)
{
        volatile bool has_run = false; /* getcontext() returns twice */

        w.n_variables = 0;
        w.n_chosen = 0;
        w.n_switches = w.check->n_switches;
        w.n_old = w.check->n_old;
        memset(&w.main_view, 0, sizeof(w.main_view));
        memset(&w.ordered_view, 0, sizeof(w.ordered_view));
        w.check->begin();
        for (size_t i = 0; i < w.n_threads; i++) {
                struct thread *t = &w.threads[i];

                memset(&t->view, 0, sizeof(t->view));
                t->has_ended = false;
                t->waits_for = NULL;
                (void)getcontext(&t->context);
                t->context.uc_stack.ss_sp = t->stack;
                t->context.uc_stack.ss_size = sizeof(t->stack);
                t->context.uc_link = NULL;
                makecontext(&t->context, run_thread, 0);
        }
        w.is_running = true;
        (void)getcontext(&w.main_context);
        if (!has_run) {
                has_run = true;
                w.now = choose(w.n_threads);
                (void)setcontext(&w.threads[w.now].context);
        }
        w.is_running = false;
}

struct weak_result weak_memory_check(const struct weak_check *check, const struct weak_place *weakened)
{
        memset(&w.result, 0, sizeof(w.result));
        w.check = check;
        w.weakened = weakened;
        w.wrong = NULL;
        w.n_known = 0;
        for (w.n_threads = 0; w.n_threads < WEAK_THREADS_MAX && check->threads[w.n_threads]; w.n_threads++)
                ;
        do {
                run_once();
                if (!w.wrong)
                        w.wrong = check->end();
                w.result.n_runs++;
        } while (!w.wrong && go_on());
        w.result.wrong = w.wrong;
        return w.result;
}
