// SPDX-License-Identifier: MIT
/*
 * timeline_path.js - who delayed this?  the critical path of an instance over the lanes, and in the panel
 *
 * Way of the data:  a zone on the timeline -> source.answer('path') -> path_segments -> [timeline_path] -> canvas, panel
 *
 * While it is shown everything else is dim, and the threads of the path are there even if they are folded away.  The address
 * has it, so that a link shows it again.
 */

import { doubtsOf, wordsOf } from './answer_screen.js';
import { nameColorOf } from './colors.js';
import { DataTable } from './data_table.js';
import { button, el } from './dom.js';
import { formatPlural } from './format.js';
import { labelOfSegment, pathSegments, pathSteps, pathThreads, pathThreadsByTime } from './path_segments.js';
import { keyOfInstance } from './timeline_link.js';
import { paintHatch, paintName } from './timeline_marks.js';
import { AXIS_PX, paintLabel, xOfTime } from './timeline_paint.js';
import { isOnPath } from './timeline_rows.js';
import { paintWakeUp } from './timeline_wakes.js';

/**
 * @typedef {import('./answers.js').Answer} Answer
 * @typedef {import('./path_segments.js').PathSegment} PathSegment
 * @typedef {import('./path_segments.js').PathStep} PathStep
 * @typedef {import('./timeline_hits.js').TimelineHit} TimelineHit
 * @typedef {import('./screen_timeline.js').TimelineScreen} TimelineScreen
 * @typedef {import('./timeline_paint.js').TimelineFrame} TimelineFrame
 * @typedef {import('./viewer.js').ViewState} ViewState
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

/**
 * @typedef {{ hit: TimelineHit|null, begin: number, thread: number|null }} PathSubject  an instance, or the whole run (`hit`
 *             is null); `thread`: its own, known of a run when the answer is there
 */

/** In the address: the path of the run. */
export const PATH_OF_RUN = 'run';
/** The longest parts are asked for; the others are counted. */
const PATH_PARTS_MAX = 2000;
/** Threads that are brought together on top, where they are too far from each other. */
const PATH_THREADS_MAX = 24;
const PATH_LINE_PX = 14;
/** The share that is left of the contrast of everything else. */
const PATH_DIM = 0.3;

export class TimelinePath {
        /** @param {Viewer} viewer @param {TimelineScreen} timeline */
        constructor(viewer, timeline) {
                this.viewer = viewer;
                this.timeline = timeline;
                /** Whose path is shown or awaited. @type {PathSubject|null} */
                this.subject = null;
                /** @type {PathSegment[]} */
                this.segments = [];
                /** @type {PathStep[]} */
                this.steps = [];
                /** The part that was gone to. @type {PathSegment|null} */
                this.chosen = null;
                /** @type {AbortController|null} */
                this.running = null;
                /** How far the rows were scrolled before. */
                this.top = 0;
        }

        /** @param {TimelineHit|null} hit */
        static isAbout(hit) {
                return hit !== null && hit.count === 1 && hit.lane.lane.kind === 'zones' && hit.lane.track.thread !== null;
        }

        isShown() {
                return this.segments.length > 0;
        }

        /**
         * Asks who delayed an instance, and shows it.
         * @param {TimelineHit|null} hit
         */
        async show(hit) {
                const { viewer, timeline } = this;
                const thread = hit && TimelinePath.isAbout(hit) ? viewer.model.thread(/** @type {number} */ (hit.lane.track.thread)) : null;
                const location = hit ? viewer.model.location(hit.what) : null;

                if (!hit || !thread || !location)
                        return;
                timeline.askedFor = keyOfInstance(thread.handle, hit.begin, location.handle);
                this.clear();
                viewer.set({ at: hit.begin, at_thread: thread.handle, path: location.handle });
                if (viewer.model.isLive)
                        viewer.follow('paused');
                await this.ask({ hit, begin: hit.begin, thread: thread.id },
                               { zone: location.handle, thread: thread.handle, at: String(hit.begin) });
        }

