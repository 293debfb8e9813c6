// SPDX-License-Identifier: MIT
// Where the page's data comes from while `hyprof view` serves it: requests to the page's own address.

import { decodeLanes } from './lanes.js';
import { TraceModel } from './model.js';

/**
 * @typedef {import('./lanes.js').LaneItems} LaneItems
 * @typedef {import('./name_matches.js').NameKind} NameKind
 * @typedef {import('./timeline_notes.js').TimelineNote} TimelineNote
 */

/**
 * @typedef {{signal?: AbortSignal, onProgress?: (share: number | null, elapsed_ms: number) => void}} AnswerOptions
 * @typedef {{begin_ns: number, end_ns: number, what: number, lane?: number}} FoundSpan
 * @typedef {{n: number, arrows: [number, number, number, number][]}} ArrowsOfView  the longest, each from a time of a track to
 *     a time of a track; `n`: with those that are not among them
 * @typedef {{track: number, begin_ns: number, what: number, at_ns: number, own_ns: number, is_from: boolean}} LaunchEnd  a zone of
 *     a thread (`what` 0: none is open there) or a device, and where the arrow between that and the asked zone is: there, and here
 * @typedef {{lane: number, begin_ns: number, end_ns: number, what: number, rank: number}} FoundHit `rank`: which of the hits
 *     that begin at once, from 1
 * @typedef {{kind: NameKind, what: number}} OneName
 * @typedef {{text: string, at: number, rank?: number, direction: 'next' | 'previous', wantsCounts?: boolean, only?: OneName}}
 *     SearchRequest the hit after, or before, the rank-th of those that begin at `at`
 * @typedef {{found: FoundHit | null, n_hits?: number, n_before?: number, names?: (OneName & {count: number})[],
 *     n_names?: number, is_least?: boolean}} SearchReply `n_before`: hits that begin before the found one, or before `at`
 * @typedef {'notes' | 'tracks' | 'theme' | 'ghosts' | 'hint'} KeptName  kept for the next visit: for each trace, or for the user
 * @typedef {{name: string, module: string, place: string, is_inlined: boolean, is_kernel: boolean}} StackFrame
 * @typedef {{name: string, bytes: number, modified_s: number}} NearbyTrace
 * @typedef {{model(): Promise<TraceModel>,
 *     lanes(ids: number[], from: number, to: number, bucketLog2: number): Promise<Map<number, LaneItems>>,
 *     find(lanes: number[], at: number, direction: 'next' | 'previous', what?: number | null):
 *         Promise<FoundSpan | null>,
 *     arrows(from: number, to: number): Promise<ArrowsOfView>,
 *     launches(lane: number, at: number, what: number): Promise<{n: number, ends: LaunchEnd[]}>,
 *     search(request: SearchRequest): Promise<SearchReply>,
 *     strings(ids: number[], kind: 'messages' | 'texts'): Promise<string[]>,
 *     stack(id: number): Promise<{frames: StackFrame[]}>,
 *     picture(id: number): Promise<ArrayBuffer | null>,
 *     page(notes: TimelineNote[]): Promise<string | Blob>,
 *     recall(name: KeptName, model?: TraceModel): string | null,
 *     remember(name: KeptName, value: string, model: TraceModel): Promise<void>,
 *     answer(question: string, parameters?: Record<string, any>, options?: AnswerOptions): Promise<any>}} TraceSource
 */

/** How often the page asks for the progress of an answer that takes longer. */
const PROGRESS_STEP_MS = 300;

/** Answers of both traces have one list of jobs. */
let nJobs = 0;

/** @implements {TraceSource} */
export class ServerSource {
        /** @param {'after' | 'before'} [side]  which trace of a comparison; a single trace is the one after */
        constructor(side) {
                this.side = side ?? 'after';
                /** @type {{[name: string]: string | undefined}} what `hyprof view` has kept */
                this.kept = {};
                /** The last model, as it came. */
                this.modelText = '';
                /** @type {TraceModel | null} */
                this.lastModel = null;
        }

        /**
         * @param {string} path
         * @param {Record<string, any>} [parameters]
         * @param {AbortSignal} [signal]
         * @param {string} [body]  is sent; without it the request asks for something
         */
        async request(path, parameters, signal, body) {
                const query = new URLSearchParams();
                for (const [name, value] of Object.entries(parameters || {})) {
                        if (value !== undefined && value !== null && value !== '' && value !== false) {
                                query.set(name, value === true ? '1' : String(value));
                        }
                }
                const text = query.toString();
                const place = this.side === 'before' && path !== 'answer' && path !== 'jobs' ? 'before/' + path : path;
                let reply;
                try {
                        reply = await fetch(text ? place + '?' + text : place, body === undefined
                                ? { signal } : { method: 'POST', body, headers: { 'Content-Type': 'text/plain' } });
                } catch (error) {
                        if (signal && signal.aborted) {
                                throw error;
                        }
                        throw Object.assign(new Error('hyprof view does not answer: it has ended, or the connection was lost'), {
                                isLost: true });
                }
                if (!reply.ok) {
                        throw new Error(await this.wordsOf(reply));
                }
                return reply;
        }

        /** @param {Response} reply */
        async wordsOf(reply) {
                try {
                        return (await reply.json()).error || 'hyprof view answered ' + reply.status;
                } catch (_) {
                        return 'hyprof view answered ' + reply.status;
                }
        }

