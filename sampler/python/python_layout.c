/* SPDX-License-Identifier: MIT */
#include "sampler/python/python_layout.h"

#include <errno.h>
#include <string.h>

#define MINOR_OF(version) ((version) >> 16)
#define OFFSET_MAX        16384 /* no struct of an interpreter that we read from is larger */

#define GIL_BYTES 208 /* of struct _gil_runtime_state, 3.11 to 3.14 */

static const struct python_layout layout_of_3_11 = {
        .walk = { .interpreter_next = 0,
                  .interpreter_threads = 16,
                  .thread_next = 8,
                  .thread_native_id = 160,
                  .thread_frame = 56,
                  .link_frame = 8,
                  .frame_code = 32,
                  .frame_previous = 48,
                  .frame_instruction = 56,
                  .frame_owner = 69,
                  .frame_is_entry = 68,
                  .frame_copy = PYTHON_NO_OFFSET,
                  .interpreter_gil = PYTHON_NO_OFFSET,
                  .gil_holder = 8,
                  .gil_locked = 16,
                  .gil_switches = 24,
                  .gil_bytes = GIL_BYTES },
        .owner_entry = 255,
        .interpreters = 40,
        .current = 576,
        .gil = 360,
        .objects = { .code_file = 112,
                     .code_name = 128,
                     .code_lines = 136,
                     .code_first_line = 72,
                     .code_instructions = 184,
                     .bytes_length = 16,
                     .bytes_data = 32,
                     .text_length = 16,
                     .text_state = 32,
                     .text_ascii = 48,
                     .text_wide = 72 },
};

static const struct python_layout layout_of_3_12 = {
        .walk = { .interpreter_next = 0,
                  .interpreter_threads = 72,
                  .thread_next = 8,
                  .thread_native_id = 144,
                  .thread_frame = 56,
                  .link_frame = 0,
                  .frame_code = 0,
                  .frame_previous = 8,
                  .frame_instruction = 56,
                  .frame_owner = 70,
                  .frame_is_entry = PYTHON_NO_OFFSET,
                  .frame_copy = PYTHON_NO_OFFSET,
                  .interpreter_gil = 384,
                  .gil_holder = 8,
                  .gil_locked = 16,
                  .gil_switches = 24,
                  .gil_bytes = GIL_BYTES },
        .owner_entry = 3,
        .interpreters = 40,
        .objects = { .code_file = 112,
                     .code_name = 128,
                     .code_lines = 136,
                     .code_first_line = 68,
                     .code_instructions = 192,
                     .bytes_length = 16,
                     .bytes_data = 32,
                     .text_length = 16,
                     .text_state = 32,
                     .text_ascii = 40,
                     .text_wide = 56,
                     .code_is_numbered = 1 },
};

/* The words of struct _Py_DebugOffsets that are used. */
enum debug_word {
        WORD_FREE_THREADED,
        WORD_INTERPRETERS,
        WORD_INTERPRETER_NEXT,
        WORD_INTERPRETER_THREADS,
        WORD_INTERPRETER_GIL,
        WORD_GIL,
        WORD_GIL_LOCKED,
        WORD_GIL_HOLDER,
        WORD_THREAD_NEXT,
        WORD_THREAD_FRAME,
        WORD_THREAD_NATIVE_ID,
        WORD_FRAME_PREVIOUS,
        WORD_FRAME_CODE,
        WORD_FRAME_INSTRUCTION,
        WORD_FRAME_OWNER,
        WORD_FRAME_COPY,
        WORD_CODE_FILE,
        WORD_CODE_NAME,
        WORD_CODE_LINES,
        WORD_CODE_FIRST_LINE,
        WORD_CODE_INSTRUCTIONS,
        WORD_CODE_COPIES,
        WORD_BYTES_LENGTH,
        WORD_BYTES_DATA,
        WORD_TEXT_STATE,
        WORD_TEXT_LENGTH,
        WORD_TEXT_ASCII,
        DEBUG_WORDS
};

/*
 * The indices of these words, which differ between minor versions; 0 (the cookie's) = the version lacks the
 * word.
 */
