// SPDX-License-Identifier: MIT
/*
 * wait_facts.js - for what a thread waited: where, with which call stack, who ended it and in which function, what that
 * thread did meanwhile; for a thread that was preempted, who had its CPU.  Without a page
 *
 * Way of the data:  a state or a zone of a thread -> [wait_facts] -> source.answer(): off_cpu, path, threads
 *                                                              -> wait_panel, screen_timeline: the tooltip
 *
 * A page in one file has no command to ask.  Its lanes say a part of it: ghost zones have the call stack of a wait, states
 * the thread that ended it, CPUs who had them, samples what ran; `lack` says in a sentence what they do not say.
 */

import { answerRows } from './answers.js';
import { formatCount, formatDuration, formatPlural, formatShare } from './format.js';
import { STATE_PREEMPTED, STATE_RUNNABLE, STATE_WAITING } from './model.js';
import { labelOfSegment, pathSegments } from './path_segments.js';

/**
 * @typedef {import('./answers.js').AnswerRow} AnswerRow
 * @typedef {import('./lanes.js').SpanItems} SpanItems
 * @typedef {import('./model.js').ThreadOfModel} ThreadOfModel
 * @typedef {import('./model.js').TrackOfModel} TrackOfModel
 * @typedef {import('./path_segments.js').PathSegment} PathSegment
 * @typedef {import('./timeline_hits.js').TimelineHit} TimelineHit
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

/**
 * @typedef {{ kind: 'wait'|'zone'|'preempted', begin: number, end: number, thread: ThreadOfModel, track: TrackOfModel, waker: number,
 *             cpu: number }} WaitSubject  `end`: of a wait, when it was woken; `waker`: a thread, 0 = not known; `cpu`: of `preempted`
 * @typedef {{ subject: WaitSubject, places: AnswerRow[], wakers: AnswerRow[], waiting_ns: number, sentence: string,
 *             segments: PathSegment[], owners: AnswerRow[], ran: string, lack: string }} WaitFacts
 *         rows of hyprof.off_cpu and hyprof.threads; `sentence`: of hyprof.path; `ran`: what the waker ran, by its samples
 */

const PATH_PARTS_MAX = 200;
const KEPT_MAX = 64;
/** How many functions of a call stack, and how many things that happened meanwhile, a tooltip names. */
const TIP_FUNCTIONS = 8;
const TIP_PARTS = 3;

const NOT_IN_FILE = 'This file does not hold in which function that was, nor what was behind it: hyprof view of the trace says it.';
/** The place of a wait is outside of the C library and the loader, as in the reports (analyze/stats/wait_places.h). */
const C_LIBRARY = /(^|\/)(libc\.so|libc-2|libc\.musl|libpthread|ld-linux|ld-2|ld-musl|ld\.so|ld64\.so|librt)[^/]*$|^\[vdso\]$/;
const OTHERS_WORDS = 'programs that were not recorded';

/** @param {number} what of a state */
const valueOf = (what) => what & 0x0fffffff;

/**
 * subjectOf() - what is asked about: the wait that a state belongs to, or a zone
 * @param {Viewer} viewer
 * @param {TimelineHit} hit
 * @returns {Promise<WaitSubject|null>} null if it is neither
 */
