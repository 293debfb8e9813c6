// SPDX-License-Identifier: MIT
/*
 * histogram_chart.js - how long the instances of a zone lasted, with a part of them selected
 *
 * Way of the data:  answers: rows from_ns, to_ns, count, total_ns -> [histogram_chart] -> the screen Zones
 *
 * One axis has durations; the other has the number of instances, or the time that they took together.
 * Each is linear or logarithmic.  A second histogram can be laid over the first; both are then in shares of their own
 * instances, or of their own time, unless numbers are asked for.
 */

import { themeColors } from './colors.js';
import { el } from './dom.js';
import { formatCount, formatDuration, formatShare, parseDuration, roundStep } from './format.js';

/** Before the chart is on the page, and the most. */
const [HISTOGRAM_WIDTH, HISTOGRAM_WIDTH_MAX] = [760, 1800];
const HISTOGRAM_HEIGHT = 180;
const HISTOGRAM_FOOT = 22;
const HISTOGRAM_LEFT = 62;

/** @typedef {{ from_ns: number, to_ns: number, count: number, total_ns?: number }} HistogramBin */
/** @typedef {{ from: number, to: number }} HistogramRange */

/**
 * histogramPlaces() - bins as boxes in the unit square
 * @param {HistogramBin[]} bins
 * @param {{ isLogX: boolean, isLogY: boolean, isTime: boolean, isShare: boolean, from: number, to: number, most: number }} axes
 */
function histogramPlaces(bins, axes) {
        /** @param {number} ns */
        const x = (ns) => histogramX(ns, axes);
        /** @param {number} value */
        const y = (value) => value <= 0 ? 0 : axes.isLogY ? Math.log(1 + value * scale) / Math.log(1 + axes.most * scale)
                : value / axes.most;
        const values = histogramValues(bins, axes);
        /* A logarithm needs whole instances: the least share counts as one. */
        const scale = axes.isShare ? 1 / Math.min(...values.filter((value) => value > 0), axes.most) : 1;

        return bins.map((bin, i) => {
                const value = values[i];

                return { bin, x: x(bin.from_ns), width: x(bin.to_ns) - x(bin.from_ns), height: y(value), value };
        });
}

/**
 * How tall the bins are: instances or time, as numbers or as shares of all in these bins.
 * @param {HistogramBin[]} bins
 * @param {{ isTime: boolean, isShare: boolean }} axes
 */
function histogramValues(bins, { isTime, isShare }) {
        const values = bins.map((bin) => isTime ? histogramTime(bin) : bin.count);
        const all = isShare ? values.reduce((sum, value) => sum + value, 0) : 1;

        return all > 0 ? values.map((value) => value / all) : values;
}

/** @param {HistogramBin} bin */
function histogramTime(bin) {
        return bin.total_ns ?? bin.count * (bin.from_ns + bin.to_ns) / 2;
}

/** @param {number} ns @param {{ isLogX: boolean, from: number, to: number }} axes */
function histogramX(ns, axes) {
        const at = Math.max(axes.from, Math.min(axes.to, ns));

        if (axes.to <= axes.from)
                return 0;
        if (!axes.isLogX)
                return (at - axes.from) / (axes.to - axes.from);
        return Math.log(Math.max(1, at) / Math.max(1, axes.from)) / Math.log(axes.to / Math.max(1, axes.from));
}

/**
 * The duration at a place of the axis: the reverse of histogramX().
 * @param {number} x
 */
function histogramDuration(x, /** @type {{ isLogX: boolean, from: number, to: number }} */ axes) {
        if (!axes.isLogX)
                return axes.from + x * (axes.to - axes.from);
        const from = Math.max(1, axes.from);

        return from * Math.pow(axes.to / from, x);
}

/**
 * histogramTicks() - round durations for the axis: 1, 2 and 5 times powers of ten, or steps of equal length
 * @param {{ isLogX: boolean, from: number, to: number }} axes
 * @returns {number[]} at most twelve
 */
function histogramTicks(axes) {
        const ticks = [];

        if (!axes.isLogX) {
                const step = roundStep(Math.max(1, (axes.to - axes.from) / 8));

                for (let at = Math.ceil(axes.from / step) * step; at <= axes.to; at += step)
                        ticks.push(at);
                return ticks;
        }
        const decades = Math.log10(axes.to / Math.max(1, axes.from));
        const factors = decades > 5 ? [1] : decades > 2.5 ? [1, 3] : [1, 2, 5];

        for (let power = Math.pow(10, Math.floor(Math.log10(Math.max(1, axes.from)))); power <= axes.to; power *= 10)
                ticks.push(...factors.map((factor) => factor * power).filter((ns) => ns >= axes.from && ns <= axes.to));
        return ticks;
}

