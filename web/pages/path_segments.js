// SPDX-License-Identifier: MIT
/*
 * path_segments.js - the critical path of an instance as parts of the timeline; without a page
 *
 * Way of the data:  source.answer('path') -> [path_segments] -> timeline_path
 *
 * The parts follow each other in time, each on the thread that decided how long the instance took just then.  A part
 * that lies deeper belongs to a thread for which the one above it waited.
 */

import { answerRows } from './answers.js';
import { formatDuration, isNumber } from './format.js';

/**
 * @typedef {import('./answers.js').Answer} Answer
 * @typedef {import('./answers.js').AnswerRow} AnswerRow
 * @typedef {import('./model.js').TraceModel} TraceModel
 */

/**
 * @typedef {'run'|'ready'|'preempted'|'wait'} PathLook  how a part is drawn
 * @typedef {{ begin: number, end: number, thread: number, depth: number, look: PathLook, what: string, name: string|null,
 *             wokenBy: number|null }} PathSegment  times as on the timeline; `what`: its state in words; `name`: of a function
 * @typedef {{ at: number, from: number, to: number, isWakeUp: boolean }} PathStep  from one thread to another
 */

/**
 * The states of parts in words; keys are values of `kind` of hyprof.path.
 * @type {{ [kind: string]: string }}
 */
const SEGMENT_STATES = {
        run: 'ran', ready: 'ready to run', preempted: 'preempted', thread: 'waited',
        late: 'ran late: others had its CPU before',
        unrecorded: 'waited for a program that was not recorded',
        timer: 'slept until its timer', disk: 'waited for the disk', network: 'waited for the network',
        unknown: 'waited for something that is not known', lock: 'waited for a lock without a known holder',
        unborn: 'had not begun', cut: 'left out: too long ago, or too much',
};

/** @type {{ [kind: string]: PathLook }} */
const SEGMENT_LOOKS = { run: 'run', ready: 'ready', late: 'ready', preempted: 'preempted' };

/**
 * The words of a part: "matmul on tt:0 / core 3".
 * @param {AnswerRow} row
 * @returns {string}
 */
function wordsOfRow(row) {
        if (row.kind === 'device')
                return `${row.function} on ${row.device}`;
        if (row.kind === 'launch')
                return `the launch of ${row.function} on ${row.device}`;
        return SEGMENT_STATES[row.kind] ?? 'in another state';
}

/**
 * pathSegments() - the parts, the earliest first; rows that make no sense are left out
 * @param {TraceModel} model
 * @param {Answer} answer  hyprof.path of one instance
 * @param {number} begin   of the instance
 * @returns {PathSegment[]}
 */
export function pathSegments(model, answer, begin) {
        const threads = new Map(model.threads.map((thread) => [thread.handle, thread.id]));
        /** @type {PathSegment[]} */
        const segments = [];

        for (const row of answerRows(answer, 'slowest')) {
                const thread = threads.get(row.thread);

                if (thread === undefined || !isNumber(row.at_ns) || !isNumber(row.ns) || !(row.ns > 0))
                        continue;
                segments.push({ begin: begin + row.at_ns, end: begin + row.at_ns + row.ns, thread,
                                depth: isNumber(row.depth) ? row.depth : 0,
                                look: SEGMENT_LOOKS[row.kind] ?? 'wait',
                                what: wordsOfRow(row), name: row.function ?? null,
                                wokenBy: threads.get(row.woken_by) ?? null });
        }
        return segments.sort((a, b) => a.begin - b.begin);
}

/**
 * pathSteps() - where the path goes from one thread to another
 * A thread that is less deep goes on because the one before woke it.
 * @param {PathSegment[]} segments
 * @returns {PathStep[]}
 */
export function pathSteps(segments) {
        return segments.slice(1).map((segment, i) => ({ at: segment.begin, from: segments[i].thread, to: segment.thread,
                                                         isWakeUp: segment.depth < segments[i].depth }))
                .filter((step) => step.from !== step.to);
}

/**
 * The threads of the path: its own first, then by when they first come.
 * @param {PathSegment[]} segments
 * @param {number} own
 */
export function pathThreads(segments, own) {
        return [...new Set([own, ...segments.map((segment) => segment.thread)])];
}

/**
 * The same, but for its own those with the most time on the path first: of a run, which has many.
 * @param {PathSegment[]} segments
 * @param {number} own
 */
export function pathThreadsByTime(segments, own) {
        /** @type {Map<number, number>} */
        const times = new Map();

        for (const { thread, begin, end } of segments)
                times.set(thread, (times.get(thread) ?? 0) + end - begin);
        const timeOf = (/** @type {number} */ thread) => thread === own ? Infinity : times.get(thread) ?? 0;

        return pathThreads(segments, own).sort((a, b) => timeOf(b) - timeOf(a));
}

/** @param {string} name */
function callOf(name) {
        return /[)\]]$/.test(name) ? name : `${name}()`;
}

/**
 * "flush_log() 3.50 ms"
 * @param {PathSegment} segment
 */
export function labelOfSegment(segment) {
        const what = segment.look !== 'run' ? segment.what : segment.name === null ? 'ran' : callOf(segment.name);

        return `${what} ${formatDuration(segment.end - segment.begin)}`;
}
