import { isLoopback } from '../../../domain/net/address.js';
import { addressNumber, rangeHas, type AddressRanges } from './address-ranges.js';
import type { ComparedNode } from './clients.js';
import {
  ANY_INTERFACE,
  type ComparedClass,
  verdictName,
  type Verdict,
  type Outcome,
} from './compare-sides.js';
import { SIDE_MODES, type SideMode } from './side.js';

/** A difference between modes that is meant to be. */
export interface KnownDifference {
  readonly name: string;
  /** For people. */
  readonly sentence: string;
  /** The mode that does something of its own. */
  readonly mode: SideMode;
  /** The modes that do not; missing: all others. */
  readonly others?: readonly SideMode[];
  /** Whether it explains all of a difference. */
  explains(about: ComparedClass, own: Outcome, other: Outcome, node: ComparedNode): boolean;
}

/** Where each is explained: its name is an anchor there. */
export const EXPLAINED_AT = 'docs/install/comparing.md';

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    name: 'other-ports',
    sentence:
      'packets to ports of a cluster IP that its Service does not have are untouched in iptables mode and rejected in other modes',
    mode: 'iptables',
    explains: isLeftAloneInstead,
  },
  {
    name: 'external-address-ports',
    sentence:
      'packets to other ports of external and load balancer addresses are rejected in IPVS mode, where the node has them, and untouched in nftables mode',
    mode: 'nftables',
    others: ['ipvs'],
    explains: isLeftAloneInstead,
  },
  {
    name: 'kube-ipvs0',
    sentence:
      'processes of the node get packets to other ports of service addresses where a proxy in IPVS mode has no filter for them, as before 1.27',
    mode: 'ipvs',
    explains: ({ frontend }, own, other) =>
      frontend.standsForOthers === true &&
      isOnly(own, 'delivered') &&
      (isOnly(other, 'untouched') || isOnly(other, 'reject')),
  },
  {
    name: 'unallocated-cluster-ips',
    sentence:
      'packets to addresses of the service networks that no Service has are dropped in nftables mode and untouched in other modes',
    mode: 'nftables',
    explains: ({ frontend }, own, other) =>
      frontend.standsForOthers === true && isOnly(own, 'drop') && isOnly(other, 'untouched'),
  },
  {
    name: 'hairpin-elsewhere',
    sentence:
      'an endpoint on another node that reaches itself through this one gets its source rewritten in iptables mode and not in other modes',
    mode: 'iptables',
    explains: ({ packet }, own, other) =>
      differOnlyIn(
        own,
        other,
        ({ endpoint, masquerade }) => masquerade && endpoint?.address === packet.source,
      ),
  },
  {
    name: 'node-source',
    sentence:
      'in IPVS mode the node has the service addresses: it calls one from that address itself, which is rewritten and is in no source range',
    mode: 'ipvs',
    explains: (_, own, other) =>
      own.paths.every(({ source }) => source !== undefined) &&
      ((isOnly(own, 'drop') && areSent(other)) || differOnlyIn(own, other, ({ masquerade }) => masquerade)),
  },
  {
    name: 'localhost-node-ports',
    sentence:
      'node ports on loopback addresses are a matter of rules in iptables mode; nftables mode has a process for them, IPVS mode has nothing',
    mode: 'iptables',
    explains: ({ packet: { family, destination: text } }, own, other) =>
      isLoopback({ family, text }) && !isOnly(own, 'delivered') && isOnly(other, 'delivered'),
  },
  {
    name: 'node-port-addresses',
    sentence:
      "without --nodeport-addresses node ports are on all of the node's addresses in iptables and IPVS modes, and on its primary ones in nftables mode",
    mode: 'nftables',
    explains: ({ frontend, packet: { destination } }, own, other, { localAddresses }) =>
      !frontend.standsForOthers &&
      localAddresses.has(destination) &&
      isOnly(own, 'delivered') &&
      !other.verdicts.some(({ verdict }) => verdict === 'delivered' || verdict === 'untouched'),
  },
  {
    name: 'local-policy',
    sentence:
      'with externalTrafficPolicy Local clients in the cluster get local endpoints alone in IPVS mode, and all endpoints in other modes',
    mode: 'ipvs',
    explains: ({ kind, packet: { inputInterface } }, own, other, { podNetworks }) =>
      (kind !== 'outside' || inputInterface !== ANY_INTERFACE) &&
      areSent(own) &&
      areSent(other) &&
      own.verdicts.every(({ endpoint }) => isWithin(endpoint, podNetworks)) &&
      !isPartOf(other, own),
  },
  {
    name: 'no-local-endpoints',
    sentence:
      'where policy Local leaves no endpoint, packets are rejected in IPVS mode, or sent to endpoints elsewhere with their source; other modes drop them',
    mode: 'ipvs',
    explains: ({ kind }, own, other) =>
      (isOnly(other, 'drop') && (isOnly(own, 'reject') || areSent(own)) && saysNoLocal(other)) ||
      (kind === 'the node' && areSent(own) && differOnlyIn(other, own, ({ masquerade }) => masquerade)),
  },
  {
    name: 'no-endpoints-from-node',
    sentence:
      'packets of the node itself to external addresses without an endpoint are untouched in iptables mode and rejected in other modes',
    mode: 'iptables',
    explains: ({ kind, frontend }, own, other) =>
      kind === 'the node' && !frontend.standsForOthers && isOnly(own, 'untouched') && isOnly(other, 'reject'),
  },
  {
    name: 'loop-back-set',
    sentence:
      'an endpoint that calls its own address and port gets its source rewritten in IPVS mode, should that packet ever pass the node',
    mode: 'ipvs',
    explains: ({ packet }, own, other) =>
      packet.source === packet.destination &&
      isOnly(own, 'untouched') &&
      differOnlyIn(own, other, ({ masquerade }) => masquerade),
  },
];

