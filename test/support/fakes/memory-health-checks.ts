import type {
  HealthCheckListener,
  HealthCheckSocket,
  OpenHealthCheck,
  ServiceHealth,
} from '../../../src/application/ports/health.js';

/** Health checks without sockets. A port can be open once, unless it is busy. */
export class MemoryHealthChecks implements HealthCheckListener {
  /** Ports that another program holds. */
  readonly busy = new Set<number>();
  private readonly sockets = new Map<HealthCheckSocket, () => ServiceHealth>();

  async listen(socket: HealthCheckSocket, answer: () => ServiceHealth): Promise<OpenHealthCheck> {
    await Promise.resolve();
    if (this.busy.has(socket.port) || this.open.some(({ port }) => port === socket.port))
      throw new Error(`port ${socket.port} is in use`);
    this.sockets.set(socket, answer);
    return {
      close: async () => {
        await Promise.resolve();
        this.sockets.delete(socket);
      },
    };
  }

  get open(): readonly HealthCheckSocket[] {
    return [...this.sockets.keys()];
  }

  /** What a load balancer receives on a port; undefined when nothing listens. */
  ask(port: number): ServiceHealth | undefined {
    return [...this.sockets].find(([socket]) => socket.port === port)?.[1]();
  }
}
