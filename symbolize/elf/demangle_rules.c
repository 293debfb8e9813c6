/* SPDX-License-Identifier: MIT */
#include "symbolize/elf/demangle_rules.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define OCAML_PREFIX "caml"
#define FORTRAN_MARK "_MOD_"
#define HASKELL_CODE "_info"
#define HASKELL_MAKE "_con" /* of a constructor, before HASKELL_CODE */
#define ADA_MAIN     "_ada_"
#define ADA_BODY     "___elabb"
#define ADA_SPEC     "___elabs"
#define NIM_MAIN     "NimMain"
#define LONGER_BYTES 3 /* growth at most: Oor___elabb becomes "or"'Elab_Body */

/* A word of a linker's name and what it stands for. */
struct mangled_word {
        const char *mangled, *shown;
};

static bool is_upper(char c)
{
        return c >= 'A' && c <= 'Z';
}

static bool is_word(char c)
{
        return (c >= 'a' && c <= 'z') || is_upper(c) || (c >= '0' && c <= '9') || c == '_';
}

/* ---- OCaml --------------------------------------------------------------------------------------------- */

static int digit_of(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "$2b" is "+"; control characters stay as they are written. */
static bool read_escape(const char *at, char *ret_c)
{
        int high = at[0] == '$' ? digit_of(at[1]) : -1;
        int low = high >= 0 ? digit_of(at[2]) : -1;

        if (low < 0 || high < 2 || high * 16 + low >= 0x7f)
                return false;
        *ret_c = (char)(high * 16 + low);
        return true;
}

/* Modules begin with a capital; "__" after a function belongs to its name. */
static bool decode_ocaml(const char *mangled, char *out)
{
        const char *at = mangled + sizeof(OCAML_PREFIX) - 1, *part = at;
        size_t used = 0;
        bool has_function = false;

        if (strncmp(mangled, OCAML_PREFIX, sizeof(OCAML_PREFIX) - 1) != 0 || !is_upper(*at))
                return false;
        while (*at) {
                size_t n_dot = *at == '.' ? 1 : (strncmp(at, "__", 2) == 0 ? 2 : 0);

                if (n_dot != 0 && is_upper(*part) && at[n_dot] != '\0') {
                        at += n_dot;
                        part = at;
                        out[used++] = '.';
                        has_function = !is_upper(*part);
                } else if (read_escape(at, &out[used])) {
                        used++;
                        at += 3;
                } else {
                        out[used++] = *at++;
                }
        }
        out[used] = '\0';
        return has_function;
}

/* ---- Fortran ------------------------------------------------------------------------------------------- */

/* gfortran's names of modules have no capitals. */
static bool decode_fortran(const char *mangled, char *out)
{
        const char *mark = strstr(mangled, FORTRAN_MARK),
                   *procedure = mark ? mark + sizeof(FORTRAN_MARK) - 1 : NULL;
        size_t n_module = mark ? (size_t)(mark - mangled) : 0;

        if (n_module <= 2 || strncmp(mangled, "__", 2) != 0 || !is_word(*procedure))
                return false;
        n_module -= 2;
        mangled += 2;
        for (size_t i = 0; i < n_module; i++)
                if (is_upper(mangled[i]) || (!is_word(mangled[i]) && mangled[i] != '.'))
                        return false;
        memcpy(out, mangled, n_module);
        out[n_module] = out[n_module + 1] = ':';
        memcpy(out + n_module + 2, procedure, strlen(procedure) + 1);
        return true;
}

/* ---- Haskell ------------------------------------------------------------------------------------------- */

/* GHC writes two letters for a character that C does not allow in names; 0 = unknown code. */
static char character_of(const char *code)
{
        static const char codes[][3] = { "zi.", "zd$", "zm-",  "zu_", "zzz", "ZZZ", "ZC:", "zq'", "zp+",
                                         "zt*", "zs/", "zl<",  "zg>", "ze=", "zh#", "zn!", "za&", "zb|",
                                         "zc^", "zv%", "zr\\", "ZL(", "ZR)", "ZM[", "ZN]" };

        for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
                if (codes[i][0] == code[0] && codes[i][1] == code[1])
                        return codes[i][2];
        return 0;
}

/* "zi" before a capital is the dot in a module's name, "zd" begins a name that the compiler made. */
static bool is_haskell(const char *mangled)
{
        for (const char *at = strstr(mangled, "zi"); at; at = strstr(at + 2, "zi"))
                if (at != mangled && is_upper(at[2]))
                        return true;
        return is_upper(*mangled) && strstr(mangled, "_zd") != NULL;
}

static bool decode_haskell(const char *mangled, char *out)
{
        size_t n_bytes = strlen(mangled), n_code = sizeof(HASKELL_CODE) - 1,
               n_make = sizeof(HASKELL_MAKE) - 1;
        size_t used = 0;

        if (n_bytes <= n_code || strcmp(mangled + n_bytes - n_code, HASKELL_CODE) != 0 ||
            !is_haskell(mangled))
                return false;
        n_bytes -= n_code;
        for (size_t i = 0; i < n_bytes; i++) {
                bool makes = n_bytes - i == n_make && strncmp(mangled + i, HASKELL_MAKE, n_make) == 0;

                if (mangled[i] == 'z' || mangled[i] == 'Z') {
                        if (i + 1 >= n_bytes)
                                return false;
                        out[used] = character_of(mangled + i);
                        if (out[used++] == '\0')
                                return false;
                        i++;
                } else if (!is_word(mangled[i])) {
                        return false;
                } else if (mangled[i] == '_' && !makes) {
                        out[used++] = '.';
                } else {
                        out[used++] = mangled[i];
                }
        }
        out[used] = '\0';
        return true;
}

/* ---- Ada, in GNAT's scheme ----------------------------------------------------------------------------- */

static size_t write_text(char *out, const char *text)
{
        size_t n_bytes = strlen(text);

        for (size_t i = 0; i < n_bytes; i++)
                out[i] = text[i];
        return n_bytes;
}

/* Moves *@at over a word of @words and writes what it stands for.  Returns the bytes written, 0 = no word. */
static size_t take_word(const struct mangled_word *words, const char **at, char *out)
{
        for (; words->mangled; words++) {
                size_t n_bytes = strlen(words->mangled);

                if (strncmp(*at, words->mangled, n_bytes) == 0) {
                        *at += n_bytes;
                        return write_text(out, words->shown);
                }
        }
        return 0;
}

/* Part of a name of Ada: letters are small, and an underscore stands alone. */
static bool is_ada_letter(const char *at)
{
        return (*at >= 'a' && *at <= 'z') || digit_of(*at) >= 0 || (*at == '_' && at[1] != '_');
}

/* An operator, or a name. */
static bool take_ada_name(const char **at, char *out, size_t *used)
{
        static const struct mangled_word operators[] = {
                { "Oabs", "\"abs\"" },  { "Oand", "\"and\"" },    { "Omod", "\"mod\"" },
                { "Onot", "\"not\"" },  { "Oor", "\"or\"" },      { "Orem", "\"rem\"" },
                { "Oxor", "\"xor\"" },  { "Oeq", "\"=\"" },       { "One", "\"/=\"" },
                { "Olt", "\"<\"" },     { "Ole", "\"<=\"" },      { "Ogt", "\">\"" },
                { "Oge", "\">=\"" },    { "Oadd", "\"+\"" },      { "Osubtract", "\"-\"" },
                { "Oconcat", "\"&\"" }, { "Omultiply", "\"*\"" }, { "Odivide", "\"/\"" },
                { "Oexpon", "\"**\"" }, { NULL, NULL },
        };
        size_t n_operator = take_word(operators, at, out + *used), before;

        *used += n_operator;
        if (n_operator > 0)
                return true;
        before = *used;
        while (is_ada_letter(*at))
                out[(*used)++] = *(*at)++;
        return *used > before && out[before] >= 'a' && out[before] <= 'z';
}

/*
 * Takes the rest after the last part of a name: marks of the compiler, and numbers that tell functions of
 * the same name apart.
 */
static bool take_ada_end(const char *at, char *out, size_t *used)
{
        static const struct mangled_word marks[] = {
                { ADA_BODY, "'Elab_Body" },
                { ADA_SPEC, "'Elab_Spec" },
                { NULL, NULL },
        };

        *used += take_word(marks, &at, out + *used);
        if (strcmp(at, "TKB") == 0 || strcmp(at, "TB") == 0) /* the body of a task */
                return true;
        if (*at == 'X') /* within the body of a package */
                at += 1 + strspn(at + 1, "bn");
        if (*at != '\0' && *at != '.' && *at != '$' && !(strncmp(at, "__", 2) == 0 && digit_of(at[2]) >= 0))
                return false;
        *used += write_text(out + *used, at);
        return true;
}

static bool decode_ada(const char *mangled, char *out)
{
        bool is_main = strncmp(mangled, ADA_MAIN, sizeof(ADA_MAIN) - 1) == 0;
        const char *at = is_main ? mangled + sizeof(ADA_MAIN) - 1 : mangled;
        size_t used = 0;

        for (;;) {
                if (!take_ada_name(&at, out, &used))
                        return false;
                /* A package within a body has this mark before the next name, too. */
                if (*at == 'X' && strncmp(at + 1 + strspn(at + 1, "bn"), "__", 2) == 0)
                        at += 1 + strspn(at + 1, "bn");
                if (strncmp(at, "__", 2) != 0 || at[2] == '_' || (at[2] >= '0' && at[2] <= '9'))
                        break;
                out[used++] = '.';
                at += 2;
        }
        if (!take_ada_end(at, out, &used))
                return false;
        out[used] = '\0';
        return is_main || strcmp(out, mangled) != 0;
}

/* ---- Nim ----------------------------------------------------------------------------------------------- */

/*
 * Writes the name of a Nim function: operator signs are spelled as words, and a final "_" says that the
 * name has such words.
 */
static size_t write_nim_name(const char *name, size_t n_bytes, char *out)
{
        static const struct mangled_word signs[] = {
                { "dollar", "$" }, { "percent", "%" }, { "amp", "&" },        { "roof", "^" },
                { "emark", "!" },  { "qmark", "?" },   { "star", "*" },       { "plus", "+" },
                { "minus", "-" },  { "slash", "/" },   { "backslash", "\\" }, { "eq", "=" },
                { "lt", "<" },     { "gt", ">" },      { "tilde", "~" },      { "colon", ":" },
                { "dot", "." },    { "at", "@" },      { "bar", "|" },        { "X5B", "[" },
                { "X5D", "]" },    { "X7B", "{" },     { "X7D", "}" },        { "X28", "(" },
                { "X29", ")" },    { NULL, NULL },
        };
        const char *at = name, *end = name + n_bytes;
        size_t used = 0, n;
        bool has_signs;

        if (n_bytes < 2 || end[-1] != '_') {
                memcpy(out, name, n_bytes);
                return n_bytes;
        }
        end--;
        while (at < end && (n = take_word(signs, &at, out + used)) > 0)
                used += n;
        has_signs = at > name;
        while (at < end)
                out[used++] = *at++;
        if (!has_signs && used > 2 && memcmp(out + used - 2, "eq", 2) == 0) { /* "valueeq_" is "value=" */
                out[used - 2] = '=';
                used--;
        }
        return used;
}

/* Decodes "name__module_18", in Nim 2 "name__module_u18"; a suffix that the C compiler appended is kept. */
static bool decode_nim(const char *mangled, char *out)
{
        size_t n_own = strcspn(mangled, "."), n_name = 0, end, used;
        bool has_number;

        for (size_t at = 0; at < n_own; at++) {
                if (!is_word(mangled[at]))
                        return false;
                if (mangled[at] == '_' && at > 0 && mangled[at - 1] == '_')
                        n_name = at - 1;
        }
        end = n_own;
        while (end > 0 && mangled[end - 1] >= '0' && mangled[end - 1] <= '9')
                end--;
        has_number = end < n_own;
        if (end > 0 && mangled[end - 1] == 'u')
                end--;
        if (!has_number || n_name == 0 || end < n_name + 4 || mangled[end - 1] != '_' ||
            mangled[n_name + 2] < 'a' || mangled[n_name + 2] > 'z')
                return false;
        used = end - 1 - (n_name + 2);
        for (size_t i = 0; i < used; i++)
                out[i] = (char)(mangled[n_name + 2 + i] == 'Z' ? '/' : mangled[n_name + 2 + i]);
        out[used++] = '.';
        used += write_nim_name(mangled, n_name, out + used);
        used += write_text(out + used, mangled + end - 1);
        out[used] = '\0';
        return true;
}

/* ---- which of them ------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, size_t n_bytes, const char *end)
{
        size_t n_end = strlen(end);

        return n_bytes >= n_end && memcmp(text + n_bytes - n_end, end, n_end) == 0;
}

enum mangling demangle_rules_mangling(const char *mangled)
{
        size_t n_bytes;

        if (strncmp(mangled, "_Z", 2) == 0) /* most names of the largest files: their ends are not read */
                return MANGLING_ANY;
        n_bytes = strlen(mangled);
        if (ends_with(mangled, n_bytes, ADA_BODY) || ends_with(mangled, n_bytes, ADA_SPEC))
                return MANGLING_ADA;
        return ends_with(mangled, n_bytes, NIM_MAIN) ? MANGLING_NIM : MANGLING_ANY;
}

char *demangle_by_rules(const char *mangled, enum mangling mangling)
{
        char *out = malloc(strlen(mangled) + LONGER_BYTES + 1);

        if (!out || decode_ocaml(mangled, out) || decode_fortran(mangled, out) ||
            decode_haskell(mangled, out) || (mangling == MANGLING_ADA && decode_ada(mangled, out)) ||
            (mangling == MANGLING_NIM && decode_nim(mangled, out)))
                return out;
        free(out);
        return NULL;
}
