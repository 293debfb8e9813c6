// SPDX-License-Identifier: MIT
// Where the page's data comes from in a file that `hyprof html` wrote: elements of the page itself.

import { hashOfText } from './colors.js';
import { el, fill } from './dom.js';
import { decodeFileLanes, decodeFilePictures, FileLaunches } from './file_lanes.js';
import { searchedLanes, searchLanes } from './file_search.js';
import { findInLane, foldLane } from './lanes.js';
import { TraceModel } from './model.js';
import { NameMatches } from './name_matches.js';
import { decodeFileSamples, functionsOfRange, StackFunctions, zonesOfRange } from './range_sums.js';
import { GROUPS_OF_FILE, zoneOfFile } from './zone_instances.js';

/**
 * @typedef {import('./lanes.js').LaneItems} LaneItems
 * @typedef {import('./lanes.js').WholeLane} WholeLane
 * @typedef {import('./range_sums.js').FileSamples} FileSamples
 * @typedef {import('./source_server.js').AnswerOptions} AnswerOptions
 * @typedef {import('./source_server.js').FoundSpan} FoundSpan
 * @typedef {import('./source_server.js').KeptName} KeptName
 * @typedef {import('./source_server.js').SearchReply} SearchReply
 * @typedef {import('./source_server.js').SearchRequest} SearchRequest
 * @typedef {import('./source_server.js').StackFrame} StackFrame
 * @typedef {import('./source_server.js').TraceSource} TraceSource
 * @typedef {import('./timeline_notes.js').TimelineNote} TimelineNote
 */

/** @param {string} text base64 */
function bytesOfBase64(text) {
        const fromBase64 = /** @type {any} */ (Uint8Array).fromBase64;
        if (fromBase64) {
                return fromBase64.call(Uint8Array, text);
        }
        const binary = atob(text.replace(/\s+/g, ''));
        const bytes = new Uint8Array(binary.length);
        for (let i = 0; i < binary.length; i++) {
                bytes[i] = binary.charCodeAt(i);
        }
        return bytes;
}

/**
 * @param {Uint8Array} bytes
 * @returns {Promise<ArrayBuffer>}
 */
async function gunzip(bytes) {
        const stream = new Blob([bytes]).stream().pipeThrough(new (/** @type {any} */ (globalThis).DecompressionStream)('gzip'));
        return new Response(stream).arrayBuffer();
}

/**
 * @param {string} name
 * @param {any} value
 */
async function dataElement(name, value) {
        const packed = new Blob([JSON.stringify(value)]).stream()
                .pipeThrough(new (/** @type {any} */ (globalThis).CompressionStream)('gzip'));
        const bytes = new Uint8Array(await new Response(packed).arrayBuffer());

        return el('script', { type: 'application/octet-stream', id: 'data-' + name },
                  btoa(Array.from(bytes, (one) => String.fromCharCode(one)).join('')));
}

/**
 * The key under which an answer is in the file.
 * @param {string} question
 * @param {Record<string, any>} parameters
 */
function fileAnswerKey(question, parameters) {
        const names = Object.keys(parameters).filter((name) => !['job'].includes(name) && parameters[name] !== undefined
                && parameters[name] !== null && parameters[name] !== '' && parameters[name] !== false).sort();
        return question + names.map((name) => '&' + name + '=' + (parameters[name] === true ? '1' : parameters[name])).join('');
}

/**
 * Answers that the file does not hold because the trace has nothing of that kind, by the kind of track.
 * @type {Record<string, string>}
 */
const TRACKS_OF_ANSWERS = { locks: 'lock', memory: 'memory', frames: 'frames', devices: 'device' };

