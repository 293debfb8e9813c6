/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/demangle_rules.h - readable names of languages that libiberty does not know
 *
 * Way of the data:  demangle -> [demangle_rules] -> demangle
 *
 *   OCaml     camlStdlib__List__map_381          Stdlib.List.map_381
 *   Fortran   __m_MOD_hot_inner                  m::hot_inner
 *   Haskell   base_GHCziBase_zdwunsafeChr_info   base.GHC.Base.$wunsafeChr
 *   Ada       work__list__Oadd__2                work.list."+"__2
 *   Nim       hotInner__stdZtimes_18             std/times.hotInner_18
 *
 * A rule applies only to names that are unlikely in other languages.  Those of Ada and Nim look like names
 * of C: their rules apply only in a file that has code of that language.  Numbers that distinguish functions
 * of the same name stay.
 */
#ifndef SYMBOLIZE_ELF_DEMANGLE_RULES_H
#define SYMBOLIZE_ELF_DEMANGLE_RULES_H

/* Whose rule applies in a file besides those that apply in all. */
enum mangling {
        MANGLING_ANY, /* none */
        MANGLING_ADA,
        MANGLING_NIM,
};

/* demangle_rules_mangling() - what the name of one function says of the language of its file */
enum mangling demangle_rules_mangling(const char *mangled);

/*
 * demangle_by_rules() - the readable form
 * Returns heap memory that the caller frees; NULL if no rule fits, or memory ran out.
 */
char *demangle_by_rules(const char *mangled, enum mangling mangling);

#endif /* SYMBOLIZE_ELF_DEMANGLE_RULES_H */
