import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { Machine } from '../kernel/machine.js';
import { IPTABLES_JUMPS, IptablesTables } from './iptables-tables.js';
import { iptablesRules } from './iptables-rules.js';
import type { KubeProxyMode } from './kube-proxy-mode.js';

const COUNTERS = ['ct_state_invalid_dropped_pkts', 'localhost_nps_accepted_pkts'];
const OTHER_CHAINS = ['KUBE-NODEPORTS', 'KUBE-MARK-MASQ'];

/** kube-proxy in mode iptables. Most of its syncs are partial ones (docs/spec/iptables.md §11.2). */
export const iptablesMode: KubeProxyMode = {
  begin(machine, families) {
    for (const tables of tablesOf(machine, families)) tables.ensureCanaries();
  },
  syncsPartially: true,
  sync(machine, family, ports, _node, changed) {
    const tables = new IptablesTables(machine, family);
    if (!changed) {
      tables.ensureJumps(IPTABLES_JUMPS);
      for (const counter of COUNTERS) machine.accounting.add(counter);
    }
    tables.restore(iptablesRules(family, ports, tables.chains('nat'), changed));
  },
  isDamaged: (machine, families) => tablesOf(machine, families).some(({ isFlushed }) => isFlushed),
  remove(machine, families) {
    for (const tables of tablesOf(machine, families)) tables.removeAtOnce(IPTABLES_JUMPS, OTHER_CHAINS);
  },
};

function tablesOf(machine: Machine, families: readonly IpFamily[]): readonly IptablesTables[] {
  return families.map((family) => new IptablesTables(machine, family));
}
