import { ipvsBaseRules } from '../../../domain/ipvs/base-rules.js';
import { ANY_HOST, ANY_NODE, ownedChains } from '../../iptables/restore/owned-chains.js';

/** What mode ipvs makes in iptables. Some chains have the same name, and some jumps the same text, as in mode iptables. */
export const IPVS_OWNED_CHAINS = ownedChains(ipvsBaseRules(ANY_NODE, ANY_HOST, new Set()), false);
