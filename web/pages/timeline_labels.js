// SPDX-License-Identifier: MIT
/*
 * timeline_labels.js - the names beside the rows: fold, pin and move tracks; the viewer remembers these
 * choices for each trace
 *
 * Way of the data:  timeline_rows -> [timeline_labels] -> TimelineChoice -> timeline_rows
 *
 * The names are elements, so that they can be read, reached and clicked.
 */

import { button, el, fill, setAttributes } from './dom.js';
import { isNumber } from './format.js';
import { cutToWidth, widthOfText } from './text_width.js';
import { AXIS_PX } from './timeline_paint.js';
import { isOnPath, orderOf, placeOfTrack, setGhostsOf, setOpen, showsGhostsOf, someGhostsOf } from './timeline_rows.js';

/**
 * @typedef {import('./model.js').TrackOfModel} TrackOfModel
 * @typedef {import('./screen_timeline.js').TimelineScreen} TimelineScreen
 * @typedef {import('./timeline_rows.js').TimelineChoice} TimelineChoice
 * @typedef {import('./timeline_rows.js').TimelineRow} TimelineRow
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

const TRACKS_REMEMBERED_MAX = 2000;
/** How far a row is set in below another one, in pixels. */
const INDENT_PX = 12;

/**
 * Pins, order and folded rows of the last visit; values of another form are ignored, since other programs may
 * write to the storage.
 * @param {Viewer} viewer
 * @param {TimelineChoice} choice
 */
export function recallTracks(viewer, choice) {
        let kept;

        try {
                kept = JSON.parse(viewer.source.recall('tracks', viewer.model) ?? '{}');
        } catch (_) {
                return;
        }
        /** @param {any} list @param {(one: any) => boolean} isRight */
        const listOf = (list, isRight) => Array.isArray(list) ? list.filter(isRight).slice(0, TRACKS_REMEMBERED_MAX) : [];
        /** @param {any} one */
        const isText = (one) => typeof one === 'string';

        if (kept === null || typeof kept !== 'object' || Object.keys(kept).length === 0)
                return;
        choice.pinned = listOf(kept.pinned, isText);
        choice.closed = new Set(listOf(kept.closed, isText));
        choice.isFolded = kept.isFolded === true;
        choice.moved = new Map(listOf(kept.moved, (one) => Array.isArray(one) && isText(one[0]) && isNumber(one[1])));
}

export class TimelineLabels {
        /** @param {TimelineScreen} timeline */
        constructor(timeline) {
                this.timeline = timeline;
                this.element = el('div', { class: 'timeline-labels' });
                /**
                 * Those of the rows that were drawn last.
                 * @type {string[]}
                 */
                this.keys = [];
        }

        /** Shows the choice, and keeps it. */
        changed() {
                const { pinned, closed, moved, isFolded } = this.timeline.choice;

                this.timeline.viewer.remember('tracks',
                        JSON.stringify({ pinned, closed: [...closed], moved: [...moved], isFolded }));
                this.timeline.keepChoice();
        }

        /** @param {string} key */
        toggleOpen(key) {
                const isOpen = this.timeline.layout.rows.find((row) => row.key === key)?.isOpen ?? false;

                setOpen(this.timeline.choice, key, !isOpen);
                this.changed();
        }

        /** @param {string[]} keys of rows that are to be open */
        open(keys) {
                keys.forEach((key) => setOpen(this.timeline.choice, key, true));
                this.changed();
        }

        /** @param {string} key */
        togglePin(key) {
                const { choice } = this.timeline;

                choice.pinned = choice.pinned.includes(key) ? choice.pinned.filter((one) => one !== key) : [...choice.pinned, key];
                this.changed();
        }

        /** @param {TrackOfModel} track */
        toggleGhosts(track) {
                const { choice } = this.timeline;

                setGhostsOf(choice, track, !showsGhostsOf(choice, track));
                this.timeline.keepChoice();
        }

