/** A jump from a built-in chain: its table, where from, where to, and what is asked of packets before. */
export type Jump = readonly [table: string, from: string, to: string, ...match: readonly string[]];

const NEW = ['-m', 'conntrack', '--ctstate', 'NEW'];
const comment = (text: string) => ['-m', 'comment', '--comment', text];
const externally = [...NEW, ...comment('kubernetes externally-visible service portals')];
const portals = comment('kubernetes service portals');
const firewall = [...NEW, ...comment('kubernetes load balancer firewall')];

/** Of mode iptables (docs/spec/iptables.md §4). */
export const IPTABLES_JUMPS: readonly Jump[] = [
  ['filter', 'INPUT', 'KUBE-EXTERNAL-SERVICES', ...externally],
  ['filter', 'FORWARD', 'KUBE-EXTERNAL-SERVICES', ...externally],
  ['filter', 'INPUT', 'KUBE-NODEPORTS', ...comment('kubernetes health check service ports')],
  ['filter', 'FORWARD', 'KUBE-SERVICES', ...NEW, ...portals],
  ['filter', 'OUTPUT', 'KUBE-SERVICES', ...NEW, ...portals],
  ['filter', 'FORWARD', 'KUBE-FORWARD', ...comment('kubernetes forwarding rules')],
  ['filter', 'INPUT', 'KUBE-PROXY-FIREWALL', ...firewall],
  ['filter', 'OUTPUT', 'KUBE-PROXY-FIREWALL', ...firewall],
  ['filter', 'FORWARD', 'KUBE-PROXY-FIREWALL', ...firewall],
  ['nat', 'OUTPUT', 'KUBE-SERVICES', ...portals],
  ['nat', 'PREROUTING', 'KUBE-SERVICES', ...portals],
  ['nat', 'POSTROUTING', 'KUBE-POSTROUTING', ...comment('kubernetes postrouting rules')],
  ['filter', 'INPUT', 'KUBE-FIREWALL'],
  ['filter', 'OUTPUT', 'KUBE-FIREWALL'],
];

/** Of mode ipvs (docs/spec/ipvs.md §6.1). */
export const IPVS_JUMPS: readonly Jump[] = [
  ['nat', 'OUTPUT', 'KUBE-SERVICES', ...portals],
  ['nat', 'PREROUTING', 'KUBE-SERVICES', ...portals],
  ['nat', 'POSTROUTING', 'KUBE-POSTROUTING', ...comment('kubernetes postrouting rules')],
  ['filter', 'FORWARD', 'KUBE-FORWARD', ...comment('kubernetes forwarding rules')],
  ['filter', 'INPUT', 'KUBE-NODE-PORT', ...comment('kubernetes health check rules')],
  ['filter', 'INPUT', 'KUBE-PROXY-FIREWALL', ...comment('kube-proxy firewall rules')],
  ['filter', 'FORWARD', 'KUBE-PROXY-FIREWALL', ...comment('kube-proxy firewall rules')],
  ['filter', 'INPUT', 'KUBE-IPVS-FILTER', ...comment('kubernetes ipvs access filter')],
  ['filter', 'OUTPUT', 'KUBE-IPVS-OUT-FILTER', ...comment('kubernetes ipvs access filter')],
];
