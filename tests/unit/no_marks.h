/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/no_marks.h - included before each unit test, and what it is linked with, that is built with a
 * sanitizer or for a board
 *
 * An assertion that holds tells the library `check` its place, for the case of a crash.  The library moves
 * those messages byte by byte there, 8 KiB for each, which took most of the time of such a run; and where it
 * crashed a sanitizer says itself.  On a board their system calls take most of the time, above all in an
 * emulated machine: 12 minutes for the bytes that one test compares.
 */
#ifndef TESTS_NO_MARKS_H
#define TESTS_NO_MARKS_H

#include <check.h>

#define _mark_point(file, line) ((void)0)

#endif /* TESTS_NO_MARKS_H */
