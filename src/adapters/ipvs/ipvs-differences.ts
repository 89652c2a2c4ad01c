import { addLine, createLine } from '../../domain/ipset/script-lines.js';
import type { IpvsDesiredState } from '../../domain/ipvs/desired-state.js';
import { serverLines } from '../../domain/ipvs/render-servers.js';
import { SERVICE_SETS, setHeader, setName } from '../../domain/ipvs/service-sets.js';
import type { Unexplained } from '../../domain/ipvs/unexplained.js';
import { addressBits } from '../../domain/net/cidr.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { differing, type RuleDifference } from '../../domain/reconcile/rule-difference.js';
import { sequenceDifference } from '../../domain/reconcile/sequence-difference.js';
import { SERVICE_DEVICE } from './kernel/service-addresses.js';
import type { KernelTables } from './tables/kernel-tables.js';

/**
 * What the kernel's sets, virtual servers and addresses have otherwise than desired, in the words of ipset, ipvsadm and ip.
 * Virtual servers are compared while this is iterated, each with a step of its own.
 * @param tables as they were read last
 */
export function* ipvsDifferences(
  desired: IpvsDesiredState,
  tables: KernelTables,
  unexplained: Unexplained,
  family: IpFamily,
): Generator<RuleDifference | undefined> {
  yield* differingSets(desired, tables, unexplained, family);
  yield* differingServers(desired, tables, unexplained);
  const bits = addressBits(family);
  const line = (address: string): string => `ip address add ${address}/${bits} dev ${SERVICE_DEVICE}`;
  const present = new Set(tables.addresses.all());
  for (const address of present)
    if (desired.referencesToAddress(address).length === 0 && !unexplained.hasAddress(address))
      yield differing('-', line(address));
  for (const address of desired.addresses())
    if (!present.has(address)) yield differing('+', line(address), desired.referencesToAddress(address)[0]);
}

function* differingSets(
  desired: IpvsDesiredState,
  { sets }: KernelTables,
  unexplained: Unexplained,
  family: IpFamily,
): Generator<RuleDifference> {
  for (const set of SERVICE_SETS) {
    const line = (member: string): string => `ipset ${addLine(setName(set, family), member)}`;
    if (!sets.exists(set)) yield differing('+', `ipset ${createLine(setHeader(set, family))}`);
    for (const member of sets.members(set))
      if (desired.referencesToMember({ set, member }).length === 0 && !unexplained.hasMember({ set, member }))
        yield differing('-', line(member));
    for (const member of desired.membersOf(set))
      if (!sets.has({ set, member }))
        yield differing('+', line(member), desired.referencesToMember({ set, member })[0]);
  }
}

function* differingServers(
  desired: IpvsDesiredState,
  { servers }: KernelTables,
  unexplained: Unexplained,
): Generator<RuleDifference | undefined> {
  for (const key of new Set([...servers.keys(), ...desired.allServers().keys()])) {
    yield undefined;
    const wanted = desired.server(key);
    if (!wanted && (unexplained.hasServer(key) || servers.isSpared(key))) continue;
    const should = wanted ? serverLines([wanted]) : [];
    const is = servers.lines(key, wanted?.endpoints ?? []);
    const { surplus, missing } = sequenceDifference(is, should, false);
    for (const index of surplus) yield differing('-', `ipvsadm ${is[index]!}`, wanted?.owner);
    for (const index of missing) yield differing('+', `ipvsadm ${should[index]!}`, wanted?.owner);
  }
}
