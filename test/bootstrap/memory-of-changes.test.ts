import { GenerationWatch } from '../../src/adapters/nftables/generation-watch.js';
import type { Backend } from '../../src/application/ports/backend.js';
import type { Logger } from '../../src/application/ports/logger.js';
import { FakeClock, MemoryConntrack, ScriptedSource } from '../../src/fakes.js';
import { createProxy } from '../../src/index.js';
import { TransportUnderTest } from '../adapters/nftables/transport-under-test.js';
import { nftablesBackend } from '../support/backends.js';
import { MemoryNode } from '../adapters/ipvs/memory-node.js';
import { nightly } from '../support/nightly.js';
import { bytesOfValues } from '../support/bytes-of-values.js';

const SERVICES = 3;
/** Of a Service: in turn it and its endpoints are made, changed, and go. */
const STEPS = 6;
/** The history of changes keeps the last thousand, and not each step is a change for it. */
const UNTIL_FULL = 3_900;
const CHANGES = 1_800;
/** What one more entry of a map with a short key takes. */
const BYTES_PER_LIFE = 60;

const SILENT: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => SILENT,
};

/** A backend over a kernel in memory, and what forgets what that has gathered. */
interface Kernel {
  readonly backend: Backend;
  forget(): void;
}

const KERNELS: Readonly<Record<string, () => Kernel>> = {
  nftables() {
    const transport = new TransportUnderTest().open();
    const backend = nftablesBackend('IPv4', transport, new GenerationWatch(transport), SILENT);
    return { backend, forget() {} };
  },
  // It writes with the driver of mode iptables, too.
  ipvs() {
    const node = new MemoryNode();
    const forget = () => {
      node.journal.length = 0;
      node.logger.clear();
    };
    return { backend: node.backend(), forget };
  },
};

it.each(nightly ? Object.keys(KERNELS) : ['nftables'])(
  'memory of the program does not grow with the number of changes, in mode %s',
  async (mode) => {
    const { backend, forget } = KERNELS[mode]!();
    const [source, clock, conntrack] = [new ScriptedSource(), new FakeClock(), new MemoryConntrack()];
    const parts = { source, clock, backends: [backend], logger: SILENT, conntrack };
    const proxy = await createProxy({ ...parts, flags: ['--hostname-override=n1'] });
    source.synced();
    await proxy.start();
    await proxy.programmed();
    let number = 0;
    const memoryAfter = async (changes: number): Promise<number> => {
      for (const end = number + changes; number < end;) {
        for (let service = 0; service < SERVICES; service++) change(source, number++);
        await clock.advanceAsync(100);
      }
      expect(proxy.inSync).toBe(true);
      forget();
      for (const asked of [conntrack.sweeps, conntrack.searches, conntrack.looks]) asked.length = 0;
      return bytesOfValues();
    };
    await bytesOfValues(); // so that what it loads itself is there before
    const before = await memoryAfter(UNTIL_FULL);
    const after = await memoryAfter(CHANGES);
    expect(after - before).toBeLessThan((BYTES_PER_LIFE * CHANGES) / STEPS);
    await proxy.stop();
  },
);

/** Each Service is made with its endpoints, changed, gets others and goes; the next time its endpoints go and come before it. */
function change(source: ScriptedSource, number: number): void {
  const name = `s${number % SERVICES}`;
  const round = Math.floor(number / SERVICES);
  const reference = { namespace: 'shop', name };
  switch (round % STEPS) {
    case 0:
      source.apply('Service', service(number, 80)).apply('EndpointSlice', slice(name, round));
      break;
    case 1:
      source.apply('Service', service(number, 81));
      break;
    case 2:
      source.apply('EndpointSlice', slice(name, round));
      break;
    case 3:
      source.delete('Service', reference);
      break;
    case 4:
      source.delete('EndpointSlice', { namespace: 'shop', name: `${name}-${Math.floor(round / STEPS)}` });
      break;
    default:
      source.apply('Service', service(number, 82)).delete('Service', reference);
  }
}

function service(number: number, port: number): object {
  const clusterIP = `10.96.0.${1 + (number % SERVICES)}`;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'shop', name: `s${number % SERVICES}` },
    spec: {
      clusterIP,
      clusterIPs: [clusterIP],
      type: 'NodePort',
      sessionAffinity: 'ClientIP',
      ports: [{ port, protocol: 'TCP', nodePort: 30_000 + port + (number % SERVICES) * 10 }],
    },
  };
}

/** Its name is another one each time that all of it begins again, as that of a controller's. */
function slice(service: string, round: number): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace: 'shop',
      name: `${service}-${Math.floor(round / STEPS)}`,
      labels: { 'kubernetes.io/service-name': service },
    },
    addressType: 'IPv4',
    ports: [{ name: '', port: 8080, protocol: 'TCP' }],
    endpoints: [{ addresses: [`10.244.1.${1 + (round % 250)}`], conditions: { ready: true } }],
  };
}
