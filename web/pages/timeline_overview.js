// SPDX-License-Identifier: MIT
'use strict';
/*
 * timeline_overview.js - the strip above the timeline: the whole recording, with a window that can be moved
 */

const OVERVIEW_PX = 46;

class TimelineOverview {
        /**
         * @param {Viewer} viewer
         * @param {LaneCache} cache
         * @param {(from: number, to: number) => void} onRange
         */
        constructor(viewer, cache, onRange) {
                this.viewer = viewer;
                this.cache = cache;
                this.onRange = onRange;
                this.element = /** @type {HTMLCanvasElement} */ (el('canvas', { class: 'timeline-overview', role: 'img',
                        'aria-label': 'the whole recording; the framed part is shown below' }));
                this.element.addEventListener('pointerdown', (event) => this.drag(event));
        }

        /** How many CPUs were busy; without that, the CPUs themselves. */
        lanes() {
                const load = this.viewer.model.tracks.find((track) => track.kind === 'load' || track.title === 'CPU load');

                if (load)
                        return [load.lanes[0]];
                return this.viewer.model.lanesOfKind('cpu').slice(0, 64).map((found) => found.lane);
        }

        /** @param {number} from @param {number} to  what the timeline shows */
        draw(from, to) {
                const context = this.element.getContext('2d');
                const width = this.element.clientWidth;
                const scale = window.devicePixelRatio || 1;
                const { duration_ns } = this.viewer.model;

                if (!context || width < 10)
                        return;
                if (this.element.width !== Math.round(width * scale)) {
                        this.element.width = Math.round(width * scale);
                        this.element.height = OVERVIEW_PX * scale;
                }
                const colors = themeColors();
                const lanes = this.lanes();
                const bucket = bucketOf(duration_ns / width);

                context.setTransform(scale, 0, 0, scale, 0, 0);
                context.fillStyle = colors.surface;
                context.fillRect(0, 0, width, OVERVIEW_PX);
                context.fillStyle = colors.running;
                this.drawLoad(context, lanes, width, bucket);
                const left = from / duration_ns * width;
                const right = to / duration_ns * width;
                context.fillStyle = colors.selection;
                context.fillRect(left, 0, Math.max(2, right - left), OVERVIEW_PX);
                context.strokeStyle = colors.accent;
                context.lineWidth = 1.5;
                context.strokeRect(left + 0.75, 0.75, Math.max(2, right - left) - 1.5, OVERVIEW_PX - 1.5);
                if (!lanes.every((lane) => this.cache.has(lane.id, 0, duration_ns, bucket)) && !this.isAsked) {
                        this.isAsked = true;
                        this.fetch(lanes.map((lane) => lane.id), bucket);
                }
        }

        /** @param {number[]} ids @param {number} bucket */
        async fetch(ids, bucket) {
                const { source, model } = this.viewer;

                try {
                        const to = Math.ceil(model.duration_ns / Math.pow(2, bucket) + 1) * Math.pow(2, bucket);
                        const lanes = await source.lanes(ids, 0, to, bucket);

                        for (const id of ids)
                                this.cache.keep(id, { from: 0, to, bucketLog2: bucket, used: 0,
                                                      items: lanes.get(id) ?? emptySpanItems(bucket) });
                        this.cache.onItems();
                } catch (error) {
                        this.cache.onFailure(error);
                }
                this.isAsked = false;
        }

        /**
         * @param {CanvasRenderingContext2D} context
         * @param {LaneOfModel[]} lanes
         * @param {number} width
         * @param {number} bucket
         */
        drawLoad(context, lanes, width, bucket) {
                const { duration_ns } = this.viewer.model;
                const tall = OVERVIEW_PX / Math.max(1, lanes.length);

                lanes.forEach((lane, at) => {
                        const items = this.cache.best(lane.id, 0, duration_ns, bucket);

                        if (!items)
                                return;
                        if (items.isPoints) {
                                const most = items.max.reduce((a, b) => Math.max(a, b), 1e-9);

                                for (let i = 0; i < items.n; i++) {
                                        const x = items.begin[i] / duration_ns * width;
                                        const end = i + 1 < items.n ? items.begin[i + 1] / duration_ns * width : x + 1;
                                        const height = (items.first[i] + items.last[i]) / 2 / most * (OVERVIEW_PX - 4);

                                        context.fillRect(x, OVERVIEW_PX - height, Math.max(1, end - x), height);
                                }
                                return;
                        }
                        for (let i = 0; i < items.n; i++)
                                context.fillRect(items.begin[i] / duration_ns * width, at * tall + 1,
                                                 Math.max(0.6, (items.end[i] - items.begin[i]) / duration_ns * width), tall - 2);
                });
        }

        /** @param {PointerEvent} event */
        drag(event) {
                const box = this.element.getBoundingClientRect();
                const { duration_ns } = this.viewer.model;
                /** @param {PointerEvent} one */
                const timeOf = (one) => clampTo((one.clientX - box.left) / box.width, 0, 1) * duration_ns;
                const start = timeOf(event);
                /** @param {PointerEvent} move */
                const follow = (move) => {
                        if (Math.abs(move.clientX - event.clientX) > 3)
                                this.onRange(Math.min(start, timeOf(move)), Math.max(start, timeOf(move)));
                };
                const done = (/** @type {PointerEvent} */ up) => {
                        this.element.removeEventListener('pointermove', follow);
                        if (Math.abs(up.clientX - event.clientX) <= 3)
                                this.onRange(start - duration_ns / 40, start + duration_ns / 40);
                };

                this.element.setPointerCapture(event.pointerId);
                this.element.addEventListener('pointermove', follow);
                this.element.addEventListener('pointerup', done, { once: true });
        }
}
