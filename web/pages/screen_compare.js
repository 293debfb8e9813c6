// SPDX-License-Identifier: MIT
/*
 * screen_compare.js - two recordings side by side: two timelines that move together, with one axis or with instances of a
 * zone at one place, and the histograms of that zone over each other
 *
 * Way of the data:  two sources -> side_viewer -> two timelines, zone_histograms -> [screen_compare]
 *
 * This screen is there only if the viewer has two traces.  The timelines are those of the screen Timeline; their panels
 * stand in one column, so that both have one width and a place on one axis is the same in both.
 */

import { button, el, fill, setAttributes } from './dom.js';
import { formatDuration } from './format.js';
import { DiffScreen, zoneHistograms } from './screen_diff.js';
import { TimelineScreen } from './screen_timeline.js';
import { SideViewer } from './side_viewer.js';
import { ServerSource } from './source_server.js';

/**
 * @typedef {import('./model.js').TraceModel} TraceModel
 * @typedef {import('./viewer.js').ViewState} ViewState
 * @typedef {import('./viewer.js').Viewer} Viewer
 * @typedef {'before' | 'after'} SideName
 * @typedef {{ before: Side, after: Side }} Sides
 * @typedef {{ viewer: SideViewer, timeline: TimelineScreen, element: HTMLElement, title: HTMLElement }} Side
 */

/** Names in the list of zones. */
const ZONES_MAX = 2000;
/** The room for histograms beside the timelines. */
const PANEL_PX = 390;
/** An instance is found by going through those before it. */
const NTH_MAX = 500;

export class CompareScreen {
        static id = 'compare';
        static title = 'Compare';
        static key = 'c';

        /**
         * Whether there is something to compare.
         * @param {TraceModel} model
         */
        static isThere(model) {
                return DiffScreen.isThere(model);
        }

        /** @param {Viewer} viewer */
        constructor(viewer) {
                this.viewer = viewer;
                /** @type {Sides|null} */
                this.sides = null;
                /** The one that takes keys and searches. */
                this.active = /** @type {SideName} */ ('after');
                /** A time of the trace before, and this much added to it, are at the same place, ns. */
                this.shift = 0;
                this.isMoving = false;
                /** An alignment was chosen by hand: what is aligned comes into sight. */
                this.isAsked = false;
                /** The zone and instance that were aligned. */
                this.aligned = '';
                /** Begins of instances by side and zone, as far as they are asked for. @type {Map<string, Promise<number[]>>} */
                this.begins = new Map();
                this.zone = /** @type {HTMLSelectElement} */ (el('select', { 'aria-label': 'what both have at the same place', on: {
                        change: () => this.alignTo({ align: this.zone.value, nth: null, shift: null }) } }));
                this.previous = button('‹', () => this.step(-1), { title: 'the instance before, in both',
                        'aria-label': 'previous instance' });
                this.next = button('›', () => this.step(1), { title: 'the next instance, in both', 'aria-label': 'next instance' });
                this.chosen = button('Align the chosen items', () => this.alignChosen(), {
                        title: 'puts the items that are chosen above and below at the same place' });
                this.words = el('span', { class: 'muted', role: 'status' });
                this.histograms = el('div', { class: 'answer' });
                this.panels = el('div', { class: 'compare-panels' });
                this.both = el('div', { class: 'compare-sides' }, el('p', { class: 'muted' }, 'reading the other recording'));
                this.element = el('section', { class: 'compare', 'aria-label': 'Compare' },
                        el('div', { class: 'data-tools' }, el('label', {}, 'same place: ', this.zone), this.previous, this.next,
                           this.chosen, this.words),
                        el('div', { class: 'compare-body' }, this.both, this.panels));
                this.open().catch((error) => viewer.emit('failure', error));
        }

        async open() {
                const { viewer } = this;
                const source = new ServerSource('before');
                const [model] = await Promise.all([source.model(), source.readKept()]);
                /** @type {Sides} */
                const sides = { before: this.side(new SideViewer(source, model, viewer, 'before', (_, changes) =>
                                this.leaveBefore(changes))),
                        after: this.side(new SideViewer(viewer.source, viewer.model, viewer, 'after', (screen, changes) =>
                                viewer.go(screen, changes))) };

                this.sides = sides;
                fill(this.both, sides.before.element, sides.after.element);
                fill(this.panels, this.histograms, sides.before.timeline.panel.element, sides.after.timeline.panel.element);
                viewer.on('model', () => {
                        sides.after.viewer.model = viewer.model;
                        sides.after.viewer.emit('model', viewer.model);
                });
                for (const event of ['theme', 'settle'])
                        viewer.on(event, (value) => this.each((side) => side.viewer.emit(event, value)));
                viewer.on('search', (direction) => !this.element.hidden && sides[this.active].viewer.emit('search', direction));
                this.each((side) => side.viewer.on('model', () => {
                        this.listZones();
                        this.place(this.shift);
                }));
                this.listZones();
                this.place(0); // until instances are found
                this.show(viewer.state);
                sides.before.viewer.followModel();
        }

