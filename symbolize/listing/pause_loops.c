/* SPDX-License-Identifier: MIT */
#include "symbolize/listing/pause_loops.h"

#include "base/bytes.h"
#include "base/error.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/listing/branch_target.h"
#include "symbolize/listing/code_listing.h"
#include "symbolize/listing/disassembler.h"
#include "symbolize/listing/listing_image.h"
#include "symbolize/listing/listing_reader.h"

#include <elf.h>
#include <string.h>

#define LOOPS_MAX 16 /* that begin and end in one piece of code; further ones are not looked at */

#define X86_PAUSE      "\xf3\x90"
#define AARCH64_YIELD  UINT32_C(0xd503203f)
#define AARCH64_WFE    UINT32_C(0xd503205f)
#define AARCH64_ISB    UINT32_C(0xd5033fdf) /* ISB SY: as a pause of spinning in Rust, jemalloc, databases */
#define RISCV_PAUSE    UINT32_C(0x0100000f)
#define NO_INSTRUCTION SIZE_MAX

struct instruction {
        uint64_t svma;
        struct branch_target branch;
        uint32_t n_bytes;
        bool pauses;
        bool ends; /* the code does not go on after it, and where it goes is not known */
};

/* A piece of code, which begins and ends with whole instructions. */
struct piece {
        struct instruction items[PAUSE_LOOPS_BYTES_MAX];
        size_t n;
};

/* By instruction of a piece: whether it lies in the loop. */
struct loop {
        bool has[PAUSE_LOOPS_BYTES_MAX];
};

/* ---- instructions -------------------------------------------------------------------------------------- */

static bool is_x86(uint16_t machine)
{
        return machine == EM_X86_64 || machine == EM_386;
}

static uint32_t word_at(const uint8_t *bytes)
{
        struct byte_reader in = byte_reader_of(bytes, sizeof(uint32_t));

        return bytes_u32(&in);
}

static bool pauses(uint16_t machine, const uint8_t *bytes, size_t n_bytes)
{
        if (is_x86(machine))
                return n_bytes == 2 && memcmp(bytes, X86_PAUSE, 2) == 0;
        if (n_bytes != 4)
                return false;
        if (machine == EM_AARCH64)
                return word_at(bytes) == AARCH64_YIELD || word_at(bytes) == AARCH64_WFE ||
                       word_at(bytes) == AARCH64_ISB;
        return machine == EM_RISCV && word_at(bytes) == RISCV_PAUSE;
}

/* RET, a jump through a register or memory, UD2. */
static bool ends_x86(const uint8_t *bytes, size_t n_bytes)
{
        static const uint8_t prefixes[] = { 0xf2, 0xf3, 0x3e, 0x41,
                                            0x66 }; /* BND, REP, NOTRACK, REX.B, size */
        size_t i = 0;

        while (i < n_bytes && memchr(prefixes, bytes[i], sizeof(prefixes)))
                i++;
        if (i == n_bytes)
                return false;
        if (bytes[i] == 0xc2 || bytes[i] == 0xc3)
                return true;
        if (i + 1 == n_bytes)
                return false;
        return (bytes[i] == 0xff && (bytes[i + 1] >> 3 & 7) == 4) ||
               (bytes[i] == 0x0f && bytes[i + 1] == 0x0b);
}

static bool ends(uint16_t machine, const uint8_t *bytes, size_t n_bytes)
{
        uint32_t word;

        if (is_x86(machine))
                return ends_x86(bytes, n_bytes);
        if (n_bytes == 2) /* c.jr */
                return (bytes[0] & 0x7f) == 0x02 && (bytes[1] & 0xf0) == 0x80;
        word = n_bytes == 4 ? word_at(bytes) : 0;
        if (machine == EM_AARCH64) /* BR, RET and their like, but not BLR */
                return word >> 25 == 0x6b && (word >> 21 & 7) != 1;
        return (word & 0xfff) == 0x067; /* jalr without a link */
}

static size_t measure(const struct pause_code *code, uint64_t svma, const uint8_t *bytes, size_t n_bytes)
{
        if (is_x86(code->machine))
                return code->measure ? code->measure(code->context, svma, bytes, n_bytes) : 0;
        if (code->machine == EM_RISCV && n_bytes >= 2 && (bytes[0] & 3) != 3)
                return 2;
        return n_bytes >= 4 ? 4 : 0;
}

