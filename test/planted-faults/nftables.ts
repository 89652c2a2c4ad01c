import type { Mode, PlantedFault } from './fault.js';

const MODES: readonly Mode[] = ['nftables'];
const DRIVER = 'src/adapters/nftables/nftables-driver.ts';

const CLASS = 'src/domain/nftables/layout/traffic-class.ts';
const RULES = 'src/domain/nftables/layout/node-rules.ts';
const PARTS = 'src/domain/nftables/layout/rule-parts.ts';

/** The rules of nftables mode and how they are written. */
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
  {
    name: 'tables-of-another-layout-are-replaced-in-two-steps',
    file: DRIVER,
    original: '    await this.send(repair);\n',
    fault: '    if (replaces) await this.cleanup();\n    await this.send(repair);\n',
  },
  {
    name: 'services-without-local-endpoints-reject',
    file: RULES,
    original: 'setsOf(BY_ADDRESS).noLocalEndpoints.name), DROP]),',
    fault: 'setsOf(BY_ADDRESS).noLocalEndpoints.name), parts.reject]),',
  },
  {
    name: 'unallocated-addresses-of-the-first-range-pass',
    file: RULES,
    original: '...node.serviceCIDRs.map((network) =>',
    fault: '...node.serviceCIDRs.slice(1).map((network) =>',
  },
  {
    name: 'unknown-ports-of-cluster-ips-are-dropped',
    file: RULES,
    original: "[parts.member(['daddr'], CLUSTER_IPS.name), parts.reject],",
    fault: "[parts.member(['daddr'], CLUSTER_IPS.name), DROP],",
  },
  {
    name: 'hairpins-are-not-masqueraded',
    file: RULES,
    original:
      "    rule([TRANSLATED, parts.member(['saddr', ...BY_ADDRESS.fields], HAIRPIN_CONNECTIONS.name), MASQUERADE]),\n",
    fault: '',
  },
  {
    name: 'the-last-endpoint-is-never-chosen',
    file: CLASS,
    original: 'return [draw(parts, count, FIRST_NUMBER, method)];',
    fault: 'return [draw(parts, Math.max(1, count - 1), FIRST_NUMBER, method)];',
  },
  {
    name: 'affinity-is-that-of-the-service',
    file: CLASS,
    original: "const CLIENT: Key = ['priority', 'saddr'];",
    fault: "const CLIENT: Key = ['priority', 'daddr'];",
  },
  {
    name: 'the-hash-ignores-the-port',
    file: CLASS,
    original: "return { key: ['saddr', 'sport'], seed: HASH_SEED };",
    fault: "return { key: ['saddr'], seed: HASH_SEED };",
  },
  {
    name: 'pods-here-do-not-reach-remote-endpoints-of-local-services',
    file: CLASS,
    original: "    rules.push(rule([local, ...shortCircuit], 'short-circuit pod traffic'));\n",
    fault: '',
  },
  {
    name: 'source-ranges-are-single-addresses',
    file: PARTS,
    original:
      'field.sourceBits < addressBits(family) ? [source, this.masked(to, field.sourceBits)] : [source];',
    fault: '[source];',
  },
  {
    name: 'masquerading-keeps-source-ports',
    file: PARTS,
    original: "{ kind: 'masquerade', fullyRandom: true }",
    fault: "{ kind: 'masquerade', fullyRandom: false }",
  },
  {
    name: 'remembered-clients-move-when-endpoints-change',
    file: 'src/domain/nftables/endpoint-numbers.ts',
    original: 'endpoints.map((endpoint) => textHash(`${key} ${endpointPlace(endpoint)}`) % ID_SPAN);',
    fault: 'endpoints.map((_, place) => (textHash(key) + place) % ID_SPAN);',
  },
  {
    name: 'long-lists-lose-endpoints-when-they-shrink',
    file: 'src/domain/nftables/endpoint-numbers.ts',
    original: 'for (const last of order.splice(list.length)) if (last) others.push(last);',
    fault: 'order.splice(list.length);',
  },
].map((fault) => ({ ...fault, modes: MODES }));
