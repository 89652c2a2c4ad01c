import type { PlantedFault } from './fault.js';

/** In how the program follows the API server or manifests. */
export const WATCHING_FAULTS: readonly PlantedFault[] = [
  {
    name: 'deletions-pass-unnoticed',
    file: 'src/adapters/kubernetes/watch/reflector.ts',
    original: "    else if (type === 'DELETED') this.known.delete(object);\n",
    fault: '',
  },
  {
    name: 'lists-delete-nothing',
    file: 'src/adapters/kubernetes/watch/replacement.ts',
    original: '    if (this.namesEverything) for (const key of this.missing) this.known.remove(key);\n',
    fault: '',
  },
  {
    name: 'short-watches-lead-to-lists',
    file: 'src/adapters/kubernetes/watch/position.ts',
    original: '    } else if (error instanceof ApiProtocolError) {',
    fault: '    } else {',
  },
];
