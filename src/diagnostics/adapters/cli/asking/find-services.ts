import type { AboutUnknown, UnknownName } from '../../../application/status/service-row.js';
import { serviceKey, type ServiceKey } from '../../../../domain/model/service-port-name.js';
import type { ServiceName } from '../command-line/service-names.js';
import { listServices, ofNames } from './list-services.js';
import type { RunningProxy } from './running-proxy.js';
import { unknownPorts } from './unknown-ports.js';

/** A service port that an answer says something of. */
export interface ServiceAndPort {
  readonly service: ServiceKey;
  readonly port: string;
}

/** Services that were asked about, and of which of their ports. */
export class FoundServices {
  /** The ports of each that are asked about; undefined: all. */
  private readonly ports = new Map<ServiceKey, Set<string> | undefined>();

  /** @param unknown the names without a namespace that no known Service has */
  constructor(
    private readonly asked: readonly ServiceName[],
    readonly unknown: readonly UnknownName[] = [],
  ) {}

  get keys(): readonly ServiceKey[] {
    return [...this.ports.keys()];
  }

  /** All Services are meant, and what is of none. */
  get isAll(): boolean {
    return this.asked.length === 0;
  }

  add(key: ServiceKey, port: string | undefined): void {
    const before = this.ports.get(key);
    if (port === undefined || (this.ports.has(key) && before === undefined)) this.ports.set(key, undefined);
    else this.ports.set(key, new Set(before).add(port));
  }

  /** Whether something about this port of a Service was asked for. */
  hasPort(key: ServiceKey, port: string): boolean {
    if (this.isAll) return true;
    return this.ports.has(key) && (this.ports.get(key)?.has(port) ?? true);
  }

  /** The ports of a Service that are asked for; none: all. */
  portsOf(key: ServiceKey): readonly string[] {
    return [...(this.ports.get(key) ?? [])];
  }

  /** As parameters of a question: none for all Services, and one of no Service where none was found. */
  get parameters(): URLSearchParams {
    const keys = !this.isAll && this.ports.size === 0 ? ['/'] : this.keys;
    return new URLSearchParams(keys.map((key): [string, string] => ['service', key]));
  }

  /**
   * The answer, with the names of which nothing is known.
   * @param told the service ports of which it says something: the others may not exist
   */
  async withUnknown<Answer extends object>(
    proxy: RunningProxy,
    answer: Answer,
    told: readonly ServiceAndPort[],
  ): Promise<Answer & AboutUnknown> {
    if (this.isAll) return answer;
    const silent = this.keys.filter((key) => !told.some(({ service }) => service === key));
    const { unknown } = silent.length > 0 ? await listServices(proxy, ofNames(silent)) : { unknown: [] };
    const isTold = ({ service, port }: ServiceName): boolean =>
      told.some(
        (one) => one.port === port && (one.service === service || one.service.endsWith(`/${service}`)),
      );
    const ports = await unknownPorts(
      proxy,
      this.asked.filter((name) => !isTold(name)),
    );
    return { ...answer, unknown: [...this.unknown, ...unknown, ...ports] };
  }
}

/** The Services of these names. Only names without a namespace are looked for; whether the others exist, the answer tells. */
export async function findServices(
  proxy: RunningProxy,
  names: readonly ServiceName[],
): Promise<FoundServices> {
  const loose = names.filter(({ service }) => !service.includes('/'));
  const filter = ofNames(loose.map(({ service }) => service));
  const list = loose.length > 0 ? await listServices(proxy, filter) : undefined;
  const found = new FoundServices(names, list?.unknown);
  for (const { service, port } of names)
    if (service.includes('/')) found.add(service, port);
    else
      for (const { namespace, name } of list?.services ?? [])
        if (name === service) found.add(serviceKey(namespace, name), port);
  return found;
}
