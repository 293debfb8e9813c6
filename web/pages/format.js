// SPDX-License-Identifier: MIT
// Numbers for people, in the words of the command line's reports: 12.3 ms, 1,103,220, 31.0 MB, 31.2%.

/**
 * Three digits: 1.23, 12.3, 123.
 * @param {number} value
 */
function formatThreeDigits(value) {
        const size = Math.abs(value);
        if (size < 9.995) {
                return value.toFixed(2);
        }
        return value.toFixed(size < 99.95 ? 1 : 0);
}

/**
 * @param {any} value
 * @returns {value is number}
 */
export function isNumber(value) {
        return typeof value === 'number' && isFinite(value);
}

/**
 * 999.5 would be shown as 1000: the larger unit says the same in fewer digits.
 * @param {number} value
 * @param {readonly string[]} units smallest first
 */
function formatScaled(value, units) {
        let unit = 0;
        let scaled = value;
        while (Math.abs(scaled) >= 999.5 && unit < units.length - 1) {
                scaled /= 1000;
                unit++;
        }
        const text = unit > 0 ? formatThreeDigits(scaled)
                : Math.abs(scaled) < 10 && scaled % 1 !== 0 ? scaled.toFixed(1) : scaled.toFixed(0);
        return units[unit] ? text + ' ' + units[unit] : text;
}

const DURATION_UNITS = ['ns', 'us', 'ms', 's'];
const BYTE_UNITS = ['B', 'KB', 'MB', 'GB'];
const NUMBER_UNITS = ['', 'K', 'M', 'G', 'T', 'P', 'E'];

/**
 * @param {number | null | undefined} ns
 * @returns {string}
 */
export function formatDuration(ns) {
        return isNumber(ns) ? formatScaled(ns, DURATION_UNITS) : '-';
}

/**
 * @param {number | null | undefined} n
 * @returns {string}
 */
export function formatCount(n) {
        if (!isNumber(n)) {
                return '-';
        }
        const [whole, part] = (Number.isInteger(n) ? String(n) : n.toFixed(2)).split('.');
        return whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',') + (part ? '.' + part : '');
}

/**
 * @param {number | null | undefined} bytes
 * @returns {string}
 */
export function formatBytes(bytes) {
        return isNumber(bytes) ? formatScaled(bytes, BYTE_UNITS) : '-';
}

/**
 * @param {number | null | undefined} share 0 to 1
 * @returns {string}
 */
export function formatShare(share) {
        if (!isNumber(share)) {
                return '-';
        }
        return (share * 100).toFixed(1) + '%';
}

/**
 * A value of a plot, in the plot's unit.
 * @param {number} value
 * @param {string | null} [unit]
 */
export function formatValue(value, unit) {
        if (unit === 'bytes') {
                return formatBytes(value);
        }
        if (unit === 'ns') {
                return formatDuration(value);
        }
        if (unit === 'share' || unit === 'percent') {
                return unit === 'share' ? formatShare(value) : value.toFixed(1) + '%';
        }
        const text = Math.abs(value) >= 1e5 ? formatScaled(value, NUMBER_UNITS)
                : Number.isInteger(value) ? formatCount(value) : String(Number(value.toPrecision(4)));
        return unit && unit !== 'count' ? text + ' ' + unit : text;
}

/**
 * An instant since the start of the recording, as --from and --to take it: 1.234567890 s, with as many digits as
 * `step_ns` needs to be told apart from its neighbours.
 * @param {number} ns
 * @param {number} [step_ns]
 */
export function formatTime(ns, step_ns) {
        if (step_ns === undefined) {
                return (ns / 1e9).toFixed(9) + ' s';
        }
        const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(Math.max(1, step_ns)) - 1e-9)));
        return (ns / 1e9).toFixed(digits) + ' s';
}

/**
 * "1 zone", "3 zones".
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 */
export function formatPlural(n, one, many) {
        return formatCount(n) + ' ' + (n === 1 ? one : many || one + 's');
}

/**
 * A duration or instant that a person typed: "12", "1.5ms", "20 us", "3s", "2m"; without a unit, seconds.
 * @param {string} text
 * @returns {number | null} ns
 */
export function parseDuration(text) {
        const match = /^\s*([0-9]*\.?[0-9]+)\s*(ns|us|µs|ms|s|m|h)?\s*$/.exec(text);
        if (!match) {
                return null;
        }
        /** @type {Record<string, number>} */
        const scales = { ns: 1, us: 1e3, 'µs': 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };
        return Math.round(Number(match[1]) * scales[match[2] || 's']);
}

/**
 * Steps for the marks of an axis: 1, 2 or 5 times a power of ten.
 * @param {number} least
 */
export function roundStep(least) {
        const power = Math.pow(10, Math.floor(Math.log10(least)));
        for (const factor of [1, 2, 5, 10]) {
                if (power * factor >= least * (1 - 1e-9)) {
                        return power * factor;
                }
        }
        return power * 10;
}
