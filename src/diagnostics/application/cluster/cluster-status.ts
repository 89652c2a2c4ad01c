import type { ProxyStatus } from '../status/proxy-status.js';
import type { VerdictState } from '../../../domain/verdict/verdict.js';
import { isNodeProblem } from '../../../application/status/port-status.js';
import { type NodeAnswer, unknownEverywhere } from './query-nodes.js';
import type { ServiceList, ServiceRow, UnknownName } from '../status/service-row.js';

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
  /** Names that were asked for, and that no node knows. */
  readonly unknownNames: readonly UnknownName[];
}

/** One Service, over all nodes that answered. */
export interface ClusterService extends Pick<ServiceRow, 'namespace' | 'name' | 'type' | 'frontends'> {
  /** Nodes that list it. */
  readonly listed: number;
  /** Nodes that have programmed it without deviation. */
  readonly programmed: number;
  /** What it is on the others. */
  readonly others: readonly OtherState[];
}

interface OtherState {
  readonly node: string;
  readonly state: VerdictState;
  readonly reason: string;
}

type Counted = { -readonly [Name in keyof ClusterService]: ClusterService[Name] } & { others: OtherState[] };

/** Adds up the lists of nodes as they come: what is kept is one list, and what deviates from it. */
export class ServicesSum {
  private readonly rows = new Map<string, Counted>();
  private readonly unknown: (readonly UnknownName[])[] = [];

  add(node: string, { services, unknownNames }: ServiceList): void {
    this.unknown.push(unknownNames);
    for (const row of services) this.count(node, row);
  }

  result(): ClusterServices {
    const services = [...this.rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
    return { services, unknownNames: unknownEverywhere(this.unknown) };
  }

  private count(node: string, { namespace, name, type, frontends, state, reason }: ServiceRow): void {
    const key = `${namespace}\0${name}`;
    let row = this.rows.get(key);
    if (!row) {
      row = { namespace, name, ...(type && { type }), frontends, listed: 0, programmed: 0, others: [] };
      this.rows.set(key, row);
    }
    row.listed++;
    if (state === 'ok') row.programmed++;
    else row.others.push({ node, state, reason });
  }
}
