/* SPDX-License-Identifier: MIT */
/* Checks whether frames that were read late are those of the sample and, if not, finds those that are. */
#include "sampler/kernel/raw_stack.h"
#include "sampler/proc/process_memory.h"
#include "sampler/python/python_late_parts.h"
#include "unwind/unwind_machine.h"

#include <string.h>

#define STARTS_MAX       8               /* frames that may have been the innermost one at the sample */
#define STACK_PIECE      UINT64_C(16384) /* CPython keeps frames in pieces of at least this size */
#define NEAR_FRAMES      32              /* innermost frames, near which others are looked for */
#define CODE_PIECE       UINT64_C(256)
#define CODE_PIECES      256 /* of a code object that are remembered */
#define HEAD_BYTES       96  /* of a code object, from its type on: at most */
#define PIECE_HEAD_BYTES 32  /* of a piece of the interpreter's stack */
#define FRAME_WORDS_3_11 9   /* of a frame, before its variables */

/* ---- does it fit --------------------------------------------------------------------------------------- */

static bool has_word(const uint8_t *bytes, size_t n_bytes, uint64_t word)
{
        uint64_t found;

        for (size_t i = 0; i + sizeof(found) <= n_bytes; i += sizeof(found)) {
                memcpy(&found, bytes + i, sizeof(found));
                if (found == word)
                        return true;
        }
        return false;
}

bool python_late_fits(const struct python_late_sample *late, const struct raw_stack *raw)
{
        bool is_first = true, has_ended = false;

        if (!raw->registers || !raw->copy)
                return false;
        for (uint32_t i = 0; i < late->sample.n_frames; i++) {
                /* Whether C called the frame after the gap is not known. */
                bool is_after_gap = i == PYTHON_INNER_FRAMES && late->sample.n_left_out > 0;
                bool is_innermost = i == 0 || (!is_after_gap &&
                                               (late->sample.frames[i - 1].code & PYTHON_CODE_ENTRY) != 0);

                if (!is_innermost)
                        continue;
                if (has_word(raw->copy, raw->copy_bytes, late->frame_avma[i]) ||
                    (is_first && has_word(raw->registers, raw->registers_bytes, late->frame_avma[i]))) {
                        if (has_ended) /* the copy has this frame, but lacks one further in */
                                return false;
                } else if (is_first || !raw->copy_is_full) {
                        return false;
                } else {
                        has_ended = true;
                }
                is_first = false;
        }
        return true;
}

/* ---- the frames at the sample -------------------------------------------------------------------------- */

/*
 * python_late_read() finds the frames as they are now.  A frame that has ended keeps its bytes until
 * another call takes its place.  So the frames are read from the innermost one at the sample on: the sample
 * has its address.  The sample also has the address of the instruction, which shows that the function is
 * still the same.
 */

/* Counts the words of a sample: registers, then the stack. */
static size_t count_words(const struct raw_stack *raw)
{
        return raw->registers_bytes / sizeof(uint64_t) + raw->copy_bytes / sizeof(uint64_t);
}

static uint64_t late_word_at(const struct raw_stack *raw, size_t i)
{
        const size_t n_registers = raw->registers_bytes / sizeof(uint64_t);
        const uint8_t *from = i < n_registers ? raw->registers : raw->copy;
        uint64_t word;

        memcpy(&word, from + (i < n_registers ? i : i - n_registers) * sizeof(word), sizeof(word));
        return word;
}

static struct late_code *code_slot(struct python_late *l, uint32_t pid, uint64_t avma)
{
        uint64_t hash = (avma / CODE_PIECE + pid) * UINT64_C(0x9e3779b97f4a7c15);

        return l->codes[(hash >> 40) % PYTHON_LATE_CODE_SLOTS];
}

static const struct late_code *find_late_code(struct python_late *l, uint32_t pid, uint64_t avma)
{
        const struct late_code *slot = code_slot(l, pid, avma);

        for (size_t i = 0; i < PYTHON_LATE_CODE_WAYS; i++)
                if (slot[i].pid == pid && avma - slot[i].start_avma < slot[i].end_avma - slot[i].start_avma)
                        return &slot[i];
        return NULL;
}

static void learn_code(struct python_late *l, const struct python_process *p, uint64_t code,
                       uint64_t n_instructions)
{
        uint64_t start = code + p->objects.code_instructions;
        const struct late_code new = { p->pid, code, start, start + 2 * n_instructions };

        if (n_instructions >= UINT32_MAX)
                return;
        for (uint64_t i = 0; i < CODE_PIECES && start + i * CODE_PIECE < new.end_avma + CODE_PIECE; i++) {
                struct late_code *slot = code_slot(l, p->pid, start + i * CODE_PIECE);

                if (slot->pid == new.pid && slot->end_avma == new.end_avma && slot->code == code)
                        continue;
                slot[1] = slot[0];
                slot[0] = new;
        }
}

/* The members of a code object that are needed. */
struct late_head {
        uint64_t type, n_instructions, frame_bytes;
};

