// SPDX-License-Identifier: MIT
/*
 * svg_pen.js - draws what a canvas would show as the text of an SVG: the calls of CanvasRenderingContext2D that the timeline uses
 *
 * Way of the data:  timeline_paint and its like -> [svg_pen] -> a file
 *
 * Names in a picture are foreign: what XML does not allow is replaced, and the rest is escaped.
 */

/** Boxes of one color that follow each other are one element. */
const BOXES_MAX = 2000;

/** @param {number} number */
function short(number) {
        return String(Math.round(number * 100) / 100);
}

/** @param {string} text */
function escapeXml(text) {
        return text.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
                .replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

export class SvgPen {
        /** @param {number} width @param {number} height */
        constructor(width, height) {
                this.width = width;
                this.height = height;
                this.fillStyle = '#000';
                this.strokeStyle = '#000';
                this.lineWidth = 1;
                this.font = '10px sans-serif';
                this.textAlign = 'start';
                this.textBaseline = 'alphabetic';
                this.globalAlpha = 1;
                /** @type {number[]} */
                this.dashes = [];
                this.path = '';
                /** @type {string[]} */
                this.parts = [];
                /** @type {{ style: string, places: string[] }} */
                this.boxes = { style: '', places: [] };
                /**
                 * Groups that are open since each save(), and what was saved.
                 * @type {{ n: number, kept: object }[]}
                 */
                this.saved = [];
                this.nClips = 0;
                this.ruler = /** @type {CanvasRenderingContext2D} */ (document.createElement('canvas').getContext('2d'));
        }

        /** @param {string} text */
        measureText(text) {
                this.ruler.font = this.font;
                return this.ruler.measureText(text);
        }

        /** Writes the boxes that wait for others of their color. */
        flush() {
                if (this.boxes.places.length > 0)
                        this.parts.push(`<path ${this.boxes.style} d="${this.boxes.places.join('')}"/>`);
                this.boxes = { style: '', places: [] };
        }

        /** @param {string} element */
        put(element) {
                this.flush();
                this.parts.push(element);
        }

        fillLook() {
                return `fill="${escapeXml(this.fillStyle)}"` + (this.globalAlpha < 1 ? ` opacity="${short(this.globalAlpha)}"` : '');
        }

        strokeLook() {
                return `fill="none" stroke="${escapeXml(this.strokeStyle)}" stroke-width="${short(this.lineWidth)}"` +
                        (this.dashes.length > 0 ? ` stroke-dasharray="${this.dashes.map(short).join(' ')}"` : '') +
                        (this.globalAlpha < 1 ? ` opacity="${short(this.globalAlpha)}"` : '');
        }

        /** @param {number} x @param {number} y @param {number} width @param {number} height */
        boxPath(x, y, width, height) {
                return `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`;
        }

        /** @param {number} x @param {number} y @param {number} width @param {number} height */
        fillRect(x, y, width, height) {
                const style = this.fillLook();

                if (!(width > 0 && height > 0))
                        return;
                if (this.boxes.style !== style || this.boxes.places.length >= BOXES_MAX || this.globalAlpha < 1) {
                        this.flush();
                        this.boxes.style = style;
                }
                this.boxes.places.push(this.boxPath(x, y, width, height));
        }

        /** @param {number} x @param {number} y @param {number} width @param {number} height */
        strokeRect(x, y, width, height) {
                this.put(`<path ${this.strokeLook()} d="${this.boxPath(x, y, width, height)}"/>`);
        }

        beginPath() {
                this.path = '';
        }

        /** @param {number} x @param {number} y */
        moveTo(x, y) {
                this.path += `M${short(x)} ${short(y)}`;
        }

        /** @param {number} x @param {number} y */
        lineTo(x, y) {
                this.path += `${this.path === '' ? 'M' : 'L'}${short(x)} ${short(y)}`;
        }

        /** @param {number} x @param {number} y @param {number} width @param {number} height */
        rect(x, y, width, height) {
                this.path += this.boxPath(x, y, width, height);
        }

        /**
         * A whole circle: the timeline has no other arcs.
         * @param {number} x
         * @param {number} y
         * @param {number} radius
         */
        arc(x, y, radius) {
                const half = `a${short(radius)} ${short(radius)} 0 0 1`;

                this.path += `M${short(x - radius)} ${short(y)}${half} ${short(2 * radius)} 0${half} ${short(-2 * radius)} 0z`;
        }

        fill() {
                this.put(`<path ${this.fillLook()} d="${this.path}"/>`);
        }

        stroke() {
                this.put(`<path ${this.strokeLook()} d="${this.path}"/>`);
        }

        /** @param {number[]} dashes */
        setLineDash(dashes) {
                this.dashes = dashes;
        }

        /**
         * @param {string} text
         * @param {number} x
         * @param {number} y
         * @param {number} [room]  text that is wider is condensed
         */
        fillText(text, x, y, room) {
                const [, size, family] = /([\d.]+)px\s+(.*)$/.exec(this.font) ?? ['', '11', 'sans-serif'];
                const weight = /^(bold|[5-9]00)/.exec(this.font)?.[1];
                const anchor = /** @type {{ [align: string]: string }} */ ({ center: 'middle', right: 'end', end: 'end' })[this.textAlign];
                const { width } = this.measureText(text);

                if (text === '' || (room !== undefined && room <= 0))
                        return;
                this.put(`<text x="${short(x)}" y="${short(y)}" font-size="${size}" font-family="${escapeXml(family)}" ${this.fillLook()}` +
                        (weight ? ` font-weight="${weight}"` : '') + (anchor ? ` text-anchor="${anchor}"` : '') +
                        (this.textBaseline === 'middle' ? ' dominant-baseline="central"' : '') +
                        (room !== undefined && width > room ? ` textLength="${short(room)}" lengthAdjust="spacingAndGlyphs"` : '') +
                        ` xml:space="preserve">${escapeXml(text)}</text>`);
        }

        save() {
                const { fillStyle, strokeStyle, lineWidth, font, textAlign, textBaseline, globalAlpha, dashes } = this;

                this.saved.push({ n: 0, kept: { fillStyle, strokeStyle, lineWidth, font, textAlign, textBaseline, globalAlpha, dashes } });
        }

        restore() {
                const last = this.saved.pop();

                if (!last)
                        return;
                this.put('</g>'.repeat(last.n));
                Object.assign(this, last.kept);
        }

        /** @param {string} attribute of what is drawn until restore() */
        group(attribute) {
                this.put(`<g ${attribute}>`);
                if (this.saved.length > 0)
                        this.saved[this.saved.length - 1].n++;
        }

        clip() {
                const id = `clip${++this.nClips}`;

                this.put(`<clipPath id="${id}"><path d="${this.path}"/></clipPath>`);
                this.group(`clip-path="url(#${id})"`);
        }

        /** @param {number} x @param {number} y */
        translate(x, y) {
                this.group(`transform="translate(${short(x)} ${short(y)})"`);
        }

        /** @param {string} title */
        text(title) {
                this.flush();
                return `<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="${short(this.width)}" ` +
                        `height="${short(this.height)}" viewBox="0 0 ${short(this.width)} ${short(this.height)}">` +
                        `<title>${escapeXml(title)}</title>\n${this.parts.join('\n')}\n</svg>\n`;
        }
}
