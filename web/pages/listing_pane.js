// SPDX-License-Identifier: MIT
/*
 * listing_pane.js - lines of a file, or instructions, with shares and counters: only those in sight are in the document
 *
 * Way of the data:  answers: rows of `lines` and `instructions` -> [listing_pane], code_words -> the screen Source
 *
 * Jumps are arrows beside the instructions: all jumps to one place are one arrow, short ones next to the code.
 */

import { answerCell, answerTitleOf, answerTypeOf } from './answers.js';
import { codeWords } from './code_words.js';
import { themeColors } from './colors.js';
import { el } from './dom.js';
import { formatCount, formatShare } from './format.js';

/** @typedef {import('./answers.js').AnswerRow} AnswerRow */

const LISTING_ROW_PX = 18;
const LISTING_ROWS_AROUND = 12;
const LISTING_ARROW_LANES = 8;
const LISTING_ARROW_PX = 7;
const LISTING_ARROWS_MAX = 4096;

/** Columns of numbers beside share and samples; a counter's name is its title. */
const LISTING_KNOWN_KEYS = new Set(['share', 'n_samples', 'weight', 'file', 'line', 'text', 'is_inlined', 'has_code', 'source',
        'address', 'instruction', 'branch', 'target', 'target_address', 'function', 'inlined_into', 'n_bytes']);

/**
 * A title has no `row`.
 * @typedef {{ title: string, row: AnswerRow|null, number: string, text: string|null }} ListingRow  text null: not found
 * @typedef {{ first: number, last: number, target: number, lane: number, jumps: number[] }} ListingArrow  indexes of rows
 */

/**
 * listingArrows() - where the jumps among the rows are drawn
 * @param {ListingRow[]} rows
 * @returns {ListingArrow[]} without arrows that do not fit
 */
export function listingArrows(rows) {
        const places = new Map(rows.map((one, at) => [one.row ? one.row.address : '', at]));
        /** @type {Map<number, ListingArrow>} */
        const arrows = new Map();
        /** @type {ListingArrow[][]} */
        const lanes = [];

        rows.forEach((one, at) => {
                const target = one.row && one.row.branch !== 'call' && one.row.target_address ? places.get(one.row.target_address)
                        : undefined;

                if (target === undefined)
                        return;
                const arrow = arrows.get(target) ?? { first: target, last: target, target, lane: -1, jumps: [] };

                arrow.first = Math.min(arrow.first, at);
                arrow.last = Math.max(arrow.last, at);
                arrow.jumps.push(at);
                arrows.set(target, arrow);
        });
        const sorted = [...arrows.values()].sort((a, b) => (a.last - a.first) - (b.last - b.first) || a.first - b.first)
                .slice(0, LISTING_ARROWS_MAX);

        for (const arrow of sorted) {
                for (let lane = 0; lane < LISTING_ARROW_LANES && arrow.lane < 0; lane++) {
                        const taken = lanes[lane] ?? (lanes[lane] = []);

                        if (taken.every((other) => other.last < arrow.first || other.first > arrow.last)) {
                                taken.push(arrow);
                                arrow.lane = lane;
                        }
                }
        }
        return sorted.filter((arrow) => arrow.lane >= 0);
}

/**
 * Keys of the numbers that at least one row has.
 * @param {AnswerRow[]} rows
 */
function listingCounters(rows) {
        const keys = new Set();

        for (const row of rows)
                for (const [key, value] of Object.entries(row))
                        if (!LISTING_KNOWN_KEYS.has(key) && typeof value === 'number')
                                keys.add(key);
        return /** @type {string[]} */ ([...keys]);
}

export class ListingPane {
        /**
         * @param {object} options
         * @param {string} options.name
         * @param {ListingRow[]} options.rows
         * @param {string} options.numberTitle
         * @param {(row: AnswerRow, at: number) => void} options.onChoose  a click, or arrows
         */
        constructor(options) {
                this.options = options;
                this.rows = options.rows;
                this.counters = listingCounters(options.rows.flatMap((one) => one.row ? [one.row] : []));
                this.arrows = listingArrows(options.rows);
                this.at = 0;
                /** @type {(row: AnswerRow) => boolean} */
                this.isMarked = () => false;
                this.room = el('div', { class: 'listing-room', role: 'presentation' });
                this.canvas = /** @type {HTMLCanvasElement} */ (el('canvas', { class: 'listing-arrows', 'aria-hidden': 'true' }));
                this.element = el('div', { class: 'listing', tabindex: '0', role: 'grid', 'aria-label': options.name,
                                           'aria-rowcount': String(this.rows.length + 1) }, this.head(), this.room);
                this.element.addEventListener('scroll', () => this.draw());
                this.element.addEventListener('keydown', (event) => this.key(event));
                this.room.addEventListener('click', (event) => this.click(event));
                this.watcher = new ResizeObserver(() => this.draw());
                this.watcher.observe(this.element);
                this.settle();
        }

