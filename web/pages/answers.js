// SPDX-License-Identifier: MIT
/*
 * answers.js - the documents that hyprof answers with: their tables, and how a value of a key is shown
 *
 * Way of the data:  source.answer() -> [answers] -> data_table, flame_graph, histogram -> screens
 *
 * The end of a key says which unit its value has (docs/use/view-json.md), so a table needs no description of its
 * columns: titles and formats follow from the keys.
 */

import { formatBytes, formatCount, formatDuration, formatShare, formatTime } from './format.js';

/** @typedef {{ [key: string]: any }} AnswerRow */
/** @typedef {{ about: string|null, left_out: number, rows: AnswerRow[] }} AnswerTable */
/** @typedef {{ [key: string]: any, schema: string, warnings: string[], hints?: string[] }} Answer */
/**
 * @typedef {'duration'|'delta'|'time'|'share'|'change'|'bytes'|'count'|'real'|'id'|'handle'|'place'|'bool'|'stack'|'text'}
 *         ValueType
 */
/** @typedef {{ key: string, title: string, type: ValueType }} AnswerColumn */

/**
 * Keys that do not say by themselves what they are.
 * @type {{ [key: string]: ValueType }}
 */
const ANSWER_TYPES = {
        count: 'count', number: 'count', value: 'real', per_zone: 'real', p: 'real', pid: 'id', tid: 'id', cpu: 'id',
        id: 'id', line: 'id', place: 'place', place_id: 'id', callstack: 'stack', handle: 'handle', thread: 'handle',
        zone: 'handle', share: 'share', change: 'change', change_low: 'change', change_high: 'change', bytes: 'bytes',
        change_bytes: 'bytes', change_blocks: 'count',
        slow_count: 'real', typical_count: 'real', slow_with: 'share', typical_with: 'share', utilization: 'share',
        share_low: 'share', share_high: 'share', share_before: 'share', share_after: 'share', fps: 'real',
        instances: 'count', min: 'real', max: 'real', mean: 'real', first: 'real', last: 'real', weight: 'count',
        self_weight: 'count', total_weight: 'count', depth: 'id', shown: 'bool', share_of_time: 'share',
};

/**
 * Titles that are better than the key.
 * @type {{ [key: string]: string }}
 */
const ANSWER_TITLES = {
        self_share: 'self %', total_share: 'total %', self_samples: 'self samples', total_samples: 'total samples',
        p50_ns: 'median', p90_ns: 'p90', p99_ns: 'p99', p99_9_ns: 'p99.9', min_ns: 'min', max_ns: 'max',
        mean_ns: 'mean', on_cpu_ns: 'on CPU', n_samples: 'samples', n_unclosed: 'unclosed', n_unended: 'unended',
        share: '%', at_ns: 'at', mean_without_samples_ns: 'mean w/o samples', named_share: 'named %',
        cache_misses_per_1000: 'cache misses/1000', branch_misses_per_1000: 'branch misses/1000', ipc: 'IPC',
        extra_ns: 'extra', slow_ns: 'slow', typical_ns: 'typical', pid: 'PID', tid: 'TID', cpu: 'CPU',
        busy_share: 'busy %', on_cpu_share: 'on CPU %', samples_share: 'samples %', fps: 'per second',
        share_low: 'from %', share_high: 'to %', live_bytes: 'in use', n_live: 'blocks in use', n_at_peak: 'blocks at peak',
        n_before: 'samples before', n_after: 'samples after', n_instances_before: 'instances before',
        n_instances_after: 'instances after', n_cpus: 'CPUs', hyprof_version: 'hyprof',
};

/** @param {string} key @returns {ValueType} */
export function answerTypeOf(key) {
        if (key in ANSWER_TYPES)
                return ANSWER_TYPES[key];
        if (key.endsWith('at_ns'))
                return 'time';
        if (key.endsWith('_ns'))
                return 'duration';
        if (key.endsWith('_share'))
                return 'share';
        if (key.endsWith('_change'))
                return 'change';
        if (key.endsWith('_bytes'))
                return 'bytes';
        if (key.startsWith('n_') || key.endsWith('_samples') || key.endsWith('_instances'))
                return 'count';
        if (key.endsWith('_weight'))
                return 'count';
        if (key.endsWith('_per_1000') || key.endsWith('_per_s') || key === 'ipc')
                return 'real';
        if (key.startsWith('is_') || key.startsWith('has_') || key.startsWith('can_'))
                return 'bool';
        return 'text';
}

/** @param {string} key */
export function answerTitleOf(key) {
        if (key in ANSWER_TITLES)
                return ANSWER_TITLES[key];
        return key.replace(/^n_/, '').replace(/_(ns|bytes)$/, '').replace(/_share$/, ' %').replace(/_/g, ' ');
}

/** @param {string} key @returns {AnswerColumn} */
export function answerColumn(key) {
        return { key, title: answerTitleOf(key), type: answerTypeOf(key) };
}

/** @param {ValueType} type */
export function isNumberType(type) {
        return !['text', 'handle', 'place', 'bool', 'stack'].includes(type);
}

/**
 * answerCell() - a value as a person reads it
 * @param {ValueType} type
 * @param {any} value
 * @returns {string}
 */
