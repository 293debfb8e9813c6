# SPDX-License-Identifier: MIT
# The lines of diff_draws -> a table of percentages, with the rates of all cells together and their 95% intervals.
#
# A line: cell, fewest samples of the function in a run, then comparisons, with anything significant, with the function
# found, with anything else significant; of pairs, 5 against 5 alike, 5 against 5 changed, 8 against 8 alike, changed.
#
# Draws of one cell share their recordings, so they do not count as independent: the intervals are those of the mean of
# the cells' rates (Student's distribution), no narrower than by counts (Wilson) if the cells happen to agree.
BEGIN {
        FS = "\t"
        printf "%-30s %8s | %6s | %7s %7s %7s | %7s %7s %7s\n", "", "samples", "pairs", "5v5", "5v5", "5v5", "8v8", "8v8", "8v8"
        printf "%-30s %8s | %6s | %7s %7s %7s | %7s %7s %7s\n", "cell", "of the f.", "false", "false", "found", "other", "false", "found", "other"
}

function share(n, of) {
        return of > 0 ? sprintf("%.1f%%", 100 * n / of) : "-"
}

# Counts of a column: 1 pairs, 2 false 5v5, 3 found, 4 other, 5 false 8v8, 6 found, 7 other.
function add(column, n, of) {
        if (of == 0)
                return
        hits[column] += n
        draws[column] += of
        cells[column]++
        rates[column] += n / of
        squares[column] += (n / of) ^ 2
}

{
        printf "%-30s %8d | %6s | %7s %7s %7s | %7s %7s %7s\n", $1, $2, share($4, $3), share($8, $7), share($13, $11),
                share($14, $11), share($16, $15), share($21, $19), share($22, $19)
        fflush()
        add(1, $4, $3)
        add(2, $8, $7)
        add(4, $14, $11)
        add(5, $16, $15)
        add(7, $22, $19)
        if ($2 >= 7000 && $1 ~ /quiet$/) {
                add(3, $13, $11)
                add(6, $21, $19)
        }
}

# Student's quantile of 0.975, by degrees of freedom (Abramowitz and Stegun 26.7.5).
function quantile(df,   z) {
        if (df < 2)
                return 12.706
        z = 1.95996
        return z + (z ^ 3 + z) / (4 * df) + (5 * z ^ 5 + 16 * z ^ 3 + 3 * z) / (96 * df ^ 2)
}

function interval(column,   n, mean, variance, far, p, wilson_low, wilson_high, z, low, high) {
        n = cells[column]
        mean = rates[column] / n
        variance = n > 1 ? (squares[column] - n * mean ^ 2) / (n - 1) : 0
        far = n > 1 ? quantile(n - 1) * sqrt((variance > 0 ? variance : 0) / n) : 0
        z = 1.95996
        p = hits[column] / draws[column]
        far_wilson = z / (1 + z ^ 2 / draws[column]) * sqrt(p * (1 - p) / draws[column] + z ^ 2 / (4 * draws[column] ^ 2))
        middle = (p + z ^ 2 / (2 * draws[column])) / (1 + z ^ 2 / draws[column])
        low = mean - far < middle - far_wilson ? mean - far : middle - far_wilson
        high = mean + far > middle + far_wilson ? mean + far : middle + far_wilson
        return sprintf("%.2f%% (%.2f to %.2f), %d draws of %d cells", 100 * p, low > 0 ? 100 * low : 0,
                high < 1 ? 100 * high : 100, draws[column], n)
}

function line(words, column) {
        printf "%-62s %s\n", words, (cells[column] > 0 ? interval(column) : "no such cell")
}

END {
        print ""
        line("pairs, nothing changed: anything significant (at most 1%)", 1)
        line("5 against 5, nothing changed: anything significant (at most 5%)", 2)
        line("8 against 8, nothing changed: anything significant (at most 1%)", 5)
        line("5 against 5, 5% planted: found, quiet cells with 7,000 samples (95%)", 3)
        line("8 against 8, 5% planted: found, quiet cells with 7,000 samples", 6)
        line("5 against 5, 5% planted: another blamed (at most 5%)", 4)
        line("8 against 8, 5% planted: another blamed (at most 1%)", 7)
}