        /** @param {(side: Side, name: SideName) => void} act */
        each(act) {
                if (this.sides)
                        for (const name of /** @type {SideName[]} */ (['before', 'after']))
                                act(this.sides[name], name);
        }

        /** @param {SideViewer} side @returns {Side} */
        side(side) {
                const { name } = side;
                const timeline = new TimelineScreen(side);
                const title = el('h3', {});
                const element = el('div', { class: 'compare-side', role: 'group', 'aria-label': name }, title, timeline.element);

                for (const event of ['hits', 'found'])
                        side.on(event, (value) => this.active === name && this.viewer.emit(event, value));
                side.on('failure', (error) => this.viewer.emit('failure', new Error(`${name}: ${error.message}`)));
                side.on('change', (state) => timeline.show(state));
                side.on('view', () => this.follow(name));
                for (const event of ['pointerdown', 'focusin'])
                        element.addEventListener(event, () => { this.active = name; });
                return { viewer: side, timeline, element, title };
        }

        /**
         * The other screens are about the trace after: of the one before, the screen Diff has the zones.
         * @param {Record<string, any>} changes
         */
        leaveBefore(changes) {
                const location = this.sides?.before.viewer.model.locations.find((one) => one.handle === changes.zone);

                this.viewer.go('diff', location?.name ? { zone: location.name } : {});
        }

        /** Names of zones that both have. */
        listZones() {
                if (!this.sides)
                        return;
                const [before, after] = [this.sides.before, this.sides.after].map((side) => side.viewer.model);
                const known = new Set(before.locations.map((one) => one.name));
                const names = [...new Set(after.locations.flatMap((one) => one.name && known.has(one.name) ? [one.name] : []))].sort();

                fill(this.zone, el('option', { value: '' }, 'the begin of both recordings'),
                     ...names.slice(0, ZONES_MAX).map((name) => el('option', { value: name }, name)));
                this.zone.value = this.viewer.state.align ?? '';
                this.each(({ viewer, title }, name) => {
                        title.textContent = `${name}: ${viewer.model.title || 'a recording'}, ${formatDuration(viewer.model.duration_ns)}` +
                                (viewer.model.progress < 1 ? `, reading: ${Math.floor(viewer.model.progress * 100)}%` : '');
                });
        }

        /** Both timelines reach from the first begin to the last end. */
        setReach() {
                if (!this.sides)
                        return;
                const { before, after } = this.sides;
                const from = Math.min(0, this.shift);
                const to = Math.max(after.viewer.model.duration_ns, before.viewer.model.duration_ns + this.shift);

                after.viewer.reach = [from, to];
                before.viewer.reach = [from - this.shift, to - this.shift];
                before.viewer.shift = this.shift;
        }

        /**
         * The other timeline shows the same place.
         * @param {SideName} moved
         */
        follow(moved) {
                if (!this.sides || this.isMoving)
                        return;
                const other = this.sides[moved === 'before' ? 'after' : 'before'].timeline;
                const { from, to } = this.sides[moved].timeline;
                const shift = moved === 'before' ? this.shift : -this.shift;

                this.isMoving = true;
                other.showRange(from + shift, to + shift);
                this.isMoving = false;
        }

        /** @param {ViewState} state */
        show(state) {
                if (!this.sides)
                        return;
                this.zone.value = state.align ?? '';
                setAttributes(this.previous, { hidden: !state.align });
                setAttributes(this.next, { hidden: !state.align });
                this.each((side) => side.viewer.take(state));
                this.align(state).catch((error) => this.viewer.emit('failure', error));
        }

        /** @param {ViewState} state */
        async align(state) {
                const nth = Math.max(1, Math.min(NTH_MAX, Number(state.nth) || 1));
                const key = JSON.stringify([state.align, nth, state.shift]);
                const { isAsked } = this;

                this.isAsked = false;
                if (key === this.aligned)
                        return;
                const isNewZone = JSON.stringify([state.align]) !== JSON.stringify(JSON.parse(this.aligned || '[]').slice(0, 1));

                this.aligned = key;
                if (!state.align) {
                        this.words.textContent = '';
                        fill(this.histograms);
                        this.place(Math.round(Number(state.shift ?? 0)));
                        return;
                }
                const name = state.align;

                if (isNewZone)
                        this.showHistograms(name);
                const found = await Promise.all([this.beginOf('before', name, nth), this.beginOf('after', name, nth)]);

                if (this.aligned !== key)
                        return;
                const lacking = ['before', 'after'].filter((_, i) => found[i] === null);

                this.words.textContent = lacking.length > 0 ? `no instance ${nth} of ${name} ${lacking.join(' and ')}`
                        : `instance ${nth} of ${name}, in the order of time`;
                if (found[0] === null || found[1] === null)
                        return;
                this.place(found[1] - found[0]);
                if (isAsked)
                        this.bringIntoSight(found[1]);
        }

