/** Health checks of Services for load balancers. */

import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { serviceOf, type ServiceKey, type ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { fields, flag, number, optional, text } from '../../domain/shape.js';
import { errorMessage } from '../error-message.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { EventRecorder } from '../ports/event-recorder.js';
import type { ForwardingListener, Programmed } from '../ports/forwarding-listener.js';
import type { HealthCheckSocket, HealthCheckListener, OpenHealthCheck } from '../ports/health.js';
import type { Logger } from '../ports/logger.js';
import { retryDelay } from '../retries.js';

/** The state of one Service's health check. */
export type HealthCheckState = ReturnType<typeof healthCheckState>;
export const healthCheckState = fields({
  port: number,
  localEndpoints: number,
  listening: flag,
  /** Why it does not listen. */
  problem: optional(text),
});

/** The dependencies of every check. */
interface HealthCheckDependencies {
  readonly nodeName: string;
  readonly listener: HealthCheckListener;
  readonly proxyHealthy: () => boolean;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface ServiceHealthChecksOptions extends HealthCheckDependencies {
  readonly family: IpFamily;
  /** The addresses on which checks listen. Called again when the node's network has changed. */
  readonly addresses: () => HealthCheckSocket['addresses'];
}

/**
 * Reports to load balancers of one family whether this node has endpoints of a Service (docs/internals/spec/server.md §8.4), for every
 * Service with a health-check node port.
 *
 * It follows what is programmed: once programmed, such a Service's check is open and counts the ready endpoints on this node
 * that the rules lead to. A new port or new addresses move it. A check that fails to open is retried after a backoff, so a
 * port of another program is used once it is free. In a batch of changes, checks close before others open, because
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

/**
 * The health check of one Service: how many endpoints it has on this node, and the sockets that report it. It is *closed*,
 * *open*, or, after it failed to listen on an address, *waiting* to be opened again. Its owner makes one call at a time.
 */
class ServiceHealthCheck {
  /** For each service port, the ready addresses on this node that its rules lead to. */
  private readonly ready = new Map<ServicePortKey, ReadonlySet<string>>();
  private open: OpenHealthCheck | undefined;
  /** The socket that `open` listens on, as JSON. */
  private openOn: string | undefined;
  private failures = 0;
  private problem: string | undefined;
  private retry: Timer | undefined;

  constructor(
    readonly service: ServiceKey,
    /** The health-check node port to listen on. */
    public port: number,
    private readonly dependencies: HealthCheckDependencies,
  ) {}

  /** An address that serves several ports counts once (docs/internals/spec/model.md §3.4). */
  get localEndpoints(): number {
    return new Set([...this.ready.values()].flatMap((addresses) => [...addresses])).size;
  }

  get state(): HealthCheckState {
    const { port, localEndpoints, open, problem } = this;
    return { port, localEndpoints, listening: open !== undefined, ...(problem !== undefined && { problem }) };
  }

  /**
   * Sets the ready endpoints of a service port. If it failed to be programmed, its previous rules stay: then an endpoint
   * counts if they lead to it and it still exists.
   * @param addresses of ready endpoints on this node
   */
  note(key: ServicePortKey, addresses: readonly string[], programmed: boolean): void {
    const previous = this.ready.get(key);
    this.ready.set(
      key,
      new Set(programmed ? addresses : addresses.filter((address) => previous?.has(address))),
    );
  }

  /** The service port is gone. Returns whether it was the last one. */
  forget(key: ServicePortKey): boolean {
    this.ready.delete(key);
    return this.ready.size === 0;
  }

  /** Closes the check unless it is on this socket, and cancels a retry. */
  async closeUnlessOn(socket: HealthCheckSocket | undefined): Promise<void> {
    this.retry?.cancel();
    if (socket && this.openOn === JSON.stringify(socket)) return;
    await this.open?.close();
    this.open = this.openOn = this.problem = undefined;
  }

  /** Opens the socket unless it is open. If that fails, `again` is called after a backoff. */
  async openOnce(socket: HealthCheckSocket, again: () => void): Promise<void> {
    if (this.open) return;
    const { listener, proxyHealthy, logger } = this.dependencies;
    const [namespace = '', name = ''] = this.service.split('/');
    try {
      this.open = await listener.listen(socket, () => ({
        namespace,
        name,
        localEndpoints: this.localEndpoints,
        proxyHealthy: proxyHealthy(),
      }));
      this.openOn = JSON.stringify(socket);
      if (this.failures > 0) logger.info(this.facts(socket), 'the health check of a Service listens again');
      this.failures = 0;
    } catch (error) {
      this.failed(socket, errorMessage(error));
      this.retry = this.dependencies.clock.after(retryDelay(this.failures), again);
    }
  }

  private failed(socket: HealthCheckSocket, problem: string): void {
    const { nodeName, events, logger } = this.dependencies;
    const [namespace = '', name = ''] = this.service.split('/');
    this.failures++;
    this.problem = problem;
    logger[this.failures === 1 ? 'error' : 'debug'](
      { ...this.facts(socket), problem, attempt: this.failures },
      'cannot listen for the health check of a Service; will retry',
    );
    events.record({
      regarding: { kind: 'Service', namespace, name },
      type: 'Warning',
      reason: 'FailedToStartServiceHealthcheck',
      action: 'Listen',
      note: `node ${nodeName} failed to start healthcheck "${this.service}" on port ${socket.port}: ${problem}`,
    });
  }

  private facts({ family, port }: HealthCheckSocket): object {
    return { service: this.service, family, port };
  }
}
