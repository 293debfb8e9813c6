/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/function_labels.c: functions of one name and module that are declared or begin elsewhere get
 * names that differ; all other names stay
 */
#include "analyze/trace/function_labels.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <string.h>

/* A function at a place of its own; its name in the end. */
struct place {
        const char *module, *name, *file;
        uint32_t line, instance;
        uint64_t start_svma;
        const char *wanted;
};

static void add(struct trace_builder *b, const struct place *p, uint32_t module, uint64_t offset)
{
        struct trace_symbol symbol = { .frame = trace_builder_frame(b, module, offset),
                                       .function = trace_builder_string(b, p->name),
                                       .declared_file = p->file ? trace_builder_string(b, p->file) : 0,
                                       .declared_line = p->line,
                                       .instance = p->instance,
                                       .start_svma = p->start_svma };

        (void)trace_builder_row(b, TRACE_TABLE_SYMBOLS, &symbol);
}

static void ck_named(const struct trace_dictionary *d, uint32_t row, const char *wanted)
{
        const struct trace_symbol *symbol = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, row);
        struct text_view name = trace_dictionary_text(d, symbol->function);

        ck_assert_msg(name.n_bytes == strlen(wanted) && memcmp(name.bytes, wanted, name.n_bytes) == 0,
                      "row %u: \"%.*s\" instead of \"%s\"", row, (int)name.n_bytes, name.bytes, wanted);
}

static void ck_settled(const struct place *places, size_t n)
{
        struct trace_builder b;

        trace_builder_init(&b);
        for (size_t i = 0; i < n; i++)
                add(&b, &places[i], trace_builder_module(&b, places[i].module), 0x10 * (i + 1));
        ck_assert_int_eq(function_labels_settle(&b.dictionary), 0);
        for (size_t i = 0; i < n; i++)
                ck_named(&b.dictionary, (uint32_t)i + 1, places[i].wanted);
        ck_assert_int_eq(function_labels_settle(&b.dictionary), 0); /* settled names are not settled again */
        for (size_t i = 0; i < n; i++)
                ck_named(&b.dictionary, (uint32_t)i + 1, places[i].wanted);
        trace_builder_deinit(&b);
}

#define CK_SETTLED(places) ck_settled(places, sizeof(places) / sizeof((places)[0]))

START_TEST(test_different_functions)
{
        static const struct place files[] = {
                { "/p", "step", "/s/a.c", 10, 0, 0x100, "step (a.c)" },
                { "/p", "step", "/s/b.c", 10, 0, 0x200, "step (b.c)" },
                { "/p", "step", "/s/b.c", 10, 0, 0, "step (b.c)" }, /* inlined */
                { "/p", "step", NULL, 0, 0, 0x200, "step (b.c)" },  /* the line there is unknown */
                { "/p", "main", "/s/a.c", 30, 0, 0x300, "main" },
                { "/q", "step", "/s/c.c", 10, 0, 0x100, "step" }, /* another module's */
        };
        static const struct place more[] = {
                { "/p", "f", "/s/one/u.c", 1, 0, 0x100, "f (one/u.c)" },
                { "/p", "f", "/s/two/u.c", 1, 0, 0x200, "f (two/u.c)" },
                { "/p", "f", "/s/a.c", 5, 0, 0x300, "f (a.c)" },
                { "/p", "g", "/s/a.c", 7, 0, 0x400, "g (a.c:7)" },
                { "/p", "g", "/s/a.c", 8, 0, 0x500, "g (a.c:8)" },
                { "/p", "t<x>", "/s/a.c", 9, 0, 0x600, "t<x> (a.c:9 #1)" },
                { "/p", "t<x>", "/s/a.c", 9, 1, 0x700, "t<x> (a.c:9 #2)" },
                { "/p", "operator()", "/s/a.c", 11, 25, 0, "operator() (a.c:11)" },
                { "/p", "operator()", "/s/b.c", 12, 25, 0, "operator() (b.c:12:25)" },
                { "/p", "operator()", "/s/b.c", 12, 40, 0, "operator() (b.c:12:40)" },
                { "/p", "h", NULL, 0, 0, 0x800, "h (0x800)" },
                { "/p", "h", NULL, 0, 0, 0x900, "h (0x900)" },
        };
        static const struct place parts[] = {
                { "/p", "step", "/s/a.c", 10, 0, 0x100, "step (a.c)" },
                { "/p", "step.cold", "/s/a.c", 10, 0, 0x180, "step.cold (a.c)" },
                { "/p", "step.constprop.0", "/s/b.c", 10, 0, 0x200, "step.constprop.0 (b.c)" },
                { "/p", "run(int)", "/s/a.cc", 1, 0, 0x300, "run(int) (a.cc)" },
                { "/p", "run(int) [clone .cold]", "/s/b.cc", 1, 0, 0x400, "run(int) [clone .cold] (b.cc)" },
                { "/p", "alone", "/s/b.cc", 30, 0, 0x500, "alone" },
        };

        static const struct place modules[] = {
                { "/x/one/l.so", "f", "/s/a.c", 1, 0, 0x100, "f (one/l.so)" },
                { "/x/two/l.so", "f", "/s/a.c", 1, 0, 0x100, "f (two/l.so)" },
                { "/x/one/l.so", "g", "/s/a.c", 2, 0, 0x200, "g (a.c, one/l.so)" },
                { "/x/one/l.so", "g", "/s/b.c", 2, 0, 0x300, "g (b.c, one/l.so)" },
                { "/x/two/l.so", "g", "/s/b.c", 2, 0, 0x300, "g (two/l.so)" },
                { "/x/one/l.so", "h", "/s/b.c", 9, 0, 0x400, "h" },
                { "/y/v/m.so", "k", "/s/k.c", 9, 0, 0x400, "k (/y/v/m.so)" },
                { "/z/v/m.so", "k", "/s/k.c", 9, 0, 0x400, "k (/z/v/m.so)" },
        };

        CK_SETTLED(modules);
        CK_SETTLED(files);
        CK_SETTLED(more);
        CK_SETTLED(parts);
}
END_TEST

