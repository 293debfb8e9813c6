// SPDX-License-Identifier: MIT
/*
 * instance_panel.js - all about one item of the timeline: an instance of a zone, a wait, a message, a frame
 *
 * Way of the data:  screen_timeline: the chosen item -> [instance_panel] -> source.answer() for its time and thread
 */

import { isNothing, wordsOf } from './answer_screen.js';
import { answerCell, answerRows, answerTitleOf, answerTypeOf, callTree } from './answers.js';
import { DataTable, isThere } from './data_table.js';
import { button, el, fill } from './dom.js';
import { FlameGraph } from './flame_graph.js';
import { formatCount, formatShare } from './format.js';
import { HistogramChart } from './histogram_chart.js';
import { bucketOf } from './lane_cache.js';
import { STATE_RUNNABLE, STATE_RUNNING, STATE_WAITING } from './model.js';
import { wordsOfLaunch } from './timeline_launches.js';
import { TimelinePath } from './timeline_path.js';
import { openTrack } from './timeline_rows.js';
import { wordsOfHit } from './timeline_words.js';
import { ownersTable, waitPart } from './wait_panel.js';

/**
 * @typedef {import('./answers.js').Answer} Answer
 * @typedef {import('./answers.js').AnswerRow} AnswerRow
 * @typedef {import('./histogram_chart.js').HistogramBin} HistogramBin
 * @typedef {import('./lanes.js').SpanItems} SpanItems
 * @typedef {import('./model.js').LocationOfModel} LocationOfModel
 * @typedef {import('./timeline_hits.js').TimelineHit} TimelineHit
 * @typedef {import('./screen_timeline.js').TimelineScreen} TimelineScreen
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

/** Zones of devices that the panel of one zone of a thread names. */
const LAUNCHES_NAMED = 8;

export class InstancePanel {
        /** @param {Viewer} viewer @param {TimelineScreen} timeline */
        constructor(viewer, timeline) {
                this.viewer = viewer;
                this.timeline = timeline;
                this.element = el('aside', { class: 'panel', hidden: true, tabindex: '-1', 'aria-label': 'the chosen item' });
                /** @type {TimelineHit|null} */
                this.hit = null;
                /** The button that leads to the thread that woke. */
                this.waker = el('div', {});
                /** The zones at the other ends of its arrows. */
                this.launches = el('div', {});
                /** Whether the thread of the chosen zone waited in it. */
                this.hasWaited = false;
                /** @type {AbortController|null} */
                this.running = null;
        }

        focus() {
                this.element.focus();
        }

        /** @param {TimelineHit|null} hit */
        show(hit) {
                this.running?.abort();
                this.running = new AbortController();
                this.hit = hit;
                this.element.hidden = hit === null || hit.count === 0;
                this.element.classList.remove('wide');
                if (!hit || hit.count === 0)
                        return;
                const words = wordsOfHit(this.viewer, hit, (more) => {
                        if (this.hit === hit)
                                details.replaceChildren(...more.map((line) => el('div', {}, line)));
                });
                this.waker = el('div', { class: 'data-tools' });
                this.launches = el('div', { class: 'panel-launches' });
                const details = el('div', { class: 'panel-words' }, ...words.slice(1).map((line) => el('div', {}, line)));
                const more = el('div', { class: 'answer' });

                fill(this.element, el('div', { class: 'panel-head' }, el('h2', {}, words[0]),
                                      button('×', () => this.timeline.choose(null), { class: 'quiet', 'aria-label': 'close' })),
                     details, this.launches, this.tools(hit), this.waker, more);
                this.fill(more, hit, this.running.signal).catch((error) => {
                        if (this.hit === hit && !this.running?.signal.aborted)
                                more.append(el('p', { class: 'error' }, wordsOf(error)));
                });
        }

        /**
         * Shows something else in its place.
         * @param {string} title
         * @param {() => void} onClose
         * @param {...(HTMLElement|null)} content
         */
        showInstead(title, onClose, ...content) {
                this.running?.abort();
                this.hit = null;
                this.element.hidden = false;
                this.element.classList.add('wide');
                fill(this.element, el('div', { class: 'panel-head' }, el('h2', {}, title),
                                      button('×', onClose, { class: 'quiet', 'aria-label': 'close' })),
                     el('div', { class: 'answer' }, ...content));
        }

        /**
         * A way to the thread that ended the wait before or in the chosen state.
         * @param {import('./timeline_wakes.js').WakeUp|null} wakeUp
         */
        showWaker(wakeUp) {
                if (!wakeUp || !this.hit)
                        return;
                const name = this.viewer.model.threadName(wakeUp.waker);

                this.waker.replaceChildren(button(`to ${name}, which woke it`, () => this.toThread(wakeUp.waker, wakeUp.at)));
        }

