// SPDX-License-Identifier: MIT
/*
 * text_width.js - how wide a text of a canvas is, and what of it fits: a text that does not fit ends with "…"
 *
 * Way of the data:  [text_width] -> timeline_paint, timeline_marks, flame_graph
 */

/** Measuring texts is most of the cost of a picture of many names. @type {Map<string, number>} by font and text */
const widths = new Map();
const WIDTHS_MAX = 20000;

/**
 * How wide a text is, in CSS pixels.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 */
export function widthOfText(context, text) {
        const key = `${context.font} ${text}`;
        let width = widths.get(key);

        if (width === undefined) {
                if (widths.size >= WIDTHS_MAX)
                        widths.clear();
                width = context.measureText(text).width;
                widths.set(key, width);
        }
        return width;
}

/**
 * The text, or as much of its begin as there is room for; nothing if that is fewer than two letters.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} room  CSS pixels
 */
export function cutToWidth(context, text, room) {
        const width = widthOfText(context, text);

        if (width <= room)
                return text;
        for (let n = Math.floor(text.length * room / width); ; n--) {
                if (n < 2)
                        return '';
                const cut = `${text.slice(0, n)}…`;

                if (widthOfText(context, cut) <= room)
                        return cut;
        }
}
