import {
  FORWARD,
  IPVS_FILTER,
  LOAD_BALANCER,
  MARK_MASQ,
  NODE_PORT,
  OUT_FILTER,
  POSTROUTING,
  PROXY_FIREWALL,
  SERVICES,
  SOURCE_RANGES_FIREWALL,
} from '../../../domain/ipvs/chain-names.js';
import { JUMPS } from '../../../domain/ipvs/base-rules.js';
import type { OwnedChains } from '../../iptables/restore/clean-up-scripts.js';

/** What mode ipvs makes in iptables. Some chains have the same name, and some jumps the same text, as in mode iptables. */
export const IPVS_OWNED_CHAINS: OwnedChains = {
  jumps: JUMPS,
  chains: {
    nat: [SERVICES, POSTROUTING, NODE_PORT, LOAD_BALANCER, MARK_MASQ],
    filter: [FORWARD, NODE_PORT, PROXY_FIREWALL, SOURCE_RANGES_FIREWALL, IPVS_FILTER, OUT_FILTER],
    mangle: [],
  },
  serviceChains: false,
};
