import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { serviceOf, type ServiceKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ForwardingListener, Programmed } from '../ports/forwarding-listener.js';
import type { HealthCheckSocket } from '../ports/health-check-listener.js';
import type { HealthCheckState } from './health-check-state.js';
import { ServiceHealthCheck, type HealthCheckDependencies } from './service-health-check.js';

export interface ServiceHealthChecksOptions extends HealthCheckDependencies {
  readonly family: IpFamily;
  /** The addresses on which checks listen. Called again when the node's network has changed. */
  readonly addresses: () => HealthCheckSocket['addresses'];
}

/**
 * Tells load balancers of one family whether this node has endpoints of a Service (docs/spec/server.md §8.4), for every Service
 * with a health-check node port.
 *
 * It follows what is programmed: once programmed, such a Service's check is open and counts the ready endpoints on this node
 * that the rules lead to. A new port or new addresses move it. A check that fails to open is retried after a backoff, so a
 * port that another program holds is used once it is free. In a batch of changes, checks close before others open, because
 * ports may change owners. `stop` closes all.
 */
export class ServiceHealthChecks implements ForwardingListener {
  readonly family: IpFamily;
  private readonly checks = new Map<ServiceKey, ServiceHealthCheck>();
  /** Checks that may have to be closed or opened. */
  private touched = new Set<ServiceHealthCheck>();
  private network: NodeNetwork | undefined;
  private addresses: HealthCheckSocket['addresses'] = [];
  private work: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(private readonly options: ServiceHealthChecksOptions) {
    this.family = options.family;
  }

  programmed({ changes, failed, network }: Programmed): void {
    if (this.stopped) return;
    this.follow(network);
    for (const { key, entry } of changes) {
      if (!entry?.localReadyIPs) {
        const check = this.checks.size > 0 ? this.checks.get(serviceOf(key)) : undefined;
        if (check?.forget(key)) this.remove(check);
        continue;
      }
      this.checkOf(serviceOf(key), entry.healthCheckNodePort).note(
        key,
        entry.localReadyIPs,
        !failed.has(key),
      );
    }
    this.apply();
  }

  /** Undefined for a Service without a health-check node port. */
  state(service: ServiceKey): HealthCheckState | undefined {
    return this.checks.get(service)?.state;
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.stopped = true;
    for (const check of this.checks.values()) this.remove(check);
    this.apply();
    await this.work;
  }

  private follow(network: NodeNetwork): void {
    if (this.network === network) return;
    this.network = network;
    const addresses = this.options.addresses();
    if (String(addresses) === String(this.addresses)) return;
    this.addresses = addresses;
    for (const check of this.checks.values()) this.touched.add(check);
  }

  private checkOf(service: ServiceKey, port: number): ServiceHealthCheck {
    let check = this.checks.get(service);
    if (check?.port === port) return check;
    if (check) check.port = port;
    else check = new ServiceHealthCheck(service, port, this.options);
    this.checks.set(service, check);
    this.touched.add(check);
    return check;
  }

  private remove(check: ServiceHealthCheck): void {
    this.checks.delete(check.service);
    this.touched.add(check);
  }

  private apply(): void {
    if (this.touched.size === 0) return;
    const touched = [...this.touched];
    this.touched = new Set();
    this.work = this.work.then(async () => {
      await Promise.all(touched.map((check) => check.closeUnlessOn(this.socketOf(check))));
      await Promise.all(touched.map((check) => this.open(check)));
    });
  }

  private async open(check: ServiceHealthCheck): Promise<void> {
    const socket = this.socketOf(check);
    if (!socket) return;
    await check.openOnce(socket, () => {
      this.touched.add(check);
      this.apply();
    });
  }

  /** Where the check should listen, if anywhere. */
  private socketOf(check: ServiceHealthCheck): HealthCheckSocket | undefined {
    const { family, addresses } = this;
    if (this.checks.get(check.service) !== check || addresses.length === 0) return undefined;
    return { family, addresses, port: check.port };
  }
}
