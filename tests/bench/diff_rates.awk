# SPDX-License-Identifier: MIT
# The lines of diff_draws -> a table of percentages, the rates of all cells together, and whether they are within bounds.
#
# A line: cell, fewest samples of the function in a run, by how much runs differ in it; then five counts each of pairs, 5 against 5 alike, 5 against 5
# changed, 8 against 8 alike, 8 against 8 changed: comparisons, with anything significant, with the function found, with
# anything else significant, and without the function but with the word that such a change might be missed.
#
# Draws of one cell share their recordings, so they are not independent: beside the interval by counts (Wilson) there is
# that of the mean of the cells' rates (Student's distribution).
# Exit status: 0 = all rates are within the bounds of docs/use/diff.md, 1 = one is not.
BEGIN {
        FS = "\t"
        pairs = 4
        alike5 = 9
        changed5 = 14
        alike8 = 19
        changed8 = 24
        row("", "samples", "runs", "pairs", "5v5", "5v5", "5v5", "missed", "8v8", "8v8", "8v8")
        row("cell", "of the f.", "differ", "false", "false", "found", "other", "said", "false", "found", "other")
}

function row(a, b, differ, c, d, e, f, g, h, i, j) {
        printf "%-28s %9s %6s | %6s | %7s %7s %7s %7s | %7s %7s %7s\n", a, b, differ, c, d, e, f, g, h, i, j
        fflush()
}

function share(n, of) {
        return of > 0 ? sprintf("%.1f%%", 100 * n / of) : "-"
}

# A count of this line is one of a column, and of the column of its load.
function add(column, n, of) {
        if (of == 0)
                return
        add_to(column, n, of)
        add_to(column $1 ~ /quiet$/ ? column " quiet" : column " busy", n, of)
}

function add_to(column, n, of) {
        hits[column] += n
        draws[column] += of
        cells[column]++
        rates[column] += n / of
        squares[column] += (n / of) ^ 2
}

{
        row($1, $2, sprintf("%.1f%%", 100 * $3), share($(pairs + 1), $pairs), share($(alike5 + 1), $alike5), share($(changed5 + 2), $changed5),
                share($(changed5 + 3), $changed5), share($(changed5 + 4), $changed5 - $(changed5 + 2)),
                share($(alike8 + 1), $alike8), share($(changed8 + 2), $changed8), share($(changed8 + 3), $changed8))
        add("pairs", $(pairs + 1), $pairs)
        add("false5", $(alike5 + 1), $alike5)
        add("other5", $(changed5 + 3), $changed5)
        add("false8", $(alike8 + 1), $alike8)
        add("other8", $(changed8 + 3), $changed8)
        if ($2 >= 7000) {
                add("found5", $(changed5 + 2), $changed5)
                add("found8", $(changed8 + 2), $changed8)
        }
}

# Student's quantile of 0.975, by degrees of freedom (Abramowitz and Stegun 26.7.5).
function quantile(df,   z) {
        if (df < 2)
                return 12.706
        z = 1.95996
        return z + (z ^ 3 + z) / (4 * df) + (5 * z ^ 5 + 16 * z ^ 3 + 3 * z) / (96 * df ^ 2)
}

function range(low, high) {
        return sprintf("%.2f to %.2f", low > 0 ? 100 * low : 0, high < 1 ? 100 * high : 100)
}

function wilson(column,   n, p, z, middle, far) {
        n = draws[column]
        z = 1.95996
        p = hits[column] / n
        middle = (p + z ^ 2 / (2 * n)) / (1 + z ^ 2 / n)
        far = z / (1 + z ^ 2 / n) * sqrt(p * (1 - p) / n + z ^ 2 / (4 * n ^ 2))
        return range(middle - far, middle + far)
}

function by_cells(column,   n, mean, variance, far) {
        n = cells[column]
        if (n < 2)
                return "-"
        mean = rates[column] / n
        variance = (squares[column] - n * mean ^ 2) / (n - 1)
        far = quantile(n - 1) * sqrt((variance > 0 ? variance : 0) / n)
        return range(mean - far, mean + far)
}

function is_within(column, least, most,   rate) {
        if (cells[column] == 0)
                return 1
        rate = hits[column] / draws[column]
        return rate >= least && rate <= most
}

# A rate and its bounds: false ones must not exceed theirs in all cells together, nor in busy ones; changes are to be found
# in quiet ones.
function line(words, column, least, most,   of, is_good) {
        of = column
        if (least > 0)
                of = column " quiet"
        is_good = is_within(of, least, most) && (least > 0 || is_within(column " busy", least, most))
        if (cells[of] == 0) {
                printf "%-46s no such cell\n", words
                return
        }
        if (!is_good)
                n_bad++
        printf "%-46s %6.2f%%  %-15s %-15s %7s %7s  %s\n", words, 100 * hits[of] / draws[of], wilson(of), by_cells(of),
                share(hits[column " quiet"], draws[column " quiet"]), share(hits[column " busy"], draws[column " busy"]),
                (least > 0 ? sprintf("at least %g%% of quiet ones", 100 * least) : sprintf("at most %g%%", 100 * most)) (is_good ? "" : ": NOT MET")
}

END {
        printf "\n%-46s %7s  %-15s %-15s %7s %7s  %s\n", "all cells together", "rate", "95% by counts", "95% by cells", "quiet", "busy", "bound"
        line("pairs alike: anything significant", "pairs", 0, 0.01)
        line("5 against 5 alike: anything significant", "false5", 0, 0.05)
        line("8 against 8 alike: anything significant", "false8", 0, 0.01)
        line("5 against 5, +5%, 7,000 samples: found", "found5", 0.95, 1)
        line("8 against 8, +5%, 7,000 samples: found", "found8", 0.95, 1)
        line("5 against 5, +5%: another blamed", "other5", 0, 0.05)
        line("8 against 8, +5%: another blamed", "other8", 0, 0.01)
        exit n_bad > 0
}
