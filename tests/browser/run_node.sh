# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Runs a file of node's tests in the TAP that run_tests.sh reads: the script that sources this has the plan.

run_node() { # file, arguments...
        node --test-reporter=tap "$@" 2>&1 |
                grep -vE '^(TAP version|1\.\.)|^# (Subtest:|tests |suites |pass |fail |cancelled |skipped |todo |duration_ms )' |
                awk 'passed && /^  / { next } { passed = /^ok / } 1' # how long a case that passed took is left out
        return "${PIPESTATUS[0]}"
}
