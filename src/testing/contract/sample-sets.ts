import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import { getOrMake } from '../../domain/model/maps.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { sampleEntry, type SampleShape } from './sample-services.js';

/** Node ports that other programs are unlikely to use: some backends listen on them. */
const NODE_PORTS = { plain: 32_741, local: 32_743 } as const;

const SHAPES: Readonly<Record<string, SampleShape>> = {
  plain: { number: 1 },
  datagrams: { number: 2, protocol: 'UDP', endpoints: 2 },
  'node-port': { number: 3, nodePort: NODE_PORTS.plain },
  external: { number: 4, external: true },
  'source-ranges': { number: 5, external: true, sourceRanges: true },
  sticky: { number: 6, affinitySeconds: 600 },
  'local-outside': { number: 7, external: true, nodePort: NODE_PORTS.local, externalPolicyLocal: true },
  'local-inside': { number: 8, internalPolicyLocal: true },
  empty: { number: 9, endpoints: 0 },
  many: { number: 10, endpoints: 16 },
  weighted: {
    ...{ number: 11, external: true, externalPolicyLocal: true },
    ...{ endpoints: 5, weights: [3, 9, 2, 2, 0], balancingMethod: 'round-robin' },
  },
  'weighted-datagrams': { number: 12, protocol: 'UDP', endpoints: 3, weights: [0, 4, 7] },
  hashed: { number: 13, balancingMethod: 'maglev-source' },
};

const KINDS = new Map<IpFamily, readonly ForwardingEntry[]>();

/** A service of every kind that backends treat differently. Where endpoints have weights, none is 1, as for those without. */
export function everyKind(family: IpFamily): readonly ForwardingEntry[] {
  return getOrMake(KINDS, family, () =>
    Object.entries(SHAPES).map(([name, shape]) => sampleEntry(family, name, shape)),
  );
}

/** One of them with the given changes. */
export function variant(family: IpFamily, name: string, parts: Partial<SampleShape>): ForwardingEntry {
  return sampleEntry(family, name, { ...SHAPES[name]!, ...parts });
}
