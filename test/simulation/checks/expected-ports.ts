import { endpointsOf, select, type Endpoint, type Selection } from '../../model/endpoints.js';
import type { EndpointSlice, Node, Service } from '../../model/objects.js';
import { servicePorts, type Frontend, type ServicePort } from '../../model/service-ports.js';
import type { ApiObject } from '../../support/api-server/object-store.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';

const METHOD = 'kube-proxy-ts/load-balancing';

export interface ExpectedFrontend extends Frontend {
  readonly protocol: ServicePort['protocol'];
}

export type ExpectedEndpoint = Endpoint;

/** One port of a Service in one family, as the model of docs/internals/spec has it, with the weights of its endpoints. */
export interface ExpectedPort extends ServicePort, Selection {
  /** As the program names it: `shop/cart:http`, with its protocol. */
  readonly key: string;
  readonly frontends: readonly ExpectedFrontend[];
  readonly cluster: readonly ExpectedEndpoint[];
  readonly local: readonly ExpectedEndpoint[];
  /** Of those of the lists that would be chosen from, those of weight 0, where others have more. */
  readonly weightless: Readonly<Record<'cluster' | 'local', readonly ExpectedEndpoint[]>>;
  /** How endpoints are chosen, as the Service asks for; `random` unless it does. */
  readonly method: string;
  /** All, in any condition. */
  readonly known: readonly ExpectedEndpoint[];
  /** Those that may keep their connections: ready, or not yet done with what they have. */
  readonly serving: readonly ExpectedEndpoint[];
  /** The address of the node at which node ports are served, whatever else it has. */
  readonly nodeAddress: string;
  /** Clients in it are local pods. */
  readonly localNetwork: string;
}

/** Without external traffic, internalTrafficPolicy Local leaves only the endpoints of this node (docs/internals/spec/ipvs.md §4.5). */
export function usesCluster(port: ServicePort): boolean {
  return !port.internalPolicyLocal || port.isExternallyAccessible;
}

/** This node, as endpoints and hints name it. */
export interface ExpectedNode {
  readonly name: string;
  readonly zone: string;
  /** That its Node object has first, of each family. */
  readonly addresses: Readonly<Record<IpFamily, string>>;
  /** Whose traffic is that of local pods (docs/internals/spec/model.md §7): of each family. */
  readonly localNetworks: Readonly<Record<IpFamily, string>>;
}

/** What is asked for all ports of a Service. */
export function expectedPorts(
  object: ApiObject | undefined,
  slices: readonly ApiObject[],
  node: ExpectedNode,
  families: readonly IpFamily[],
): readonly ExpectedPort[] {
  if (!object) return [];
  const service = object as unknown as Service;
  const annotations = service.metadata.annotations ?? {};
  const here: Node = { ...node, podCIDRs: [], primaryAddresses: [], localAddresses: [] };
  return families.flatMap((family) =>
    servicePorts({ services: [service] })
      .filter((port) => port.family === family)
      .map((port): ExpectedPort => {
        const { portName, protocol } = port;
        const endpoints = endpointsOf(port, slices as unknown as readonly EndpointSlice[], here);
        const selection = select(port, endpoints, here);
        const [cluster, local] = [selection.cluster, selection.local].map(byWeight);
        return {
          ...port,
          key: `${port.service}${portName === '' ? '' : `:${portName}`}/${protocol}`,
          frontends: port.frontends.map((frontend) => ({ ...frontend, protocol })),
          cluster: cluster!.chosen,
          local: local!.chosen,
          weightless: { cluster: cluster!.weightless, local: local!.weightless },
          method: annotations[METHOD] ?? 'random',
          known: endpoints,
          serving: endpoints.filter(({ ready, serving }) => ready || serving),
          hasAny: selection.hasAny,
          nodeAddress: node.addresses[family],
          localNetwork: node.localNetworks[family],
        };
      }),
  );
}

/** Where all have weight 0, all count alike (docs/configuration/load-balancing.md). */
function byWeight(list: readonly ExpectedEndpoint[]) {
  const chosen = list.filter(({ weight }) => weight > 0);
  if (chosen.length === 0) return { chosen: list.map((one) => ({ ...one, weight: 1 })), weightless: [] };
  return { chosen, weightless: list.filter(({ weight }) => weight === 0) };
}