async function subjectOf(viewer, hit) {
        const { lane, track } = hit.lane;
        const thread = track.kind === 'thread' && track.thread !== null ? viewer.model.thread(track.thread) : null;
        const state = hit.what >>> 28;
        const subject = { begin: hit.begin, end: Math.max(hit.end, hit.begin + 1), track, waker: 0, cpu: valueOf(hit.what) };

        if (!thread || hit.count !== 1)
                return null;
        if (lane.kind === 'zones')
                return { ...subject, kind: 'zone', thread };
        if (lane.kind !== 'states')
                return null;
        if (state === STATE_PREEMPTED)
                return { ...subject, kind: 'preempted', thread };
        if (state === STATE_WAITING) {
                const next = await viewer.source.find([lane.id], hit.begin, 'next', null);
                const isWoken = next !== null && next.begin_ns === hit.end && next.what >>> 28 === STATE_RUNNABLE;

                return { ...subject, kind: 'wait', thread, waker: next && isWoken ? valueOf(next.what) : 0 };
        }
        if (state !== STATE_RUNNABLE)
                return null;
        const before = await viewer.source.find([lane.id], hit.begin, 'previous', null);

        return before && before.end_ns === hit.begin && before.what >>> 28 === STATE_WAITING
                ? { ...subject, kind: 'wait', thread, begin: before.begin_ns, end: hit.begin, waker: valueOf(hit.what) } : null;
}

/** @param {WaitSubject} subject @returns {WaitFacts} */
function emptyFacts(subject) {
        return { subject, places: [], wakers: [], waiting_ns: 0, sentence: '', segments: [], owners: [], ran: '', lack: '' };
}

/** Asks, and keeps the last answers: what a tooltip said need not be asked again for the panel. */
export class WaitQuestions {
        /** @param {Viewer} viewer */
        constructor(viewer) {
                this.viewer = viewer;
                /** @type {Map<string, WaitFacts>} */
                this.kept = new Map();
        }

        /**
         * @param {TimelineHit} hit
         * @param {AbortSignal} signal
         * @returns {Promise<WaitFacts|null>} null if the item is no wait and no zone of a thread
         */
        async ask(hit, signal) {
                const key = `${hit.lane.lane.id}-${hit.begin}-${hit.end}`;
                const known = this.kept.get(key);

                if (known)
                        return known;
                const subject = await subjectOf(this.viewer, hit);
                const facts = !subject ? null : this.viewer.model.file ? await this.readFile(subject)
                        : await this.askCommands(subject, signal);

                /* More of it may come while a recording runs. */
                if (facts && !signal.aborted && !this.viewer.model.isLive) {
                        if (this.kept.size >= KEPT_MAX)
                                this.kept.delete(/** @type {string} */ (this.kept.keys().next().value));
                        this.kept.set(key, facts);
                }
                return facts;
        }

        /** @param {WaitSubject} subject @param {AbortSignal} signal @returns {Promise<WaitFacts>} */
        async askCommands(subject, signal) {
                const { source, model } = this.viewer;
                const thread = subject.thread.handle;
                const facts = emptyFacts(subject);
                const range = { from: String(subject.begin), to: String(subject.end), thread };

                if (subject.kind === 'preempted')
                        return { ...facts, owners: answerRows(await source.answer('threads', range, { signal }), 'owners') };
                /* The wake-up is at the end, and belongs to it. */
                const [waits, path] = await Promise.allSettled([
                        source.answer('off_cpu', { ...range, to: String(subject.end + 1) }, { signal }),
                        source.answer('path', { ...range, top: String(PATH_PARTS_MAX) }, { signal })]);

                if (waits.status === 'rejected')
                        throw waits.reason;
                facts.places = answerRows(waits.value, 'places');
                facts.wakers = answerRows(waits.value, 'wakers');
                facts.waiting_ns = Number(waits.value.waiting_ns ?? 0);
                if (path.status === 'fulfilled' && facts.places.length > 0) {
                        facts.sentence = path.value.answer;
                        facts.segments = pathSegments(model, path.value, subject.begin).filter((segment) => segment.depth > 0 ||
                                segment.look === 'wait');
                }
                return facts;
        }