START_TEST(test_one_function)
{
        static const struct place places[] = {
                { "/p", "inline_one", "/s/a/../h/x.h", 3, 0, 0, "inline_one" }, /* one header, two units */
                { "/p", "inline_one", "/s/h/./x.h", 3, 0, 0x100, "inline_one" },
                { "/p", "old", NULL, 0, 0, 0, "old" }, /* of a version that did not say */
                { "/p", "old", NULL, 0, 0, 0, "old" },
                { "/p", "f", NULL, 0, 0, 0x200, "f" },
                { "/p", "f.cold", NULL, 0, 0, 0x300, "f.cold" }, /* begins elsewhere, and is a part of it */
                { "/p", "g", "/s/g.c", 1, 0, 0, "g" }, /* inlined, and its code has no debug information */
                { "/p", "g", NULL, 0, 0, 0x600, "g" },
                { "/p", "X::~X()", NULL, 0, 0, 0x400, "X::~X()" },
                { "/p", "X::~X()", NULL, 0, 0, 0x500, "X::~X()" },
        };

        CK_SETTLED(places);
}
END_TEST

/* Two builds of one path: their functions begin elsewhere, and each has one of the name. */
START_TEST(test_builds_of_one_path)
{
        const struct place old = { "/p", "step", NULL, 0, 0, 0x100, "step" };
        const struct place new = { "/p", "step", NULL, 0, 0, 0x180, "step" };
        struct trace_module module = { .kind = TRACE_MODULE_FILE, .inode = 5 };
        struct trace_builder b;

        trace_builder_init(&b);
        module.path = trace_builder_string(&b, "/p");
        add(&b, &old, trace_builder_row(&b, TRACE_TABLE_MODULES, &module), 0x10);
        module.inode = 6;
        add(&b, &new, trace_builder_row(&b, TRACE_TABLE_MODULES, &module), 0x10);
        ck_assert_int_eq(function_labels_settle(&b.dictionary), 0);
        ck_named(&b.dictionary, 1, "step");
        ck_named(&b.dictionary, 2, "step");
        trace_builder_deinit(&b);
}
END_TEST

/* A later group of rows counts: what an earlier one said of the frame makes no second function. */
START_TEST(test_replaced_rows)
{
        const struct place first = { "/p", "step", "/s/a.c", 10, 0, 0x100, "step" };
        const struct place last = { "/p", "step", "/s/b.c", 10, 0, 0x100, "step" };
        struct trace_builder b;
        uint32_t module;

        trace_builder_init(&b);
        module = trace_builder_module(&b, "/p");
        add(&b, &first, module, 0x10);
        add(&b, &last, module, 0x10);
        add(&b, &last, module, 0x20);
        ck_assert_int_eq(function_labels_settle(&b.dictionary), 0);
        ck_named(&b.dictionary, 2, "step");
        ck_named(&b.dictionary, 3, "step");
        trace_builder_deinit(&b);
}
END_TEST
