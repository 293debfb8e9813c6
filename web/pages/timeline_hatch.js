// SPDX-License-Identifier: MIT
/*
 * timeline_hatch.js - a part of a row about which nothing is said, and why
 *
 * Way of the data:  timeline_paint -> [timeline_hatch] -> a canvas
 */

/** @typedef {import('./timeline_paint.js').TimelineFrame} TimelineFrame */

const HATCH_STEP_PX = 6;

/**
 * Thin lines from lower left to upper right, with words where there is room.
 * @param {TimelineFrame} frame
 * @param {number} left
 * @param {number} right
 * @param {{ y: number, height: number }} strip
 * @param {string} words
 */
export function paintHatched(frame, left, right, { y, height }, words) {
        const { context, colors, width } = frame;
        const from = Math.max(0, left);
        const to = Math.min(width, right);

        if (to <= from)
                return;
        context.save();
        context.beginPath();
        context.rect(from, y, to - from, height);
        context.clip();
        context.strokeStyle = colors.line;
        context.lineWidth = 1;
        context.beginPath();
        for (let x = Math.floor((from - height) / HATCH_STEP_PX) * HATCH_STEP_PX; x < to; x += HATCH_STEP_PX) {
                context.moveTo(x, y + height);
                context.lineTo(x + height, y);
        }
        context.stroke();
        context.fillStyle = colors.muted;
        if (context.measureText(words).width + 8 < to - from && height >= 10)
                context.fillText(words, from + 4, y + height / 2);
        context.restore();
}
