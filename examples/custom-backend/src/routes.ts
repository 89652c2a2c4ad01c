import {
  endpointPlace,
  OwnedParts,
  type ForwardingEntry,
  type Frontend,
  type NodeNetwork,
  type Part,
} from 'kube-proxy-ts';

/** A line of the file: where one address of a service leads. */
export interface Route extends Part {
  readonly line: string;
}

/** Compiles one service port. A frontend that leads nowhere has no route: whoever reads the file refuses what is not in it. */
export function routesOf(entry: ForwardingEntry, node: NodeNetwork): readonly Route[] {
  const routes = entry.frontends.flatMap((frontend) => frontendRoutes(entry, frontend, node));
  return [...new Map(routes.map((route) => [route.key, route])).values()];
}

/** Routes of many service ports. Of two that claim the same address, the first by key has it. */
export function newRoutes(): OwnedParts<Route> {
  return new OwnedParts((one, other) => one.line === other.line);
}

/** The file that they make, the same whoever came first. */
export function textOf(routes: OwnedParts<Route>): string {
  return Array.from(routes.held(), ({ part }) => part.line)
    .sort()
    .join('');
}

function frontendRoutes(
  { endpoints, name, affinitySeconds }: ForwardingEntry,
  frontend: Frontend,
  node: NodeNetwork,
): readonly Route[] {
  const list = (frontend.policy === 'Local' ? endpoints.local : endpoints.cluster) ?? [];
  if (frontend.outcome !== 'forward' || list.length === 0) return [];
  const to = list.map(endpointPlace).join(',');
  const sticky = affinitySeconds > 0 ? ` sticky=${affinitySeconds}` : '';
  return addressesOf(frontend, node).map((address) => {
    const key = `${address}:${frontend.port}/${name.protocol}`;
    return { key, frontend: key, line: `${key} ${to}${sticky}\n` };
  });
}

function addressesOf({ address }: Frontend, { nodePortIPs }: NodeNetwork): readonly string[] {
  const addresses = address === undefined ? nodePortIPs : [address];
  if (addresses === 'all') return ['*'];
  return addresses.map((text) => (text.includes(':') ? `[${text}]` : text));
}