        /**
         * Ghost zones of one track; null if it has none.
         * @param {TimelineRow} row
         */
        ghostButton({ track, title }) {
                if (!track || !track.lanes.some((lane) => lane.kind === 'ghosts' && lane.items > 0))
                        return null;
                const { choice, viewer } = this.timeline;
                const some = someGhostsOf(viewer.model, choice, track);

                return button(some ? `ƒ ${some.lanes.size} of ${some.nAll}` : 'ƒ', () => this.toggleGhosts(track), {
                        class: 'quiet timeline-pin timeline-ghosts', 'aria-label': `ghost zones of ${title}`,
                        'aria-pressed': some ? 'mixed' : String(showsGhostsOf(choice, track)),
                        title: some ? `ghost zones: ${some.lanes.size} of the ${some.nAll} levels of the call stacks; a click shows all`
                                : 'ghost zones' });
        }

        /**
         * @param {TimelineRow[]} rows
         * @param {number} top
         */
        draw(rows, top) {
                const key = rows.flatMap((row) => [row.key, row.isOpen, row.isPinned, this.isDim(row), this.isFound(row),
                                                   Math.round(row.y - top), row.title, row.note,
                                                   row.track && showsGhostsOf(this.timeline.choice, row.track),
                                                   this.timeline.choice.hidesGhosts]).concat(this.element.clientWidth).join();

                if (this.element.dataset.key === key)
                        return;
                this.element.dataset.key = key;
                const refocus = this.keepFocus();

                this.keys = rows.map((row) => row.key);
                fill(this.element, rows.map((row) => this.label(row, top)));
                refocus();
                /* A part of a note says nothing; the name has it as well. */
                for (const note of /** @type {NodeListOf<HTMLElement>} */ (this.element.querySelectorAll('.timeline-note')))
                        note.hidden = note.scrollWidth > note.clientWidth;
                this.keepNumbers();
        }

        /**
         * Labels are made anew: what a person has reached by keyboard has the focus again, wherever its row is then.
         * @returns {() => void}
         */
        keepFocus() {
                const focused = document.activeElement;
                const at = focused?.matches(':focus-visible') ? [...this.element.children].findIndex((one) => one.contains(focused)) : -1;
                const place = at < 0 ? -1 : [...this.element.children[at].querySelectorAll('button')].findIndex((one) => one === focused);
                const key = this.keys[at];

                return () => place >= 0 && this.element.children[this.keys.indexOf(key)]?.querySelectorAll('button')[place]
                        ?.focus({ preventScroll: true });
        }

        /** Threads of one name are told apart by their numbers: of a name without room for all of it the middle goes. */
        keepNumbers() {
                const context = this.timeline.canvas.getContext('2d');
                const names = [.../** @type {NodeListOf<HTMLElement>} */ (this.element.querySelectorAll('.timeline-name.track'))]
                        .filter((name) => name.scrollWidth > name.clientWidth).map((name) => ({ name, room: name.clientWidth - 1 }));

                if (!context)
                        return;
                context.save();
                for (const { name, room } of names) {
                        const text = name.textContent ?? '';
                        const number = / \d+$/.exec(text)?.[0] ?? '';

                        context.font = getComputedStyle(name).font;
                        const begin = number === '' ? '' : cutToWidth(context, text.slice(0, -number.length), room -
                                widthOfText(context, number));

                        if (begin === '')
                                continue;
                        setAttributes(name, { 'aria-label': text });
                        name.textContent = begin + number;
                }
                context.restore();
        }

        /**
         * While a path is shown: whether the row has no part in it.
         * @param {TimelineRow} row
         */
        isDim(row) {
                const { choice } = this.timeline;

                return choice.path !== null && !(row.track && isOnPath(choice, row.track));
        }

        /** @param {TimelineRow} row */
        isFound(row) {
                return row.key === this.timeline.search.foundKey;
        }