        /**
         * Which work of devices a zone handed over, or which zone handed such work over; a click goes there.
         * @param {import('./timeline_launches.js').Launches|null} launches
         */
        showLaunches(launches) {
                if (!launches || this.hit !== launches.hit)
                        return;
                const { model } = this.viewer;
                const shown = launches.ends.slice(0, LAUNCHES_NAMED);
                const more = launches.n - shown.length;

                this.launches.replaceChildren(...shown.map((end) => {
                        const words = wordsOfLaunch(model, launches, end);

                        return el('div', {}, end.span ? button(words, () => this.timeline.launches.goTo(end), { class: 'link' })
                                : words);
                }), ...(more > 0 ? [el('div', { class: 'muted' }, `and ${formatCount(more)} more`)] : []));
        }

        /** @param {TimelineHit} hit */
        tools(hit) {
                const { timeline, viewer } = this;
                const isOne = hit.count === 1;
                const what = ['zones', 'ghosts', 'device'].includes(hit.lane.lane.kind) ? hit.what : null;

                return el('div', { class: 'data-tools' },
                          TimelinePath.isAbout(hit) ? button('who delayed this?', () => timeline.path.show(hit), { title: 'P' }) : null,
                          button('previous', () => timeline.step('previous', isOne ? what : null)),
                          button('next', () => timeline.step('next', isOne ? what : null)),
                          button('zoom to it', () => timeline.zoomToChosen(), { title: 'F' }),
                          button('select its time', () => viewer.select(hit.begin, Math.max(hit.end, hit.begin + 1)),
                                 { title: 'all screens show this time range' }));
        }

        /** @param {HTMLElement} place @param {TimelineHit} hit @param {AbortSignal} signal */
        async fill(place, hit, signal) {
                if (hit.count !== 1)
                        return;
                if (hit.lane.lane.kind === 'states')
                        await this.fillState(place, hit, signal);
                else if (hit.lane.lane.kind === 'zones')
                        await this.fillZone(place, hit, signal);
        }

        /** @param {HTMLElement} place @param {TimelineHit} hit @param {AbortSignal} signal */
        async fillState(place, hit, signal) {
                const waiting = el('p', { class: 'muted', role: 'status' }, 'asking …');
                const kind = hit.what >>> 28;

                if (kind !== STATE_RUNNING)
                        place.append(waiting);
                const facts = await this.timeline.waits.ask(hit, signal).finally(() => waiting.remove());

                if (facts && !signal.aborted)
                        place.append(...waitPart(this, facts));
                if (kind === STATE_RUNNABLE)
                        place.append(...await this.ownersOf(hit, facts ? facts.subject.begin : hit.begin, signal));
        }

        /**
         * Who had the CPU while the thread was ready to run.  A one-file page shows nothing:
         * it has no answers about parts.
         * @param {TimelineHit} hit
         * @param {number} from
         * @param {AbortSignal} signal
         */
        async ownersOf(hit, from, signal) {
                const { source, model } = this.viewer;
                const thread = hit.lane.track.thread !== null ? model.thread(hit.lane.track.thread) : null;
                const to = Math.max(hit.end, from + 1);
                const asked = { from: String(from), to: String(to), thread: thread?.handle };

                if (!thread)
                        return [];
                const answer = await source.answer('threads', asked, { signal }).catch(() => null);

                return ownersTable(this, answer ? answerRows(answer, 'owners') : [], from, to);
        }

        /**
         * The states of a thread in a range.  Each is an item of its own, with the thread that woke it, unless
         * they are too many.
         * @param {number} lane
         * @param {number} from
         * @param {number} to
         * @returns {Promise<SpanItems|null>}
         */
        async statesIn(lane, from, to) {
                const { source } = this.viewer;
                const items = (await source.lanes([lane], from, to, 0).catch(() =>
                        source.lanes([lane], from, to, Math.max(0, bucketOf((to - from) / 2000))))).get(lane);

                return items && !items.isPoints ? items : null;
        }

        /**
         * Goes to the longest run of a thread on a CPU in a range; shorter runs may have come first.
         * @param {number} thread
         * @param {number} from
         * @param {number} to
         */
        async toRun(thread, from, to) {
                const { hit } = this;
                const states = this.viewer.model.tracksByThread.get(thread)?.lanes.find((lane) => lane.kind === 'states');
                const items = states ? await this.statesIn(states.id, from, to).catch(() => null) : null;
                let at = from;

                for (let i = 0, longest = 0; items && i < items.n; i++) {
                        const end = Math.min(items.end[i], to);
                        const length = end - Math.max(items.begin[i], from);

                        if (items.what[i] >>> 28 === STATE_RUNNING && length > longest)
                                [at, longest] = [end - 1, length];
                }
                if (this.hit === hit)
                        this.toThread(thread, at);
        }

