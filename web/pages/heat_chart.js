// SPDX-License-Identifier: MIT
/*
 * heat_chart.js - when within each second there were samples, or long zones began, as a grid of colored cells
 *
 * Way of the data:  screen_heat -> [heat_chart] -> canvas; the cells that a person chooses -> screen_heat
 *
 * Cells are in the order of time: down a column, then the next column.  A choice is therefore a range of time.
 */

import { isDarkPage, themeColors } from './colors.js';
import { el } from './dom.js';
import { formatDuration, formatTime } from './format.js';

/**
 * @typedef {{ begin_ns: number, row_ns: number, nRows: number, nColumns: number, values: Float64Array }} HeatGrid
 *     `values`: column by column; 0 = nothing
 * @typedef {{ name: string, grid: HeatGrid, format: (value: number) => string, chosen: [number, number] | null,
 *     onChoose: (first: number, last: number) => void, onOpen: () => void }} HeatChartOptions  cells from 0
 */

/** Cells grow with the window; the rest of the screen, with what follows, has SCREEN_REST_PX. */
const [CELL_HEIGHT_LEAST_PX, CELL_HEIGHT_MAX_PX] = [7, 16];
const SCREEN_REST_PX = 260;
const CELL_WIDTH_MAX_PX = 96;
const AXIS_LEFT_PX = 64;
const AXIS_FOOT_PX = 22;

/** From little to much; dark pages begin dark. */
const LIGHT_STOPS = [[255, 246, 214], [254, 204, 92], [240, 100, 40], [150, 0, 38]];
const DARK_STOPS = [[44, 28, 46], [130, 32, 66], [232, 110, 40], [255, 240, 170]];

/**
 * @param {number} share  0 to 1
 * @param {boolean} isDark
 */
export function heatColor(share, isDark) {
        const stops = isDark ? DARK_STOPS : LIGHT_STOPS;
        const at = Math.min(share, 1) * (stops.length - 1);
        const i = Math.min(Math.floor(at), stops.length - 2);
        const rgb = stops[i].map((value, part) => Math.round(value + (stops[i + 1][part] - value) * (at - i)));

        return `rgb(${rgb.join()})`;
}

export class HeatChart {
        /** @param {HeatChartOptions} options */
        constructor(options) {
                this.options = options;
                const { grid } = options;
                this.most = grid.values.reduce((most, value) => Math.max(most, value), 0);
                /** Where the keyboard is, and where a choice began. */
                this.cursor = options.chosen ? options.chosen[1] : 0;
                this.anchor = options.chosen ? options.chosen[0] : 0;
                this.isDragging = false;
                this.canvas = /** @type {HTMLCanvasElement} */ (el('canvas', { class: 'heat-canvas', tabindex: '0', role: 'img' }));
                this.words = el('p', { class: 'heat-words muted', role: 'status' }, 'A drag, or Shift and the arrows, chooses cells.');
                this.element = el('div', { class: 'heat' }, this.canvas, this.legend(), this.words);
                this.canvas.addEventListener('pointerdown', (event) => this.press(event));
                this.canvas.addEventListener('pointermove', (event) => this.move(event));
                this.canvas.addEventListener('pointerup', () => this.release());
                this.canvas.addEventListener('keydown', (event) => this.onKey(event));
                /** A cell is that high on the canvas, also if the window has another height since. */
                this.height = CELL_HEIGHT_LEAST_PX;
                new ResizeObserver(() => this.draw()).observe(this.element);
        }

        legend() {
                const bar = el('span', { class: 'heat-legend-bar' });

                bar.style.background = `linear-gradient(to right, ${[0, 1 / 3, 2 / 3, 1].map((share) =>
                        heatColor(share, isDarkPage())).join()})`;
                return el('div', { class: 'heat-legend muted' }, bar, ` up to ${this.options.format(this.most)}`);
        }

        cellHeight() {
                const { nRows } = this.options.grid;

                return Math.max(CELL_HEIGHT_LEAST_PX, Math.min(CELL_HEIGHT_MAX_PX, Math.floor((innerHeight - SCREEN_REST_PX) / nRows)));
        }

        cellWidth() {
                const { nColumns } = this.options.grid;

                return Math.max(1, Math.min(CELL_WIDTH_MAX_PX, Math.floor((this.element.clientWidth - AXIS_LEFT_PX) / nColumns)));
        }

        /**
         * When a cell begins.
         * @param {number} cell
         */
        timeOf(cell) {
                const { begin_ns, row_ns } = this.options.grid;

                return begin_ns + cell * row_ns;
        }

        /** @param {number} cell */
        wordsOf(cell) {
                const value = this.options.grid.values[cell];

                return `${formatTime(this.timeOf(cell), this.options.grid.row_ns)}, for ${formatDuration(this.options.grid.row_ns)}: ` +
                        (value === 0 ? 'nothing' : this.options.format(value));
        }

