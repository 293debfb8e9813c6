/* SPDX-License-Identifier: MIT */
/*
 * cli/options/native_option.h - --native: of every command that folds native functions into Python functions
 *
 * Way of the data:  command line -> [native_option] -> report_views, cmd_diff, cmd_why, cmd_top, cmd_export
 */
#ifndef CLI_OPTIONS_NATIVE_OPTION_H
#define CLI_OPTIONS_NATIVE_OPTION_H

#define NATIVE_OPTION 1316

#define NATIVE_OPTION_ROW                                                                                 \
        {                                                                                                 \
                NATIVE_OPTION, "native", NULL,                                                            \
                        "of Python programs: native functions, not the Python functions that called them" \
        }

#endif /* CLI_OPTIONS_NATIVE_OPTION_H */