/** What explains a difference; undefined if nothing does. */
export function knownDifference(
  about: ComparedClass,
  modes: readonly [SideMode, SideMode],
  node: ComparedNode,
): KnownDifference | undefined {
  const [one, other] = about.sides;
  const [its, another] = modes;
  return KNOWN_DIFFERENCES.find(({ mode, others = SIDE_MODES.filter((each) => each !== mode), explains }) => {
    if (its === mode && others.includes(another)) return explains(about, one, other, node);
    return another === mode && others.includes(its) && explains(about, other, one, node);
  });
}

function areSent({ verdicts }: Outcome): boolean {
  return verdicts.every(({ verdict }) => verdict === 'forward');
}

function isWithin(endpoint: Verdict['endpoint'], networks: AddressRanges): boolean {
  return endpoint !== undefined && networks.some((range) => rangeHas(range, addressNumber(endpoint.address)));
}

function isLeftAloneInstead({ frontend }: ComparedClass, own: Outcome, other: Outcome): boolean {
  return frontend.standsForOthers === true && isOnly(own, 'untouched') && isOnly(other, 'reject');
}

/** Whether all endpoints of the first are among those of the second. */
function isPartOf(own: Outcome, other: Outcome): boolean {
  const its = endpointsOf(other);
  const mine = endpointsOf(own);
  return [...mine].every((endpoint) => its.has(endpoint));
}

function endpointsOf({ verdicts }: Outcome): ReadonlySet<string> {
  return new Set(
    verdicts.flatMap(({ endpoint }) => (endpoint ? [`${endpoint.address} ${endpoint.port}`] : [])),
  );
}

function saysNoLocal({ paths }: Outcome): boolean {
  return paths.every(({ steps }) =>
    steps.some(({ rule }) => /has no local endpoints|no-local-endpoints drop|vmap @no-endpoint-/.test(rule)),
  );
}

function isOnly({ verdicts }: Outcome, verdict: Verdict['verdict']): boolean {
  return verdicts.length === 1 && verdicts[0]!.verdict === verdict;
}

/** Whether both lead to the same, but that some verdicts of the first, and only such, keep their source on the other side. */
function differOnlyIn(own: Outcome, other: Outcome, isSpecial: (verdict: Verdict) => boolean): boolean {
  const plain = ({ verdicts }: Outcome) =>
    verdicts
      .map((verdict) => verdictName(isSpecial(verdict) ? { ...verdict, masquerade: false } : verdict))
      .sort();
  return (
    own.stickySeconds === other.stickySeconds &&
    String(plain(own)) === String(other.verdicts.map(verdictName).sort())
  );
}