        /** Who delayed the whole run, which has ended. */
        async showRun() {
                /** @type {PathSubject} */
                const subject = { hit: null, begin: 0, thread: null };

                this.clear();
                this.subject = subject;
                this.viewer.set({ at: null, at_thread: null, path: PATH_OF_RUN });
                await this.ask(subject, {});
        }

        /** @param {PathSubject} subject @param {{ [name: string]: string }} asked */
        async ask(subject, asked) {
                const { viewer } = this;

                this.subject = subject;
                this.running = new AbortController();
                const { signal } = this.running;

                this.showPanel(el('p', { class: 'muted', role: 'status' }, 'asking …'));
                try {
                        const answer = viewer.model.file ? null
                                : await viewer.source.answer('path', { ...asked, top: String(PATH_PARTS_MAX) }, { signal });

                        if (this.subject === subject)
                                this.take(subject, answer);
                } catch (error) {
                        if (this.subject === subject && !signal.aborted)
                                this.fail(wordsOf(error));
                }
        }

        /** @param {PathSubject} subject @param {Answer|null} answer  null: a page in one file */
        take(subject, answer) {
                const { timeline, viewer } = this;

                if (!answer) {
                        this.fail('A page in one file holds no paths: hyprof view shows them.');
                        return;
                }
                if (!subject.hit)
                        subject.begin = Number(answer.shown_begin_ns);
                this.segments = pathSegments(viewer.model, answer, subject.begin);
                subject.thread ??= this.segments.find((segment) => segment.depth === 0)?.thread ?? null;
                this.steps = pathSteps(this.segments);
                this.showPanel(...this.words(answer), this.table(answer));
                viewer.announce(answer.answer);
                this.arrange();
                if (subject.hit) {
                        timeline.zoomToChosen();
                        timeline.joinStep();
                }
        }

        /** @param {string} words */
        fail(words) {
                const { isLive } = this.viewer.model;

                this.showPanel(el('p', { class: 'error', role: 'alert' }, words),
                               isLive ? el('p', { class: 'muted' }, 'Only instances that are over can be asked about.') : null);
                this.viewer.announce(words);
        }

        /** @param {...(HTMLElement|null)} content */
        showPanel(...content) {
                const title = this.subject?.hit ? 'Who delayed this?' : 'Who delayed the run?';

                this.timeline.panel.showInstead(title, () => this.leave(), ...content);
        }

        clear() {
                this.running?.abort();
                this.subject = this.chosen = this.running = null;
                this.segments = [];
                this.steps = [];
                this.timeline.choice.path = null;
        }

        /** Ends it; what is chosen stays. */
        end() {
                const { subject, timeline } = this;
                const thread = subject?.hit ? this.viewer.model.thread(Number(subject.thread)) : null;

                if (!subject)
                        return;
                if (timeline.choice.path?.isFirst)
                        timeline.scroll.scrollTop = this.top;
                this.clear();
                if (thread)
                        timeline.askedFor = keyOfInstance(thread.handle, subject.begin);
                this.viewer.set({ path: null });
                timeline.arrange();
        }

        /** Back to the instance. */
        leave() {
                const { timeline } = this;

                this.end();
                timeline.panel.show(timeline.chosen);
                timeline.focus();
        }

        /**
         * The address has changed: a step back leaves the path.
         * @param {ViewState} state
         */
        follow(state) {
                if (this.subject && state.path === undefined)
                        this.leave();
        }

        /** The threads of the path come into sight together: where they are, or on top if they are too far from each other. */
        arrange() {
                const { timeline, subject } = this;
                const inOrder = subject?.hit ? pathThreads : pathThreadsByTime;
                const threads = inOrder(this.segments, Number(subject?.thread)).slice(0, PATH_THREADS_MAX);

                timeline.choice.path = { threads, isFirst: false };
                timeline.arrange();
                const rows = timeline.layout.rows.filter((row) => row.track && isOnPath(timeline.choice, row.track));
                const first = Math.min(...rows.map((row) => row.y));
                const last = Math.max(...rows.map((row) => row.y + row.height));
                const { scroll } = timeline;
                const height = scroll.clientHeight - AXIS_PX;

                if (last - first > height) {
                        this.top = scroll.scrollTop;
                        timeline.choice.path = { threads, isFirst: true };
                        timeline.arrange();
                        scroll.scrollTop = 0;
                } else if (first < scroll.scrollTop || last > scroll.scrollTop + height) {
                        scroll.scrollTop = Math.max(0, first - (height - (last - first)) / 2);
                }
        }

