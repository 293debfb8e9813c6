/* SPDX-License-Identifier: MIT */
#include "sampler/keep/kernel_code.h"

#include "base/array.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "sampler/kernel/perf_record.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FRAMES_MAX     65536
#define PROGRAMS_MAX   4096 /* that are looked at before a recording */
#define FUNCTIONS_MAX  256  /* of one program */
#define NAME_MAX_BYTES 600  /* the kernel's own limit is 512 */

struct kernel_code_piece {
        uint64_t start_avma, end_avma;
        uint32_t name;       /* string; 0 = not known */
        uint32_t generation; /* how many pieces of code were there, including this one */
        bool is_gone;
};

struct kernel_code_frame {
        uint64_t avma;
        uint32_t frame, generation;
};

void kernel_code_deinit(struct kernel_code *k)
{
        free(k->pieces);
        free(k->frames);
        *k = (struct kernel_code){ .epoch = 0 };
}

/* ---- pieces -------------------------------------------------------------------------------------------- */

/* The first piece that ends after @avma; n_pieces if there is none. */
static size_t first_after(const struct kernel_code *k, uint64_t avma)
{
        size_t low = 0, high = k->n_pieces;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (k->pieces[middle].end_avma > avma)
                        high = middle;
                else
                        low = middle + 1;
        }
        return low;
}

/* Inserts a piece in place of all pieces that it overlaps; their parts outside the new piece stay. */
static int put(struct kernel_code *k, struct kernel_code_piece piece)
{
        struct kernel_code_piece new[3];
        size_t first = first_after(k, piece.start_avma), after = first, n = 0;

        if (array_reserve(&k->pieces, &k->capacity, k->n_pieces + 2, sizeof(*k->pieces)) < 0)
                return -ENOMEM;
        while (after < k->n_pieces && k->pieces[after].start_avma < piece.end_avma)
                after++;
        if (after > first && k->pieces[first].start_avma < piece.start_avma) {
                new[n] = k->pieces[first];
                new[n++].end_avma = piece.start_avma;
        }
        new[n++] = piece;
        if (after > first && k->pieces[after - 1].end_avma > piece.end_avma) {
                new[n] = k->pieces[after - 1];
                new[n++].start_avma = piece.end_avma;
        }
        memmove(k->pieces + first + n, k->pieces + after, (k->n_pieces - after) * sizeof(*k->pieces));
        memcpy(k->pieces + first, new, n * sizeof(*new));
        k->n_pieces = k->n_pieces - (after - first) + n;
        k->epoch++;
        return 0;
}

/* How many codes were at a place so far. */
static uint32_t count_before(const struct kernel_code *k, uint64_t start_avma, uint64_t end_avma)
{
        uint32_t n = 0;

        for (size_t i = first_after(k, start_avma); i < k->n_pieces && k->pieces[i].start_avma < end_avma;
             i++)
                if (k->pieces[i].generation > n)
                        n = k->pieces[i].generation;
        return n;
}

/* Finds a known piece with exactly these bounds; NULL = there is none. */
static struct kernel_code_piece *find_piece(const struct kernel_code *k, uint64_t start_avma,
                                            uint64_t end_avma)
{
        size_t i = first_after(k, start_avma);
        struct kernel_code_piece *piece = i < k->n_pieces ? &k->pieces[i] : NULL;

        return piece && !piece->is_gone && piece->start_avma == start_avma && piece->end_avma == end_avma
                       ? piece
                       : NULL;
}

int kernel_code_add(struct kernel_code *k, uint64_t start_avma, uint64_t n_bytes)
{
        struct kernel_code_piece piece = { .start_avma = start_avma, .generation = 1 };

        if (start_avma == 0 || n_bytes == 0 || __builtin_add_overflow(start_avma, n_bytes, &piece.end_avma) ||
            k->n_pieces >= KERNEL_CODE_PIECES_MAX)
                return 0;
        return put(k, piece);
}

/* ---- records ------------------------------------------------------------------------------------------- */

/* As /proc/kallsyms has it: "bpf_prog_6deef7357e7b4530_name [bpf]". */
static int add_kernel_name(struct trace_dictionary *d, const struct perf_kernel_code *record,
                           uint32_t *ret_name)
{
        char text[NAME_MAX_BYTES];
        int n = snprintf(text, sizeof(text), "%.*s%s",
                         (int)(record->name_bytes < NAME_MAX_BYTES ? record->name_bytes : NAME_MAX_BYTES),
                         record->name, record->is_bpf ? " [bpf]" : "");
        int r = trace_dictionary_add_string(d, text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1,
                                            ret_name);

        if (r == -EOVERFLOW)
                *ret_name = 0;
        return r == -ENOMEM ? r : 0;
}

/* Gives the frames of a piece its name. */
static int name_earlier_frames(struct kernel_code *k, struct trace_dictionary *d,
                               const struct kernel_code_piece *piece)
{
        size_t n_kept = 0;
        int r = 0;

        for (size_t i = 0; i < k->n_frames; i++) {
                const struct kernel_code_frame *f = &k->frames[i];
                const struct trace_symbol row = { .frame = f->frame, .function = piece->name };
                uint32_t id;

                if (f->avma < piece->start_avma || f->avma >= piece->end_avma ||
                    f->generation != piece->generation)
                        k->frames[n_kept++] = *f;
                else if (r != -ENOMEM)
                        r = trace_dictionary_add(d, TRACE_TABLE_SYMBOLS, &row, &id);
        }
        k->n_frames = n_kept;
        return r == -ENOMEM ? r : 0;
}

