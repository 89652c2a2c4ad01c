import { Model } from '../../model/model.js';
import type { Cluster } from '../../model/objects.js';
import { SERVICES, SLICES } from '../cluster/simulated-cluster.js';
import type { Simulation } from '../simulation.js';
import { ask } from './ask.js';

/** Ports that Services of any world may have for health checks. */
const FIRST_PORT = 32_000;
const PORTS = 200;

/** A port for health checks that does not listen although a Service has it, or listens although none has; undefined if there is none. */
export function wrongHealthPort(simulation: Simulation): string | undefined {
  const { mode, world } = simulation;
  // docs/internals/spec/userspace.md
  if (mode === 'userspace') return undefined;
  const expected = new Map(
    presentModel(simulation)
      .healthChecks()
      .map(({ port, service }) => [port, service]),
  );
  for (let port = FIRST_PORT; port < FIRST_PORT + PORTS; port++) {
    const isOpen = world.network.isListening(world.proxy.life, port);
    const service = expected.get(port);
    if (isOpen !== (service !== undefined))
      return isOpen
        ? `port ${port} for health checks is open, and no Service has it`
        : `port ${port} for health checks of ${service} is not open`;
  }
  return undefined;
}

/** A port for health checks that answers otherwise than the model of docs/internals/spec; undefined if there is none. */
export async function falseHealthAnswer(simulation: Simulation): Promise<string | undefined> {
  const { mayBeEjected, mode, world } = simulation;
  if (mode === 'userspace') return undefined;
  for (const { port, service, localEndpoints } of presentModel(simulation).healthChecks()) {
    const host = world.settings.families.includes('IPv4') ? '127.0.0.1' : '::1';
    const { status, body } = await ask(world, port, '/healthz', host);
    const expected = localEndpoints > 0 ? 200 : 503;
    const said = `port ${port} of ${service} answers ${status} ${body.replaceAll(/\s+/g, ' ')}`;
    simulation.active.add('health-check ports answer');
    if (mayBeEjected.size > 0) continue;
    const answer = JSON.parse(body) as { readonly localEndpoints?: number };
    if (status !== expected || answer.localEndpoints !== localEndpoints)
      return `${said}; expected ${expected} and ${localEndpoints} local endpoints`;
  }
  return undefined;
}

/** What the model of docs/internals/spec makes of the objects that there are now. */
export function presentModel({ cluster, history, world }: Simulation): Model {
  const { name, zone, addresses } = history.ofNode;
  const objects = (collection: string) => cluster.api.store.list(collection) as unknown;
  return new Model(
    {
      services: objects(SERVICES) as Cluster['services'],
      slices: objects(SLICES) as Cluster['slices'],
      serviceCIDRs: [],
    },
    {
      ...{ name, zone, podCIDRs: [] },
      primaryAddresses: Object.values(addresses),
      localAddresses: [...world.machine.addresses],
    },
    { mode: 'nftables' },
  );
}
