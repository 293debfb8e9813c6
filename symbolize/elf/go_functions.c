/* SPDX-License-Identifier: MIT */
#include "symbolize/elf/go_functions.h"

#include "base/bytes.h"
#include "symbolize/elf/elf_image.h"

#include <gelf.h>
#include <libelf.h>
#include <string.h>

/* The first four bytes: which Go wrote the table. */
#define MAGIC_1_16 UINT32_C(0xfffffffa)
#define MAGIC_1_18 UINT32_C(0xfffffff0)
#define MAGIC_1_20 UINT32_C(0xfffffff1)

#define TEXT_BYTES_MAX  (UINT32_C(1) << 16) /* of a name or path; generic functions have long ones */
#define VALUE_BYTES_MAX (UINT32_C(1) << 20) /* bytes that are read of one table of a function */

/* In the description of a function, after its address: numbers of four bytes. */
enum { FIELD_NAME = 0, FIELD_FRAME = 3, FIELD_FILE = 4, FIELD_LINE = 5, FIELD_N_TABLES = 6, FIELD_UNIT = 7 };

#define TABLE_INLINED 2 /* a further table: the inlined call at an address; -1 = none */

static struct byte_reader reader_at(const struct go_functions *go, uint64_t off)
{
        return off <= go->n_bytes ? byte_reader_of(go->bytes + off, go->n_bytes - (size_t)off)
                                  : byte_reader_of(go->bytes, 0);
}

static uint64_t read_number(struct byte_reader *in, uint8_t n_bytes)
{
        return n_bytes == 8 ? bytes_u64(in) : bytes_u32(in);
}

static Elf_Data *find_section(const struct elf_image *image, const char *name, uint64_t *ret_svma)
{
        GElf_Shdr header;
        Elf_Scn *section = elf_image_find_section(image, name, &header);

        if (!section)
                return NULL;
        *ret_svma = header.sh_addr;
        return elf_rawdata(section, NULL);
}

static bool read_header(struct go_functions *go, const struct elf_image *image)
{
        struct byte_reader in = reader_at(go, 0);
        uint32_t magic = bytes_u32(&in);
        uint64_t n_functions, text_svma = 0;

        if ((magic != MAGIC_1_16 && magic != MAGIC_1_18 && magic != MAGIC_1_20) || bytes_u16(&in) != 0)
                return false;
        go->code_bytes = bytes_u8(&in);
        go->address_bytes = bytes_u8(&in);
        if ((go->code_bytes != 1 && go->code_bytes != 2 && go->code_bytes != 4) ||
            (go->address_bytes != 4 && go->address_bytes != 8))
                return false;
        go->entry_bytes = magic == MAGIC_1_16 ? go->address_bytes : 4;
        n_functions = read_number(&in, go->address_bytes);
        (void)read_number(&in, go->address_bytes); /* how many files */
        if (magic != MAGIC_1_16) {
                go->text_svma = read_number(&in, go->address_bytes);
                /* The loader fills in this address if the program can lie anywhere. */
                if (go->text_svma == 0 && find_section(image, ".text", &text_svma))
                        go->text_svma = text_svma;
        }
        go->names_off = read_number(&in, go->address_bytes);
        go->units_off = read_number(&in, go->address_bytes);
        go->files_off = read_number(&in, go->address_bytes);
        go->values_off = read_number(&in, go->address_bytes);
        go->functions_off = read_number(&in, go->address_bytes);
        if (in.short_read || n_functions == 0 || n_functions > GO_FUNCTIONS_MAX ||
            go->functions_off > go->n_bytes ||
            (n_functions * 2 + 1) * go->entry_bytes > go->n_bytes - go->functions_off)
                return false;
        go->n_functions = (uint32_t)n_functions;
        return true;
}

bool go_functions_open(struct go_functions *go, const struct elf_image *image)
{
        static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
        GElf_Ehdr header;

        *go = (struct go_functions){ .bytes = NULL };
        if (!gelf_getehdr(image->elf, &header) || header.e_ident[EI_DATA] != ELFDATA2LSB)
                return false;
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                uint64_t svma;
                const Elf_Data *data = find_section(image, names[i], &svma);

                if (!data || !data->d_buf)
                        continue;
                *go = (struct go_functions){ .bytes = data->d_buf, .n_bytes = data->d_size };
                if (read_header(go, image))
                        return true;
        }
        *go = (struct go_functions){ .bytes = NULL };
        return false;
}

/* A text that ends within the section; NULL if it does not, or is empty or too long. */
static const char *text_at(const struct go_functions *go, uint64_t base, uint64_t off)
{
        uint64_t at, left_bytes;

        if (__builtin_add_overflow(base, off, &at) || at >= go->n_bytes || go->bytes[at] == '\0')
                return NULL;
        left_bytes = go->n_bytes - at < TEXT_BYTES_MAX ? go->n_bytes - at : TEXT_BYTES_MAX;
        if (!memchr(go->bytes + at, '\0', (size_t)left_bytes))
                return NULL;
        return (const char *)go->bytes + at;
}

/* Reads a number of a function's description; UINT32_MAX if it is outside of the section. */
static uint32_t field_at(const struct go_functions *go, uint64_t function_off, uint64_t field)
{
        struct byte_reader in = reader_at(go, function_off + go->entry_bytes + 4 * field);
        uint32_t value = bytes_u32(&in);

        return in.short_read ? UINT32_MAX : value;
}

