import type { ProxyStatus } from '../status/proxy-status.js';
import { isNodeProblem } from '../../../application/status/port-status.js';
import { type NodeAnswer, unknownEverywhere } from './query-nodes.js';
import type { ServiceList, ServiceRow, UnknownName } from '../status/service-row.js';
import { getOrMake } from '../../../domain/model/maps.js';
import { worstFirst, type Verdict } from '../../../domain/verdict/verdict.js';

/** One node of a cluster. */
export interface NodeRow extends Pick<ProxyStatus, 'state' | 'reasons' | 'mode' | 'inSync' | 'lagSeconds'> {
  readonly node: string;
  /** Of the program. */
  readonly version: string;
  /** Service ports that the node cannot serve as requested, over both families; without those whose Services are the cause. */
  readonly failing: number;
  /** Steps that were needed to repair rules which another program had changed, over both families, since the start. */
  readonly drift: number;
}

/** All nodes of a cluster. */
export interface ClusterStatus {
  /** Those that answered, problems first. */
  readonly nodes: readonly NodeRow[];
}

/** Problems first, otherwise in the order of the answers. */
export function clusterStatus(answers: readonly NodeAnswer<ProxyStatus>[]): ClusterStatus {
  return { nodes: answers.map(rowOf).sort((a, b) => urgency(b) - urgency(a)) };
}

function rowOf({ node, answer }: NodeAnswer<ProxyStatus>): NodeRow {
  const { state, versions, mode, inSync, lagSeconds, families, reasons } = answer;
  return {
    node,
    state,
    version: versions.program,
    mode,
    inSync,
    lagSeconds,
    failing: sum(
      families.map(
        ({ failed, degraded }) =>
          failed.filter((port) => isNodeProblem('failed', port)).length +
          degraded.filter((port) => isNodeProblem('degraded', port)).length,
      ),
    ),
    drift: sum(families.map(({ sync }) => sync.drift.writtenSteps)),
    reasons,
  };
}

/** A node that only waits is worth more of a look than one that does not. */
function urgency({ state, inSync }: NodeRow): number {
  return { 'not-serving': 2, degraded: 1, ok: 0 }[state] * 2 + Number(!inSync);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** The Services of a cluster, as its proxies list them. */
export interface ClusterServices {
  /** By namespace and name. */
  readonly services: readonly ClusterService[];
  /** Requested names that no node has. */
  readonly unknownNames: readonly UnknownName[];
}

/** One Service, over all nodes that list it. */
export interface ClusterService extends Pick<ServiceRow, 'namespace' | 'name' | 'type' | 'frontends'> {
  /** Nodes that list it. */
  readonly listed: number;
  /** The verdicts of these nodes, the worst first. */
  readonly verdicts: readonly NodesVerdict[];
}

/** A verdict, and the endpoints behind it. */
interface NodesVerdict extends Verdict, Pick<ServiceRow, 'endpointCounts'> {
  readonly count: number;
  /** The nodes that share it, unless it is ok; those are too many to list. */
  readonly nodes: readonly string[];
}

type Open<Type> = { -readonly [Name in keyof Type]: Type[Name] };
type OpenVerdict = Open<Omit<NodesVerdict, 'nodes'>> & { readonly nodes: string[] };
type OpenService = Open<Omit<ClusterService, 'verdicts'>> & { readonly verdicts: Map<string, OpenVerdict> };

/** Adds up the lists of nodes as they come: one list is kept, and the nodes of each verdict that is not ok. */
export class ServicesSum {
  private readonly rows = new Map<string, OpenService>();
  private readonly unknown: (readonly UnknownName[])[] = [];

  add(node: string, { services, unknownNames }: ServiceList): void {
    this.unknown.push(unknownNames);
    for (const row of services) this.count(node, row);
  }

  result(): ClusterServices {
    const services = [...this.rows]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, row]) => ({ ...row, verdicts: [...row.verdicts.values()].sort(worstThenMost) }));
    return { services, unknownNames: unknownEverywhere(this.unknown) };
  }

  private count(node: string, row: ServiceRow): void {
    const { namespace, name, type, frontends, endpointCounts, state, cause, reason, nextStep } = row;
    const service = getOrMake(this.rows, `${namespace}\0${name}`, () => ({
      ...{ namespace, name, ...(type && { type }), frontends, listed: 0, verdicts: new Map() },
    }));
    service.listed++;
    // Reasons of ok count endpoints, which may differ from node to node.
    const verdict = getOrMake(service.verdicts, state === 'ok' ? '' : `${state} ${reason}`, () => ({
      ...{ state, ...(cause && { cause }), reason, ...(nextStep && { nextStep }) },
      ...{ endpointCounts, count: 0, nodes: [] },
    }));
    verdict.count++;
    if (state !== 'ok') verdict.nodes.push(node);
  }
}

function worstThenMost(one: NodesVerdict, other: NodesVerdict): number {
  return worstFirst(one, other) || other.count - one.count;
}