        /** @param {TimelineRow} row @param {number} top */
        label(row, top) {
                const more = row.kind === 'group' && row.nHidden > 0 ? ` (${row.nHidden} not shown)` : '';
                const name = button(`${row.isOpen ? '▾' : '▸'} ${row.title}${more}`, () => this.toggleOpen(row.key),
                                    { class: `link timeline-name ${row.kind}`, 'aria-expanded': String(row.isOpen),
                                      title: row.note ? `${row.title}, ${row.note}` : row.title });
                const pin = row.kind === 'track' ? button(row.isPinned ? '★' : '☆', () => this.togglePin(row.key),
                        { class: 'quiet timeline-pin', 'aria-label': `${row.isPinned ? 'unpin' : 'pin'} ${row.title}`,
                          'aria-pressed': String(row.isPinned) }) : null;
                const note = row.note ? el('span', { class: 'timeline-note muted' }, row.note) : null;
                const label = el('div', { class: `timeline-label${this.isDim(row) ? ' dim' : ''}${this.isFound(row) ? ' found' : ''}` },
                                 name, note, this.ghostButton(row), pin);

                label.style.top = `${row.y - top + AXIS_PX}px`;
                label.style.height = `${row.height}px`;
                label.style.paddingLeft = `${6 + INDENT_PX * (row.depth ?? 0)}px`;
                name.addEventListener('keydown', (event) => this.onLabelKey(event, row));
                name.addEventListener('pointerdown', (event) => this.onLabelDown(event, row, name));
                return label;
        }

        /**
         * Alt and an arrow move a track.
         * @param {KeyboardEvent} event
         * @param {TimelineRow} row
         */
        onLabelKey(event, row) {
                const step = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;

                if (!event.altKey || step === 0 || !row.track)
                        return;
                const rows = this.siblingsOf(row);

                this.moveTrack(row, rows[rows.findIndex((other) => other.key === row.key) + step]);
                event.preventDefault();
                event.stopPropagation();
        }

        /**
         * Tracks among which one can be moved: of the same process and kind.
         * @param {TimelineRow} row
         */
        siblingsOf(row) {
                return this.timeline.layout.rows.filter((other) => other.track && row.track && !other.isPinned &&
                        other.parent === row.parent && other.track.process === row.track.process &&
                        orderOf(other.track) === orderOf(row.track));
        }

        /**
         * Puts a track where another one is; those between move by one.
         * @param {TimelineRow} row
         * @param {TimelineRow|undefined} target
         */
        moveTrack(row, target) {
                const rows = this.siblingsOf(row);
                const from = rows.findIndex((one) => one.key === row.key);
                const to = rows.findIndex((one) => one.key === target?.key);
                const places = rows.map((one) => this.timeline.choice.moved.get(one.key) ?? (one.track ? placeOfTrack(one.track) : 0))
                        .sort((a, b) => a - b);

                if (from < 0 || to < 0 || from === to)
                        return;
                rows.splice(to, 0, ...rows.splice(from, 1));
                rows.forEach((one, at) => this.timeline.choice.moved.set(one.key, places[at]));
                this.timeline.viewer.announce(`${row.title} moved ${to < from ? 'up' : 'down'}`);
                this.changed();
                /* Another order would not show it. */
                if (this.timeline.choice.sort !== '')
                        this.timeline.tracks.sortBy('');
        }

        /**
         * A name that is dragged moves its track; what follows is no click.
         * @param {PointerEvent} down
         * @param {TimelineRow} row
         * @param {HTMLElement} name
         */
        onLabelDown(down, row, name) {
                if (down.button !== 0 || !row.track)
                        return;
                const top = this.timeline.canvas.getBoundingClientRect().top + AXIS_PX - this.timeline.scroll.scrollTop;
                const done = (/** @type {PointerEvent} */ up) => {
                        const y = up.clientY - top;

                        if (Math.abs(up.clientY - down.clientY) < 8)
                                return;
                        name.addEventListener('click', (event) => event.stopImmediatePropagation(), { capture: true, once: true });
                        this.moveTrack(row, this.timeline.layout.rows.find((one) => y >= one.y && y < one.y + one.height));
                };

                name.setPointerCapture(down.pointerId);
                name.addEventListener('pointerup', done, { once: true });
        }
}