export class HistogramChart {
        /**
         * @param {object} options
         * @param {HistogramBin[]} options.bins
         * @param {HistogramBin[]} [options.over]     of another run, laid over
         * @param {string} options.name
         * @param {HistogramRange|null} [options.selected]
         * @param {(range: HistogramRange|null) => void} [options.onSelect]
         * @param {number} [options.limit]           what is longer is late: ns
         * @param {number} [options.width]           CSS pixels
         * @param {boolean} [options.isPicture]      only a picture, without controls
         */
        constructor(options) {
                this.options = options;
                this.width = options.width ?? HISTOGRAM_WIDTH;
                this.isLogX = true;
                this.isLogY = false;
                this.isTime = false;
                this.isShare = options.over !== undefined;
                this.selected = options.selected ?? null;
                this.canvas = /** @type {HTMLCanvasElement} */ (el('canvas', { tabindex: '0', role: 'img' }));
                this.canvas.style.maxWidth = `${options.width ?? HISTOGRAM_WIDTH_MAX}px`;
                this.canvas.style.height = `${HISTOGRAM_HEIGHT}px`;
                this.words = el('p', { class: 'muted', role: 'status' });
                this.element = el('div', { class: 'histogram' }, options.isPicture ? null : this.tools(), this.canvas,
                                  this.words);
                this.canvas.addEventListener('pointermove', (event) => this.hover(event));
                if (!options.isPicture) {
                        this.canvas.addEventListener('pointerdown', (event) => this.drag(event));
                        this.canvas.addEventListener('keydown', (event) => this.key(event));
                }
                this.draw();
                new ResizeObserver(() => this.draw()).observe(this.element);
        }

        tools() {
                /** @param {string} words @param {() => void} act */
                const toggle = (words, act) => {
                        const box = el('input', { type: 'checkbox' });

                        box.addEventListener('change', () => {
                                act();
                                this.draw();
                        });
                        return el('label', {}, box, ` ${words}`);
                };
                const logX = toggle('logarithmic durations', () => { this.isLogX = !this.isLogX; });

                const share = this.options.over ? toggle('shares', () => { this.isShare = !this.isShare; }) : null;

                for (const label of [logX, share])
                        if (label)
                                /** @type {HTMLInputElement} */ (label.firstChild).checked = true;
                const clear = el('button', { type: 'button' }, 'clear selection');
                clear.addEventListener('click', () => this.select(null));
                this.from = el('input', { type: 'text', size: '9', 'aria-label': 'select from this duration',
                                          placeholder: 'from, as 1ms' });
                this.to = el('input', { type: 'text', size: '9', 'aria-label': 'select to this duration', placeholder: 'to, as 2ms' });
                for (const input of [this.from, this.to])
                        input.addEventListener('change', () => this.selectTyped());
                return el('div', { class: 'data-tools' }, logX,
                          toggle('logarithmic height', () => { this.isLogY = !this.isLogY; }),
                          toggle('time instead of count', () => { this.isTime = !this.isTime; }), share, this.from, this.to, clear);
        }

        axes() {
                const all = [...this.options.bins, ...(this.options.over ?? [])];
                const values = [this.options.bins, this.options.over ?? []].flatMap((bins) => histogramValues(bins, this));

                return { isLogX: this.isLogX, isLogY: this.isLogY, isTime: this.isTime, isShare: this.isShare,
                         from: Math.min(...all.map((bin) => bin.from_ns), Infinity),
                         to: Math.max(...all.map((bin) => bin.to_ns), 1), most: Math.max(...values, 1e-9) };
        }

