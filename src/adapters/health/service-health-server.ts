import type { RequestListener, Server } from 'node:http';
import type {
  HealthCheckListener,
  HealthCheckSocket,
  OpenHealthCheck,
  ServiceHealth,
} from '../../application/ports/health.js';
import type { Clock } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';
import { closeServer, crowdedLog, openServer } from '../http/http-listener.js';
import { JSON_TYPE, respond } from '../http/router.js';

/**
 * Health-check node ports over HTTP, for any path and method (docs/internals/spec/server.md §8.4). One server for each address, or a single
 * one for all addresses of the family, so that the other family can use the same port.
 */
export class ServiceHealthServer implements HealthCheckListener {
  private readonly reportFor: ReturnType<typeof crowdedLog>;

  constructor(
    private readonly logger: Logger,
    clock: Clock,
  ) {
    this.reportFor = crowdedLog(logger, clock);
  }

  async listen(socket: HealthCheckSocket, answer: () => ServiceHealth): Promise<OpenHealthCheck> {
    const { port, family } = socket;
    const report = this.reportFor(socket);
    const opened = await Promise.allSettled(
      hostsOf(socket).map((host) =>
        openServer(handlerOf(answer), { host, port, ipv6Only: family === 'IPv6' }, report),
      ),
    );
    const servers = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const failure = opened.find((one) => one.status === 'rejected');
    if (failure) {
      await closeAll(servers);
      throw failure.reason;
    }
    for (const server of servers)
      server.on('error', (error) => this.logger.warn({ ...socket, error }, 'a health check socket failed'));
    return { close: () => closeAll(servers) };
  }
}

function hostsOf({ family, addresses }: HealthCheckSocket): readonly string[] {
  if (addresses !== 'all') return addresses;
  return [family === 'IPv4' ? '0.0.0.0' : '::'];
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  await Promise.all(servers.map(closeServer));
}

function handlerOf(answer: () => ServiceHealth): RequestListener {
  return (_, response) => {
    const { namespace, name, localEndpoints, proxyHealthy } = answer();
    response.setHeader('X-Load-Balancing-Endpoint-Weight', localEndpoints);
    const body = { service: { namespace, name }, localEndpoints, serviceProxyHealthy: proxyHealthy };
    const status = localEndpoints > 0 && proxyHealthy ? 200 : 503;
    respond(response, status, JSON_TYPE, JSON.stringify(body, undefined, '\t'));
  };
}
