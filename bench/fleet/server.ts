import { FleetServer } from './fleet-server.js';

/** `node server.js SERVICES ENDPOINTS`, started by ServerProcess: a FleetServer whose methods are called by messages. */
const [services = 0, endpoints = 0] = process.argv.slice(2).map(Number);
const server = await FleetServer.start(services, endpoints);

type Method = (...args: readonly unknown[]) => unknown;

process.on('message', ({ id, method, args }: { id: number; method: keyof FleetServer; args: unknown[] }) => {
  void (async () => {
    const result = await (server[method] as Method).apply(server, args);
    process.send!({ id, result });
  })();
});
process.on('disconnect', () => process.exit());
process.send!({ id: 0 });
