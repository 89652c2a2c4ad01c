import type { PortIdentity } from '../../domain/model/endpoint.js';
import { serviceKey, type Protocol, type ServiceKey } from '../../domain/model/service-port-name.js';
import type { FieldProblem } from '../../domain/validation/schema.js';
import { noSlices, noSuchPort, type NamedService } from '../../domain/verdict/sentences.js';

/** What of a Service and of an EndpointSlice refers to the other, in objects that are valid. */
interface Named {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}
interface WithPorts {
  readonly ports?: readonly { readonly name?: string; readonly protocol?: Protocol }[] | null;
}

interface Spec extends WithPorts {
  readonly type?: string;
  readonly clusterIP?: string;
  readonly selector?: object | null;
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
          what: noSlices(namedService(service, spec)).reason,
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
  spec: Spec,
  slices: readonly Slice[],
): Generator<ReferenceProblem> {
  const present = slices.flatMap(portsOf);
  for (const [index, wanted] of portsOf(spec).entries())
    if (!present.some(({ port, protocol }) => port === wanted.port && protocol === wanted.protocol))
      yield {
        subject: `Service ${service}`,
        field: `spec.ports[${index}].name`,
        what: noSuchPort(namedService(service, spec), wanted, present).reason,
      };
}

function portsOf({ ports }: WithPorts): readonly PortIdentity[] {
  return (ports ?? []).map(({ name: port = '', protocol = 'TCP' }) => ({ port, protocol }));
}

/** As the sentences of verdicts take it: of a selector only whether there is one. */
function namedService(service: ServiceKey, { selector }: Spec): NamedService {
  const [namespace = '', name = ''] = service.split('/');
  return { namespace, name, ...(selector && { selector: '' }) };
}
