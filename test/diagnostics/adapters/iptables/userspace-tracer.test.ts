import { userspaceBackend } from '../../../support/backends.js';
import {
  NO_PROXY_PORTS,
  UserspaceTracer,
} from '../../../../src/diagnostics/adapters/rules/iptables-rules.js';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../../src/testing/fakes/memory-logger.js';
import { MemoryIptables } from '../../../support/fakes/memory-iptables.js';
import { nodeNetwork } from '../../../support/iptables/services.js';
import { ARRIVING } from '../../../support/iptables/walked.js';
import { entryOf } from '../../../adapters/ipvs/services.js';
import { HERE } from '../../../adapters/userspace/endpoints.js';

const ADDRESS = { listen: HERE, host: HERE };
const NODE = { localAddresses: new Set([HERE]) };

describe('the tracer of mode userspace', () => {
  const iptables = new MemoryIptables();
  const entries = [entryOf('a', [7]), entryOf('j', [1, 2], { affinitySeconds: 60 })];
  const backend = userspaceBackend(
    'IPv4',
    {
      listen: HERE,
      hostAddress: () => Promise.resolve(HERE),
      portRange: { low: 0, high: 0 },
      udpIdleTimeout: 250,
    },
    iptables,
    undefined,
    { list: () => [HERE] },
    new FakeClock(),
    new MemoryLogger(),
  );
  const ports = {
    proxiedAt: backend.proxiedAt.bind(backend),
    proxyPortOf: backend.proxyPortOf.bind(backend),
  };
  const tracer = (known = ports) =>
    new UserspaceTracer(
      known,
      () => Promise.resolve(ADDRESS),
      () => iptables.save('IPv4'),
    );
  beforeAll(() => backend.start(entries, nodeNetwork()));
  afterAll(() => backend.close());

  it('follows packets through the rules of the kernel to the sockets of the process', async () => {
    const desired = await tracer().desired(entries);
    const actual = await tracer().actual();
    const endings = await actual.walk(ARRIVING, NODE);
    expect(endings).toMatchObject([
      { endpoint: { address: '10.244.1.1', port: 8080 }, sticky: true, masquerade: true },
      { endpoint: { address: '10.244.1.2', port: 8080 }, sticky: true, masquerade: true },
    ]);
    expect(endings[0]!.steps.at(-1)!.rule).toBe(`port ${backend.proxyPortOf(entries[1]!.key)}/TCP`);
    expect((await desired.walk(ARRIVING, NODE)).map(({ endpoint }) => endpoint)).toEqual(
      endings.map(({ endpoint }) => endpoint),
    );
  });

  it('takes an address elsewhere for no socket of its own, whatever the port', async () => {
    const port = backend.proxyPortOf(entries[1]!.key);
    const away = `-d 10.96.0.77/32 -p tcp -m tcp -j DNAT --to-destination 192.0.2.77:${port}`;
    iptables.tamper('IPv4', `*nat\n-I PREROUTING ${away}\nCOMMIT\n`);
    const walk = await (await tracer().actual()).walk({ ...ARRIVING, destination: '10.96.0.77' }, NODE);
    expect(walk).toMatchObject([{ endpoint: { address: '192.0.2.77', port }, masquerade: false }]);
  });

  it('follows them to the port where another process has the sockets', async () => {
    const [ending] = await (await tracer(NO_PROXY_PORTS).actual()).walk(ARRIVING, NODE);
    const port = backend.proxyPortOf(entries[1]!.key);
    expect(ending).toMatchObject({ verdict: 'forward', endpoint: { address: HERE, port } });
  });
});
