import { FIREWALL } from '../../../domain/iptables/chain-names.js';
import { BLOCK_LOCALNET } from '../../../domain/iptables/compile/base-rules.js';
import { savedRules, type SavedTables } from '../../../domain/iptables/text/saved-tables.js';
import { IPTABLES_OWNED_CHAINS, OWNED_WITH_FIREWALL, type OwnedChains } from './owned-chains.js';

/** What only a kubelet makes. */
const KUBELET_CHAINS = ['KUBE-KUBELET-CANARY', 'KUBE-IPTABLES-HINT'];

/** Whether any of these chains of the kernel is a proxy's, as far as names tell. */
export function holdsProxyChains(names: readonly string[]): boolean {
  return proxyChains(names).length > 0;
}

/** Which of these chains are a proxy's, as far as names tell. */
export function proxyChains(names: readonly string[]): readonly string[] {
  const ofKubelet = names.some(isKubelets);
  return names.filter(
    (name) => name.startsWith('KUBE-') && !isKubelets(name) && !(ofKubelet && name === FIREWALL),
  );
}

/** What becomes of KUBE-FIREWALL when mode iptables is removed: the kubelet makes it too, and it may protect the node. */
export type FirewallVerdict = 'absent' | 'unneeded' | 'protects' | 'not ours';

/**
 * @param routesLocalnet whether the kernel lets packets for 127.0.0.0/8 in, from which the chain protects: the proxy has told it to,
 *   and does not know whether another program had before
 */
export function judgeFirewall(saved: SavedTables, routesLocalnet: boolean): FirewallVerdict {
  const rules = savedRules(saved, 'filter', FIREWALL);
  if (!rules) return 'absent';
  if (rules.length === 0) return 'unneeded';
  const ofKubelet = saved.some(({ chains }) => chains.some(({ name }) => isKubelets(name)));
  if (ofKubelet || rules.some((rule) => rule !== BLOCK_LOCALNET)) return 'not ours';
  return routesLocalnet ? 'protects' : 'unneeded';
}

/** What mode iptables makes and may be removed: KUBE-FIREWALL only if nothing needs it. */
export function removableChains(verdict: FirewallVerdict): OwnedChains {
  return verdict === 'unneeded' ? OWNED_WITH_FIREWALL : IPTABLES_OWNED_CHAINS;
}

function isKubelets(name: string): boolean {
  return KUBELET_CHAINS.includes(name);
}
