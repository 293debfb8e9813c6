/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: any bytes as debug information give chains of calls or nothing, and a saved index says
 * the same; never a crash.
 */
#include "base/byte_buffer.h"
#include "symbolize/debug/debug_sections.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/index/code_index.h"
#include "symbolize/index/saved_index.h"
#include "symbolize/index/symbol_table.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LOOKUPS    256 /* addresses that are asked for */
#define PLACES_MAX 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

struct input {
        struct debug_sections plain, split;
};

/* Every skeleton has its split part in the same file. */
static int find_split(void *context, const char *name, const char *directory, uint64_t dwo_id,
                      const struct debug_sections **ret_sections)
{
        struct input *input = context;

        (void)directory;
        (void)dwo_id;
        if (strlen(name) > SIZE_MAX / 2)
                abort();
        *ret_sections = &input->split;
        return 1;
}

static bool is_equal_text(const char *a, const char *b)
{
        return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static void compare(struct code_index *code, const struct saved_index *saved, uint64_t svma)
{
        struct code_place x[PLACES_MAX], y[PLACES_MAX];
        uint32_t n = code_index_find(code, svma, x, PLACES_MAX);
        struct code_names *names = code_index_names(code);

        if (n > PLACES_MAX || n != saved_index_find(saved, svma, y, PLACES_MAX))
                abort();
        for (uint32_t i = 0; i < n; i++)
                if (x[i].line != y[i].line || x[i].column != y[i].column ||
                    !is_equal_text(code_names_path(names, x[i].path), saved_index_path(saved, y[i].path)) ||
                    !is_equal_text(code_names_show(names, x[i].name), saved_index_name(saved, y[i].name)))
                        abort();
}

static void look_up(const struct elf_image *image, struct code_index *code)
{
        const struct address_map *directory = code_index_directory(code);
        struct symbol_table functions = { .entries = NULL };
        struct code_names names;
        const struct saved_content content = { image, &functions, code, &names };
        struct byte_buffer bytes = { .data = NULL };
        struct saved_index saved;

        code_names_init(&names);
        if (saved_index_write(&content, &bytes, NULL) == 0) {
                if (!saved_index_open(&saved, image, bytes.data, bytes.used_bytes))
                        abort();
                for (size_t i = 0; i < directory->n_segments && i < LOOKUPS / 4; i++)
                        for (uint64_t k = 0; k < 4; k++)
                                compare(code, &saved, directory->segments[i].start + k * k * k);
        }
        byte_buffer_deinit(&bytes);
        code_names_deinit(&names);
}

static void index_sections(const struct elf_image *image, struct input *input)
{
        const struct code_index_source source = { .sections = &input->plain,
                                                  .supplement = &input->plain,
                                                  .find_split = find_split,
                                                  .context = input,
                                                  .first_svma = 1 };
        struct code_index *code;

        if (code_index_new(&source, &code, NULL) < 0)
                return;
        if (code_index_complete(code, NULL) == 0)
                look_up(image, code);
        code_index_free(code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        struct input input = { .plain = { .is_big_endian = false } };
        struct elf_image *image;

        if (elf_image_open_memory(data, n_bytes, &image, NULL) < 0)
                return 0;
        if (debug_sections_load(&input.plain, image->elf, false, NULL) == 0 &&
            debug_sections_load(&input.split, image->elf, true, NULL) == 0)
                index_sections(image, &input);
        debug_sections_deinit(&input.plain);
        debug_sections_deinit(&input.split);
        elf_image_close(image);
        return 0;
}