        /** @param {WaitSubject} subject @returns {Promise<WaitFacts>} */
        async readFile(subject) {
                const { model } = this.viewer;
                const facts = emptyFacts(subject);

                if (subject.kind === 'zone')
                        return facts;
                if (subject.kind === 'preempted')
                        return { ...facts, owners: await this.ownersInFile(subject) };
                const functions = await this.stackInFile(subject);
                const stack = functions.filter((one) => !one.is_kernel);
                const own = stack.find((one) => !C_LIBRARY.test(one.module)) ?? stack[0] ?? functions[0];

                facts.waiting_ns = subject.end - subject.begin;
                facts.places = [{ place: own ? own.name : '[not in this file]', callstack: stack.map((one) => one.name), id: 1 }];
                facts.wakers = subject.waker === 0 ? [] : [{ place_id: 1, thread_name: model.threadName(subject.waker), function: null,
                                                             kind: 'thread', tid: model.thread(subject.waker)?.tid }];
                facts.ran = subject.waker === 0 ? '' : await this.ranInFile(subject);
                facts.lack = NOT_IN_FILE;
                return facts;
        }

        /**
         * The functions in which the thread waited, the innermost first: ghost zones go on during a wait whose call stack
         * was recorded, and end where it was not.
         * @param {WaitSubject} subject
         */
        async stackInFile(subject) {
                const { source, model } = this.viewer;
                const lanes = subject.track.lanes.filter((lane) => lane.kind === 'ghosts').sort((a, b) => b.depth - a.depth);
                const items = await source.lanes(lanes.map((lane) => lane.id), subject.begin, subject.begin + 1, 0).catch(() => new Map());

                return lanes.flatMap((lane) => {
                        const found = items.get(lane.id);
                        const i = found && !found.isPoints ? indexAt(found, subject.begin) : -1;

                        const known = i >= 0 && found.count[i] === 1 ? model.functions[found.what[i]] : undefined;

                        return known ? [{ ...known, name: model.nameOf('ghosts', found.what[i]) }] : [];
                });
        }

        /**
         * The functions that the waker ran during the wait.
         * @param {WaitSubject} subject
         */
        async ranInFile(subject) {
                const { source, model } = this.viewer;
                const asked = { from: String(subject.begin), to: String(subject.end), thread: model.thread(subject.waker)?.handle };
                const answer = await source.answer('functions', asked).catch(() => null);
                const rows = (answer ? answerRows(answer, 'functions') : []).filter((row) => row.self_samples > 0).slice(0, TIP_PARTS);

                return rows.map((row) => `${row.function} (${formatPlural(row.self_samples, 'sample')})`).join(', ');
        }

        /**
         * Who had the CPU from which the thread was preempted.
         * @param {WaitSubject} subject
         */
        async ownersInFile(subject) {
                const { source, model } = this.viewer;
                const track = model.tracks.find((one) => one.kind === 'cpu' && one.title === `CPU ${subject.cpu}`);
                const lane = track?.lanes.find((one) => one.kind === 'cpu');
                const items = lane ? (await source.lanes([lane.id], subject.begin, subject.end, 0).catch(() => null))?.get(lane.id) : null;
                /** @type {Map<number, number>} */
                const sums = new Map();
                const whole = subject.end - subject.begin;
                let rest = whole;

                for (let i = 0; items && !items.isPoints && i < items.n; i++) {
                        const ns = Math.min(items.end[i], subject.end) - Math.max(items.begin[i], subject.begin);

                        if (items.count[i] !== 1)
                                return [];
                        if (ns > 0 && items.what[i] !== subject.thread.id) {
                                sums.set(items.what[i], (sums.get(items.what[i]) ?? 0) + ns);
                                rest -= ns;
                        }
                }
                const rows = [...sums].map(([id, ns]) => ({ ready_ns: ns, share: ns / whole, owner: 'program',
                                                            owner_name: model.threadName(id),
                                                            owner_handle: model.thread(id)?.handle ?? null }));

                return [...rows, ...(items && rest > 0 ? [{ ready_ns: rest, share: rest / whole, owner: 'others', owner_name: '[others]',
                                                            owner_handle: null }] : [])].sort((a, b) => b.ready_ns - a.ready_ns);
        }
}

/** @param {SpanItems} items @param {number} ns @returns {number} -1 = none */
function indexAt(items, ns) {
        for (let i = 0; i < items.n; i++)
                if (items.begin[i] <= ns && items.end[i] > ns)
                        return i;
        return -1;
}

