import type { PlantedFault } from './fault.js';

const IPTABLES = 'src/diagnostics/domain/iptables/target.ts';
const NFTABLES = 'src/diagnostics/domain/nftables/rule-run.ts';
const EXPLAIN = 'src/diagnostics/application/explain/explain-address.ts';
const COMPARE = 'src/diagnostics/domain/compare/compare-sides.ts';

/** The interpreters of rules, and the commands trace, compare and explain. */
export const DIAGNOSTIC_FAULTS: readonly PlantedFault[] = [
  {
    name: 'explain-uses-every-endpoint',
    file: 'src/diagnostics/application/explain/explain-port.ts',
    original: 'const used = isReached && reachable.has(place);',
    fault: 'const used = isReached && endpoint.serving;',
  },
  {
    name: 'explain-takes-node-ports-at-every-address',
    file: EXPLAIN,
    original: "if (nodePortIPs !== 'all') return nodePortIPs.includes(address);",
    fault: "if (nodePortIPs !== 'all') return true;",
  },
  {
    name: 'explain-names-no-service-range',
    file: EXPLAIN,
    original: 'ranges.find((text) => cidrContains(parseCidr(text)!, address));',
    fault: 'ranges.find((text) => !cidrContains(parseCidr(text)!, address));',
  },
  {
    name: 'explain-follows-no-packet-in-the-kernel',
    file: 'src/diagnostics/application/explain/checks.ts',
    original: 'if (!isOver && answer.stoppedBy) obstacles',
    fault: 'if (isOver && answer.stoppedBy) obstacles',
  },
  {
    name: 'explain-probes-unused-endpoints',
    file: 'src/diagnostics/application/explain/checks.ts',
    original: 'if (used) targets.set(',
    fault: 'if (!used) targets.set(',
  },
  {
    name: 'a-goto-is-a-jump',
    file: 'src/diagnostics/domain/walk/chain-walk.ts',
    original: "if (to.verb === 'jump' && end === 'caller') next.push(after);",
    fault: "if (end === 'caller') next.push(after);",
  },
  {
    name: 'policies-of-base-chains-do-not-count',
    file: 'src/diagnostics/domain/walk/chain-walk.ts',
    original: "policy && to !== 'end'",
    fault: "policy && to === 'end'",
  },
  {
    name: 'traced-packets-to-the-node-are-forwarded',
    file: 'src/diagnostics/domain/walk/hook-path.ts',
    original: 'this.isLocal(routed.destination)\n',
    fault: 'this.isLocal(state.destination)\n',
  },
  {
    name: 'drops-of-iptables-accept',
    file: IPTABLES,
    original: '  DROP: () => dropped,\n',
    fault: '  DROP: () => accepted,\n',
  },
  {
    name: 'marks-of-iptables-are-added',
    file: IPTABLES,
    original: '((mark & ~bits) ^ value) >>> 0;',
    fault: '(mark | value) >>> 0;',
  },
  {
    name: 'chances-of-iptables-are-all-equal',
    file: 'src/diagnostics/domain/iptables/tables-walk.ts',
    original: 'nextRule(shareOf(state, 1 - chance)),',
    fault: 'nextRule(shareOf(state, chance)),',
  },
  {
    name: 'inverted-lookups-of-nftables-are-plain',
    file: NFTABLES,
    original: "if ((element !== undefined) === inverted) return 'no match';",
    fault: "if (element === undefined) return 'no match';",
  },
  {
    name: 'masks-of-nftables-are-ignored',
    file: NFTABLES,
    original: '(registers[from + at]! & mask[at]!) ^ xor[at]!;',
    fault: 'registers[from + at]! ^ xor[at]!;',
  },
  {
    name: 'draws-of-nftables-lack-the-last-number',
    file: 'src/diagnostics/domain/nftables/draws.ts',
    original: 'return Array.from({ length: modulus },',
    fault: 'return Array.from({ length: modulus - 1 },',
  },
  {
    name: 'ipvs-traces-choose-draining-endpoints',
    file: 'src/diagnostics/domain/ipvs-walk.ts',
    original: 'realServers.filter(({ weight }) => weight > 0);',
    fault: 'realServers;',
  },
  {
    name: 'compare-overlooks-masquerading',
    file: COMPARE,
    original: '    one.masquerade === other.masquerade &&\n',
    fault: '',
  },
  {
    name: 'compare-overlooks-shares',
    file: COMPARE,
    original: '    Math.abs(p - q) <= PROBABILITY_TOLERANCE\n',
    fault: '    Math.abs(p - q) <= 1\n',
  },
  {
    name: 'compare-overlooks-affinity-times',
    file: COMPARE,
    original: '    one.stickySeconds === other.stickySeconds &&\n',
    fault: '',
  },
  {
    name: 'compare-takes-the-unclear-for-equal',
    file: COMPARE,
    original: "unclear.length > 0 ? 'unknown' :",
    fault: "unclear.length > 0 ? 'equal' :",
  },
  {
    name: 'compared-clients-overlap',
    file: 'src/diagnostics/domain/compare/address-ranges.ts',
    original: '      from = other[at]!.last + 1n;\n',
    fault: '      from = other[at]!.last;\n',
  },
];