        draw() {
                const scale = window.devicePixelRatio || 1;
                const axes = this.axes();

                this.width = this.canvas.clientWidth || this.options.width || HISTOGRAM_WIDTH;
                this.canvas.width = this.width * scale;
                this.canvas.height = HISTOGRAM_HEIGHT * scale;
                const context = this.canvas.getContext('2d');
                if (!context || this.options.bins.length === 0)
                        return;
                const colors = themeColors();

                context.scale(scale, scale);
                this.drawSelection(context, axes);
                this.drawBins(context, this.options.bins, axes, colors.accent);
                if (this.options.over)
                        this.drawOutline(context, this.options.over, axes, colors.text);
                this.drawLimit(context, axes);
                this.drawAxes(context, axes);
                this.canvas.setAttribute('aria-label', `${this.options.name}: ${this.options.bins.length} bins from ` +
                        `${formatDuration(axes.from)} to ${formatDuration(axes.to)}; arrows select`);
        }

        /** @param {CanvasRenderingContext2D} context @param {ReturnType<HistogramChart['axes']>} axes */
        drawSelection(context, axes) {
                if (!this.selected)
                        return;
                const from = this.pixel(histogramX(this.selected.from, axes));
                const to = this.pixel(histogramX(this.selected.to, axes));

                context.fillStyle = themeColors().selection;
                context.fillRect(from, 0, Math.max(1, to - from), HISTOGRAM_HEIGHT - HISTOGRAM_FOOT);
        }

        /** @param {CanvasRenderingContext2D} context @param {ReturnType<HistogramChart['axes']>} axes */
        drawLimit(context, axes) {
                const { limit } = this.options;

                if (limit === undefined || limit < axes.from || limit > axes.to)
                        return;
                const x = this.pixel(histogramX(limit, axes));
                const isRight = x > this.width - 130;

                context.fillStyle = themeColors().late;
                context.fillRect(x - 1, 0, 2, HISTOGRAM_HEIGHT - HISTOGRAM_FOOT);
                context.font = '11px system-ui, sans-serif';
                context.textAlign = isRight ? 'right' : 'left';
                context.fillText(`late above ${formatDuration(limit)}`, x + (isRight ? -5 : 5), 12);
                context.textAlign = 'left';
        }

        /** @param {number} x */
        pixel(x) {
                return HISTOGRAM_LEFT + x * (this.width - HISTOGRAM_LEFT - 4);
        }

        /**
         * @param {CanvasRenderingContext2D} context
         * @param {HistogramBin[]} bins
         * @param {ReturnType<HistogramChart['axes']>} axes
         * @param {string} color
         */
        drawBins(context, bins, axes, color) {
                const height = HISTOGRAM_HEIGHT - HISTOGRAM_FOOT - 4;

                context.fillStyle = color;
                for (const place of histogramPlaces(bins, axes)) {
                        const x = this.pixel(place.x);
                        const width = Math.max(1, this.pixel(place.x + place.width) - x - 1);
                        const tall = Math.max(place.value > 0 ? 1 : 0, place.height * height);

                        context.fillRect(x, height + 4 - tall, width, tall);
                }
        }

        /**
         * One line over all bins, so that narrow ones do not hide what is below.
         * @param {CanvasRenderingContext2D} context
         * @param {HistogramBin[]} bins
         * @param {ReturnType<HistogramChart['axes']>} axes
         * @param {string} color
         */
        drawOutline(context, bins, axes, color) {
                const foot = HISTOGRAM_HEIGHT - HISTOGRAM_FOOT;
                let end = this.pixel(0);

                context.strokeStyle = color;
                context.lineWidth = 1.25;
                context.beginPath();
                context.moveTo(end, foot);
                for (const place of histogramPlaces(bins, axes)) {
                        const x = this.pixel(place.x);
                        const y = foot - place.height * (foot - 4);

                        if (x > end + 0.5) {
                                context.lineTo(end, foot);
                                context.lineTo(x, foot);
                        }
                        end = this.pixel(place.x + place.width);
                        context.lineTo(x, y);
                        context.lineTo(end, y);
                }
                context.lineTo(end, foot);
                context.stroke();
        }

