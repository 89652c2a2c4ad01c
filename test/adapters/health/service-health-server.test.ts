import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { createServer, type Server } from 'node:net';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { HalfOpen } from '../../support/http/half-open.js';
import { ServiceHealthServer } from '../../../src/adapters/health/service-health-server.js';
import type {
  HealthCheckSocket,
  OpenHealthCheck,
  ServiceHealth,
} from '../../../src/application/ports/health.js';

const logger = new MemoryLogger();
const server = new ServiceHealthServer(logger, new FakeClock());
let health: ServiceHealth;
const open: OpenHealthCheck[] = [];
let port: number;

/** A port that is free at this moment. */
async function freePort(): Promise<number> {
  const probe = await occupy(0, '127.0.0.1');
  const { port: free } = probe.address() as { port: number };
  await new Promise((done) => probe.close(done));
  return free;
}

function occupy(at: number, host: string): Promise<Server> {
  return new Promise((resolve) => {
    const occupant = createServer();
    occupant.listen(at, host, () => resolve(occupant));
  });
}

const listen = async (socket: Partial<HealthCheckSocket>): Promise<void> => {
  open.push(await server.listen({ family: 'IPv4', addresses: 'all', port, ...socket }, () => health));
};

const get = (host = '127.0.0.1', path = '/', method = 'GET'): Promise<Response> =>
  fetch(`http://${host}:${port}${path}`, { method });

beforeEach(async () => {
  health = { namespace: 'shop', name: 'cart', localEndpoints: 2, proxyHealthy: true };
  port = await freePort();
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

describe('ServiceHealthServer', () => {
  it('answers any path and method as kube-proxy does', async () => {
    await listen({});
    for (const response of [await get(), await get('127.0.0.1', '/any/path?x=1', 'POST')]) {
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('x-load-balancing-endpoint-weight')).toBe('2');
      expect(await response.text()).toBe(
        '{\n\t"service": {\n\t\t"namespace": "shop",\n\t\t"name": "cart"\n\t},\n\t"localEndpoints": 2,\n\t"serviceProxyHealthy": true\n}',
      );
    }
  });

  it.each([
    [{ localEndpoints: 0 }, 503, '0'],
    [{ proxyHealthy: false }, 503, '2'],
    [{ localEndpoints: 0, proxyHealthy: false }, 503, '0'],
    [{ localEndpoints: 1 }, 200, '1'],
  ])('with %p the status is %i', async (parts, status, weight) => {
    health = { ...health, ...parts };
    await listen({});
    const response = await get();
    expect(response.status).toBe(status);
    expect(response.headers.get('x-load-balancing-endpoint-weight')).toBe(weight);
    expect(await response.json()).toEqual({
      service: { namespace: 'shop', name: 'cart' },
      localEndpoints: health.localEndpoints,
      serviceProxyHealthy: health.proxyHealthy,
    });
  });

  it('has a socket for each family on one port', async () => {
    await listen({});
    await expect(get('[::1]')).rejects.toThrow();
    await listen({ family: 'IPv6' });
    expect((await get('[::1]')).status).toBe(200);
    await open[0]!.close();
    await expect(get()).rejects.toThrow();
    expect((await get('[::1]')).status).toBe(200);
  });

  it('listens on the addresses it is given only, and on none when one of them is taken', async () => {
    await listen({ addresses: ['127.0.0.2', '127.0.0.3'] });
    expect((await get('127.0.0.3')).status).toBe(200);
    await expect(get('127.0.0.1')).rejects.toThrow();
    await open[0]!.close();
    const occupant = await occupy(port, '127.0.0.3');
    await expect(listen({ addresses: ['127.0.0.2', '127.0.0.3'] })).rejects.toThrow(/EADDRINUSE.*127.0.0.3/);
    await expect(get('127.0.0.2')).rejects.toThrow();
    await new Promise((done) => occupant.close(done));
    await listen({ addresses: ['127.0.0.2', '127.0.0.3'] });
    expect((await get('127.0.0.2')).status).toBe(200);
  });

  it('ends the longest idle of too many connections, and logs that once for all sockets', async () => {
    const clients = new HalfOpen();
    await listen({ addresses: ['127.0.0.1', '127.0.0.2'] });
    await clients.open(port, 100);
    expect((await get()).status).toBe(200);
    await clients.open(port, 100);
    expect((await get()).status).toBe(200);
    expect(logger.at('warn')).toEqual([
      expect.objectContaining({
        facts: { family: 'IPv4', addresses: ['127.0.0.1', '127.0.0.2'], port, source: '127.0.0.1' },
        message: 'too many connections; ending the longest idle, or the new one',
      }),
    ]);
    clients.close();
  });
});