/* Decodes the code object @i of those gathered.  Returns false if it was not read. */
static bool head_of(const struct late_gather *g, const struct python_objects *objects, uint32_t i,
                    struct late_head *ret_head)
{
        const size_t off = objects->bytes_length - sizeof(uint64_t), line = objects->code_first_line - off;
        const uint8_t *bytes = g->bytes + i * (line + 3 * sizeof(uint32_t));
        uint32_t n_stack, n_locals, n_words;

        if (!g->there[i].iov_base)
                return false;
        memcpy(&ret_head->type, bytes, sizeof(uint64_t));
        memcpy(&ret_head->n_instructions, bytes + sizeof(uint64_t), sizeof(uint64_t));
        memcpy(&n_stack, bytes + line - sizeof(uint32_t), sizeof(n_stack));
        memcpy(&n_locals, bytes + line + sizeof(uint32_t), sizeof(n_locals));
        memcpy(&n_words, bytes + line + 2 * sizeof(uint32_t), sizeof(n_words));
        ret_head->frame_bytes = sizeof(uint64_t) *
                                (objects->code_is_numbered ? (uint64_t)n_words
                                                           : (uint64_t)n_locals + n_stack + FRAME_WORDS_3_11);
        return true;
}

/*
 * True if these are code objects of one type, which are then remembered.  @type: its address; 0 = the type
 * of the outermost code object.
 */
static bool are_codes(struct python_late *l, const struct python_process *p,
                      const struct python_sample *sample, uint64_t *type)
{
        const uint64_t off = p->objects.bytes_length - sizeof(uint64_t);
        const size_t n_bytes = p->objects.code_first_line + 3 * sizeof(uint32_t) - off;
        struct late_gather *g = &l->gather;
        struct late_head head;

        if (p->objects.code_first_line < off + 2 * sizeof(uint64_t) || n_bytes > HEAD_BYTES)
                return false;
        for (uint32_t i = 0; i < sample->n_frames; i++)
                g->there[i] = python_late_piece(python_code_of(sample->frames[i].code) + off, n_bytes);
        python_late_gather(g, p->pid, sample->n_frames);
        for (uint32_t i = sample->n_frames; i-- > 0;) {
                if (!head_of(g, &p->objects, i, &head) || (*type != 0 && head.type != *type))
                        return false;
                *type = head.type;
                learn_code(l, p, python_code_of(sample->frames[i].code), head.n_instructions);
        }
        return true;
}

/*
 * After are_codes(): true if each frame begins where its caller's frame ends, or in a new piece of memory.
 */
static bool are_stacked(const struct python_late *l, const struct python_process *p,
                        const struct python_late_sample *late)
{
        uint64_t top = 0;
        struct late_head head;

        for (uint32_t i = late->sample.n_frames; i-- > 0;) {
                uint64_t avma = late->frame_avma[i];
                bool is_after_gap = i + 1 == PYTHON_INNER_FRAMES && late->sample.n_left_out > 0;

                if (late->sample.frames[i].code & PYTHON_CODE_GENERATOR)
                        continue;
                if (top != 0 && avma != top && !is_after_gap &&
                    avma % PYTHON_LATE_PAGE_BYTES > PIECE_HEAD_BYTES)
                        return false;
                if (!head_of(&l->gather, &p->objects, i, &head))
                        return false;
                top = avma + head.frame_bytes;
        }
        return true;
}

/*
 * Finds the code object that ran.  The interpreter keeps the address of its current instruction in a
 * register, which its callees may have saved.  0 = not known.
 */
static uint64_t running_code(struct python_late *l, const struct python_process *p,
                             const struct raw_stack *raw)
{
        for (size_t i = 0, n = count_words(raw); i < n; i++) {
                const struct late_code *found = find_late_code(l, p->pid, late_word_at(raw, i));

                if (found)
                        return found->code;
        }
        return 0;
}

/* True near a known frame: frames lie in pieces, in the order of their calls. */
static bool is_near_frame(const struct python_late_sample *late, uint64_t avma)
{
        for (uint32_t i = 0; i < late->sample.n_frames && i < NEAR_FRAMES; i++)
                if (avma - late->frame_avma[i] + STACK_PIECE < 2 * STACK_PIECE)
                        return true;
        return false;
}

/* Lists addresses in a sample at which its innermost frame may lie, the likeliest first. */
static uint32_t find_starts(const struct python_late_sample *late, const struct raw_stack *raw,
                            uint64_t starts[STARTS_MAX])
{
        uint64_t low = UINT64_MAX, high = 0;
        size_t n_words = count_words(raw);
        uint32_t n = 0, known;

        for (uint32_t i = 0; i < late->sample.n_frames && i < NEAR_FRAMES; i++) {
                low = late->frame_avma[i] < low ? late->frame_avma[i] : low;
                high = late->frame_avma[i] > high ? late->frame_avma[i] : high;
        }
        for (size_t i = 0; i < n_words && n < STARTS_MAX; i++) {
                uint64_t word = late_word_at(raw, i);

                if (word % sizeof(word) != 0 || word - low + STACK_PIECE > high - low + 2 * STACK_PIECE ||
                    !is_near_frame(late, word))
                        continue;
                for (known = 0; known < n && starts[known] != word; known++)
                        ;
                if (known == n)
                        starts[n++] = word;
        }
        return n;
}

