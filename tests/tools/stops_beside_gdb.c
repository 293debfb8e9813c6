/* SPDX-License-Identifier: MIT */
/*
 * Unwinds stops that gdb_stops.py has written, and compares with what gdb found there.
 *
 *      stops_beside_gdb [-v] FILE...
 *
 * Prints for each file: its name, stops, frames (of the longer one of both stacks), frames that are the same,
 * stacks that are the same, stacks that went to the root, frames that gdb does not know.  With -v each stack
 * that differs.  Two kinds of frames are no differences:
 *   - gdb's outside of all code: it goes on after the entry of the dynamic loader, where nothing is;
 *   - ours beyond gdb's last one where that is in code without unwind information (made at run time, as by
 *     node, or hand-written): gdb follows no frame pointers there, so it does not say who called it.
 */
#include "base/error.h"
#include "tests/unit/live_stacks.h"
#include "unwind/stack_walk.h"
#include "unwind/unwind_module.h"
#include "unwind/unwind_table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 65536
#define LEFT_OUT_MAX   4 /* frames in a row */

struct stop {
        uint32_t tid;
        struct stack_walk_input input; /* its bytes are heap, owned */
        uint64_t gdb_pcs[STACK_WALK_FRAMES_MAX];
        uint32_t n_gdb;
};

struct stops {
        FILE *file;
        const char *path;
        struct live_stacks stacks; /* the mappings alone */
        struct stack_walker *walker;
        bool is_verbose;
        size_t n_stops, n_frames, n_same_frames, n_same_stacks, n_roots, n_beyond;
};

static void fail(const struct stops *s, const char *what)
{
        (void)fprintf(stderr, "stops_beside_gdb: %s: %s\n", s->path, what);
        exit(2);
}

static uint8_t *read_bytes(struct stops *s, uint64_t n_bytes)
{
        uint8_t *bytes = malloc(n_bytes + 1);

        if (!bytes || fread(bytes, 1, n_bytes, s->file) != n_bytes)
                fail(s, "cut off");
        bytes[n_bytes] = 0;
        return bytes;
}

