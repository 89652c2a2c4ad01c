import type { PlantedFault } from './fault.js';

const ROUND = 'src/application/reconcile/recovery-round.ts';

/** In what is written when, tried again and verified: src/application/sync, reconcile. */
export const SYNC_FAULTS: readonly PlantedFault[] = [
  {
    name: 'refused-rules-are-removed',
    file: ROUND,
    original: ': heldRules(held!, key, desired.rules(key)));',
    fault: ': undefined);',
  },
  {
    name: 'refused-service-ports-are-not-tried-again',
    file: 'src/application/sync/sync-loop.ts',
    original: '      for (const key of failed) this.retryLater(key);\n',
    fault: '',
  },
  {
    name: 'refused-removals-are-not-tried-again',
    file: 'src/application/sync/sync-family.ts',
    original: '    this.waiting.add(failedRemovals(this.table, this.statuses, this.family, ofServices));\n',
    fault: '',
  },
  {
    name: 'failed-syncs-are-not-tried-again',
    file: 'src/application/sync/sync-loop.ts',
    original: '      this.pending.everyServiceChanged();\n      this.pending.triggeredEarlier(',
    fault: '      this.pending.triggeredEarlier(',
  },
  {
    name: 'delays-in-microseconds',
    file: 'src/application/sync/backoff.ts',
    original: '{ initial: 1_000, maximum: 60_000 }',
    fault: '{ initial: 1_000_000, maximum: 60_000_000 }',
  },
  {
    name: 'verification-waits-for-failures',
    file: 'src/application/sync/sync-loop.ts',
    original: 'mayVerify: () => this.failures === 0,',
    fault: 'mayVerify: () => this.failures > 0,',
  },
];