static const uint8_t words_of_3_13[DEBUG_WORDS] = {
        [WORD_FREE_THREADED] = 2,       [WORD_INTERPRETERS] = 5,       [WORD_INTERPRETER_NEXT] = 8,
        [WORD_INTERPRETER_THREADS] = 9, [WORD_INTERPRETER_GIL] = 14,   [WORD_GIL] = 15,
        [WORD_GIL_LOCKED] = 17,         [WORD_GIL_HOLDER] = 18,        [WORD_THREAD_NEXT] = 21,
        [WORD_THREAD_FRAME] = 23,       [WORD_THREAD_NATIVE_ID] = 25,  [WORD_FRAME_PREVIOUS] = 29,
        [WORD_FRAME_CODE] = 30,         [WORD_FRAME_INSTRUCTION] = 31, [WORD_FRAME_OWNER] = 33,
        [WORD_CODE_FILE] = 35,          [WORD_CODE_NAME] = 37,         [WORD_CODE_LINES] = 38,
        [WORD_CODE_FIRST_LINE] = 39,    [WORD_CODE_INSTRUCTIONS] = 43, [WORD_BYTES_LENGTH] = 65,
        [WORD_BYTES_DATA] = 66,         [WORD_TEXT_STATE] = 68,        [WORD_TEXT_LENGTH] = 69,
        [WORD_TEXT_ASCII] = 70,
};

static const uint8_t words_of_3_14[DEBUG_WORDS] = {
        [WORD_FREE_THREADED] = 2,       [WORD_INTERPRETERS] = 5,       [WORD_INTERPRETER_NEXT] = 8,
        [WORD_INTERPRETER_THREADS] = 9, [WORD_INTERPRETER_GIL] = 15,   [WORD_GIL] = 16,
        [WORD_GIL_LOCKED] = 18,         [WORD_GIL_HOLDER] = 19,        [WORD_THREAD_NEXT] = 24,
        [WORD_THREAD_FRAME] = 26,       [WORD_THREAD_NATIVE_ID] = 28,  [WORD_FRAME_PREVIOUS] = 32,
        [WORD_FRAME_CODE] = 33,         [WORD_FRAME_INSTRUCTION] = 34, [WORD_FRAME_OWNER] = 36,
        [WORD_FRAME_COPY] = 38,         [WORD_CODE_FILE] = 40,         [WORD_CODE_NAME] = 42,
        [WORD_CODE_LINES] = 43,         [WORD_CODE_FIRST_LINE] = 44,   [WORD_CODE_INSTRUCTIONS] = 48,
        [WORD_CODE_COPIES] = 49,        [WORD_BYTES_LENGTH] = 75,      [WORD_BYTES_DATA] = 76,
        [WORD_TEXT_STATE] = 78,         [WORD_TEXT_LENGTH] = 79,       [WORD_TEXT_ASCII] = 80,
};

#define HEAD_WORDS (PYTHON_LAYOUT_HEAD_BYTES / sizeof(uint64_t))

#define WIDE_EXTRA_BYTES \
        16 /* PyCompactUnicodeObject has the length and the pointer of its UTF-8 behind its base */

#define GIL_SWITCHES_AFTER_BYTES 8 /* the count lies behind `locked`, an int, and is aligned */

struct debug_offsets {
        uint64_t words[HEAD_WORDS];
        const uint8_t *numbers; /* of the version: words_of_3_13 */
        int wrong;              /* one of them makes no sense */
};

static uint64_t debug_word_of(const struct debug_offsets *d, enum debug_word word)
{
        return d->numbers[word] != 0 ? d->words[d->numbers[word]] : 0;
}

static uint16_t offset_at(struct debug_offsets *d, enum debug_word word, uint64_t max)
{
        d->wrong |= debug_word_of(d, word) >= max;
        return (uint16_t)debug_word_of(d, word);
}

/* Reads an offset in a part that only some builds have. */
static uint16_t optional_offset_at(struct debug_offsets *d, enum debug_word word, uint64_t max)
{
        return debug_word_of(d, word) != 0 ? offset_at(d, word, max) : PYTHON_NO_OFFSET;
}

/* The offsets of members of the main interpreter's GIL count from the beginning of the interpreter. */
static uint16_t offset_in_gil(struct debug_offsets *d, enum debug_word word)
{
        uint64_t start = debug_word_of(d, WORD_GIL), at = debug_word_of(d, word);

        d->wrong |= at < start || at - start >= GIL_BYTES;
        return (uint16_t)(at - start);
}