        /**
         * Goes to the work of a thread at an instant: its innermost zone then, else its state.
         * @param {number} thread
         * @param {number} ns
         */
        async toThread(thread, ns) {
                const { hit, timeline, viewer } = this;
                const track = viewer.model.tracksByThread.get(thread);
                const lanes = (track?.lanes ?? []).filter((lane) => lane.kind === 'zones').sort((a, b) => b.depth - a.depth);
                const states = track?.lanes.find((lane) => lane.kind === 'states');

                for (const lane of states ? [...lanes, states] : lanes) {
                        const found = await viewer.source.find([lane.id], ns + 1, 'previous', null);

                        if (this.hit !== hit || !track)
                                return;
                        if (!found || (found.end_ns < ns && lane !== states))
                                continue;
                        openTrack(timeline.choice, track, lane.kind);
                        timeline.arrange();
                        timeline.chooseFound(lane.id, found);
                        timeline.revealTime(ns);
                        return;
                }
        }

        /**
         * Goes to what a thread did when it ended the longest wait within an item that it ended.
         * @param {number} waker  0 = none: nothing happens
         * @param {TimelineHit} hit
         */
        async toWakeUp(waker, hit) {
                const states = hit.lane.track.lanes.find((lane) => lane.kind === 'states');
                const items = waker !== 0 && states ? await this.statesIn(states.id, hit.begin, hit.end) : null;
                let at = -1;

                for (let i = 1, longest = 0; items && i < items.n; i++) {
                        const length = items.end[i - 1] - items.begin[i - 1];

                        if (items.what[i] >>> 28 === STATE_RUNNABLE && (items.what[i] & 0x0fffffff) === waker && length > longest)
                                [at, longest] = [items.begin[i], length];
                }
                if (this.hit === hit && at >= 0)
                        this.toThread(waker, at);
        }

        /** @param {HTMLElement} place @param {TimelineHit} hit @param {AbortSignal} signal */
        async fillZone(place, hit, signal) {
                const { source, model } = this.viewer;
                const location = model.location(hit.what);
                const thread = hit.lane.track.thread !== null ? model.thread(hit.lane.track.thread) : null;

                if (!location || !thread)
                        return;
                const here = { from: String(hit.begin), to: String(Math.max(hit.end, hit.begin + 1)), thread: thread.handle };
                const waits = el('div', {});
                const causes = el('div', {});
                const owners = el('div', {});
                const counters = el('div', {});
                const calls = el('div', {});
                const times = el('div', {});
                const rank = el('div', {});

                place.append(times, rank, waits, causes, owners, counters, calls);
                const asked = [
                        this.waitsOf(hit).then((part) => waits.replaceChildren(...part))
                                .then(() => this.hasWaited ? this.timeline.waits.ask(hit, signal) : null)
                                .then((facts) => causes.replaceChildren(...(facts ? waitPart(this, facts) : []))),
                        this.ownersOf(hit, hit.begin, signal).then((part) => owners.replaceChildren(...part)),
                        source.answer('zone', { ...here, to: String(hit.begin + 1), zone: location.handle }, { signal })
                                .then((answer) => times.replaceChildren(...this.timesOf(answer, hit))),
                        source.answer('zone', { ...here, zone: location.handle }, { signal })
                                .then((answer) => counters.replaceChildren(...this.countersOf(answer)), () => {}),
                        source.answer('top_down', here, { signal }).then((answer) => calls.replaceChildren(...this.callsOf(answer)),
                                (error) => calls.replaceChildren(...this.withoutCalls(error))),
                        source.answer('zone', { zone: location.handle }, { signal })
                                .then((answer) => rank.replaceChildren(...this.rankOf(answer, hit, location))),
                ];
                const failed = (await Promise.allSettled(asked)).filter((one) => one.status === 'rejected' && !signal.aborted);

                if (failed.length > 0 && this.hit === hit)
                        place.append(el('p', { class: 'muted' }, wordsOf(/** @type {any} */ (failed[0]).reason)));
        }

        /** @param {Answer} answer @param {TimelineHit} hit */
        timesOf(answer, hit) {
                const row = answerRows(answer, 'slowest').find((one) => one.at_ns === hit.begin) ?? answerRows(answer, 'slowest')[0];
                const keys = ['duration_ns', 'self_ns', 'on_cpu_ns', 'waiting_ns', 'text', 'value', 'instance_name'];

                if (!row)
                        return [];
                return [el('dl', { class: 'fact-list' }, ...keys.filter((key) => isThere(row[key])).map((key) => el('div', {},
                        el('dt', {}, answerTitleOf(key)), el('dd', {}, answerCell(answerTypeOf(key), row[key])))))];
        }