        /** Reads the kept values, once, before the page is built; recall() finds them then. */
        async readKept() {
                this.kept = await (await this.request('kept')).json();
        }

        /** @param {KeptName} name */
        recall(name) {
                return this.kept[name] ?? null;
        }

        /**
         * @param {KeptName} name
         * @param {string} value
         */
        async remember(name, value) {
                this.kept[name] = value;
                await this.request('keep', { name }, undefined, value);
        }

        /** The same object if nothing has changed. */
        async model() {
                const text = await (await this.request('model')).text();

                if (!this.lastModel || text !== this.modelText) {
                        this.lastModel = new TraceModel(JSON.parse(text));
                        this.modelText = text;
                }
                return this.lastModel;
        }

        /**
         * @param {number[]} ids
         * @param {number} from
         * @param {number} to
         * @param {number} bucketLog2
         */
        async lanes(ids, from, to, bucketLog2) {
                const reply = await this.request('lanes', { from: Math.floor(from), to: Math.ceil(to), bucket: bucketLog2,
                        ids: ids.join(',') });
                return decodeLanes(await reply.arrayBuffer());
        }

        /**
         * @param {number[]} lanes
         * @param {number} at
         * @param {'next' | 'previous'} direction
         * @param {number | null} [what]
         * @returns {Promise<FoundSpan | null>}
         */
        async find(lanes, at, direction, what) {
                const found = await (await this.request('find', { lanes: lanes.join(','), at: Math.round(at), direction,
                        what })).json();
                return found && found.begin_ns !== undefined ? found : null;
        }

        /**
         * The work of devices that a zone of a thread handed over; for such work, that zone.
         * @param {number} lane
         * @param {number} at  its begin
         * @param {number} what
         * @returns {Promise<{n: number, ends: LaunchEnd[]}>}
         */
        async launches(lane, at, what) {
                return (await this.request('launches', { lane, at, what })).json();
        }

        /**
         * Arrows between zones, with a part between two times: track, time, track, time.
         * @param {number} from
         * @param {number} to
         * @returns {Promise<ArrowsOfView>}
         */
        async arrows(from, to) {
                return (await this.request('arrows', { from: Math.max(0, Math.floor(from)), to: Math.max(1, Math.ceil(to)) })).json();
        }

        /**
         * All that has a text in its name; web/model/view_search.h has the rule.
         * @param {SearchRequest} request
         * @returns {Promise<SearchReply>}
         */
        async search({ text, at, rank, direction, wantsCounts, only }) {
                return (await this.request('search', { text, at: Math.max(0, Math.round(at)), rank, direction, count: wantsCounts,
                        ...only })).json();
        }

        /**
         * @param {number[]} ids
         * @param {'messages'|'texts'} kind
         * @returns {Promise<string[]>}
         */
        async strings(ids, kind) {
                return ids.length ? (await this.request('strings', { ids: ids.join(','), kind })).json() : [];
        }

        /**
         * @param {number} id
         * @returns {Promise<{frames: StackFrame[]}>}
         */
        async stack(id) {
                return (await this.request('stack', { id })).json();
        }

        /**
         * The picture of a frame, as frame_picture.js decodes it.
         * @param {number} id
         * @returns {Promise<ArrayBuffer | null>}
         */
        async picture(id) {
                return (await this.request('picture', { id })).arrayBuffer();
        }

        /**
         * The document of a question; aborting the signal ends the work on it.
         * @param {string} question
         * @param {Record<string, any>} [parameters]
         * @param {AnswerOptions} [options]
         */
        async answer(question, parameters, options) {
                const { signal, onProgress } = options || {};
                const job = ++nJobs;
                const side = this.side === 'before' ? { side: 'before' } : {};
                const timer = onProgress ? setInterval(() => this.progressOf(job, onProgress), PROGRESS_STEP_MS) : 0;
                try {
                        const reply = await this.request('answer', Object.assign({ question, job }, side, parameters), signal);
                        const answer = await reply.json();

                        if (answer.error) {
                                throw new Error(answer.error);
                        }
                        return answer;
                } finally {
                        clearInterval(timer);
                }
        }

        /**
         * Traces to compare with, the newest first; whether one of them is compared now, and why the one chosen last is not.
         * @returns {Promise<{traces: NearbyTrace[], isCompared: boolean, failure: string}>}
         */
        async nearby() {
                const { traces, is_compared: isCompared, failure } = await (await this.request('nearby')).json();

                return { traces, isCompared, failure };
        }

        /**
         * Has another server show this one of them as well.
         * @param {string} name
         */
        async compare(name) {
                await this.request('compare', {}, undefined, name).catch((error) => {
                        if (!error.isLost) // the server that took it ends
                                throw error;
                });
        }

        /** The trace and the viewer as one file; the notes and pins are those that are kept. */
        async page() {
                return (await this.request('answer', { question: 'page', side: this.side === 'before' ? 'before' : null })).blob();
        }

        /**
         * @param {number} job
         * @param {(share: number | null, elapsed_ms: number) => void} onProgress
         */
        async progressOf(job, onProgress) {
                try {
                        /** @type {{job: number, elapsed_ms: number, progress: number | null}[]} */
                        const jobs = await (await this.request('jobs')).json();
                        const own = jobs.find((one) => one.job === job);
                        if (own) {
                                onProgress(own.progress === undefined ? null : own.progress, own.elapsed_ms);
                        }
                } catch (_) {
                        // The answer itself says why it failed.
                }
        }
}
