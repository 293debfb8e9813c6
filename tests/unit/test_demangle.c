/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/demangle.c: names of C++, Rust, D, OCaml, Fortran and Haskell become readable, those of
 * Ada and Nim only in their files; anything else stays, hostile ones end soon
 */
#include "symbolize/elf/demangle.h"
#include "tests/unit/built_files.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
        const char *mangled;
        const char *name; /* NULL: is shown as it is */
} names[] = {
        { "_ZN4llvm8Function5eraseEi", "llvm::Function::erase(int)" },
        { "_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back(int&&)" },
        { "_ZN1n4workEv.cold", "n::work() [clone .cold]" },
        { "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
        { "_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE",
          "<alloc::string::String as core::fmt::Display>::fmt" },
        { "_RNvC6_123foo3bar", "123foo::bar" },
        { "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar" },
        { "_RINvCs6GmmlP4bgsG_1r4showShEB2_", "r::show::<[u8]>" },
        { "_RINvMs_NtCs6GmmlP4bgsG_1r6shapesINtB5_6CircledE3mapdNCNvB7_4main0EB7_",
          "<r::shapes::Circle<f64>>::map::<f64, r::main::{closure#0}>" },
        { "_RINvNtCs6GmmlP4bgsG_1r6shapes5sizedKj7_EB4_", "r::shapes::sized::<7>" },
        { "_RNvXNtCs6GmmlP4bgsG_1r6shapesINtB2_6CircledENtB2_4Area4area",
          "<r::shapes::Circle<f64> as r::shapes::Area>::area" },
        { "_D3foo3barFiZi", "foo.bar(int)" },
        { "_D3std5stdio4File5closeMFNeZv", "std.stdio.File.close()" },
        { "_D1fFHiiHQeQgZv", "f(int[int], int[int][int[int]])" },
        { "_Dmain", "D main" },
        { "camlFib__hot_inner_81", "Fib.hot_inner_81" },
        { "camlStdlib__List__map_381", "Stdlib.List.map_381" },
        { "camlFib__a__b_7", "Fib.a__b_7" },
        { "camlFib__$2b$7c_5", "Fib.+|_5" },
        { "camlFib.hot_inner_81", "Fib.hot_inner_81" },
        { "camlFib__$00x$7f_5", "Fib.$00x$7f_5" },
        { "__m_MOD_hot_inner", "m::hot_inner" },
        { "__m_MOD_hot_inner.constprop.0", "m::hot_inner.constprop.0" },
        { "Main_zdwhotInner_info", "Main.$whotInner" },
        { "base_GHCziBase_map_info", "base.GHC.Base.map" },
        { "ghczmprim_GHCziTypes_ZMZN_con_info", "ghc-prim.GHC.Types.[]_con" },
        { "caml_alloc_small", NULL },
        { "camlFib", NULL },
        { "camlFib__", NULL },
        { "camlFib__Inner", NULL },
        { "__MOD_x", NULL },
        { "___MOD_x", NULL },
        { "__m_MOD_", NULL },
        { "abc_MOD_x", NULL },
        { "__A_MOD_x", NULL },
        { "x_MOD_y", NULL },
        { "Heap_resize_info", NULL },
        { "Main_window_info", NULL },
        { "base_sizing_info", NULL },
        { "main_zdropped_info", NULL },
        { "base_GHCziBase_z_info", NULL },
        { "base_GHCziBase_zk_info", NULL },
        { "fib__work__hot_inner", NULL },
        { "hotInner__fib_3", NULL },
        { "main", NULL },
        { "", NULL },
        { "_", NULL },
        { "_start", NULL },
        { "_Z", NULL },
        { "_ZN", NULL },
        { "_R", NULL },
        { "_Zgarbage", NULL },
        { "_ZN17h0123", NULL },
        { "qsort", NULL },
        { "\x01\x02\xff", NULL },
        { "_Z\xff\xfe", NULL },
};

START_LOOP_TEST(test_each_language, 0, sizeof(names) / sizeof(names[0]))
{
        char *name = demangle_name(names[_i].mangled, MANGLING_ANY);

        ck_assert_pstr_eq(name, names[_i].name);
        free(name);
}
END_TEST

static const struct {
        enum mangling mangling;
        const char *mangled;
        const char *name; /* NULL: is shown as it is */
} names_in_files[] = {
        { MANGLING_ADA, "_ada_fib", "fib" },
        { MANGLING_ADA, "work__outer", "work.outer" },
        { MANGLING_ADA, "work__outer__nested.12", "work.outer.nested.12" },
        { MANGLING_ADA, "work__body_of__hot_innerX", "work.body_of.hot_inner" },
        { MANGLING_ADA, "work__body_ofXn__hot_inner", "work.body_of.hot_inner" },
        { MANGLING_ADA, "work__Oadd", "work.\"+\"" },
        { MANGLING_ADA, "work__list__Oconcat__2", "work.list.\"&\"__2" },
        { MANGLING_ADA, "work__outer__2", "work.outer__2" },
        { MANGLING_ADA, "work__workerTKB", "work.worker" },
        { MANGLING_ADA, "ada__text_io___elabb", "ada.text_io'Elab_Body" },
        { MANGLING_ADA, "Oor___elabb", "\"or\"'Elab_Body" },
        { MANGLING_ADA, "work__outer.constprop.0", "work.outer.constprop.0" },
        { MANGLING_ADA, "camlFib__hot_inner_81", "Fib.hot_inner_81" },
        { MANGLING_ADA, "main", NULL },
        { MANGLING_ADA, "adainit", NULL },
        { MANGLING_ADA, "work__vecIP", NULL },
        { MANGLING_ADA, "work__", NULL },
        { MANGLING_ADA, "work____x", NULL },
        { MANGLING_ADA, "__gnat_rcheck", NULL },
        { MANGLING_ADA, "_abc", NULL },
        { MANGLING_ADA, "work__9x", NULL },
        { MANGLING_ADA, "work___abc", NULL },
        { MANGLING_ADA, "_abc__x", NULL },
        { MANGLING_ADA, "_ada_", NULL },
        { MANGLING_ADA, "Work__outer", NULL },
        { MANGLING_ADA, "hotInner__fib_3", NULL },
        { MANGLING_NIM, "hotInner__fib_18", "fib.hotInner_18" },
        { MANGLING_NIM, "hotInner__fib_u18", "fib.hotInner_u18" },
        { MANGLING_NIM, "hotInner__u18", NULL },
        { MANGLING_NIM, "addInt__stdZprivateZdigitsutils_164.part.0",
          "std/private/digitsutils.addInt_164.part.0" },
        { MANGLING_NIM, "plus___fib_5", "fib.+_5" },
        { MANGLING_NIM, "X5BX5Deq___my_mod_5", "my_mod.[]=_5" },
        { MANGLING_NIM, "valueeq___fib_5", "fib.value=_5" },
        { MANGLING_NIM, "colonanonymous___fib_30", "fib.:anonymous_30" },
        { MANGLING_NIM, "TM__Q5wkpxktOdTGvlSRo9bzt9aw_26", NULL },
        { MANGLING_NIM, "Marker_tyRef__HsJiUUcO9cHBdUCi0HwkSTA", NULL },
        { MANGLING_NIM, "NimMain", NULL },
        { MANGLING_NIM, "f__5", NULL },
        { MANGLING_NIM, "f__a5", NULL },
        { MANGLING_NIM, "__fib_5", NULL },
        { MANGLING_NIM, "f__fib_u", NULL },
        { MANGLING_NIM, "work__outer", NULL },
        { MANGLING_ANY, "work__outer", NULL },
        { MANGLING_ANY, "_ada_fib", NULL },
        { MANGLING_ANY, "hotInner__fib_18", NULL },
};

START_LOOP_TEST(test_each_file, 0, sizeof(names_in_files) / sizeof(names_in_files[0]))
{
        char *name = demangle_symbol(names_in_files[_i].mangled, names_in_files[_i].mangling);

        ck_assert_pstr_eq(name, names_in_files[_i].name);
        free(name);
}
END_TEST

START_TEST(test_functions_that_tell_the_language)
{
        ck_assert_int_eq(demangle_rules_mangling("work___elabb"), MANGLING_ADA);
        ck_assert_int_eq(demangle_rules_mangling("work___elabs"), MANGLING_ADA);
        ck_assert_int_eq(demangle_rules_mangling("NimMain"), MANGLING_NIM);
        ck_assert_int_eq(demangle_rules_mangling("libNimMain"), MANGLING_NIM);
        ck_assert_int_eq(demangle_rules_mangling("_ZN4work8___elabb"), MANGLING_ANY);
        ck_assert_int_eq(demangle_rules_mangling("work__outer"), MANGLING_ANY);
        ck_assert_int_eq(demangle_rules_mangling(""), MANGLING_ANY);
}
END_TEST

/* loop test: a good name cut anywhere gives something or nothing, but ends */
START_LOOP_TEST(test_cut_anywhere, 0, 90)
{
        char *cut = strndup(
                "_ZNSt6vectorIiSaIiEE17_M_realloc_insertIJiEEEvN9__gnu_cxx17__normal_iteratorIPiS1_EE"
                "DpOT_",
                (size_t)_i);

        ck_assert_ptr_nonnull(cut);
        free(demangle_name(cut, MANGLING_ANY));
        free(cut);
}
END_TEST

START_TEST(test_too_long_is_left_alone)
{
        size_t n_bytes = DEMANGLE_MANGLED_MAX + 16;
        char *mangled = malloc(n_bytes);

        ck_assert_ptr_nonnull(mangled);
        memset(mangled, 'P', n_bytes);
        memcpy(mangled, "_Z1f", 4);
        mangled[n_bytes - 2] = 'i';
        mangled[n_bytes - 1] = '\0';
        ck_assert_ptr_null(demangle_name(mangled, MANGLING_ANY));
        free(mangled);
}
END_TEST

/*
 * A function of @n_pairs arguments, each a pair of the one before: its text is twice as long.  "S_" is the
 * template of the pair, "S1_", "S2_" ... are the pairs.
 */
static char *demangle_pairs(unsigned n_pairs)
{
        static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        char mangled[1024] = "_Z1f1aI1bS0_E";
        size_t used = strlen(mangled);

        for (unsigned i = 1; i < n_pairs; i++)
                used += (size_t)snprintf(mangled + used, sizeof(mangled) - used, "S_IS%c_S%c_E", digits[i],
                                         digits[i]);
        return demangle_name(mangled, MANGLING_ANY);
}

START_TEST(test_explosion_is_stopped)
{
        char *two = demangle_pairs(2);

        ck_assert_str_eq(two, "f(a<b, b>, a<a<b, b>, a<b, b> >)");
        free(two);
        ck_assert_ptr_null(demangle_pairs(34));
}
END_TEST

/*
 * D: a function of @n_levels arguments, each a table of the one before by the one before.  "Q" and a number
 * of the base 26 refer so many bytes back.
 */
static char *demangle_tables(unsigned n_levels)
{
        char mangled[1024] = "_D1fFHii";
        size_t previous = 5, used = strlen(mangled);

        for (unsigned i = 0; i < n_levels; i++) {
                size_t here = used;

                mangled[used++] = 'H';
                for (unsigned k = 0; k < 2; k++) {
                        char distance = (char)('a' + (used - previous));

                        mangled[used++] = 'Q';
                        mangled[used++] = distance;
                }
                previous = here;
        }
        memcpy(mangled + used, "Zv", 3);
        return demangle_name(mangled, MANGLING_ANY);
}

START_TEST(test_explosion_of_d_is_stopped)
{
        char *two = demangle_tables(1);

        ck_assert_str_eq(two, "f(int[int], int[int][int[int]])");
        free(two);
        ck_assert_ptr_null(demangle_tables(12));
        ck_assert_ptr_null(demangle_tables(40));
}
END_TEST

START_TEST(test_symbols_of_tables)
{
        static const struct {
                const char *symbol;
                const char *name;
        } symbols[] = {
                { "write", NULL },
                { "write@GLIBC_2.2.5", "write" },
                { "write@@GLIBC_2.2.5", "write" },
                { "_ZN1n4workEv@@V1", "n::work()" },
                { "write@plt", NULL },
                { "_ZN1n4workEv@plt", "n::work()@plt" },
                { "@plt", NULL },
                { "@", NULL },
                { "", NULL },
        };

        for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
                char *name = demangle_symbol(symbols[i].symbol, MANGLING_ANY);

                ck_assert_pstr_eq(name, symbols[i].name);
                free(name);
        }
}
END_TEST

