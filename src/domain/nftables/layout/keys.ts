import type { Key } from './rule.js';
import type { DataType } from './table.js';

/**
 * The two kinds of frontend keys. A frontend with an address is found by address, protocol and port; a node port by
 * protocol and port, after the address was checked to be the node's. Every map and chain that depends on the frontend
 * exists once for each.
 */
export interface FrontendVariant {
  /** Prefix of the names of maps and chains. */
  readonly prefix: '' | 'nodeport-';
  readonly fields: Key;
  readonly types: readonly DataType[];
}

export const BY_ADDRESS: FrontendVariant = {
  prefix: '',
  fields: [{ field: 'daddr' }, { field: 'l4proto' }, { field: 'dport' }],
  types: ['address', 'protocol', 'port'],
};

export const BY_NODE_PORT: FrontendVariant = {
  prefix: 'nodeport-',
  fields: [{ field: 'l4proto' }, { field: 'dport' }],
  types: ['protocol', 'port'],
};

export const VARIANTS: readonly FrontendVariant[] = [BY_ADDRESS, BY_NODE_PORT];
