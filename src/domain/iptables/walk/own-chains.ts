import {
  CANARY,
  EXTERNAL_SERVICES,
  FIREWALL,
  FORWARD,
  isServiceChain,
  MARK_MASQ,
  NODE_PORTS,
  POSTROUTING,
  PROXY_FIREWALL,
  SERVICES,
} from '../chain-names.js';
import type { OwnChains } from './saved-rules.js';

const NODE_CHAINS: ReadonlySet<string> = new Set([
  CANARY,
  EXTERNAL_SERVICES,
  FIREWALL,
  FORWARD,
  MARK_MASQ,
  NODE_PORTS,
  POSTROUTING,
  PROXY_FIREWALL,
  SERVICES,
]);

/** The chains of mode iptables, of any table. */
export const isIptablesChain: OwnChains = (_table, chain) => NODE_CHAINS.has(chain) || isServiceChain(chain);
