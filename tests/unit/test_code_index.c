/* SPDX-License-Identifier: MIT */
/*
 * symbolize/index/code_index.c: an address gives its chain of inlined calls in each version, format and byte
 * order, in each of many units; hostile entries cost little
 */
#include "symbolize/index/code_index.h"
#include "tests/unit/dwarf_builder.h"
#include "tests/unit/unit_test.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define INFO   DEBUG_SECTION_INFO
#define ABBREV DEBUG_SECTION_ABBREV

enum { PLACES_MAX = 8 };

static struct dwarf_builder b;
static struct code_index *code;
static struct code_place places[PLACES_MAX];

static void setup(void)
{
        b = (struct dwarf_builder){ .version = 5, .address_bytes = 8 };
}

static void teardown(void)
{
        code_index_free(code);
        code = NULL;
        dwarf_builder_deinit(&b);
}

static void open_index_from(uint64_t first_svma)
{
        const struct code_index_source source = { .sections = dwarf_builder_sections(&b),
                                                  .first_svma = first_svma };

        ck_assert_int_eq(code_index_new(&source, &code, NULL), 0);
}

static void open_index(void)
{
        open_index_from(1);
}

static uint32_t find(uint64_t svma)
{
        return code_index_find(code, svma, places, PLACES_MAX);
}

static const char *name(uint32_t i)
{
        return code_names_show(code_index_names(code), places[i].name);
}

static void expect(uint32_t i, const char *function, uint32_t line, uint32_t column)
{
        ck_assert_pstr_eq(name(i), function);
        ck_assert_uint_eq(places[i].line, line);
        ck_assert_uint_eq(places[i].column, column);
        ck_assert_str_eq(code_names_path(code_index_names(code), places[i].path), "/src/main.c");
}

static void add_abbrev(const int *list)
{
        dwarf_builder_add_list(&b, ABBREV, list);
        dwarf_builder_add(&b, ABBREV, 0, 2);
}

static int offset_form(void)
{
        return b.version >= 4 ? DW_FORM_sec_offset : b.is_64 ? DW_FORM_data8 : DW_FORM_data4;
}

/* 1 unit, 2 function, 3 inlined call, 4 abstract function, 5 block with children. */
static void add_abbrevs(void)
{
        const int high = b.version >= 4 ? DW_FORM_data4 : DW_FORM_addr;
        const int linkage = b.version >= 4 ? DW_AT_linkage_name : 0x2007;

        add_abbrev((const int[]){ 1, DW_TAG_compile_unit, 1, DW_AT_stmt_list, offset_form(), DW_AT_low_pc,
                                  DW_FORM_addr, DW_AT_high_pc, high, DW_AT_comp_dir, DW_FORM_string, -1 });
        add_abbrev((const int[]){ 2, DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_string, DW_AT_low_pc,
                                  DW_FORM_addr, DW_AT_high_pc, high, -1 });
        add_abbrev((const int[]){ 3, DW_TAG_inlined_subroutine, 0, DW_AT_abstract_origin, DW_FORM_ref4,
                                  DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, high, DW_AT_call_file,
                                  DW_FORM_data1, DW_AT_call_line, DW_FORM_data2, DW_AT_call_column,
                                  DW_FORM_udata, -1 });
        add_abbrev((const int[]){ 4, DW_TAG_subprogram, 0, DW_AT_decl_line, DW_FORM_data1, linkage,
                                  DW_FORM_string, -1 });
        add_abbrev((const int[]){ 5, DW_TAG_lexical_block, 1, -1 });
}

static void add_range(uint64_t low, uint64_t high)
{
        dwarf_builder_add_address(&b, INFO, low);
        if (b.version >= 4)
                dwarf_builder_add(&b, INFO, high - low, 4);
        else
                dwarf_builder_add_address(&b, INFO, high);
}

static void begin_unit_of(uint64_t abbrevs_at, uint64_t lines_at, uint64_t low, uint64_t high)
{
        dwarf_builder_begin_unit(&b, DW_UT_compile, abbrevs_at);
        dwarf_builder_add_uleb(&b, INFO, 1);
        dwarf_builder_add_offset(&b, INFO, lines_at);
        add_range(low, high);
        dwarf_builder_add_text(&b, INFO, "/src");
}

static void begin_unit(uint64_t low, uint64_t high)
{
        begin_unit_of(0, 0, low, high);
}

