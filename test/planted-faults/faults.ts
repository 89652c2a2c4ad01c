import { CONNECTION_FAULTS } from './connections.js';
import { DIAGNOSTIC_FAULTS } from './diagnostics.js';
import type { PlantedFault } from './fault.js';
import { FORWARDING_FAULTS } from './forwarding.js';
import { HEALTH_FAULTS } from './health.js';
import { IPTABLES_FAULTS } from './iptables.js';
import { MANIFEST_FAULTS } from './manifests.js';
import { NFTABLES_FAULTS } from './nftables.js';
import { NODE_FAULTS } from './node.js';
import { OBJECT_FAULTS } from './objects.js';
import { OTHER_MODES_FAULTS } from './other-modes.js';
import { REPORT_FAULTS } from './reports.js';
import { SYNC_FAULTS } from './sync.js';
import { WATCH_FAULTS } from './watches.js';

/** All of them: `node scripts/planted-faults.mjs`. */
export const FAULTS: readonly PlantedFault[] = [
  ...OBJECT_FAULTS,
  ...FORWARDING_FAULTS,
  ...NFTABLES_FAULTS,
  ...IPTABLES_FAULTS,
  ...OTHER_MODES_FAULTS,
  ...CONNECTION_FAULTS,
  ...HEALTH_FAULTS,
  ...NODE_FAULTS,
  ...SYNC_FAULTS,
  ...WATCH_FAULTS,
  ...MANIFEST_FAULTS,
  ...REPORT_FAULTS,
  ...DIAGNOSTIC_FAULTS,
];