bool kernel_code_is_replaced(const struct kernel_code *k, const struct perf_kernel_code *record)
{
        return !record->is_removed &&
               count_before(k, record->start_avma, record->start_avma + record->n_bytes) > 0;
}

static int remove_piece(struct kernel_code *k, struct trace_dictionary *d,
                        const struct kernel_code_piece *gone)
{
        struct kernel_code_piece *piece = find_piece(k, gone->start_avma, gone->end_avma);
        int r = 0;

        if (!piece)
                return put(k, *gone);
        if (piece->name == 0 && gone->name != 0) {
                piece->name = gone->name;
                r = name_earlier_frames(k, d, piece);
        }
        piece->is_gone = true;
        k->epoch++;
        return r;
}

int kernel_code_note(struct kernel_code *k, struct trace_dictionary *d, const struct perf_kernel_code *record)
{
        struct kernel_code_piece piece = { .start_avma = record->start_avma, .is_gone = record->is_removed };
        const struct kernel_code_piece *there;
        int r;

        if (record->n_bytes == 0 ||
            __builtin_add_overflow(record->start_avma, record->n_bytes, &piece.end_avma))
                return 0;
        r = add_kernel_name(d, record, &piece.name);
        if (r < 0)
                return r;
        there = find_piece(k, piece.start_avma, piece.end_avma);
        if (!record->is_removed && there && there->name == piece.name && piece.name != 0)
                return 0;
        piece.generation = count_before(k, piece.start_avma, piece.end_avma);
        if (record->is_removed)
                return remove_piece(k, d, &piece);
        piece.generation++;
        if (k->n_pieces >= KERNEL_CODE_PIECES_MAX || piece.generation >= TRACE_MODULE_KERNEL_GONE) {
                piece.is_gone = true; /* over all that is known */
                if (k->n_pieces > 0 && k->pieces[0].start_avma < piece.start_avma)
                        piece.start_avma = k->pieces[0].start_avma;
                if (k->n_pieces > 0 && k->pieces[k->n_pieces - 1].end_avma > piece.end_avma)
                        piece.end_avma = k->pieces[k->n_pieces - 1].end_avma;
        }
        return put(k, piece);
}

/* ---- frames -------------------------------------------------------------------------------------------- */

void kernel_code_find(const struct kernel_code *k, uint64_t avma, uint32_t *ret_generation,
                      uint32_t *ret_name)
{
        size_t i = first_after(k, avma);
        const struct kernel_code_piece *piece = i < k->n_pieces && k->pieces[i].start_avma <= avma
                                                        ? &k->pieces[i]
                                                        : NULL;

        *ret_generation = !piece ? 0 : piece->is_gone ? TRACE_MODULE_KERNEL_GONE : piece->generation;
        *ret_name = piece && !piece->is_gone ? piece->name : 0;
}

void kernel_code_note_frame(struct kernel_code *k, uint64_t avma, uint32_t frame)
{
        struct kernel_code_frame f = { .avma = avma, .frame = frame };
        uint32_t name;

        kernel_code_find(k, avma, &f.generation, &name);
        if (k->n_frames < FRAMES_MAX &&
            array_reserve(&k->frames, &k->frames_capacity, k->n_frames + 1, sizeof(f)) == 0)
                k->frames[k->n_frames++] = f;
}

/* ---- programs that are loaded -------------------------------------------------------------------------- */

static long call_bpf(int command, union bpf_attr *attr)
{
        return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* Reads the program's functions, each of which has a place of its own. */
static void read_program(struct kernel_code *k, int fd, uint64_t until_boot_ns)
{
        uint64_t starts[FUNCTIONS_MAX];
        uint32_t lengths[FUNCTIONS_MAX];
        struct bpf_prog_info info = { .nr_jited_ksyms = FUNCTIONS_MAX, .nr_jited_func_lens = FUNCTIONS_MAX };
        union bpf_attr attr;

        info.jited_ksyms = (uint64_t)(uintptr_t)starts;
        info.jited_func_lens = (uint64_t)(uintptr_t)lengths;
        memset(&attr, 0, sizeof(attr));
        attr.info.bpf_fd = (uint32_t)fd;
        attr.info.info_len = sizeof(info);
        attr.info.info = (uint64_t)(uintptr_t)&info;
        if (call_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) < 0 || info.load_time >= until_boot_ns ||
            info.nr_jited_ksyms != info.nr_jited_func_lens)
                return;
        for (uint32_t i = 0; i < info.nr_jited_ksyms && i < FUNCTIONS_MAX; i++)
                (void)kernel_code_add(k, starts[i], lengths[i]);
}

void kernel_code_read_programs(struct kernel_code *k, uint64_t until_boot_ns)
{
        union bpf_attr attr;
        uint32_t id = 0;

        for (unsigned n = 0; n < PROGRAMS_MAX; n++) {
                int fd;

                memset(&attr, 0, sizeof(attr));
                attr.start_id = id;
                if (call_bpf(BPF_PROG_GET_NEXT_ID, &attr) < 0)
                        return;
                id = attr.next_id;
                memset(&attr, 0, sizeof(attr));
                attr.prog_id = id;
                fd = (int)call_bpf(BPF_PROG_GET_FD_BY_ID, &attr);
                if (fd < 0)
                        continue; /* it has ended */
                read_program(k, fd, until_boot_ns);
                io_close(&fd);
        }
}
