import { IN_KERNEL, type PlantedFault } from './fault.js';

const JUDGE = 'src/domain/conntrack/desired-flows.ts';
const SWEEP = 'src/application/use-cases/reconcile-conntrack.ts';
const KERNEL = 'src/adapters/conntrack/netlink-conntrack.ts';
const RESET = 'src/application/use-cases/reset-dead-connections.ts';
const FAILOVER = 'src/domain/failover/port-failover.ts';
const EJECTION = 'src/application/failover/eject-unresponsive-endpoints.ts';

/** Established connections, and endpoints that do not answer: conntrack, failover. */
export const CONNECTION_FAULTS: readonly PlantedFault[] = [
  {
    name: 'every-examined-flow-is-deleted',
    file: SWEEP,
    original: '            return reason !== undefined;\n',
    fault: '            return true;\n',
  },
  {
    name: 'stale-flows-are-only-examined',
    file: KERNEL,
    original: 'if (isStale(flow)) deletion.add(flow);',
    fault: 'isStale(flow);',
  },
  {
    name: 'flows-through-removed-frontends-stay',
    file: JUDGE,
    original: 'if (!kept.has(frontendText(frontend))) suspects',
    fault: 'if (kept.has(frontendText(frontend))) suspects',
  },
  {
    name: 'flows-to-endpoints-that-still-serve-are-deleted',
    file: 'src/domain/forwarding/forward-service.ts',
    original: '({ ready, serving }) => ready || serving)',
    fault: '({ ready }) => ready)',
  },
  {
    name: 'untranslated-flows-stay',
    file: JUDGE,
    original: "return this.unreplied && !isServed ? undefined : 'never translated';",
    fault: 'return undefined;',
  },
  {
    name: 'flows-from-outside-new-source-ranges-stay',
    file: JUDGE,
    original: "        if (kind === 'load-balancer-ip' && !this.isInRanges(flow.source)) return false;\n",
    fault: '',
  },
  {
    name: 'failed-sweeps-are-not-repeated',
    file: SWEEP,
    original: '      this.suspects.merge(suspects);\n      this.failures++;\n',
    fault: '      this.failures++;\n',
  },
  {
    name: 'node-port-flows-at-former-addresses-stay',
    file: SWEEP,
    original: '    this.desired.nodePortAddressesRemoved(removed, suspects);\n',
    fault: '',
  },
  {
    name: 'repairs-do-not-examine-flows',
    file: SWEEP,
    original: '    if (this.desired.size > 0) suspects.addAll();\n    if (this.protocol',
    fault: '    if (this.protocol',
  },
  {
    name: 'interrupted-lists-of-connections-are-complete',
    file: KERNEL,
    original: 'if (errno === 0 && !interrupted) {',
    fault: 'if (errno === 0) {',
  },
  {
    name: 'deletions-do-not-name-the-connection',
    file: 'src/adapters/conntrack/flow-reader.ts',
    original: '    if (this.idAt >= 0) writer.putBytes(CTA.ID, buffer.subarray(this.idAt, this.idAt + 4));\n',
    fault: '',
  },
  {
    name: 'lost-connection-events-are-not-noticed',
    file: 'src/adapters/conntrack/netlink-flow-events.ts',
    original: 'lost: lost ?? false',
    fault: 'lost: false',
  },
  {
    name: 'connections-to-removed-endpoints-are-never-polled',
    file: RESET,
    original: "    if (this.state === 'idle' && this.gone.size > 0) this.schedule(BEFORE_FIRST_POLL);\n",
    fault: '',
  },
  {
    name: 'quiet-connections-are-reset',
    file: 'src/domain/conntrack/flow.ts',
    original: "if (before === 'answered') return 'idle';",
    fault: "if (before === 'answered') return 'unresponsive';",
  },
  {
    name: 'endpoints-that-return-are-still-watched',
    file: RESET,
    original:
      '    for (const endpoint of lackedBy(former, serving)) this.gone.delete(`${key} ${endpointPlace(endpoint)}`);\n',
    fault: '',
  },
  {
    name: 'no-endpoint-is-ever-ejected',
    file: FAILOVER,
    original: 'if (trusted.some((list) => list.has(place) && this.mayLoseOne(list)))',
    fault: 'if (trusted.some((list) => list.has(place) && !this.mayLoseOne(list)))',
    modes: IN_KERNEL,
  },
  {
    name: 'all-endpoints-may-be-ejected',
    file: 'src/domain/failover/ejected-endpoints.ts',
    original: 'return Math.floor(listed / 2);',
    fault: 'return listed;',
    modes: IN_KERNEL,
  },
  {
    name: 'repeated-ejections-are-as-short-as-the-first',
    file: FAILOVER,
    original: 'Math.min(LONGEST_TIME, FIRST_TIME * 2 ** (times - 1))',
    fault: 'FIRST_TIME',
    modes: IN_KERNEL,
  },
  {
    name: 'endpoints-that-answer-some-clients-are-ejected',
    file: FAILOVER,
    original:
      '      ownAttempts(place)?.answered ?? -Infinity,\n      evidenceOf(place)?.answered ?? -Infinity,\n',
    fault: '      ownAttempts(place)?.answered ?? -Infinity,\n',
    modes: IN_KERNEL,
  },
  {
    name: 'one-client-suffices-for-an-ejection',
    file: FAILOVER,
    original: '(counts(impossible) && clients.size >= SEVERAL_CLIENTS)',
    fault: 'counts(impossible)',
    modes: IN_KERNEL,
  },
  {
    name: 'endpoints-are-ejected-after-lost-events',
    file: EJECTION,
    original: 'return complete && this.isTrusting();',
    fault: 'return complete;',
    modes: IN_KERNEL,
  },
  {
    name: 'ejections-are-not-programmed',
    file: EJECTION,
    original: '      if (steps.length > 0) recompute(entry.family, serviceOf(entry.key));\n',
    fault: '',
    modes: IN_KERNEL,
  },
  {
    name: 'ejections-have-no-event',
    file: EJECTION,
    original: '    if (ejected.length === 0) return;\n',
    fault: '    if (ejected.length > 0) return;\n',
    modes: IN_KERNEL,
  },
  {
    name: 'connections-are-counted-for-nobody',
    file: EJECTION,
    original: '        if (this.entries.size === 0) this.counting.stop();\n        else if',
    fault: '        if',
    modes: IN_KERNEL,
  },
  {
    name: 'the-node-never-tries-endpoints-itself',
    file: 'src/application/failover/own-connects.ts',
    original: 'while (this.running.size < MOST_CONCURRENT &&',
    fault: 'while (this.running.size > MOST_CONCURRENT &&',
    modes: IN_KERNEL,
  },
  {
    name: 'endpoints-that-refuse-connections-do-not-answer',
    file: 'src/adapters/endpoint-connections.ts',
    original: "end(ANSWERS.has(code) ? 'answered' :",
    fault: "end(ANSWERS.has(code) ? 'unanswered' :",
    modes: IN_KERNEL,
  },
  {
    name: 'udp-endpoints-are-ejected',
    file: 'src/domain/forwarding/forward-service.ts',
    original: "const ejects = port.protocol !== 'UDP' && wantsEjection;",
    fault: 'const ejects = wantsEjection;',
    modes: IN_KERNEL,
  },
];
