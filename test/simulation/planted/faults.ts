import type { PlantedFault } from './fault.js';
import { IPTABLES_FAULTS } from './iptables.js';
import { MODEL_FAULTS } from './model.js';
import { NFTABLES_FAULTS } from './nftables.js';
import { OTHER_MODES_FAULTS } from './other-modes.js';
import { SYNC_FAULTS } from './sync.js';
import { TAKING_OVER_FAULTS } from './taking-over.js';
import { TELLING_FAULTS } from './telling.js';
import { WATCHING_FAULTS } from './watching.js';

/** All of them: `npm run simulate -- --planted`. */
export const FAULTS: readonly PlantedFault[] = [
  ...MODEL_FAULTS,
  ...NFTABLES_FAULTS,
  ...IPTABLES_FAULTS,
  ...OTHER_MODES_FAULTS,
  ...SYNC_FAULTS,
  ...TAKING_OVER_FAULTS,
  ...WATCHING_FAULTS,
  ...TELLING_FAULTS,
];
