import { addLine, createLine } from '../../domain/ipset/script-lines.js';
import type { IpvsDesiredState } from '../../domain/ipvs/desired-state.js';
import { serverLines } from '../../domain/ipvs/render-servers.js';
import { SERVICE_SETS, setHeader, setName, setOf, withoutSet } from '../../domain/ipvs/service-sets.js';
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
  { sets, servers, addresses }: KernelTables,
  family: IpFamily,
): Generator<RuleDifference | undefined> {
  for (const set of SERVICE_SETS)
    if (!sets.sets.has(set)) yield differing('+', `ipset ${createLine(setHeader(set, family))}`);
  yield* differingThings(
    desired,
    sets.members.all(),
    desired.members(),
    (member) => `ipset ${addLine(setName(setOf(member), family), withoutSet(member))}`,
  );
  const all = new Set([...servers.keys(), ...desired.serverKeys()]);
  for (const key of all) {
    yield undefined;
    const wanted = desired.server(key);
    if (!wanted && servers.isSpared(key)) continue;
    const should = wanted ? serverLines([wanted]) : [];
    const is = servers.lines(key, wanted?.endpoints ?? []);
    const { surplus, missing } = sequenceDifference(is, should, false);
    for (const index of surplus) yield differing('-', `ipvsadm ${is[index]!}`, wanted?.owner);
    for (const index of missing) yield differing('+', `ipvsadm ${should[index]!}`, wanted?.owner);
  }
  yield* differingThings(
    desired,
    addresses.all(),
    desired.addresses(),
    (address) => `ip address add ${address}/${addressBits(family)} dev ${SERVICE_DEVICE}`,
  );
}

function* differingThings<T extends string>(
  desired: IpvsDesiredState,
  actual: Iterable<T>,
  wanted: readonly T[],
  line: (what: T) => string,
): Generator<RuleDifference> {
  const present = new Set(actual);
  for (const what of present) if (desired.owners(what).length === 0) yield differing('-', line(what));
  for (const what of wanted)
    if (!present.has(what)) yield differing('+', line(what), desired.owners(what)[0]);
}
