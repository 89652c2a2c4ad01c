import type { PlantedFault } from './fault.js';
import type { Mode } from '../world/settings.js';

const MODES: readonly Mode[] = ['nftables'];
const DRIVER = 'src/adapters/nftables/nftables-driver.ts';

/** In what mode nftables writes, and how. */
export const NFTABLES_FAULTS: readonly PlantedFault[] = [
  {
    name: 'elements-before-their-chains',
    file: DRIVER,
    original:
      '    await this.send(structures);\n    for (const structure of newStructures) this.unused.set(structure.name, structure);\n    await this.send(elements);\n',
    fault:
      '    await this.send(elements);\n    await this.send(structures);\n    for (const structure of newStructures) this.unused.set(structure.name, structure);\n',
  },
  {
    name: 'endpoints-removed-before-the-last-way-to-them',
    file: DRIVER,
    original: '    await this.send(elements);\n',
    fault: '    await this.remove(unused);\n    await this.send(elements);\n',
  },
  {
    name: 'external-traffic-without-its-mark',
    file: 'src/domain/nftables/layout/traffic-class.ts',
    original: "        rule([markSet(node.masqueradeBit)], 'masquerade'),\n",
    fault: '',
  },
  {
    name: 'slots-ignore-weights',
    file: 'src/domain/balancing/slots.ts',
    original: 'const weight = weights[place]!;',
    fault: 'const weight = greatest;',
  },
  {
    name: 'relayed-node-ports-are-rejected',
    file: 'src/domain/forwarding/node-network.ts',
    original: "loopbackNodePorts === 'relayed' ? ALL_BUT_RELAYED : PROTOCOLS",
    fault: 'PROTOCOLS',
  },
  {
    name: 'hairpin-only-with-policy-local',
    file: 'src/domain/nftables/compile.ts',
    original: 'of endpoints.reachable) {',
    fault: 'of endpoints.local ?? []) {',
  },
  {
    name: 'source-ranges-of-external-addresses',
    file: 'src/domain/nftables/frontend-part.ts',
    original: "if (this.source.kind !== 'load-balancer-ip' || sourceRanges.length === 0)",
    fault: "if (this.source.kind !== 'external-ip' || sourceRanges.length === 0)",
  },
  {
    name: 'clients-of-endpoints-that-went-stay-remembered',
    file: 'src/adapters/nftables/client-memory.ts',
    original: 'if (!this.isDue || this.running || this.stopping.signal.aborted) return;',
    fault: 'if (this.isDue) return;',
  },
  {
    name: 'rules-in-any-order',
    file: 'src/adapters/nftables/table-difference.ts',
    original: 'return isEqual(actual, chain.rules) ?',
    fault: 'return chain.rules.every((rule) => actual.some((other) => isEqual(rule, other))) ?',
  },
  {
    name: 'affinity-in-milliseconds',
    file: 'src/adapters/nftables/netlink/expressions.ts',
    original: 'writer.putU64(type, value * 1000)',
    fault: 'writer.putU64(type, value)',
  },
].map((fault) => ({ ...fault, modes: MODES }));
