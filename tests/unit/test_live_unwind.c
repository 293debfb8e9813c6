/* SPDX-License-Identifier: MIT */
/* unwind/: stacks of a running program without frame pointers are what was called, up to the root */
#include "base/error.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/symbols/module_symbols.h"
#include "symbolize/symbols/symbolizer.h"
#include "tests/unit/deep_calls.h"
#include "tests/unit/live_stacks.h"
#include "tests/unit/own_code.h"
#include "tests/unit/unit_test.h"
#include "unwind/stack_walk.h"
#include "unwind/unwind_module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS      8000
#define SAMPLES_MIN 20
#define TIMEOUT_S   60

struct names {
        char *path;
        int fd;
        struct elf_image *image;
        struct module_symbols *symbols;
};

static void open_names(struct names *n)
{
        *n = (struct names){ .path = own_code_path(), .fd = -1 };
        ck_assert_int_eq(regular_file_open(n->path, &n->fd, NULL), 0);
        ck_assert_int_eq(elf_image_open(n->fd, &n->image, NULL), 0);
        ck_assert_int_eq(module_symbols_open(n->image, &(struct module_symbols_options){ .path = n->path },
                                             &n->symbols, NULL),
                         0);
}

static void close_names(struct names *n)
{
        module_symbols_close(n->symbols);
        elf_image_close(n->image);
        io_close(&n->fd);
        free(n->path);
}

/* The outermost function there: what was not inlined.  NULL for other files' code. */
static const char *name_of(struct names *n, const struct live_stacks *s, const struct stack_walk_frame *frame)
{
        uint64_t avma = frame->pc_avma - !frame->is_exact;
        const struct live_mapping *m = live_stacks_find(s, avma);
        const struct symbol *symbols;
        uint32_t n_symbols;

        if (!m || !m->module || strcmp(m->path, n->path) != 0)
                return NULL;
        n_symbols = module_symbols_find(n->symbols, avma - m->bias, &symbols);
        return n_symbols > 0 ? symbols[n_symbols - 1].function : NULL;
}

static bool is_named(const char *name, const char *wanted)
{
        size_t n = strlen(wanted);

        /* gcc puts .isra.0 and the like after a name */
        return name && strncmp(name, wanted, n) == 0 && (name[n] == 0 || name[n] == '.');
}

/* The frames that are named deep_*, in order, are the expected ones. */
static bool matches(struct names *n, const struct live_stacks *s, const struct stack_walk *walk,
                    const char *const *expected)
{
        for (uint32_t i = 0; i < walk->n_frames; i++) {
                const char *name = name_of(n, s, &walk->frames[i]);

                if (!name || strncmp(name, "deep_", 5) != 0)
                        continue;
                if (!*expected || !is_named(name, *expected))
                        return false;
                expected++;
        }
        return *expected == NULL;
}

static void print_walk(struct names *n, const struct live_stacks *s, const struct stack_walk *walk)
{
        for (uint32_t i = 0; i < walk->n_frames; i++) {
                const char *name = name_of(n, s, &walk->frames[i]);
                const struct live_mapping *m = live_stacks_find(s, walk->frames[i].pc_avma);

                printf("  %#lx cfa %#lx way %u %s %s\n", (unsigned long)walk->frames[i].pc_avma,
                       (unsigned long)walk->frames[i].cfa_avma, walk->frames[i].way, m ? m->path : "?",
                       name ? name : "?");
        }
        printf("  %s\n", stack_walk_end_text(walk->end));
}

/* A process that waits for a byte, runs, and ends. */
static pid_t start_child(enum deep_calls_kind kind, int *ret_go_fd)
{
        int pipe_fds[2];
        pid_t pid;
        char byte;

        ck_assert_int_eq(pipe(pipe_fds), 0);
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                (void)alarm(TIMEOUT_S);
                if (read(pipe_fds[0], &byte, 1) == 1)
                        deep_calls_run(kind, ROUNDS);
                _exit(0);
        }
        (void)close(pipe_fds[0]);
        *ret_go_fd = pipe_fds[1];
        return pid;
}

static bool record(struct live_stacks *s, enum deep_calls_kind kind)
{
        const struct live_options options = { .period_ns = 499979,
                                              .stack_bytes = 65528 /* the most that there is */ };
        int go_fd;
        pid_t pid = start_child(kind, &go_fd);
        int r = live_stacks_open(s, pid, &options);
        int status;

        ck_assert_msg(r == 0 || r == -EACCES || r == -EPERM || r == -ENOENT || r == -ENOSYS, "%s",
                      strerror(-r));
        if (r == 0) {
                ck_assert_int_eq(live_stacks_drain(s), 0); /* the mappings */
                ck_assert_int_eq(write(go_fd, "", 1), 1);
        }
        (void)close(go_fd);
        while (waitpid(pid, &status, WNOHANG) == 0) {
                ck_assert_int_eq(live_stacks_drain(s), 0);
                live_stacks_wait(s, 20);
        }
        ck_assert_int_eq(status, 0);
        ck_assert_int_eq(live_stacks_drain(s), 0);
        if (r < 0) {
                printf("skipped: this machine does not let the test sample a process: %s\n", strerror(-r));
                live_stacks_close(s);
        }
        return r == 0;
}

/* loop test: enum deep_calls_kind */
START_LOOP_TEST(test_stacks_are_what_was_called, 0, DEEP_CALLS_N_KINDS)
{
        enum deep_calls_kind kind = (enum deep_calls_kind)_i;
        enum stack_walk_end wanted_end = kind == DEEP_CALLS_ALTERNATE_STACK ? STACK_WALK_END_OTHER_STACK
                                                                            : STACK_WALK_END_ROOT;
        struct stack_walker *walker = stack_walker_new(unwind_machine_own());
        struct stack_walk_input input;
        struct stack_walk_space space;
        struct live_stacks s;
        static struct stack_walk walk; /* large, and the stack is copied */
        struct names names;
        size_t n_in_burn = 0, n_right = 0;

        ck_assert_ptr_nonnull(walker);
        if (!record(&s, kind)) {
                stack_walker_free(walker);
                return;
        }
        open_names(&names);
        space = live_stacks_space(&s);
        for (size_t i = 0; i < s.n_samples; i++) {
                bool is_right;

                live_stacks_input(&s.samples[i], &input);
                stack_walk_run(walker, &space, &input, &walk);
                ck_assert_uint_gt(walk.n_frames, 0);
                if (!is_named(name_of(&names, &s, &walk.frames[0]), "deep_burn"))
                        continue;
                n_in_burn++;
                is_right = walk.end == wanted_end && matches(&names, &s, &walk, deep_calls_expected(kind));
                n_right += is_right;
                if (!is_right && n_in_burn - n_right < 3)
                        print_walk(&names, &s, &walk);
        }
        printf("# kind %d: %zu of %zu stacks are right, %zu samples\n", _i, n_right, n_in_burn, s.n_samples);
        ck_assert_uint_ge(n_in_burn, SAMPLES_MIN);
        ck_assert_uint_eq(n_right, n_in_burn);
        close_names(&names);
        live_stacks_close(&s);
        stack_walker_free(walker);
}
END_TEST

static void begin(int argc, char **argv)
{
        (void)argc, (void)argv;
        if (!unwind_machine_own())
                unit_test_skip_all("hardware: stacks of this machine cannot be walked");
}

UNIT_TEST_PLAN(.timeout_s = TIMEOUT_S, .begin = begin);
