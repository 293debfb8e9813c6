// SPDX-License-Identifier: MIT
// The timeline.
'use strict';

class TimelineScreen {
        static id = 'timeline';
        static title = 'Timeline';
        static key = 't';

        /** @param {Viewer} viewer */
        constructor(viewer) {
                this.viewer = viewer;
                this.element = el('section', { class: 'timeline' }, 'soon');
        }

        /** @param {ViewState} _state */
        show(_state) {
        }
}

screens.push(TimelineScreen);
