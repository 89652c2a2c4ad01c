import { isServiceChain } from '../../../domain/iptables/chain-names.js';
import { savedRules, type SavedTables } from '../../../domain/iptables/text/saved-tables.js';
import { ipvsBaseRules } from '../../../domain/ipvs/base-rules.js';
import { IPVS_FILTER } from '../../../domain/ipvs/chain-names.js';
import { ANY_HOST, ANY_NODE, ownedChains } from '../../iptables/restore/owned-chains.js';

/** What mode ipvs makes in iptables. Some chains have the same name, and some jumps the same text, as in mode iptables. */
export const IPVS_OWNED_CHAINS = ownedChains(ipvsBaseRules(ANY_NODE, ANY_HOST, new Set()), false);

/** Whether chains that have the same name in both modes are those of mode ipvs. */
export function holdsIpvsRules(saved: SavedTables): boolean {
  const nat = saved.find(({ name }) => name === 'nat')?.chains ?? [];
  return (
    savedRules(saved, 'filter', IPVS_FILTER) !== undefined && !nat.some(({ name }) => isServiceChain(name))
  );
}
