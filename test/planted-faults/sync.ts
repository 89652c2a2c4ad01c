import { IN_KERNEL, type PlantedFault } from './fault.js';

const SYNC_LOOP = 'src/application/sync/sync-loop.ts';
const OUTCOMES = 'src/application/sync/service-port-outcomes.ts';
const RECOVERY = 'src/application/reconcile/recovery-attempt.ts';

const FAULTS: readonly PlantedFault[] = [
  {
    name: 'refused-rules-are-removed',
    file: RECOVERY,
    original: ': heldRules(held!, key, desired.rules(key)));',
    fault: ': undefined);',
  },
  {
    name: 'refused-service-ports-are-not-tried-again',
    file: SYNC_LOOP,
    original: '      for (const { key } of report.failed) this.retryLater(key);\n',
    fault: '',
  },
  {
    name: 'refused-removals-are-not-tried-again',
    file: 'src/application/use-cases/sync.ts',
    original: '    this.waiting.add(removals);\n',
    fault: '',
  },
  {
    name: 'failed-syncs-are-not-tried-again',
    file: 'src/application/use-cases/sync.ts',
    original: '      this.started = false;\n      throw error;',
    fault: '      throw error;',
  },
  {
    name: 'delays-in-microseconds',
    file: 'src/application/retries.ts',
    original: '{ initial: 1_000, maximum: 60_000 }',
    fault: '{ initial: 1_000_000, maximum: 60_000_000 }',
  },
  {
    name: 'verification-waits-for-failures',
    file: SYNC_LOOP,
    original: 'mayVerify: () => this.failures === 0,',
    fault: 'mayVerify: () => this.failures > 0,',
  },
  {
    name: 'failures-are-never-over',
    file: SYNC_LOOP,
    original: '      this.failures = 0;\n',
    fault: '',
  },
  {
    name: 'removed-service-ports-are-still-listed',
    file: OUTCOMES,
    original: '    if (!entry) return this.statuses.remove(family, key);\n',
    fault: '    if (!entry) return;\n',
  },
  {
    name: 'each-refusal-is-taken-for-the-last-of-many',
    file: 'src/application/sync/service-port-outcomes.ts',
    original: 'retryDelayAmongChanges(attempts, now - since);',
    fault: 'retryDelayAmongChanges(60, Infinity);',
  },
  {
    name: 'temporary-errors-are-refusals',
    file: 'src/adapters/nftables/nftables-driver.ts',
    original: 'if (!(error instanceof NftCommitError) || error.isTemporary) throw error;',
    fault: 'if (!(error instanceof NftCommitError)) throw error;',
    modes: ['nftables'],
  },
  {
    name: 'own-writes-hide-those-before',
    file: 'src/adapters/nftables/generation-watch.ts',
    original: 'for (const generation of effect(outcome).generations ?? []) this.ahead.add(generation);',
    fault: 'for (const generation of effect(outcome).generations ?? []) this.known = generation;',
    modes: ['nftables'],
  },
  {
    name: 'refused-groups-are-not-split',
    file: RECOVERY,
    original: 'return others.length > 0 ? [others] : [];',
    fault: 'return [];',
    modes: ['nftables'],
  },
  {
    name: 'lists-of-the-kernel-are-sound-when-torn',
    file: RECOVERY,
    original: 'this.lastCleanEpoch = isWhole ? epoch : undefined;',
    fault: 'this.lastCleanEpoch = epoch;',
    modes: ['nftables'],
  },
  {
    name: 'flows-to-removed-endpoints-stay',
    file: 'src/domain/conntrack/desired-flows.ts',
    original: 'if (removed.length > 0 || wasRejected ||',
    fault: 'if (wasRejected ||',
    modes: IN_KERNEL,
  },
  {
    name: 'connections-that-are-being-opened-wait',
    file: 'src/bootstrap/serve-family.ts',
    original: "['UDP', 'TCP', 'SCTP'] as const",
    fault: "['UDP'] as const",
    modes: IN_KERNEL,
  },
  {
    name: 'delays-by-the-wall-clock',
    file: 'src/adapters/process/system-clock.ts',
    original: 'return performance.now();',
    fault: 'return Date.now();',
  },
  {
    name: 'refused-service-ports-are-tried-each-second',
    file: 'src/application/sync/service-port-outcomes.ts',
    original: 'retryDelayAmongChanges(attempts, now - since);',
    fault: 'retryDelayAmongChanges(1, now - since);',
    modes: ['nftables'],
  },
  {
    name: 'failed-syncs-are-tried-each-second',
    file: SYNC_LOOP,
    original: 'retryDelayAmongChanges(this.failures, now - this.failingSince);',
    fault: 'retryDelayAmongChanges(1, now - this.failingSince);',
    modes: ['nftables'],
  },
  {
    name: 'rounds-have-no-limit-and-blame-nobody',
    file: RECOVERY,
    original: 'const blamed = new Map(group.length === 1 ? [[group[0]!, error.message]] : []);',
    fault: 'this.commits = 0;\n      const blamed = new Map<ServicePortKey, string>();',
    modes: ['nftables'],
  },
  {
    name: 'failed-syncs-are-tried-again-at-once',
    file: SYNC_LOOP,
    original: 'Math.max(this.pauseUntil - now, Math.min(this.periods.syncPeriod, delay))',
    fault: '200',
    modes: ['ipvs'],
  },
  {
    name: 'other-writers-are-not-noticed',
    file: 'src/application/reconcile/reconciler.ts',
    original: "if (how === 'quick' && (epoch === undefined || epoch === this.lastCleanEpoch)) {",
    fault: "if (how === 'quick') {",
  },
  {
    name: 'full-comparisons-never-come',
    file: 'src/application/sync/verification-policy.ts',
    original: "now - comparedAt >= fullPeriod(state, syncPeriod) ? 'full' : 'quick';",
    fault: "now - comparedAt >= fullPeriod(state, syncPeriod) * 1000 ? 'full' : 'quick';",
  },
  {
    name: 'a-stop-does-not-wait-for-the-running-sync',
    file: SYNC_LOOP,
    original: '    this.retries.stop();\n    await this.work;\n',
    fault: '    this.retries.stop();\n',
  },
  {
    name: 'changes-during-a-sync-wait-for-the-next-change',
    file: SYNC_LOOP,
    original: '    else if (!this.pending.empty) this.schedule();\n',
    fault: '',
  },
  {
    name: 'what-is-left-for-later-is-never-programmed',
    file: SYNC_LOOP,
    original: 'else if (this.sync.isBehind()) this.scheduleRemainder(since);',
    fault: 'else if (this.sync.isBehind()) void since;',
  },
  {
    name: 'timers-of-retries-outlive-the-end',
    file: OUTCOMES,
    original: '    for (const { timer } of this.failing.values()) timer.cancel();\n',
    fault: '',
  },
  {
    name: 'failures-are-not-recorded',
    file: OUTCOMES,
    original: 'else this.failed(failure, since);',
    fault: 'else this.succeeded(key, entry, plain);',
  },
  {
    name: 'ports-deferred-by-the-search-are-forgotten',
    file: RECOVERY,
    original: 'else for (const key of half) this.defer(key);',
    fault: 'else void half;',
  },
  {
    name: 'unreadable-objects-lose-their-rules-at-a-start',
    file: 'src/application/use-cases/sync.ts',
    original: 'const keepUnexplained = unreadObjects.length > 0;',
    fault: 'const keepUnexplained = false;',
  },
  {
    name: 'services-that-cannot-be-compiled-lose-their-rules-at-a-start',
    file: 'src/application/reconcile/reconciler.ts',
    original: '    this.fallBack(compiled.failed, all, snapshot);\n',
    fault: '',
  },
  {
    name: 'changes-of-the-node-do-not-concern-services',
    file: 'src/application/use-cases/sync.ts',
    original: 'const changed = depend ? withEveryEntry(this.table, due) : due;',
    fault: 'const changed = due;',
  },
];

/** Faults that cost too many writes are planted in iptables mode as well: there, other parts reject. */
const ALSO_IN_IPTABLES: ReadonlySet<string> = new Set([
  'refused-service-ports-are-tried-each-second',
  'failed-syncs-are-tried-each-second',
  'rounds-have-no-limit-and-blame-nobody',
]);

/** The order of writes, retries and verification: src/application/sync, reconcile. */
export const SYNC_FAULTS: readonly PlantedFault[] = [
  ...FAULTS,
  ...FAULTS.filter(({ name }) => ALSO_IN_IPTABLES.has(name)).map((fault): PlantedFault => ({
    ...fault,
    name: `${fault.name}-in-iptables`,
    modes: ['iptables'],
  })),
];