static void add_function(const char *function, uint64_t low, uint64_t high)
{
        dwarf_builder_add_uleb(&b, INFO, 2);
        dwarf_builder_add_text(&b, INFO, function);
        add_range(low, high);
}

/* The unit of most tests, up to its first entry; and the end of a function and of its unit. */
static void begin_one_unit(void)
{
        add_abbrevs();
        dwarf_builder_add_lines(&b);
        begin_unit(0x1000, 0x1100);
}

static void end_one_unit(void)
{
        dwarf_builder_add(&b, INFO, 0, 2);
        dwarf_builder_end(&b, INFO);
        open_index();
}

/* Returns where the entry is, in its unit. */
static uint32_t add_abstract(const char *function, size_t unit_at)
{
        uint32_t at = (uint32_t)(b.sections[INFO].used_bytes - unit_at);

        dwarf_builder_add_uleb(&b, INFO, 4);
        dwarf_builder_add(&b, INFO, 1, 1);
        dwarf_builder_add_text(&b, INFO, function);
        return at;
}

static void add_inlined(uint32_t origin, uint64_t low, uint64_t high)
{
        dwarf_builder_add_uleb(&b, INFO, 3);
        dwarf_builder_add(&b, INFO, origin, 4);
        add_range(low, high);
        dwarf_builder_add(&b, INFO, 1, 1);
        dwarf_builder_add(&b, INFO, 700, 2);
        dwarf_builder_add_uleb(&b, INFO, 3);
}

/* loop test: each version, address size, byte order and format */
START_LOOP_TEST(test_versions, 0, 32)
{
        uint32_t inner;

        b.version = (uint8_t)(2 + _i % 4);
        b.address_bytes = _i / 4 % 2 ? 4 : 8;
        b.is_big_endian = _i / 8 % 2;
        b.is_64 = b.version >= 3 && _i / 16 % 2;
        begin_one_unit();
        inner = add_abstract("_Z5innerv", 0);
        add_function("outer", 0x1000, 0x1100);
        add_inlined(inner, 0x1010, 0x1020);
        end_one_unit();

        ck_assert_uint_eq(find(0xfff), 0);
        ck_assert_uint_eq(find(0x1000), 1);
        expect(0, "outer", 5, 0);
        ck_assert_uint_eq(find(0x1010), 2);
        expect(0, "inner()", 42, 0);
        expect(1, "outer", 700, 3);
        ck_assert_uint_eq(find(0x101f), 2);
        ck_assert_uint_eq(find(0x1020), 1);
        expect(0, "outer", 6, 0);
        ck_assert_uint_eq(find(0x10ff), 1);
        ck_assert_uint_eq(find(0x1100), 0);
}
END_TEST

/* More files than the header of the line program has. */
START_TEST(test_files_made_by_the_program)
{
        b.n_made_files = 5000;
        begin_one_unit();
        add_function("outer", 0x1000, 0x1100);
        end_one_unit();
        ck_assert_uint_eq(find(0x1010), 1);
        expect(0, "outer", 42, 0);
        ck_assert_uint_eq(find(0x1020), 1);
        ck_assert_uint_eq(places[0].line, 6);
        ck_assert_str_eq(code_names_path(code_index_names(code), places[0].path), "/src/made.c");
}
END_TEST

/* The remains of functions that a linker discarded are at address 0, and cover nothing of the module. */
START_TEST(test_discarded_function)
{
        begin_one_unit();
        add_function("kept", 0x1000, 0x1100);
        dwarf_builder_add(&b, INFO, 0, 1);
        add_function("discarded", 0, 0x2000);
        end_one_unit();
        ck_assert_uint_eq(find(0x1050), 1);
        ck_assert_str_eq(name(0), "kept");
}
END_TEST

/*
 * gold writes 0 and its offset for calls in a discarded function; other linkers write 0, 1 or all ones for
 * all of it.  Such a call is in no other function; one that was inlined into a function that was kept, is.
 */