        /** @param {Answer} answer */
        callsOf(answer) {
                const rows = answerRows(answer, 'top_down');

                if (rows.length === 0)
                        return [el('p', { class: 'muted' }, 'no samples in this instance')];
                return [new FlameGraph({ name: 'Calls inside', format: (value) => `${formatCount(value)} samples`,
                                         root: callTree(rows, { value: 'total_samples' }, 'this instance') }).element];
        }

        /**
         * The counters of this instance.
         * @param {Answer} answer
         */
        countersOf(answer) {
                const rows = answerRows(answer, 'counters');

                return rows.length === 0 ? [] : [new DataTable({ name: 'Counters', rows, shown: 5 }).element];
        }

        /** @param {any} error */
        withoutCalls(error) {
                return [el('p', { class: 'muted' }, isNothing(error) ? 'no samples in this instance' : wordsOf(error))];
        }

        /**
         * Its place among all instances.
         * @param {Answer} answer
         * @param {TimelineHit} hit
         * @param {LocationOfModel} location
         */
        rankOf(answer, hit, location) {
                const bins = /** @type {HistogramBin[]} */ (answerRows(answer, 'distribution'));
                const ns = hit.end - hit.begin;
                const all = bins.reduce((sum, bin) => sum + bin.count, 0);
                const below = bins.filter((bin) => bin.to_ns <= ns).reduce((sum, bin) => sum + bin.count, 0);
                const slowest = answerRows(answer, 'slowest')[0];

                if (all === 0)
                        return [];
                return [
                        el('p', {}, `longer than ${formatShare(below / all)} of ${formatCount(all)} instances ` +
                           `(median ${answerCell('duration', answer.p50_ns)}, longest ${answerCell('duration', answer.max_ns)})`),
                        el('div', { class: 'data-tools' },
                           button('slowest instance', () => slowest && this.viewer.goToTime(slowest.at_ns,
                                   slowest.at_ns + slowest.duration_ns, { at: slowest.at_ns, at_thread: slowest.thread })),
                           button('all instances', () => this.viewer.go('zones', { zone: location.handle })),
                           button('why are some slow?', () => this.viewer.go('zones', { zone: location.handle, why: '1' })),
                           location.function ? button('source', () => this.viewer.go('source', { function: location.function }),
                                                      { title: `${location.function}, ${location.place}` }) : null),
                        new HistogramChart({ bins, name: `durations of ${location.name}`, width: 360, isPicture: true,
                                             selected: { from: ns, to: ns + Math.max(1, ns / 64) } }).element,
                ];
        }

        /**
         * The states of its thread meanwhile: waits, and the threads that ended them.
         * @param {TimelineHit} hit
         */
        async waitsOf(hit) {
                const lane = hit.lane.track.lanes.find((one) => one.kind === 'states');

                if (!lane)
                        return [];
                const items = await this.statesIn(lane.id, hit.begin, Math.max(hit.end, hit.begin + 1));
                /** @type {AnswerRow[]} */
                const rows = [];

                this.hasWaited = false;
                for (let i = 0; items && i < items.n; i++) {
                        const kind = items.what[i] >>> 28;

                        if (kind === STATE_RUNNING || items.begin[i] < hit.begin)
                                continue;
                        rows.push({ at_ns: items.begin[i], duration_ns: items.end[i] - items.begin[i],
                                    what: items.count[i] > 1 ? `${formatCount(items.count[i])} states`
                                            : this.viewer.model.stateName(items.what[i]),
                                    ...wakeUpOfItem(items, i) });
                        this.hasWaited = this.hasWaited || kind === STATE_WAITING;
                }
                if (rows.length === 0)
                        return [el('p', { class: 'muted' }, 'its thread ran all the time')];
                return [new DataTable({ name: 'Waits', rows, shown: 6, columns: ['duration_ns', 'what', 'at_ns'],
                                        about: 'Enter or a click goes to the thread that ended it',
                                        onOpen: (row) => row.waker !== 0 && this.toThread(row.waker, row.woken_ns) }).element];
        }
}

/**
 * The thread that ended a wait, or after which another was ready to run, and when; 0 = none is known.
 * @param {SpanItems} items  states of a thread
 * @param {number} i
 */
function wakeUpOfItem(items, i) {
        const isWait = items.what[i] >>> 28 === STATE_WAITING;
        const at = isWait ? i + 1 : i;
        const isWoken = at < items.n && items.what[at] >>> 28 === STATE_RUNNABLE && (!isWait || items.begin[at] === items.end[i]);

        return { waker: isWoken ? items.what[at] & 0x0fffffff : 0, woken_ns: isWoken ? items.begin[at] : 0 };
}
