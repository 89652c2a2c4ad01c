import type { NodeNetwork } from '../../forwarding/node-network.js';
import type { IpFamily } from '../../net/ip-family.js';
import type { FrontendVariant } from './keys.js';
import type { Comparison, Statement } from './rule.js';
import { NODEPORT_IPS } from './sets.js';
import type { SetDefinition } from './table.js';

/** Before the destination is translated: it is an address of the node that takes node ports. */
export function nodePortAddresses(node: NodeNetwork): readonly Statement[] {
  const isLocal: readonly Statement[] =
    node.nodePortIPs === 'all' ? [{ kind: 'local-address', field: 'daddr' }] : [];
  return [...isLocal, acceptingNodePorts(node)];
}

/** The same of packets to the node itself. */
export function acceptingNodePorts(node: NodeNetwork): Statement {
  return node.nodePortIPs === 'all'
    ? toLoopback(node.family, '!=')
    : member([{ field: 'daddr' }], NODEPORT_IPS.name);
}

export function member(
  key: Extract<Statement, { kind: 'member' }>['key'],
  set: string,
): Extract<Statement, { kind: 'member' }> {
  return { kind: 'member', key, set, is: '==' };
}

export function verdict({ fields: key }: FrontendVariant, { name: map }: SetDefinition): Statement {
  return { kind: 'verdict-map', key, map };
}

export function toLoopback(family: IpFamily, is: Comparison): Statement {
  return { kind: 'address', field: 'daddr', is, network: family === 'IPv4' ? '127.0.0.0/8' : '::1' };
}