        draw() {
                const { grid, name, chosen } = this.options;
                const width = this.cellWidth(), ratio = devicePixelRatio || 1;

                this.height = this.cellHeight();
                const widthPx = AXIS_LEFT_PX + width * grid.nColumns + 1, heightPx = this.height * grid.nRows + AXIS_FOOT_PX;
                const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d'));
                const colors = themeColors(), isDark = isDarkPage();

                this.canvas.width = Math.round(widthPx * ratio);
                this.canvas.height = Math.round(heightPx * ratio);
                this.canvas.style.width = `${widthPx}px`;
                this.canvas.style.height = `${heightPx}px`;
                this.canvas.setAttribute('aria-label', `${name}; at the cursor: ${this.wordsOf(this.cursor)}`);
                context.setTransform(ratio, 0, 0, ratio, 0, 0);
                context.fillStyle = colors.surface;
                context.fillRect(AXIS_LEFT_PX, 0, width * grid.nColumns, this.height * grid.nRows);
                for (let cell = 0; cell < grid.values.length; cell++) {
                        if (grid.values[cell] === 0)
                                continue;
                        context.fillStyle = heatColor(grid.values[cell] / this.most, isDark);
                        this.fillCell(context, cell, width);
                }
                if (chosen)
                        this.drawChoice(context, chosen, width, colors.selection);
                if (document.activeElement === this.canvas)
                        this.drawChoice(context, [this.cursor, this.cursor], width, colors.text);
                this.drawAxes(context, width, colors.muted);
        }

        /** @param {CanvasRenderingContext2D} context @param {number} cell @param {number} width */
        fillCell(context, cell, width) {
                const { nRows } = this.options.grid;

                context.fillRect(AXIS_LEFT_PX + Math.floor(cell / nRows) * width, (cell % nRows) * this.height,
                                 Math.max(1, width - (width > 3 ? 1 : 0)), this.height - 1);
        }

        /** @param {CanvasRenderingContext2D} context @param {[number, number]} chosen @param {number} width @param {string} color */
        drawChoice(context, chosen, width, color) {
                const [first, last] = [Math.min(...chosen), Math.max(...chosen)];

                context.fillStyle = color;
                for (let cell = first; cell <= last; cell++)
                        this.fillCell(context, cell, width);
        }

        /** @param {CanvasRenderingContext2D} context @param {number} width @param {string} color */
        drawAxes(context, width, color) {
                const { grid } = this.options;
                const everyColumns = Math.max(1, Math.ceil(70 / width));

                context.fillStyle = color;
                context.font = '11px system-ui, sans-serif';
                context.textBaseline = 'top';
                for (let row = 0; row < grid.nRows; row += 10)
                        context.fillText(`+${formatDuration(row * grid.row_ns)}`, 2, row * this.height);
                for (let column = 0; column < grid.nColumns; column += everyColumns)
                        context.fillText(formatTime(this.timeOf(column * grid.nRows), grid.row_ns * grid.nRows),
                                         AXIS_LEFT_PX + column * width, this.height * grid.nRows + 5);
        }

        /** @param {PointerEvent} event  -1 = none */
        cellAt(event) {
                const box = this.canvas.getBoundingClientRect();
                const { nRows, nColumns } = this.options.grid;
                const column = Math.floor((event.clientX - box.left - AXIS_LEFT_PX) / this.cellWidth());
                const row = Math.floor((event.clientY - box.top) / this.height);

                return column >= 0 && column < nColumns && row >= 0 && row < nRows ? column * nRows + row : -1;
        }

        /** @param {PointerEvent} event */
        press(event) {
                const cell = this.cellAt(event);

                if (cell < 0 || event.button !== 0)
                        return;
                this.canvas.setPointerCapture(event.pointerId);
                this.isDragging = true;
                this.cursor = cell;
                this.anchor = event.shiftKey && this.options.chosen ? this.options.chosen[0] : cell;
                this.choose();
        }

        /** @param {PointerEvent} event */
        move(event) {
                const cell = this.cellAt(event);

                if (cell < 0)
                        return;
                this.words.textContent = this.wordsOf(cell);
                if (this.isDragging && cell !== this.cursor) {
                        this.cursor = cell;
                        this.choose();
                }
        }

        choose() {
                this.options.chosen = [Math.min(this.anchor, this.cursor), Math.max(this.anchor, this.cursor)];
                this.draw();
        }

        release() {
                if (!this.isDragging || !this.options.chosen)
                        return;
                this.isDragging = false;
                this.options.onChoose(...this.options.chosen);
        }

        /** @param {KeyboardEvent} event */
        onKey(event) {
                const { nRows, values } = this.options.grid;
                const step = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -nRows, ArrowRight: nRows }[event.key];

                if (event.key === 'Enter') {
                        this.options.onOpen();
                } else if (step !== undefined) {
                        this.cursor = Math.max(0, Math.min(values.length - 1, this.cursor + step));
                        if (!event.shiftKey)
                                this.anchor = this.cursor;
                        this.words.textContent = this.wordsOf(this.cursor);
                        this.choose();
                        this.options.onChoose(.../** @type {[number, number]} */ (this.options.chosen));
                } else {
                        return;
                }
                event.preventDefault();
                event.stopPropagation();
        }
}
