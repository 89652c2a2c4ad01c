import type { ProxyStatus } from '../status/proxy-status.js';
import { NODE_STATES } from '../../../application/status/node-state.js';
import { both, fields, flag, list, number, oneOf, optional, text, word } from '../../../domain/shape.js';
import type { ServiceType } from '../../../domain/model/service.js';
import { endpointCounts } from '../../domain/endpoint-counts.js';
import { isNodeProblem } from '../../../application/status/port-status.js';
import { type NodeAnswer, unknownEverywhere } from './query-nodes.js';
import { unknownName, type ServiceList, type ServiceRow, type UnknownName } from '../status/service-row.js';
import { getOrMake } from '../../../domain/model/maps.js';
import { verdict, worstFirst } from '../../../domain/verdict/verdict.js';

/** One node of a cluster. */
export type NodeRow = ReturnType<typeof nodeRow>;
const nodeRow = fields({
  node: text,
  state: oneOf(...NODE_STATES),
  reasons: list(text),
  /** Of the program. */
  version: text,
  mode: text,
  inSync: flag,
  lagSeconds: number,
  /** Service ports that the node cannot serve as requested, over both families; without those whose Services are the cause. */
  failingServicePorts: number,
  /** Steps that were needed to repair rules which another program had changed, over both families, since the start. */
  repairSteps: number,
});

/** All nodes of a cluster. */
export type ClusterStatus = ReturnType<typeof clusterStatusAnswer>;
export const clusterStatusAnswer = fields({
  /** Those that answered, problems first. */
  nodes: list(nodeRow),
});

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
    failingServicePorts: sum(
      families.map(
        ({ failed, degraded }) =>
          failed.filter((port) => isNodeProblem('failed', port)).length +
          degraded.filter((port) => isNodeProblem('degraded', port)).length,
      ),
    ),
    repairSteps: sum(families.map(({ sync }) => sync.drift.writtenSteps)),
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
export type ClusterServices = ReturnType<typeof clusterServices>;

/** A verdict, and the endpoints behind it. */
type NodesVerdict = ReturnType<typeof nodesVerdict>;
const nodesVerdict = both(
  verdict,
  fields({
    endpointCounts,
    nodeCount: number,
    /** The nodes that share it, unless it is plain ok; those are too many to list. */
    nodes: list(text),
  }),
);

/** One Service, over all nodes that list it. */
export type ClusterService = ReturnType<typeof clusterService>;
const clusterService = fields({
  namespace: text,
  name: text,
  type: optional(word<ServiceType>()),
  frontends: list(text),
  /** Nodes that list it. */
  nodeCount: number,
  /** The verdicts of these nodes, the worst first. */
  verdicts: list(nodesVerdict),
});

export const clusterServices = fields({
  /** By namespace and name. */
  services: list(clusterService),
  /** Requested names that no node has. */
  unknownNames: list(unknownName),
});

type Open<Type> = { -readonly [Name in keyof Type]: Type[Name] };
type OpenVerdict = Open<Omit<NodesVerdict, 'nodes'>> & { readonly nodes: string[] };
type OpenService = Open<Omit<ClusterService, 'verdicts'>> & { readonly verdicts: Map<string, OpenVerdict> };

/** Adds up the lists of nodes as they come: one list is kept, and the nodes of each verdict that is not plain ok. */
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
      ...{ namespace, name, ...(type && { type }), frontends, nodeCount: 0, verdicts: new Map() },
    }));
    service.nodeCount++;
    // Reasons of ok without a cause count endpoints, which may differ from node to node.
    const shared = state === 'ok' && cause === undefined ? '' : `${state} ${reason}`;
    const its = getOrMake(service.verdicts, shared, () => ({
      ...{ state, ...(cause && { cause }), reason, ...(nextStep && { nextStep }) },
      ...{ endpointCounts, nodeCount: 0, nodes: [] },
    }));
    its.nodeCount++;
    if (shared !== '') its.nodes.push(node);
  }
}

function worstThenMost(one: NodesVerdict, other: NodesVerdict): number {
  return worstFirst(one, other) || other.nodeCount - one.nodeCount || (one.reason < other.reason ? -1 : 1);
}