static uint64_t start_at(const struct go_functions *go, uint32_t i)
{
        struct byte_reader in = reader_at(go, go->functions_off + (uint64_t)i * 2 * go->entry_bytes);

        return go->text_svma + read_number(&in, go->entry_bytes);
}

bool go_functions_get_code(const struct go_functions *go, uint32_t i, struct go_function *ret_function)
{
        struct byte_reader in = reader_at(go, go->functions_off + ((uint64_t)i * 2 + 1) * go->entry_bytes);
        struct go_function f = { .start_svma = start_at(go, i), .end_svma = start_at(go, i + 1) };

        if (__builtin_add_overflow(go->functions_off, read_number(&in, go->entry_bytes), &f.off) ||
            f.off >= go->n_bytes || f.end_svma <= f.start_svma)
                return false;
        *ret_function = f;
        return true;
}

bool go_functions_get(const struct go_functions *go, uint32_t i, struct go_function *ret_function)
{
        if (!go_functions_get_code(go, i, ret_function))
                return false;
        ret_function->name = text_at(go, go->names_off, field_at(go, ret_function->off, FIELD_NAME));
        return ret_function->name != NULL;
}

/* Opens one of a function's tables; a table that the function lacks has no values. */
static void open_values(const struct go_functions *go, const struct go_function *f, uint32_t table_off,
                        struct go_values *ret_values)
{
        uint64_t off;
        bool is_there = table_off != 0 && table_off != UINT32_MAX &&
                        !__builtin_add_overflow(go->values_off, table_off, &off);

        *ret_values = (struct go_values){ .in = is_there ? reader_at(go, off) : byte_reader_of(go->bytes, 0),
                                          .end_svma = f->start_svma,
                                          .value = -1,
                                          .code_bytes = go->code_bytes,
                                          .is_first = true };
        if (ret_values->in.left > VALUE_BYTES_MAX)
                ret_values->in.left = VALUE_BYTES_MAX;
}

bool go_functions_next_value(struct go_values *v)
{
        uint64_t change = bytes_varint(&v->in), n_bytes;

        if (v->in.short_read || (change == 0 && !v->is_first))
                return false;
        v->is_first = false;
        v->value = (int64_t)((uint64_t)v->value + (change & 1 ? ~(change >> 1) : change >> 1));
        v->start_svma = v->end_svma;
        return !__builtin_mul_overflow(bytes_varint(&v->in), v->code_bytes, &n_bytes) && !v->in.short_read &&
               !__builtin_add_overflow(v->start_svma, n_bytes, &v->end_svma);
}

/* The value of one of a function's tables at an address.  Returns false if the table has none. */
static bool find_value(const struct go_functions *go, const struct go_function *f, uint32_t table_off,
                       uint64_t svma, int64_t *ret_value)
{
        struct go_values v;

        open_values(go, f, table_off, &v);
        while (go_functions_next_value(&v)) {
                if (svma < v.end_svma) {
                        *ret_value = v.value;
                        return true;
                }
        }
        return false;
}

static bool find_function(const struct go_functions *go, uint64_t svma, struct go_function *ret_function)
{
        uint32_t low = 0, high = go->n_functions;

        if (high == 0 || svma < start_at(go, 0))
                return false;
        while (high - low > 1) {
                uint32_t middle = low + (high - low) / 2;

                if (start_at(go, middle) <= svma)
                        low = middle;
                else
                        high = middle;
        }
        return go_functions_get(go, low, ret_function) && svma < ret_function->end_svma;
}

static const char *find_file(const struct go_functions *go, const struct go_function *f, int64_t number)
{
        uint64_t unit = field_at(go, f->off, FIELD_UNIT);
        struct byte_reader in;
        uint32_t off;

        if (number < 0 || number > UINT32_MAX || unit == UINT32_MAX || go->units_off > go->n_bytes)
                return NULL;
        in = reader_at(go, go->units_off + 4 * (unit + (uint64_t)number));
        off = bytes_u32(&in);
        return in.short_read ? NULL : text_at(go, go->files_off, off);
}

void go_functions_read_frame(const struct go_functions *go, const struct go_function *f,
                             struct go_values *ret_values)
{
        open_values(go, f, field_at(go, f->off, FIELD_FRAME), ret_values);
}

bool go_functions_find_place(const struct go_functions *go, uint64_t svma, struct go_place *ret_place)
{
        struct go_function f;
        int64_t line, file, inlined;
        uint32_t n_tables;

        if (!find_function(go, svma, &f))
                return false;
        n_tables = field_at(go, f.off, FIELD_N_TABLES);
        /*
         * The list of tables follows the description, which Go 1.20 made longer by the function's first line.
         */
        if (n_tables != UINT32_MAX && n_tables > TABLE_INLINED) {
                struct byte_reader in = reader_at(go, 0);
                uint64_t fields = bytes_u32(&in) == MAGIC_1_20 ? 10 : 9;

                if (find_value(go, &f, field_at(go, f.off, fields + TABLE_INLINED), svma, &inlined) &&
                    inlined >= 0)
                        return false;
        }
        if (!find_value(go, &f, field_at(go, f.off, FIELD_LINE), svma, &line) || line <= 0 ||
            line > INT32_MAX || !find_value(go, &f, field_at(go, f.off, FIELD_FILE), svma, &file))
                return false;
        *ret_place = (struct go_place){ .file = find_file(go, &f, file), .line = (uint32_t)line };
        return ret_place->file != NULL;
}
