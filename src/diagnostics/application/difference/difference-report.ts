import { grouped } from '../../../domain/model/maps.js';
import { parseDisplayName, type ServiceKey } from '../../../domain/model/service-port-name.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { RuleDifference } from '../../../domain/reconcile/rule-difference.js';
import { family, fields, fieldsOf, list, number, oneOf, optional, text } from '../../../domain/shape.js';
import { ForwardingTable } from '../../../domain/forwarding/forwarding-table.js';
import type { ClusterState } from '../../../domain/state/cluster-state.js';
import type { Backend, StartOptions } from '../../../application/ports/backend.js';
import type { FamilyContext } from '../../../application/use-cases/sync.js';

export type FamilyDifference = ReturnType<typeof ofFamily>;
const ofFamily = fields({
  family,
  /** By service port; those of the node, or without a known owner, last. Only the first are listed where there are very many. */
  lines: list(fieldsOf<RuleDifference>({ sign: oneOf('-', '+'), text, servicePort: optional(text) })),
  /** How many are not listed. */
  omitted: number,
  /** Why nothing is known; then there are no lines. */
  problem: optional(text),
});

/** Differences of the kernel from the desired state. */
export type DifferenceReport = ReturnType<typeof differenceAnswer>;
export const differenceAnswer = fields({ mode: text, families: list(ofFamily) });

/** The problem of backends that cannot tell differences. */
const CANNOT_COMPARE = 'this mode cannot compare';

/** Lines of one family that are listed at most. */
const LISTED = 10_000;

/**
 * @param lines undefined if the backend cannot tell
 * @param services of which alone; none: all
 */
export function familyDifference(
  family: IpFamily,
  lines: readonly RuleDifference[] | undefined,
  services: readonly ServiceKey[] = [],
): FamilyDifference {
  if (!lines) return unknownDifference(family, CANNOT_COMPARE);
  const wanted =
    services.length === 0
      ? lines
      : lines.filter((line) => services.some((service) => service === serviceOfLine(line)));
  return {
    family,
    lines: byServicePort(wanted).slice(0, LISTED),
    omitted: Math.max(0, wanted.length - LISTED),
  };
}

/** @param problem why nothing is known */
export function unknownDifference(family: IpFamily, problem: string): FamilyDifference {
  return { family, lines: [], omitted: 0, problem };
}

/** Only the lines of the service ports that are meant. */
export function linesOf(
  { mode, families }: DifferenceReport,
  isMeant: (service: ServiceKey, port: string) => boolean,
): DifferenceReport {
  const passes = ({ servicePort = '' }: RuleDifference): boolean => {
    const { service, port } = parseDisplayName(servicePort);
    return isMeant(service, port);
  };
  return { mode, families: families.map((one) => ({ ...one, lines: one.lines.filter(passes) })) };
}

/** Neither a difference nor a problem. */
export function isNone({ families }: DifferenceReport): boolean {
  return families.every(({ lines, problem }) => lines.length === 0 && problem === undefined);
}

function serviceOfLine({ servicePort }: RuleDifference): ServiceKey | undefined {
  return servicePort === undefined ? undefined : parseDisplayName(servicePort).service;
}

/** In their order within each service port. */
function byServicePort(lines: readonly RuleDifference[]): readonly RuleDifference[] {
  const groups = grouped(lines, ({ servicePort }) => servicePort);
  // `undefined` is sorted behind everything else.
  return [...groups.keys()].sort().flatMap((servicePort) => groups.get(servicePort)!);
}

/**
 * What a first sync of one family would change for the known objects. Changes nothing.
 * @param backend which is used for nothing else
 * @throws when the kernel cannot be read
 */
export async function plannedDifference(
  state: ClusterState,
  { forwarding, network }: FamilyContext,
  backend: Backend,
  options: StartOptions,
): Promise<FamilyDifference> {
  const { family } = backend;
  const entries = ForwardingTable.of(state, forwarding).entries();
  const lines = await backend.plannedDifferences?.(entries, network, options);
  return familyDifference(family, lines);
}
