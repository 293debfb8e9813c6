// SPDX-License-Identifier: MIT
/*
 * box_row.js - the boxes of a lane as one row of pixels, which is stretched over the height of the lane
 *
 * Way of the data:  timeline_paint -> [box_row] -> a canvas
 *
 * A canvas needs most of a microsecond for a box, and a wide screen with some lanes shows 60,000 of them.  Boxes that begin and
 * end at pixels are set as pixels in a fraction of that.
 */

/** Pixels have their parts in this order on every machine that has a browser. */
const ALPHA_SHIFT = 24;

export class BoxRow {
        constructor() {
                this.canvas = document.createElement('canvas');
                this.context = this.canvas.getContext('2d', { willReadFrequently: true });
                this.image = new ImageData(1, 1);
                this.pixels = new Uint32Array(this.image.data.buffer);
                this.scale = 1;
                this.isEmpty = true;
        }

        /**
         * An empty row.
         * @param {number} width  CSS pixels
         * @param {number} scale  pixels of the screen in one of these
         */
        begin(width, scale) {
                const n = Math.max(1, Math.round(width * scale));

                if (this.image.width !== n) {
                        this.canvas.width = n;
                        this.canvas.height = 1;
                        this.image = new ImageData(n, 1);
                        this.pixels = new Uint32Array(this.image.data.buffer);
                }
                this.scale = scale;
                if (!this.isEmpty)
                        this.pixels.fill(0);
                this.isEmpty = true;
        }

        /**
         * @param {number} left   CSS pixels, at a pixel of the screen
         * @param {number} width
         * @param {number} color  0xbbggrr
         * @param {number} alpha  0 to 1
         */
        add(left, width, color, alpha) {
                const from = Math.round(left * this.scale);
                const to = Math.min(this.pixels.length, Math.max(from + 1, Math.round((left + width) * this.scale)));

                const pixel = Math.round(alpha * 255) << ALPHA_SHIFT | color;

                this.isEmpty = false;
                for (let i = Math.max(0, from); i < to; i++)
                        this.pixels[i] = pixel;
        }

        /**
         * @param {CanvasRenderingContext2D} context
         * @param {number} y
         * @param {number} height
         */
        paint(context, y, height) {
                if (this.isEmpty || !this.context)
                        return;
                this.context.putImageData(this.image, 0, 0);
                context.imageSmoothingEnabled = false;
                context.drawImage(this.canvas, 0, y, this.pixels.length / this.scale, height);
        }
}
