import { tooManyFrontends, readService } from '../../domain/decode/read-service.js';
import { readServiceCidr } from '../../domain/decode/read-service-cidr.js';
import { serviceKey, type ServiceKey } from '../../domain/model/service-port-name.js';
import type { Service, NotProxiedKind } from '../../domain/model/service.js';
import { IP_FAMILIES, type IpFamily } from '../../domain/net/ip-family.js';
import type { ObjectReference } from '../ports/cluster-source.js';
import type { HandlerParts, ObjectHandler } from './object-handler.js';
import { rawName } from './object-reports.js';

/**
 * Use cases OnServiceAdd, OnServiceUpdate, OnServiceDelete and OnServiceSynced. A Service that becomes invalid, or too large, keeps
 * its last valid version.
 */
export class ServiceHandler implements ObjectHandler {
  constructor(private readonly parts: HandlerParts) {}

  applied(object: unknown): void {
    const { state, reports, ignoredParts, observer } = this.parts;
    const name = rawName(object);
    const { value: read, ignored, problems, notes = [] } = readService(object);
    const excess = read && tooManyFrontends(read, this.parts.serviceFrontendsLimit);
    const value = excess === undefined ? read : undefined;
    const all = [...(excess === undefined ? [] : [excess]), ...problems, ...notes];
    const isNews = reports.report('Service', name, all, value !== undefined);
    if (isNews && value) ignoredParts?.(name, `Service ${name}`, all);
    const service = value ?? ignored;
    if (service === undefined) observer.serviceEvent(name, false);
    else if (state.hasService(name)) this.onServiceUpdate(name, service);
    else this.onServiceAdd(name, service);
  }

  deleted({ namespace, name }: ObjectReference): void {
    this.onServiceDelete(serviceKey(namespace, name));
  }

  synced(): void {
    this.onServiceSynced();
  }

  /** @param service why it needs no rules, where it does not */
  onServiceAdd(key: ServiceKey, service: Service | NotProxiedKind): void {
    this.parts.logger.verbose?.(4)?.debug({ service: key }, 'Calling handler.OnServiceAdd');
    this.apply(key, service);
  }

  /** @param service why it needs no rules any more, where it does not */
  onServiceUpdate(key: ServiceKey, service: Service | NotProxiedKind): void {
    this.parts.logger.verbose?.(4)?.debug({ service: key }, 'Calling handler.OnServiceUpdate');
    this.apply(key, service);
  }

  onServiceDelete(key: ServiceKey): void {
    this.parts.logger.verbose?.(4)?.debug({ service: key }, 'Calling handler.OnServiceDelete');
    this.parts.reports.forget('Service', key);
    this.note(key, this.parts.state.removeService(key));
  }

  onServiceSynced(): void {
    this.parts.logger.verbose?.(3)?.debug({}, 'Calling handler.OnServiceSynced()');
  }

  private apply(key: ServiceKey, service: Service | NotProxiedKind): void {
    const { state } = this.parts;
    this.note(
      key,
      typeof service === 'string' ? state.leaveService(key, service) : state.applyService(service),
    );
  }

  private note(key: ServiceKey, families: readonly IpFamily[]): void {
    const { logger, loops, observer } = this.parts;
    logger.verbose?.(5)?.debug({ service: key, families }, 'Service event handled');
    observer.serviceEvent(key, families.length > 0);
    loops.note(families, (pending) => pending.serviceChanged(key));
  }
}

/** Use case OnServiceCIDR: the ranges in which unused cluster IPs are dropped. Takes effect with the next sync. */
export class ServiceCidrHandler implements ObjectHandler {
  constructor(private readonly parts: HandlerParts) {}

  applied(object: unknown): void {
    const { state, reports } = this.parts;
    const { value, problems } = readServiceCidr(object);
    reports.report('ServiceCIDR', rawName(object), problems, value !== undefined);
    if (value && state.applyServiceCidr(value)) this.changed();
  }

  deleted({ name }: ObjectReference): void {
    const { state, reports } = this.parts;
    reports.forget('ServiceCIDR', name);
    if (state.removeServiceCidr(name)) this.changed();
  }

  private changed(): void {
    this.parts.loops.note(IP_FAMILIES, (pending) => pending.nodeChanged());
  }
}
