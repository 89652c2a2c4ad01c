import type { PlantedFault } from './fault.js';

/** In taking over from kube-proxy. */
export const TAKING_OVER_FAULTS: readonly PlantedFault[] = [
  {
    name: 'tables-of-another-layout-are-replaced-in-two-steps',
    file: 'src/adapters/nftables/nftables-driver.ts',
    original: '    await this.send(repair);\n',
    fault: '    if (replaces) await this.cleanup();\n    await this.send(repair);\n',
    modes: ['nftables'],
  },
];
