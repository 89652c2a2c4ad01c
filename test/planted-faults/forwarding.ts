import { IN_KERNEL, type PlantedFault } from './fault.js';

const FORWARD = 'src/domain/forwarding/forward-service.ts';
const CLAIMS = 'src/domain/forwarding/frontend-claims.ts';
const SELECT = 'src/domain/select-endpoints.ts';

/** The choice of endpoints, the owners of addresses, balancing, limits: src/domain/forwarding, balancing. */
export const FORWARDING_FAULTS: readonly PlantedFault[] = [
  {
    name: 'zone-hints-count-for-every-zone',
    file: SELECT,
    original: ': endpoint.zoneHints.includes(node.zone));',
    fault: ': endpoint.zoneHints.length > 0);',
  },
  {
    name: 'node-hints-do-not-count',
    file: SELECT,
    original:
      "  if (nodeHints && decides((endpoint) => endpoint.nodeHints, nodeName)) return 'PreferSameNode';\n",
    fault: '',
  },
  {
    name: 'terminating-endpoints-here-are-not-used',
    file: SELECT,
    original: 'const draining = subset(here, drains);',
    fault: 'const draining = subset(here, () => false);',
    modes: IN_KERNEL,
  },
  {
    name: 'every-frontend-has-every-policy',
    file: FORWARD,
    original: "return { policy, outcome: isLocal && !local?.length ? 'drop' : 'forward' };",
    fault: "return { policy, outcome: 'forward' };",
    modes: IN_KERNEL,
  },
  {
    name: 'only-the-first-source-range-counts',
    file: FORWARD,
    original: 'subset(service.sourceRanges, (range) => range.family === family);',
    fault: 'subset(service.sourceRanges, (range) => range.family === family).slice(0, 1);',
    modes: IN_KERNEL,
  },
  {
    name: 'the-node-is-never-within-source-ranges',
    file: FORWARD,
    original: 'sourceRangesCoverNode: sourceRanges.some((range) => cidrContains(range, nodeIP)),',
    fault: 'sourceRangesCoverNode: false,',
    modes: IN_KERNEL,
  },
  {
    name: 'weights-of-the-annotation-do-not-count',
    file: FORWARD,
    original: '  if (!weights) return endpoints;\n',
    fault: '  return endpoints;\n',
    modes: IN_KERNEL,
  },
  {
    name: 'only-the-first-port-is-served',
    file: FORWARD,
    original: 'const entries = service.ports.map((port) =>',
    fault: 'const entries = service.ports.slice(0, 1).map((port) =>',
  },
  {
    name: 'the-younger-service-owns-an-address',
    file: CLAIMS,
    original: "String(createdAt).padStart(TIME_DIGITS, '0');",
    fault: "String(10 ** 11 - createdAt).padStart(TIME_DIGITS, '0');",
  },
  {
    name: 'services-without-endpoints-own-addresses',
    file: CLAIMS,
    original: "const lacksEndpoints = outcome === 'reject' ? 1 : 0;",
    fault: 'const lacksEndpoints = 0;',
  },
  {
    name: 'external-ips-come-before-load-balancers',
    file: CLAIMS,
    original: "  'load-balancer-ip': 2,\n  'external-ip': 3,\n",
    fault: "  'load-balancer-ip': 3,\n  'external-ip': 2,\n",
  },
  {
    name: 'services-may-take-ports-of-the-proxy',
    file: CLAIMS,
    original:
      '      noteOthers(RESERVED, this.claims.claim(name, RESERVED, true, this.rankOf(name)), affected);\n',
    fault: '',
  },
  {
    name: 'released-frontends-go-to-nobody',
    file: CLAIMS,
    original: '    if (owner !== undefined && owner !== key && owner !== RESERVED) affected.add(owner);\n',
    fault: '    void owner;\n',
  },
  {
    name: 'limited-services-prefer-endpoints-of-other-nodes',
    file: 'src/domain/state/cluster-state.ts',
    original: 'for (const isLocal of [true, false])',
    fault: 'for (const isLocal of [false, true])',
  },
  {
    name: 'services-have-any-number-of-endpoints',
    file: 'src/domain/forwarding/endpoint-budget.ts',
    original: 'return (this.large.get(service)?.endpoints ?? 0) > limit ? limit : undefined;',
    fault: 'return undefined;',
  },
  {
    name: 'services-have-any-number-of-slots',
    file: 'src/domain/balancing/slot-budget.ts',
    original: 'if (demand.slots > left)',
    fault: 'if (demand.slots < 0)',
    modes: ['nftables'],
  },
  {
    name: 'the-youngest-service-comes-first',
    file: 'src/domain/model/service.ts',
    original: 'ageOf(one) - ageOf(other)',
    fault: 'ageOf(other) - ageOf(one)',
  },
  {
    name: 'hash-tables-depend-on-the-order-of-endpoints',
    file: 'src/domain/balancing/slots.ts',
    original: 'maglevTable(slotNames(list), weights, size)',
    fault: 'maglevTable(slotNames(list).map((_, place) => String(place)), weights, size)',
    modes: ['nftables'],
  },
  {
    name: 'weighted-round-robin-is-random',
    file: 'src/domain/balancing/balancing.ts',
    original: "  wrr: 'round-robin',\n",
    fault: "  wrr: 'random',\n",
    modes: ['nftables'],
  },
  {
    name: 'terminating-endpoints-hide-ready-ones-at-their-address',
    file: 'src/domain/model/endpoint.ts',
    original: 'else if (!endpoint.terminating) once',
    fault: 'else if (endpoint.terminating) once',
  },
  {
    name: 'changed-weights-pass-unnoticed',
    file: 'src/domain/model/endpoint.ts',
    original: '    one.weight === other.weight &&\n',
    fault: '',
    modes: IN_KERNEL,
  },
  {
    name: 'changes-of-the-node-alone-wait',
    file: 'src/domain/state/pending-changes.ts',
    original: 'return this.services.size === 0 && !this.everything && !this.node;',
    fault: 'return this.services.size === 0 && !this.everything;',
  },
];