START_LOOP_TEST(test_what_is_in_a_discarded_function, 0, 10)
{
        static const uint64_t starts[] = { 0, 1, UINT64_MAX, UINT64_MAX - 1, 0x1000 };
        uint64_t start = starts[_i / 2], inner = start == 0 ? 0x1040 : start == 0x1000 ? 0x1040 : start;
        bool is_kept = start == 0x1000;
        uint32_t origin;

        b.address_bytes = _i % 2 ? 4 : 8;
        if (b.address_bytes == 4)
                b.version = 3;
        begin_one_unit();
        origin = add_abstract("tiny", 0);
        add_function("kept", 0x1000, 0x1100);
        dwarf_builder_add(&b, INFO, 0, 1);
        add_function("discarded", start & (b.address_bytes == 4 ? UINT32_MAX : UINT64_MAX), start + 0x90);
        dwarf_builder_add_uleb(&b, INFO, 5);
        add_inlined(origin, inner & (b.address_bytes == 4 ? UINT32_MAX : UINT64_MAX), inner + 0x20);
        dwarf_builder_add(&b, INFO, 0, 2);
        add_function("last", 0x1090, 0x1100);
        add_inlined(origin, 0x10a0, 0x10b0);
        dwarf_builder_add(&b, INFO, 0, 2);
        dwarf_builder_end(&b, INFO);
        open_index_from(0x800);

        ck_assert_uint_eq(find(0x1050), is_kept ? 2 : 1);
        ck_assert_str_eq(name(0), is_kept ? "tiny" : "kept");
        ck_assert_uint_eq(find(0x10a8), 2);
        ck_assert_str_eq(name(0), "tiny");
        ck_assert_str_eq(name(1), "last");
        ck_assert_uint_eq(find(0x10b0), 1);
}
END_TEST

/* A unit with ranges by a list, whose function is at indexed addresses and has an indexed name. */
START_TEST(test_lists_and_indices)
{
        static const int list[] = { DW_RLE_base_addressx,
                                    0,
                                    DW_RLE_offset_pair,
                                    0x10,
                                    0x20,
                                    DW_RLE_startx_endx,
                                    1,
                                    2,
                                    DW_RLE_startx_length,
                                    3,
                                    0x10,
                                    DW_RLE_end_of_list,
                                    -1 };
        uint64_t rnglists_base;

        add_abbrev((const int[]){ 1, DW_TAG_compile_unit, 1, DW_AT_str_offsets_base, DW_FORM_sec_offset,
                                  DW_AT_addr_base, DW_FORM_sec_offset, DW_AT_rnglists_base,
                                  DW_FORM_sec_offset, DW_AT_ranges, DW_FORM_rnglistx, -1 });
        add_abbrev((const int[]){ 2, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_strx1, DW_AT_ranges,
                                  DW_FORM_rnglistx, -1 });
        dwarf_builder_add(&b, DEBUG_SECTION_STR_OFFSETS, 0, 8);
        dwarf_builder_add_offset(&b, DEBUG_SECTION_STR_OFFSETS, 0);
        dwarf_builder_add_offset(&b, DEBUG_SECTION_STR_OFFSETS, 2);
        dwarf_builder_add_text(&b, DEBUG_SECTION_STR, "a");
        dwarf_builder_add_text(&b, DEBUG_SECTION_STR, "indexed");
        dwarf_builder_add(&b, DEBUG_SECTION_ADDR, 0, 8);
        for (uint64_t i = 1; i <= 4; i++)
                dwarf_builder_add_address(&b, DEBUG_SECTION_ADDR, i << 12);
        dwarf_builder_add(&b, DEBUG_SECTION_RNGLISTS, 0, 8);
        dwarf_builder_add(&b, DEBUG_SECTION_RNGLISTS, 0, 4);
        rnglists_base = b.sections[DEBUG_SECTION_RNGLISTS].used_bytes;
        dwarf_builder_add_offset(&b, DEBUG_SECTION_RNGLISTS, 4);
        dwarf_builder_add_list(&b, DEBUG_SECTION_RNGLISTS, list);
        dwarf_builder_begin_unit(&b, DW_UT_compile, 0);
        dwarf_builder_add_uleb(&b, INFO, 1);
        dwarf_builder_add_offset(&b, INFO, 8);
        dwarf_builder_add_offset(&b, INFO, 8);
        dwarf_builder_add_offset(&b, INFO, rnglists_base);
        dwarf_builder_add_uleb(&b, INFO, 0);
        dwarf_builder_add_list(&b, INFO, (const int[]){ 2, 1, 0, 0, -1 });
        dwarf_builder_end(&b, INFO);
        open_index();

        ck_assert_uint_eq(find(0x100f), 0);
        ck_assert_uint_eq(find(0x1010), 1);
        ck_assert_str_eq(name(0), "indexed");
        ck_assert_uint_eq(find(0x1020), 0);
        ck_assert_uint_eq(find(0x2000), 1);
        ck_assert_uint_eq(find(0x2fff), 1);
        ck_assert_uint_eq(find(0x3000), 0);
        ck_assert_uint_eq(find(0x4000), 1);
        ck_assert_uint_eq(find(0x4010), 0);
}
END_TEST