static void take_maps(struct stops *s, uint64_t n_bytes)
{
        char *bytes = (char *)read_bytes(s, n_bytes), *rest = NULL;

        s->stacks.n_mappings = 0;
        s->stacks.generation++;
        for (char *line = strtok_r(bytes, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
                struct live_mapping m;

                if (live_mapping_parse(line, &m) && live_stacks_add(&s->stacks, &m) < 0)
                        fail(s, "out of memory");
        }
        free(bytes);
}

static void take_registers(struct stop *stop, const char *words)
{
        struct unwind_registers *r = &stop->input.registers;
        char *end;

        *stop = (struct stop){ .tid = (uint32_t)strtoul(words, &end, 10) };
        r->pc = strtoull(end, &end, 16);
        for (unsigned i = 0; i < UNWIND_REGISTERS_MAX && *end == ' '; i++) {
                r->values[i] = strtoull(end, &end, 16);
                r->known |= UINT64_C(1) << i;
        }
}

static void take_piece(struct stops *s, struct stop *stop, const char *words)
{
        struct stack_walk_piece *piece = &stop->input.pieces[stop->input.n_pieces];
        char *end;

        if (stop->input.n_pieces == STACK_WALK_PIECES_MAX)
                fail(s, "too many pieces");
        piece->start_avma = strtoull(words, &end, 16);
        piece->n_bytes = strtoull(end, NULL, 10);
        piece->bytes = read_bytes(s, piece->n_bytes);
        (void)fgetc(s->file); /* the end of the line */
        stop->input.n_pieces++;
}

static void take_frames(const struct stops *s, struct stop *stop, const char *words)
{
        char *end = NULL;

        for (uint64_t pc = strtoull(words, &end, 16); end != words; pc = strtoull(words, &end, 16)) {
                words = end;
                if (stop->n_gdb < STACK_WALK_FRAMES_MAX && live_stacks_find(&s->stacks, pc))
                        stop->gdb_pcs[stop->n_gdb++] = pc;
                else
                        break;
        }
}

static void print_frame(const struct stops *s, const char *who, uint64_t pc, const char *more)
{
        const struct live_mapping *m = live_stacks_find(&s->stacks, pc);

        printf("    %s %#" PRIx64 " %s+%#" PRIx64 "%s%s\n", who, pc, m ? m->path : "no code",
               m && m->module ? pc - m->bias : 0, more ? " " : "", more ? more : "");
}

/* From the last frame that is the same. */
static void print_difference(const struct stops *s, const struct stop *stop, const struct stack_walk *walk)
{
        static const char *const ways[] = { "-", "by table", "by frame pointer", "by guess" };
        uint32_t i = 0;

        while (i < walk->n_frames && i < stop->n_gdb && walk->frames[i].pc_avma == stop->gdb_pcs[i])
                i++;
        printf("  stop %zu: %u frames, gdb has %u, %u the same; it ended: %s\n", s->n_stops, walk->n_frames,
               stop->n_gdb, i, stack_walk_end_text(walk->end));
        i = i > 0 ? i - 1 : 0;
        for (uint32_t k = i; k < walk->n_frames && k < i + 4; k++)
                print_frame(s, "ours", walk->frames[k].pc_avma, ways[walk->frames[k].way]);
        for (uint32_t k = i; k < stop->n_gdb && k < i + 4; k++)
                print_frame(s, "gdb ", stop->gdb_pcs[k], NULL);
}

static bool has_rule(const struct stops *s, uint64_t pc)
{
        const struct live_mapping *m = live_stacks_find(&s->stacks, pc);

        return m && m->module && m->module->table &&
               unwind_table_find(m->module->table, pc - m->bias) != NULL;
}

/* How many frames at @from are left out until both go on with the same one; 0 if they do not. */
static uint32_t count_left_out(const uint64_t *from, uint32_t n_from, uint64_t pc)
{
        for (uint32_t i = 1; i <= LEFT_OUT_MAX && i < n_from; i++)
                if (from[i] == pc)
                        return i;
        return 0;
}

/*
 * A frame that one has and the other has not is one difference; those after it are compared with each other.
 */
static void count_frames(const uint64_t *own, uint32_t n_own, const uint64_t *gdb, uint32_t n_gdb,
                         size_t *ret_all, size_t *ret_same)
{
        size_t n_all = 0, n_same = 0;

        while (n_own > 0 && n_gdb > 0) {
                uint32_t step_own = 1, step_gdb = 1;

                if (*own == *gdb)
                        n_same++;
                else if ((step_own = count_left_out(own, n_own, *gdb)) > 0)
                        step_gdb = 0;
                else if ((step_gdb = count_left_out(gdb, n_gdb, *own)) == 0)
                        step_own = step_gdb = 1;
                n_all += step_own > step_gdb ? step_own : step_gdb;
                own += step_own;
                n_own -= step_own;
                gdb += step_gdb;
                n_gdb -= step_gdb;
        }
        *ret_all = n_all + n_own + n_gdb;
        *ret_same = n_same;
}

static void compare(struct stops *s, struct stop *stop)
{
        const struct stack_walk_space space = live_stacks_space(&s->stacks);
        static uint64_t own[STACK_WALK_FRAMES_MAX];
        static struct stack_walk walk;
        size_t n = 0, n_same = 0;

        stack_walk_run(s->walker, &space, &stop->input, &walk);
        if (stop->n_gdb > 0 && stop->n_gdb < walk.n_frames && !has_rule(s, stop->gdb_pcs[stop->n_gdb - 1])) {
                s->n_beyond += walk.n_frames - stop->n_gdb;
                walk.n_frames = stop->n_gdb;
        }
        for (uint32_t i = 0; i < walk.n_frames; i++)
                own[i] = walk.frames[i].pc_avma;
        count_frames(own, walk.n_frames, stop->gdb_pcs, stop->n_gdb, &n, &n_same);
        s->n_stops++;
        s->n_frames += n;
        s->n_same_frames += n_same;
        s->n_same_stacks += n == n_same;
        s->n_roots += walk.end == STACK_WALK_END_ROOT;
        if (s->is_verbose && n != n_same)
                print_difference(s, stop, &walk);
        for (size_t i = 0; i < stop->input.n_pieces; i++)
                free((void *)(uintptr_t)stop->input.pieces[i].bytes);
}

static void compare_file(const char *path, bool is_verbose)
{
        struct stops s = { .file = fopen(path, "re"), .path = path, .is_verbose = is_verbose };
        static char line[LINE_MAX_BYTES];
        static struct stop stop;

        s.walker = stack_walker_new(unwind_machine_own());
        if (!s.file || !s.walker)
                fail(&s, "cannot be opened");
        s.stacks.generation = 1;
        unwind_cache_init(&s.stacks.cache, 0);
        while (fgets(line, sizeof(line), s.file)) {
                if (strncmp(line, "maps ", 5) == 0)
                        take_maps(&s, strtoull(line + 5, NULL, 10));
                else if (strncmp(line, "stop ", 5) == 0)
                        take_registers(&stop, line + 5);
                else if (strncmp(line, "piece ", 6) == 0)
                        take_piece(&s, &stop, line + 6);
                else if (strncmp(line, "frames ", 7) == 0) {
                        take_frames(&s, &stop, line + 7);
                        compare(&s, &stop);
                } else
                        fail(&s, "not a file of stops");
        }
        printf("%s %zu %zu %zu %zu %zu %zu\n", path, s.n_stops, s.n_frames, s.n_same_frames, s.n_same_stacks,
               s.n_roots, s.n_beyond);
        free(s.stacks.mappings);
        unwind_cache_deinit(&s.stacks.cache);
        stack_walker_free(s.walker);
        (void)fclose(s.file);
}

int main(int argc, char **argv)
{
        bool is_verbose = argc > 1 && strcmp(argv[1], "-v") == 0;

        if (!unwind_machine_own())
                return 77;
        for (int i = 1 + is_verbose; i < argc; i++)
                compare_file(argv[i], is_verbose);
        return 0;
}
