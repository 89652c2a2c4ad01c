import type { ServiceKey } from '../model/service-port-name.js';
import { serviceKey } from '../model/service-port-name.js';
import type { FieldProblem } from './schema.js';

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

interface Slice extends WithPorts {
  readonly subject: string;
}

/** What may be wrong, of `EndpointSlice shop/web-1`. */
export interface Doubt extends FieldProblem {
  readonly subject: string;
}

const OWNER = 'kubernetes.io/service-name';

/**
 * References between objects of one set of manifests that lead nowhere. Each object may be valid, and be meant for others that are
 * elsewhere: what is found is doubtful, not wrong.
 */
export class References {
  private readonly expected = new Set<ServiceKey>();
  private readonly services = new Map<ServiceKey, WithPorts>();
  private readonly slices = new Map<ServiceKey, readonly Slice[]>();

  /** A Service that is invalid, and so none of these, but meant to be there. */
  expect(service: ServiceKey): void {
    this.expected.add(service);
  }

  /** Takes one object that is valid, with its defaults. */
  add(kind: string, object: object): void {
    const { metadata, ...rest } = object as Named & { readonly spec?: WithPorts } & WithPorts;
    if (kind === 'Service') this.services.set(serviceKey(metadata.namespace, metadata.name), rest.spec ?? {});
    const owner = metadata.labels?.[OWNER];
    if (kind !== 'EndpointSlice' || owner === undefined) return;
    const key = serviceKey(metadata.namespace, owner);
    const slice = { subject: `${kind} ${serviceKey(metadata.namespace, metadata.name)}`, ports: rest.ports };
    this.slices.set(key, [...(this.slices.get(key) ?? []), slice]);
  }

  /** EndpointSlices of a Service that is not among these, unless no Service is, and ports of Services that none of their slices has. */
  *doubts(): Generator<Doubt> {
    for (const [service, slices] of this.slices) {
      const spec = this.services.get(service);
      if (spec) yield* portsWithout(service, spec, slices);
      else if (this.services.size > 0 && !this.expected.has(service))
        for (const { subject } of slices)
          yield {
            subject,
            field: `metadata.labels[${OWNER}]`,
            what: `no Service ${service} is in these manifests`,
          };
    }
  }
}

function* portsWithout(service: ServiceKey, spec: WithPorts, slices: readonly Slice[]): Generator<Doubt> {
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
