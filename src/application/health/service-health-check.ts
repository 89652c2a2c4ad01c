import type { ServiceKey, ServicePortKey } from '../../domain/model/service-port-name.js';
import { errorMessage } from '../error-message.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { EventRecorder } from '../ports/event-recorder.js';
import type {
  HealthCheckListener,
  HealthCheckSocket,
  OpenHealthCheck,
} from '../ports/health-check-listener.js';
import type { Logger } from '../ports/logger.js';
import type { HealthCheckState } from './health-check-state.js';
import { retryDelay } from '../sync/backoff.js';

/** What every check needs. */
export interface HealthCheckDependencies {
  readonly nodeName: string;
  readonly listener: HealthCheckListener;
  readonly proxyHealthy: () => boolean;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The health check of one Service: how many endpoints it has on this node, and the sockets that report it. It is *closed*,
 * *open*, or, after it failed to listen on an address, *waiting* to be opened again. Its owner makes one call at a time.
 */
export class ServiceHealthCheck {
  /** For each service port, the ready addresses on this node that its rules lead to. */
  private readonly ready = new Map<ServicePortKey, ReadonlySet<string>>();
  private open: OpenHealthCheck | undefined;
  /** What `open` listens on. */
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

  /** An address that serves several ports counts once (docs/spec/model.md §3.4). */
  get localEndpoints(): number {
    return new Set([...this.ready.values()].flatMap((addresses) => [...addresses])).size;
  }

  get state(): HealthCheckState {
    const { port, localEndpoints, open, problem } = this;
    return { port, localEndpoints, listening: open !== undefined, ...(problem !== undefined && { problem }) };
  }

  /**
   * Sets the ready endpoints of a service port. If it failed to be programmed, its previous rules hold: then an endpoint
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
