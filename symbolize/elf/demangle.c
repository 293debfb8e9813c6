/* SPDX-License-Identifier: MIT */
/*
 * libiberty's demanglers for C++ and Rust hand their output to a callback in pieces and keep nothing on the
 * heap meanwhile.  So the callback can stop them, by a longjmp(), when the output grows over the limit.
 * Without the limit, a name of a few hundred bytes can print for hours.
 */
#include "symbolize/elf/demangle.h"

#include "base/byte_buffer.h"
#include "symbolize/elf/plt_table.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* With parameters, to tell overloads apart; Rust without its hash. */
#define OPTIONS (DMGL_PARAMS | DMGL_ANSI)

#define RUST_HASH_LENGTH        "17h"
#define RUST_HASH_DIGITS        16
#define RUST_HASH_NUMBER_DIGITS 8 /* that are taken to tell instances apart */

typedef int demangler(const char *mangled, int options, demangle_callbackref callback, void *context);

struct output {
        struct byte_buffer text;
        jmp_buf over_limit;
};

static void collect(const char *piece, size_t n_bytes, void *context)
{
        struct output *output = context;

        byte_buffer_add(&output->text, piece, n_bytes);
        if (output->text.failed || output->text.used_bytes > DEMANGLE_NAME_MAX)
                longjmp(output->over_limit, 1);
}

/* Returns false if @demangle refuses the name or goes over the limit. */
static bool run(demangler *demangle, const char *mangled, struct output *output)
{
        if (setjmp(output->over_limit) != 0)
                return false;
        if (!demangle(mangled, OPTIONS, collect, output))
                return false;
        byte_buffer_add_u8(&output->text, '\0');
        return !output->text.failed;
}

static char *with(demangler *demangle, const char *mangled)
{
        struct output *output = calloc(1, sizeof(*output));
        char *name = NULL;

        if (!output)
                return NULL;
        if (run(demangle, mangled, output))
                name = (char *)output->text.data;
        else
                byte_buffer_deinit(&output->text);
        free(output);
        return name;
}

/* Possible back references: a Q in an identifier counts as well. */
static unsigned count_references(const char *mangled)
{
        unsigned n = 0;

        for (; *mangled; mangled++)
                n += *mangled == 'Q';
        return n;
}

/*
 * The D demangler builds its result on the heap, and ends the process when that fails, so its input is
 * limited.  Back references multiply: n of them, three to a type, make 3^(n/3) copies of something.
 */
static char *d(const char *mangled, size_t mangled_bytes)
{
        char *name;

        if (mangled_bytes > DEMANGLE_D_MANGLED_MAX || count_references(mangled) > DEMANGLE_D_REFERENCES_MAX)
                return NULL;
        name = dlang_demangle(mangled, OPTIONS);
        if (name && strlen(name) > DEMANGLE_NAME_MAX) {
                free(name);
                name = NULL;
        }
        return name;
}

/*
 * Finds the hash in a name of Rust's older scheme, which is valid C++ as well: "17h" and 16 digits near the
 * end.  Returns NULL if there is none.
 */
static const char *find_old_rust_hash(const char *mangled)
{
        const char *hash = strstr(mangled, RUST_HASH_LENGTH);

        while (hash && strspn(hash + sizeof(RUST_HASH_LENGTH) - 1, "0123456789abcdef") < RUST_HASH_DIGITS)
                hash = strstr(hash + 1, RUST_HASH_LENGTH);
        return hash ? hash + sizeof(RUST_HASH_LENGTH) - 1 : NULL;
}

uint32_t demangle_find_rust_hash(const char *mangled)
{
        const char *hash = mangled[0] == '_' && mangled[1] == 'Z' ? find_old_rust_hash(mangled) : NULL;
        uint32_t number = 0;

        for (unsigned i = 0; hash && i < RUST_HASH_NUMBER_DIGITS; i++)
                number = number << 4 | (uint32_t)(hash[i] <= '9' ? hash[i] - '0' : hash[i] - 'a' + 10);
        return number;
}

char *demangle_name(const char *mangled, enum mangling mangling)
{
        size_t mangled_bytes = strnlen(mangled, DEMANGLE_MANGLED_MAX + 1);
        char *name = NULL;

        if (mangled_bytes > DEMANGLE_MANGLED_MAX || mangled_bytes == 0)
                return NULL;
        if (mangled[0] != '_' || mangled[1] == '_' || mangled[1] == 'a') /* "_ada_" */
                return demangle_by_rules(mangled, mangling);
        if (mangled[1] == 'D')
                return d(mangled, mangled_bytes);
        if (mangled[1] == 'R' || (mangled[1] == 'Z' && find_old_rust_hash(mangled)))
                name = with(rust_demangle_callback, mangled);
        if (!name && mangled[1] == 'Z')
                name = with(cplus_demangle_v3_callback, mangled);
        return name;
}

/* @name: heap, taken over; NULL = memory ran out. */
static char *add_suffix(char *name, const char *suffix)
{
        size_t n_bytes = name ? strlen(name) : 0;
        char *longer = name ? realloc(name, n_bytes + strlen(suffix) + 1) : NULL;

        if (!longer) {
                free(name);
                return NULL;
        }
        memcpy(longer + n_bytes, suffix, strlen(suffix) + 1);
        return longer;
}

char *demangle_symbol(const char *symbol, enum mangling mangling)
{
        const char *version = strchr(symbol, '@');
        bool is_stub = version && strcmp(version, PLT_TABLE_SUFFIX) == 0;
        char *bare, *name;

        if (!version || version == symbol)
                return demangle_name(symbol, mangling);
        bare = strndup(symbol, (size_t)(version - symbol));
        if (!bare)
                return NULL;
        name = demangle_name(bare, mangling);
        if (!name && !is_stub)
                return bare;
        free(bare);
        return name && is_stub ? add_suffix(name, PLT_TABLE_SUFFIX) : name;
}
