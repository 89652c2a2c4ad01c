import type { PlantedFault } from './fault.js';

/** In what the program says of itself, and what it leaves behind. */
export const TELLING_FAULTS: readonly PlantedFault[] = [
  {
    name: 'metrics-call-what-is-programmed-failed',
    file: 'src/adapters/metrics/scrapes.ts',
    original: "state: 'failed' }, refused);",
    fault: "state: 'failed' }, programmed);",
  },
  {
    name: 'explain-uses-every-endpoint',
    file: 'src/diagnostics/application/explain/explain-port.ts',
    original: 'const used = isReached && reachable.has(place);',
    fault: 'const used = isReached && endpoint.serving;',
  },
  {
    name: 'servers-outlive-the-end',
    file: 'src/adapters/http/http-listener.ts',
    original: '    if (server) await closeServer(server);\n',
    fault: '',
  },
];