/*
 * Reads the frames from @start_avma on, as they were at the sample as far as the sample's stack copy goes.
 */
static bool walk_at_sample(struct python_late *l, const struct python_process *p, const struct raw_stack *raw,
                           uint64_t start_avma, struct python_late_sample *to)
{
        const struct process_memory memory = process_memory_of(p->pid);

        to->sample.n_frames = to->sample.flags = 0;
        to->sample.n_left_out = to->sample.n_left_out_entries = 0;
        l->window_bytes = 0;
        l->raw = raw;
        python_late_walk(l, &memory, p, start_avma, to);
        l->raw = NULL;
        python_late_sort(to);
        return to->sample.n_frames > 0 && to->sample.flags == 0 && to->frame_avma[0] == start_avma;
}

/*
 * How a stack can fit the instruction: the instruction belongs to the innermost function, or to its caller
 * if a call has just begun.  A frame that has returned looks like the second case, which is therefore tried
 * last.
 */
enum late_rule { LATE_RUNS, LATE_BEGINS, LATE_RULES };

static bool is_late_function(const struct python_late_sample *late, uint64_t code, enum late_rule rule)
{
        const struct python_raw_frame *frames = late->sample.frames;

        if (rule == LATE_RUNS)
                return python_code_of(frames[0].code) == code;
        return late->sample.n_frames > 1 && (frames[0].code & PYTHON_CODE_ENTRY) == 0 &&
               python_code_of(frames[1].code) == code;
}

/* The code of the frame at @avma, or of its caller, before the whole stack is read. */
static uint64_t start_code(struct python_late *l, const struct python_process *p, const struct raw_stack *raw,
                           uint64_t avma, enum late_rule rule)
{
        const struct process_memory memory = process_memory_of(p->pid);
        const uint8_t *bytes;
        uint64_t word = 0;

        l->window_bytes = 0;
        l->n_windows = 2;
        l->raw = raw;
        bytes = python_late_frame_at(l, &memory, avma);
        if (bytes && rule == LATE_BEGINS) {
                memcpy(&avma, bytes + p->offsets.frame_previous, sizeof(avma));
                bytes = python_late_frame_at(l, &memory, avma);
        }
        if (bytes)
                memcpy(&word, bytes + p->offsets.frame_code, sizeof(word));
        l->raw = NULL;
        return python_code_of(word);
}

/* Tries the frames whose addresses the sample has.  All tries together may read as much as two stacks. */
static bool find_late_frames(struct python_late *l, const struct python_process *p,
                             const struct raw_stack *raw, uint64_t code, uint64_t type,
                             struct python_late_sample *late)
{
        uint64_t starts[STARTS_MAX], outermost_avma = late->frame_avma[late->sample.n_frames - 1];
        uint32_t n = find_starts(late, raw, starts);
        uint32_t n_steps = 2 * (late->sample.n_frames + late->sample.n_left_out) + NEAR_FRAMES;
        uint32_t n_windows = n_steps < PYTHON_LATE_WINDOWS_MAX ? n_steps : PYTHON_LATE_WINDOWS_MAX;

        l->n_frame_steps = n_steps < PYTHON_STEPS_MAX ? n_steps : PYTHON_STEPS_MAX;
        for (uint32_t i = 0; i < LATE_RULES * n; i++) {
                enum late_rule rule = i < n ? LATE_RUNS : LATE_BEGINS;

                if (start_code(l, p, raw, starts[i % n], rule) != code)
                        continue;
                l->n_windows = n_windows;
                if (walk_at_sample(l, p, raw, starts[i % n], late) && is_late_function(late, code, rule) &&
                    late->frame_avma[late->sample.n_frames - 1] == outermost_avma &&
                    python_late_fits(late, raw) && are_codes(l, p, &late->sample, &type) &&
                    are_stacked(l, p, late)) {
                        python_late_identify(l, p, &late->sample);
                        return true;
                }
                n_windows = l->n_windows;
        }
        return false;
}

bool python_late_match(struct python_late *l, const struct python_process *process,
                       const struct raw_stack *raw, struct python_late_sample *late)
{
        const struct unwind_machine *machine = unwind_machine_own();
        struct unwind_registers registers;
        uint64_t type = 0, code;

        if (process->offsets.frame_copy != PYTHON_NO_OFFSET) /* instructions are elsewhere */
                return python_late_fits(late, raw);
        if (!machine || !raw->registers || !raw->copy || late->sample.n_frames == 0 ||
            !are_codes(l, process, &late->sample, &type))
                return false;
        code = running_code(l, process, raw);
        if (code == 0)
                return false;
        if (python_late_fits(late, raw) && is_late_function(late, code, LATE_RUNS))
                return true;
        if (!unwind_registers_decode(machine, machine->perf_registers, raw->registers, raw->registers_bytes,
                                     &registers))
                return false;
        l->raw_avma = registers.values[machine->sp];
        return find_late_frames(l, process, raw, code, type, late);
}
