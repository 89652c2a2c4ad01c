import type { ServiceKey } from '../../domain/model/service-port-name.js';
import { serviceKey } from '../../domain/model/service-port-name.js';
import type { FieldProblem } from '../../domain/validation/schema.js';

/** What of a Service and of an EndpointSlice refers to the other, in objects that are valid. */
interface Named {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}
interface WithPorts {
  readonly ports?: readonly { readonly name?: string; readonly protocol?: string }[] | null;
}

interface Spec extends WithPorts {
  readonly type?: string;
  readonly clusterIP?: string;
}

interface Slice extends WithPorts {
  readonly subject: string;
}

/** What may be wrong, of `EndpointSlice shop/web-1`. */
export interface ReferenceProblem extends FieldProblem {
  readonly subject: string;
}

const OWNER = 'kubernetes.io/service-name';

/**
 * References between objects of one set of manifests that lead nowhere. Each object may be valid, and be meant for others that are
 * elsewhere: what is found is a warning, not an error.
 */
export class References {
  private readonly expected = new Set<ServiceKey>();
  private readonly services = new Map<ServiceKey, Spec>();
  /** Of the same name as a Service. */
  private readonly endpoints = new Set<ServiceKey>();
  private readonly slices = new Map<ServiceKey, readonly Slice[]>();

  /** A Service that is invalid, and so none of these, but meant to be there. */
  expect(service: ServiceKey): void {
    this.expected.add(service);
  }

  /** Takes one object that is valid, with its defaults. */
  add(kind: string, object: object): void {
    const { metadata, ...rest } = object as Named & { readonly spec?: Spec } & WithPorts;
    if (kind === 'Service') this.services.set(serviceKey(metadata.namespace, metadata.name), rest.spec ?? {});
    if (kind === 'Endpoints') this.endpoints.add(serviceKey(metadata.namespace, metadata.name));
    const owner = metadata.labels?.[OWNER];
    if (kind !== 'EndpointSlice' || owner === undefined) return;
    const key = serviceKey(metadata.namespace, owner);
    const slice = { subject: `${kind} ${serviceKey(metadata.namespace, metadata.name)}`, ports: rest.ports };
    this.slices.set(key, [...(this.slices.get(key) ?? []), slice]);
  }

  /**
   * EndpointSlices of a Service that is not among these, unless no Service is; Services beside them that have none; and ports of
   * Services that none of their slices has.
   */
  *problems(): Generator<ReferenceProblem> {
    const lost = new Set<string>();
    for (const [service, slices] of this.slices) {
      const spec = this.services.get(service);
      if (spec) yield* portsWithout(service, spec, slices);
      else if (this.services.size > 0 && !this.expected.has(service)) {
        lost.add(namespaceOf(service));
        for (const { subject } of slices)
          yield {
            subject,
            field: `metadata.labels[${OWNER}]`,
            what: `no Service ${service} is in these manifests`,
          };
      }
    }
    for (const [service, spec] of this.services)
      if (lost.has(namespaceOf(service)) && this.isNotProxied(service, spec))
        yield {
          subject: `Service ${service}`,
          field: 'metadata.name',
          what: `no EndpointSlice has the label ${OWNER}=${service.split('/')[1]!}, so nothing serves it`,
        };
  }

  /** Whether nothing of these leads it anywhere, and a proxy would. */
  private isNotProxied(service: ServiceKey, { type, clusterIP }: Spec): boolean {
    const isProxied = type !== 'ExternalName' && clusterIP !== 'None';
    return isProxied && !this.slices.has(service) && !this.endpoints.has(service);
  }
}

function namespaceOf(service: ServiceKey): string {
  return service.split('/')[0]!;
}

function* portsWithout(
  service: ServiceKey,
  spec: WithPorts,
  slices: readonly Slice[],
): Generator<ReferenceProblem> {
  const known = new Set(slices.flatMap(({ ports }) => (ports ?? []).map(portText)));
  for (const [index, port] of (spec.ports ?? []).entries())
    if (!known.has(portText(port)))
      yield {
        subject: `Service ${service}`,
        field: `spec.ports[${index}].name`,
        what: `none of its EndpointSlices has a port ${portText(port)} (they have: ${[...known].join(', ') || 'none'}), so nothing serves it`,
      };
}

function portText({
  name = '',
  protocol = 'TCP',
}: {
  readonly name?: string;
  readonly protocol?: string;
}): string {
  return `${name === '' ? 'without a name' : name}/${protocol}`;
}