static void set_walk(struct debug_offsets *d, struct python_offsets *walk)
{
        const uint64_t frame_max = PYTHON_FRAME_BYTES - sizeof(uint64_t) + 1;

        walk->interpreter_next = offset_at(d, WORD_INTERPRETER_NEXT, OFFSET_MAX);
        walk->interpreter_threads = offset_at(d, WORD_INTERPRETER_THREADS, OFFSET_MAX);
        walk->thread_next = offset_at(d, WORD_THREAD_NEXT, OFFSET_MAX);
        walk->thread_native_id = offset_at(d, WORD_THREAD_NATIVE_ID, OFFSET_MAX);
        walk->thread_frame = offset_at(d, WORD_THREAD_FRAME, OFFSET_MAX);
        walk->link_frame = PYTHON_NO_OFFSET;
        walk->frame_previous = offset_at(d, WORD_FRAME_PREVIOUS, frame_max);
        walk->frame_code = offset_at(d, WORD_FRAME_CODE, frame_max);
        walk->frame_instruction = offset_at(d, WORD_FRAME_INSTRUCTION, frame_max);
        walk->frame_owner = offset_at(d, WORD_FRAME_OWNER, frame_max);
        walk->frame_is_entry = PYTHON_NO_OFFSET;
        walk->frame_copy = optional_offset_at(d, WORD_FRAME_COPY, frame_max);
        walk->code_copies = optional_offset_at(d, WORD_CODE_COPIES, OFFSET_MAX);
        walk->code_instructions = offset_at(d, WORD_CODE_INSTRUCTIONS, OFFSET_MAX);
}

static void set_gil(struct debug_offsets *d, struct python_offsets *walk)
{
        walk->interpreter_gil = offset_at(d, WORD_INTERPRETER_GIL, OFFSET_MAX);
        walk->gil_holder = offset_in_gil(d, WORD_GIL_HOLDER);
        walk->gil_locked = offset_in_gil(d, WORD_GIL_LOCKED);
        walk->gil_switches = (uint16_t)(walk->gil_locked + GIL_SWITCHES_AFTER_BYTES);
        walk->gil_bytes = GIL_BYTES;
}

static int read_debug_offsets(const uint8_t *head, const uint8_t *numbers, struct python_layout *ret_layout)
{
        struct debug_offsets d = { .numbers = numbers };
        struct python_layout *l = ret_layout;

        memcpy(d.words, head, sizeof(d.words));
        if (memcmp(head, "xdebugpy", sizeof(uint64_t)) != 0)
                return -EBADMSG;
        *l = (struct python_layout){ .owner_entry = 3 };
        l->interpreters = offset_at(&d, WORD_INTERPRETERS, OFFSET_MAX);
        set_walk(&d, &l->walk);
        if (debug_word_of(&d, WORD_FREE_THREADED) == 0)
                set_gil(&d, &l->walk);
        l->objects.code_file = offset_at(&d, WORD_CODE_FILE, OFFSET_MAX);
        l->objects.code_name = offset_at(&d, WORD_CODE_NAME, OFFSET_MAX);
        l->objects.code_lines = offset_at(&d, WORD_CODE_LINES, OFFSET_MAX);
        l->objects.code_first_line = offset_at(&d, WORD_CODE_FIRST_LINE, OFFSET_MAX);
        l->objects.code_instructions = l->walk.code_instructions;
        l->objects.bytes_length = offset_at(&d, WORD_BYTES_LENGTH, OFFSET_MAX);
        l->objects.bytes_data = offset_at(&d, WORD_BYTES_DATA, OFFSET_MAX);
        l->objects.text_state = offset_at(&d, WORD_TEXT_STATE, OFFSET_MAX);
        l->objects.text_length = offset_at(&d, WORD_TEXT_LENGTH, OFFSET_MAX);
        l->objects.text_ascii = offset_at(&d, WORD_TEXT_ASCII, OFFSET_MAX);
        l->objects.text_wide = (uint16_t)(l->objects.text_ascii + WIDE_EXTRA_BYTES);
        l->objects.code_is_numbered = 1;
        return d.wrong ? -EBADMSG : 0;
}

int python_layout_find(uint64_t version, const uint8_t *head, struct python_layout *ret_layout)
{
        switch (MINOR_OF(version)) {
        case 0x030b:
                *ret_layout = layout_of_3_11;
                return 0;
        case 0x030c:
                *ret_layout = layout_of_3_12;
                return 0;
        case 0x030d:
                return read_debug_offsets(head, words_of_3_13, ret_layout);
        case 0x030e:
                return read_debug_offsets(head, words_of_3_14, ret_layout);
        default:
                return -ENOTSUP;
        }
}
