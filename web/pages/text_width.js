// SPDX-License-Identifier: MIT
/*
 * text_width.js - how wide a text of a canvas is, and what of it fits: a text that does not fit ends with "…"
 *
 * Way of the data:  [text_width] -> timeline_paint, timeline_labels, timeline_marks, timeline_notes, timeline_search,
 *                   flame_graph
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

/** Signs that never begin a letter: second halves of pairs, marks over the letter before, colours of skin, joints of pictures. */
const WITHIN_LETTER = /^[\p{M}\p{Cs}\p{Emoji_Modifier}\u200d]/u;
/** All of that lies behind this one. */
const FIRST_WITHIN = 0x300;

/**
 * At most so much of the begin of a text, without a part of a letter: "𝑓", "é" of two signs and "👩‍🚀" are one.
 * @param {string} text
 * @param {number} n  code units, as text.length counts them
 */
export function beginOfText(text, n) {
        let end = Math.min(n, text.length);

        while (end > 0 && text.charCodeAt(end) >= FIRST_WITHIN &&
               (WITHIN_LETTER.test(text.slice(end, end + 2)) || text[end - 1] === '\u200d'))
                end--;
        return text.slice(0, end);
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
                const begin = beginOfText(text, n);

                if (begin === '' || beginOfText(text, begin.length - 1) === '')
                        return '';
                if (widthOfText(context, `${begin}…`) <= room)
                        return `${begin}…`;
                n = begin.length;
        }
}
