// SPDX-License-Identifier: MIT
/*
 * timeline_touch.js - the wheel and two fingers on the timeline: apart and together zooms, both together move
 *
 * Way of the data:  wheel and pointer events of the canvas -> [timeline_touch] -> TimelineScreen.showRange()
 */

import { clampTo } from './timeline_overview.js';

/** @typedef {import('./screen_timeline.js').TimelineScreen} TimelineScreen */
/** @typedef {{ x: number, y: number }} Place in the canvas */

/** Fingers that are closer count as if they were so far apart. */
const LEAST_APART_PX = 24;
/** A pinch on a trackpad comes as a wheel with Ctrl, in small steps. */
const PINCH_BASE = 1.01;
const WHEEL_BASE = 1.0016;

export class TimelineTouch {
        /** @param {TimelineScreen} screen */
        constructor(screen) {
                this.screen = screen;
                /** @type {Map<number, Place>} by pointer */
                this.fingers = new Map();
                /** Since the first finger came down, there were two: what one of them does alone is no drag and no click. */
                this.isPinched = false;
                this.start = { time: 0, apart: 1, length: 1, y: 0, top: 0 };
                const { canvas } = screen;
                canvas.addEventListener('wheel', (event) => this.onWheel(event), { passive: false });
                canvas.addEventListener('pointermove', (event) => this.onMove(event));
                canvas.addEventListener('pointerup', (event) => this.fingers.delete(event.pointerId));
                canvas.addEventListener('pointercancel', (event) => this.fingers.delete(event.pointerId));
        }

        /** @param {WheelEvent} event */
        onWheel(event) {
                const { screen } = this;

                event.preventDefault();
                screen.measureDelay(event);
                if (event.shiftKey) {
                        screen.scroll.scrollTop += event.deltaY || event.deltaX;
                        return;
                }
                if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
                        const step = event.deltaX / screen.placeOf(event).width * (screen.to - screen.from);

                        screen.showRange(screen.from + step, screen.to + step);
                        return;
                }
                screen.zoom(Math.pow(event.ctrlKey ? PINCH_BASE : WHEEL_BASE, clampTo(event.deltaY, event.ctrlKey ? -64 : -400,
                        event.ctrlKey ? 64 : 400)), screen.timeOf(event));
        }

        /**
         * A pointer comes down.
         * @param {PointerEvent} event
         * @returns {boolean} whether it is the second finger
         */
        isSecond(event) {
                if (event.pointerType !== 'touch')
                        return false;
                if (event.isPrimary)
                        this.fingers.clear();
                this.fingers.set(event.pointerId, this.screen.placeOf(event));
                this.isPinched = this.fingers.size > 1;
                if (this.fingers.size === 2)
                        this.begin();
                return this.isPinched;
        }

        middle() {
                const [a, b] = [...this.fingers.values()];

                return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.max(LEAST_APART_PX, Math.abs(a.x - b.x)) };
        }

        begin() {
                const { x, y, apart } = this.middle();
                const { from, to, canvas, scroll } = this.screen;

                this.start = { time: from + x / canvas.clientWidth * (to - from), apart, length: to - from, y, top: scroll.scrollTop };
        }

        /** @param {PointerEvent} event */
        onMove(event) {
                if (!this.fingers.has(event.pointerId))
                        return;
                this.fingers.set(event.pointerId, this.screen.placeOf(event));
                if (this.fingers.size !== 2)
                        return;
                const { x, y, apart } = this.middle();
                const length = this.start.length * this.start.apart / apart;
                const from = this.start.time - x / this.screen.canvas.clientWidth * length;

                this.screen.scroll.scrollTop = this.start.top + this.start.y - y;
                this.screen.showRange(from, from + length);
        }
}
