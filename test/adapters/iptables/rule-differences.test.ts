import { iptablesBackend } from '../../support/backends.js';
import type { Backend } from '../../../src/application/ports/backend.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MemoryIptables } from '../../support/fakes/memory-iptables.js';
import { iptablesBaseRules } from '../../../src/domain/iptables/base-rules.js';
import { serviceOf } from '../../../src/domain/model/service-port-name.js';
import { HOST, keyOf, nodeNetwork, serviceChain, Services } from '../../support/iptables/services.js';

const node = nodeNetwork();
let iptables: MemoryIptables;
let services: Services;
let backend: Backend;

beforeEach(async () => {
  iptables = new MemoryIptables();
  services = new Services();
  for (let number = 1; number <= 5; number++) services.set(number);
  backend = backendOn();
  await backend.start(services.all, node);
});

function backendOn(): Backend {
  return iptablesBackend(
    'IPv4',
    iptables,
    iptables.watch(),
    () => Promise.resolve(HOST),
    new MemoryLogger(),
    {
      compile: services.compile,
    },
  );
}

const nat = (chain: string): readonly string[] => iptables.chain('IPv4', 'nat', chain)!;
const tamper = (...lines: readonly string[]): void =>
  iptables.tamper('IPv4', ['*nat', ...lines, 'COMMIT', ''].join('\n'));
const lines = async (): Promise<readonly string[]> =>
  (await backend.differences!())!.map(({ sign, text, servicePort }) =>
    [sign, text, ...(servicePort === undefined ? [] : [`(${servicePort})`])].join(' '),
  );

/** The difference must be what is expected, and nothing after the repair. */
async function expectLines(...expected: readonly string[]): Promise<void> {
  expect(await lines()).toEqual(expected);
  await backend.verify('full');
  expect(await lines()).toEqual([]);
}

it('is nothing after a start, and nothing about rules of others', async () => {
  tamper(':OTHERS - [0:0]', '-A OTHERS -j ACCEPT', '-A PREROUTING -j OTHERS');
  expect(await lines()).toEqual([]);
});

it.each(
  iptablesBaseRules(node, HOST).jumps.map(
    ({ table, chain, rule }) => [`${table} ${chain}`, rule, table, chain] as const,
  ),
)('is a jump that is gone from %s, whatever else is there: %s', async (_, rule, table, chain) => {
  const change = (...changes: readonly string[]) =>
    iptables.tamper('IPv4', [`*${table}`, ...changes, 'COMMIT', ''].join('\n'));
  const others = ['-s 192.0.2.9/32 -j ACCEPT', '-j ACCEPT'];
  change(...others.map((one) => `-A ${chain} ${one}`), `-D ${chain} ${rule}`);
  await expectLines(`+ -t ${table} -A ${chain} ${rule}`);
  const present = iptables.chain('IPv4', table, chain)!;
  expect(present).toContain(rule);
  expect(present.filter((one) => others.includes(one))).toEqual(others);
});

it('is nothing where the order of entries means nothing', async () => {
  const [first, second] = nat('KUBE-SERVICES');
  for (const rule of [first!, second!]) tamper(`-D KUBE-SERVICES ${rule}`, `-I KUBE-SERVICES ${rule}`);
  expect(nat('KUBE-SERVICES').slice(0, 2)).toEqual([second, first]);
  expect(await lines()).toEqual([]);
});

it('changes nothing', async () => {
  tamper(':KUBE-SERVICES - [0:0]');
  iptables.restores = 0;
  await lines();
  expect(iptables.restores).toBe(0);
});

it('names an entry that was deleted, with its service port', async () => {
  const [first] = nat('KUBE-SERVICES');
  tamper(`-D KUBE-SERVICES ${first!}`);
  await expectLines(`+ -t nat -A KUBE-SERVICES ${first!} (${serviceOf(keyOf(1))})`);
});

it('names a jump that was deleted', async () => {
  const [jump] = nat('PREROUTING');
  tamper(`-D PREROUTING ${jump!}`);
  await expectLines(`+ -t nat -A PREROUTING ${jump!}`);
});

it('names a foreign rule in a chain of ours, alone', async () => {
  tamper('-I KUBE-SERVICES -d 172.30.9.9/32 -j RETURN', `-I ${serviceChain(2)} -j RETURN`);
  await expectLines(
    '- -t nat -A KUBE-SERVICES -d 172.30.9.9/32 -j RETURN',
    `- -t nat -A ${serviceChain(2)} -j RETURN`,
  );
});

it('names the rules of a chain that was emptied', async () => {
  const rules = nat(serviceChain(3));
  tamper(`:${serviceChain(3)} - [0:0]`);
  await expectLines(
    ...rules.map((rule) => `+ -t nat -A ${serviceChain(3)} ${rule} (${serviceOf(keyOf(3))})`),
  );
});

it('names rules of a chain that changed places, once each way', async () => {
  const [first] = nat(serviceChain(1));
  tamper(`-D ${serviceChain(1)} ${first!}`, `-A ${serviceChain(1)} ${first!}`);
  const found = await lines();
  expect(found.map(([sign]) => sign)).toEqual(['-', '+']);
  await backend.verify('full');
  expect(await lines()).toEqual([]);
});

it('names chains of services that nobody has, with what their rules say of them', async () => {
  tamper(
    ':KUBE-SVC-AAAAAAAAAAAAAAAA - [0:0]',
    '-A KUBE-SVC-AAAAAAAAAAAAAAAA -m comment --comment "shop/gone:http -> 10.9.9.9:80" -j RETURN',
  );
  await expectLines(
    '- -t nat -A KUBE-SVC-AAAAAAAAAAAAAAAA -m comment --comment "shop/gone:http -> 10.9.9.9:80" -j RETURN (shop/gone:http)',
    '- -t nat -N KUBE-SVC-AAAAAAAAAAAAAAAA',
  );
});

it('names everything when nothing is there', async () => {
  iptables = new MemoryIptables();
  const found = await backendOn().plannedDifferences!(services.all, node);
  expect(found!.every(({ sign }) => sign === '+')).toBe(true);
  expect(found!.map(({ text }) => text)).toContain(`-t nat -N ${serviceChain(1)}`);
});

it('is, of what is planned, what comes, and nothing of other Services', async () => {
  services.set(6);
  const entries = services.all.filter(({ key }) => key === services.all.at(-1)!.key);
  const found = await backendOn().plannedDifferences!(entries, node, { keepUnexplained: true });
  expect(new Set(found!.map(({ sign, servicePort }) => `${sign} ${servicePort}`))).toEqual(
    new Set([`+ ${serviceOf(keyOf(6))}`]),
  );
});
