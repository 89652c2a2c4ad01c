import Sequencer from '@jest/test-sequencer';

/** Where the long test files are comes first, so that at the end no worker waits for one of them. */
const PROJECTS = ['contained', 'kernel'];

/** The longest of all, the longest first: jest itself knows that of files that have run on this machine before. */
const LONGEST = [
  'kernel/check-forwarding',
  'uml/inside',
  'conformance/iptables',
  'guides/going-back',
  'kernel/demo',
  'kernel/ejection',
  'guides/rolling-out',
  'kernel/failover',
  'soak',
  'kernel/commands',
  'kernel/api-server',
  'kernel/page-in-use',
  'poisoned-service',
  'deploy/image',
  'deploy/debian-package',
  'kernel/neighbours',
  'kernel/top',
  'conformance/nftables',
  'kernel/load-balancing',
  'kernel/asking',
  'iptables-takeover',
  'simulation/kube-proxy/kube-proxy',
  'nftables/simulated-contract',
  'bench/fleet',
  'application/trace/recorded',
  'domain/compare/recorded',
  'contract/backends',
  'kubernetes/recorded-scenarios',
  'application/trace/modes',
  'walk/recorded-packets',
  'decode/hostile-objects',
  'asking/hostile-answers',
  'refusals',
  'manifest-source',
  'cluster/query-cluster',
  'restored-storage',
];

/** Files that must run early, then projects whose files take long; inside a project jest's own order. */
export default class LongFirst extends Sequencer {
  async sort(tests) {
    const order = ({ path, context }) => {
      const place = LONGEST.findIndex((name) => path.includes(name));
      return place < 0 ? LONGEST.length + PROJECTS.indexOf(context.config.displayName?.name) : place;
    };
    return [...(await super.sort(tests))].sort((a, b) => order(a) - order(b));
  }
}