/** @implements {TraceSource} */
export class FileSource {
        constructor() {
                /** @type {Map<string, Promise<ArrayBuffer | null>>} */
                this.parts = new Map();
                /** @type {Map<string, Promise<any>>} */
                this.values = new Map();
                /** @type {Promise<Map<number, () => WholeLane>> | null} */
                this.wholeLanes = null;
                /** @type {Promise<FileSamples | null> | null} */
                this.fileSamples = null;
                /** @type {Promise<FileLaunches> | null} */
                this.fileLaunches = null;
                /** @type {Promise<TraceModel> | null} */
                this.builtModel = null;
                /** Pins and folded rows of the file; null = none. @type {any} */
                this.tracks = null;
        }

        /**
         * A data element, unpacked once; null if the file has no element of that name.
         * @param {string} name
         * @returns {Promise<ArrayBuffer | null>}
         */
        part(name) {
                let part = this.parts.get(name);
                if (!part) {
                        const element = document.getElementById('data-' + name);
                        part = element ? gunzip(bytesOfBase64((element.textContent || '').trim())) : Promise.resolve(null);
                        this.parts.set(name, part);
                }
                return part;
        }

        /** @param {string} name */
        json(name) {
                let value = this.values.get(name);
                if (!value) {
                        value = this.part(name).then((bytes) => bytes ? JSON.parse(new TextDecoder().decode(bytes)) : null);
                        this.values.set(name, value);
                }
                return value;
        }

        /**
         * The key in the browser's storage; a page from a file may have no storage at all.
         * @param {KeptName} name
         * @param {TraceModel} [model]
         */
        storageKey(name, model) {
                const facts = model && [model.title, model.document.host, model.duration_ns, model.threads.length];
                return `hyprof.${name}` + (facts ? '.' + hashOfText(JSON.stringify(facts)) : '');
        }

        /**
         * @param {KeptName} name
         * @param {TraceModel} [model]  the trace that the value is for; without it, the value is for the user
         */
        recall(name, model) {
                const own = name === 'tracks' && this.tracks ? JSON.stringify(this.tracks) : null;
                try {
                        return localStorage.getItem(this.storageKey(name, model)) ?? own;
                } catch (_) {
                        return own;
                }
        }

        /**
         * @param {KeptName} name
         * @param {string} value
         * @param {TraceModel} model
         */
        async remember(name, value, model) {
                try {
                        localStorage.setItem(this.storageKey(name, name === 'notes' || name === 'tracks' ? model : undefined),
                                value);
                } catch (_) {
                        // Then it holds for this visit.
                }
        }

        /** Reads what the file has of pins and folded rows, once, before the page is built. */
        async readKept() {
                this.tracks = await this.json('tracks');
        }

        /**
         * The text of this page as it came, with these notes, and the pins of this visit.
         * @param {TimelineNote[]} notes
         */
        async page(notes) {
                const copy = /** @type {HTMLElement} */ (document.documentElement.cloneNode(true));
                const script = /** @type {Element} */ (copy.querySelector('script'));
                const tracks = JSON.parse(this.recall('tracks', await this.model()) ?? 'null');

                copy.removeAttribute('data-theme');
                copy.querySelectorAll('dialog, #data-notes, #data-tracks').forEach((one) => one.remove());
                fill(/** @type {Element} */ (copy.querySelector('#page')),
                     el('noscript', {}, 'This page draws with JavaScript, which is switched off.'));
                script.before(await dataElement('notes', notes), ...(tracks ? [await dataElement('tracks', tracks)] : []));
                return `<!DOCTYPE html>\n${copy.outerHTML}\n`;
        }

        /** @returns {Promise<TraceModel>} */
        model() {
                if (!this.builtModel) {
                        this.builtModel = this.json('model').then((document) => new TraceModel(document));
                }
                return this.builtModel;
        }

        /** @returns {Promise<Map<number, () => WholeLane>>} */
        allLanes() {
                if (!this.wholeLanes) {
                        this.wholeLanes = this.part('lanes').then((bytes) => bytes ? decodeFileLanes(bytes) : new Map());
                }
                return this.wholeLanes;
        }

