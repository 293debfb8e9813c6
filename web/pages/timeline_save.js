// SPDX-License-Identifier: MIT
/*
 * timeline_save.js - the timeline as a file: a picture of the view, or the trace and the viewer as one page
 *
 * Way of the data:  TimelineScreen -> [timeline_save] -> a canvas, svg_pen, source.page() -> a file of the user
 *
 * The picture has what is in sight: the names of the rows, the axis and the lanes, below a line that says what it is of.
 */

import { showMenu } from './context_menu.js';
import { button, saveFile } from './dom.js';
import { formatDuration, formatTime } from './format.js';
import { SvgPen } from './svg_pen.js';
import { AXIS_PX, paintLabel } from './timeline_paint.js';
import { rowsBetween } from './timeline_rows.js';

/**
 * @typedef {import('./screen_timeline.js').TimelineScreen} TimelineScreen
 * @typedef {import('./timeline_paint.js').TimelineFrame} TimelineFrame
 * @typedef {import('./timeline_rows.js').TimelineRow} TimelineRow
 */

const HEAD_PX = 24;
/** Pixels of the PNG for each of the page. */
const PNG_SCALE = 2;

export class TimelineSave {
        /** @param {TimelineScreen} timeline */
        constructor(timeline) {
                this.timeline = timeline;
                this.button = button('Save', (event) => this.choose(/** @type {MouseEvent} */ (event)), {
                        title: 'a picture of the view, or all as one file', 'aria-haspopup': 'menu' });
        }

        /** @param {MouseEvent} event */
        choose(event) {
                const { viewer } = this.timeline;
                const box = this.button.getBoundingClientRect();

                showMenu(event.clientX || box.left, event.clientY || box.bottom, this.button, [
                        { words: 'this view as a picture (PNG)', run: () => this.savePng() },
                        { words: 'this view as a drawing (SVG)', run: () => this.saveSvg() },
                        { words: 'the trace and this viewer as one file (HTML)', isOff: viewer.model.isLive,
                          run: () => this.savePage() }]);
        }

        /** @param {string} ending */
        fileName(ending) {
                const title = (this.timeline.viewer.model.title || 'trace').replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '');

                return `${title.slice(0, 60) || 'trace'}.${ending}`;
        }

        /** The first line of the picture. */
        title() {
                const { from, to, viewer } = this.timeline;
                const [first, last] = [Math.max(0, from), Math.min(viewer.model.duration_ns, to)];

                return `${viewer.model.title || 'a recording'}: ${formatTime(first, (last - first) / 1000)} to ` +
                        `${formatTime(last, (last - first) / 1000)} (${formatDuration(Math.max(0, last - first))})`;
        }

        /** The size of the picture, in pixels of the page; as high as its rows if these are lower than the view. */
        size() {
                const { canvas, labels, layout, scroll } = this.timeline;
                const rows = layout.height - scroll.scrollTop + AXIS_PX;

                return { left: labels.element.clientWidth, width: labels.element.clientWidth + canvas.clientWidth,
                         height: HEAD_PX + Math.max(AXIS_PX + 20, Math.min(canvas.clientHeight, rows)) };
        }

        /**
         * @param {CanvasRenderingContext2D} context
         * @returns {boolean} whether there was something to draw
         */
        paint(context) {
                const { timeline } = this;
                const frame = timeline.frame();
                const { left, width, height } = this.size();

                if (!frame)
                        return false;
                const rows = rowsBetween(timeline.layout.rows, frame.top, frame.height);
                const { colors } = frame;

                context.fillStyle = colors.background;
                context.fillRect(0, 0, width, height);
                context.fillStyle = colors.text;
                context.font = `600 12px ${colors.sans || 'sans-serif'}`;
                context.textBaseline = 'middle';
                paintLabel(context, this.title(), 4, width, 0, HEAD_PX);
                for (const [x, room, paint] of /** @type {[number, number, () => void][]} */ ([
                        [left, frame.width, () => timeline.paint({ ...frame, context, boxes: null }, rows)],
                        [0, left, () => paintNames({ ...frame, context, width: left }, rows)]])) {
                        context.save();
                        context.translate(x, HEAD_PX);
                        context.beginPath();
                        context.rect(0, 0, room, height - HEAD_PX);
                        context.clip();
                        paint();
                        context.restore();
                }
                return true;
        }

        async savePng() {
                const { width, height } = this.size();
                const canvas = document.createElement('canvas');
                const context = canvas.getContext('2d');

                canvas.width = Math.ceil(width * PNG_SCALE);
                canvas.height = Math.ceil(height * PNG_SCALE);
                context?.scale(PNG_SCALE, PNG_SCALE);
                if (!context || !this.paint(context))
                        return;
                const picture = /** @type {Blob|null} */ (await new Promise((resolve) => canvas.toBlob(resolve, 'image/png')));

                if (picture)
                        saveFile(this.fileName('png'), 'image/png', picture);
                else
                        this.timeline.viewer.emit('failure', new Error('the browser has no memory for the picture'));
        }

        saveSvg() {
                const { width, height } = this.size();
                const pen = new SvgPen(width, height);

                if (this.paint(/** @type {CanvasRenderingContext2D} */ (/** @type {unknown} */ (pen))))
                        saveFile(this.fileName('svg'), 'image/svg+xml', pen.text(this.title()));
        }

        /** What `hyprof export html` makes, with the notes and pins. */
        async savePage() {
                const { note, notes, viewer } = this.timeline;

                note.textContent = 'making the page';
                this.button.setAttribute('aria-busy', 'true');
                try {
                        saveFile(this.fileName('html'), 'text/html', await viewer.source.page(notes.notes));
                        note.textContent = '';
                } catch (error) {
                        note.textContent = '';
                        viewer.emit('failure', new Error(`the page was not made: ${/** @type {Error} */ (error).message}`));
                } finally {
                        this.button.removeAttribute('aria-busy');
                }
        }
}

/**
 * The names beside the lanes, as timeline_labels.js has them on the page.
 * @param {TimelineFrame} frame
 * @param {TimelineRow[]} rows
 */
function paintNames(frame, rows) {
        const { context, colors, width } = frame;

        context.fillStyle = colors.surface;
        context.fillRect(0, 0, width, frame.height);
        for (const row of rows) {
                const y = row.y - frame.top + AXIS_PX;
                const indent = 12 * (row.depth ?? 0);

                context.fillStyle = colors.grid;
                context.fillRect(0, y + row.height - 1, width, 1);
                context.fillStyle = colors.text;
                context.font = `${row.kind === 'group' ? '600 ' : ''}12px ${colors.sans || 'sans-serif'}`;
                paintLabel(context, row.title, 2 + indent, width, y, Math.min(row.height, 22));
        }
        context.fillStyle = colors.surface;
        context.fillRect(0, 0, width, AXIS_PX);
        context.fillStyle = colors.line;
        context.fillRect(width - 1, 0, 1, frame.height);
}