/** @param {string} name */
function callOf(name) {
        return /[)\]]$/.test(name) ? name : `${name}()`;
}

/**
 * wordsOfWaker() - "worker 2, which was in finish_task()"
 * @param {AnswerRow|undefined} row  of `wakers`
 */
export function wordsOfWaker(row) {
        if (!row)
                return 'not recorded';
        const name = row.kind === 'sender' ? `${row.thread_name}, by a message` : row.thread_name;

        return row.function ? `${name}, which was in ${callOf(row.function)}` : name;
}

/** @param {AnswerRow|undefined} row  of `places` */
export function wordsOfPlace(row) {
        return row?.place ? callOf(row.place) : '[stack not recorded]';
}

/**
 * Who had the CPU: "worker 3 70%, programs that were not recorded 30%"
 * @param {AnswerRow[]} rows
 */
function wordsOfOwners(rows) {
        return rows.slice(0, TIP_PARTS).map((row) => `${row.owner === 'others' ? OTHERS_WORDS : row.owner_name} ${formatShare(row.share)}`)
                .join(', ');
}

/**
 * Whether other programs had the CPU: then it can be said how they are recorded.
 * @param {AnswerRow[]} rows
 */
export function adviceOfOwners(rows) {
        const others = rows.find((row) => row.owner === 'others');

        return others ? `Programs that were not recorded had the CPU for ${formatDuration(others.ready_ns)}: hyprof record -a ` +
                'records them as well.' : '';
}

/**
 * The longest parts of what happened meanwhile; parts of one thread in one function are one.
 * @param {WaitFacts} facts
 * @param {(thread: number) => string} nameOf
 */
function wordsOfMeanwhile(facts, nameOf) {
        /** @type {Map<string, PathSegment>} */
        const sums = new Map();

        for (const segment of facts.segments) {
                const key = `${segment.thread} ${segment.look === 'run' ? segment.name : segment.what}`;
                const sum = sums.get(key);

                sums.set(key, { ...segment, end: (sum?.end ?? segment.begin) + segment.end - segment.begin,
                                begin: sum?.begin ?? segment.begin });
        }
        const parts = [...sums.values()].sort((a, b) => b.end - b.begin - (a.end - a.begin));

        return parts.slice(0, TIP_PARTS).map((part) =>
                `${nameOf(part.thread)} ${part.look === 'run' ? 'ran ' : ''}${labelOfSegment(part)}`);
}

/**
 * tipOfFacts() - the lines of a tooltip
 * @param {Viewer} viewer
 * @param {WaitFacts} facts
 * @returns {string[]}
 */
export function tipOfFacts(viewer, facts) {
        const { subject, places, wakers } = facts;
        const place = places[0];

        if (subject.kind === 'preempted')
                return facts.owners.length > 0 ? [`had the CPU meanwhile: ${wordsOfOwners(facts.owners)}`] : [];
        if (!place)
                return [];
        const stack = place.callstack ?? [];
        const more = stack.length - TIP_FUNCTIONS;
        const meanwhile = wordsOfMeanwhile(facts, (thread) => viewer.model.threadName(thread));

        return [subject.kind === 'zone' ? `waited ${formatDuration(facts.waiting_ns)}, the most in ${wordsOfPlace(place)}`
                : `waited in ${wordsOfPlace(place)}`,
                ...(stack.length > 1 ? [stack.slice(0, TIP_FUNCTIONS).join(' < ') + (more > 0 ? ` < … ${formatCount(more)} more` : '')]
                        : []),
                `ended by ${wordsOfWaker(wakers.find((row) => row.place_id === place.id))}`,
                ...(meanwhile.length > 0 ? [`meanwhile ${meanwhile.join('; ')}`] : []),
                ...(facts.ran ? [`it ran meanwhile ${facts.ran}`] : [])];
}