        /**
         * @param {number[]} ids
         * @param {number} from
         * @param {number} to
         * @param {number} bucketLog2
         */
        async lanes(ids, from, to, bucketLog2) {
                const all = await this.allLanes();
                /** @type {Map<number, LaneItems>} */
                const found = new Map();
                for (const id of ids) {
                        const lane = all.get(id);
                        if (!lane) {
                                throw new Error('this file does not have the items of this row');
                        }
                        found.set(id, foldLane(lane(), from, to, bucketLog2));
                }
                return found;
        }

        /**
         * @param {number[]} lanes
         * @param {number} at
         * @param {'next' | 'previous'} direction
         * @param {number | null} [what]
         * @returns {Promise<FoundSpan | null>}
         */
        async find(lanes, at, direction, what) {
                const all = await this.allLanes();
                /** @type {FoundSpan | null} */
                let best = null;
                for (const id of lanes) {
                        const lane = all.get(id);
                        const found = lane ? findInLane(lane(), at, direction, what === undefined ? null : what) : null;
                        const isBetter = found && (!best || (direction === 'next' ? found.begin_ns < best.begin_ns
                                : found.begin_ns > best.begin_ns));
                        if (found && isBetter) {
                                best = Object.assign({ lane: id }, found);
                        }
                }
                return best;
        }

        /** @returns {Promise<FileLaunches>} */
        allLaunches() {
                if (!this.fileLaunches) {
                        this.fileLaunches = this.json('launches').then((numbers) => new FileLaunches(numbers || []));
                }
                return this.fileLaunches;
        }

        /**
         * @param {number} lane
         * @param {number} at
         * @param {number} what
         */
        async launches(lane, at, what) {
                const [model, launches] = await Promise.all([this.model(), this.allLaunches()]);
                const found = model.lanesById.get(lane);
                return found ? launches.of(found.track, at, what) : { n: 0, ends: [] };
        }

        /**
         * @param {number} from
         * @param {number} to
         */
        async arrows(from, to) {
                return (await this.allLaunches()).between(from, to);
        }

        /**
         * @param {SearchRequest} request
         * @returns {Promise<SearchReply>}
         */
        async search(request) {
                const [model, whole, messages, texts] = await Promise.all([this.model(), this.allLanes(), this.json('strings'),
                        this.json('texts')]);
                const matches = new NameMatches(model, request.text);
                const idsOf = (/** @type {[number, string][]|null} */ strings) => new Set((strings || []).filter(([, text]) =>
                        matches.isIn(text)).map(([id]) => id));
                const ids = { messages: idsOf(messages), texts: idsOf(texts) };
                const lanes = [...model.lanesById.values()].map((one) => one.lane);
                const reply = searchLanes(searchedLanes(lanes, whole), (kind, what) => kind === 'messages' || kind === 'texts'
                        ? ids[kind].has(what) : matches.has(kind, what), request);

                return { ...reply, ...(request.wantsCounts && !texts && lanes.some((lane) => lane.kind === 'texts')
                        ? { is_least: true } : {}) };
        }

        /**
         * @param {number[]} ids
         * @param {'messages'|'texts'} kind
         * @returns {Promise<string[]>}
         */
        async strings(ids, kind) {
                const all = new Map(await this.json(kind === 'texts' ? 'texts' : 'strings') || []);
                return ids.map((id) => /** @type {string} */ (all.get(id)) || '');
        }

        /**
         * The picture of a frame, as frame_picture.js decodes it; null: the file does not have it.
         * @param {number} id
         * @returns {Promise<ArrayBuffer | null>}
         */
        async picture(id) {
                const bytes = await this.part('pictures');
                return bytes ? decodeFilePictures(bytes).get(id) ?? null : null;
        }

        /**
         * @param {number} id
         * @returns {Promise<{frames: StackFrame[]}>}
         */
        async stack(id) {
                const [stacks, model] = await Promise.all([this.json('stacks'), this.model()]);
                const functions = stacks ? new StackFunctions(stacks).of(id) : [];
                return { frames: functions.map((one) => Object.assign({ place: '', is_inlined: false, module: '', is_kernel: false },
                        model.functions[one], { name: model.functionName(one) })) };
        }