        /* ------------------------------------------------------------------ the panel */

        /** @param {Answer} answer */
        words(answer) {
                const left = answer.slowest && answer.slowest.left_out > 0 ? answer.slowest.left_out : 0;

                return [el('p', { class: 'headline' }, answer.answer),
                        doubtsOf(answer.warnings ?? []),
                        left > 0 ? el('p', { class: 'muted' }, `without ${formatPlural(left, 'shorter part')} of the path`) : null,
                        el('ul', { class: 'path-legend', 'aria-label': 'what the line shows' },
                           el('li', {}, el('span', { class: 'path-sign run' }), 'ran, in the color of the function'),
                           el('li', {}, el('span', { class: 'path-sign ready' }), 'could run and did not'),
                           el('li', {}, el('span', { class: 'path-sign wait' }), 'waited'),
                           el('li', {}, el('span', { class: 'path-sign arrow' }, '↑'), 'woke the thread that waited')),
                        el('div', { class: 'data-tools' },
                           button(this.subject?.hit ? 'back to the instance' : 'back', () => this.leave(), { title: 'Esc' }))];
        }

        /** @param {Answer} answer */
        table(answer) {
                const { model } = this.viewer;
                const begin = this.subject?.begin ?? 0;
                const rows = this.segments.map((segment) => ({ after_ns: segment.begin - begin, part_ns: segment.end - segment.begin,
                        thread: model.threadName(segment.thread), what: segment.what, function: segment.name,
                        woken_by: segment.wokenBy === null ? null : model.threadName(segment.wokenBy), depth: segment.depth, segment }));

                return new DataTable({ name: 'The path', rows, shown: 14, about: answer.slowest?.about ?? undefined,
                        columns: [{ key: 'after_ns', title: 'at', type: 'duration' }, { key: 'part_ns', title: 'for', type: 'duration' },
                                  { key: 'thread', title: 'thread', type: 'text' }, { key: 'what', title: 'state', type: 'text' },
                                  { key: 'function', title: 'in', type: 'text' }, { key: 'woken_by', title: 'woken by', type: 'text' }],
                        onOpen: (row) => this.goTo(row.segment) }).element;
        }

        /** @param {PathSegment} segment */
        goTo(segment) {
                const row = this.timeline.rowOfThread(segment.thread);

                this.chosen = segment;
                if (row)
                        this.timeline.reveal(row, segment);
                this.viewer.announce(`${this.viewer.model.threadName(segment.thread)}: ${labelOfSegment(segment)}`);
                this.timeline.draw();
        }

        /* ------------------------------------------------------------------ the picture */

        /**
         * After the rows, before what stands over them.
         * @param {TimelineFrame} frame
         */
        paint(frame) {
                const { context, colors } = frame;

                if (!this.isShown())
                        return;
                context.globalAlpha = 1 - PATH_DIM;
                context.fillStyle = colors.background;
                context.fillRect(0, AXIS_PX, frame.width, frame.height);
                context.globalAlpha = 1;
                const middles = this.middles(frame);

                const steps = stepsInSight(frame, this.steps);

                for (const step of steps)
                        if (!step.isWakeUp)
                                paintDrop(frame, step.at, middles.get(step.from), middles.get(step.to));
                for (const segment of this.segments)
                        if (segment.end > frame.from && segment.begin < frame.to)
                                this.paintSegment(frame, segment, middles.get(segment.thread));
                for (const step of steps)
                        if (step.isWakeUp)
                                paintWakeUp(frame, step.at, { y: middles.get(step.from) ?? null, name: frame.model.threadName(step.from) },
                                            { y: middles.get(step.to) ?? null, name: frame.model.threadName(step.to) });
        }

