const ORDER = 'an order looks only at the sign';

/**
 * Faults that change nothing that anybody could notice, and why: the end of the file's path, a part of its line, and what the fault
 * is planted in.
 */
export const EQUIVALENT = [
  ['verdict/verdict.ts', ": 'cluster'", "'cluster'", 'only causes of the node are looked for'],
  ['.ts', '? -1 : 1', '1', ORDER],
  ['userspace/round-robin.ts', "?? ''", "''", 'no endpoint has either name'],
  ['traffic/sample.ts', '_FACTOR = 0x', '0x9e3779b1', 'other large numbers spread as well'],
  ['traffic/sample.ts', '_FACTOR = 0x', '0x85ebca6b', 'other large numbers spread as well'],
  ['use-cases/object-reports.ts', "split(' ', 1)[0]", '1', 'only the first part is looked at'],
  ['sync/service-port-outcomes.ts', 'this.timers.delete', 'this.timers.delete(key);', 'it only frees memory'],
  ['sync/verifier.ts', 'running = undefined', 'this.running = undefined;', 'what is over cannot be aborted'],
  ['traffic/traffic-table.ts', 'this.ended = undefined', 'this.ended = undefined;', 'it only frees memory'],
  ['traffic/traffic-count.ts', 'eventsPerSecond: 0', '0', 'one event in a second is no load'],
  ['status/list-services.ts', 'PORTION =', '250', 'a size of about this takes as long'],
  ['layout/node-rules.ts', "kind: 'local-address'", "'daddr'", 'what is not the source is the destination'],
  ['sync/verification-policy.ts', '  full: 0', '0', 'the start, which comes first, sets it'],
  [
    'use-cases/reset-dead-connections.ts',
    'until <= now',
    'until <= now',
    'in the last millisecond either is right',
  ],
];
