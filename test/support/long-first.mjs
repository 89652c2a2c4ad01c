import Sequencer from '@jest/test-sequencer';

/** Where the long test files are comes first, so that at the end no worker waits for one of them. */
const PROJECTS = ['contained', 'kernel'];

/** The longest of all, the longest first: jest itself knows that of files that have run on this machine before. */
const LONGEST = [
  'uml/inside',
  'simulation/worlds',
  'conformance/iptables',
  'iptables-takeover',
  'conformance/nftables',
  'poisoned-service',
  'soak',
  'deploy/image',
  'conntrack-reconciliation',
  'kernel/failover',
  'kernel/api-server',
  'deploy/debian-package',
  'kernel/page-in-use',
  'kernel/demo',
  'iptables-disruption',
  'kernel/faults',
  'kernel/ejection',
  'application/trace/recorded',
  'fleet/herd',
  'kubernetes/recorded-scenarios',
  'application/trace/modes',
  'walk/recorded-packets',
  'decode/hostile-objects',
  'asking/hostile-answers',
  'fleet-report',
  'refusals',
  'manifest-source',
  'restored-storage',
];

/** Files that must run early, then projects whose files take long; inside a project jest's own order. */
export default class LongFirst extends Sequencer {
  async sort(tests) {
    const early = LONGEST.map((name) => `/${name}.test.ts`);
    const order = ({ path, context }) => {
      const place = early.findIndex((name) => path.endsWith(name));
      return place < 0 ? early.length + PROJECTS.indexOf(context.config.displayName?.name) : place;
    };
    return [...(await super.sort(tests))].sort((a, b) => order(a) - order(b));
  }
}