/* The names that the compiler here gives to a program, in its own scheme. */
START_TEST(test_rust_of_today)
{
        static const char *const wanted[] = { "shapes::doubled", "as ", "::area", "main::{" };
        static char line[4096], all[65536];
        struct built_files files;
        FILE *list;

        if (!built_files_has("rustc") || !built_files_has("nm"))
                return;
        built_files_init(&files);
        built_files_write(
                &files, "shapes.rs",
                "pub struct Circle<T> { pub r: T }\n"
                "pub trait Area { fn area(&self) -> f64; }\n"
                "impl Area for Circle<f64> { #[inline(never)] fn area(&self) -> f64 { 3.0 * self.r } }\n"
                "#[inline(never)] fn doubled<T: std::ops::Add<Output = T> + Copy>(x: T) -> T { x + x }\n"
                "#[inline(never)] fn call<F: Fn(f64) -> f64>(f: F) -> f64 { f(doubled(1.5)) }\n"
                "fn main() { let c = Circle { r: std::env::args().count() as f64 };\n"
                "std::process::exit((call(|x| x + c.r) + c.area()) as i32); }\n");
        if (built_files_run(&files, "rustc -C opt-level=0 shapes.rs -o shapes && nm shapes | sed 's/.* //' | "
                                    "grep shapes >list")) {
                list = fopen(built_files_path(&files, "list"), "re");
                ck_assert_ptr_nonnull(list);
                while (fgets(line, sizeof(line), list)) {
                        char *name;

                        line[strcspn(line, "\n")] = '\0';
                        name = demangle_name(line, MANGLING_ANY);
                        if (name && strlen(all) + strlen(name) + 2 < sizeof(all))
                                (void)strcat(strcat(all, name), "\n");
                        free(name);
                }
                (void)fclose(list);
                for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
                        ck_assert_msg(strstr(all, wanted[i]) != NULL, "%s in:\n%s", wanted[i], all);
        }
        built_files_deinit(&files);
}
END_TEST
