// SPDX-License-Identifier: MIT
/*
 * flame_graph.js - a call tree as a flame graph: zoom, search, keyboard, differences
 *
 * Way of the data:  flame_layout -> [flame_graph] -> the screens Flame graph, Zones, Functions, Diff
 *
 * The root is at the top.  A box in focus fills the width; those around it stay above.  With `before` in the nodes the
 * color and a sign say what became more (+, red) or less (-, blue).  With `waiting` the color is warm for time on a CPU,
 * blue for waiting and preempted, and between them for both.
 */

import { isDarkPage, nameColorOf, themeColors } from './colors.js';
import { el } from './dom.js';
import { flameLayout, flamePath } from './flame_layout.js';
import { formatShare, isNumber } from './format.js';
import { cutToWidth } from './text_width.js';

/**
 * @typedef {import('./answers.js').CallNode} CallNode
 * @typedef {import('./flame_layout.js').FlameBox} FlameBox
 */

const FLAME_ROW_PX = 20;
const FLAME_NARROWEST_PX = 2;
const FLAME_ROWS_MAX = 400;

/**
 * @typedef {object} FlameGraphOptions
 * @property {string} name
 * @property {CallNode} root
 * @property {(value: number) => string} format     of values
 * @property {string} [search]
 * @property {(node: CallNode) => void} [onOpen]    Enter twice, or a double click
 * @property {string} [openWords]                   what that does
 * @property {string} [otherWords]                  words for the values in `before`; default "before"
 */

/** From orange, on a CPU, to blue, waiting. */
const WALL_COLORS = { light: [[245, 178, 102], [140, 178, 232]], dark: [[138, 79, 24], [43, 79, 133]] };

/** @param {number} waiting the share @param {boolean} isDark */
function wallColors(waiting, isDark) {
        const [warm, cool] = isDark ? WALL_COLORS.dark : WALL_COLORS.light;

        return { fill: `rgb(${warm.map((one, i) => Math.round(one + (cool[i] - one) * waiting)).join(' ')})`,
                 ink: isDark ? '#f2f2f2' : '#111' };
}

export class FlameGraph {
        /** @param {FlameGraphOptions} options */
        constructor(options) {
                this.options = options;
                this.focus = options.root;
                this.at = options.root;
                this.search = (options.search ?? '').toLowerCase();
                /** @type {FlameBox[]} */
                this.boxes = [];
                this.width = 800;
                this.colors = themeColors();
                this.canvas = /** @type {HTMLCanvasElement} */ (el('canvas', { tabindex: '0', role: 'application',
                        'aria-label': `${options.name}: flame graph; arrows move, Enter zooms, Escape zooms out` }));
                this.words = el('p', { class: 'flame-words', role: 'status', 'aria-live': 'polite' });
                this.field = el('input', { type: 'search', placeholder: 'search functions', 'aria-label': 'search functions',
                                           value: options.search ?? '' });
                this.matches = el('span', { class: 'muted', role: 'status' });
                const reset = el('button', { type: 'button' }, 'reset zoom');

                reset.addEventListener('click', () => this.zoom(this.options.root));
                this.field.addEventListener('input', () => {
                        this.search = /** @type {HTMLInputElement} */ (this.field).value.toLowerCase();
                        this.draw();
                });
                this.element = el('div', { class: 'flame' },
                                  el('div', { class: 'data-tools' }, el('h3', {}, options.name), this.field, this.matches, reset,
                                     options.root.before === null ? null
                                             : el('span', { class: 'muted' },
                                                  `+ red: more than ${options.otherWords ?? 'before'}, - blue: less`),
                                     options.root.waiting === undefined ? null
                                             : el('span', { class: 'muted' }, 'orange: on a CPU, blue: waiting or preempted, mixed: both')),
                                  this.words, el('div', { class: 'flame-pane' }, this.canvas));
                this.canvas.addEventListener('pointermove', (event) => this.hover(event));
                this.canvas.addEventListener('click', (event) => this.click(event));
                this.canvas.addEventListener('dblclick', () => this.options.onOpen?.(this.at));
                this.canvas.addEventListener('keydown', (event) => this.key(event));
                this.watcher = new ResizeObserver(() => this.resize());
                this.watcher.observe(this.element);
                this.say(options.root);
        }

        /** @param {string} text */
        setSearch(text) {
                /** @type {HTMLInputElement} */ (this.field).value = text;
                this.search = text.toLowerCase();
                this.draw();
        }

