import type { Explanation } from '../../src/diagnostics/application/explain/explanation.js';
import { UNRESPONSIVE_AFTER } from '../../src/domain/traffic/endpoint-traffic.js';
import type { ServiceList } from '../../src/diagnostics/application/status/service-row.js';
import {
  BROKEN_NAMESPACE,
  BROKEN_NODE,
  BROKEN_SERVICES,
  brokenObjects,
  type BrokenService,
} from '../support/broken-services.js';
import { Command, type Ended } from '../support/program/command.js';
import { Driver } from '../support/program/in-namespace.js';
import { bundleStandIn, type StandInBundle } from '../support/program/served-node.js';
import { sampleOf } from '../support/nightly.js';
import { syncStateOf } from '../support/program/status.js';
import type { ApiObject } from '../support/api-server/object-store.js';
import { testServiceCidr } from '../support/testbed/cluster-objects.js';
import { Testbed } from '../support/testbed/testbed.js';
import type { StandInDriver } from './stand-in/driver.js';

/** No kernel rejects the rules of a valid Service: `poisoned-service.test.ts` has invalid ones. */
const SERVICES = BROKEN_SERVICES.filter(({ circumstance }) => circumstance !== 'rejected');
const DEAD = '10.244.2.16';
const NAMES = SERVICES.map(({ name }) => `${BROKEN_NAMESPACE}/${name}`);
/** A pod of the node. */
const CLIENT = '10.244.1.200';
/** Connections of a client to each Service. */
const ATTEMPTS = 12;

const { name: nodeName } = BROKEN_NODE.metadata;
const objects = brokenObjects().filter(({ metadata: { name = '' } }) => !name.startsWith('rejected'));

/** The cluster IP of a Service; undefined if it has none. */
function clusterIPOf(name: string): string | undefined {
  const service = objects.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name);
  const { clusterIP } = (service?.spec ?? {}) as { readonly clusterIP?: string };
  return clusterIP === 'None' ? undefined : clusterIP;
}

/** The addresses of the endpoints of a Service, or of all. */
function addressesOf(service?: string): readonly string[] {
  const slices = objects.filter(
    ({ kind, metadata }) =>
      kind === 'EndpointSlice' && (service === undefined || metadata.name === `${service}-abcde`),
  );
  return slices.flatMap(({ endpoints }) =>
    (endpoints as readonly { readonly addresses: readonly string[] }[]).flatMap(({ addresses }) => addresses),
  );
}

/** The Services that the proxy has rules for, or should have. */
const SERVED = SERVICES.filter(
  ({ name, expected: { cause } }) => clusterIPOf(name) !== undefined && cause !== 'OtherProxy',
);