/* The instruction at @svma; false = the code has none there. */
static bool decode(const struct pause_code *code, uint64_t svma, struct instruction *ret)
{
        uint64_t at = svma - code->svma;
        const uint8_t *bytes;
        size_t n_bytes;

        if (svma < code->svma || at >= code->n_bytes)
                return false;
        bytes = code->bytes + at;
        n_bytes = measure(code, svma, bytes, code->n_bytes - (size_t)at);
        if (n_bytes == 0 || n_bytes > code->n_bytes - at)
                return false;
        *ret = (struct instruction){
                .svma = svma,
                .n_bytes = (uint32_t)n_bytes,
                .branch = branch_target_decode(code->machine, svma, bytes, n_bytes),
                .pauses = pauses(code->machine, bytes, n_bytes),
                .ends = ends(code->machine, bytes, n_bytes),
        };
        return true;
}

/* ---- pieces of code ------------------------------------------------------------------------------------ */

/* The code in [@svma, @end_svma); false if that does not end with an instruction. */
static bool read_piece(const struct pause_code *code, uint64_t svma, uint64_t end_svma, struct piece *ret)
{
        ret->n = 0;
        while (svma < end_svma && ret->n < PAUSE_LOOPS_BYTES_MAX) {
                if (!decode(code, svma, &ret->items[ret->n]))
                        return false;
                svma += ret->items[ret->n++].n_bytes;
        }
        return svma == end_svma;
}

static size_t find_instruction(const struct piece *p, uint64_t svma)
{
        for (size_t i = 0; i < p->n; i++)
                if (p->items[i].svma == svma)
                        return i;
        return NO_INSTRUCTION;
}

static bool is_jump(const struct instruction *i)
{
        return i->branch.kind == BRANCH_JUMP || i->branch.kind == BRANCH_CONDITIONAL;
}

static bool goes_on(const struct instruction *i)
{
        return i->branch.kind != BRANCH_JUMP && !i->ends;
}

/* Spreads a mark once over all edges; returns whether any instruction got it. */
static bool spread_forward(const struct piece *p, const size_t *targets, bool *marks)
{
        bool is_new = false;

        for (size_t i = 0; i < p->n; i++) {
                if (!marks[i])
                        continue;
                if (goes_on(&p->items[i]) && i + 1 < p->n && !marks[i + 1])
                        is_new = marks[i + 1] = true;
                if (targets[i] != NO_INSTRUCTION && !marks[targets[i]])
                        is_new = marks[targets[i]] = true;
        }
        return is_new;
}

/* The same against the edges, but not through the instruction @head. */
static bool spread_backward(const struct piece *p, const size_t *targets, size_t head, bool *marks)
{
        bool is_new = false;

        for (size_t i = p->n; i-- > 0;) {
                size_t next = goes_on(&p->items[i]) && i + 1 < p->n ? i + 1 : NO_INSTRUCTION;

                if (!marks[i] && ((next != NO_INSTRUCTION && next != head && marks[next]) ||
                                  (targets[i] != NO_INSTRUCTION && targets[i] != head && marks[targets[i]])))
                        is_new = marks[i] = true;
        }
        return is_new;
}

/* The loop that the jump at @last back to @head makes: what lies on ways from one to the other. */
static void find_loop(const struct piece *p, const size_t *targets, size_t head, size_t last,
                      struct loop *ret)
{
        bool after[PAUSE_LOOPS_BYTES_MAX] = { false };

        *ret = (struct loop){ .has = { false } };
        ret->has[last] = true;
        after[head] = true;
        while (spread_forward(p, targets, after)) {
        }
        while (spread_backward(p, targets, head, ret->has)) {
        }
        for (size_t i = 0; i < p->n; i++)
                ret->has[i] = ret->has[i] && after[i];
}

static size_t find_loops(const struct piece *p, struct loop loops[LOOPS_MAX])
{
        size_t targets[PAUSE_LOOPS_BYTES_MAX], n = 0;

        for (size_t i = 0; i < p->n; i++)
                targets[i] = is_jump(&p->items[i]) ? find_instruction(p, p->items[i].branch.svma)
                                                   : NO_INSTRUCTION;
        for (size_t i = 0; i < p->n && n < LOOPS_MAX; i++)
                if (targets[i] != NO_INSTRUCTION && targets[i] <= i)
                        find_loop(p, targets, targets[i], i, &loops[n++]);
        return n;
}

/* Whether the instruction @at lies in each loop that contains the pause, and there is one. */
static bool shares_loops(const struct loop *loops, size_t n, size_t pause, size_t at)
{
        bool is_found = false;

        for (size_t i = 0; i < n; i++) {
                if (loops[i].has[pause] && !loops[i].has[at])
                        return false;
                is_found |= loops[i].has[pause];
        }
        return is_found;
}

