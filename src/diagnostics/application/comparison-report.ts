import type { ComparedNode } from '../domain/compare/clients.js';
import {
  compareSides,
  type ComparedClass,
  type Outcome,
  type Verdict,
} from '../domain/compare/compare-sides.js';
import { EXPLAINED_AT, knownDifference, type KnownDifference } from '../domain/compare/known-differences.js';
import type { Side, SideMode } from '../domain/compare/side.js';
import { getOrMake } from '../../domain/model/maps.js';
import { hostPort, isLoopback } from '../../domain/net/address.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { packetShape, step, type Packet } from '../domain/trace/trace.js';
import { nodeRules } from '../domain/compare/node-rules.js';
import { family, fields, flag, list, number, oneOf, optional, text, word } from '../../domain/shape.js';
import { parseDisplayName } from '../../domain/model/service-port-name.js';

/** How one or more classes of packets are treated by each side. */
export type ReportedDifference = ReturnType<typeof reportedDifference>;
export const reportedDifference = fields({
  /** `namespace/name`, or an address where no rule names a Service. */
  service: text,
  /** One packet that shows it. */
  packet: packetShape,
  /** Its port stands for all that no rule names. */
  otherPorts: optional(oneOf(true)),
  /** Who sends it, for people. */
  sender: text,
  /** The next connection of a client that was sent to this endpoint before. */
  remembered: optional(text),
  /** Its verdict on each side, for people. */
  outcomes: list(text),
  /** The path through the rules of either side. */
  paths: list(list(step)),
  /** How many classes of packets differ so. */
  classes: number,
  /** The name of a known difference. */
  knownDifference: optional(text),
});

/** What could not be compared. */
export type ReportedUnknown = ReturnType<typeof reportedUnknown>;
const reportedUnknown = fields({
  /** The rule, or what it looks at. */
  rule: text,
  /** One packet that meets it; missing if it is not about single packets. */
  packet: optional(packetShape),
  classes: number,
});

export type FamilyReport = ReturnType<typeof familyComparison>;
const familyComparison = fields({
  family,
  /** Of either side. */
  modes: list(word<SideMode>()),
  /** Classes of packets. */
  equalClasses: number,
  differentClasses: number,
  unknownClasses: number,
  /** Of those that differ: by the names of known differences. */
  knownDifferences: list(fields({ name: text, sentence: text, link: text, classes: number, expected: flag })),
  /** Those that are not expected: of each known one some that show it, of others as many as can be looked through. */
  differences: list(reportedDifference),
  /** Classes of packets that differ in what is not known and are not listed, as there are too many others. */
  omitted: number,
  unknowns: list(reportedUnknown),
});

/** Everything that was compared. */
export type ComparisonResult = ReturnType<typeof comparisonAnswer>;
export const comparisonAnswer = fields({
  /** The rules that service proxies have left on this node; only if the kernel is a side. */
  nodeRules: optional(nodeRules),
  /** Why the planned mode cannot run on this node. */
  obstacle: optional(text),
  /** What the sides are, for people. */
  sides: list(text),
  families: list(familyComparison),
  /** The addresses that the node is assumed to have. */
  localAddresses: list(text),
  /** What is left out; for people. */
  notes: list(text),
  /** Objects that are not in a plan, and why. */
  problems: list(text),
});

/** Of a known difference, which is the same for many Services. */
const KNOWN_LISTED = 10;
/** Of others. Each has the way of its packet, which takes room. */
const LISTED = 1000;

/**
 * Compares two sides of a family, and groups what differs by Service and by what differs.
 * @param listed as many groups at most, besides those of known differences
 */
export function familyReport(
  sides: readonly [Side, Side],
  node: ComparedNode,
  expected: ReadonlySet<string>,
  listed = LISTED,
): FamilyReport {
  const modes = [sides[0].mode, sides[1].mode] as const;
  const counts = { equal: 0, different: 0, unknown: 0 };
  let unlisted = 0;
  const known = new Map<KnownDifference, number>();
  const differences = new Map<string, Counted<ReportedDifference>>();
  const unknowns = new Map<string, Counted<ReportedUnknown>>();
  for (const side of sides)
    for (const what of side.unsupported) unknowns.set(what, { rule: what, classes: 0 });
  const services = new Map<string, string>();
  for (const compared of compareSides(sides, node)) {
    if (isForwardingCheck(compared, node.family)) continue;
    counts[compared.result]++;
    noteService(services, compared);
    if (compared.result === 'unknown')
      for (const what of compared.unclear)
        getOrMake(unknowns, what, () => ({ rule: what, packet: compared.packet, classes: 0 })).classes++;
    if (compared.result !== 'different') continue;
    const explained = knownDifference(compared, modes, node);
    const alike = (explained && known.get(explained)) ?? 0;
    if (explained) known.set(explained, alike + 1);
    if (explained && (expected.has(explained.name) || alike >= KNOWN_LISTED)) continue;
    const one = difference(compared, explained);
    const group = groupOf(one);
    if (!explained && differences.size >= listed && !differences.has(group)) unlisted++;
    else getOrMake(differences, group, () => one).classes++;
  }
  return {
    family: node.family,
    modes,
    equalClasses: counts.equal,
    differentClasses: counts.different,
    unknownClasses: counts.unknown,
    knownDifferences: [...known].map(([{ name, sentence }, classes]) => ({
      name,
      sentence,
      link: `${EXPLAINED_AT}#${name}`,
      classes,
      expected: expected.has(name),
    })),
    differences: [...differences.values()]
      .map((one) => ({ ...one, service: services.get(one.service) ?? one.service }))
      .sort((one, other) => (one.service < other.service ? -1 : Number(one.service > other.service))),
    omitted: unlisted,
    unknowns: [...unknowns.values()],
  };
}