/* The ranges of DWARF 4: relative to the unit's low_pc, until an entry sets another base. */
START_TEST(test_old_ranges)
{
        static const uint64_t list[] = { 0x10, 0x20, UINT64_MAX, 0x3000, 0, 0x10, 0, 0 };

        b.version = 4;
        add_abbrev((const int[]){ 1, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_ranges,
                                  DW_FORM_sec_offset, -1 });
        add_abbrev((const int[]){ 2, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string, DW_AT_ranges,
                                  DW_FORM_sec_offset, -1 });
        for (size_t i = 0; i < 8; i++)
                dwarf_builder_add_address(&b, DEBUG_SECTION_RANGES, list[i]);
        dwarf_builder_begin_unit(&b, DW_UT_compile, 0);
        dwarf_builder_add_uleb(&b, INFO, 1);
        dwarf_builder_add_address(&b, INFO, 0x1000);
        dwarf_builder_add_offset(&b, INFO, 0);
        dwarf_builder_add_uleb(&b, INFO, 2);
        dwarf_builder_add_text(&b, INFO, "two parts");
        dwarf_builder_add_offset(&b, INFO, 0);
        dwarf_builder_add(&b, INFO, 0, 1);
        dwarf_builder_end(&b, INFO);
        open_index();

        ck_assert_uint_eq(find(0x1000), 0);
        ck_assert_uint_eq(find(0x1010), 1);
        ck_assert_uint_eq(find(0x1020), 0);
        ck_assert_uint_eq(find(0x3000), 1);
        ck_assert_str_eq(name(0), "two parts");
        ck_assert_uint_eq(find(0x3010), 0);
}
END_TEST

/* An origin that refers to itself ends; the call has no name then. */
START_TEST(test_circle_of_origins)
{
        add_abbrevs();
        add_abbrev((const int[]){ 6, DW_TAG_subprogram, 0, DW_AT_abstract_origin, DW_FORM_ref4, -1 });
        dwarf_builder_add_lines(&b);
        begin_unit(0x1000, 0x1100);
        add_function("outer", 0x1000, 0x1100);
        add_inlined((uint32_t)b.sections[INFO].used_bytes + 4, 0x1010, 0x1020);
        dwarf_builder_add(&b, INFO, 0, 1);
        for (uint32_t i = 0; i < 64; i++) {
                dwarf_builder_add_uleb(&b, INFO, 6);
                dwarf_builder_add(&b, INFO, b.sections[INFO].used_bytes - 1, 4);
        }
        dwarf_builder_add(&b, INFO, 0, 1);
        dwarf_builder_end(&b, INFO);
        open_index();
        ck_assert_uint_eq(find(0x1010), 2);
        ck_assert_ptr_null(name(0));
        ck_assert_str_eq(name(1), "outer");
}
END_TEST

/* Blocks in blocks, far deeper than any compiler goes: what is inside still has the function around it. */
START_TEST(test_deep_nesting)
{
        uint32_t inner;

        begin_one_unit();
        inner = add_abstract("inner", 0);
        add_function("outer", 0x1000, 0x1100);
        for (size_t i = 0; i < 300000; i++)
                dwarf_builder_add_uleb(&b, INFO, 5);
        add_inlined(inner, 0x1010, 0x1020);
        for (size_t i = 0; i < 300002; i++)
                dwarf_builder_add(&b, INFO, 0, 1);
        dwarf_builder_end(&b, INFO);
        open_index();
        ck_assert_uint_eq(find(0x1010), 2);
        ck_assert_str_eq(name(0), "inner");
        ck_assert_str_eq(name(1), "outer");
}
END_TEST