        settle() {
                const widest = this.rows.reduce((most, one) => Math.max(most, (one.text ?? '').length + one.title.length), 0);

                this.room.style.height = `${this.rows.length * LISTING_ROW_PX}px`;
                this.room.style.minWidth = `calc(${Math.min(widest, 400) + 4}ch + ${220 + 84 * this.counters.length + this.margin()}px)`;
        }

        /** Room for the arrows. */
        margin() {
                const lanes = this.arrows.reduce((most, arrow) => Math.max(most, arrow.lane + 1), 0);

                return lanes === 0 ? 0 : lanes * LISTING_ARROW_PX + 12;
        }

        head() {
                const titles = [['listing-share', '%'], ['listing-count', 'samples'],
                        ...this.counters.map((key) => ['listing-counter', answerTitleOf(key)]),
                        ['listing-number', this.options.numberTitle]];

                return el('div', { class: 'listing-head', role: 'row', 'aria-rowindex': '1' }, ...titles.map(([style, title]) =>
                        el('span', { class: style, role: 'columnheader', title }, title)),
                          el('span', { role: 'columnheader', class: 'listing-text' }, this.options.name));
        }

        /** @param {(row: AnswerRow) => boolean} isMarked */
        mark(isMarked) {
                this.isMarked = isMarked;
                this.draw();
        }

        draw() {
                const top = Math.max(0, Math.floor(this.element.scrollTop / LISTING_ROW_PX) - LISTING_ROWS_AROUND);
                const shown = Math.ceil(this.element.clientHeight / LISTING_ROW_PX) + 2 * LISTING_ROWS_AROUND;
                const end = Math.min(this.rows.length, top + shown);
                const rows = [];

                for (let at = top; at < end; at++)
                        rows.push(this.row(at));
                this.room.replaceChildren(...rows, ...(this.arrows.length > 0 ? [this.canvas] : []));
                this.drawArrows(top, end);
        }

        /** @param {number} at */
        row(at) {
                const { row, title, number, text } = this.rows[at];
                const isAt = at === this.at;

                if (!row) {
                        const line = el('div', { class: 'listing-line listing-title', role: 'row', 'aria-rowindex': String(at + 2) },
                                        el('span', { role: 'rowheader' }, title));

                        line.style.top = `${at * LISTING_ROW_PX}px`;
                        return line;
                }
                const heat = row.share > 0 ? Math.min(1, Math.sqrt(row.share)) : 0;
                const bar = el('span', { class: 'listing-bar', 'aria-hidden': 'true' });
                const code = el('span', { class: 'listing-text', role: 'gridcell' }, ...(text === null
                        ? [el('span', { class: 'muted' }, '(text not found)')] : codeWords(text).map((word) =>
                                word.kind === '' ? word.text : el('span', { class: `code-${word.kind}` }, word.text))), this.jump(row));
                const line = el('div', {
                        class: `listing-line${this.isMarked(row) ? ' marked' : ''}${isAt ? ' at' : ''}` +
                               `${row.has_code === false ? ' without-code' : ''}`,
                        role: 'row', 'aria-rowindex': String(at + 2), 'aria-selected': String(this.isMarked(row)), data: { at: String(at) },
                }, bar, el('span', { class: 'listing-share', role: 'gridcell' }, row.share > 0 ? formatShare(row.share) : ''),
                                el('span', { class: 'listing-count', role: 'gridcell' },
                                   row.n_samples > 0 ? formatCount(row.n_samples) : ''),
                                ...this.counters.map((key) => el('span', { class: 'listing-counter', role: 'gridcell' },
                                        row[key] ? answerCell(answerTypeOf(key) === 'text' ? 'count' : answerTypeOf(key), row[key]) : '')),
                                el('span', { class: 'listing-number', role: 'rowheader' }, number), code);

                if (this.margin() > 0)
                        code.style.marginLeft = `${this.margin()}px`;
                line.style.top = `${at * LISTING_ROW_PX}px`;
                bar.style.width = `${Math.round(heat * 108)}px`;
                return line;
        }

        /**
         * A jump as a link to where it goes.
         * @param {AnswerRow} row
         */
        jump(row) {
                if (!row.target_address)
                        return row.target ? el('span', { class: 'muted' }, `  → ${row.target}`) : null;
                const to = this.rows.findIndex((one) => one.row !== null && one.row.address === row.target_address);

                if (to < 0)
                        return el('span', { class: 'muted' }, `  → ${row.target ?? row.target_address}`);
                return el('button', { type: 'button', class: 'link', tabindex: '-1', data: { to: String(to) } },
                          `  → ${row.target ?? row.target_address}`);
        }