/** Whether all is known to be equal, or differs as expected. */
export function isEquivalent(reports: readonly FamilyReport[]): boolean {
  return reports.every(({ differences, unknowns }) => differences.length + unknowns.length === 0);
}

type Counted<One extends { readonly classes: number }> = Omit<One, 'classes'> & { classes: number };

function difference(
  compared: ComparedClass,
  known: KnownDifference | undefined,
): Counted<ReportedDifference> {
  const { frontend, kind, packet, sides, remembered } = compared;
  const [one, other] = sides;
  const stepsOf = ({ paths }: Outcome) => paths.flatMap(({ steps }) => steps);
  return {
    service: serviceIn(compared) ?? frontend.address,
    packet,
    ...(frontend.standsForOthers && { otherPorts: true }),
    sender: clientWords(kind, packet),
    ...(remembered && { remembered: hostPort(remembered.address, remembered.port) }),
    outcomes: [verdictTexts(one), verdictTexts(other)],
    paths: [stepsOf(one), stepsOf(other)],
    classes: 0,
    ...(known && { knownDifference: known.name }),
  };
}

/** Whether a side leads the packets from one loopback port to another: no Service can, but the check of a running proxy does. */
function isForwardingCheck({ frontend, sides }: ComparedClass, family: IpFamily): boolean {
  const isOwn = (text = ''): boolean => isLoopback({ family, text });
  return (
    isOwn(frontend.address) &&
    sides.some(({ verdicts }) => verdicts.every(({ endpoint }) => isOwn(endpoint?.address)))
  );
}

/** Rules for other ports of an address may not say whose it is; those for its own ports do. */
function noteService(services: Map<string, string>, compared: ComparedClass): void {
  const { frontend } = compared;
  if (frontend.standsForOthers || services.has(frontend.address)) return;
  const service = serviceIn(compared);
  if (service !== undefined) services.set(frontend.address, service);
}

function clientWords(kind: ComparedClass['kind'], { source, inputInterface }: Packet): string {
  const through =
    inputInterface === undefined || inputInterface.startsWith('(') ? '' : ` through ${inputInterface}`;
  return `${kind} (${source})${through}`;
}

/** Clients of one frontend that meet the same are told of once. */
function groupOf({ service, packet, outcomes, remembered }: Counted<ReportedDifference>): string {
  return [service, destinationText(packet), remembered ?? '', ...outcomes].join('\n');
}

/** Where a packet goes. */
export type Destination = Pick<Packet, 'destination' | 'destinationPort' | 'protocol'>;

/** `10.96.0.10:80/TCP`. */
export function destinationText({ destination, destinationPort, protocol }: Destination): string {
  return `${hostPort(destination, destinationPort)}/${protocol}`;
}

/** The verdict for a packet, for people. */
function verdictTexts({ verdicts, stickySeconds }: Outcome): string {
  if (stickySeconds === undefined) return verdicts.map(verdictText).join(', ');
  const isForAll = verdicts.every(({ sticky }) => sticky);
  const texts = verdicts.map((verdict) =>
    isForAll || !verdict.sticky ? verdictText(verdict) : `${verdictText(verdict)} (remembered)`,
  );
  return `${texts.join(', ')}, remembered for ${stickySeconds} s`;
}

function verdictText({ verdict, endpoint, masquerade, probability }: Verdict): string {
  const share = probability > 1 - 1e-6 ? '' : ` ${Number((probability * 100).toFixed(4))} %`;
  const source = masquerade ? ' with another source' : '';
  if (verdict === 'forward') return `to ${hostPort(endpoint!.address, endpoint!.port)}${source}${share}`;
  return `${verdict === 'delivered' ? 'left to a process of the node' : verdict}${source}${share}`;
}

/** Chains of kube-proxy in nftables mode: `service-HASH-namespace/name/protocol/port`. */
const CHAIN = /\b(?:service|external|firewall|local|endpoint)-[A-Z0-9]{8}-([a-z0-9-]+\/[a-z0-9.-]+)\//;
/** The beginning of a comment of kube-proxy: `namespace/name:port …`. */
const COMMENT = /--comment "([a-z0-9-]+\/[a-z0-9.-]+)[: "]/;

/** The Service that rules on either side name; undefined if they name none. */
function serviceIn({ sides }: ComparedClass): string | undefined {
  const steps = sides.flatMap(({ paths }) => paths.flatMap((path) => path.steps));
  for (const { servicePort } of steps)
    if (servicePort !== undefined) return parseDisplayName(servicePort).service;
  for (const { where, rule, effect } of steps) {
    const [, name] = CHAIN.exec(`${where} ${effect} ${rule}`) ?? COMMENT.exec(rule) ?? [];
    if (name !== undefined) return name;
  }
  return undefined;
}