/* Many functions that share one long list of ranges: their product is not gone through. */
START_TEST(test_shared_list)
{
        const uint64_t n = 50000;

        b.version = 4;
        add_abbrev((const int[]){ 1, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
                                  DW_FORM_data4, -1 });
        add_abbrev((const int[]){ 2, DW_TAG_subprogram, 0, DW_AT_ranges, DW_FORM_sec_offset, -1 });
        for (uint64_t i = 0; i < n; i++) {
                dwarf_builder_add_address(&b, DEBUG_SECTION_RANGES, 16 * i + 4);
                dwarf_builder_add_address(&b, DEBUG_SECTION_RANGES, 16 * i + 8);
        }
        dwarf_builder_begin_unit(&b, DW_UT_compile, 0);
        dwarf_builder_add_uleb(&b, INFO, 1);
        dwarf_builder_add_address(&b, INFO, 0x1000);
        dwarf_builder_add(&b, INFO, 16 * n, 4);
        for (uint64_t i = 0; i < n; i++) {
                dwarf_builder_add_uleb(&b, INFO, 2);
                dwarf_builder_add_offset(&b, INFO, 0);
        }
        dwarf_builder_add(&b, INFO, 0, 1);
        dwarf_builder_end(&b, INFO);
        open_index();
        ck_assert_int_eq(code_index_complete(code, NULL), 0);
        ck_assert_uint_eq(find(0x1004), 1);
        ck_assert_uint_lt(code_index_memory(code), UINT64_C(256) << 20);
}
END_TEST

/* Where units overlap, the one whose range begins last counts. */
START_TEST(test_units_overlap)
{
        size_t second;

        begin_one_unit();
        add_function("first", 0x1000, 0x1100);
        dwarf_builder_add(&b, INFO, 0, 2);
        dwarf_builder_end(&b, INFO);
        second = b.sections[INFO].used_bytes;
        begin_unit(0x1080, 0x1180);
        (void)add_abstract("unused", second);
        add_function("second", 0x1080, 0x1180);
        end_one_unit();
        ck_assert_uint_eq(find(0x107f), 1);
        ck_assert_str_eq(name(0), "first");
        ck_assert_uint_eq(find(0x1080), 1);
        ck_assert_str_eq(name(0), "second");
}
END_TEST

/*
 * A large program: each unit has a table of its own, where its first entry's
 * abbreviation is after the others.
 */
START_TEST(test_many_units)
{
        enum { UNITS = 600, OTHERS = 100 };

        for (uint64_t i = 1; i <= UNITS; i++) {
                const size_t abbrevs_at = b.sections[ABBREV].used_bytes;
                const size_t lines_at = b.sections[DEBUG_SECTION_LINE].used_bytes;
                const uint64_t low = i * 0x1000;

                for (int k = 0; k < OTHERS; k++)
                        add_abbrev((const int[]){ 100 + k, DW_TAG_base_type, 0, DW_AT_byte_size,
                                                  DW_FORM_data1, DW_AT_encoding, DW_FORM_data1, DW_AT_name,
                                                  DW_FORM_strp, -1 });
                add_abbrevs();
                dwarf_builder_add(&b, ABBREV, 0, 1);
                dwarf_builder_add_lines_at(&b, low);
                begin_unit_of(abbrevs_at, lines_at, low, low + 0x100);
                add_function("outer", low, low + 0x100);
                dwarf_builder_add(&b, INFO, 0, 2);
                dwarf_builder_end(&b, INFO);
        }
        open_index();
        for (uint64_t i = 1; i <= UNITS; i++) {
                ck_assert_uint_eq(find(i * 0x1000 + 0x10), 1);
                expect(0, "outer", 42, 0);
                ck_assert_uint_eq(find(i * 0x1000 + 0x100), 0);
        }
}
END_TEST

/* Sections cut at any byte give less, and no crash. */
START_TEST(test_cut_sections)
{
        static const enum debug_section cut[] = { INFO, ABBREV, DEBUG_SECTION_LINE };
        uint32_t inner;

        begin_one_unit();
        inner = add_abstract("inner", 0);
        add_function("outer", 0x1000, 0x1100);
        add_inlined(inner, 0x1010, 0x1020);
        dwarf_builder_add(&b, INFO, 0, 2);
        dwarf_builder_end(&b, INFO);
        for (size_t k = 0; k < 3; k++) {
                struct byte_buffer *section = &b.sections[cut[k]];
                size_t n_bytes = section->used_bytes;
                uint8_t *whole = section->data;

                for (size_t n = 0; n < n_bytes; n++) {
                        uint8_t *part = malloc(n + 1);

                        memcpy(part, whole, n);
                        section->data = realloc(part, n ? n : 1); /* to the byte, for sanitizers */
                        section->used_bytes = n;
                        open_index();
                        (void)find(0x1010);
                        code_index_free(code);
                        code = NULL;
                        free(section->data);
                }
                section->data = whole;
                section->used_bytes = n_bytes;
        }
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