describe.each(sampleOf(['nftables', 'iptables']))('broken Services in %s mode', (mode) => {
  let bundle: StandInBundle;
  let testbed: Testbed;
  let api: Driver<StandInDriver>;
  let proxy: Command;
  /** For each Service with a cluster IP: the addresses that answered, and errors in their place. */
  let outcomes: ReadonlyMap<string, readonly string[]>;

  beforeAll(async () => {
    [bundle, testbed] = await Promise.all([bundleStandIn(), Testbed.open()]);
    await place();
    api = new Driver<StandInDriver>(testbed.node.name, bundle.file);
    await api.ask('put', [BROKEN_NODE, testServiceCidr, ...objects] as readonly ApiObject[]);
    proxy = await Command.start(testbed.node, [
      ...['--proxy-mode', mode, '--hostname-override', nodeName, '--cluster-cidr', '10.244.0.0/16'],
      ...['--kubeconfig', await api.ask('kubeconfig')],
    ]);
    await proxy.until('everything is programmed', async () => (await syncStateOf(testbed.node)).idle);
    outcomes = new Map(
      await Promise.all(
        SERVICES.map(async ({ name }): Promise<[string, readonly string[]]> => {
          const address = clusterIPOf(name);
          if (address === undefined) return [name, []];
          const answers = [...(await connect(address))];
          // Rules choose endpoints at random: of 12 connections, fewer than three go to one of three endpoints in 18 runs of 100.
          if (name === 'unresponsive')
            while (unansweredOf(answers) < UNRESPONSIVE_AFTER) answers.push(...(await connect(address)));
          return [name, answers];
        }),
      ),
    );
  });
  afterAll(async () => {
    await proxy?.stop('SIGKILL');
    await api?.close();
    await testbed?.close();
    await bundle?.remove();
  });

  /** Makes the endpoints: those of the node in a pod of it, all others outside of it. One of them swallows what it gets. */
  async function place(): Promise<void> {
    const { node, ext } = testbed;
    await node.run(['ip', 'address', 'add', `${BROKEN_NODE.status.addresses[0].address}/32`, 'dev', 'node0']);
    await node.run(['ip', 'route', 'add', '10.244.2.0/24', 'via', '198.18.0.50']);
    const all = addressesOf().filter((address) => address.startsWith('10.'));
    const [local, remote] = [
      all.filter((address) => address.startsWith('10.244.1.')),
      all.filter((address) => address.startsWith('10.244.2.') && address !== DEAD),
    ];
    const [first, ...others] = local;
    const pod = await testbed.addPod('local', first!);
    for (const address of others) {
      await node.run(['ip', 'route', 'add', address, 'dev', 'vethlocal', 'src', '10.244.1.1']);
      await pod.run(['ip', 'address', 'add', `${address}/32`, 'dev', 'eth0']);
    }
    await ext.run(['ip', 'route', 'add', 'blackhole', DEAD]);
    for (const address of remote) await ext.run(['ip', 'address', 'add', `${address}/32`, 'dev', 'eth0']);
    const serve = { port: 8080 };
    await Promise.all([
      ...local.map((address) => pod.ask('serve', { ...serve, name: address, address })),
      ...remote.map((address) => ext.ask('serve', { ...serve, name: address, address })),
    ]);
  }

  function connect(address: string): Promise<readonly string[]> {
    return Promise.all(
      Array.from({ length: ATTEMPTS }, async () => {
        const answer = testbed.pod.get(`http://${address}/`, 1_500);
        return answer.then(({ body }) => body).catch((error: Error) => error.message);
      }),
    );
  }

  function run(...args: readonly string[]): Promise<Ended> {
    return Command.run(testbed.node, args);
  }

  it.each(SERVED)('clients of $name get what its verdict says', ({ name, expected: { state } }) => {
    const own = new Set(addressesOf(name));
    const outcome = outcomes.get(name)!;
    const answered = outcome.filter((one) => own.has(one)).length;
    const isAsExpected = { ok: answered === outcome.length, warning: answered > 0, error: answered === 0 }[
      state
    ];
    expect(isAsExpected ? [] : outcome).toEqual([]);
  });

  it('`services` prints the verdicts, and ends with 1', async () => {
    const { exitCode, stdout } = await run('services', ...NAMES, '-o', 'json');
    expect(exitCode).toBe(1);
    const { services, unknownNames } = JSON.parse(stdout) as ServiceList;
    const found = SERVICES.map(({ name }) => services.find((one) => one.name === name));
    expect([...found.filter((row) => row !== undefined), ...unknownNames]).toEqual([
      ...SERVICES.filter(({ expected: { cause } }) => cause !== 'NotFound').map(({ expected }) =>
        expect.objectContaining(asPrinted(expected)),
      ),
      { name: `${BROKEN_NAMESPACE}/missing`, reason: reasonOf('missing') },
    ]);
    const text = await run('services', ...NAMES);
    for (const { expected } of SERVICES) expect(text.stdout + text.stderr).toContain(expected.reason);
  });

  it('`explain` prints them, and ends with 1', async () => {
    const { exitCode, stdout } = await run('explain', ...NAMES, '-o', 'json');
    expect(exitCode).toBe(1);
    const explained = JSON.parse(stdout) as readonly Explanation[];
    expect(explained.map(({ verdict }) => verdict)).toEqual(
      SERVICES.map(({ expected }) => asPrinted(expected)),
    );
  });

  it('`trace` ends with 1 where packets are lost, with the reason', async () => {
    // Nothing is known of the address of an invalid Service.
    for (const { name, expected } of SERVED.filter((one) => one.expected.cause !== 'InvalidObject')) {
      const isLost = unansweredOf(outcomes.get(name)!) === outcomes.get(name)!.length;
      const { exitCode, stdout } = await run('trace', '--from', CLIENT, '--to', `${clusterIPOf(name)!}:80`);
      expect([name, exitCode]).toEqual([name, isLost ? 1 : 0]);
      if (isLost) expect([name, stdout]).toEqual([name, expect.stringContaining(expected.reason)]);
    }
  });
});

/** How many have an error in place of an address. */
function unansweredOf(outcome: readonly string[]): number {
  return outcome.filter((one) => !/^[0-9.]+$/.test(one)).length;
}

function reasonOf(name: string): string {
  return SERVICES.find((one) => one.name === name)!.expected.reason;
}

/** With the number of connections without an answer, which depends on the choice of endpoints. */
function asPrinted({ reason, ...verdict }: BrokenService['expected']): object {
  return verdict.cause === 'UnresponsiveEndpoint'
    ? { ...verdict, reason: expect.stringContaining(reason) }
    : { ...verdict, reason };
}