export function answerCell(type, value) {
        if (value === null || value === undefined)
                return '-';
        switch (type) {
        case 'duration':
                return formatDuration(value);
        case 'delta':
                return (value > 0 ? '+' : '') + formatDuration(value);
        case 'time':
                return formatTime(value);
        case 'share':
                return formatShare(value);
        case 'change':
                return (value > 0 ? '+' : '') + formatShare(value);
        case 'bytes':
                return formatBytes(value);
        case 'count':
                return formatCount(value);
        case 'real':
                return Number.isInteger(value) ? formatCount(value) : value.toPrecision(4);
        case 'bool':
                return value ? 'yes' : 'no';
        case 'stack':
                return value.join(' < ');
        default:
                return String(value);
        }
}

/**
 * The rows of a table of an answer; none if it is not there.
 * @param {Answer} answer
 * @param {string} key
 */
export function answerRows(answer, key) {
        const table = answer[key];

        return /** @type {AnswerRow[]} */ (table && Array.isArray(table.rows) ? table.rows : []);
}

/** @param {Answer} answer @param {string} key @returns {string} */
export function answerAbout(answer, key) {
        const table = answer[key];
        const about = table && table.about ? table.about : '';

        if (table && table.left_out > 0)
                return `${about}${about ? '; ' : ''}${formatCount(table.left_out)} more rows are left out`;
        return about;
}

/**
 * One field of CSV: quoted as RFC 4180 says; a text that a spreadsheet would take for a formula gets an apostrophe.
 * @param {any} value
 */
function csvField(value) {
        let text = value === null || value === undefined ? '' : Array.isArray(value) ? value.join(' < ') : String(value);

        if (typeof value !== 'number' && /^[=+\-@\t\r]/.test(text))
                text = `'${text}`;
        return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** @param {AnswerColumn[]} columns @param {AnswerRow[]} rows */
export function csvOf(columns, rows) {
        const lines = [columns.map((c) => csvField(c.key)).join(',')];

        for (const row of rows)
                lines.push(columns.map((c) => csvField(row[c.key])).join(','));
        return lines.join('\n') + '\n';
}

/**
 * @typedef {object} CallNode
 * @property {string} name
 * @property {string|null} handle
 * @property {string} module
 * @property {number} value       total, in the unit of the tree
 * @property {number} self
 * @property {number|null} before the total on the other side of a comparison; null = nothing is compared
 * @property {number} [waiting]    of the total: threads did not run; only of a tree of the wall time
 * @property {CallNode[]} children
 * @property {CallNode|null} parent
 * @property {AnswerRow} row
 */

/**
 * callTree() - the rows of a tree, which have a depth, as a tree
 * Rows come depth first: the parent of a row is the last row before it whose depth is smaller by one.
 * @param {AnswerRow[]} rows
 * @param {{ value: string, before?: string, self?: string }} keys
 * @param {string} rootName
 * @returns {CallNode}
 */
export function callTree(rows, keys, rootName) {
        /** @type {CallNode} */
        const root = { name: rootName, handle: null, module: '', value: 0, self: 0, before: keys.before ? 0 : null,
                       children: [], parent: null, row: {} };
        const open = [root];

        for (const row of rows) {
                const depth = Math.min(row.depth, open.length - 1);
                const parent = open[depth];
                /** @type {CallNode} */
                const node = { name: row.function ?? row.name ?? '[unknown]', handle: row.handle ?? null,
                               module: row.module ?? '', value: row[keys.value] ?? 0, self: 0,
                               before: keys.before ? row[keys.before] ?? 0 : null, children: [], parent, row };

                parent.children.push(node);
                open.length = depth + 1;
                open.push(node);
                if (depth === 0) {
                        root.value += node.value;
                        if (keys.before)
                                root.before = (root.before ?? 0) + (node.before ?? 0);
                }
        }
        settleSelf(root);
        return root;
}

/** @param {CallNode} root */
function settleSelf(root) {
        const left = [root];

        for (let node = left.pop(); node; node = left.pop()) {
                node.self = Math.max(0, node.value - node.children.reduce((sum, c) => sum + c.value, 0));
                left.push(...node.children);
        }
}

/**
 * stackTree() - rows with a call stack (the innermost function first) as a tree from the outermost inwards
 * @param {AnswerRow[]} rows
 * @param {string} valueKey
 * @param {string} rootName
 * @returns {CallNode}
 */
export function stackTree(rows, valueKey, rootName) {
        /** @type {CallNode} */
        const root = { name: rootName, handle: null, module: '', value: 0, self: 0, before: null, children: [],
                       parent: null, row: {} };

        for (const row of rows) {
                const value = row[valueKey] ?? 0;
                const names = row.callstack ? [...row.callstack].reverse() : [row.place ?? row.zones ?? '[not recorded]'];
                let node = root;

                root.value += value;
                for (const name of names) {
                        let child = node.children.find((c) => c.name === name);

                        if (!child) {
                                child = { name, handle: null, module: '', value: 0, self: 0, before: null, children: [],
                                          parent: node, row };
                                node.children.push(child);
                        }
                        child.value += value;
                        node = child;
                }
        }
        settleSelf(root);
        return root;
}
