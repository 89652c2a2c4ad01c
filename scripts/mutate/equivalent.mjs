const ORDER = 'an order looks only at the sign';

/**
 * Faults that change nothing that anybody could notice, and why: the end of the file's path, a part of its line, and what the fault
 * is planted in.
 */
export const EQUIVALENT = [
  ['.ts', '? -1 : 1', '1', ORDER],
  [
    'ipvs/walk/scheduling.ts',
    'UNWEIGHTED.has(scheduler) ? 1',
    '1',
    'shares are the same if all weigh the same',
  ],
  ['userspace/round-robin.ts', "?? ''", "''", 'no endpoint has either name'],
  ['status/frontend-conflicts.ts', 'this.claims.delete', 'this.claims.delete(key);', 'it only frees memory'],
  ['state/merge-endpoints.ts', 'a.name < b.name', 'a.name < b.name', 'slices of one name do not exist'],
  ['traffic/sample.ts', '_FACTOR = 0x', '0x9e3779b1', 'other large numbers spread as well'],
  ['traffic/sample.ts', '_FACTOR = 0x', '0x85ebca6b', 'other large numbers spread as well'],
  [
    'reconcile/sequence-difference.ts',
    'index = desired.length - 1',
    'desired.length - 1',
    'beyond the end is no line that anybody looks for',
  ],
  ['reconcile/sequence-difference.ts', '[low, high] = [0', '0', 'all are one place further along'],
  ['use-cases/object-reports.ts', "split(' ', 1)[0]", '1', 'only the first part is looked at'],
  ['difference/shared-work.ts', 'once: true', 'true', 'a signal aborts once'],
  ['sync/service-port-outcomes.ts', 'this.timers.delete', 'this.timers.delete(key);', 'it only frees memory'],
  ['reconcile/claimants.ts', 'MOST_FORMER = ', '2', 'it only frees memory'],
  ['reconcile/claimants.ts', '> MOST_FORMER', 'MOST_FORMER * this.members.size', 'it only frees memory'],
  [
    'reconcile/claimants.ts',
    '> MOST_FORMER',
    'this.heap.length > MOST_FORMER * this.members.size',
    'it only frees memory',
  ],
  ['sync/verifier.ts', 'running = undefined', 'this.running = undefined;', 'what is over cannot be aborted'],
  [
    'reconcile/claimants.ts',
    'heap[left + 1]! <',
    'heap[left + 1]! < heap[left]!',
    'equal keys may rise in any order',
  ],
  ['trace/summary.ts', '? -1 : 1', 'one.address < other.address', 'equal addresses were told apart before'],
  ['nftables/endpoint-ids.ts', 'while (taken', 'offset + 1', 'any number that is not taken will do'],
  ['nftables/endpoint-ids.ts', 'while (taken', '1', 'any number that is not taken will do'],
  ['traffic/traffic-table.ts', 'this.ended = undefined', 'this.ended = undefined;', 'it only frees memory'],
  ['traffic/traffic-count.ts', 'eventsPerSecond: 0', '0', 'one event in a second is no load'],
  ['reconcile/compile-all.ts', '% COMPILED_AT_ONCE === 0', '0', 'the others may have their turn earlier'],
  ['kernel/rule-run.ts', 'MAX_BRANCHES =', '8192', 'a limit of about this size'],
  ['status/list-services.ts', 'PORTION =', '250', 'a size of about this takes as long'],
  ['state/owned-rules.ts', 'flatText(table', "' '", 'no name of a chain is the beginning of another'],
  ['layout/node-rules.ts', "kind: 'local-address'", "'daddr'", 'what is not the source is the destination'],
  ['sync/verification-policy.ts', '  full: 0', '0', 'the start, which comes first, sets it'],
  [
    'use-cases/reset-dead-connections.ts',
    'until <= now',
    'until <= now',
    'in the last millisecond either is right',
  ],
  ['walk/turn.ts', '< 1e-6', 'Math.abs(1 / count - share) < 1e-6', 'no share lies on the limit'],
];
