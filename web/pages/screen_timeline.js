// SPDX-License-Identifier: MIT
/*
 * screen_timeline.js - the timeline: move, zoom, hover, choose; by mouse and by keyboard
 *
 * Way of the data:  lane_cache, timeline_rows -> timeline_paint -> [screen_timeline] -> instance_panel
 *
 * A frame draws what is in the cache.  Missing items are asked for, and the next frame is sharper.
 */

import { BoxRow } from './box_row.js';
import { isDarkPage, themeColors } from './colors.js';
import { showMenu } from './context_menu.js';
import { button, el, fill, setAttributes } from './dom.js';
import { formatDuration } from './format.js';
import { FrameBudgets } from './frame_budget.js';
import { pictureOfHit } from './frame_picture.js';
import { GhostSwitch, recallGhosts } from './ghost_switch.js';
import { InstancePanel } from './instance_panel.js';
import { bucketOf, LaneCache } from './lane_cache.js';
import { RowFit } from './row_fit.js';
import { answerLine } from './timeline_answer.js';
import { paintWakerOf, TimelineArrows } from './timeline_arrows.js';
import { TimelineCauses } from './timeline_causes.js';
import { TimelineCrumbs } from './timeline_crumbs.js';
import { hitOfLane, lanesAt } from './timeline_hits.js';
import { TimelineLabels } from './timeline_labels.js';
import { TimelineLaunches } from './timeline_launches.js';
import { legendLine } from './timeline_legend.js';
import { itemOfHit, keyOfInstance, rowsOfChoice, TimelineLink } from './timeline_link.js';
import { paintNotes, TimelineNotes } from './timeline_notes.js';
import { TimelineOverview } from './timeline_overview.js';
import { AXIS_PX, paintAxis, paintChosen, paintGrid, paintMeasure, paintRows } from './timeline_paint.js';
import { PATH_OF_RUN, TimelinePath } from './timeline_path.js';
import { isIdleTrack, NO_LANE, rowsBetween, timelineRows, WHOLE_CHOICE } from './timeline_rows.js';
import { TimelineSave } from './timeline_save.js';
import { TimelineSearch } from './timeline_search.js';
import { TimelineTouch } from './timeline_touch.js';
import { TimelineTracks } from './timeline_tracks.js';
import { paintMarkNames, wakeUpAt, wakeUpOf } from './timeline_wakes.js';
import { wordsWithSelf } from './timeline_words.js';
import { WaitQuestions } from './wait_facts.js';
import { WaitTip } from './wait_tip.js';
import { ZonePaint } from './zone_paint.js';

