import { FIREWALL } from '../../../domain/iptables/chain-names.js';
import type { OwnChains } from '../../domain/iptables/saved-rules.js';
import { IPTABLES_OWNED_CHAINS, isOwned } from '../../../adapters/iptables/owned-chains.js';

/** The chains of mode iptables, with the one that is the kubelet's too. */
export const isIptablesChain: OwnChains = (table, chain) =>
  isOwned(IPTABLES_OWNED_CHAINS, table, chain) || chain === FIREWALL;
