import type { PlantedFault } from './fault.js';

/** All of them: `npm run simulate -- --planted`. */
export const FAULTS: readonly PlantedFault[] = [];