        resize() {
                const width = Math.max(300, this.element.clientWidth - 2);

                if (width !== this.width || this.boxes.length === 0) {
                        this.width = width;
                        this.draw();
                }
        }

        draw() {
                const scale = window.devicePixelRatio || 1;
                const { boxes, n_rows } = flameLayout(this.focus, FLAME_NARROWEST_PX / this.width);
                const rows = Math.min(n_rows, FLAME_ROWS_MAX);

                this.boxes = boxes.filter((box) => box.row < FLAME_ROWS_MAX);
                this.canvas.width = this.width * scale;
                this.canvas.height = rows * FLAME_ROW_PX * scale;
                this.canvas.style.width = `${this.width}px`;
                this.canvas.style.height = `${rows * FLAME_ROW_PX}px`;
                const context = this.canvas.getContext('2d');
                if (!context)
                        return;
                this.colors = themeColors();
                context.scale(scale, scale);
                context.font = '12px system-ui, sans-serif';
                context.textBaseline = 'middle';
                for (const box of this.boxes)
                        this.drawBox(context, box);
                this.sayMatches();
        }

        /** @param {CanvasRenderingContext2D} context @param {FlameBox} box */
        drawBox(context, box) {
                const x = box.x * this.width;
                const y = box.row * FLAME_ROW_PX;
                const width = Math.max(1, box.width * this.width - 1);
                const isMatch = box.node !== null && this.search !== '' && box.node.name.toLowerCase().includes(this.search);
                const { fill, ink } = this.colorsOf(box.node, isMatch);

                context.fillStyle = fill;
                context.globalAlpha = this.search !== '' && !isMatch ? 0.45 : 1;
                context.fillRect(x, y, width, FLAME_ROW_PX - 1);
                if (isMatch || box.node === this.at) {
                        context.strokeStyle = this.colors.text;
                        context.lineWidth = 2;
                        context.strokeRect(x + 1, y + 1, Math.max(0, width - 2), FLAME_ROW_PX - 3);
                }
                if (width > 24) {
                        context.fillStyle = ink;
                        context.save();
                        context.beginPath();
                        context.rect(x, y, width - 3, FLAME_ROW_PX);
                        context.clip();
                        context.fillText(cutToWidth(context, this.labelOf(box), width - 6), x + 4, y + FLAME_ROW_PX / 2);
                        context.restore();
                }
                context.globalAlpha = 1;
        }

        /** @param {FlameBox} box */
        labelOf(box) {
                if (!box.node)
                        return `${box.count} narrow`;
                return this.signOf(box.node) + box.node.name + this.ratioOf(box.node);
        }

        /**
         * The share of the root by which a node grew; null without a comparison.
         * @param {CallNode} node
         */
        growthOf(node) {
                const all = Math.max(this.options.root.value, this.options.root.before ?? 0);

                return node.before === null || all <= 0 ? null : (node.value - node.before) / all;
        }

        /**
         * Instructions per cycle, where the tree has them: in words, since color alone says nothing.
         * @param {CallNode} node
         */
        ratioOf(node) {
                return isNumber(node.row.ratio) ? ` · ${node.row.ratio.toFixed(2)}` : '';
        }

        /** @param {CallNode} node */
        signOf(node) {
                const growth = this.growthOf(node);

                return growth === null || Math.abs(growth) < 0.001 ? '' : growth > 0 ? '+ ' : '- ';
        }

        /** @param {CallNode|null} node @param {boolean} isMatch */
        colorsOf(node, isMatch) {
                if (!node)
                        return { fill: this.colors.folded, ink: this.colors.text };
                if (isMatch)
                        return { fill: this.colors.accent, ink: this.colors['on-accent'] };
                const growth = this.growthOf(node);

                if (node.waiting !== undefined)
                        return wallColors(node.value > 0 ? node.waiting / node.value : 0, isDarkPage());

                const isDark = isDarkPage();
                const ink = isDark ? '#f4f4f4' : '#111';

                if (isNumber(node.row.ratio))
                        return { fill: `hsl(${Math.round(5 + 70 * Math.min(3, node.row.ratio))} ${isDark ? '55% 28%' : '65% 78%'})`, ink };
                if (growth === null)
                        return this.colorOf(node.module || node.name);
                const strength = Math.min(1, Math.abs(growth) * 4);
                const hue = growth > 0 ? 5 : 215;

                const lightness = Math.round(isDark ? 20 + 20 * strength : 90 - 25 * strength);

                return { fill: `hsl(${hue} ${Math.round(20 + 60 * strength)}% ${lightness}%)`, ink };
        }