        /** @param {CanvasRenderingContext2D} context @param {ReturnType<HistogramChart['axes']>} axes */
        drawAxes(context, axes) {
                const foot = HISTOGRAM_HEIGHT - HISTOGRAM_FOOT;

                context.fillStyle = context.strokeStyle = themeColors().text;
                context.font = '11px system-ui, sans-serif';
                context.lineWidth = 1;
                context.beginPath();
                context.moveTo(HISTOGRAM_LEFT, 0);
                context.lineTo(HISTOGRAM_LEFT, foot);
                context.lineTo(this.width, foot);
                context.stroke();
                context.textAlign = 'center';
                let free = 0;

                for (const ns of histogramTicks(axes)) {
                        const x = this.pixel(histogramX(ns, axes));

                        context.fillRect(x, foot, 1, 4);
                        if (x < free)
                                continue;
                        context.fillText(formatDuration(ns), Math.min(x, this.width - 24), foot + 16);
                        free = x + 54;
                }
                context.textAlign = 'right';
                context.fillText(this.isShare ? formatShare(axes.most) : this.isTime ? formatDuration(axes.most) : formatCount(axes.most),
                                 HISTOGRAM_LEFT - 5, 12);
                context.fillText('0', HISTOGRAM_LEFT - 5, foot);
        }

        /** @param {PointerEvent} event */
        durationAt(event) {
                const box = this.canvas.getBoundingClientRect();
                const x = (event.clientX - box.left) * this.width / box.width;
                const share = (x - HISTOGRAM_LEFT) / (this.width - HISTOGRAM_LEFT - 4);

                return histogramDuration(Math.max(0, Math.min(1, share)), this.axes());
        }

        /** @param {PointerEvent} event */
        drag(event) {
                const start = this.durationAt(event);
                /** @param {PointerEvent} move */
                const follow = (move) => {
                        const at = this.durationAt(move);

                        this.selected = { from: Math.floor(Math.min(start, at)), to: Math.ceil(Math.max(start, at)) };
                        this.draw();
                };
                const done = (/** @type {PointerEvent} */ up) => {
                        const isClick = Math.abs(up.clientX - event.clientX) < 3;

                        this.canvas.removeEventListener('pointermove', follow);
                        this.select(isClick ? this.binAt(start) : this.selected);
                };

                this.canvas.setPointerCapture(event.pointerId);
                this.canvas.addEventListener('pointermove', follow);
                this.canvas.addEventListener('pointerup', done, { once: true });
        }

        /** @param {number} ns @returns {HistogramRange|null} */
        binAt(ns) {
                const bin = this.options.bins.find((b) => ns >= b.from_ns && ns < b.to_ns);

                return bin ? { from: bin.from_ns, to: bin.to_ns } : null;
        }

        /** @param {PointerEvent} event */
        hover(event) {
                const ns = this.durationAt(event);
                /** @param {HistogramBin[]} bins */
                const at = (bins) => bins.find((b) => ns >= b.from_ns && ns < b.to_ns);
                /** @param {HistogramBin|undefined} bin */
                const numbers = (bin) => `${formatCount(bin?.count ?? 0)} instances, ` +
                        `${formatDuration(bin ? histogramTime(bin) : 0)} in all`;
                const { over } = this.options;
                const bin = at(this.options.bins) ?? at(over ?? []);

                if (bin)
                        this.words.textContent = `${formatDuration(bin.from_ns)} to ${formatDuration(bin.to_ns)}: ` +
                                (over ? `before ${numbers(at(over))}; after ${numbers(at(this.options.bins))}` : numbers(bin));
        }

        /** @param {KeyboardEvent} event */
        key(event) {
                const { bins } = this.options;
                const at = this.selected ? bins.findIndex((b) => b.from_ns >= (this.selected?.from ?? 0)) : -1;
                const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;

                if (event.key === 'Escape' && this.selected) {
                        this.select(null);
                } else if (step !== 0 && bins.length > 0) {
                        const bin = bins[Math.max(0, Math.min(bins.length - 1, at + step))];
                        const isWider = event.shiftKey && this.selected;

                        this.select({ from: isWider ? Math.min(this.selected?.from ?? 0, bin.from_ns) : bin.from_ns,
                                      to: isWider ? Math.max(this.selected?.to ?? 0, bin.to_ns) : bin.to_ns });
                } else {
                        return;
                }
                event.preventDefault();
                event.stopPropagation();
        }

        selectTyped() {
                const from = parseDuration(/** @type {HTMLInputElement} */ (this.from).value);
                const to = parseDuration(/** @type {HTMLInputElement} */ (this.to).value);
                const axes = this.axes();

                if (from === null && to === null)
                        this.select(null);
                else
                        this.select({ from: from ?? 0, to: to ?? axes.to });
        }

        /** @param {HistogramRange|null} range */
        select(range) {
                this.selected = range;
                this.draw();
                this.options.onSelect?.(range);
        }
}