/* Looks at the code from the target of a jump back to the jump, both included, with @svma between them. */
static bool judge_piece(const struct pause_code *code, uint64_t from_svma, uint64_t end_svma, uint64_t svma,
                        struct pause_place *ret)
{
        struct loop loops[LOOPS_MAX];
        struct piece piece;
        size_t at, n;

        if (!read_piece(code, from_svma, end_svma, &piece))
                return false;
        at = find_instruction(&piece, svma);
        if (at == NO_INSTRUCTION)
                return false;
        n = find_loops(&piece, loops);
        for (size_t i = 0; i < piece.n; i++)
                if (piece.items[i].pauses && shares_loops(loops, n, i, at)) {
                        *ret = (struct pause_place){ .pause_svma = piece.items[i].svma,
                                                     .is_at_pause = at == i || at == i + 1 };
                        return true;
                }
        return false;
}

bool pause_loops_find(const struct pause_code *code, uint64_t svma, struct pause_place *ret_place)
{
        uint64_t at = svma;
        struct instruction i;

        for (int n_pieces = 0; n_pieces < LOOPS_MAX && at - svma < PAUSE_LOOPS_BYTES_MAX;) {
                if (!decode(code, at, &i))
                        return false;
                at += i.n_bytes;
                if (!is_jump(&i) || i.branch.svma > svma || i.branch.svma < code->svma ||
                    at - i.branch.svma > PAUSE_LOOPS_BYTES_MAX)
                        continue;
                n_pieces++;
                if (judge_piece(code, i.branch.svma, at, svma, ret_place))
                        return true;
        }
        return false;
}

bool pause_loops_may_be(const struct pause_code *code, uint64_t svma)
{
        uint64_t from = svma - code->svma > PAUSE_LOOPS_BYTES_MAX ? svma - code->svma - PAUSE_LOOPS_BYTES_MAX
                                                                  : 0;
        uint64_t to = svma - code->svma + PAUSE_LOOPS_BYTES_MAX;
        size_t n_bytes = is_x86(code->machine) ? 2 : 4;

        if (svma < code->svma)
                return false;
        if (to > code->n_bytes)
                to = code->n_bytes;
        for (uint64_t at = from; at + n_bytes <= to; at++)
                if (pauses(code->machine, code->bytes + at, n_bytes))
                        return true;
        return false;
}

/* ---- the places of a request --------------------------------------------------------------------------- */

static size_t measure_x86(void *context, uint64_t svma, const uint8_t *bytes, size_t n_bytes)
{
        char text[DISASSEMBLER_TEXT_BYTES];

        return disassembler_decode(context, svma, bytes, n_bytes, text);
}

static bool find_code(const struct listing_image *image, uint64_t svma, struct pause_code *code)
{
        const struct elf_image_segment *s = listing_image_find_segment(image, svma);

        if (!s || s->file_off > image->file_bytes || s->file_bytes > image->file_bytes - s->file_off)
                return false;
        code->machine = image->machine;
        code->svma = s->svma;
        code->bytes = image->file + s->file_off;
        code->n_bytes = (size_t)s->file_bytes;
        return true;
}

static int list_place(const struct listing_image *image, uint64_t offset, struct pause_code *code,
                      struct code_listing *listing, struct error *err)
{
        struct listing_part part = { .file_off = offset, .n_bytes = 1 };
        struct disassembler *disassembler;
        struct pause_place place;
        uint64_t svma;
        int r;

        if (!listing_image_find_svma(image, offset, &svma) || !find_code(image, svma, code) ||
            !pause_loops_may_be(code, svma))
                return 0;
        if (is_x86(code->machine) && !code->measure) {
                r = listing_image_open_disassembler(image, &disassembler, err);
                if (r < 0)
                        return r;
                code->context = disassembler;
                code->measure = measure_x86;
        }
        if (!pause_loops_find(code, svma, &place))
                return 0;
        part.svma = place.pause_svma;
        part.flags = place.is_at_pause ? PAUSE_LOOPS_AT_PAUSE : 0;
        return code_listing_add_part(listing, &part);
}

int pause_loops_list(const struct listing_request *request, struct code_listing *ret_listing,
                     struct error *err)
{
        struct pause_code code = { .measure = NULL };
        struct listing_image image;
        int r = listing_image_open(&image, request, err);

        for (size_t i = 0; i < request->n_offsets && r == 0 && ret_listing->n_parts < CODE_LISTING_PARTS_MAX;
             i++)
                r = list_place(&image, request->offsets[i], &code, ret_listing, err);
        disassembler_close(code.context);
        listing_image_close(&image);
        return r;
}