        /** @param {string} name */
        colorOf(name) {
                const color = nameColorOf(name, isDarkPage());

                return { fill: color.fill, ink: color.text };
        }

        /** @param {CallNode} node */
        describe(node) {
                const { format, root } = this.options;
                const share = root.value > 0 ? node.value / root.value : 0;
                const parts = [`${format(node.value)} (${formatShare(share)})`, `self ${format(node.self)}`];

                if (node.before !== null)
                        parts.push(`${this.options.otherWords ?? 'before'} ${format(node.before)}`);
                if (isNumber(node.row.ratio))
                        parts.push(`${node.row.ratio.toFixed(2)} instructions per cycle`);
                if (node.waiting !== undefined && node.waiting > 0)
                        parts.push(`${formatShare(node.value > 0 ? node.waiting / node.value : 0)} of it not running`);
                if (node.module)
                        parts.push(node.module);
                return `${this.signOf(node)}${node.name}: ${parts.join(', ')}`;
        }

        /** @param {CallNode} node */
        say(node) {
                this.words.textContent = this.describe(node);
        }

        sayMatches() {
                if (this.search === '') {
                        this.matches.textContent = '';
                        return;
                }
                let value = 0;
                const left = [this.options.root];

                /* A match inside another match is already counted with it. */
                for (let node = left.pop(); node; node = left.pop()) {
                        if (node.name.toLowerCase().includes(this.search))
                                value += node.value;
                        else
                                left.push(...node.children);
                }
                this.matches.textContent = `matched ${formatShare(this.options.root.value > 0 ? value / this.options.root.value : 0)}`;
        }

        /** @param {MouseEvent} event */
        boxAt(event) {
                const area = this.canvas.getBoundingClientRect();
                const x = (event.clientX - area.left) / area.width;
                const row = Math.floor((event.clientY - area.top) / area.height * this.canvas.height /
                                       (FLAME_ROW_PX * (window.devicePixelRatio || 1)));

                return this.boxes.find((box) => box.row === row && x >= box.x && x < box.x + box.width);
        }

        /** @param {PointerEvent} event */
        hover(event) {
                const box = this.boxAt(event);

                if (box?.node)
                        this.say(box.node);
                else if (box)
                        this.words.textContent = `${box.count} functions too narrow to draw: zoom in`;
                this.canvas.title = box?.node ? this.describe(box.node) : '';
        }

        /** @param {MouseEvent} event */
        click(event) {
                const box = this.boxAt(event);

                if (!box?.node)
                        return;
                this.at = box.node;
                this.zoom(box.node);
        }

        /** @param {CallNode} node */
        zoom(node) {
                this.focus = node;
                this.at = node;
                this.say(node);
                this.draw();
        }

        /** @param {KeyboardEvent} event */
        key(event) {
                const { at } = this;
                const shown = (/** @type {CallNode} */ node) =>
                        [...node.children].sort((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1));
                const beside = at.parent ? shown(at.parent) : [at];
                /** @type {{ [key: string]: CallNode|null|undefined }} */
                const moves = { ArrowDown: shown(at)[0], ArrowUp: at.parent, ArrowRight: beside[beside.indexOf(at) + 1],
                                ArrowLeft: beside[beside.indexOf(at) - 1], Home: this.options.root };

                if (event.key === 'Enter' && at === this.focus && this.options.onOpen)
                        this.options.onOpen(at);
                else if (event.key === 'Enter')
                        this.zoom(at);
                else if (event.key === 'Escape' && this.focus !== this.options.root)
                        this.zoom(this.focus.parent ?? this.options.root);
                else if (event.key in moves)
                        this.move(moves[event.key] ?? null);
                else
                        return;
                event.preventDefault();
                event.stopPropagation();
        }

        /** @param {CallNode|null} node */
        move(node) {
                if (!node)
                        return;
                this.at = node;
                if (!flamePath(node).includes(this.focus) && !flamePath(this.focus).includes(node))
                        this.focus = node.parent ?? this.options.root;
                this.say(node);
                this.draw();
        }

        stop() {
                this.watcher.disconnect();
        }
}