        /**
         * Where the line runs, by thread: pixels from the top of the canvas.
         * @param {TimelineFrame} frame
         */
        middles(frame) {
                /** @type {Map<number, number>} */
                const middles = new Map();

                for (const thread of new Set(this.segments.map((segment) => segment.thread))) {
                        const row = this.timeline.rowOfThread(thread);

                        if (row)
                                middles.set(thread, row.y + row.height / 2 - frame.top + AXIS_PX);
                }
                return middles;
        }

        /** @param {TimelineFrame} frame @param {PathSegment} segment @param {number|undefined} middle */
        paintSegment(frame, segment, middle) {
                const { context, colors } = frame;

                if (middle === undefined || middle < AXIS_PX - PATH_LINE_PX || middle > frame.height + PATH_LINE_PX)
                        return;
                const left = Math.max(-4, xOfTime(frame, segment.begin));
                const right = Math.min(frame.width + 4, xOfTime(frame, segment.end));
                const width = Math.max(1, right - left);
                const y = middle - PATH_LINE_PX / 2;
                const name = nameColorOf(segment.name ?? '[unknown]', frame.isDark);
                const isReady = segment.look === 'ready' || segment.look === 'preempted';
                const isHatched = isReady && width > 3;
                const ready = colors[segment.look === 'ready' ? 'runnable' : 'preempted'];

                context.fillStyle = segment.look === 'run' ? name.fill : segment.look === 'wait' ? colors.waiting
                        : isHatched ? colors.background : ready;
                context.fillRect(left, y, width, PATH_LINE_PX);
                if (isHatched)
                        paintHatch(frame, { left, y, width, height: PATH_LINE_PX }, ready);
                if (width > 3) {
                        context.strokeStyle = segment.look === 'run' ? name.edge : colors.muted;
                        context.lineWidth = 1;
                        context.strokeRect(left + 0.5, y + 0.5, width - 1, PATH_LINE_PX - 1);
                }
                if (segment === this.chosen) {
                        context.strokeStyle = colors.text;
                        context.lineWidth = 2;
                        context.strokeRect(left - 1, y - 1, width + 2, PATH_LINE_PX + 2);
                }
                const label = labelOfSegment(segment);

                context.font = `11px ${colors.sans || 'sans-serif'}`;
                context.textBaseline = 'middle';
                context.fillStyle = segment.look === 'run' ? name.text : colors.text;
                if (!isReady)
                        paintLabel(context, label, Math.max(0, left), Math.min(frame.width, right), y, PATH_LINE_PX);
                else if (isHatched && Math.min(frame.width, right) - Math.max(0, left) > context.measureText(label).width + 16)
                        paintName(frame, label, Math.max(0, left) + 6, middle);
        }
}

/**
 * The steps that are to be drawn: of those between the same threads one for each pixel.
 * @param {TimelineFrame} frame
 * @param {PathStep[]} steps
 */
function stepsInSight(frame, steps) {
        /** @type {Map<string, number>} */
        const last = new Map();

        return steps.filter((step) => {
                const x = Math.round(xOfTime(frame, step.at));
                const key = `${step.from} ${step.to} ${step.isWakeUp}`;
                const isNew = x >= 0 && x <= frame.width && last.get(key) !== x;

                last.set(key, x);
                return isNew;
        });
}

/**
 * Where a thread begins to wait: the path goes on at the one that it waits for.
 * @param {TimelineFrame} frame
 * @param {number} ns
 * @param {number|undefined} fromY
 * @param {number|undefined} toY
 */
function paintDrop(frame, ns, fromY, toY) {
        const { context } = frame;
        const x = xOfTime(frame, ns);

        if (fromY === undefined || toY === undefined || x < 0 || x > frame.width)
                return;
        context.strokeStyle = frame.colors.text;
        context.lineWidth = 1;
        context.setLineDash([3, 3]);
        context.beginPath();
        context.moveTo(x, Math.max(AXIS_PX, fromY));
        context.lineTo(x, Math.max(AXIS_PX, toY));
        context.stroke();
        context.setLineDash([]);
}