        /**
         * Both show the view of the address, or all, the trace before so much later.
         * @param {number} shift
         */
        place(shift) {
                this.viewer.emit('settle', null);
                this.shift = Number.isFinite(shift) ? shift : 0;
                this.setReach();
                this.each((side) => side.viewer.take(this.viewer.state));
        }

        /**
         * The view moves, as a part of the step that the alignment is.
         * @param {number} at  in the trace after
         */
        bringIntoSight(at) {
                const { timeline } = /** @type {Sides} */ (this.sides).after;
                const length = timeline.to - timeline.from;

                if (at >= timeline.from && at <= timeline.to)
                        return;
                timeline.showRange(at - length * 0.1, at + length * 0.9);
                timeline.joinStep();
                timeline.settleState();
        }

        /** @param {Record<string, string | number | null>} changes */
        alignTo(changes) {
                this.isAsked = true;
                this.viewer.set(changes);
        }

        /** @param {string} name */
        async showHistograms(name) {
                const element = await zoneHistograms(this.viewer, name, PANEL_PX).catch((error) =>
                        el('p', { class: 'error' }, error.message));

                if (this.viewer.state.align === name)
                        fill(this.histograms, element);
        }

        /**
         * The begin of an instance of a zone, in the order of time; null if there are fewer.
         * @param {SideName} name
         * @param {string} zone
         * @param {number} nth  from 1
         */
        async beginOf(name, zone, nth) {
                const { viewer } = /** @type {Sides} */ (this.sides)[name];
                const ids = viewer.model.locations.filter((one) => one.name === zone).map((one) => one.id);
                const all = await Promise.all(ids.map((id) => this.beginsOf(name, viewer, zone, id, nth)));

                return all.flat().sort((a, b) => a - b)[nth - 1] ?? null;
        }

        /**
         * The first begins of the instances of one location.
         * @param {SideName} name
         * @param {SideViewer} viewer
         * @param {string} zone
         * @param {number} id
         * @param {number} n
         */
        beginsOf(name, viewer, zone, id, n) {
                const key = `${name} ${id}`;
                /** @type {Promise<number[]>} */
                const known = this.begins.get(key) ?? Promise.resolve([]);
                const begins = known.then((some) => this.moreBegins(some, viewer, zone, id, n));

                // One after the other: two at once would find the same instance.
                this.begins.set(key, begins.catch(() => known));
                return begins;
        }

        /**
         * @param {number[]} some  the first ones
         * @param {SideViewer} viewer
         * @param {string} zone
         * @param {number} id
         * @param {number} n
         */
        async moreBegins(some, viewer, zone, id, n) {
                const begins = [...some];

                while (begins.length < n) {
                        const at = begins.length > 0 ? begins[begins.length - 1] : 0;
                        const rank = begins.filter((begin) => begin === at).length;
                        const { found } = await viewer.source.search({ text: zone, at, rank, direction: 'next',
                                only: { kind: 'zones', what: id } });

                        if (!found || found.begin_ns < at)
                                break;
                        begins.push(found.begin_ns);
                }
                return begins;
        }

        /** @param {number} step */
        step(step) {
                const nth = Math.max(1, Math.min(NTH_MAX, (Number(this.viewer.state.nth) || 1) + step));

                this.alignTo({ nth: nth === 1 ? null : nth });
        }

        alignChosen() {
                const [before, after] = [this.sides?.before.timeline.chosen, this.sides?.after.timeline.chosen];

                if (!before || !after) {
                        this.words.textContent = 'choose an item above and one below first';
                        return;
                }
                this.viewer.set({ align: null, nth: null, shift: Math.round(after.begin - before.begin) });
                this.words.textContent = 'the chosen items begin at the same place';
        }

        focus() {
                this.sides?.[this.active].timeline.focus();
        }

        hide() {
                this.each((side) => side.timeline.hide());
        }

        /** @param {KeyboardEvent} event @returns {boolean} */
        onKey(event) {
                return this.sides?.[this.active].timeline.onKey(event) ?? false;
        }
}
