/* SPDX-License-Identifier: MIT */
#include "symbolize/index/dwarf_lines.h"

#include "base/array.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#define FORMATS_MAX 16 /* of an entry in a DWARF 5 table; compilers use two or three */
#define FILES_MAX   (1U << 20)

void dwarf_lines_deinit(struct dwarf_lines *lines)
{
        free(lines->directories);
        free(lines->files);
        *lines = (struct dwarf_lines){ .files = NULL };
}

static int add_directory(struct dwarf_lines *lines, const char *name)
{
        if (lines->n_directories >= FILES_MAX)
                return -EBADMSG;
        if (array_reserve(&lines->directories, &lines->directories_capacity, lines->n_directories + 1,
                          sizeof(*lines->directories)) < 0)
                return -ENOMEM;
        lines->directories[lines->n_directories++] = name;
        return 0;
}

static int add_file(struct dwarf_lines *lines, const char *name, uint64_t directory)
{
        if (lines->n_files >= FILES_MAX)
                return -EBADMSG;
        if (array_reserve(&lines->files, &lines->files_capacity, lines->n_files + 1, sizeof(*lines->files)) <
            0)
                return -ENOMEM;
        lines->files[lines->n_files++] = (struct dwarf_line_file){ name, directory };
        return 0;
}

/* Before DWARF 5: texts up to an empty one; each text of a file is followed by three numbers. */
static int load_old_tables(struct dwarf_lines *lines, const struct dwarf_unit *unit, struct dwarf_cursor *c)
{
        const char *name;
        int r = add_directory(lines, unit->comp_dir);

        while (r == 0 && (name = dwarf_cursor_string(c)) != NULL && *name)
                r = add_directory(lines, name);
        while (r == 0 && (name = dwarf_cursor_string(c)) != NULL && *name) {
                uint64_t directory = dwarf_cursor_uleb(c);

                (void)dwarf_cursor_uleb(c);
                (void)dwarf_cursor_uleb(c);
                r = add_file(lines, name, directory);
        }
        return r;
}

struct entry_format {
        uint64_t content[FORMATS_MAX], form[FORMATS_MAX];
        uint8_t n;
};

static struct dwarf_line_file read_entry(const struct dwarf_unit *unit, struct dwarf_cursor *c,
                                         const struct entry_format *format)
{
        struct dwarf_line_file file = { .name = NULL };

        for (uint8_t i = 0; i < format->n; i++) {
                int n_bytes = dwarf_form_bytes(format->form[i], unit->encoding);
                const struct dwarf_step step = { .form = (uint16_t)format->form[i],
                                                 .fixed_bytes = n_bytes < 0 ? DWARF_STEP_VARIES
                                                                            : (uint8_t)n_bytes };
                struct dwarf_value v;

                if (format->form[i] > UINT16_MAX || n_bytes > 8) {
                        dwarf_form_skip(c, format->form[i], unit->encoding);
                        continue;
                }
                v = dwarf_value_read(c, &step, unit->encoding);
                if (format->content[i] == DW_LNCT_path)
                        file.name = dwarf_unit_text(unit, &v);
                else if (format->content[i] == DW_LNCT_directory_index)
                        (void)dwarf_value_constant(&v, &file.directory);
        }
        return file;
}

/* DWARF 5: what an entry consists of, how many there are, the entries. */
static int load_table(struct dwarf_lines *lines, const struct dwarf_unit *unit, struct dwarf_cursor *c,
                      bool is_of_files)
{
        struct entry_format format = { .n = bytes_u8(&c->r) };
        uint64_t n_entries;
        int r = 0;

        if (format.n > FORMATS_MAX)
                return -EBADMSG;
        for (uint8_t i = 0; i < format.n; i++) {
                format.content[i] = dwarf_cursor_uleb(c);
                format.form[i] = dwarf_cursor_uleb(c);
        }
        n_entries = dwarf_cursor_uleb(c);
        if (n_entries > c->r.left) /* each takes a byte at least */
                return -EBADMSG;
        for (uint64_t i = 0; i < n_entries && r == 0; i++) {
                struct dwarf_line_file file = read_entry(unit, c, &format);

                if (c->r.short_read)
                        return -EBADMSG;
                r = is_of_files ? add_file(lines, file.name, file.directory)
                                : add_directory(lines, file.name);
        }
        return r;
}

static void start_sequence(struct dwarf_lines *lines)
{
        lines->state = (struct dwarf_line_row){ .file = 1, .line = 1 };
        lines->operation = 0;
}

static int load_header(struct dwarf_lines *lines, const struct dwarf_unit *unit, struct dwarf_cursor *c)
{
        struct dwarf_unit own = *unit; /* the program says by itself how its forms are encoded */
        uint64_t header_bytes;
        struct dwarf_cursor header;
        int r;

        if (lines->version >= 5) {
                lines->address_bytes = bytes_u8(&c->r);
                (void)bytes_u8(&c->r); /* segments, which no compiler writes */
        }
        header_bytes = dwarf_cursor_offset(c, own.encoding.is_64);
        header = *c;
        dwarf_cursor_skip(c, header_bytes);
        if (c->r.short_read)
                return -EBADMSG;
        header.r.left = (size_t)header_bytes;
        lines->program = *c;
        lines->instruction_bytes = bytes_u8(&header.r);
        lines->operations_max = lines->version >= 4 ? bytes_u8(&header.r) : 1;
        (void)bytes_u8(&header.r); /* whether rows are statements at first */
        lines->line_base = (int8_t)bytes_u8(&header.r);
        lines->line_range = bytes_u8(&header.r);
        lines->opcode_base = bytes_u8(&header.r);
        lines->opcode_lengths = bytes_take(&header.r, lines->opcode_base ? lines->opcode_base - 1U : 0);
        if (header.r.short_read || lines->line_range == 0 || lines->opcode_base == 0)
                return -EBADMSG;
        if (lines->operations_max == 0)
                lines->operations_max = 1;
        own.encoding.version = lines->version;
        own.encoding.address_bytes = lines->address_bytes;
        if (lines->version < 5)
                return load_old_tables(lines, unit, &header);
        r = load_table(lines, &own, &header, false);
        return r < 0 ? r : load_table(lines, &own, &header, true);
}

