/* SPDX-License-Identifier: MIT */
#include "sampler/probes/static_probes.h"

#include "base/bytes.h"
#include "sampler/bpf/probe_layout.h"
#include "symbolize/elf/elf_image.h"

#include <stdlib.h>
#include <string.h>

#define NOTE_NAME      "stapsdt"
#define NOTE_TYPE      3
#define NOTES_SECTION  ".note.stapsdt"
#define BASE_SECTION   ".stapsdt.base"
#define OPERAND_LENGTH 64

static size_t align4(size_t n)
{
        return (n + 3) & ~(size_t)3;
}

/* A text up to its NUL, which must be within what is left. */
static const char *take_text(struct byte_reader *in)
{
        const uint8_t *end = memchr(in->at, '\0', in->left);

        return end ? (const char *)bytes_take(in, (size_t)(end - in->at) + 1) : NULL;
}

/* A linker that moves addresses leaves those of the notes; the base section tells by how much. */
static bool read_description(const struct elf_image *image, struct byte_reader *in, struct static_probe *p)
{
        uint64_t base, moved = 0;
        GElf_Shdr header;

        p->svma = bytes_u64(in);
        base = bytes_u64(in);
        p->semaphore_svma = bytes_u64(in);
        if (in->short_read)
                return false;
        if (base != 0 && elf_image_find_section(image, BASE_SECTION, &header))
                moved = header.sh_addr - base;
        p->svma += moved;
        if (p->semaphore_svma != 0)
                p->semaphore_svma += moved;
        p->provider = take_text(in);
        p->name = p->provider ? take_text(in) : NULL;
        p->arguments = p->name ? take_text(in) : NULL;
        return p->arguments != NULL;
}

int static_probes_next(const struct elf_image *image, size_t *at, struct static_probe *ret_probe)
{
        GElf_Shdr header;
        Elf_Scn *section = elf_image_find_section(image, NOTES_SECTION, &header);
        Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

        while (data && data->d_buf && *at < data->d_size) {
                struct byte_reader in = byte_reader_of((const uint8_t *)data->d_buf + *at,
                                                       data->d_size - *at);
                uint32_t name_bytes = bytes_u32(&in), n_bytes = bytes_u32(&in), type = bytes_u32(&in);
                const uint8_t *name = bytes_take(&in, align4(name_bytes));
                const uint8_t *bytes = bytes_take(&in, n_bytes);
                struct byte_reader description;

                if (in.short_read || !name || !bytes)
                        return 0;
                *at += 12 + align4(name_bytes) + align4(n_bytes);
                description = byte_reader_of(bytes, n_bytes);
                if (type == NOTE_TYPE && name_bytes == sizeof(NOTE_NAME) &&
                    memcmp(name, NOTE_NAME, name_bytes) == 0 &&
                    read_description(image, &description, ret_probe))
                        return 1;
        }
        return 0;
}

/* ---- arguments ----------------------------------------------------------------------------------------- */

/* The number that instructions give a register of this name, without its %; -1 for others. */
static int find_register(const char *name, size_t n, int64_t *ret_shift)
{
        static const char *const cores[] = { "ax", "cx", "dx", "bx", "sp", "bp", "si", "di" };

        *ret_shift = 0;
        if (n >= 2 && name[0] == 'r' && name[1] >= '0' && name[1] <= '9') {
                long number = strtol(name + 1, NULL, 10);

                return number >= 8 && number <= 15 ? (int)number : -1;
        }
        if (n == 3 && (name[0] == 'r' || name[0] == 'e')) {
                name++;
                n = 2;
        }
        for (int i = 0; i < 8; i++) {
                if (n == 2 && memcmp(name, cores[i], 2) == 0)
                        return i;
                if (n == 2 && i < 4 && name[0] == cores[i][0] && (name[1] == 'l' || name[1] == 'h')) {
                        *ret_shift = name[1] == 'h' ? 8 : 0;
                        return i;
                }
                if (n == 3 && i >= 4 && memcmp(name, cores[i], 2) == 0 && name[2] == 'l')
                        return i;
        }
        return -1;
}

/* "(%base)", "(%base,%index,scale)" after an offset. */
static bool parse_memory(const char *text, struct probe_arg *arg)
{
        int64_t shift;
        size_t n;
        int reg;

        if (strncmp(text, "(%", 2) != 0)
                return false;
        n = strcspn(text + 2, ",)");
        reg = find_register(text + 2, n, &shift);
        if (reg < 0)
                return false;
        arg->reg = (uint8_t)reg;
        text += 2 + n;
        if (strncmp(text, ",%", 2) == 0) {
                n = strcspn(text + 2, ",)");
                reg = find_register(text + 2, n, &shift);
                if (reg < 0)
                        return false;
                arg->index_reg = (uint8_t)reg;
                text += 2 + n;
                arg->scale = *text == ',' ? (uint8_t)strtoul(text + 1, NULL, 10) : 1;
        }
        return true;
}

static enum probe_arg_kind parse_operand(const char *text, struct probe_arg *arg)
{
        int64_t shift;
        char *end;
        int reg;

        if (text[0] == '$') {
                arg->offset = strtoll(text + 1, NULL, 0);
                return PROBE_ARG_CONSTANT;
        }
        if (text[0] == '%') {
                reg = find_register(text + 1, strlen(text + 1), &shift);
                arg->offset = shift;
                arg->reg = (uint8_t)reg;
                return reg < 0 ? PROBE_ARG_UNKNOWN : PROBE_ARG_REGISTER;
        }
        arg->offset = strtoll(text, &end, 0);
        return parse_memory(end, arg) ? PROBE_ARG_MEMORY : PROBE_ARG_UNKNOWN;
}

void static_probes_parse(const char *arguments, struct probe_spec *ret_spec)
{
        *ret_spec = (struct probe_spec){ .args = { { .kind = PROBE_ARG_NONE } } };
        for (int i = 0; i < PROBE_ARGS_MAX && *arguments; i++) {
                struct probe_arg arg = { .kind = PROBE_ARG_UNKNOWN };
                char operand[OPERAND_LENGTH] = "", *mark;
                size_t n = strcspn(arguments, " ");
                long size = strtol(arguments, &mark, 10);

                if (*mark == '@' && n - (size_t)(mark + 1 - arguments) < sizeof(operand) &&
                    (labs(size) == 1 || labs(size) == 2 || labs(size) == 4 || labs(size) == 8)) {
                        memcpy(operand, mark + 1, n - (size_t)(mark + 1 - arguments));
                        arg.size = (uint8_t)labs(size);
                        arg.is_signed = size < 0;
                        arg.kind = (uint8_t)parse_operand(operand, &arg);
                }
                ret_spec->args[i] = arg;
                ret_spec->has_texts |= arg.size == 8;
                arguments += n + (arguments[n] == ' ');
        }
}
