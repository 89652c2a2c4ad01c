import { NOTHING_APPLIED } from '../../src/application/ports/backend.js';
import type { SyncReport } from '../../src/application/ports/sync-observer.js';

/** The report of a successful sync of everything that had nothing to write. */
export const SYNC_REPORT: SyncReport = {
  ...NOTHING_APPLIED,
  ok: true,
  full: true,
  changed: [],
  everyService: false,
  seconds: 0,
  sinceEventSeconds: 0,
  triggers: new Map(),
  programmingLatencies: [],
  noLocalEndpoints: { internal: 0, external: 0 },
};