/**
 * @typedef {import('./timeline_hits.js').TimelineHit} TimelineHit
 * @typedef {import('./timeline_paint.js').TimelineFrame} TimelineFrame
 * @typedef {import('./timeline_rows.js').LaneRow} LaneRow
 * @typedef {import('./timeline_rows.js').TimelineChoice} TimelineChoice
 * @typedef {import('./timeline_rows.js').TimelineRow} TimelineRow
 * @typedef {import('./viewer.js').ViewState} ViewState
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

const LEAST_VIEW_NS = 20;
const KEYBOARD_STEP = 0.15;
const ZOOM_STEP = 0.7;
const STATE_AFTER_MS = 250;

export class TimelineScreen {
        static id = 'timeline';
        static title = 'Timeline';
        static key = 't';

        /** @param {Viewer} viewer */
        constructor(viewer) {
                this.viewer = viewer;
                this.from = viewer.number('view_from') ?? 0;
                this.to = viewer.number('view_to') ?? viewer.model.duration_ns;
                this.cache = new LaneCache(viewer.source, viewer.model.duration_ns, () => this.draw(),
                                           (error) => viewer.emit('failure', error));
                /** @type {TimelineChoice} */
                this.choice = { ...WHOLE_CHOICE, ...recallGhosts(viewer), closed: new Set(), moved: new Map(), ghosts: new Set() };
                this.link = new TimelineLink(this);
                this.link.recall();
                this.layout = timelineRows(viewer.model, this.choice);
                /** @type {TimelineHit|null} */
                this.chosen = null;
                /** @type {TimelineHit|null} */
                this.hovered = null;
                /** @type {{ from: number, to: number }|null} */
                this.measure = null;
                /** The wake-up of the chosen state. @type {import('./timeline_wakes.js').WakeUp|null} */
                this.wakeUp = null;
                this.isMeasuring = false;
                /** @type {Set<string>} failures that were named */
                this.said = new Set();
                this.isDrawAsked = false;
                this.inputAt = 0;
                /** @type {number[]} from an input to its frame, ms; read by tests */
                this.delays = [];
                this.stateTimer = 0;
                this.askedFor = '';
                /** Counts choices: an item that was looked for is not chosen once another one is, or is looked for. */
                this.turn = 0;
                this.budgets = new FrameBudgets(viewer, () => this.draw(), this.cache.painted);
                this.causes = new TimelineCauses(viewer, () => this.draw(), this.cache.painted);
                this.overview = new TimelineOverview(viewer, this.cache, this.budgets, (from, to) => this.showRange(from, to));
                this.canvas = /** @type {HTMLCanvasElement} */ (el('canvas', { class: 'timeline-canvas', tabindex: '0',
                        role: 'application', 'aria-label': 'timeline: arrows choose an item, Enter opens it, ' +
                        'W and S zoom, A and D move, question mark shows all keys' }));
                this.labels = new TimelineLabels(this);
                this.room = el('div', { class: 'timeline-room' });
                this.scroll = el('div', { class: 'timeline-scroll' }, this.room,
                                 el('div', { class: 'timeline-window' }, this.labels.element, this.canvas));
                this.tip = el('div', { class: 'timeline-tip', hidden: true });
                this.waits = new WaitQuestions(this.viewer);
                this.waitTip = new WaitTip(this.viewer, this.waits, this.cache);
                this.panel = new InstancePanel(this.viewer, this);
                this.notes = new TimelineNotes(this.viewer, this);
                this.path = new TimelinePath(this.viewer, this);
                this.launches = new TimelineLaunches(this.viewer, this);
                this.arrows = new TimelineArrows(this);
                this.search = new TimelineSearch(this);
                this.tracks = new TimelineTracks(this);
                this.zonePaint = new ZonePaint(viewer);
                this.boxes = new BoxRow();
                this.crumbs = new TimelineCrumbs(this);
                this.save = new TimelineSave(this);
                this.ghosts = new GhostSwitch(this);
                this.idleButton = button('', () => this.toggleIdle());
                this.measureButton = button('Measure', () => this.toggleMeasure(), { title: 'drag to measure (M)' });
                this.pathButton = button('Critical path', () => this.path.showRun(), { title: 'who delayed the run?' });
                this.note = el('span', { class: 'muted', role: 'status' });
                this.part = button('', () => this.viewer.set({ longer: null, shorter: null }), { title: 'ends the highlight' });
                this.element = el('section', { class: 'timeline' },
                        el('div', { class: 'data-tools timeline-tools' },
                           el('span', { class: 'timeline-zoom', role: 'group', 'aria-label': 'Zoom' },
                              button('+', () => this.zoomAtMiddle(ZOOM_STEP), { title: 'zoom in (+)', 'aria-label': 'Zoom in' }),
                              button('−', () => this.zoomAtMiddle(1 / ZOOM_STEP), { title: 'zoom out (-)', 'aria-label': 'Zoom out' })),
                           button('Show all', () => this.showRange(...viewer.bounds()), { title: 'Home' }),
                           this.crumbs.element,
                           this.ghosts.button, this.arrows.button, this.measureButton, this.pathButton, this.idleButton,
                           this.notes.button, this.save.button, this.part,
                           el('span', { class: 'timeline-order' }, this.tracks.element, this.zonePaint.element), this.arrows.note,
                           this.note),
                        answerLine(viewer, this.cache.painted), legendLine(viewer), this.notes.list,
                        el('div', { class: 'timeline-body' }, el('div', { class: 'timeline-main' }, this.overview.element, this.scroll),
                           this.panel.element), this.tip);
                this.touch = new TimelineTouch(this);
                this.scroll.addEventListener('scroll', () => this.draw());
                this.canvas.addEventListener('pointerdown', (event) => this.onDown(event));
                this.canvas.addEventListener('pointermove', (event) => this.onMove(event));
                this.canvas.addEventListener('pointerleave', () => this.hover(null));
                this.canvas.addEventListener('dblclick', () => this.zoomToChosen());
                this.canvas.addEventListener('contextmenu', (event) => this.onMenu(event));
                this.fit = new RowFit(this);
                this.arrange();
                this.notes.read();
                viewer.on('model', () => this.onModel());
                viewer.on('theme', () => this.draw());
                viewer.on('settle', () => this.settleState());
                viewer.on('search', (direction) => !this.element.hidden && this.search.step(direction));
        }

        /** @param {ViewState} state */
        show(state) {
                this.link.followView(state);
                this.crumbs.follow();
                this.tracks.begin();
                this.tracks.follow(this.viewer.state);
                this.zonePaint.follow(state);
                this.search.follow();
                this.path.follow(state);
                if (state.path === PATH_OF_RUN && !this.path.subject)
                        this.path.showRun();
                this.arrange();
                this.link.followItem(state);
        }

        /** Another screen shows its own hits. */
        hide() {
                this.search.listed = '';
        }

        focus() {
                this.canvas.focus();
        }

        onModel() {
                this.search.follow();
                if (this.viewer.model.isLive) {
                        this.onLiveModel();
                        return;
                }
                if (this.viewer.model.progress >= 1) {
                        this.link.recall();
                        this.notes.read();
                        this.tracks.begin();
                        this.tracks.follow(this.viewer.state);
                }
                if (this.viewer.model.progress < 1 || this.cache.duration_ns !== this.viewer.model.duration_ns) {
                        this.cache.forget();
                        this.cache.duration_ns = this.viewer.model.duration_ns;
                }
                if (this.viewer.number('view_to') === null)
                        this.to = this.viewer.bounds()[1];
                this.cache.forget();
                this.arrange();
        }

        /** The trace has grown, or is followed in another way now. */
        onLiveModel() {
                const { viewer } = this;

                this.cache.duration_ns = viewer.model.duration_ns;
                this.cache.age();
                if (viewer.isFollowing()) {
                        const { from, to } = viewer.unselectedRange();

                        this.from = from;
                        this.to = Math.max(from + LEAST_VIEW_NS, to);
                }
                this.arrange();
        }

        /** The choice of rows has changed: they are arranged, and the address has it. */
        keepChoice() {
                this.arrange();
                this.viewer.set({ rows: rowsOfChoice(this.choice) });
        }

        /** Rows anew: after a choice of what is shown. */
        arrange() {
                const part = this.highlight();

                this.part.hidden = part === null;
                this.part.textContent = part === null ? '' : `highlighted: ${this.viewer.model.locationName(part.what)} of ` +
                        `${formatDuration(part.from)} to ${isFinite(part.to) ? formatDuration(part.to) : 'the longest'} ×`;
                this.choice.view = { from: this.from, to: this.to };
                this.layout = this.fit.rows();
                this.tracks.say();
                this.arrows.say();
                this.room.style.height = `${this.layout.height + AXIS_PX + 20}px`;
                const nIdle = this.viewer.model.tracks.filter(isIdleTrack).length;

                this.pathButton.hidden = this.viewer.model.isLive || !this.viewer.model.tracks.some((track) =>
                        track.lanes.some((lane) => lane.kind === 'states'));
                this.ghosts.say();
                setAttributes(this.measureButton, { 'aria-pressed': String(this.isMeasuring) });
                setAttributes(this.idleButton, { 'aria-pressed': String(this.choice.showsIdle),
                        hidden: nIdle === 0 });
                this.idleButton.textContent = `Idle tracks (${nIdle})`;
                this.idleButton.title = 'threads without zones, samples and messages; locks that no thread waited for';
                this.draw();
        }

        /* ------------------------------------------------------------------ drawing */

        /** In the next frame; @see drawNow. */
        draw() {
                if (this.isDrawAsked || this.element.hidden)
                        return;
                this.isDrawAsked = true;
                requestAnimationFrame(() => {
                        this.isDrawAsked = false;
                        this.drawNow();
                });
        }

        /** @returns {TimelineFrame|null} */
        frame() {
                const { canvas } = this;
                const context = canvas.getContext('2d');
                const width = canvas.clientWidth;
                const height = canvas.clientHeight;

                if (!context || width < 10 || height < 10)
                        return null;
                return { context, width, height, from: this.from, to: this.to, top: this.scroll.scrollTop,
                         scale: window.devicePixelRatio || 1, boxes: this.boxes, colors: themeColors(), isDark: isDarkPage(),
                         model: this.viewer.model, cache: this.cache, zonePaint: this.zonePaint,
                         search: this.search.matches, budgets: this.budgets, highlight: this.highlight(),
                         causes: this.causes.best(this.from, this.to), lack: this.causes.lack,
                         bucketLog2: bucketOf((this.to - this.from) / width), named: [] };
        }

        /** The part of a zone's histogram that is selected on the screen Zones. */
        highlight() {
                const { state, model } = this.viewer;
                const location = state.zone && (state.longer || state.shorter)
                        ? model.locations.find((one) => one.handle === state.zone) : null;

                return location ? { what: location.id, from: Number(state.longer ?? 0), to: Number(state.shorter ?? Infinity) } : null;
        }

        drawNow() {
                const frame = this.frame();

                if (!frame)
                        return;
                if (frame.model.progress >= 1 && frame.model.tracks.length === 0)
                        this.note.textContent = 'nothing was recorded: there is nothing to draw';
                const { canvas } = this;
                const { scale } = frame;
                const rows = rowsBetween(this.layout.rows, frame.top, frame.height);

                if (canvas.width !== Math.round(frame.width * scale) || canvas.height !== Math.round(frame.height * scale)) {
                        canvas.width = Math.round(frame.width * scale);
                        canvas.height = Math.round(frame.height * scale);
                }
                frame.context.setTransform(scale, 0, 0, scale, 0, 0);
                frame.context.fillStyle = frame.colors.background;
                frame.context.fillRect(0, 0, frame.width, frame.height);
                this.paint(frame, rows);
                this.attempt(() => this.labels.draw(rows, frame.top));
                this.attempt(() => this.overview.draw(this.from, this.to, this.scroll.offsetWidth - this.scroll.clientWidth - 1));
                this.cache.need(rows.flatMap((row) => row.lanes.map((lane) => lane.lane.id)).filter((id) => id !== NO_LANE), this.from,
                                this.to, frame.bucketLog2);
                if (rows.some((row) => row.track?.kind === 'load' && row.isOpen))
                        this.causes.need(this.from, this.to, frame.width);
                if (this.inputAt !== 0) {
                        this.delays.push(performance.now() - this.inputAt);
                        this.inputAt = 0;
                }
        }

        /** @param {TimelineFrame} frame @param {TimelineRow[]} rows */
        paint(frame, rows) {
                [() => paintGrid(frame), () => paintRows(frame, rows), () => this.path.paint(frame), () => this.arrows.paint(frame, rows),
                 () => paintAxis(frame, this.viewer.range()), () => paintNotes(frame, this.notes.notes),
                 () => this.paintMarks(frame), () => paintMarkNames(frame)].forEach((paint) => this.attempt(paint));
        }

        /**
         * Draws a part; one that cannot be drawn takes no other with it, and is named once.
         * @param {() => void} paint
         */
        attempt(paint) {
                try {
                        paint();
                } catch (error) {
                        const words = `a part of the timeline cannot be drawn: ${/** @type {Error} */ (error).message}`;

                        if (!this.said.has(words))
                                this.viewer.emit('failure', new Error(words));
                        this.said.add(words);
                }
        }

        /** @param {TimelineFrame} frame */
        paintMarks(frame) {
                for (const hit of [this.chosen, this.hovered]) {
                        if (!hit)
                                continue;
                        const row = this.rowOf(hit.lane.lane.id);

                        if (row && row.y - frame.top > -row.height)
                                paintChosen(frame, hit, row.y - frame.top + AXIS_PX, row.height);
                }
                for (const wakeUp of [this.wakeUp, this.hovered ? wakeUpAt(this.hovered) : null])
                        if (wakeUp && !this.path.isShown())
                                paintWakerOf(this, frame, wakeUp);
                if (!this.path.isShown())
                        this.launches.paint(frame);
                if (this.measure)
                        paintMeasure(frame, this.measure.from, this.measure.to);
        }

        /** @param {number} lane @returns {LaneRow|null} */
        rowOf(lane) {
                for (const row of this.layout.rows)
                        for (const other of row.lanes)
                                if (other.lane.id === lane)
                                        return other;
                return null;
        }

        /**
         * The lane of a thread's states; the first one of a fiber, which has none.
         * @param {number} thread
         */
        rowOfThread(thread) {
                const track = this.viewer.model.tracksByThread.get(thread);

                return track ? this.layout.rows.find((row) => row.track === track)?.lanes[0] ?? null : null;
        }

        /* ------------------------------------------------------------------ what is shown */

        /** @param {number} from @param {number} to */
        showRange(from, to) {
                const [begin, end] = this.viewer.bounds();
                const all = end - begin;
                const length = Math.max(LEAST_VIEW_NS, Math.min(all * 1.02, to - from));
                const first = Math.max(begin - all * 0.01, Math.min(from, end + all * 0.01 - length));

                this.from = first;
                this.to = first + length;
                if (this.viewer.model.isLive)
                        this.viewer.follow('paused');
                this.measureDelay();
                this.keepState();
                this.draw();
                this.viewer.emit('view', this);
        }

        /** @param {Event} [event] has waited since its time stamp; without one, as of now */
        measureDelay(event) {
                if (this.inputAt === 0)
                        this.inputAt = event ? event.timeStamp : performance.now();
        }

        /** Updates the page's address once the movement is over. */
        keepState() {
                clearTimeout(this.stateTimer);
                this.stateTimer = window.setTimeout(() => this.settleState(), STATE_AFTER_MS);
        }

        settleState() {
                if (this.stateTimer === 0)
                        return;
                clearTimeout(this.stateTimer);
                this.stateTimer = 0;
                this.viewer.moveView(this.from, this.to);
        }

        /** The movement is a part of the last step, over which Back leads: it was not asked for by itself. */
        joinStep() {
                this.viewer.movedAt = performance.now();
                this.settleState();
        }

        /** @param {number} factor below 1 = in @param {number} center ns */
        zoom(factor, center) {
                this.showRange(center - (center - this.from) * factor, center + (this.to - center) * factor);
        }

        /**
         * Zooms about what is chosen, if it is in sight.
         * @param {number} factor
         */
        zoomAtMiddle(factor) {
                const { begin } = this.chosen ?? { begin: -1 };

                this.zoom(factor, begin > this.from && begin < this.to ? begin : (this.from + this.to) / 2);
        }

        toggleIdle() {
                this.choice.showsIdle = !this.choice.showsIdle;
                this.keepChoice();
        }

        toggleMeasure() {
                this.isMeasuring = !this.isMeasuring;
                this.measure = null;
                this.arrange();
        }

        /* ------------------------------------------------------------------ mouse */

        /** @param {MouseEvent} event */
        placeOf(event) {
                const box = this.canvas.getBoundingClientRect();

                return { x: event.clientX - box.left, y: event.clientY - box.top, width: box.width };
        }

        /** @param {MouseEvent} event */
        timeOf(event) {
                const place = this.placeOf(event);

                return this.from + place.x / place.width * (this.to - this.from);
        }

        /** @param {PointerEvent} event */
        onDown(event) {
                if (event.button !== 0 || this.touch.isSecond(event))
                        return;
                const { canvas } = this;
                const start = { from: this.from, to: this.to, top: this.scroll.scrollTop, time: this.timeOf(event) };
                const isRange = event.shiftKey || this.placeOf(event).y < AXIS_PX;
                const isMeasure = this.isMeasuring;
                let isMoved = false;
                /** @param {PointerEvent} move */
                const follow = (move) => {
                        isMoved = isMoved || Math.abs(move.clientX - event.clientX) + Math.abs(move.clientY - event.clientY) > 3;
                        if (!isMoved || this.touch.isPinched)
                                return;
                        this.measureDelay(move);
                        if (isRange || isMeasure) {
                                this.measure = { from: start.time, to: this.timeOf(move) };
                                this.draw();
                                return;
                        }
                        const step = (event.clientX - move.clientX) / this.placeOf(move).width * (start.to - start.from);

                        this.scroll.scrollTop = start.top + event.clientY - move.clientY;
                        this.showRange(start.from + step, start.to + step);
                };
                const done = (/** @type {PointerEvent} */ up) => {
                        canvas.removeEventListener('pointermove', follow);
                        if (!isMoved && !this.touch.isPinched)
                                this.choose(this.hitAt(up));
                        else if (isRange && this.measure)
                                this.viewer.select(this.measure.from, this.measure.to);
                        if (!isMeasure)
                                this.measure = null;
                        this.draw();
                };

                canvas.focus();
                canvas.setPointerCapture(event.pointerId);
                canvas.addEventListener('pointermove', follow);
                canvas.addEventListener('pointerup', done, { once: true });
                this.hover(null);
        }

        /**
         * By the right button, or by the keyboard's menu key about the chosen item.
         * @param {MouseEvent} event
         */
        onMenu(event) {
                const hit = event.button === 2 || event.ctrlKey ? this.hitAt(event) : this.chosen;

                if (!hit || hit.count === 0)
                        return;
                event.preventDefault();
                if (hit !== this.chosen)
                        this.choose(hit);
                this.hover(null);
                showMenu(event.clientX, event.clientY, this.canvas, [
                        { words: 'who delayed this?', isOff: !TimelinePath.isAbout(hit), run: () => this.path.show(hit) },
                        { words: 'zoom to it', run: () => this.zoomToChosen() },
                        { words: 'select its time', run: () => this.viewer.select(hit.begin, Math.max(hit.end, hit.begin + 1)) },
                        { words: 'write a note', run: () => this.notes.write() }]);
        }

        /** @param {PointerEvent} event */
        onMove(event) {
                if (event.buttons !== 0)
                        return;
                this.hover(this.hitAt(event), event);
        }

        /** @param {MouseEvent} event @returns {TimelineHit|null} */
        hitAt(event) {
                const place = this.placeOf(event);
                const y = place.y - AXIS_PX + (this.scroll.scrollTop);
                const row = place.y < AXIS_PX ? undefined
                        : this.layout.rows.find((one) => y >= one.y && y < one.y + one.height);
                const ns = this.timeOf(event);

                for (const lane of row ? lanesAt(row, y, ns) : []) {
                        const hit = this.hitOf(/** @type {TimelineRow} */ (row), lane, ns);

                        if (hit)
                                return hit;
                }
                return null;
        }

        /** @param {TimelineRow} row @param {LaneRow} lane @param {number} ns */
        hitOf(row, lane, ns) {
                return hitOfLane(this.cache, { from: this.from, to: this.to, width: this.canvas.clientWidth || 1,
                                               causes: this.causes.best(this.from, this.to) }, row, lane, ns);
        }

        /** @param {TimelineHit|null} hit @param {MouseEvent} [event] */
        hover(hit, event) {
                const tip = this.tip;

                this.hovered = hit;
                tip.hidden = hit === null || event === undefined;
                if (hit && event) {
                        fill(tip, wordsWithSelf(this.viewer, this.cache, hit, (words) => {
                                if (this.hovered === hit)
                                        fill(tip, words.map((line) => el('div', null, line)));
                        }).map((line) => el('div', null, line)));
                        const isRight = event.clientX > window.innerWidth - 380;

                        tip.style.left = isRight ? '' : `${event.clientX + 14}px`;
                        tip.style.right = isRight ? `${window.innerWidth - event.clientX + 14}px` : '';
                        tip.style.top = `${Math.min(event.clientY + 16, window.innerHeight - 120)}px`;
                }
                if (hit && event)
                        pictureOfHit(this.viewer, hit).then((picture) => {
                                if (picture && this.hovered === hit)
                                        tip.append(picture);
                        }, () => {});
                this.waitTip.follow(event ? hit : null, (more) => {
                        tip.append(...more.map((line) => el('div', null, line)));
                        tip.style.top = `${Math.max(4, Math.min(tip.offsetTop, window.innerHeight - tip.offsetHeight - 8))}px`;
                });
                this.draw();
        }

        /* ------------------------------------------------------------------ choosing */

        /** @param {TimelineHit|null} hit */
        choose(hit) {
                this.path.end();
                this.turn++;
                this.chosen = hit;
                this.wakeUp = null;
                this.panel.show(hit);
                this.launches.show(hit);
                if (hit)
                        this.findWakeUp(hit);
                if (hit)
                        this.viewer.announce(wordsWithSelf(this.viewer, this.cache, hit).join(', '));
                this.viewer.set({ item: itemOfHit(hit) });
                this.draw();
        }

        /** @param {TimelineHit} hit */
        async findWakeUp(hit) {
                const wakeUp = await wakeUpOf(this.viewer.source, hit).catch(() => null);

                if (this.chosen !== hit)
                        return;
                this.wakeUp = wakeUp;
                this.panel.showWaker(wakeUp);
                this.draw();
        }

        /**
         * An instance of which only the thread's handle and the begin are known.
         * @param {string} handle
         * @param {number} at
         * @param {string} [path]  the handle of its zone, if its path is wanted
         */
        async chooseAt(handle, at, path) {
                const key = keyOfInstance(handle, at, path);
                const zone = path !== undefined ? this.viewer.model.locations.find((one) => one.handle === path) : undefined;
                const thread = this.viewer.model.threadOfHandle(handle);
                const track = thread ? this.viewer.model.tracksByThread.get(thread.id) : null;

                if (!track || this.askedFor === key)
                        return;
                this.askedFor = key;
                const turn = ++this.turn;
                for (const lane of track.lanes.filter((one) => one.kind === 'zones' || one.kind === 'messages')
                        .sort((a, b) => a.depth - b.depth)) {
                        const found = await this.viewer.source.find([lane.id], at - 1, 'next', zone?.id ?? null);

                        if (this.turn !== turn)
                                return;
                        if (found && found.begin_ns === at) {
                                this.chooseFound(lane.id, found);
                                if (zone)
                                        this.path.show(this.chosen);
                                return;
                        }
                }
        }

        /** @param {number} lane @param {{ begin_ns: number, end_ns: number, what: number }} found */
        chooseFound(lane, found) {
                for (const row of this.layout.rows) {
                        const laneRow = row.lanes.find((one) => one.lane.id === lane);

                        if (!laneRow)
                                continue;
                        this.reveal(laneRow);
                        this.choose({ lane: laneRow, row, begin: found.begin_ns, end: found.end_ns, what: found.what, count: 1,
                                      longestBegin: found.begin_ns, longestNs: found.end_ns - found.begin_ns });
                        return;
                }
        }

        /**
         * Brings a lane and, if it is not in sight, an instant into the view.
         * @param {{ y: number, height: number }} lane
         * @param {{ begin: number, end: number }} [span]
         */
        reveal(lane, span) {
                const pane = this.scroll;

                if (lane.y < pane.scrollTop || lane.y + lane.height > pane.scrollTop + pane.clientHeight - AXIS_PX)
                        pane.scrollTop = Math.max(0, lane.y - pane.clientHeight / 3);
                if (!span)
                        return;
                const length = this.to - this.from;

                if (span.begin < this.from || span.end > this.to || span.end - span.begin < length / 400) {
                        const room = Math.max(span.end - span.begin, length / 400, LEAST_VIEW_NS);

                        this.showRange(span.begin - room * 2, span.end + room * 2);
                }
        }

        /** @param {number} ns  comes into the middle, if it is not in sight */
        revealTime(ns) {
                const half = (this.to - this.from) / 2;

                if (ns < this.from || ns > this.to)
                        this.showRange(ns - half, ns + half);
        }

        zoomToChosen() {
                if (!this.chosen)
                        return;
                const { begin, end } = this.chosen;
                const room = Math.max((end - begin) * 0.1, LEAST_VIEW_NS / 2);

                this.showRange(begin - room, end + room);
        }

        /**
         * Goes to the next or previous span like the chosen one.
         * @param {'next'|'previous'} direction
         * @param {number|null} what
         */
        async step(direction, what) {
                const hit = this.chosen;

                if (!hit)
                        return;
                const found = await this.viewer.source.find([hit.lane.lane.id], hit.begin, direction, what);

                if (!found) {
                        this.viewer.announce(`no ${direction} one`);
                        return;
                }
                this.chooseFound(hit.lane.lane.id, found);
                if (this.chosen)
                        this.reveal(this.chosen.lane, this.chosen);
        }

        /* ------------------------------------------------------------------ keyboard */

        /** @param {KeyboardEvent} event @returns {boolean} */
        onKey(event) {
                const length = this.to - this.from;
                /** @type {{ [key: string]: () => void }} */
                const keys = {
                        w: () => this.zoomAtMiddle(ZOOM_STEP), '+': () => this.zoomAtMiddle(ZOOM_STEP),
                        '=': () => this.zoomAtMiddle(ZOOM_STEP),
                        s: () => this.zoomAtMiddle(1 / ZOOM_STEP), '-': () => this.zoomAtMiddle(1 / ZOOM_STEP),
                        a: () => this.showRange(this.from - length * KEYBOARD_STEP, this.to - length * KEYBOARD_STEP),
                        d: () => this.showRange(this.from + length * KEYBOARD_STEP, this.to + length * KEYBOARD_STEP),
                        g: () => this.ghosts.toggle(), m: () => this.toggleMeasure(), u: () => this.arrows.toggle(),
                        b: () => this.notes.write(),
                        n: () => this.search.step('next'), N: () => this.search.step('previous'),
                        p: () => this.path.show(this.chosen),
                        f: () => this.zoomToChosen(), Home: () => this.showRange(...this.viewer.bounds()),
                        ArrowDown: () => this.moveLane(1), ArrowUp: () => this.moveLane(-1),
                        ArrowRight: () => this.moveItem('next'), ArrowLeft: () => this.moveItem('previous'),
                };

                if (event.key === 'Enter' && document.activeElement === this.canvas && this.chosen) {
                        this.zoomToChosen();
                        this.panel.focus();
                        return true;
                }
                if (event.key === 'Escape' && this.path.subject) {
                        this.path.leave();
                        return true;
                }
                if (event.key === 'Escape' && (this.chosen || this.measure || this.isMeasuring)) {
                        this.isMeasuring = false;
                        this.measure = null;
                        this.choose(null);
                        this.arrange();
                        return true;
                }
                const isArrow = event.key.startsWith('Arrow');

                if (!(event.key in keys) || (isArrow && document.activeElement !== this.canvas))
                        return false;
                this.measureDelay(event);
                keys[event.key]();
                return true;
        }

        /**
         * Goes to the lane above or below, at the same time.
         * @param {number} step
         */
        moveLane(step) {
                /* Lanes in one place are one. */
                const lanes = this.layout.rows.flatMap((row) => row.lanes.filter((lane, i) => lane.y !== row.lanes[i - 1]?.y)
                        .map((lane) => ({ row, lane })));
                const at = this.chosen ? lanes.findIndex((one) => one.lane.lane.id === this.chosen?.lane.lane.id) : -1;
                const next = lanes[Math.max(0, Math.min(lanes.length - 1, at + step))];
                const ns = this.chosen ? this.chosen.begin : (this.from + this.to) / 2;

                if (!next)
                        return;
                this.reveal(next.lane);
                const hit = this.hitOf(next.row, next.lane, ns);

                this.choose(hit ?? { lane: next.lane, row: next.row, begin: ns, end: ns, what: 0, count: 0, longestBegin: ns,
                                     longestNs: 0 });
        }

        /** @param {'next'|'previous'} direction */
        moveItem(direction) {
                if (!this.chosen)
                        this.moveLane(1);
                else
                        this.step(direction, null);
        }
}