        /** @param {number} top @param {number} end */
        drawArrows(top, end) {
                const context = this.canvas.getContext('2d');
                const scale = window.devicePixelRatio || 1;
                const width = this.margin();
                const height = (end - top) * LISTING_ROW_PX;

                if (!context || width === 0)
                        return;
                this.canvas.width = width * scale;
                this.canvas.height = height * scale;
                Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px`, top: `${top * LISTING_ROW_PX}px`,
                                                   left: `${this.leftOfArrows()}px` });
                context.scale(scale, scale);
                const colors = themeColors();

                for (const arrow of this.arrows.filter((one) => one.last >= top && one.first < end)) {
                        const isOn = arrow.target === this.at || arrow.jumps.includes(this.at);

                        context.strokeStyle = context.fillStyle = isOn ? colors.accent : colors.folded;
                        context.lineWidth = isOn ? 2 : 1;
                        this.drawArrow(context, arrow, top, width);
                }
        }

        /** The text's left edge less the margin: after the columns of numbers. */
        leftOfArrows() {
                const text = /** @type {HTMLElement|null} */ (this.room.querySelector('[data-at] .listing-text'));

                return text ? text.offsetLeft - this.margin() : 0;
        }

        /**
         * @param {CanvasRenderingContext2D} context
         * @param {ListingArrow} arrow
         * @param {number} top
         * @param {number} width
         */
        drawArrow(context, arrow, top, width) {
                const x = width - 8 - (arrow.lane + 1) * LISTING_ARROW_PX + 0.5;
                /** @param {number} at */
                const y = (at) => (at - top + 0.5) * LISTING_ROW_PX;

                context.beginPath();
                context.moveTo(x, y(arrow.first));
                context.lineTo(x, y(arrow.last));
                for (const from of arrow.jumps) {
                        context.moveTo(x, y(from));
                        context.lineTo(width - 3, y(from));
                }
                context.moveTo(x, y(arrow.target));
                context.lineTo(width - 5, y(arrow.target));
                context.stroke();
                context.beginPath();
                context.moveTo(width - 1, y(arrow.target));
                context.lineTo(width - 7, y(arrow.target) - 4);
                context.lineTo(width - 7, y(arrow.target) + 4);
                context.fill();
        }

        /** @param {Event} event */
        click(event) {
                const target = event.target instanceof Element ? event.target : null;
                const link = /** @type {HTMLElement|null} */ (target?.closest('[data-to]'));
                const line = /** @type {HTMLElement|null} */ (target?.closest('[data-at]'));

                if (link)
                        this.go(Number(link.dataset.to), true);
                else if (line)
                        this.go(Number(line.dataset.at), false);
        }

        /**
         * Makes a row the current one, and says so.
         * @param {number} at
         * @param {boolean} isFar  it is brought to the middle
         */
        go(at, isFar) {
                const row = this.rows[at]?.row;

                this.at = at;
                if (isFar)
                        this.reveal(at);
                if (row)
                        this.options.onChoose(row, at);
                this.draw();
        }

        /** @param {number} at  scrolled into sight; to the middle if it was out of sight */
        reveal(at) {
                const top = at * LISTING_ROW_PX;
                const height = this.element.clientHeight - 2 * LISTING_ROW_PX;

                if (top < this.element.scrollTop || top > this.element.scrollTop + height)
                        this.element.scrollTop = Math.max(0, top - height / 2);
        }

        /**
         * Makes the first wanted row the current one.
         * @param {(row: AnswerRow) => boolean} isWanted
         */
        show(isWanted) {
                const at = this.rows.findIndex((one) => one.row !== null && isWanted(one.row));

                if (at < 0)
                        return;
                this.at = at;
                this.reveal(at);
                this.draw();
        }

        /** The row with the largest share. */
        showHottest() {
                const most = this.rows.reduce((best, one) => Math.max(best, one.row?.share ?? 0), 0);

                if (most > 0)
                        this.show((row) => row.share === most);
        }

        /** @param {KeyboardEvent} event */
        key(event) {
                const page = Math.max(1, Math.floor(this.element.clientHeight / LISTING_ROW_PX) - 2);
                /** @type {{ [key: string]: number }} */
                const moves = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + page, PageUp: this.at - page,
                                Home: 0, End: this.rows.length - 1 };
                const row = this.rows[this.at]?.row;

                if (event.target !== this.element)
                        return;
                if (event.key === 'Enter' && row?.target_address) {
                        const to = this.rows.findIndex((one) => one.row !== null && one.row.address === row.target_address);

                        if (to >= 0)
                                this.go(to, true);
                } else if (event.key in moves) {
                        this.go(Math.max(0, Math.min(this.rows.length - 1, moves[event.key])), true);
                } else {
                        return;
                }
                event.preventDefault();
                event.stopPropagation();
        }
}