int dwarf_lines_load(struct dwarf_lines *lines, const struct dwarf_unit *unit, uint64_t *budget)
{
        struct dwarf_cursor c = dwarf_cursor_at(unit->file->sections, DEBUG_SECTION_LINE, unit->stmt_list);
        struct dwarf_unit own = *unit;
        uint16_t version;
        int r;

        lines->n_directories = lines->n_files = 0;
        lines->comp_dir = unit->comp_dir;
        lines->program = (struct dwarf_cursor){ .r.left = 0 };
        start_sequence(lines);
        if (unit->stmt_list == DWARF_NO_OFFSET || !dwarf_cursor_enter(&c, &own.encoding.is_64) ||
            c.r.left > *budget)
                return -EBADMSG;
        *budget -= c.r.left;
        version = dwarf_cursor_u16(&c);
        if (version < 2 || version > 5)
                return -EBADMSG;
        lines->version = (uint8_t)version;
        lines->address_bytes = unit->encoding.address_bytes;
        r = load_header(lines, &own, &c);
        if (r < 0)
                lines->program = (struct dwarf_cursor){ .r.left = 0 };
        return r;
}

const struct dwarf_line_file *dwarf_lines_find_file(const struct dwarf_lines *lines, uint64_t number)
{
        uint64_t place = lines->version >= 5 ? number : number - 1;

        return place < lines->n_files && lines->files[place].name ? &lines->files[place] : NULL;
}

const char *dwarf_lines_directory(const struct dwarf_lines *lines, const struct dwarf_line_file *file)
{
        return file->directory < lines->n_directories ? lines->directories[file->directory] : NULL;
}

static void advance(struct dwarf_lines *lines, uint64_t operations)
{
        if (lines->operations_max == 1) {
                lines->state.address += operations * lines->instruction_bytes;
                return;
        }
        operations += lines->operation;
        lines->state.address += operations / lines->operations_max * lines->instruction_bytes;
        lines->operation = (uint32_t)(operations % lines->operations_max);
}

static int run_extended(struct dwarf_lines *lines, struct dwarf_line_row *ret_row)
{
        struct dwarf_cursor *c = &lines->program;
        uint64_t n_bytes = dwarf_cursor_uleb(c);
        struct dwarf_cursor operands = *c;

        dwarf_cursor_skip(c, n_bytes);
        if (c->r.short_read || n_bytes == 0)
                return 0;
        operands.r.left = (size_t)n_bytes;
        switch (bytes_u8(&operands.r)) {
        case DW_LNE_end_sequence:
                *ret_row = lines->state;
                ret_row->is_end = true;
                start_sequence(lines);
                return 1;
        case DW_LNE_set_address:
                lines->state.address = dwarf_cursor_number(&operands, (unsigned)operands.r.left);
                lines->operation = 0;
                return 0;
        case DW_LNE_define_file: {
                const char *name = dwarf_cursor_string(&operands);

                /* If there is no memory for it, rows show no file. */
                if (name)
                        (void)add_file(lines, name, dwarf_cursor_uleb(&operands));
                return 0;
        }
        default:
                return 0;
        }
}

static int run_standard(struct dwarf_lines *lines, uint8_t opcode, struct dwarf_line_row *ret_row)
{
        struct dwarf_cursor *c = &lines->program;

        switch (opcode) {
        case DW_LNS_copy:
                *ret_row = lines->state;
                return 1;
        case DW_LNS_advance_pc:
                advance(lines, dwarf_cursor_uleb(c));
                return 0;
        case DW_LNS_advance_line:
                lines->state.line += (uint32_t)dwarf_cursor_sleb(c);
                return 0;
        case DW_LNS_set_file:
                lines->state.file = dwarf_cursor_uleb(c);
                return 0;
        case DW_LNS_set_column:
                lines->state.column = (uint32_t)dwarf_cursor_uleb(c);
                return 0;
        case DW_LNS_const_add_pc:
                advance(lines, (255U - lines->opcode_base) / lines->line_range);
                return 0;
        case DW_LNS_fixed_advance_pc:
                lines->state.address += dwarf_cursor_u16(c);
                lines->operation = 0;
                return 0;
        default: /* flags of rows, and what later versions may bring */
                for (uint8_t i = 0; i < lines->opcode_lengths[opcode - 1]; i++)
                        (void)dwarf_cursor_uleb(c);
                return 0;
        }
}

int dwarf_lines_next(struct dwarf_lines *lines, struct dwarf_line_row *ret_row)
{
        while (!dwarf_cursor_ended(&lines->program)) {
                uint8_t opcode = bytes_u8(&lines->program.r);

                if (opcode >= lines->opcode_base) {
                        opcode = (uint8_t)(opcode - lines->opcode_base);
                        advance(lines, opcode / lines->line_range);
                        lines->state.line += (uint32_t)(lines->line_base + opcode % lines->line_range);
                        *ret_row = lines->state;
                        return 1;
                }
                if (opcode == 0 ? run_extended(lines, ret_row) : run_standard(lines, opcode, ret_row))
                        return 1;
        }
        return 0;
}
