// SPDX-License-Identifier: MIT
/*
 * timeline_marks.js - words and hatched boxes over the lanes of the timeline
 *
 * Way of the data:  timeline_paint, timeline_path, timeline_wakes, timeline_launches -> [timeline_marks] -> a canvas
 */

import { beginOfText, widthOfText } from './text_width.js';

/** @typedef {import('./timeline_paint.js').TimelineFrame} TimelineFrame */

/** Lanes that are as high have their names as large as text; a chart has its numbers at its edges. */
const LARGE_NAMES_PX = 26;
const CHARTS = ['plot', 'counter', 'memory', 'cpu_time'];

/**
 * The font of the names in a lane.
 * @param {TimelineFrame} frame
 * @param {import('./timeline_rows.js').LaneRow} row
 */
export function setLaneFont({ context, colors }, row) {
        const px = row.height >= LARGE_NAMES_PX && !CHARTS.includes(row.lane.kind) ? 13 : 11;

        context.font = `${px}px ${colors.sans || 'sans-serif'}`;
}

/**
 * Words on a ground of their own, so that they can be read over any lane.
 * @param {TimelineFrame} frame
 * @param {string} words
 * @param {number} x
 * @param {number} y       middle
 * @param {boolean} [isToTheLeft]
 */
export function paintName(frame, words, x, y, isToTheLeft = false) {
        const { context, colors } = frame;
        const short = words.length > 40 ? `${beginOfText(words, 39)}…` : words;

        context.font = `11px ${colors.sans || 'sans-serif'}`;
        context.textBaseline = 'middle';
        const width = widthOfText(context, short);
        const left = Math.max(2, isToTheLeft ? x - width - 4 : Math.min(x, frame.width - width - 4));

        context.fillStyle = colors.background;
        context.fillRect(left - 2, y - 7, width + 4, 14);
        context.fillStyle = colors.text;
        context.fillText(short, left, y);
}

/**
 * Slanted lines: a thread could run and did not.
 * @param {TimelineFrame} frame
 * @param {{ left: number, y: number, width: number, height: number }} box
 * @param {string} color
 */
export function paintHatch(frame, { left, y, width, height }, color) {
        const { context } = frame;
        const from = Math.max(-height, left);
        const to = Math.min(frame.width + height, left + width);

        context.save();
        context.beginPath();
        context.rect(left, y, width, height);
        context.clip();
        context.strokeStyle = color;
        context.lineWidth = 2;
        context.beginPath();
        for (let x = Math.floor(from / 6) * 6 - height; x < to; x += 6) {
                context.moveTo(x, y + height);
                context.lineTo(x + height, y);
        }
        context.stroke();
        context.restore();
}

/**
 * A part of a row about which nothing is said, with the reason where there is room for it.
 * @param {TimelineFrame} frame
 * @param {number} left
 * @param {number} right
 * @param {{ y: number, height: number }} strip
 * @param {string} words
 */
export function paintHatchedWords(frame, left, right, { y, height }, words) {
        const { context, colors, width } = frame;
        const [from, to] = [Math.max(0, left), Math.min(width, right)];

        if (to <= from)
                return;
        paintHatch(frame, { left: from, y, width: to - from, height }, colors.line);
        context.fillStyle = colors.muted;
        if (context.measureText(words).width + 8 < to - from && height >= 10)
                context.fillText(words, from + 4, y + height / 2);
}
