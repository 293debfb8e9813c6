// SPDX-License-Identifier: MIT
// All screens, in the order of their tabs.

import { CompareScreen } from './screen_compare.js';
import { DiffScreen } from './screen_diff.js';
import { CountersScreen, FramesScreen, MessagesScreen } from './screen_events.js';
import { FlameScreen } from './screen_flame.js';
import { FunctionsScreen } from './screen_functions.js';
import { HeatScreen } from './screen_heat.js';
import { InfoScreen } from './screen_info.js';
import { MemoryScreen } from './screen_memory.js';
import { SourceScreen } from './screen_source.js';
import { TimelineScreen } from './screen_timeline.js';
import { WaitsScreen } from './screen_waits.js';
import { ZonesScreen } from './screen_zones.js';

/** @typedef {import('./viewer.js').ScreenClass} ScreenClass */

/** @type {ScreenClass[]} */
export const SCREENS = [TimelineScreen, ZonesScreen, FunctionsScreen, FlameScreen, HeatScreen, SourceScreen, WaitsScreen,
        MemoryScreen, FramesScreen, MessagesScreen, CountersScreen, InfoScreen, DiffScreen,
        CompareScreen];
