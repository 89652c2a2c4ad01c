import type { ServicePortKey } from '../model/service-port-name.js';
import type { Doubts, Losers } from './doubts.js';
import { isTranslated, type Flow } from './flow.js';
import { FrontendMap, NODE_PORT, type FrontendAddress } from './frontend-map.js';
import type { UdpServicePort } from './udp-service-port.js';

/** Why a flow must go; undefined when it stays. */
export type StaleReason =
  /** Its endpoint serves no longer, and others do. */
  | 'endpoint gone'
  /** No endpoint serves: the client is to be refused. */
  | 'no endpoint left'
  /** It began before the address belonged to a service. */
  | 'never translated'
  /** The service, its address or its node port is gone. */
  | 'frontend gone';

const NOBODY: FrontendMap<Losers> = new FrontendMap();

/**
 * Which endpoint may have which flows in one family, by the rules that are in the kernel now or on their way: for each
 * frontend of a UDP service port all endpoints that serve, or to which the rules lead without that. Locality, policies
 * and affinity do not count: a flow that is served stays where it is (docs/spec/conntrack.md §2).
 */
export class DesiredFlows {
  private readonly ports = new Map<ServicePortKey, UdpServicePort>();
  /** Two service ports may claim one frontend; then the endpoints of either are right. */
  private readonly owners = new FrontendMap<readonly UdpServicePort[]>();
  /** What is on its way into the kernel. Its flows may be there already. */
  private coming = new FrontendMap<readonly UdpServicePort[]>();

  get size(): number {
    return this.ports.size;
  }

  /** From now on the rules may lead to these, too, in place of those that were expected before. */
  expect(coming: readonly UdpServicePort[]): void {
    this.coming = new FrontendMap();
    for (const port of coming) for (const frontend of port.frontends) own(this.coming, frontend, port);
  }

  /** Takes over what a service port is now, undefined when it is gone, and doubts the flows that this may have made wrong. */
  update(key: ServicePortKey, after: UdpServicePort | undefined, doubts: Doubts): void {
    const before = this.ports.get(key);
    if (!before && !after) return;
    for (const frontend of before?.frontends ?? []) this.disown(frontend, before!);
    for (const frontend of after?.frontends ?? []) own(this.owners, frontend, after!);
    if (after) this.ports.set(key, after);
    else this.ports.delete(key);
    const kept = new Set(after?.frontends.map(textOf));
    for (const frontend of before?.frontends ?? [])
      if (!kept.has(textOf(frontend))) doubts.doubt(frontend, before!.endpoints);
    const had = new Set(before?.frontends.map(textOf));
    const lost = [...(before?.endpoints ?? [])].filter((endpoint) => !after?.endpoints.has(endpoint));
    const wasRefused = before?.endpoints.size === 0 && after !== undefined && after.endpoints.size > 0;
    for (const frontend of after?.frontends ?? [])
      if (lost.length > 0 || wasRefused || !had.has(textOf(frontend))) doubts.doubt(frontend, lost);
  }

  /** Node ports no longer answer on these addresses; doubts the flows that got in by them. */
  nodePortsLeft(addresses: Iterable<string>, doubts: Doubts): void {
    for (const address of addresses)
      for (const [frontend, owners] of this.owners.entries())
        if (frontend.address === NODE_PORT)
          for (const { endpoints } of owners) doubts.doubt({ address, port: frontend.port }, endpoints);
  }

  /** A former process's frontends are gone, whatever they led to; doubts the flows of those that nobody has now. */
  frontendsLeft(frontends: Iterable<FrontendAddress>, doubts: Doubts): void {
    for (const frontend of frontends)
      if (!this.owners.get(frontend.port, frontend.address)) doubts.doubt(frontend, 'all');
  }

  /**
   * Judges a flow.
   * @param lost who has lost a frontend since flows were last looked at
   * @param takesNodePorts whether node ports answer on the address
   */
  judge(
    flow: Flow,
    takesNodePorts: (address: string) => boolean,
    lost: FrontendMap<Losers> = NOBODY,
  ): StaleReason | undefined {
    const port = flow.destinationPort;
    if (!this.owners.hasPort(port) && !lost.hasPort(port)) return undefined;
    const { destination, answerer } = flow;
    if (serves(this.coming.get(port, destination), answerer)) return undefined;
    if (serves(this.coming.get(port, NODE_PORT), answerer)) return undefined;
    const owners = this.owners.get(port, destination);
    if (owners) return judgeOwned(flow, owners);
    const nodePortOwners = this.owners.get(port, NODE_PORT);
    if (nodePortOwners && takesNodePorts(destination)) return judgeOwned(flow, nodePortOwners);
    if (!isTranslated(flow)) return undefined;
    const here = lost.get(port, destination);
    if (here === 'all' || here?.has(answerer)) return 'frontend gone';
    const nodePort = lost.get(port, NODE_PORT);
    // Where the endpoints are not known, the address must tell that it was the node port.
    const lostNodePort =
      nodePort === 'all'
        ? takesNodePorts(destination)
        : nodePort?.has(answerer) && !serves(nodePortOwners, answerer);
    return lostNodePort ? 'frontend gone' : undefined;
  }

  private disown(frontend: FrontendAddress, owner: UdpServicePort): void {
    const others = this.owners.get(frontend.port, frontend.address)?.filter((other) => other !== owner) ?? [];
    if (others.length > 0) this.owners.set(frontend, others);
    else this.owners.delete(frontend);
  }
}

function own(
  owners: FrontendMap<readonly UdpServicePort[]>,
  frontend: FrontendAddress,
  owner: UdpServicePort,
): void {
  owners.set(frontend, [...(owners.get(frontend.port, frontend.address) ?? []), owner]);
}

function judgeOwned(flow: Flow, owners: readonly UdpServicePort[]): StaleReason | undefined {
  if (serves(owners, flow.answerer)) return undefined;
  if (!isTranslated(flow)) return 'never translated';
  return owners.some(({ endpoints }) => endpoints.size > 0) ? 'endpoint gone' : 'no endpoint left';
}

function serves(owners: readonly UdpServicePort[] | undefined, endpoint: string): boolean {
  return owners?.some(({ endpoints }) => endpoints.has(endpoint)) ?? false;
}

function textOf({ address, port }: FrontendAddress): string {
  return `${address} ${port}`;
}