        /** @returns {Promise<FileSamples | null>} */
        allSamples() {
                if (!this.fileSamples) {
                        this.fileSamples = this.part('samples').then((bytes) => bytes ? decodeFileSamples(bytes) : null);
                }
                return this.fileSamples;
        }

        /**
         * Adds up an answer about a time range or a thread here, if the file has the samples and zones for it.
         * @param {string} question
         * @param {Record<string, any>} parameters
         * @param {Record<string, any>} answers
         * @returns {Promise<any>} null if it is not of that kind
         */
        async sumsOf(question, parameters, answers) {
                const asked = Object.keys(parameters).filter((name) => parameters[name] !== undefined && parameters[name] !== null);
                const whole = answers[question];
                if (!whole || !['functions', 'zones'].includes(question)
                        || asked.some((name) => !['from', 'to', 'thread', 'job'].includes(name))) {
                        return null;
                }
                const [model, samples, stacks] = await Promise.all([this.model(), this.allSamples(), this.json('stacks')]);
                const thread = parameters.thread ? model.threadOfHandle(String(parameters.thread)) : null;
                if ((parameters.thread && !thread) || (!samples && question === 'functions')) {
                        return null;
                }
                const range = { from: Number(parameters.from || 0), to: Number(parameters.to || model.duration_ns),
                        thread: thread ? thread.id : null, event: Math.max(1, model.events.indexOf(whole.event) + 1) };
                return question === 'functions' ? functionsOfRange(model, whole, /** @type {FileSamples} */ (samples), stacks, range)
                        : zonesOfRange(model, whole, await this.allLanes(), samples, range);
        }

        /**
         * Counts the instances of one zone here.
         * @param {Record<string, any>} parameters
         * @param {Record<string, any>} answers
         * @returns {Promise<any>} null if the file has no rows for it, or the question is of another kind
         */
        async instancesOf(parameters, answers) {
                const known = ['zone', 'from', 'to', 'thread', 'longer_than', 'shorter_than', 'group_by', 'job'];
                const model = await this.model();
                const location = model.locations.find((one) => one.handle === parameters.zone);
                const thread = parameters.thread ? model.threadOfHandle(String(parameters.thread)) : null;
                const isOther = Object.keys(parameters).some((name) => !known.includes(name) && parameters[name]);

                if (!location || isOther || (parameters.thread && !thread) ||
                    !GROUPS_OF_FILE.includes(parameters.group_by ?? '') || !document.getElementById('data-lanes')) {
                        return null;
                }
                return zoneOfFile(model, answers.zones || {}, await this.allLanes(), { location: location.id,
                        from: Number(parameters.from || 0), to: Number(parameters.to || model.duration_ns + 1),
                        thread: thread ? thread.id : null, event: 1, longer: Number(parameters.longer_than || 0),
                        shorter: Number(parameters.shorter_than || Infinity), groupBy: parameters.group_by ?? '' });
        }

        /**
         * @param {string} question
         * @param {Record<string, any>} [parameters]
         * @param {AnswerOptions} [_options]
         */
        async answer(question, parameters, _options) {
                const answers = await this.json('answers') || {};
                const found = answers[fileAnswerKey(question, parameters || {})];
                if (!found) {
                        const sums = question === 'zone' ? await this.instancesOf(parameters || {}, answers)
                                : await this.sumsOf(question, parameters || {}, answers);
                        if (sums) {
                                return sums;
                        }
                }
                if (!found && question in TRACKS_OF_ANSWERS) {
                        const { tracks } = await this.model();
                        if (!tracks.some((track) => track.kind === TRACKS_OF_ANSWERS[question])) {
                                return {};
                        }
                }
                if (!found) {
                        throw Object.assign(new Error('this file does not hold this answer: open the trace with hyprof view for it'),
                                { isLasting: true });
                }
                return found;
        }
}
