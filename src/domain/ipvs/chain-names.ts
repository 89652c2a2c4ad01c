/** Chains of mode ipvs (docs/spec/ipvs.md §6.1). Those without a name of their own here are shared with mode iptables. */
export { FORWARD, MARK_MASQ, POSTROUTING, PROXY_FIREWALL, SERVICES } from '../iptables/chain-names.js';
/** In table nat it marks packets to node ports, in table filter it accepts health checks. */
export const NODE_PORT = 'KUBE-NODE-PORT';
export const LOAD_BALANCER = 'KUBE-LOAD-BALANCER';
export const SOURCE_RANGES_FIREWALL = 'KUBE-SOURCE-RANGES-FIREWALL';
export const IPVS_FILTER = 'KUBE-IPVS-FILTER';
export const OUT_FILTER = 'KUBE-IPVS-OUT-FILTER';
